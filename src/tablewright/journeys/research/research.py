"""Deep research: discovery, gap-filling, verification, then a report that cites only what was read.

Workers search and open; the engine reads and writes cells; a memo of at most 2,000 tokens is all that one round hands
to the next. A round is kept when it is whole. What was cut off is done again from the last whole round: what it had
bought is in the cache, so nothing is paid for twice, and the report is the same.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence

import msgspec

from tablewright.decisions.brief.phrases import names_in
from tablewright.decisions.decision import decide
from tablewright.decisions.detect_gaps import Detect, DetectGaps
from tablewright.decisions.find_links import FindLinks, Link, LinkFinder
from tablewright.decisions.memo_text import bounded, written
from tablewright.decisions.pick_claims import Pick, PickClaims, Statement
from tablewright.decisions.plan_round import Plan, PlanRound
from tablewright.decisions.read_brief import Read, ReadBrief
from tablewright.decisions.read_profile import price_lines, relevance_of
from tablewright.engine.fill import USUAL, Terms
from tablewright.errors import UsageError
from tablewright.journeys.research import catalog, narrative
from tablewright.journeys.research.catalog import Catalog
from tablewright.journeys.research.desk import Desk, cited_origins
from tablewright.journeys.research.narrative import SURE, Narrative
from tablewright.journeys.research.purse import Purse
from tablewright.journeys.research.synthesis import Synthesis, title_of
from tablewright.journeys.research.verify import verify
from tablewright.journeys.research.worker import Workers
from tablewright.store.records import printable
from tablewright.store.store import Store
from tablewright.strategies.tools import Tools
from tablewright.table.feed import Progress
from tablewright.table.model import Cell, Field, Row, Step, Table
from tablewright.table.research import (
    DEFAULT_TASKS,
    CheckedClaim,
    Claim,
    FieldKind,
    Gap,
    Memo,
    Note,
    Research,
    ResearchEvent,
    ResearchStatus,
    ResearchTask,
    Round,
    SourceEntry,
    Stage,
)
from tablewright.table.text import cell_text, plural
from tablewright.table.usage import Meter, Usage, metered

FIRST_ROUND = 5
LAST_ROUND = 3
"""Tasks of the first round, and those that are kept for verification."""

Watch = Callable[[ResearchEvent], None]


def ignore(event: ResearchEvent) -> None:
    """For callers who do not watch."""


class Researcher:
    def __init__(
        self,
        store: Store,
        tools: Tools,
        *,
        actor: str = "",
        minutes: float | None = None,
        terms: Terms = USUAL,
        watch: Watch = ignore,
    ) -> None:
        self._store = store
        self._tools = tools
        self._actor = actor
        self._purse = Purse(tools.budget, minutes)
        self._terms = terms
        self._watch = watch

    async def begin(self, asked: ReadBrief, *, max_tasks: int = DEFAULT_TASKS) -> Research:
        """Understood, and with a table of its own; nothing is searched yet."""
        if not asked.question.strip():
            raise UsageError("There is no question.", advice='Say it: tablewright research "…".')
        if max_tasks < 1:
            raise UsageError("At least one task is needed.")
        asked = msgspec.structs.replace(asked, question=printable(asked.question))
        brief = Read().fallback(asked)
        if not brief.is_fact:
            brief = (await decide(Read(), asked, self._tools.model, self._note)).decided
        if brief.report_type == "catalog":
            key, fields = catalog.fields_of(brief)
            table = await self._store.tables.create(
                title_of(brief), fields, key_field=key, actor=self._actor, note="deep research"
            )
        else:
            key, fields = narrative.fields_of(brief)
            rows = narrative.rows_of(brief)
            table = await self._store.tables.create(
                title_of(brief), fields, rows, key_field=key, actor=self._actor, note="deep research"
            )
        return await self._store.researches.start(brief, table_id=table.id, max_tasks=max_tasks)

    async def run(self, research_id: str) -> Research:
        """From the last whole round on, to the report."""
        research = await self._store.researches.get(research_id)
        if research.report is not None and research.status in ("done", "nothing"):
            return research
        await self._store.researches.mark(research_id, "running")
        try:
            return await Rounds(
                self._store, self._tools, self._purse, research, self._actor, self._terms, self._watch
            ).run()
        except asyncio.CancelledError:
            await self._store.researches.mark(research_id, "cancelled")
            raise
        except Exception:
            await self._store.researches.mark(research_id, "failed")
            raise

    def _note(self, step: Step) -> None:
        self._watch(ResearchEvent(stage="brief", detail=step.detail))


class Rounds:
    """One piece of research under way."""

    def __init__(
        self, store: Store, tools: Tools, purse: Purse, research: Research, actor: str, terms: Terms, watch: Watch
    ) -> None:
        self._store = store
        self._tools = tools
        self._purse = purse
        self._research = research
        self._brief = research.brief
        self._watch = watch
        self._round = 0
        self._desk = Desk(
            store, tools, purse, table_id=research.table_id, actor=actor, terms=terms, watch=self._reading
        )
        self._shape = Catalog(self._brief, self._desk) if self._is_catalog else Narrative(self._brief, self._desk)
        self._workers = Workers(tools, self._desk.library, purse, self._task_done)

    @property
    def _subject(self) -> str:
        """What a question for one fact asks about, where it names one thing."""
        names = list(names_in(self._brief.question)) if self._brief.is_fact else []
        return names[0] if len(names) == 1 else ""

    @property
    def _is_catalog(self) -> bool:
        return self._brief.report_type == "catalog"

    async def run(self) -> Research:
        if not self._purse.spent:
            self._research = msgspec.structs.replace(self._research, rounds=whole(self._research.rounds))
        await self._desk.drop_unfinished()
        await self._desk.library.reopen(self._store, self._tools, self._notes())
        self._tell("brief", detail=self._brief.reason)
        for index in (1, 2, 3):
            if index > len(self._research.rounds) and not self._purse.spent:
                await self._do(index)
        return await self._finish()

    # ── a round ──────────────────────────────────────────────────────────────────────────────────────────────────────

    async def _do(self, index: int) -> None:
        self._round = index
        meter, started = Meter(), time.monotonic()
        before = self._research.rounds[-1].memo if self._research.rounds else None
        with metered(meter):
            tasks = await self._plan(index, before)
            self._tell("round", detail=f"{len(tasks)} {plural('task', len(tasks))}", total=len(tasks))
            checked: tuple[CheckedClaim, ...] = ()
            if index == 3 and before is not None:
                notes, checked = await self._verify(tasks, before)
            else:
                notes = await self._gather(tasks)
            stopped = self._purse.spent if tasks else self._nothing_to_do(index, before)
            memo = await self._memo(index, len(tasks))
        closed = gone(before.gaps, memo.gaps) if before is not None else ()
        done = Round(
            index=index,
            tasks=tuple(tasks),
            notes=tuple(notes),
            memo=memo,
            closed=closed,
            checked=checked,
            usage=meter.usage + Usage(seconds=round(time.monotonic() - started, 3)),
            stopped=stopped,
        )
        await self._store.researches.keep_round(self._research.id, done)
        self._research = msgspec.structs.replace(self._research, rounds=(*self._research.rounds, done))
        self._tell("memo", detail=stopped, gaps=memo.gaps, closed=closed)

    @property
    def _tasks_left(self) -> int:
        return self._research.max_tasks - sum(len(round.tasks) for round in self._research.rounds)

    def _nothing_to_do(self, index: int, memo: Memo | None) -> str:
        """Why a round has no task."""
        if self._tasks_left < 1:
            return f"no task was left of {self._research.max_tasks}"
        if memo is not None and (memo.gaps if index == 2 else memo.claims_to_verify):
            return "there was nothing to search for that had not been searched"
        return "no gap was left" if index == 2 else "there was no claim to verify"

    async def _plan(self, index: int, memo: Memo | None) -> Sequence[ResearchTask]:
        left = self._tasks_left
        most = {1: min(FIRST_ROUND, left), 2: max(left - LAST_ROUND, min(1, left)), 3: min(LAST_ROUND, left)}[index]
        if most < 1 or (index == 2 and memo is not None and not memo.gaps):
            return ()
        if index == 3 and (memo is None or not memo.claims_to_verify):
            return ()
        tried = tuple(task.search_query for round in self._research.rounds for task in round.tasks)
        if self._brief.is_fact and index == 2 and memo is not None:
            most = min(most, len(memo.gaps))
        asked = PlanRound(brief=self._brief, round_index=index, memo=memo, most=most, tried=tried)
        tasks: Sequence[ResearchTask] = (await decide(Plan(), asked, self._tools.model, self._note)).decided
        return tasks

    async def _gather(self, tasks: Sequence[ResearchTask]) -> list[Note]:
        discover = [task for task in tasks if task.kind == "discover"]
        fill = [task for task in tasks if task.kind != "discover"]
        notes = await self._workers.run(discover, brief=self._brief, names=self._is_catalog)
        notes += await self._workers.run(fill, brief=self._brief, follow=self._shape.follows)
        await self._shape.absorb(tasks, notes)
        return notes

    def _notes(self) -> list[Note]:
        return [note for round in self._research.rounds for note in round.notes]

    # ── what is open ─────────────────────────────────────────────────────────────────────────────────────────────────

    async def _memo(self, index: int, done: int) -> Memo:
        table = await self._desk.table()
        gaps: Sequence[Gap] = self._shape.gaps(table, index)
        if isinstance(self._shape, Narrative) and self._brief.is_fact and index == 1:
            gaps = (*await self._descriptions(self._shape, table), *gaps)
        if not self._is_catalog and not self._brief.is_fact and index < 3:
            gaps = await self._detected(table, gaps)
        completed = sum(len(round.tasks) for round in self._research.rounds) + done
        cited = {origin for row in table.rows for origin in cited_origins(row)}
        memo = Memo(
            query=self._brief.question,
            report_type=self._brief.report_type,
            round_index=index,
            tasks_completed=completed,
            tasks_remaining=max(0, self._research.max_tasks - completed),
            unique_citations=len(cited),
            unique_domains=len(
                {page.domain or origin for origin, page in self._desk.library.pages.items() if origin in cited}
            ),
            pages_extracted=len(self._desk.library.pages),
            themes_covered=tuple(self._shape.themes(table)),
            sources_summary=self._sources(cited),
            gaps=tuple(gaps),
            claims_to_verify=await self._claims(table) if index == 2 else (),
            target_items=self._brief.target_items,
            candidates=tuple(self._shape.candidates(table)),
            required_fields=tuple(each.field.name for each in self._brief.columns if each.field.required),
        )
        return bounded(memo)

    async def _detected(self, table: Table, gaps: Sequence[Gap]) -> Sequence[Gap]:
        asked = DetectGaps(
            brief=self._brief,
            findings=tuple(self._shape.themes(table)),
            rule_gaps=tuple(gaps),
        )
        detected: Sequence[Gap] = (await decide(Detect(), asked, self._tools.model, self._note)).decided
        return detected

    async def _descriptions(self, shape: Narrative, table: Table) -> list[Gap]:
        """What the question only describes: the things that may be meant are looked into next."""
        best = shape.answer(table)
        if best is not None and (best[0].confidence or 0.0) >= SURE:
            return []
        sources = tuple(self._desk.library.pages.values())
        asked = FindLinks(question=self._brief.question, sources=sources)
        links: Sequence[Link] = (await decide(LinkFinder(), asked, self._tools.model, self._note)).decided
        await shape.look_into(links)
        return [
            Gap(
                gap_type="missing_topic",
                description=f"What the question means may be {link.name}",
                priority=1,
                missing_topic=link.name,
                suggested_query=link.query,
            )
            for link in links
        ]

    def _sources(self, cited: set[str]) -> tuple[SourceEntry, ...]:
        return tuple(
            SourceEntry(
                url=page.origin,
                domain=page.domain,
                title=page.title,
                has_evidence=page.origin in cited,
                relevance=relevance_of(page.origin, page.title),
            )
            for page in self._desk.library.pages.values()
        )

    # ── claims ───────────────────────────────────────────────────────────────────────────────────────────────────────

    async def _claims(self, table: Table) -> tuple[Claim, ...]:
        asked = PickClaims(brief=self._brief, statements=tuple(self._statements(table)))
        claims: Sequence[Claim] = (await decide(Pick(), asked, self._tools.model, self._note)).decided
        return tuple(claims)

    def _statements(self, table: Table) -> list[Statement]:
        """The cells that a reader will rely on, as sentences."""
        rows = self._shape.chosen(table) if isinstance(self._shape, Catalog) else table.rows
        found = []
        for row in rows:
            name = cell_text(row.cell(table.key_field))
            for field, kind in self._columns:
                cell = row.cell(field.name)
                if cell.value is None or not cell.evidence:
                    continue
                if not self._is_catalog:
                    subject = f"{self._subject}: " if self._subject else ""
                    found += [
                        self._stated(row, table.key_field, field.name, f"{subject}{each.quote}", place)
                        for place, each in enumerate(cell.evidence)
                    ]
                    continue
                if kind != "site":
                    weight = 1.0 if field.required else 0.5
                    text = claimed(kind, name, cell)
                    found.append(self._stated(row, table.key_field, field.name, text, 0, weight))
        return found

    @property
    def _columns(self) -> list[tuple[Field, FieldKind]]:
        """What was asked for; the owner of the table may have columns of their own in it."""
        if self._is_catalog:
            return [(each.field, each.kind) for each in self._brief.columns[1:]]
        return [(narrative.fields_of(self._brief)[1][-1], "prose")]

    def _stated(self, row: Row, key: str, field: str, text: str, place: int, weight: float = 0.8) -> Statement:
        cell = row.cell(field)
        evidence = cell.evidence[place]
        return Statement(
            text=" ".join(text.split()),
            url=evidence.origin,
            domain=evidence.domain,
            confidence=cell.confidence or 0.0,
            weight=weight,
            row_id=row.id,
            field=field,
            sources=len({each.domain or each.origin for each in cell.evidence}),
            name=cell_text(row.cell(key)) if self._is_catalog else self._subject,
            has_number=any(map(str.isdigit, text)),
        )

    async def _verify(self, tasks: Sequence[ResearchTask], memo: Memo) -> tuple[list[Note], tuple[CheckedClaim, ...]]:
        """What one task brought may decide another's claim, and so may pages of earlier rounds."""
        notes = await self._workers.run(tasks, brief=self._brief)
        table = await self._desk.table()
        library = self._desk.library
        names = {row.id: cell_text(row.cell(table.key_field)) for row in table.rows}
        failed = "; ".join(dict.fromkeys(note.error for note in notes if note.error))
        checked: list[CheckedClaim] = []
        for claim in memo.claims_to_verify:
            about = names.get(claim.row_id, "") if self._is_catalog else self._subject
            pages = list(library.pages.values()) if about else library.read_by([task.id for task in tasks])
            verdict = await verify(
                claim,
                about,
                library.pages.get(claim.source_url),
                [page for page in pages if not about or about in page.text],
                None if self._purse.spent else self._tools.model,
                self._note,
                failed=failed,
            )
            checked.append(verdict)
            if verdict.verdict == "contradicted" and claim.row_id in names and table.field(claim.field):
                await self._desk.doubt(claim.row_id, claim.field, f"contradicted: {verdict.reason}")
            done, total = len(checked), len(memo.claims_to_verify)
            self._tell("claim", detail=f"{verdict.verdict}: {claim.claim_text}", done=done, total=total)
        return notes, tuple(checked)

    # ── the end ──────────────────────────────────────────────────────────────────────────────────────────────────────

    async def _finish(self) -> Research:
        self._tell("writing")
        table = await self._desk.table()
        usage = sum((round.usage for round in self._research.rounds), Usage())
        memo = self._research.rounds[-1].memo if self._research.rounds else None
        synthesis = Synthesis(
            self._store, self._tools.model, self._note, self._purse, memo_text=written(memo) if memo else ""
        )
        writing, started = Meter(), time.monotonic()
        with metered(writing):
            report = await synthesis.write(self._research, self._shape, table)
        took = Usage(seconds=round(time.monotonic() - started, 3))
        report = msgspec.structs.replace(report, usage=usage + writing.usage + took)
        nothing = not report.sections and report.answer is None and report.table is None
        status: ResearchStatus = "partial" if synthesis.limit else "nothing" if nothing else "done"
        await self._store.researches.finish(self._research.id, status, report)
        self._tell("done", detail=status)
        return await self._store.researches.get(self._research.id)

    def _reading(self, progress: Progress) -> None:
        self._tell("reading", detail=progress.label, done=progress.done, total=progress.total)

    def _task_done(self, task: ResearchTask) -> None:
        self._tell("task", detail=task.search_query)

    def _note(self, step: Step) -> None:
        self._tell("reading", detail=step.detail)

    def _tell(
        self,
        stage: Stage,
        *,
        detail: str = "",
        done: int = 0,
        total: int = 0,
        gaps: tuple[Gap, ...] = (),
        closed: tuple[str, ...] = (),
    ) -> None:
        self._watch(
            ResearchEvent(
                stage=stage, round_index=self._round, detail=detail, done=done, total=total, gaps=gaps, closed=closed
            )
        )


def whole(rounds: Sequence[Round]) -> tuple[Round, ...]:
    """Without one in which a limit was reached: with more time or money it is done again."""
    return tuple(round for round in rounds if not (round.tasks and round.stopped))


def gone(before: Sequence[Gap], after: Sequence[Gap]) -> tuple[str, ...]:
    """What was open and no longer is, field by field."""
    still = {each for gap in after for each in parts(gap)}
    return tuple(dict.fromkeys(each for gap in before for each in parts(gap) if each not in still))


def parts(gap: Gap) -> list[str]:
    if gap.candidate_name:
        return [f"{gap.candidate_name}: {name}" for name in gap.missing_fields]
    return [gap.missing_topic or gap.gap_type.replace("_", " ")]


def claimed(kind: FieldKind, name: str, cell: Cell) -> str:
    """A cell as a sentence that others may confirm or deny; of several prices one."""
    if kind == "price":
        return f"{name}: {next(iter(price_lines(cell.evidence[0].quote)), cell_text(cell))}"
    if isinstance(cell.value, tuple):
        return cell.value[0]
    return f"{name}: {cell_text(cell)}" if kind == "fact" else cell_text(cell)
