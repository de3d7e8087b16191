"""What a report says in our own words, the same in every format. Marks are words first: colour only repeats them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any, get_args
from urllib.parse import urlsplit

from tablewright.citations.evidence import stands_in
from tablewright.domain.model import Evidence
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
)
from tablewright.domain.rowkey import fold, tokenize
from tablewright.domain.text import plural
from tablewright.domain.usage import Usage
from tablewright.messages.messages import code_of, completed, figure, message

_ADDRESS = re.compile(r"https?://[^\s<>\"'`\\{}|^]{1,2040}", re.IGNORECASE)
_SITE = re.compile(r"(?:\w[\w-]*(?:\.\w[\w-]*)*\.?|\[[0-9a-f:.]+\])(?::\d{1,5})?", re.IGNORECASE)


def link(url: str) -> str:
    """The address, if it may become a link: http or https, with a host and no name or password before it."""
    if not _ADDRESS.fullmatch(url):
        return ""
    try:
        return url if _SITE.fullmatch(urlsplit(url).netloc) else ""
    except ValueError:
        return ""


def host(url: str) -> str:
    return (urlsplit(url).hostname or "").removeprefix("www.") if link(url) else ""


def address(url: str) -> str:
    """As a reader names it: "site.example/prices"."""
    return f"{host(url)}{urlsplit(url).path.rstrip('/')}" if link(url) else ""


class Words:
    """Our own words in the language of a report; `lines` are those that were translated for it."""

    def __init__(self, language: str = "", lines: Mapping[str, str] | None = None) -> None:
        self.code = code_of(language)
        self.lines = lines or {}

    def __call__(self, key: str, **values: Any) -> str:
        return self._say(f"report: {key}", **values)

    def _say(self, key: str, **values: Any) -> str:
        if line := self.lines.get(key):
            return completed(line, self.code, values)
        return message(key, self.code, **values)

    def day(self, moment: str) -> str:
        """ "2026-11-16T12:00:00Z" as "16 November 2026"; what is no date stays as it is."""
        try:
            read = datetime.fromisoformat(moment)
        except ValueError:
            return moment
        months = self("months").split()
        if len(months) != 12:
            return moment[:10]
        month = months[read.month - 1]
        return self("day", day=str(read.day), month=month, year=str(read.year))

    def nothing(self, report: Report) -> str:
        """What a report without findings says: nothing was found only where it was looked for."""
        if not (report.sources or report.rounds):
            return self("nothing read")
        return self("no excerpt" if report.unread else "nothing found")

    def quoted(self, text: str) -> str:
        return self("quoted", text=text)

    def marks(self, table: ReportTable) -> str:
        """What the marks of a table's values mean."""
        judged = any(self("judged") in cell.note for row in table.rows for cell in row)
        return " ".join((self("table marks"), *((self("judged marks"),) if judged else ())))

    def happened(self, rounds: Sequence[RoundSummary]) -> Iterator[tuple[RoundSummary, dict[str, tuple[str, ...]]]]:
        """Each round with its searches and gaps; what stays open as it was is not said again."""
        open_before: tuple[str, ...] = ()
        for each in rounds:
            still = each.open if each.open != open_before else ()
            parts = {"tasks": each.tasks, "closed": each.closed, "open": still, "stopped": (each.stopped,)}
            yield each, {kind: texts for kind, texts in parts.items() if any(texts)}
            open_before = each.open

    def calculated(self, calculation: str) -> str:
        """ "(calculated: 24 * 3.20)" """
        return self("calculated", calculation=calculation)

    def status(self, status: SourceStatus) -> str:
        return self("read" if status == "read" else f"source {status}")

    def rests_on(self, checked: CheckedClaim) -> str:
        """What a verdict rests on, and of what nobody speaks."""
        unsaid = self("unsaid", what=checked.unsaid.rstrip(".")) if checked.unsaid else ""
        return " ".join(filter(None, (checked.reason, unsaid)))

    def byline(self, report: Report) -> str:
        parts = [self.day(report.created_at)]
        if report.references:
            parts.append(self("all read", count=len(report.references)))
        if report.written_by:
            parts.append(self("written by", model=report.written_by))
        elif report.answer or report.sections:
            parts.append(self("own words" if report.unread else "noted"))
        return " · ".join(filter(None, parts))

    def reference_title(self, reference: Reference) -> str:
        return reference.title or reference.url or self("reference", number=reference.number)

    def reference_details(self, reference: Reference) -> str:
        retrieved = self("retrieved", day=self.day(reference.retrieved_at)) if reference.retrieved_at else ""
        title = self("title cited") if reference.title_cited else ""
        parts = reference.domain or host(reference.url), self._page(reference.page), retrieved, title
        return ", ".join(filter(None, parts))

    def evidence_source(self, evidence: Evidence) -> str:
        site = evidence.domain or host(evidence.origin)
        parts = evidence.title or (evidence.origin if not site else ""), site, self._page(evidence.page)
        return ", ".join(filter(None, parts))

    def _page(self, number: int | None) -> str:
        return self("page", number=number) if number is not None else ""

    def source_counts(self, sources: tuple[SeenSource, ...]) -> str:
        """ "7 read, 2 blocked by the site" """
        statuses = [source.status for source in sources]
        names = ((each, self.status(each)) for each in get_args(SourceStatus) if each in statuses)
        return ", ".join(f"{statuses.count(each)} {name[:1].lower()}{name[1:]}" for each, name in names)

    def round_name(self, summary: RoundSummary) -> str:
        number = self("round", number=summary.index)
        return f"{number}: {summary.name}" if summary.name else number

    def cost(self, usage: Usage) -> str:
        """One line, or "" where nothing was used."""
        parts = (
            usage.cost_usd
            and figure(f"${usage.cost_usd:,.2f}" if usage.cost_usd >= 0.1 else f"${usage.cost_usd:.4f}", self.code),
            usage.seconds and self._duration(usage.seconds),
            usage.llm_calls and f"{self._spent('calls', usage.llm_calls)} {self._tokens(usage)}".rstrip(),
            usage.searches and self._spent("searches", usage.searches),
            usage.fetches and self._spent("pages", usage.fetches),
            usage.cache_hits and self._spent("cached", usage.cache_hits),
        )
        return " · ".join(part for part in parts if part)

    def _spent(self, what: str, count: int) -> str:
        return self._say(f"cost: {what}", count=count)

    def _tokens(self, usage: Usage) -> str:
        if not usage.input_tokens:
            return ""
        key = "cost: cached tokens" if usage.cached_tokens else "cost: tokens"
        values = {"cached": usage.cached_tokens} if usage.cached_tokens else {}
        return self._say(key, read=usage.input_tokens, written=usage.output_tokens, **values)

    def _duration(self, seconds: float) -> str:
        if seconds < 60:
            return f"{seconds:.0f} s" if seconds >= 1 else self._say("cost: under a second")
        minutes, rest = divmod(round(seconds), 60)
        hours, minutes = divmod(minutes, 60)
        return f"{hours} h {minutes} min" if hours else f"{minutes} min {rest} s"


def counted(count: int, noun: str) -> str:
    return f"{count:,} {plural(noun, count)}"


def source_title(source: SeenSource) -> str:
    return source.title or source.url


def best_quote(reference: Reference, text: str) -> str:
    """Of the words that are cited from there, those that the text rests on."""
    words = set(tokenize(fold(text)))
    return max(
        reference.quotes,
        key=lambda quote: (stands_in(text, quote), len(words & set(tokenize(fold(quote))))),
        default="",
    )


def plan(brief: Brief) -> str:
    """A plan as its user reads it, a line for each part that it has."""
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


def estimate(likely: ResearchEstimate) -> str:
    """ "About 11 searches, 33 pages, 12 model calls (60,000 tokens read, 8,000 written), $0.21" """
    parts = [counted(likely.searches, "search"), counted(likely.pages, "page")]
    if likely.calls:
        tokens = f"{likely.input_tokens:,} tokens read, {likely.output_tokens:,} written"
        parts.append(f"{counted(likely.calls, 'model call')} ({tokens})")
        parts.append("of unknown price" if likely.cost_usd is None else f"${likely.cost_usd:,.2f}")
    return f"About {', '.join(parts)}"
