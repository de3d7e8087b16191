"""What a report says in its own words, the same in every format. Marks are words first: colour only repeats them."""

from __future__ import annotations

import re
from datetime import datetime
from urllib.parse import urlsplit

from tablewright.table.evidence import stands_in
from tablewright.table.model import Evidence, Label, Stance
from tablewright.table.research import (
    Brief,
    CheckedClaim,
    Reference,
    Report,
    ResearchEstimate,
    SeenSource,
    SourceStatus,
    Verdict,
)
from tablewright.table.rowkey import fold, tokenize
from tablewright.table.text import plural
from tablewright.table.usage import Usage

NOTHING_FOUND, NOTHING_READ = "Nothing was found that answers the question.", "Nothing was searched yet."
NOT_FOUND = "not found"
ANSWER, NOTES, TABLE, OTHERS = "In short", "Please note", "The table", "Also considered"
CLAIMS, UNFOUND, COMPLETENESS = "Claims checked", "What we could not find, and where we looked", "Is the list complete?"
DISAGREEMENTS, NEXT_STEPS = "Where sources disagree", "Next steps"
REFERENCES, SOURCES, ROUNDS, COST = "References", "Every source seen", "How the research went", "What it cost"
TABLE_MARKS = (
    "Each value carries the numbers of its references and how sure we are of it (high, medium, low); “judged” is what "
    "the model concluded from them."
)

CONFIDENCE: dict[Label, str] = {"high": "high", "medium": "medium", "low": "low", "none": "unconfirmed"}
VERDICT: dict[Verdict, str] = {
    "supported": "Supported",
    "partly supported": "Partly supported",
    "contradicted": "Contradicted",
    "qualified": "Qualified",
    "not checked": "Not checked",
}
STANCE: dict[Stance, str] = {
    "supports": "Supports it",
    "supports in part": "Supports a part of it",
    "contradicts": "Contradicts it",
    "qualifies": "Qualifies it",
}
STATUS: dict[SourceStatus, str] = {
    "read": "Read",
    "blocked": "Blocked by the site",
    "forbidden": "Not allowed to open",
    "error": "Failed",
    "empty": "Empty",
}
_MONTHS = "January February March April May June July August September October November December".split()
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


def day(moment: str) -> str:
    """ "2026-11-16T12:00:00Z" as "16 November 2026"; what is no date stays as it is."""
    try:
        read = datetime.fromisoformat(moment)
    except ValueError:
        return moment
    return f"{read.day} {_MONTHS[read.month - 1]} {read.year}"


def counted(count: int, noun: str) -> str:
    return f"{count:,} {plural(noun, count)}"


def nothing(report: Report) -> str:
    """What a report without findings says: nothing was found only where it was looked for."""
    return NOTHING_FOUND if report.sources or report.rounds else NOTHING_READ


def rests_on(checked: CheckedClaim) -> str:
    """What a verdict rests on, and of what nobody speaks."""
    unsaid = f"No source speaks of {checked.unsaid.rstrip('.')}." if checked.unsaid else ""
    return " ".join(filter(None, (checked.reason, unsaid)))


def calculated(calculation: str) -> str:
    """ "(calculated: 24 * 3.20)" """
    return f"(calculated: {calculation})"


def byline(report: Report) -> str:
    parts = [day(report.created_at)]
    if report.references:
        parts.append(f"{counted(len(report.references), 'reference')}, all of them read")
    if report.written_by:
        parts.append(f"written by {report.written_by} from these references")
    elif report.answer or report.sections:
        parts.append("excerpts in the sources' own words; no model read them")
    return " · ".join(filter(None, parts))


def reference_title(reference: Reference) -> str:
    return reference.title or reference.url or f"Reference {reference.number}"


def reference_details(reference: Reference) -> str:
    page = f"page {reference.page}" if reference.page is not None else ""
    retrieved = f"retrieved {day(reference.retrieved_at)}" if reference.retrieved_at else ""
    return ", ".join(filter(None, (reference.domain or host(reference.url), page, retrieved)))


def best_quote(reference: Reference, text: str) -> str:
    """Of the words that are cited from there, those that the text rests on."""
    words = set(tokenize(fold(text)))
    return max(
        reference.quotes,
        key=lambda quote: (stands_in(text, quote), len(words & set(tokenize(fold(quote))))),
        default="",
    )


def evidence_source(evidence: Evidence) -> str:
    page = f"page {evidence.page}" if evidence.page is not None else ""
    site = evidence.domain or host(evidence.origin)
    return ", ".join(filter(None, (evidence.title or (evidence.origin if not site else ""), site, page)))


def source_counts(sources: tuple[SeenSource, ...]) -> str:
    """ "7 read, 2 blocked by the site" """
    statuses = [source.status for source in sources]
    return ", ".join(f"{statuses.count(each)} {said.lower()}" for each, said in STATUS.items() if each in statuses)


def source_title(source: SeenSource) -> str:
    return source.title or source.url


def cost(usage: Usage) -> str:
    """One line, or "" where nothing was used."""
    cached = f", {usage.cached_tokens:,} of them cached" if usage.cached_tokens else ""
    tokens = f" ({usage.input_tokens:,} tokens read{cached}, {usage.output_tokens:,} written)"
    parts = (
        usage.cost_usd and (f"${usage.cost_usd:,.2f}" if usage.cost_usd >= 0.1 else f"${usage.cost_usd:.4f}"),
        usage.seconds and _duration(usage.seconds),
        usage.llm_calls and counted(usage.llm_calls, "model call") + (tokens if usage.input_tokens else ""),
        usage.searches and counted(usage.searches, "search"),
        usage.fetches and f"{counted(usage.fetches, 'page')} fetched",
        usage.cache_hits and f"{usage.cache_hits:,} taken from the cache",
    )
    return " · ".join(part for part in parts if part)


def _duration(seconds: float) -> str:
    if seconds < 60:
        return f"{seconds:.0f} s" if seconds >= 1 else "under a second"
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min" if hours else f"{minutes} min {rest} s"


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
