"""Write the report from the kept notes and from nothing else.

A model writes it. Code proves every sentence, sends failing ones back once, adds the opposing statement next to a
disputed one, and numbers the sources. Without a model, or if a limit is reached, the notes themselves are the report.
Every quote is looked up in the stored text of its source (`References`), and what was not found is reported with where
it was looked for. `write_report_file` is the only writer, of a file.
"""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from tablewright.citations.quotes import locate_evidence
from tablewright.domain.model import Cell, Evidence, Label
from tablewright.domain.research import (
    Brief,
    CheckedClaim,
    Note,
    Reference,
    Report,
    ReportCell,
    ReportTable,
    Research,
    Round,
    RoundSummary,
    Section,
    SeenSource,
    Sentence,
    SourceNote,
    UnfoundTopic,
)
from tablewright.domain.retrieved import is_document_id, track_documents
from tablewright.domain.text import cell_text, shorten_text
from tablewright.errors import ModelError, UsageError
from tablewright.formats.reports import wording
from tablewright.formats.reports.wording import ROUNDS, ReportWords
from tablewright.formats.reports.write import render_report, report_format
from tablewright.llm.tasks.decision import Outcome, Tell, decide
from tablewright.llm.tasks.reflect import note_site
from tablewright.llm.tasks.write_report import (
    CitedSentence,
    ReportToWrite,
    WriteReport,
    WrittenReport,
    WrittenSection,
    all_notes_fit,
    collect_disputes,
    drop_unproved_sentences,
    find_one_sided_note,
    index_disputes,
    with_neighbours,
)
from tablewright.store.records import utc_now
from tablewright.store.store import Store
from tablewright.workflows.files import replace_file
from tablewright.workflows.research.catalog import (
    CatalogFound,
    format_report_value,
    list_left_out,
    make_statement,
    select_report_rows,
    value_columns,
)
from tablewright.workflows.research.library import ResearchLimits

if TYPE_CHECKING:
    from tablewright.llm.model import LanguageModel


class ReportWriter:
    """Writes one report."""

    def __init__(self, store: Store, model: LanguageModel | None, limits: ResearchLimits, tell: Tell) -> None:
        self.limit = limits.spent
        """The limit that was reached; "" if none was."""
        self._references = References(store)
        self._model = model
        self._limits = limits
        self._tell = tell
        self._left_out = 0
        self._notes: dict[int, SourceNote] = {}
        self._against: Mapping[int, set[int]] = {}
        self._claims: Sequence[CheckedClaim] = ()
        self._by_model = False
        self._words = limits.words

    async def write(self, research: Research, listed: CatalogFound | None = None) -> Report:
        """Return the report; `listed` is the table of a catalog."""
        brief, rounds = research.brief, research.rounds
        words = self._words
        notes = [note for each in rounds for note in each.source_notes]
        self._claims = [checked for each in rounds for checked in each.checked]
        memo = rounds[-1].memo if rounds else None
        asked = ReportToWrite(
            brief=brief,
            notes=tuple(notes),
            disputes=collect_disputes(self._claims, memo.contradictions if memo else ()),
            claims=tuple(self._claims),
            gaps=memo.gaps if memo else (),
            listed=tuple(cell_text(row.cell(listed.table.key_field)) for row in select_report_rows(listed, brief))
            if listed
            else (),
            others=tuple(list_left_out(listed, brief, words)) if listed else (),
            room=self._model.text_room if self._model else 1,
        )
        self._notes = {note.number: note for note in notes}
        self._against = index_disputes(asked.disputes)
        draft = await self._draft(asked)
        results = [result for each in rounds for result in each.notes]
        missing = list_unfound(draft, rounds, asked, words)
        if not notes:
            missing = [
                UnfoundTopic(what=brief.question, where=describe_search(collect_queries(rounds), results, words))
            ]
        answer = await self._sentences([draft.answer], headline=True)
        report = Report(
            title=draft.title or make_report_title(brief),
            question=brief.question,
            report_type=brief.report_type,
            answer=answer[0] if answer else None,
            summary=await self._sentences(draft.summary, headline=True),
            sections=await self._sections(draft.sections),
            table=await (self._catalog(listed, brief) if listed else self._comparison(draft)),
            disagreements=await self._sentences(draft.disagreements),
            next_steps=tuple(draft.next_steps),
            claims=tuple([await self._checked(each) for each in self._claims]),
            unfound=tuple(missing),
            sources=tuple(distinct_sources(results)),
            rounds=tuple(
                RoundSummary(
                    index=each.index,
                    name=words(ROUNDS[each.kind]) if each.kind else "",
                    tasks=tuple(task.search_query for task in each.tasks),
                    closed=each.closed,
                    open=tuple(gap.description for gap in each.memo.gaps),
                    stopped=each.stopped or each.ended,
                )
                for each in rounds
            ),
            completeness=listed.rows.completeness if listed else "",
            language=brief.language,
            words=dict(words.lines),
            written_by=self._model.name.rpartition("/")[2] if self._model is not None and self._by_model else "",
            unread=self._model is None,
            created_at=utc_now(),
        )
        remarks = [remark for each in rounds for remark in each.remarks]
        if listed:
            remarks += listed.rows.assumed
            remarks += [
                words("Whether {name} belongs here is not known: {why}", name=each.name, why=each.reason)
                for each in listed.rows.undecided
            ]
        return msgspec.structs.replace(report, references=self._references.listed(), notes=(*self._remarks(), *remarks))

    def _remarks(self) -> list[str]:
        said = []
        sites, wanted = len({note_site(note) for note in self._notes.values()}), self._limits.extent.sites
        if 0 < sites < wanted:
            said.append(
                self._words(
                    "This report draws on {count} site ({wanted} wanted).|"
                    "This report draws on {count} sites ({wanted} wanted).",
                    count=sites,
                    wanted=wanted,
                )
            )
        if self.limit:
            said.append(self._words("This report is partial: {why}.", why=self.limit))
        if self._left_out:
            said.append(
                self._words(
                    "{count} statement could not be verified and was left out.|"
                    "{count} statements could not be verified and were left out.",
                    count=self._left_out,
                )
            )
        return said

    # ── the draft ────────────────────────────────────────────────────────────────────────────────────────────────────

    async def _draft(self, asked: ReportToWrite) -> WrittenReport:
        if not asked.notes or self._model is None or self._limits.money_spent:
            return WriteReport().fallback(asked)
        try:
            async with asyncio.timeout(self._limits.seconds_to_write):
                with track_documents(note.evidence.origin for note in asked.notes):
                    draft = await (
                        self._whole(asked) if all_notes_fit(asked.notes, asked.room) else self._in_parts(asked)
                    )
        except TimeoutError:
            draft = None
        if draft is None:
            self.limit = self.limit or self._limits.spent or self._words("there was no time left to write it")
            return WriteReport().fallback(asked)
        self._by_model = True
        return draft

    async def _whole(self, asked: ReportToWrite) -> WrittenReport | None:
        """Return the draft, or None if a limit is reached before."""
        outcome: Outcome[WrittenReport] = await decide(WriteReport(), asked, self._model, self._tell)
        if outcome.over_budget:
            return None
        if outcome.degraded:
            raise ModelError(f"The report could not be written: {outcome.degraded}")
        self._left_out += drop_unproved_sentences(outcome.decided, asked)
        return outcome.decided

    async def _in_parts(self, asked: ReportToWrite) -> WrittenReport | None:
        """Write section by section if the notes do not fit into one request, then the rest from the sections."""
        sections: list[WrittenSection] = []
        for topic in dict.fromkeys(note.topic for note in asked.notes):
            own = tuple(note for note in asked.notes if note.topic == topic)
            # Opposing notes of other topics go along, or the section would state one side only.
            rivals = {number for note in own for number in self._against.get(note.number, ())}
            shown = (*own, *(self._notes[number] for number in sorted(rivals) if self._notes[number] not in own))
            part = msgspec.structs.replace(
                asked, notes=shown, section=topic or self._words("Further findings"), gaps=(), claims=()
            )
            draft = await self._whole(part)
            if draft is None:
                return None
            sections += draft.sections
        cited = dict.fromkeys(n for section in sections for each in section.sentences for n in each.notes)
        written = "\n".join(
            f"## {section.heading}\n"
            + " ".join(f"{each.text} [{', '.join(map(str, each.notes))}]" for each in section.sentences)
            for section in sections
        )
        notes = tuple(self._notes[number] for number in cited)
        draft = await self._whole(msgspec.structs.replace(asked, notes=notes, written=written))
        if draft is not None:
            draft.sections = sections
        return draft

    # ── sentences with their sources ─────────────────────────────────────────────────────────────────────────────────

    async def _sections(self, drafted: Sequence[WrittenSection]) -> tuple[Section, ...]:
        found = []
        for each in drafted:
            if said := await self._sentences(each.sentences):
                found.append(Section(heading=each.heading or self._words("Excerpts"), sentences=said))
        return tuple(found)

    async def _sentences(self, drafted: Sequence[CitedSentence], *, headline: bool = False) -> tuple[Sentence, ...]:
        """Cite each sentence and add the opposing one to a disputed statement; a contradicted statement without its
        opposition is dropped from headlines."""
        found = []
        for each, neighbours in with_neighbours(drafted):
            citations = await self._cited(each.notes)
            alone = self._alone(each, neighbours)
            # A headline has no room for the other side, so a contradicted statement must not stand there alone.
            if not citations or (alone and headline and self._is_contradicted(alone)):
                self._left_out += 1
                continue
            calculation = " ".join(each.calculation.split())
            found.append(Sentence(text=each.text, citations=citations, calculation=calculation))
            if alone:
                rival = self._notes[min(self._against[alone])]
                found.append(Sentence(text=self._says(rival), citations=await self._cited([rival.number])))
        return tuple(found)

    def _alone(self, sentence: CitedSentence, neighbours: set[int]) -> int:
        """Return a disputed note cited without its opposition, or 0 if none is."""
        alone = find_one_sided_note(sentence.notes, neighbours, self._against)
        return 0 if sentence.is_apart and not self._is_contradicted(alone) else alone

    async def _cited(self, numbers: Sequence[int]) -> tuple[int, ...]:
        return await self._references.cite_all([self._notes[number].evidence for number in numbers])

    def _is_contradicted(self, number: int) -> bool:
        return any(each.claim.note == number and each.verdict == "contradicted" for each in self._claims)

    def _says(self, note: SourceNote) -> str:
        who = note.evidence.domain or note.evidence.title
        # Quote of the opposing source in a sentence.
        return f"{who}: {self._words.quoted(shorten_text(note.evidence.quote, 240))}"

    async def _comparison(self, draft: WrittenReport) -> ReportTable | None:
        compared = draft.comparison
        if not compared.columns or not compared.rows:
            return None
        rows = [(ReportCell(text=row.name), *[await self._cell(cell) for cell in row.cells]) for row in compared.rows]
        return ReportTable(columns=(compared.of or self._words("Compared"), *compared.columns), rows=tuple(rows))

    async def _cell(self, cell: CitedSentence) -> ReportCell:
        citations = await self._cited(cell.notes) if cell.text.strip() else ()
        if not citations:
            return ReportCell(note=self._words("not found"))
        alone = self._alone(cell, set(cell.notes))
        note = ""
        if alone:
            rival = self._notes[min(self._against[alone])]
            citations = tuple(sorted({*citations, *await self._cited([rival.number])}))
            note = self._says(rival)
        return ReportCell(text=cell.text, citations=citations, confidence=self._sure(cell, alone), note=note)

    async def _catalog(self, found: CatalogFound, brief: Brief) -> ReportTable | None:
        table = found.table
        if not table.rows:
            return None
        names = [table.key_field, *(field.name for field in value_columns(table))]
        rows = []
        for row in select_report_rows(found, brief):
            name = cell_text(row.cell(table.key_field))
            cells = [await self._filled(name, column, row.cell(column)) for column in names[1:]]
            listed_by = await self._references.cite_all(row.cell(table.key_field).evidence)
            rows.append((ReportCell(text=name, citations=listed_by), *cells))
        return ReportTable(
            columns=tuple(names), rows=tuple(rows), others=tuple(list_left_out(found, brief, self._words))
        )

    async def _filled(self, name: str, column: str, cell: Cell) -> ReportCell:
        """Return a cell of a catalog, with opposing values in its note."""
        if cell.value is None:
            return ReportCell(note=self._words.mark(cell.reason) if cell.reason else self._words("not looked for"))
        if not cell.evidence and cell.shown_basis == "given":  # by the owner of the table
            return ReportCell(text=cell_text(cell), note=self._words("given"))
        citations = await self._references.cite_all(cell.evidence)
        if not citations:
            return ReportCell(note=self._words("its evidence is no longer stored"))
        said = make_statement(name, column, format_report_value(cell))
        mine = {number for number, note in self._notes.items() if note.statement == said}
        rivals = sorted({rival for number in mine for rival in self._against.get(number, ())} - mine)
        citations = tuple(sorted({*citations, *await self._cited(rivals)}))
        notes = [self._words("judged")] if cell.basis == "judged" else []
        by_page = {self._notes[rival].evidence.origin: self._notes[rival] for rival in rivals}
        notes += map(self._says, by_page.values())
        # A longer cell would break the layout of the table; the whole value is in the catalog's own table.
        return ReportCell(
            text=shorten_text(format_report_value(cell), 400),
            citations=citations,
            confidence="low" if rivals else cell.confidence_label,
            note="; ".join(notes),
        )

    def _sure(self, cell: CitedSentence, alone: int) -> Label:
        """Return "high" if independent sites confirm all of it, "low" if one contradicts it, else "medium"."""
        numbers = cell.notes
        if alone or (not cell.is_apart and any(self._against.get(number) for number in numbers)):
            return "low"
        supported = [each for each in self._claims if each.verdict == "supported"]
        confirmed = {number for each in supported for number in (each.claim.note, *each.notes)}
        return "high" if set(numbers) <= confirmed else "medium"

    async def _checked(self, checked: CheckedClaim) -> CheckedClaim:
        """Return the claim, marked "not checked" if a quote is no longer stored."""
        held = [each for each in checked.evidence if await self._references.cite(each) is not None]
        if len(held) == len(checked.evidence):
            return checked
        return CheckedClaim(
            claim=checked.claim, verdict="not checked", reason=self._words("the sources are no longer stored")
        )


def make_report_title(brief: Brief) -> str:
    text = " ".join(brief.question.split()).rstrip("?.! ")
    return shorten_text(text[:1].upper() + text[1:], 120)


# ── writing a file ───────────────────────────────────────────────────────────────────────────────────────────────────


async def write_report_file(research: Research, path: Path) -> None:
    format = report_format(path)
    if research.report is None:
        raise UsageError(
            f"Research {research.id} has no report yet.",
            advice=f"`tablewright research --resume {research.id}` continues it.",
        )
    content = await asyncio.to_thread(render_report, research.report, format)
    with replace_file(path, kept="The report is safe.") as stream:
        stream.write(content)


# ── sources ───────────────────────────────────────────────────────────────────────────────────────────────────────────


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
