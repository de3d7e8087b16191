"""The `documents` strategy: answer a row from the user's own files, with page and quote as evidence.

A row that is named like a file is answered from that file; any other is searched for in all of them.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from msgspec import structs

from tablewright.documents.annotate.notation import detect_day_first
from tablewright.documents.corpus import Corpus
from tablewright.documents.field_values import label_words
from tablewright.domain.fieldspec import PLACEHOLDER
from tablewright.domain.model import Field, Finding
from tablewright.domain.retrieved import Retrieved
from tablewright.domain.text import cell_text, drop_tried_queries, normalize_whitespace
from tablewright.errors import UsageError
from tablewright.extraction.meaning import build_field_query
from tablewright.extraction.reader import Candidate
from tablewright.extraction.subject import SUBJECT_SCORES, Subject, score_subject_match
from tablewright.llm.tasks.decision import fall_back
from tablewright.llm.tasks.read import ReadDocument, ReadRow, RowReading, RowToRead
from tablewright.messages.catalogue import PageText
from tablewright.strategies.effort import Expected
from tablewright.strategies.investigation import READ_ROW_TASK, RowInvestigation
from tablewright.strategies.row_answers import RowAnswers, RowAttempt
from tablewright.strategies.strategy import Answer, Need, Parameter, Strategy, Task, Tools
from tablewright.values.comparable_value import make_comparable_date
from tablewright.values.dates import read_date

# The default of the parameter `documents`.
DOCUMENTS_PER_ROW = 5


class DocumentsStrategy(Strategy):
    name = "documents"
    display_name: PageText[str] = "Your documents"
    summary: PageText[str] = "Finds the answer in your own documents."
    max_steps = 8
    concurrency = 4
    shares_calls = True
    parameters = (
        Parameter(
            name="documents",
            help="How many documents are read for a row, at most.",
            default=str(DOCUMENTS_PER_ROW),
            least=1,
            # Larger: more of what is read is about something else, since each document is read whole.
            most=50,
        ),
    )

    def needs(self, task: Task) -> Collection[Need]:
        return ("documents", "model")

    def expected(self, task: Task, tools: Tools) -> Expected | None:
        from tablewright.strategies import estimates

        return estimates.estimate_documents(task, tools)

    def prepare(self, task: Task, tools: Tools) -> Answer:
        if tools.documents is None:
            raise UsageError("There are no documents to read.", advice="Add some: `tablewright docs add PATH`.")
        return DocumentAnswers(task, tools, tools.documents)


class DocumentAnswers(RowAnswers):
    """Answers rows from documents; a further attempt reads other documents for weak fields."""

    def __init__(self, task: Task, tools: Tools, corpus: Corpus) -> None:
        super().__init__(task, tools, corpus.source)
        self._corpus = corpus
        self._most = int(task.params.get("documents", DOCUMENTS_PER_ROW))
        self._found_in_it = {field.name for field in task.table.fields if field.question}

    async def answer(self, attempt: RowAttempt) -> Sequence[Finding]:
        with attempt.investigation.slot.on_the_way():
            return await self._answer(attempt)

    async def _answer(self, attempt: RowAttempt) -> Sequence[Finding]:
        investigation, fields = attempt.investigation, attempt.fields
        subject = investigation.subject
        named = await self._corpus.named(normalize_whitespace(cell_text(attempt.row.cell(subject.column))))
        # The row is a document: what else is known of it was not found in it.
        if named:
            given = {name: text for name, text in subject.context.items() if name not in self._found_in_it}
            investigation.subject = Subject(name="", context=given, column=subject.column)
            pages = await investigation.open(named[: self._most])
        else:
            pages = await search_documents_of_row(investigation, fields, self._most)
        if attempt.feedback.previous and not pages:
            # Nothing new to read: the earlier findings are kept.
            return ()
        if investigation.model is not None:
            await investigation.read(fields, pages, decision=ReadDocument() if named else READ_ROW_TASK)
            findings = await investigation.findings(fields)
        else:
            findings = await answer_row_without_model(self._corpus, investigation, fields, pages)
        await investigation.rate(findings)
        return findings


async def answer_row_without_model(
    corpus: Corpus, investigation: RowInvestigation, fields: tuple[Field, ...], pages: tuple[Retrieved, ...]
) -> list[Finding]:
    """Return findings of the built-in reader. A label that means the field settles it, even if its value is blank; the
    text is read only for the other fields."""
    subject = investigation.subject
    # A form about another row has the same labels.
    own = tuple(page for page in pages if score_subject_match(subject, page.title, page.text) >= SUBJECT_SCORES.about)
    answers = await corpus.answers(fields, own)
    for field in fields:
        investigation.take(field, answers[field.name].candidates, own)
    blank = {field.name: answers[field.name].blank for field in fields if answers[field.name].blank}
    # A labelled value of at least this score settles its field. Higher: the text is read for more fields, and may
    # contradict the form; lower: a label of another field may win.
    unsettled = tuple(field for field in fields if field.name not in blank and investigation.score(field) < 0.7)
    asked = RowToRead(subject=subject, fields=unsettled, sources=pages)
    read = (await fall_back(ReadDocumentPlainly(), asked)).found
    for field in unsettled:
        investigation.take(field, read.get(field.name, []), pages)
    return [
        make_blank_finding(field, blank[field.name]) if field.name in blank else await investigation.finding(field)
        for field in fields
    ]


class ReadDocumentPlainly(ReadRow):
    """The built-in reader, stricter for a document that is the row itself: a passage must have the field's own words.
    There is no name to check what a passage is about, and passages with merely similar words are mostly about something
    else."""

    def fallback(self, asked: RowToRead) -> RowReading:
        found = super().fallback(asked).found
        return RowReading(
            found={
                field.name: list(_filter_candidates(field, found.get(field.name, []), asked)) for field in asked.fields
            }
        )


def _filter_candidates(field: Field, candidates: Sequence[Candidate], asked: RowToRead) -> Iterator[Candidate]:
    # A row with a name is checked by what the passage is about (`score_subject_match`).
    needed = field_name_words(field) if not asked.subject.name else frozenset()
    for each in candidates:
        text = asked.sources[each.source].text
        if needed <= label_words(text[each.start : each.end]):
            yield normalize_date_order(each, text) if field.type == "date" else each


def field_name_words(field: Field) -> frozenset[str]:
    """Return the words of the field's name without those that only describe the form of an answer: "date", "number"."""
    want = build_field_query(field)
    return label_words(" ".join(word for word in want.phrases[0] if word not in want.kind_words))


def normalize_date_order(candidate: Candidate, text: str) -> Candidate:
    """Return a date candidate in the order of day and month that its document uses."""
    date = read_date(candidate.value)
    if date is None or not date.other_iso or (day_first := detect_day_first(text)) is None:
        return candidate
    return structs.replace(candidate, value=make_comparable_date(candidate.value, date, day_first).date)


def make_blank_finding(field: Field, label: str) -> Finding:
    """Return a finding without a value: the form has a place for it and leaves it blank."""
    return Finding(field=field.name, reason="not_found", error=f"The form leaves it blank: “{label}”.")


async def search_documents_of_row(
    investigation: RowInvestigation, fields: tuple[Field, ...], most: int
) -> tuple[Retrieved, ...]:
    """Search and open documents about the row: by its name with the names of the fields, by its name alone and, in a
    further attempt, by the words of each question."""
    name = investigation.subject.name
    # Three names at most: with more, the words of the fields outweigh the name of the row.
    queries = [f"{name} {' '.join(field.name for field in fields[:3])}", name]
    if not drop_tried_queries(queries, investigation.queries):
        queries = [f"{name} {PLACEHOLDER.sub(' ', field.question)}" for field in fields if field.question]
    for query in drop_tried_queries(queries, investigation.queries):
        await investigation.search(query)
    return await investigation.open(await investigation.choose_pages(fields, most))
