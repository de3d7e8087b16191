"""A report as people read it: each sentence with the numbers of what it cites, each number a way to the quote."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from nicegui import ui

from tablewright.domain.research import (
    AnsweredFollowUp,
    CheckedClaim,
    Reference,
    Report,
    ReportCell,
    ReportTable,
    Round,
    Sentence,
    Verdict,
)
from tablewright.doors.web.citations import number_button, open_reference, show_evidence, with_numbers
from tablewright.doors.web.elements import (
    Shown,
    card,
    chip,
    dollars,
    duration,
    grid,
    inline,
    many,
    outside,
    paragraph,
    quiet,
    row,
)
from tablewright.doors.web.frame import heading
from tablewright.doors.web.words import t
from tablewright.formats.reports.wording import Words
from tablewright.messages.catalogue import PageText

ROUNDS: PageText[dict[str, str]] = {"discover": "Discovery", "fill": "Gap filling", "verify": "Verification"}
VERDICTS: dict[Verdict, str] = {
    "supported": "high",
    "partly supported": "medium",
    "contradicted": "failed",
    "qualified": "medium",
    "not checked": "low",
}
GAPS = 6
FURTHER: PageText[str] = "another search"
OWN_SENTENCES: PageText[str] = "The sentences are quoted from the sources."


def show_report(report: Report) -> None:
    open_number, words = opener(report.references), Words(report.language, report.words)
    with card(t("Report")).classes("tw-report"):
        heading(t("Report"))
        if report.answer is not None:
            with_numbers(report.answer.text, report.answer.citations, open_number)
        if report.summary:
            with ui.element("div"):
                show_sentences(report.summary, open_number, words)
        for note in report.notes:
            quiet(note)
        if not (report.answer or report.summary or report.sections or report.table):
            paragraph(words.nothing(report))
        if report.table is not None:
            show_table(report.table, open_number, words)
        for section in report.sections:
            heading(section.heading, level=3)
            with ui.element("div"):
                show_sentences(section.sentences, open_number, words)
        if report.disagreements:
            heading(words("Where sources disagree"), level=3)
            for sentence in report.disagreements:
                with ui.element("div"):
                    show_sentences([sentence], open_number, words)
        if report.completeness:
            heading(words("Is the list complete?"), level=3)
            paragraph(report.completeness)
        if report.claims:
            heading(words("Claims checked"), level=3)
            for checked in report.claims:
                show_claim(checked, words)
        if report.unfound:
            heading(words("What we could not find, and where we looked"), level=3)
            with ui.element("ul").classes("tw-steps"):
                for unfound in report.unfound:
                    with ui.element("li"):
                        inline("·")
                        inline(": ".join(filter(None, (unfound.what, unfound.where))))
        if report.next_steps:
            heading(words("Next steps"), level=3)
            with ui.element("ul").classes("tw-steps"):
                for step in report.next_steps:
                    with ui.element("li"):
                        inline("·")
                        inline(step)
        if report.references:
            heading(words("References"), level=3)
            show_references(report.references, open_number)
        used = report.usage
        quiet(
            f"{many(used.searches, 'search')}, {many(used.fetches, 'page')}, {many(used.llm_calls, 'model call')}, "
            f"{dollars(used.cost_usd)}, {duration(used.seconds)}. "
            + (t("Written by {model}.", model=report.written_by) if report.written_by else t(OWN_SENTENCES))
        )


def opener(references: Sequence[Reference]) -> Callable[[int], object]:
    known = {reference.number: reference for reference in references}

    async def open_number(number: int) -> None:
        if number in known:
            await open_reference(known[number])

    return open_number


def show_sentences(sentences: Sequence[Sentence], open_number: Callable[[int], object], words: Words) -> None:
    for sentence in sentences:
        with_numbers(f"{sentence.text} ", sentence.citations, open_number)
        inline(f" {words.calculated(sentence.calculation)} " if sentence.calculation else " ")


def show_table(table: ReportTable, open_number: Callable[[int], object], words: Words) -> None:
    def shown(cell: ReportCell) -> None:
        if cell.text:
            with_numbers(cell.text, cell.citations, open_number)
            if cell.confidence not in ("high", "none"):
                chip(words.mark(cell.confidence), cell.confidence)
        if cell.note:
            quiet(cell.note)

    rows: list[list[Shown]] = [[partial(shown, cell) for cell in line] for line in table.rows]
    grid(table.columns, rows, t("The table of the report"))
    if table.others:
        with ui.expansion(f"{words('Also considered')} ({len(table.others)})").props("dense"):
            for other in table.others:
                quiet(other)


def show_references(references: Sequence[Reference], open_number: Callable[[int], object]) -> None:
    for reference in references:
        with row().classes("no-wrap items-start"):
            number_button(reference.number, open_number)
            with ui.element("div"):
                outside(reference.title or reference.url, reference.url)
                page = f", {t('page {page}', page=reference.page)}" if reference.page else ""
                quiet(f"{reference.domain}{page}")


def show_claim(checked: CheckedClaim, words: Words) -> None:
    with row().classes("items-start"):
        chip(words.mark(checked.verdict), VERDICTS[checked.verdict])
        with ui.element("div").classes("tw-grow"):
            paragraph(checked.claim.claim_text)
            if reason := words.rests_on(checked):
                quiet(reason)
            if checked.evidence:
                with ui.expansion(many(len(checked.evidence), "source")).props("dense"):
                    for evidence in checked.evidence:
                        quiet(words.mark(evidence.stance))
                        show_evidence(evidence)


def show_round(each: Round) -> None:
    """What a round did, which gaps it closed, and which are still open."""
    memo = each.memo
    with card(t("Round {index}", index=each.index)):
        with row():
            heading(
                t("Round {index}: {index2}", index=each.index, index2=t(ROUNDS.get(each.kind or "", FURTHER))),
                level=3,
            )
            quiet(
                t(
                    "{value}, {pages_extracted} read so far, {unique_domains}",
                    value=many(len(each.tasks), "search"),
                    pages_extracted=many(memo.pages_extracted, "page"),
                    unique_domains=many(memo.unique_domains, "domain"),
                )
            )
        if why := each.stopped or each.ended:
            paragraph(why)
        with ui.element("ul").classes("tw-steps"):
            for gap in each.closed:
                step("check_circle", gap, "tw-gap-closed", t("Closed"))
            for open_gap in memo.gaps[:GAPS]:
                step("radio_button_unchecked", open_gap.description, "tw-gap-open", t("Open"))
        if len(memo.gaps) > GAPS:
            quiet(t("and {value} more open", value=len(memo.gaps) - GAPS))
        for checked in each.checked:
            show_claim(checked, Words())
        with ui.expansion(t("Searches")).props("dense"):
            for task in each.tasks:
                quiet(f"{task.search_query}: {task.target_gap}" if task.target_gap else task.search_query)


def step(icon: str, text: str, classes: str, word: str) -> None:
    with ui.element("li"):
        ui.icon(icon).classes(classes).props('aria-hidden="true"')
        inline(f"{word}:").classes(f"tw-small {classes}")
        inline(text)


def show_answered(answered: AnsweredFollowUp) -> None:
    paragraph(answered.question, "tw-mine")
    if answered.sentences:
        with ui.element("div"):
            show_sentences(answered.sentences, opener(answered.references), Words())
        quiet(t("From a new search.") if answered.searched else t("From the stored evidence."))
    else:
        paragraph(
            t("Neither the stored evidence nor a new search states it.")
            if answered.searched
            else t("The stored evidence does not state it.")
        )
