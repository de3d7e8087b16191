"""Pipeline: plan → search → choose → open → extract, for all asked fields of a row at once.

One plan for the whole table. What the first round leaves open gets one refined query; what pages do not say but a
search snippet does is taken from the snippet, which then is the source. Everything goes through the evidence rule.
"""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Sequence
from typing import Any

from tablewright.decisions.answer_from_snippets import FromSnippets
from tablewright.decisions.choose_pages import Choose, ChoosePages, Offer
from tablewright.decisions.decision import Decision, decide
from tablewright.decisions.extract import Extract, ExtractFields
from tablewright.decisions.judge_coverage import Answered, Judge, JudgeCoverage
from tablewright.decisions.plan_patterns import ENTITY, Plan, PlanPatterns
from tablewright.decisions.reader.about import Subject, shared_context
from tablewright.decisions.reader.reader import Candidate
from tablewright.decisions.refine_query import Refine, RefineQuery
from tablewright.errors import SearchError, UsageError
from tablewright.sources.fetch.domain import registrable_domain
from tablewright.sources.source import Hit, Query, Source
from tablewright.strategies.findings import Read, agree, checked, weigh
from tablewright.strategies.strategy import Answer, Tell
from tablewright.strategies.tools import Tools
from tablewright.table.model import Field, Finding, Reason, Row, Step, Table
from tablewright.table.retrieved import Refusal, Retrieved, content_hash
from tablewright.table.template import columns_in, replace_columns
from tablewright.table.text import cell_text

PAGES = 5  # opened in a round
ENOUGH_HITS = 5
REFINED = 2  # fields that get a query of their own, where the first round found nothing
FAMILIAR = 0.5
"""The share of a row's other cells that a page must know to be surely about this one of several of the name."""
SURE_ENOUGH = 0.8
"""With cascade, what the built-in reader must score for a model not to be asked."""


class PipelineStrategy:
    name = "pipeline"
    display_name = "Web pipeline"
    kind = "enrichment"
    max_steps = 12
    concurrency = 8
    needs_identity = True
    needs_tools = True

    def columns(self, table: Table, fields: Sequence[Field]) -> Collection[str] | None:
        return None

    def prepare(self, table: Table, fields: Sequence[Field], tools: Tools) -> Answer:
        if tools.web is None:
            raise UsageError("There is no web to search.", advice="Set TABLEWRIGHT_SEARCH; `tablewright doctor` helps.")
        groups: dict[str, list[Field]] = {}
        for field in fields:
            named = columns_in(field.question, (*table.fields, *fields))
            groups.setdefault(subject_column(table, named), []).append(field)
        pipelines = [Pipeline(table, column, some, tools, tools.web) for column, some in groups.items()]

        async def answer(row: Row, tell: Tell) -> Sequence[Finding]:
            return [finding for pipeline in pipelines for finding in await pipeline.answer(row, tell)]

        return answer


def subject_column(table: Table, named: Sequence[str]) -> str:
    """What a question is about: the column that names the rows, unless the question speaks only of others."""
    if table.key_field and (not named or table.key_field in named):
        return table.key_field
    if not named:
        raise UsageError("The table has no column that names its rows.", advice="Say which with --key COLUMN.")
    texts = [name for name in named if (field := table.field(name)) and field.type in ("text", "select")]
    return texts[0] if texts else named[0]


class Pipeline:
    """One plan for the fields that ask about the same column, and the work on the rows."""

    def __init__(self, table: Table, column: str, fields: Sequence[Field], tools: Tools, web: Source) -> None:
        self._table = table
        self._column = column
        self._fields = tuple(fields)
        self._tools = tools
        self._web = web
        self._planning = asyncio.Lock()
        self._patterns: tuple[str, ...] = ()

    async def answer(self, row: Row, tell: Tell) -> Sequence[Finding]:
        wanted = tuple(field for field in self._fields if row.cell(field.name).needs_work)
        subject = self._subject(row)
        if not wanted:
            return ()
        if not subject.name:
            return [
                Finding(field=field.name, reason="not_applicable", error=f"{self._column} is empty") for field in wanted
            ]
        work = RowWork(subject, wanted, self._tools, self._web, tell)
        return await work.run(await self._queries(row, subject))

    def _subject(self, row: Row) -> Subject:
        asked = {field.name for field in self._fields}
        context = {
            field.name: text
            for field in self._table.fields
            if field.name not in asked and field.name != self._column and (text := cell_text(row.cell(field.name)))
        }
        return Subject(name=cell_text(row.cell(self._column)), context=context)

    async def _queries(self, row: Row, subject: Subject) -> list[str]:
        async with self._planning:
            self._patterns = self._patterns or await self._plan(subject)

        def text_of(column: str) -> str:
            return cell_text(row.cell(column))

        queries = [replace_columns(pattern, text_of).replace(ENTITY, subject.name) for pattern in self._patterns]
        return list(dict.fromkeys(" ".join(query.split()) for query in queries))

    async def _plan(self, sample: Subject) -> tuple[str, ...]:
        """Once for the table; the first row is the sample."""
        columns = tuple(column for column, text in sample.context.items() if _tells(text))
        asked = PlanPatterns(key=self._column, fields=self._fields, columns=columns, samples=(sample.name,))
        return (await decide(Plan(), asked, self._tools.model, lambda step: None)).decided


def _tells(text: str) -> bool:
    """Whether a cell helps to find its row: a few words, not a number."""
    return 2 < len(text) <= 60 and not text.replace(".", "").replace(",", "").isdigit()


class RowWork:
    """One row on its way: what was searched, opened, refused and read so far."""

    def __init__(self, subject: Subject, fields: tuple[Field, ...], tools: Tools, web: Source, tell: Tell) -> None:
        self.subject = subject
        self._fields = fields
        self._tools = tools
        self._web = web
        self._tell = tell
        self._queries: list[str] = []
        self._hits: dict[str, Hit] = {}
        self._tried: set[str] = set()
        self._pages: list[Retrieved] = []
        self._refusals: list[Refusal] = []
        self._reads: dict[str, list[Read]] = {field.name: [] for field in fields}
        self._failed_search = ""
        self._over_budget = False

    async def run(self, queries: Sequence[str]) -> list[Finding]:
        for query in queries:
            await self._search(query)
            if len(self._hits) >= ENOUGH_HITS and await self._any_about():
                break
        await self._read_pages(self._fields)
        for field in self._open_fields()[:REFINED]:
            asked = RefineQuery(
                subject=self.subject,
                field=field,
                tried=tuple(self._queries),
                titles=tuple(hit.title for hit in self._hits.values()),
            )
            query = await self._decide(Refine(), asked)
            if query and query not in self._queries:
                await self._search(query)
                await self._read_pages((field,))
        if missing := self._open_fields():
            await self._extract(FromSnippets(), missing, self._snippets())
        self._leave_out_namesakes()
        findings = [self._finding(field) for field in self._fields]
        await self._rate(findings)
        return findings

    async def _decide(self, decision: Decision[Any, Any], asked: Any) -> Any:
        outcome = await decide(decision, asked, self._tools.model, self._tell)
        self._over_budget |= outcome.over_budget
        return outcome.decided

    async def _search(self, query: str) -> None:
        self._queries.append(query)
        try:
            found = await self._web.search(Query(text=query))
        except SearchError as error:
            self._failed_search = error.what
            self._tell(Step(type="error", detail=f"Search failed: {error.what}", data={"query": query}))
            return
        for hit in found.hits:
            self._hits.setdefault(hit.origin, hit)
        self._tell(
            Step(type="search", detail="; then ".join(found.queries) or query, data={"results": len(found.hits)})
        )

    async def _any_about(self) -> bool:
        return bool(self._offers()) and bool(Choose().rule(self._choice(self._fields)))

    def _offers(self) -> tuple[Offer, ...]:
        return tuple(
            Offer(origin=hit.origin, title=hit.title, snippet=hit.snippet)
            for hit in self._hits.values()
            if hit.origin not in self._tried
        )

    def _choice(self, fields: tuple[Field, ...]) -> ChoosePages:
        return ChoosePages(subject=self.subject, fields=fields, offers=self._offers(), most=PAGES)

    async def _read_pages(self, fields: tuple[Field, ...]) -> None:
        if not self._offers():
            return
        choice = self._choice(fields)
        plain = Choose().is_plain(choice)
        chosen: tuple[str, ...] = Choose().rule(choice) if plain else await self._decide(Choose(), choice)
        self._tried.update(chosen)
        opened = await asyncio.gather(*(self._web.open(origin) for origin in chosen))
        pages = []
        for origin, page in zip(chosen, opened, strict=True):
            if isinstance(page, Refusal):
                self._refusals.append(page)
                self._tell(
                    Step(type="error", detail=f"{origin}: {page.detail}", data={"url": origin, "reason": page.reason})
                )
            else:
                pages.append(page)
                self._tell(Step(type="fetch", detail=page.title or origin, data={"url": page.origin}))
        self._pages += pages
        if pages:
            await self._extract(ExtractFields(), fields, tuple(pages))

    async def _extract(
        self, decision: ExtractFields, fields: tuple[Field, ...], sources: tuple[Retrieved, ...]
    ) -> None:
        if not sources:
            return
        found = decision.rule(Extract(subject=self.subject, fields=fields, sources=sources))
        if self._tools.model is not None:
            unsure = tuple(
                field for field in fields if not (self._tools.cascade and _best(found[field.name]) >= SURE_ENOUGH)
            )
            asked = Extract(subject=self.subject, fields=unsure, sources=sources)
            if unsure and decision.has_something_to_read(asked):
                said: dict[str, list[Candidate]] = await self._decide(decision, asked)
                for name, candidates in said.items():
                    found[name] = [*candidates, *found[name]]
        for field in fields:
            self._reads[field.name] += checked(field, found.get(field.name, []), sources)

    def _leave_out_namesakes(self) -> None:
        """A site that knows nothing of the row but its name, and contradicts one that does, speaks of another."""
        known: dict[str, float] = {}
        for page in self._pages:
            share = shared_context(self.subject, page.title, page.text)
            known[page.domain] = max(share, known.get(page.domain, 0.0))
        familiar = {domain for domain, share in known.items() if share >= FAMILIAR}
        for domain in [domain for domain, share in known.items() if share == 0]:
            if self._only_contradicts(domain, familiar):
                for name, reads in self._reads.items():
                    self._reads[name] = [read for read in reads if read.source.domain != domain]
                said = f"{domain} is about another {self.subject.name}: it knows nothing else of this row."
                self._tell(Step(type="thinking", detail=said, data={"domain": domain}))

    def _only_contradicts(self, domain: str, familiar: Collection[str]) -> bool:
        contradicts = False
        for reads in self._reads.values():
            theirs = [read.value for read in reads if read.source.domain == domain]
            others = [read.value for read in reads if read.source.domain in familiar]
            if theirs and others:
                if any(agree(one, other) for one in theirs for other in others):
                    return False
                contradicts = True
        return contradicts

    def _snippets(self) -> tuple[Retrieved, ...]:
        """Of the results whose pages were not read: those that refused, and those that were not chosen."""
        read = {page.origin for page in self._pages}
        return tuple(
            Retrieved(
                origin=hit.origin,
                text=hit.snippet,
                title=hit.title,
                kind="snippet",
                domain=registrable_domain(hit.origin),
                content_hash=content_hash(hit.snippet),
            )
            for hit in self._hits.values()
            if hit.snippet and hit.origin not in read
        )

    def _open_fields(self) -> tuple[Field, ...]:
        return tuple(field for field in self._fields if not self._reads[field.name])

    def _finding(self, field: Field) -> Finding:
        return weigh(field, self._reads[field.name]) or self._not_found(field)

    def _not_found(self, field: Field) -> Finding:
        blocked = [refusal for refusal in self._refusals if refusal.reason == "blocked"]
        reason: Reason = "blocked" if blocked else "not_found"
        if self._failed_search and not self._hits:
            reason = "error"
        elif self._over_budget:
            reason = "over_budget"
        return Finding(field=field.name, reason=reason, error=self._looked_at())

    def _looked_at(self) -> str:
        """Where it was looked for, and why that was not enough."""
        if self._failed_search and not self._hits:
            return f"The search failed: {self._failed_search}"
        if not self._hits:
            return f"No search result for {' or '.join(repr(query) for query in self._queries)}."
        said = [f"{refusal.origin}: {refusal.detail.rstrip('.')}." for refusal in self._refusals]
        if self._pages:
            domains = ", ".join(dict.fromkeys(page.domain for page in self._pages))
            said.append(f"Read without finding it: {len(self._pages)} pages of {domains}.")
        return " ".join(said) or f"None of {len(self._hits)} search results is about {self.subject.name}."

    async def _rate(self, findings: Sequence[Finding]) -> None:
        answers = tuple(
            Answered(
                field=finding.field,
                value=str(finding.value or ""),
                confidence=finding.confidence,
                sources=len(finding.evidence),
                conflict=bool(finding.conflict),
            )
            for finding in findings
        )
        asked = JudgeCoverage(row=self.subject.name, answers=answers, opened=len(self._pages))
        coverage = Judge().rule(asked)
        weak = f"; weak: {', '.join(coverage.weak)}" if coverage.weak else ""
        self._tell(Step(type="coverage", detail=f"{coverage.rating}{weak}", data={"rating": coverage.rating}))


def _best(candidates: Sequence[Candidate]) -> float:
    return candidates[0].score if candidates else 0.0
