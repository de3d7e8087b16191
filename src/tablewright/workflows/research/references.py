"""The sources of a report: those it cites, numbered in order of first use, and where it looked for what it lacks.

Every quote is looked up in the stored text of its source before the report is saved; the store is only read.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from tablewright.citations.quotes import locate_evidence
from tablewright.domain.model import Evidence
from tablewright.domain.research import Note, Reference, Round, SeenSource, UnfoundTopic
from tablewright.domain.retrieved import is_document_id
from tablewright.formats.reports import wording
from tablewright.formats.reports.wording import ReportWords
from tablewright.llm.tasks.write_report import ReportToWrite, WrittenReport
from tablewright.store.store import Store


class References:
    """The numbered references of one report."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._texts: dict[tuple[str, str], tuple[str | None, str]] = {}
        self._numbers: dict[tuple[str, str], int] = {}
        self._cited: dict[int, list[Evidence]] = {}

    async def cite(self, evidence: Evidence) -> int | None:
        """Return the number of the source, or None if its stored text does not contain the quote."""
        if not await self.holds(evidence):
            return None
        key = evidence.origin, evidence.content_hash
        number = self._numbers.setdefault(key, len(self._numbers) + 1)
        quotes = self._cited.setdefault(number, [])
        if not any(evidence.quote in other.quote for other in quotes):
            quotes[:] = [other for other in quotes if other.quote not in evidence.quote] + [evidence]
        return number

    async def cite_all(self, evidence: Sequence[Evidence]) -> tuple[int, ...]:
        numbers = [await self.cite(each) for each in evidence]
        return tuple(sorted({number for number in numbers if number is not None}))

    async def holds(self, evidence: Evidence) -> bool:
        key = evidence.origin, evidence.content_hash
        if key not in self._texts:
            origin, hash = key
            if is_document_id(origin):
                self._texts[key] = await self._store.pages.text(hash), ""
            else:
                # None if it was only a search result, and never opened.
                page = await self._store.pages.version(origin, hash)
                self._texts[key] = (page.text, page.title) if page is not None else (None, "")
        text, title = self._texts[key]
        if text is None or not evidence.quote:
            return False
        if evidence.is_title:
            return evidence.quote in title
        return locate_evidence(evidence, text) is not None

    def listed(self) -> tuple[Reference, ...]:
        return tuple(
            Reference(
                number=number,
                url=cited[0].origin,
                title=cited[0].title,
                domain=cited[0].domain,
                quotes=tuple(each.quote for each in cited if not each.is_title),
                title_cited=any(each.is_title for each in cited),
                page=cited[0].page,
                retrieved_at=cited[0].retrieved_at,
                content_hash=cited[0].content_hash,
            )
            for number, cited in sorted(self._cited.items())
        )


# ── what was not found, and where it was looked for ──────────────────────────────────────────────────────────────────


def list_unfound(
    draft: WrittenReport, rounds: Sequence[Round], asked: ReportToWrite, words: ReportWords
) -> list[UnfoundTopic]:
    """Return what is missing and where it was looked for; what all searches looked for is listed once, at the end."""
    everywhere = describe_queries(collect_queries(rounds), words)
    found = [
        UnfoundTopic(what=each.what, where=describe_gap_search(rounds, asked, each.gap, words) or everywhere)
        for each in draft.not_found
    ]
    general = [each for each in found if each.where == everywhere]
    if len(general) < 2:
        return found
    own = [each for each in found if each.where != everywhere]
    last = UnfoundTopic(what="", where=words("For these: {where}", where=everywhere))
    return [*own, *(UnfoundTopic(what=each.what) for each in general), last]


def describe_gap_search(rounds: Sequence[Round], asked: ReportToWrite, gap: int, words: ReportWords) -> str:
    """Return where the searches made for a gap looked, or "" if there were none."""
    if not 1 <= gap <= len(asked.gaps):
        return ""
    wanted = asked.gaps[gap - 1].description
    queries = [task.search_query for each in rounds for task in each.tasks if task.target_gap == wanted]
    results = [result for each in rounds for result in each.notes if result.task.target_gap == wanted]
    begun = next((each.index for each in rounds if any(task.target_gap == wanted for task in each.tasks)), 0)
    earlier = distinct_sources([result for each in rounds if each.index < begun for result in each.notes])
    return describe_search(queries, results, words, {each.url for each in earlier}) if begun else ""


def collect_queries(rounds: Sequence[Round]) -> list[str]:
    return [task.search_query for round in rounds for task in round.tasks]


def describe_search(
    queries: Sequence[str], results: Sequence[Note], words: ReportWords, earlier: Collection[str] = ()
) -> str:
    """Say what was searched, which new pages were read, and which could not be opened."""
    sentences = [describe_queries(queries, words)]
    new = [each for each in distinct_sources(results) if each.url not in earlier]
    pages = [(each, wording.short_address(each.url) or each.title or each.url) for each in new]
    read = [name for each, name in pages if each.status in ("read", "empty")]
    refused = [f"{name} ({each.detail})" for each, name in pages if each.status not in ("read", "empty")]
    if read:
        sentences.append(words("Read: {pages}.", pages=join_first(read, 4, words)))
    if refused:
        sentences.append(words("Found, but could not be opened: {pages}.", pages=", ".join(refused)))
    if not pages and not any(result.error for result in results):
        count = sum(int(step.data.get("results") or 0) for result in results for step in result.steps)
        sentences.append(
            words(
                "The one result brought no new page.|None of the {count} results was new and worth opening.",
                count=count,
            )
            if count
            else words("There were no results.")
        )
    return " ".join(sentences)


def describe_queries(queries: Sequence[str], words: ReportWords) -> str:
    distinct = [words.quoted(query) for query in dict.fromkeys(queries)]
    if not distinct:
        return words("Nothing was searched.")
    return words("Searched {queries}.", queries=join_first(distinct, 6, words))


def join_first(names: Sequence[str], most: int, words: ReportWords) -> str:
    """Join as many names as a sentence can hold, and count the rest."""
    shown, more = ", ".join(names[:most]), len(names) - most
    return words("{queries} and {count} more", queries=shown, count=more) if more > 0 else shown


def distinct_sources(results: Sequence[Note]) -> list[SeenSource]:
    """Return each source once; a page that was read wins over a refusal."""
    found: dict[str, SeenSource] = {}
    for result in results:
        for source in result.sources:
            present = found.get(source.url)
            if present is None or (present.status != "read" and source.status == "read"):
                found[source.url] = source
    return list(found.values())
