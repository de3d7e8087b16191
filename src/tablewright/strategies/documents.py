"""Documents: a row answered from the user's own files, page and quote as evidence.

A row that is called like a file is that file, asked about itself; any other is looked for in all of them.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from msgspec import structs

from tablewright.corpus.annotate.notation import day_first_in
from tablewright.corpus.corpus import Corpus
from tablewright.corpus.field_values import words_of
from tablewright.decisions.decision import fall_back
from tablewright.decisions.read import ReadRow, RowReading, RowToRead
from tablewright.decisions.read_document import ReadDocument
from tablewright.domain.fieldspec import PLACEHOLDER
from tablewright.domain.model import Field, Finding
from tablewright.domain.retrieved import Retrieved
from tablewright.domain.text import cell_text, new_queries, normalize_whitespace
from tablewright.errors import UsageError
from tablewright.extraction.about import Subject, about
from tablewright.extraction.meaning import wanted
from tablewright.extraction.reader import ABOUT, Candidate
from tablewright.messages.catalogue import PageText
from tablewright.models.text_budget import ROWS_A_CALL
from tablewright.strategies import estimates
from tablewright.strategies.investigation import READ_ROW, RowInvestigation
from tablewright.strategies.row_answers import RowAnswers, RowAttempt
from tablewright.strategies.strategy import Answer, Expected, Need, Parameter, Strategy, Task, Tools
from tablewright.values.dates import read_date
from tablewright.values.typed import dated

SETTLED = 0.7
"""What a stated value must score for nothing else to be read for its field."""
DOCUMENTS = 5
"""Opened for a row, at most, unless the user says otherwise."""


class DocumentsStrategy(Strategy):
    name = "documents"
    display_name: PageText[str] = "Your documents"
    summary: PageText[str] = "Finds the answer in your own documents."
    max_steps = 8
    concurrency = 4 * ROWS_A_CALL  # so that four calls are under way where rows share them
    parameters = (
        Parameter(
            name="documents",
            help="How many documents are read for a row, at most.",
            default=str(DOCUMENTS),
            least=1,
            most=50,
        ),
    )

    def needs(self, task: Task) -> Collection[Need]:
        return ("documents", "model")

    def expected(self, task: Task, tools: Tools) -> Expected | None:
        return estimates.documents(task, tools)

    def prepare(self, task: Task, tools: Tools) -> Answer:
        if tools.documents is None:
            raise UsageError("There are no documents to read.", advice="Add some: `tablewright docs add PATH`.")
        return DocumentAnswers(task, tools, tools.documents)


class DocumentAnswers(RowAnswers):
    """Looked at again, a row has other documents read for what was weak."""

    def __init__(self, task: Task, tools: Tools, corpus: Corpus) -> None:
        super().__init__(task, tools, corpus.source)
        self._corpus = corpus
        self._most = int(task.params.get("documents", DOCUMENTS))
        self._found_in_it = {field.name for field in task.table.fields if field.question}

    async def answer(self, attempt: RowAttempt) -> Sequence[Finding]:
        with attempt.investigation.slot.on_the_way():
            return await self._answer(attempt)

    async def _answer(self, attempt: RowAttempt) -> Sequence[Finding]:
        investigation, fields = attempt.investigation, attempt.fields
        subject = investigation.subject
        named = await self._corpus.named(normalize_whitespace(cell_text(attempt.row.cell(subject.column))))
        if named:  # the row is a document: what else is known of it was not found in it
            given = {name: text for name, text in subject.context.items() if name not in self._found_in_it}
            investigation.subject = Subject(name="", context=given, column=subject.column)
            pages = await investigation.open(named[: self._most])
        else:
            pages = await searched(investigation, fields, self._most)
        if attempt.feedback.previous and not pages:
            return ()  # nothing that was not read before: what was found stands
        if investigation.model is not None:
            await investigation.read(fields, pages, decision=ReadDocument() if named else READ_ROW)
            findings = await investigation.findings(fields)
        else:
            findings = await without_model(self._corpus, investigation, fields, pages)
        await investigation.rate(findings)
        return findings


async def without_model(
    corpus: Corpus, investigation: RowInvestigation, fields: tuple[Field, ...], pages: tuple[Retrieved, ...]
) -> list[Finding]:
    """Return findings of the built-in reader. A label that means the field counts, also where nothing follows it; only
    the other fields are read for."""
    subject = investigation.subject
    own = tuple(page for page in pages if about(subject, page.title, page.text) >= ABOUT)
    answers = await corpus.answers(fields, own)
    for field in fields:
        investigation.take(field, answers[field.name].candidates, own)
    blank = {field.name: answers[field.name].blank for field in fields if answers[field.name].blank}
    unsettled = tuple(field for field in fields if field.name not in blank and investigation.score(field) < SETTLED)
    asked = RowToRead(subject=subject, fields=unsettled, sources=pages)
    read = (await fall_back(ReadDocumentPlainly(), asked)).found
    for field in unsettled:
        investigation.take(field, read.get(field.name, []), pages)
    return [
        left_blank(field, blank[field.name]) if field.name in blank else await investigation.finding(field)
        for field in fields
    ]


class ReadDocumentPlainly(ReadRow):
    """The built-in reader, held back in a document that is asked about itself: a place must have the field's own words.
    No name tells there what a place is about, and places with words that are only alike are mostly about others."""

    def fallback(self, asked: RowToRead) -> RowReading:
        found = super().fallback(asked).found
        return RowReading(
            found={field.name: list(_plain(field, found.get(field.name, []), asked)) for field in asked.fields}
        )


def _plain(field: Field, candidates: Sequence[Candidate], asked: RowToRead) -> Iterator[Candidate]:
    needed = own_words(field) if not asked.subject.name else frozenset()
    for each in candidates:
        text = asked.sources[each.source].text
        if needed <= words_of(text[each.start : each.end]):
            yield in_order(each, text) if field.type == "date" else each


def own_words(field: Field) -> frozenset[str]:
    """The words of its name, without those that only say what an answer looks like: "date", "number"."""
    want = wanted(field)
    return words_of(" ".join(word for word in want.phrases[0] if word not in want.said_by_kind))


def in_order(candidate: Candidate, text: str) -> Candidate:
    """A date in the order in which its document writes them."""
    date = read_date(candidate.value)
    if date is None or not date.other_iso or (day_first := day_first_in(text)) is None:
        return candidate
    return structs.replace(candidate, value=dated(candidate.value, date, day_first).date)


def left_blank(field: Field, label: str) -> Finding:
    """Return a finding without a value: a form has a place for it and leaves it blank, so it is nowhere else in it."""
    return Finding(field=field.name, reason="not_found", error=f"The form leaves it blank: “{label}”.")


async def searched(investigation: RowInvestigation, fields: tuple[Field, ...], most: int) -> tuple[Retrieved, ...]:
    """The documents that speak of the row: with the names of the fields, by its name alone and, on another look, with
    the words of each question."""
    name = investigation.subject.name
    queries = [f"{name} {' '.join(field.name for field in fields[:3])}", name]
    if not new_queries(queries, investigation.queries):
        queries = [f"{name} {PLACEHOLDER.sub(' ', field.question)}" for field in fields if field.question]
    for query in new_queries(queries, investigation.queries):
        await investigation.search(query)
    return await investigation.open(await investigation.choose_pages(fields, most))
