"""`tablewright research`: a question becomes a report that cites only what was read."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import msgspec
import typer

from tablewright.domain.research import AnsweredFollowUp, Brief, ResearchEvent
from tablewright.domain.text import pluralize_noun, replace_unsafe_characters
from tablewright.errors import Cancelled, UsageError
from tablewright.interfaces.cli import output
from tablewright.interfaces.cli.adapter import command
from tablewright.interfaces.cli.root import Json, app, run_with_services

if TYPE_CHECKING:
    from tablewright.operations.research import ResearchPage, ResearchShown, StartResearch
    from tablewright.services import Services

ROUND_NAMES = {"discover": "discovery", "fill": "gap-filling", "verify": "verification"}


@command(
    app,
    "research.start_research",
    name="research",
    arguments=("question",),
    metavars={"question": "QUESTION"},
    helps={
        "question": "What to find out; with --refine, the follow-up question.",
        "report_type": "narrative, comparison, answer or catalog, instead of what the plan says.",
        "length": "short, standard or long.",
        "items": "The number of things in a catalog.",
        "fields": "A detail to find for each thing; repeatable.",
        "sections": "A section of the report; repeatable.",
        "language": "The language of the report, instead of the question's.",
        "max_searches": "Searches in all rounds together (default: the setting research_searches).",
        "minutes": "The most minutes it may take.",
    },
    defaults={"question": ""},
    parse={"report_type": str, "length": str},
    fixed={"brief": None},
    settings=("model", "budget", "budget_tokens", "sources", "search"),
)
def research_command(
    request: StartResearch,
    flags: Mapping[str, str],
    out: Annotated[
        Path | None, typer.Option("--out", help="Write the report here: .md, .html, .docx, .pdf or .json.")
    ] = None,
    yes: Annotated[bool, typer.Option("--yes", help="Start at once, without showing the plan first.")] = False,
    resume: Annotated[str, typer.Option("--resume", metavar="ID", help="Resume research that was interrupted.")] = "",
    refine: Annotated[
        str, typer.Option("--refine", metavar="ID", help="Ask a follow-up, from the stored evidence first.")
    ] = "",
    show: Annotated[str, typer.Option("--show", metavar="ID", help="Show an earlier report.")] = "",
    list_all: Annotated[bool, typer.Option("--list", help="List all research.")] = False,
    json: Json = False,
) -> None:
    """Research a question: a plan, rounds of searching and reading, and a report that cites what was read.

    The plan is shown first, with its likely cost; at a terminal you can start it or say what to change. "Identify 5
    AI providers with pricing and case studies" becomes a catalog: a table with a row for each provider. "A or B for a
    firm of 40?" becomes a comparison, "Who founded X?" an answer, anything else a narrative. The main claims are
    checked on independent sites; the report shows where they disagree and says what could not be found. Without a
    model, the report consists of excerpts.
    """
    from tablewright.formats.reports.write import report_format
    from tablewright.operations import research as verbs
    from tablewright.operations.operation import NO_LIMIT, ListRequest

    if out is not None:
        report_format(out)  # refuse an unknown format before anything is spent
    question = request.question
    if sum(map(bool, (resume, refine, show, list_all))) > 1:
        raise UsageError("--resume, --refine, --show and --list do not go together.")
    if refine and not question:
        raise UsageError(
            "There is no follow-up question.", advice=f'Say it: tablewright research --refine {refine} "…".'
        )
    if not (question or resume or show or list_all):
        raise UsageError("There is no question.", advice='Say what to find out: `tablewright research "…"`.')
    if question and (resume or show or list_all):
        raise UsageError("A question does not go with --resume, --show or --list.")

    async def work(services: Services) -> ResearchShown:
        if show:
            found = await verbs.get_research(services, verbs.GetResearch(research=show))
        else:
            if resume:
                research_id = (await verbs.find_research(services, resume)).id
            else:
                brief = await agree_on_plan(services, request, quiet=json, yes=yes)
                created = await verbs.create_research(services, msgspec.structs.replace(request, brief=brief))
                research_id = created.id
            found = await research_with_progress(services, research_id, request.minutes, quiet=json)
            output.print_warnings(services.warnings)
        if out is not None:
            await verbs.write_report(services, found.research_id, out)
        return found

    if list_all:
        everything = ListRequest(limit=NO_LIMIT)
        page = run_with_services(lambda services: verbs.list_research(services, everything), flags)
        print_research_list(page, as_json=json)
    elif refine:
        asked = verbs.AskFollowUp(research=refine, question=question)
        answered = run_with_services(lambda services: verbs.ask_follow_up(services, asked), flags)
        output.print_json(answered) if json else print_answered(answered)
    else:
        found = run_with_services(work, flags)
        output.print_json(found) if json else print_research(found, out)


async def agree_on_plan(services: Services, request: StartResearch, *, quiet: bool, yes: bool) -> Brief:
    """Show the plan with its estimate; a person at a terminal starts it, changes it or stops."""
    from tablewright.formats.reports import wording
    from tablewright.operations.research import PlanResearch, ResearchQuestion, plan_research

    asked = PlanResearch(**{name: getattr(request, name) for name in ResearchQuestion.__struct_fields__})
    planned = await plan_research(services, asked)
    while not quiet:
        output.print_note(wording.describe_brief(planned.brief))
        output.print_note(f"{wording.describe_research_estimate(planned.estimate)}.")
        said = "" if yes else output.ask_text("Start? Enter to start, n to stop, or say what to change:")
        if said.lower() in ("n", "no"):
            raise Cancelled("Stopped before anything was searched.")
        if said.lower() in ("", "y", "yes"):
            break
        planned = await plan_research(services, msgspec.structs.replace(asked, brief=planned.brief, change=said))
    return planned.brief


async def research_with_progress(
    services: Services, research_id: str, minutes: float | None, *, quiet: bool
) -> ResearchShown:
    """Run it and print what happens round by round; Ctrl-C keeps the complete rounds."""
    from tablewright.operations.research import ResumeResearch, run_to_report

    with output.Bar("Reading the question") as bar:

        def watch(event: ResearchEvent) -> None:
            if not quiet:
                print_event(event)
            name = ROUND_NAMES.get(event.kind or "", "research")
            if event.stage in ("round", "task", "reading", "claim", "writing"):
                doing = "Writing the report" if event.stage == "writing" else f"Round {event.round_index}, {name}"
                bar.count(event.done, event.total, doing)

        if not quiet:
            output.print_note(f"Research {research_id} begins.")
        try:
            request = ResumeResearch(research=research_id, minutes=minutes)
            return await run_to_report(services, request, watch=watch)
        except asyncio.CancelledError:
            raise Cancelled(
                "Stopped.",
                kept="All whole rounds and everything bought are kept.",
                advice=f"`tablewright research --resume {research_id}` continues it.",
            ) from None


def print_event(event: ResearchEvent) -> None:
    # More open gaps than this hide the progress.
    most_gaps = 5
    if event.stage == "round":
        output.print_note(f"Round {event.round_index}, {ROUND_NAMES[event.kind or 'discover']}: {event.detail}")
    elif event.stage == "task":
        output.print_note(f"  searched “{event.detail}”")
    elif event.stage == "claim":
        output.print_note(f"  {event.detail}")
    elif event.stage == "memo":
        for closed in event.closed:
            output.print_note(f"  closed: {closed}")
        for gap in event.gaps[:most_gaps]:
            output.print_note(f"  open: {gap.description}")
        if len(event.gaps) > most_gaps:
            output.print_note(f"  and {len(event.gaps) - most_gaps} more open")
        if event.detail:
            output.print_note(f"  {event.detail}")


def print_research(found: ResearchShown, out: Path | None) -> None:
    from tablewright.formats.reports.write import render_report

    if found.report is None:
        rounds = len(found.rounds)
        output.print_note(
            f"Research {found.research_id}: {found.status}, {rounds} complete {pluralize_noun('round', rounds)} kept."
        )
        output.print_note(f"`tablewright research --resume {found.research_id}` continues it.")
        return
    if out is not None:
        output.print_note(f"Wrote {out}.")
    else:
        text = render_report(found.report, "md").decode()
        console = output.stdout()
        if console.is_terminal:
            from rich.markdown import Markdown

            console.print(
                Markdown(replace_unsafe_characters(text).replace("&#", "&amp;#"))
            )  # nor as a number that Markdown reads
        else:
            console.print(output.harmless_text(text, len(text)), highlight=False, soft_wrap=True)
    for answered in found.answered:
        print_answered(answered)
    if found.status == "partial":
        output.print_note(f"The report is partial: `tablewright research --resume {found.research_id}` continues it.")
    output.print_note(
        f'Research {found.research_id}, table {found.table_id}. `--refine {found.research_id} "…"` asks a follow-up.'
    )


def print_answered(answered: AnsweredFollowUp) -> None:
    output.print_prose(f"› {answered.question}", 2_000)
    if not answered.sentences:
        where = "nor what a new search found" if answered.searched else ""
        said = f"Neither the stored evidence {where} says it." if where else "The stored evidence does not say it."
        output.print_prose(said, 200)
        return
    for sentence in answered.sentences:
        output.print_prose(sentence.cited_text, 4_000)
    for reference in answered.references:
        output.print_prose(f"[{reference.number}] {reference.title} — {reference.url}", 600)
    output.print_note("From a new search." if answered.searched else "From the evidence that was stored.")


def print_research_list(found: ResearchPage, *, as_json: bool) -> None:
    empty = 'There is no research yet. Begin: tablewright research "…".'
    lines = [
        [each.research_id, each.status, output.format_local_time(each.created_at), each.question]
        for each in found.researches
    ]
    columns = ["Research", "Status", "Started", "Question"]
    output.print_json_or_lines(as_json, found, empty, columns, lines)
