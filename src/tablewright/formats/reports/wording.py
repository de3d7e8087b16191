"""The report's own wording, the same in every format. Marks are words first: colour only repeats them. No I/O."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any, get_args
from urllib.parse import urlsplit

from tablewright.citations.evidence import contains_words
from tablewright.domain.model import Evidence, Label, Reason, Stance
from tablewright.domain.research import (
    Brief,
    CheckedClaim,
    Reference,
    Report,
    ReportTable,
    ResearchEstimate,
    RoundSummary,
    SeenSource,
    SourceStatus,
    TaskKind,
    Verdict,
)
from tablewright.domain.rowkey import split_words
from tablewright.domain.run import Usage
from tablewright.domain.text import count_noun
from tablewright.messages.catalogue import (
    LANGUAGES,
    MAX_CODE_LETTERS,
    ReportText,
    complete_text,
    localize_figure,
    primary_language_code,
    translate,
)

# How sure a value is and why there is none; how a claim came out, and what a quote says to it.
MARKS: ReportText[dict[Label | Verdict | Stance | Reason, str]] = {
    "high": "high",
    "medium": "medium",
    "low": "low",
    "none": "unconfirmed",
    "not_found": "not found",
    "blocked": "blocked",
    "not_applicable": "not applicable",
    "conflicting": "conflicting",
    "over_budget": "over budget",
    "error": "error",
    "supported": "Supported",
    "partly supported": "Partly supported",
    "contradicted": "Contradicted",
    "qualified": "Qualified",
    "not checked": "Not checked",
    "supports": "Supports it",
    "supports in part": "Supports a part of it",
    "contradicts": "Contradicts it",
    "qualifies": "Qualifies it",
}
STATUSES: ReportText[dict[SourceStatus, str]] = {
    "read": "Read",
    "blocked": "Blocked by the site",
    "forbidden": "Not allowed to open",
    "error": "Failed",
    "empty": "Empty",
}
ROUNDS: ReportText[dict[TaskKind, str]] = {"discover": "discovery", "fill": "gap-filling", "verify": "verification"}
# What is said of a round.
PARTS: ReportText[dict[str, str]] = {
    "tasks": "Searches",
    "closed": "Gaps closed",
    "open": "Still open",
    "stopped": "Why it stopped",
}


def safe_link(url: str) -> str:
    """Return the address if it may become a link: http or https, a host, and no user name or password; else ""."""
    if not re.fullmatch(r"https?://[^\s<>\"'`\\{}|^]{1,2040}", url, re.IGNORECASE):
        return ""
    try:
        site = urlsplit(url).netloc
    except ValueError:
        return ""
    host = re.fullmatch(r"(?:\w[\w-]*(?:\.\w[\w-]*)*\.?|\[[0-9a-f:.]+\])(?::\d{1,5})?", site, re.IGNORECASE)
    return url if host else ""


def site_of_link(url: str) -> str:
    return (urlsplit(url).hostname or "").removeprefix("www.") if safe_link(url) else ""


def short_address(url: str) -> str:
    """Return an address as readers write it: "site.example/prices"."""
    return f"{site_of_link(url)}{urlsplit(url).path.rstrip('/')}" if safe_link(url) else ""


class ReportWords:
    """Our own words in the language of a report; `lines` are those that were translated for it."""

    def __init__(self, language: str = "", lines: Mapping[str, str] | None = None) -> None:
        self.lines = lines or {}
        self._code = primary_language_code(language)

    @property
    def code(self) -> str:
        """The code of the language in use."""
        is_known = self._code in LANGUAGES or (self.lines and len(self._code) <= MAX_CODE_LETTERS)
        return self._code if is_known else "en"

    def __call__(self, text: str, /, **values: Any) -> str:
        if line := self.lines.get(text):
            return complete_text(line, self.code, values)
        return translate("report", text, self.code, **values)

    def mark(self, name: Label | Verdict | Stance | Reason) -> str:
        return self(MARKS[name])

    def day(self, moment: str) -> str:
        """Return "16 November 2026" for "2026-11-16T12:00:00Z"; other texts stay unchanged."""
        try:
            read = datetime.fromisoformat(moment)
        except ValueError:
            return moment
        months = self("January February March April May June July August September October November December").split()
        if len(months) != 12:
            return moment[:10]
        month = months[read.month - 1]
        return self("{day} {month} {year}", day=str(read.day), month=month, year=str(read.year))

    def nothing(self, report: Report) -> str:
        """Return the statement of a report without findings; it claims nothing beyond what was searched."""
        if not (report.sources or report.rounds):
            return self("Nothing was searched yet.")
        return self(
            "No sentence was found that has the words of the question. No model read the pages, so they may "
            "answer it all the same."
            if report.unread
            else "Nothing was found that answers the question."
        )

    def quoted(self, text: str) -> str:
        return self("“{text}”", text=text)

    def marks(self, table: ReportTable) -> str:
        """Explain the marks of a table's values."""
        judged = any(self("judged") in cell.note for row in table.rows for cell in row)
        return " ".join(
            (
                self("Each value carries the numbers of its references and how sure we are of it (high, medium, low)."),
                *((self("“Judged” is what the model concluded from them."),) if judged else ()),
            )
        )

    def happened(self, rounds: Sequence[RoundSummary]) -> Iterator[tuple[RoundSummary, dict[str, tuple[str, ...]]]]:
        """Yield each round with its searches and gaps; open gaps are not repeated if they did not change."""
        open_before: tuple[str, ...] = ()
        for each in rounds:
            still = each.open if each.open != open_before else ()
            parts = {"tasks": each.tasks, "closed": each.closed, "open": still, "stopped": (each.stopped,)}
            yield each, {kind: texts for kind, texts in parts.items() if any(texts)}
            open_before = each.open

    def calculated(self, calculation: str) -> str:
        """Return "(calculated: 24 * 3.20)"."""
        return self("(calculated: {calculation})", calculation=calculation)

    def status(self, status: SourceStatus) -> str:
        return self(STATUSES[status])

    def rests_on(self, checked: CheckedClaim) -> str:
        """Return the reason of a verdict, and what no source covers."""
        unsaid = self("No source covers this: {what}.", what=checked.unsaid.rstrip(".")) if checked.unsaid else ""
        return " ".join(filter(None, (checked.reason, unsaid)))

    def byline(self, report: Report) -> str:
        parts = [self.day(report.created_at)]
        if report.references:
            parts.append(
                self(
                    "{count} reference, which was read|{count} references, all of them read",
                    count=len(report.references),
                )
            )
        if report.written_by:
            parts.append(self("written by {model} from these references", model=report.written_by))
        elif report.answer or report.sections:
            parts.append(
                self(
                    "excerpts in the sources' own words; no model read them"
                    if report.unread
                    else "notes that a model took from these references; no report was written from them"
                )
            )
        return " · ".join(filter(None, parts))

    def reference_title(self, reference: Reference) -> str:
        return reference.title or reference.url or self("Reference {number}", number=reference.number)

    def reference_details(self, reference: Reference) -> str:
        retrieved = self("retrieved {day}", day=self.day(reference.retrieved_at)) if reference.retrieved_at else ""
        title = self("its title is cited") if reference.title_cited else ""
        parts = reference.domain or site_of_link(reference.url), self._page(reference.page), retrieved, title
        return ", ".join(filter(None, parts))

    def evidence_source(self, evidence: Evidence) -> str:
        site = evidence.domain or site_of_link(evidence.origin)
        parts = evidence.title or (evidence.origin if not site else ""), site, self._page(evidence.page)
        return ", ".join(filter(None, parts))

    def _page(self, number: int | None) -> str:
        return self("page {number}", number=number) if number is not None else ""

    def source_counts(self, sources: tuple[SeenSource, ...]) -> str:
        """Return "7 read, 2 blocked by the site"."""
        statuses = [source.status for source in sources]
        names = ((each, self.status(each)) for each in get_args(SourceStatus) if each in statuses)
        return ", ".join(f"{statuses.count(each)} {name[:1].lower()}{name[1:]}" for each, name in names)

    def round_name(self, summary: RoundSummary) -> str:
        number = self("Round {number}", number=summary.index)
        return f"{number}: {summary.name}" if summary.name else number

    def cost(self, usage: Usage) -> str:
        """Return the cost in one line, or "" if nothing was used."""
        parts = (
            usage.cost_usd
            and localize_figure(
                f"${usage.cost_usd:,.2f}" if usage.cost_usd >= 0.1 else f"${usage.cost_usd:.4f}", self.code
            ),
            usage.seconds and self._duration(usage.seconds),
            usage.llm_calls and f"{self._calls(usage.llm_calls)} {self._tokens(usage)}".rstrip(),
            usage.searches and self("{count} search|{count} searches", count=usage.searches),
            usage.fetches and self("{count} page fetched|{count} pages fetched", count=usage.fetches),
            usage.cache_hits and self("{count} taken from the cache", count=usage.cache_hits),
        )
        return " · ".join(part for part in parts if part)

    def _calls(self, count: int) -> str:
        return self("{count} model call|{count} model calls", count=count)

    def _tokens(self, usage: Usage) -> str:
        if not usage.input_tokens:
            return ""
        return self(
            "({read} tokens read, {cached} of them cached, {written} written)"
            if usage.cached_tokens
            else "({read} tokens read, {written} written)",
            read=usage.input_tokens,
            cached=usage.cached_tokens,
            written=usage.output_tokens,
        )

    def _duration(self, seconds: float) -> str:
        if seconds < 60:
            return f"{seconds:.0f} s" if seconds >= 1 else self("under a second")
        minutes, rest = divmod(round(seconds), 60)
        hours, minutes = divmod(minutes, 60)
        return f"{hours} h {minutes} min" if hours else f"{minutes} min {rest} s"


def title_of_source(source: SeenSource) -> str:
    return source.title or source.url


def choose_best_quote(reference: Reference, text: str) -> str:
    """Return the quote of the reference that supports the text best."""
    words = set(split_words(text))
    return max(
        reference.quotes,
        key=lambda quote: (contains_words(text, quote), len(words & set(split_words(quote)))),
        default="",
    )


def describe_brief(brief: Brief) -> str:
    """Return the plan for its user, a line for each part."""
    parts = {
        "Report": f"{brief.report_type}, {brief.length}" + (f", in {brief.language}" if brief.language else ""),
        "Asked": brief.asked,
        "Conditions": "; ".join(brief.constraints),
        "Compared": ", ".join(brief.subjects),
        "Sections": "; ".join(f"{angle.name} ({angle.question})" for angle in brief.angles),
        "Listed": f"{brief.target_items} {brief.things}" if brief.things else "",
        "Details": ", ".join(each.field.name for each in brief.columns),
        "First searches": "; ".join(brief.queries),
    }
    return "\n".join(f"{name}: {value}" for name, value in parts.items() if value)


def describe_research_estimate(likely: ResearchEstimate) -> str:
    """Return "About 11 searches, 33 pages, 12 model calls (60,000 tokens read, 8,000 written), $0.21"."""
    parts = [count_noun(likely.searches, "search"), count_noun(likely.pages, "page")]
    if likely.calls:
        tokens = f"{likely.input_tokens:,} tokens read, {likely.output_tokens:,} written"
        parts.append(f"{count_noun(likely.calls, 'model call')} ({tokens})")
        parts.append("of unknown price" if likely.cost_usd is None else f"${likely.cost_usd:,.2f}")
    return f"About {', '.join(parts)}"
