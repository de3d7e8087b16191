"""Deep research: ask, watch the rounds, read the report with its quotes, follow up."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

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
from tablewright.domain.run import Progress
from tablewright.doors.server.context import Visit
from tablewright.doors.web.citations import number_button, open_reference, show_evidence, with_numbers
from tablewright.doors.web.elements import (
    Shown,
    budget_note,
    bullets,
    busy,
    card,
    chip,
    count_input,
    count_of,
    earlier_list,
    grid,
    inline,
    journey,
    limit_of,
    link_to,
    outside,
    paragraph,
    question_box,
    quiet,
    row,
    saying,
    titled_card,
    when,
)
from tablewright.doors.web.frame import heading, or_missing, say, visit, visit_now, visit_to_run
from tablewright.doors.web.live import FollowedRun, Undertaking, download, status_chip, undertakings
from tablewright.doors.web.sharing import may_share, share_button
from tablewright.doors.web.words import many, t, translated
from tablewright.doors.wording import dollars, duration
from tablewright.formats.reports import wording
from tablewright.formats.reports.wording import Words
from tablewright.messages.catalogue import PageText
from tablewright.operations.operation import NO_LIMIT
from tablewright.operations.research import (
    AskFollowUp,
    GetResearch,
    ListResearch,
    PlanResearch,
    ResearchHead,
    ResearchPlanned,
    ResearchShown,
    ResumeResearch,
    StartResearch,
    ask_follow_up,
    get_research,
    list_research,
    plan_research,
    resume_research,
    start_research,
    write_report,
)

FORMATS = {"md": "Markdown", "html": "HTML", "docx": "Word", "pdf": "PDF", "json": "JSON"}
KINDS: PageText[dict[str, str]] = {
    "": "Automatic",
    "narrative": "Narrative",
    "comparison": "Comparison",
    "answer": "Short answer",
    "catalog": "Catalog as a table",
}
LENGTHS: PageText[dict[str | None, str]] = {None: "Automatic", "short": "Short", "standard": "Standard", "long": "Long"}
EVENTS: PageText[dict[str, str]] = {
    "task": "Searched",
    "claim": "Checked",
    "round": "Round",
    "reading": "Reading",
    "writing": "Writing the report",
}
FEED = 12
"""The last searches and checks, shown during the run."""
PROGRESS: PageText[str] = "Progress of the research"


@ui.page("/research", title="Research · Tablewright")
async def researches_page() -> None:
    seen = visit()
    with journey(t("Research"), here="/research"):
        if seen.person.may_change:
            question_form()
        earlier_list(
            t("Earlier research"),
            [t("Question"), t("Kind"), t("Status"), t("Started")],
            (await list_research(seen.services, ListResearch(limit=NO_LIMIT))).researches,
            research_line,
            nothing=(
                "travel_explore",
                t("No research yet"),
                t(
                    "Ask a question above. Rounds of searches follow: discovery, gap filling and verification. Every "
                    "sentence of the report cites its source."
                ),
            ),
        )


def research_line(research: ResearchHead) -> list[Shown]:
    question = link_to(research.question, f"/research/{research.research_id}")
    status = partial(status_chip, research.status)
    return [question, t(KINDS[research.report_type]), status, when(research.created_at)]


def question_form() -> None:
    """Turn a question into a plan, which is shown with its estimate, changed in words, and started."""

    async def plan() -> None:
        now = await visit_to_run()
        if not (question.value or "").strip():
            question.validate()
            return
        button.disable()
        try:
            await propose(await plan_research(now.services, PlanResearch(**asked())))
        finally:
            button.enable()

    def asked() -> dict[str, Any]:
        return {
            "question": (question.value or "").strip(),
            "report_type": kind.value or None,
            "items": count_of(items),
            "length": length.value,
            "max_searches": count_of(tasks),
        }

    async def propose(planned: ResearchPlanned) -> None:
        async def begin() -> None:
            services = (await visit_to_run()).services
            request = StartResearch(**asked(), brief=planned.brief, minutes=count_of(minutes))
            ui.navigate.to(f"/research/{(await start_research(services, request)).research_id}")

        async def change(words: str) -> None:
            services = (await visit_to_run()).services
            request = PlanResearch(**asked(), brief=planned.brief, change=words)
            await propose(await plan_research(services, request))

        place.clear()
        with place, titled_card(t("Plan")):
            for part in wording.plan(planned.brief).splitlines():
                paragraph(part)
            quiet(f"{wording.estimate(planned.estimate)}.")
            with row():
                ui.button(t("Start"), icon="play_arrow", on_click=begin).props("unelevated")
            if visit().services.settings.model:
                saying(t("What should change?"), t("Change"), change, most=limit_of(PlanResearch, "change"))

    with card(t("New question")), ui.element("form").classes("tw-column").on("submit.prevent", plan):
        question = question_box(
            t("What do you want to find out?"),
            t("Identify 5 AI providers with pricing and case studies"),
            t("Enter a question."),
            most=limit_of(StartResearch, "question"),
        )
        with row():
            kind = ui.select(translated(KINDS), value="", label=t("Report")).style("min-width: 210px")
            length = ui.select(translated(LENGTHS), value=None, label=t("Length")).style("min-width: 140px")
            items = count_input(t("Catalog items"), most=limit_of(StartResearch, "items"))
            tasks = count_input(t("Max. searches"), most=limit_of(StartResearch, "max_searches"))
            minutes = count_input(t("Max. minutes"), most=limit_of(StartResearch, "minutes"))
            ui.space()
            button = ui.button(t("Plan"), icon="travel_explore").props("type=submit unelevated")
        budget_note(visit().services.settings)
    place = ui.element("div").classes("tw-column").props("aria-live=polite")


# ── one piece of research ────────────────────────────────────────────────────────────────────────────────────────────


@ui.page("/research/{research_id}", title="Research · Tablewright")
@or_missing
async def research_page(research_id: str) -> None:
    seen = visit()
    research = await get_research((await visit_now()).services, GetResearch(research=research_id))
    with journey(research.brief.question, here="/research"):
        if await may_share():
            share_button("research", research.research_id)
        page = OpenResearch(seen, research)
        await page.show(t("Status"), research.table_id, page.show_report, page.show_rounds)


class OpenResearch(FollowedRun):
    progress_label = PROGRESS

    def __init__(self, seen: Visit, research: ResearchShown) -> None:
        super().__init__(seen)
        self.research = research
        self.feed: list[str] = []
        self.doing = t("Starting")

    async def read(self) -> None:
        jobs = self.seen.services.jobs
        self.research = await get_research(self.seen.services, self.named)
        self.run = await jobs.get(self.research.run_id) if self.research.run_id else None
        self.left = self.research.status == "running" and (
            self.run is None or self.run.status != "running" or await jobs.is_interrupted(self.run)
        )

    def take(self, news: Progress) -> bool:
        stage, _, detail = news.detail.partition(": ")
        if stage in ("task", "claim", "round"):
            self.feed = [*self.feed[-FEED:], f"{t(EVENTS[stage])}: {detail}"]
        self.doing = t(EVENTS[stage]) if stage in ("reading", "writing") else detail or stage
        return stage == "memo"

    @property
    def named(self) -> GetResearch:
        return GetResearch(research=self.research.research_id)

    @property
    def is_under_way(self) -> bool:
        return self.research.status == "running" and not self.left

    def show_head(self) -> None:
        research = self.research
        with row():
            status_chip("interrupted" if self.left else research.status)
            quiet(f"{research.brief.report_type}: {research.brief.reason}" if research.brief.reason else "")
            ui.space()
            ui.link(t("Open table"), f"/tables/{research.table_id}")
            if self.run is not None:
                ui.link(t("Open run"), f"/runs/{self.run.id}")
        with row():
            self.buttons()

    def show_state(self) -> None:
        if self.is_under_way:
            with ui.element("div").classes("tw-column"):
                super().show_state()
                bullets(self.feed[-FEED:], "tw-feed")

    def buttons(self) -> None:
        can_go_on = self.left or self.research.status in ("cancelled", "failed", "partial")
        if self.seen.person.may_change and self.is_under_way:
            self.stop_button()
        if self.seen.person.may_change and can_go_on:
            ui.button(t("Resume"), icon="play_arrow", on_click=self.go_on).props("unelevated")
        if self.research.report is not None:
            for ending, name in FORMATS.items():
                ui.button(name, icon="download", on_click=partial(self.download, ending)).props("flat dense")

    async def go_on(self) -> None:
        await resume_research((await visit_to_run()).services, ResumeResearch(research=self.research.research_id))
        ui.navigate.reload()

    async def download(self, ending: str) -> None:
        now = await visit_now()
        research_id = self.research.research_id
        await download(lambda path: write_report(now.services, research_id, path), f"research-{research_id}.{ending}")

    def show_rounds(self) -> None:
        if self.research.rounds:
            heading(t("Research log"))
        for each in self.research.rounds:
            show_round(each)

    def show_report(self) -> None:
        report = self.research.report
        if report is None:
            return
        show_report(report)
        with titled_card(t("Ask a follow-up")):
            for answered in self.research.answered:
                show_answered(answered)
            if undertakings(self.seen).under_way(self.follow_up_key):
                busy(t("Searching stored evidence, then the web …"))
                ui.timer(0.5, self.look_for_answer)
            elif self.seen.person.may_change:
                saying(t("Your question"), t("Ask"), self.ask_further, most=limit_of(AskFollowUp, "question"))

    @property
    def follow_up_key(self) -> str:
        return f"refine {self.research.research_id}"

    async def ask_further(self, words: str) -> None:
        now = await visit_to_run()
        request = AskFollowUp(research=(await get_research(now.services, self.named)).research_id, question=words)

        async def refine(_: Undertaking) -> None:
            await ask_follow_up(now.services, request)

        undertakings(now).begin(self.follow_up_key, "Looking", refine)
        self.refresh_parts()

    async def look_for_answer(self) -> None:
        done = undertakings(self.seen).get(self.follow_up_key)
        if done is not None and done.ended:
            if done.problem:
                say(done.problem, good=False)
            await self.read()
            self.refresh_parts()


# ── the report ────────────────────────────────────────────────────────────────────────────────────────────────────────


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
    with titled_card(t("Report")) as shown:
        shown.classes("tw-report")
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
            bullets(": ".join(filter(None, (unfound.what, unfound.where))) for unfound in report.unfound)
        if report.next_steps:
            heading(words("Next steps"), level=3)
            bullets(report.next_steps)
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
    """Show a round: its searches, the gaps it closed, and those that are open."""
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
