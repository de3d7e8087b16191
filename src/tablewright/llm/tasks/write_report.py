"""Write a report from numbered notes, each sentence with the notes that it is based on.

Code checks what can be proved: the notes exist, every figure is in them or calculated from them, and a disputed note is
reported together with the other side. Sentences that fail go back once, each with its reason.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from pydantic import BaseModel, PrivateAttr

from tablewright.citations.figures import prove_figures
from tablewright.citations.quotes import RETRIEVED_WARNING, Unproved, clean_line, mark_block, mark_question, prove_items
from tablewright.domain.model import Struct
from tablewright.domain.research import Brief, CheckedClaim, Contradiction, Gap, Length, SourceNote
from tablewright.llm.tasks.decision import Correction, InvalidReply, Prompt, answers_by_number, headed_block, join_parts
from tablewright.llm.tasks.reflect import note_site
from tablewright.llm.tasks.take_notes import describe_research
from tablewright.llm.text_budget import TEXT_LIMITS, shorten_evenly


class ReportSize(NamedTuple):
    words: int
    reply_tokens: int


# By length, at most. The reply needs far more tokens than words, for note numbers and the form around each sentence.
REPORT_SIZES: dict[Length, ReportSize] = {
    "short": ReportSize(words=200, reply_tokens=2_500),
    "standard": ReportSize(words=600, reply_tokens=5_000),
    "long": ReportSize(words=1_500, reply_tokens=9_000),
}


class Dispute(Struct, frozen=True):
    """A note that other notes contradict or limit."""

    note: int
    against: tuple[int, ...]
    about: str = ""


class ReportToWrite(Struct, frozen=True, gc=True):
    """The material of a report. With `section`, only that section is written; with `written`, all sections are written
    and the rest of the report remains. `listed` are the rows of the table shown with it, `others` what was found and is
    not in the table. `room` is for the notes, in characters."""

    brief: Brief
    notes: tuple[SourceNote, ...]
    disputes: tuple[Dispute, ...] = ()
    claims: tuple[CheckedClaim, ...] = ()
    gaps: tuple[Gap, ...] = ()
    section: str = ""
    written: str = ""
    listed: tuple[str, ...] = ()
    others: tuple[str, ...] = ()
    room: int = TEXT_LIMITS.default_room


class CitedSentence(BaseModel):
    text: str
    notes: list[int]
    calculation: str
    _is_apart: bool = PrivateAttr(default=False)

    @property
    def is_apart(self) -> bool:
        """True if its writer says that it uses nothing of a note that is disputed."""
        return self._is_apart

    def become(self, other: CitedSentence) -> None:
        """Take over the rewritten sentence. One that is returned unchanged is apart (see `is_apart`)."""
        text = clean_line(other.text)
        self._is_apart = (text, other.notes) == (self.text, self.notes)
        self.text, self.notes, self.calculation = text, other.notes, other.calculation


class WrittenSection(BaseModel):
    heading: str
    sentences: list[CitedSentence]


class ComparisonRow(BaseModel):
    name: str
    cells: list[CitedSentence]


class Comparison(BaseModel):
    of: str
    columns: list[str]
    rows: list[ComparisonRow]


class StillOpen(BaseModel):
    gap: int
    what: str


class WrittenReport(BaseModel):
    title: str
    answer: CitedSentence
    summary: list[CitedSentence]
    sections: list[WrittenSection]
    comparison: Comparison
    disagreements: list[CitedSentence]
    not_found: list[StillOpen]
    next_steps: list[str]


class RewrittenSentence(CitedSentence):
    number: int


class RewrittenSentences(BaseModel):
    sentences: list[RewrittenSentence]


class WriteReport:
    name = "write report"
    instructions = """\
You write a research report from numbered notes, for a reader who has to decide or act on it and has not seen the \
sources. Plain, precise sentences in the language of the report. The reader never sees the notes: what they do not \
tell "was not found".

Each sentence has `text` without note numbers in it; `notes`, the numbers of all notes that it is based on, several if \
sources agree or are brought together; and `calculation`, only where a figure of it follows by arithmetic: the \
expression with the figures as the notes write them, such as "(1577 - 1200) / 1200 * 100", several set apart by ";", \
else "". All other figures, dates and amounts must be in its notes; counts of your own are written as words. Nothing \
beyond the notes: a conclusion is drawn from notes, cites them, and is worded as a conclusion. What an interested \
party says of itself is reported as its own claim.

Under "Disputed" are notes that others contradict or limit. If you cite one of them, say in the same sentence or the \
next what the other side says, and cite it. What was contradicted is never the main point of the summary. What was \
announced for a day that is past was planned: only a note can show that it happened.

- `title`: the subject in a few words.
- `answer`: for the report type "answer", the answer itself, as short as can be (a name, a date, yes or no), or "" \
if the notes do not tell; for all other types "".
- `summary`: two to five sentences that answer the question first: the finding, or the recommendation where a choice \
is asked for, what it depends on, and the most important doubt. With an `answer`, which is shown above it: only what \
the answer is based on and the doubt, without repeating it.
- `sections`: what a reader needs beyond the summary, by the planned sections where there are notes for them. Bring \
the sources together: what they agree on, where they differ, what follows. No sentence for every note, no repetition \
of the summary.
- `comparison`: where things are compared, a table: `of` says what its rows are, such as "Provider"; `columns` are \
the criteria; `rows` have a `name` and one cell for each column, a few words with their notes, `text` "" where the \
notes do not tell. Else "", no columns and no rows.
- `disagreements`: one sentence for each thing on which sources differ: who says what.
- `not_found`: of the open gaps, those that the notes really leave open: the number of the gap, and what is missing \
in a few words. None that the notes fill after all.
- `next_steps`: up to four things that the reader could do now, such as whom to ask for what. No new facts.
"""

    def prompt(self, asked: ReportToWrite) -> Prompt:
        return Prompt(
            instructions=report_instructions(asked),
            text=f"{report_material(asked)}\n\n{report_order(asked)}",
            reply=WrittenReport,
            max_tokens=REPORT_SIZES[asked.brief.length].reply_tokens,
        )

    def check(self, asked: ReportToWrite, reply: Any) -> WrittenReport:
        report: WrittenReport = reply
        columns = len(report.comparison.columns)
        if any(len(row.cells) != columns for row in report.comparison.rows):
            raise InvalidReply(f"each row of `comparison` needs {columns} cells, one for each of its columns.")
        if not any(sentence.text.strip() for sentence in report_sentences(report)) and not report.not_found:
            raise InvalidReply("the report is empty: say in `not_found` what the notes do not tell.", usable=report)
        report.next_steps = [step for step in map(clean_line, report.next_steps) if step]
        if failed := failing_sentences(report, asked):
            faults = " ".join(fault for _, fault in failed)
            # Only the failing sentences go back: a second whole report would cost as much as the first.
            raise InvalidReply(faults, usable=report, correction=ask_for_rewritten(asked, report, failed))
        return report

    def fallback(self, asked: ReportToWrite) -> WrittenReport:
        """Return the notes themselves by section, without a summary or anything else that would have to be written."""
        topics = [angle.name for angle in asked.brief.angles] or [""]
        grouped: dict[str, list[CitedSentence]] = {topic: [] for topic in topics}
        for note in asked.notes:
            sentence = CitedSentence(text=note.statement, notes=[note.number], calculation="")
            grouped.setdefault(note.topic, []).append(sentence)
        return WrittenReport(
            title="",
            answer=CitedSentence(text="", notes=[], calculation=""),
            summary=[],
            sections=[
                WrittenSection(heading=topic, sentences=said)
                for topic, said in grouped.items()
                if said and not asked.listed
            ],
            comparison=Comparison(of="", columns=[], rows=[]),
            disagreements=[],
            not_found=[StillOpen(gap=n, what=gap.description) for n, gap in enumerate(asked.gaps, start=1)],
            next_steps=[],
        )


def ask_for_rewritten(
    asked: ReportToWrite, report: WrittenReport, failed: Sequence[tuple[CitedSentence, str]]
) -> Correction:
    """Return a request for the failed sentences, each with its reason."""
    lines = [f"{n}. {sentence.text}\n   Fails: {fault}" for n, (sentence, fault) in enumerate(failed, start=1)]

    def put_in(reply: RewrittenSentences) -> WrittenReport:
        for number, sentence in answers_by_number(reply.sentences, len(failed)).items():
            failed[number - 1][0].become(sentence)
        return report

    order = (
        'Some sentences of the report fail a check. Rewrite each of them, or give "" as its `text` to leave '
        "it out: by its `number`, with `text`, `notes` and `calculation` as above. One that fails only "
        "because a note is disputed, and uses nothing of what is disputed, stays: give it again as it is."
    )
    prompt = Prompt(
        instructions=report_instructions(asked),
        text=f"{report_material(asked)}\n\n{order}\n{mark_block('TEXT 9', chr(10).join(lines), 'sentences')}",
        reply=RewrittenSentences,
        # A sentence that is written again, with its notes.
        max_tokens=300 + 200 * len(failed),
    )
    return Correction(prompt=prompt, put_in=put_in)


# ── what the writer is shown ─────────────────────────────────────────────────────────────────────────────────────────


def report_instructions(asked: ReportToWrite) -> str:
    research = describe_research(asked.brief)
    return f"{WriteReport.instructions}\n{RETRIEVED_WARNING}\n\n{research}\nReport type: {asked.brief.report_type}"


def report_material(asked: ReportToWrite) -> str:
    """Return the notes, claims, disputes and gaps. Notes are shown whole, since they were checked for prompt injection
    when they were taken."""
    claims = [
        f"- {each.verdict}: {each.claim.claim_text} (note {each.claim.note}"
        + (f"; found: {', '.join(map(str, each.notes))}" if each.notes else "")
        + f"). {each.reason}"
        + (f" No page speaks of this part: {each.unsaid.rstrip('.')}." if each.unsaid else "")
        for each in asked.claims
    ]
    disputes = [
        f"- note {each.note}: against it {'speaks note' if len(each.against) == 1 else 'speak notes'} "
        f"{', '.join(map(str, each.against))}" + (f" ({each.about})" if each.about else "")
        for each in asked.disputes
    ]
    gaps = [f"{n}. {gap.description}" for n, gap in enumerate(asked.gaps, start=1)]
    return join_parts(
        f"The notes:\n{mark_block('TEXT 0', notes_in_full(asked.notes, asked.room), 'notes')}",
        headed_block("Claims that were checked with independent sites:", 1, claims, "claims", is_proved=True),
        headed_block("Disputed:", 2, disputes, "disputed", is_proved=True),
        headed_block("Open gaps:", 3, gaps, "gaps", is_proved=True),
        headed_block("The sections, already written:", 4, asked.written, "sections", is_proved=True),
    )


def report_order(asked: ReportToWrite) -> str:
    if asked.section:
        return f"Write only this section, in `sections`; leave all else empty:\n{mark_question(asked.section)}"
    if asked.written:
        return "The sections are written: leave `sections` empty, and write the rest of the report."
    words = REPORT_SIZES[asked.brief.length].words
    said = f"Write the report, in {words} words at most, fewer where the notes say less."
    if not asked.listed:
        return said
    others = f"\nFound and not shown in it:\n{mark_block('TEXT 6', chr(10).join(asked.others))}" if asked.others else ""
    names = mark_block("TEXT 5", "\n".join(asked.listed))
    return (
        f"{said} Next to your text, a table shows all that was asked about each of these: leave `comparison` empty, "
        f"and say what the table does not show, such as how they differ and which suits whom.\n{names}{others}"
    )


def notes_in_full(notes: Sequence[SourceNote], room: int) -> str:
    return "\n".join(shorten_evenly(note_texts(notes), room, TEXT_LIMITS.min_full_note))


def all_notes_fit(notes: Sequence[SourceNote], room: int) -> bool:
    """True if a report can be written from all notes at once without shortening any."""
    return sum(map(len, note_texts(notes))) <= room


def note_texts(notes: Sequence[SourceNote]) -> list[str]:
    return [
        f"[{note.number}] {note_site(note)}{f' · {note.topic}' if note.topic else ''}\n{note.statement}\n"
        f"“{' '.join(note.evidence.quote.split())}”"
        for note in notes
    ]


# ── what code proves ─────────────────────────────────────────────────────────────────────────────────────────────────


def report_paragraphs(report: WrittenReport) -> Iterator[Sequence[CitedSentence]]:
    """Yield the sentences that are read together; each cell of a comparison is read alone."""
    yield [report.answer]
    yield report.summary
    for section in report.sections:
        yield section.sentences
    for row in report.comparison.rows:
        yield from ([cell] for cell in row.cells)
    yield from ([sentence] for sentence in report.disagreements)


def report_sentences(report: WrittenReport) -> Iterator[CitedSentence]:
    """Yield all sentences, including the cells of a comparison."""
    for paragraph in report_paragraphs(report):
        yield from paragraph


def failing_sentences(report: WrittenReport, asked: ReportToWrite) -> list[tuple[CitedSentence, str]]:
    """Return the sentences that cannot be proved, each with a reason that the model can act on."""
    notes = {note.number: note for note in asked.notes}
    against = index_disputes(asked.disputes)
    for sentence in report_sentences(report):
        sentence.text = clean_line(sentence.text)

    def prove(said: tuple[CitedSentence, set[int]]) -> None:
        sentence, cited_nearby = said
        prove_sentence(sentence, notes, asked.brief)
        # The other side may be in the sentence before or after.
        if alone := find_one_sided_note(sentence.notes, cited_nearby, against):
            # The lowest number, so that the same report always gets the same reason.
            rival = notes[min(against[alone])]
            raise Unproved(
                f"note {alone} is disputed by note {rival.number} (“{rival.statement}”). Tell and cite both."
            )

    _, failed = prove_items((said for each in report_paragraphs(report) for said in with_neighbours(each)), prove)
    return [(sentence, problem) for (sentence, _), problem in failed]


def drop_unproved_sentences(report: WrittenReport, asked: ReportToWrite) -> int:
    """Empty the sentences that the notes do not prove; return how many."""
    notes = {note.number: note for note in asked.notes}
    said = [sentence for sentence in report_sentences(report) if sentence.text.strip()]
    _, failed = prove_items(said, lambda sentence: prove_sentence(sentence, notes, asked.brief))
    for sentence, _ in failed:
        sentence.text = ""
    return len(failed)


def with_neighbours(paragraph: Sequence[CitedSentence]) -> list[tuple[CitedSentence, set[int]]]:
    """Return the sentences that are not empty, each with the notes that it and its neighbours cite."""
    said = [each for each in paragraph if each.text.strip()]
    return [
        (each, {number for near in said[max(0, place - 1) : place + 2] for number in near.notes})
        for place, each in enumerate(said)
    ]


def prove_sentence(sentence: CitedSentence, notes: Mapping[int, SourceNote], brief: Brief) -> None:
    """Raise Unproved if the notes of a sentence do not prove it. Otherwise keep only its usable calculations."""
    if unknown := [number for number in sentence.notes if number not in notes]:
        raise Unproved(f"there is no note {unknown[0]}.")
    if not sentence.notes:
        raise Unproved("it cites no note.")
    cited = [notes[number] for number in sentence.notes]
    texts = [f"{note.evidence.title}\n{note.evidence.quote}\n{note.statement}" for note in cited]
    texts += [brief.question, brief.today]
    usable = prove_figures(sentence.text, texts, sentence.calculation.split(";"), where="its notes", round_numbers=True)
    sentence.calculation = "; ".join(usable)


def index_disputes(disputes: Sequence[Dispute]) -> dict[int, set[int]]:
    """Return the notes that dispute each note, by its number."""
    found: dict[int, set[int]] = {}
    for each in disputes:
        found.setdefault(each.note, set()).update(each.against)
    return found


def find_one_sided_note(cited: Sequence[int], cited_nearby: set[int], against: Mapping[int, set[int]]) -> int:
    """Return a note that is cited without any note that disputes it nearby, or 0."""
    return next((number for number in cited if against.get(number) and not against[number] & cited_nearby), 0)


def collect_disputes(claims: Sequence[CheckedClaim], contradictions: Sequence[Contradiction]) -> tuple[Dispute, ...]:
    """Return the disputes in both directions: citing either note requires showing the other.

    A note that limits a claim which is supported all the same, or that is silent on a part of it, disputes nothing.
    """
    pairs: dict[tuple[int, int], str] = {}
    for checked in claims:
        for number, evidence in zip(checked.notes, checked.evidence, strict=False):
            limits = evidence.stance == "qualifies" and checked.verdict in ("qualified", "contradicted")
            if evidence.stance == "contradicts" or limits:
                pairs[checked.claim.note, number] = checked.claim.claim_text
                pairs[number, checked.claim.note] = checked.claim.claim_text
    for each in contradictions:
        for one in each.notes:
            for other in each.against:
                pairs.setdefault((one, other), each.about)
                pairs.setdefault((other, one), each.about)
    found: dict[int, Dispute] = {}
    for (note, other), about in pairs.items():
        before = found.get(note, Dispute(note=note, against=(), about=about))
        found[note] = Dispute(note=note, against=(*before.against, other), about=before.about)
    return tuple(found[note] for note in sorted(found))
