"""Deep research: ask, watch the rounds, read the report with its quotes, follow up."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from nicegui import ui

from tablewright.domain.research import (
    AnsweredFollowUp,
    Brief,
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
from tablewright.formats.reports import wording
from tablewright.formats.reports.wording import ReportWords
from tablewright.interfaces.page.citations import citation_button, open_reference, show_cited_text, show_evidence_source
from tablewright.interfaces.page.elements import (
    GridContent,
    RequestForm,
    flex_row,
    format_page_time,
    inline_text,
    message_form,
    page_card,
    page_link,
    request_limit,
    show_budget_note,
    show_bullets,
    show_busy,
    show_chip,
    show_earlier_list,
    show_paragraph,
    show_remark,
    show_table_grid,
    show_web_link,
    titled_card,
    titled_page,
)
from tablewright.interfaces.page.frame import answer_missing, current_visit, show_heading, show_notice, visit_now
from tablewright.interfaces.page.live import (
    FollowedRun,
    PageTask,
    download_file,
    page_tasks,
    show_status_chip,
    stop_followed_run,
)
from tablewright.interfaces.page.sharing import can_share, share_button
from tablewright.interfaces.page.words import counted_text, t, translate_choices
from tablewright.interfaces.server.context import Visit
from tablewright.interfaces.wording import format_dollars, format_duration
from tablewright.messages.catalogue import PageText
from tablewright.operations.operation import NO_LIMIT, ListRequest
from tablewright.operations.research import (
    AskFollowUp,
    GetResearch,
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

REPORT_KINDS: PageText[dict[str, str]] = {
    "": "Automatic",
    "narrative": "Narrative",
    "comparison": "Comparison",
    "answer": "Short answer",
    "catalog": "Catalog as a table",
}


@ui.page("/research", title="Research · Tablewright")
async def researches_page() -> None:
    seen = current_visit()
    with titled_page(t("Research"), here="/research"):
        if seen.person.may_change:
            show_question_form()
        show_earlier_list(
            t("Earlier research"),
            [t("Question"), t("Kind"), t("Status"), t("Started")],
            (await list_research(seen.services, ListRequest(limit=NO_LIMIT))).researches,
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


def research_line(research: ResearchHead) -> list[GridContent]:
    question = page_link(research.question, f"/research/{research.research_id}")
    status = partial(show_status_chip, research.status)
    return [question, t(REPORT_KINDS[research.report_type]), status, format_page_time(research.created_at)]


def show_question_form() -> None:
    """Turn a question into a plan, which is shown with its estimate, changed in words, and started."""

    lengths: PageText[dict[str | None, str]] = {
        None: "Automatic",
        "short": "Short",
        "standard": "Standard",
        "long": "Long",
    }

    async def plan(change: str = "", brief: Brief | None = None) -> None:
        services = (await visit_now("run")).services
        asked = {name: value for name, value in form.read().items() if name != "minutes"}
        propose(await plan_research(services, PlanResearch(**asked, brief=brief, change=change)))

    def propose(planned: ResearchPlanned) -> None:
        async def begin() -> None:
            services = (await visit_now("run")).services
            started = await start_research(services, StartResearch(**form.read(), brief=planned.brief))
            ui.navigate.to(f"/research/{started.research_id}")

        async def change(words: str) -> None:
            await plan(words, planned.brief)

        place.clear()
        with place, titled_card(t("Plan")):
            for part in wording.describe_brief(planned.brief).splitlines():
                show_paragraph(part)
            show_remark(f"{wording.describe_research_estimate(planned.estimate)}.")
            with flex_row():
                ui.button(t("Start"), icon="play_arrow", on_click=begin).props("unelevated")
            if current_visit().services.settings.model:
                message_form(t("What should change?"), t("Change"), change, most=request_limit(PlanResearch, "change"))

    form = RequestForm(StartResearch, plan)
    with form.open_card(t("New question")):
        form.add_question(
            t("What do you want to find out?"),
            t("Identify 5 AI providers with pricing and case studies"),
            t("Enter a question."),
        )
        with flex_row():
            kinds = {name or None: label for name, label in translate_choices(REPORT_KINDS).items()}
            form.add_field("report_type", t("Report"), choices=kinds).style("min-width: 210px")
            form.add_field("length", t("Length"), choices=translate_choices(lengths)).style("min-width: 140px")
            form.add_field("items", t("Catalog items"))
            form.add_field("max_searches", t("Max. searches"))
            form.add_field("minutes", t("Max. minutes"))
            ui.space()
            form.add_button(t("Plan"), "travel_explore")
        show_budget_note(current_visit().services.settings)
    place = ui.element("div").classes("tw-column").props("aria-live=polite")


# ── one piece of research ────────────────────────────────────────────────────────────────────────────────────────────


@ui.page("/research/{research_id}", title="Research · Tablewright")
@answer_missing
async def research_page(research_id: str) -> None:
    seen = current_visit()
    research = await get_research((await visit_now()).services, GetResearch(research=research_id))
    with titled_page(research.brief.question, here="/research"):
        if await can_share():
            share_button("research", research.research_id)
        page = OpenResearch(seen, research)
        await page.show(t("Status"), research.table_id, page.show_report, page.show_rounds)


class OpenResearch(FollowedRun):
    progress_label: PageText[str] = "Progress of the research"

    def __init__(self, seen: Visit, research: ResearchShown) -> None:
        super().__init__(seen)
        self.research = research
        self.feed: list[str] = []
        self.follow_up_key = f"refine {research.research_id}"
        self.doing = t("Starting")

    async def read(self) -> None:
        jobs = self.seen.services.jobs
        self.research = await get_research(self.seen.services, GetResearch(research=self.research.research_id))
        self.run = await jobs.get(self.research.run_id) if self.research.run_id else None
        # A run that stopped without ending its research can be resumed.
        self.left = self.research.status == "running" and (
            self.run is None or self.run.status != "running" or await jobs.is_interrupted(self.run)
        )

    def take(self, news: Progress) -> bool:
        names: PageText[dict[str, str]] = {
            "task": "Searched",
            "claim": "Checked",
            "round": "Round",
            "reading": "Reading",
            "writing": "Writing the report",
        }
        stage, _, detail = news.detail.partition(": ")
        if stage in ("task", "claim", "round"):
            # The last twelve fit without scrolling.
            self.feed = [*self.feed[-11:], f"{t(names[stage])}: {detail}"]
        self.doing = t(names[stage]) if stage in ("reading", "writing") else detail or stage
        # A memo ends a round, so the page reads the research again.
        return stage == "memo"

    @property
    def is_under_way(self) -> bool:
        return self.research.status == "running" and not self.left

    def show_head(self) -> None:
        research = self.research
        with flex_row():
            show_status_chip("interrupted" if self.left else research.status)
            show_remark(f"{research.brief.report_type}: {research.brief.reason}" if research.brief.reason else "")
            ui.space()
            ui.link(t("Open table"), f"/tables/{research.table_id}")
            if self.run is not None:
                ui.link(t("Open run"), f"/runs/{self.run.id}")
        with flex_row():
            self.buttons()

    def show_state(self) -> None:
        if self.is_under_way:
            with ui.element("div").classes("tw-column"):
                super().show_state()
                show_bullets(self.feed, "tw-feed")

    def buttons(self) -> None:
        formats = {"md": "Markdown", "html": "HTML", "docx": "Word", "pdf": "PDF", "json": "JSON"}
        can_go_on = self.left or self.research.status in ("cancelled", "failed", "partial")
        if self.seen.person.may_change and self.is_under_way:
            stop = partial(stop_followed_run, self.run)
            ui.button(t("Stop"), icon="stop", on_click=stop).props("outline color=negative")
        if self.seen.person.may_change and can_go_on:
            ui.button(t("Resume"), icon="play_arrow", on_click=self.go_on).props("unelevated")
        if self.research.report is not None:
            for ending, name in formats.items():
                ui.button(name, icon="download", on_click=partial(self.download, ending)).props("flat dense")

    async def go_on(self) -> None:
        await resume_research((await visit_now("run")).services, ResumeResearch(research=self.research.research_id))
        ui.navigate.reload()

    async def download(self, ending: str) -> None:
        services, research_id = (await visit_now()).services, self.research.research_id
        name = f"research-{research_id}.{ending}"
        await download_file(lambda path: write_report(services, research_id, path), name)

    def show_rounds(self) -> None:
        if self.research.rounds:
            show_heading(t("Research log"))
        for each in self.research.rounds:
            show_round(each)

    def show_report(self) -> None:
        report = self.research.report
        if report is None:
            return
        show_report(report)
        with titled_card(t("Ask a follow-up")):
            for answered in self.research.answered:
                show_follow_up(answered)
            if page_tasks(self.seen).under_way(self.follow_up_key):
                show_busy(t("Searching stored evidence, then the web …"))
                ui.timer(0.5, self.look_for_answer)
            elif self.seen.person.may_change:
                most = request_limit(AskFollowUp, "question")
                message_form(t("Your question"), t("Ask"), self.ask_further, most=most)

    async def ask_further(self, words: str) -> None:
        now = await visit_now("run")
        seen = await get_research(now.services, GetResearch(research=self.research.research_id))
        request = AskFollowUp(research=seen.research_id, question=words)

        async def refine(_: PageTask) -> None:
            await ask_follow_up(now.services, request)

        page_tasks(now).begin(self.follow_up_key, "Looking", refine)
        self.refresh_parts()

    async def look_for_answer(self) -> None:
        done = page_tasks(self.seen).get(self.follow_up_key)
        if done is not None and done.ended:
            if done.problem:
                show_notice(done.problem, good=False)
            await self.read()
            self.refresh_parts()


# ── the report ────────────────────────────────────────────────────────────────────────────────────────────────────────


def show_report(report: Report) -> None:
    open_number, words = reference_opener(report.references), ReportWords(report.language, report.words)
    with titled_card(t("Report")) as shown:
        shown.classes("tw-report")
        if report.answer is not None:
            show_cited_text(report.answer.text, report.answer.citations, open_number)
        if report.summary:
            show_sentences(report.summary, open_number, words)
        for note in report.notes:
            show_remark(note)
        if not (report.answer or report.summary or report.sections or report.table):
            show_paragraph(words.nothing(report))
        if report.table is not None:
            show_report_table(report.table, open_number, words)
        for section in report.sections:
            show_heading(section.heading, level=3)
            show_sentences(section.sentences, open_number, words)
        if report.disagreements:
            show_heading(words("Where sources disagree"), level=3)
            for sentence in report.disagreements:
                show_sentences([sentence], open_number, words)
        if report.completeness:
            show_heading(words("Is the list complete?"), level=3)
            show_paragraph(report.completeness)
        if report.claims:
            show_heading(words("Claims checked"), level=3)
            for checked in report.claims:
                show_claim(checked, words)
        if report.unfound:
            show_heading(words("What we could not find, and where we looked"), level=3)
            show_bullets(": ".join(filter(None, (unfound.what, unfound.where))) for unfound in report.unfound)
        if report.next_steps:
            show_heading(words("Next steps"), level=3)
            show_bullets(report.next_steps)
        if report.references:
            show_heading(words("References"), level=3)
        for reference in report.references:
            with flex_row().classes("no-wrap items-start"):
                citation_button(reference.number, open_number)
                with ui.element("div"):
                    show_web_link(reference.title or reference.url, reference.url)
                    page = f", {t('page {page}', page=reference.page)}" if reference.page else ""
                    show_remark(f"{reference.domain}{page}")
        used, writer = report.usage, t("The sentences are quoted from the sources.")
        if report.written_by:
            writer = t("Written by {model}.", model=report.written_by)
        show_remark(
            f"{counted_text(used.searches, 'search')}, {counted_text(used.fetches, 'page')}, "
            f"{counted_text(used.llm_calls, 'model call')}, "
            f"{format_dollars(used.cost_usd)}, {format_duration(used.seconds)}. {writer}"
        )


def reference_opener(references: Sequence[Reference]) -> Callable[[int], object]:
    known = {reference.number: reference for reference in references}

    async def open_number(number: int) -> None:
        if number in known:
            await open_reference(known[number])

    return open_number


def show_sentences(sentences: Sequence[Sentence], open_number: Callable[[int], object], words: ReportWords) -> None:
    with ui.element("div"):
        for sentence in sentences:
            show_cited_text(f"{sentence.text} ", sentence.citations, open_number)
            inline_text(f" {words.calculated(sentence.calculation)} " if sentence.calculation else " ")


def show_report_table(table: ReportTable, open_number: Callable[[int], object], words: ReportWords) -> None:
    def shown(cell: ReportCell) -> None:
        if cell.text:
            show_cited_text(cell.text, cell.citations, open_number)
            if cell.confidence not in ("high", "none"):
                show_chip(words.mark(cell.confidence), cell.confidence)
        if cell.note:
            show_remark(cell.note)

    rows: list[list[GridContent]] = [[partial(shown, cell) for cell in line] for line in table.rows]
    show_table_grid(table.columns, rows, t("The table of the report"))
    if table.others:
        with ui.expansion(f"{words('Also considered')} ({len(table.others)})").props("dense"):
            for other in table.others:
                show_remark(other)


def show_claim(checked: CheckedClaim, words: ReportWords) -> None:
    looks: dict[Verdict, str] = {
        "supported": "high",
        "partly supported": "medium",
        "contradicted": "failed",
        "qualified": "medium",
        "not checked": "low",
    }
    with flex_row().classes("items-start"):
        show_chip(words.mark(checked.verdict), looks[checked.verdict])
        with ui.element("div").classes("tw-grow"):
            show_paragraph(checked.claim.claim_text)
            if reason := words.rests_on(checked):
                show_remark(reason)
            if checked.evidence:
                with ui.expansion(counted_text(len(checked.evidence), "source")).props("dense"):
                    for evidence in checked.evidence:
                        show_remark(words.mark(evidence.stance))
                        show_evidence_source(evidence)


def show_round(each: Round) -> None:
    """Show a round: its searches, the gaps it closed, and those that are open."""
    most_gaps = 6
    kinds: PageText[dict[str, str]] = {
        "discover": "Discovery",
        "fill": "Gap filling",
        "verify": "Verification",
        "": "another search",
    }
    memo = each.memo
    with page_card(t("Round {index}", index=each.index)):
        with flex_row():
            kind = t(kinds.get(each.kind or "", kinds[""]))
            show_heading(t("Round {index}: {index2}", index=each.index, index2=kind), level=3)
            figures = {
                "value": counted_text(len(each.tasks), "search"),
                "pages_extracted": counted_text(memo.pages_extracted, "page"),
                "unique_domains": counted_text(memo.unique_domains, "domain"),
            }
            show_remark(t("{value}, {pages_extracted} read so far, {unique_domains}", **figures))
        if why := each.stopped or each.ended:
            show_paragraph(why)
        with ui.element("ul").classes("tw-steps"):
            for gap in each.closed:
                show_gap("check_circle", gap, "tw-gap-closed", t("Closed"))
            for open_gap in memo.gaps[:most_gaps]:
                show_gap("radio_button_unchecked", open_gap.description, "tw-gap-open", t("Open"))
        if len(memo.gaps) > most_gaps:
            show_remark(t("and {value} more open", value=len(memo.gaps) - most_gaps))
        for checked in each.checked:
            show_claim(checked, ReportWords())
        with ui.expansion(t("Searches")).props("dense"):
            for task in each.tasks:
                show_remark(f"{task.search_query}: {task.target_gap}" if task.target_gap else task.search_query)


def show_gap(icon: str, text: str, classes: str, word: str) -> None:
    with ui.element("li"):
        ui.icon(icon).classes(classes).props('aria-hidden="true"')
        inline_text(f"{word}:").classes(f"tw-small {classes}")
        inline_text(text)


def show_follow_up(answered: AnsweredFollowUp) -> None:
    show_paragraph(answered.question, "tw-mine")
    if answered.sentences:
        show_sentences(answered.sentences, reference_opener(answered.references), ReportWords())
        show_remark(t("From a new search.") if answered.searched else t("From the stored evidence."))
    elif answered.searched:
        show_paragraph(t("Neither the stored evidence nor a new search states it."))
    else:
        show_paragraph(t("The stored evidence does not state it."))
