"""Decide what to buy: a conversation with the advisor, whose facts are cells of a table of products."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import Awaitable, Callable
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, ClassVar, get_args

import msgspec

from tablewright.domain.model import Step, Struct
from tablewright.domain.naming import check_request_text
from tablewright.domain.run import STAGE_OF_STEP, Progress, ProgressCallback, ignore_progress
from tablewright.domain.shortlist import ChatReply, Phase, Ranking, ShortlistState
from tablewright.errors import EditConflict, NotFound
from tablewright.operations.operation import (
    FileWritten,
    ListRequest,
    NoInput,
    Page,
    Question,
    Request,
    copy_fields,
    operation,
)
from tablewright.operations.paging import page_newest_first
from tablewright.operations.paths import hide_existence
from tablewright.operations.tables import Removed, TableFormat
from tablewright.text import hide_personal_data

if TYPE_CHECKING:
    from tablewright.engine.runs.kinds import RunContext
    from tablewright.services import Services
    from tablewright.workflows.shortlist.context import Taken, TurnWork
    from tablewright.workflows.shortlist.shortlist import Shortlist


ShortlistRef = Annotated[str, msgspec.Meta(min_length=1, max_length=200, description="The id of the conversation.")]


class ShortlistHead(Struct, frozen=True):
    id: str
    phase: Phase
    product_type: str
    table_id: str
    created_at: str
    updated_at: str


class ShortlistPage(Page, frozen=True):
    shortlists: tuple[ShortlistHead, ...]


class TurnTaken(Struct, frozen=True):
    """The reply of the advisor, and the conversation after it. Every fact of the reply names its cells. A `file` is at
    `/shortlists/{shortlist}/files/{file}`. `run_id` is the run that searched or filled cells for it, if one did."""

    shortlist: ShortlistState
    reply: ChatReply
    run_id: str


@operation("read")
async def list_shortlists(services: Services, request: ListRequest) -> ShortlistPage:
    """Shortlists, newest first."""
    found = await services.store.shortlists.all()
    some, more = page_newest_first(found, request.after, request.limit, lambda each: (each.created_at, each.id))
    heads = tuple(copy_fields(ShortlistHead, each, product_type=each.requirements.product_type) for each in some)
    return ShortlistPage(shortlists=heads, next=more)


@operation("run")
async def start_shortlist(services: Services, request: NoInput) -> ShortlistState:
    """Start a conversation; keep its id."""
    return await services.store.shortlists.start()


class GetShortlist(Request, frozen=True):
    shortlist: ShortlistRef


@operation("read")
async def get_shortlist(services: Services, request: GetShortlist) -> ShortlistState:
    """The whole conversation, and what it is waiting for."""
    # At the machine the store's own error is shown; through a server it must not tell what exists.
    hidden = nullcontext() if services.person is None else hide_existence(f"shortlist {request.shortlist!r}")
    with hidden:
        return await services.store.shortlists.get(request.shortlist)


@operation("write")
async def remove_shortlist(services: Services, request: GetShortlist) -> Removed:
    """Delete a conversation; its table stays."""
    state = await get_shortlist(services, request)
    await services.store.shortlists.remove(state.id)
    return Removed(removed=state.id)


@operation("read")
async def rank_shortlist(services: Services, request: GetShortlist) -> Ranking:
    """The candidates in the order in which they meet the requirements, and the excluded ones, by the cells as they are
    now."""
    from tablewright.workflows.shortlist.ranking import rank_products

    state = await get_shortlist(services, request)
    if not state.table_id:
        return Ranking()
    return rank_products(
        await services.store.tables.load(state.table_id),
        state.requirements,
        services.rates,
        preferred=state.preferred,
        is_scored=services.settings.model != "builtin",
    )


class TakeTurn(Request, frozen=True, kw_only=True):
    shortlist: ShortlistRef
    message: Annotated[
        Question,
        msgspec.Meta(
            description="What you say, or the label of one of the last reply's buttons.",
            examples=["A quiet kettle under 60 pounds"],
        ),
    ]


@operation("run")
async def take_turn(
    services: Services,
    request: TakeTurn,
    *,
    watch: ProgressCallback = ignore_progress,
    tell: Callable[[Step], None] = lambda _: None,
    exports: Path | None = None,
) -> TurnTaken:
    """Send a message or press a button. Once products are searched for, the reply may take minutes: that is a run,
    which can be watched and stopped. One that was interrupted answers the message when it is resumed."""
    state = await get_shortlist(services, GetShortlist(shortlist=request.shortlist))
    message = check_request_text(request.message, "message")
    # Both turns would spend, and one reply would be lost.
    if state.id in services.turns_under_way or (state.unanswered and await _is_answered_elsewhere(services, state)):
        raise EditConflict(
            "The last turn of this conversation is still under way; nothing was done.",
            advice="Wait for its reply, then say it again.",
        )
    reporter = TurnReporter(watch, tell)

    async def perform(work: TurnWork) -> Taken:
        async def do_run(context: RunContext) -> Taken:
            reporter.run = context
            return await work()

        # A run that goes on with the message needs no more of it than the conversation keeps.
        unanswered = hide_personal_data(message)
        await services.store.shortlists.save(msgspec.structs.replace(state, unanswered=unanswered))
        taken: Taken = await services.jobs.perform("shortlist", state.table_id, {"shortlist": state.id}, work=do_run)
        return taken

    services.turns_under_way.add(state.id)
    try:
        async with services.spending():
            shortlist = await open_turn(services, state.id, reporter, exports, perform)
            after, reply = await shortlist.turn(state.id, message)
    finally:
        services.turns_under_way.discard(state.id)
    if exports is None and services.person is not None:
        reply = msgspec.structs.replace(reply, file=Path(reply.file).name)
    return TurnTaken(shortlist=after, reply=reply, run_id=reporter.run.run.id if reporter.run else "")


async def _is_answered_elsewhere(services: Services, state: ShortlistState) -> bool:
    """Return True if a living process does a run for the message without a reply."""
    for run in await services.store.runs.all(status="running"):
        if run.spec.get("shortlist") == state.id and not await services.jobs.is_interrupted(run):
            return True
    return False


async def run_turn(services: Services, context: RunContext) -> Taken:
    """Continue a turn whose process died or was stopped: answer the message again, with what was bought by then."""
    state = await get_shortlist(services, GetShortlist(shortlist=context.request["shortlist"]))
    if not state.unanswered:
        raise EditConflict("The conversation has gone on since; nothing was done.", advice="Say it again.")
    shortlist = await open_turn(services, state.id, TurnReporter(run=context))
    return await shortlist.turn(state.id, state.unanswered)


@dataclass
class TurnReporter:
    """Passes the progress of a turn on, and keeps it as the events of its run once there is one."""

    watch: ProgressCallback = ignore_progress
    tell: Callable[[Step], None] = lambda _: None
    run: RunContext | None = None
    _counts: tuple[int, int] = (0, 0)

    def report_fill(self, news: Progress) -> None:
        self.watch(news)
        self._counts = news.done, news.total
        if self.run is not None:
            self.run.tell(news.drop_evidence())

    def report_step(self, step: Step) -> None:
        self.tell(step)
        if self.run is not None:
            stage, (done, total) = STAGE_OF_STEP.get(step.type, "working"), self._counts
            self.run.tell(Progress(stage=stage, done=done, total=total, detail=step.detail))


async def open_turn(
    services: Services,
    shortlist_id: str,
    reporter: TurnReporter,
    exports: Path | None = None,
    perform: Callable[[TurnWork], Awaitable[Taken]] | None = None,
) -> Shortlist:
    from tablewright.workflows.shortlist.context import TurnContext, do_at_once
    from tablewright.workflows.shortlist.shortlist import Shortlist

    if exports is None and services.person is not None:  # a place that the user names would be on the server's disk
        exports = exports_folder(services, shortlist_id)
        exports.mkdir(parents=True, exist_ok=True)
    return Shortlist(
        TurnContext(
            services.store,
            await services.open_tools(("web", "model")),
            actor=services.actor,
            policy=services.policy,
            limits=services.shortlist_limits,
            rates=services.rates,
            concurrency=services.settings.concurrency,
            watch=reporter.report_fill,
            tell=reporter.report_step,
            folder=exports,
            perform=perform or do_at_once,
        )
    )


class ShortlistFile(GetShortlist, frozen=True):
    formats: ClassVar[tuple[str, ...]] = get_args(get_args(TableFormat)[0])

    file: Annotated[str, msgspec.Meta(max_length=255, description="The name of the file.")]

    @property
    def format(self) -> str:
        return Path(self.file).suffix.removeprefix(".")


@operation("read")
async def get_shortlist_file(services: Services, request: ShortlistFile, *, path: Path) -> FileWritten:
    """A file that the advisor wrote."""
    state = await get_shortlist(services, GetShortlist(shortlist=request.shortlist))
    folder = exports_folder(services, state.id)
    # The name is looked up in the folder, never joined to it, so that it cannot lead elsewhere.
    written = {each.name: each for each in folder.iterdir()} if folder.is_dir() else {}
    if request.file not in written:
        raise NotFound(f"There is no file {request.file!r}.")
    await asyncio.to_thread(shutil.copyfile, written[request.file], path)
    return FileWritten(name=Path(request.file).stem)


def exports_folder(services: Services, shortlist_id: str) -> Path:
    # Folder in the home for files that people asked the advisor for.
    return services.settings.home_folder / "exports" / shortlist_id
