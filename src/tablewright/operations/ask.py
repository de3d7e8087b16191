"""Questions about documents: ask, look up by conditions, show more rows, export; and the conversations kept of them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import msgspec

from tablewright.domain.documents import Aggregate
from tablewright.domain.model import Step, Struct
from tablewright.domain.naming import check_request_text
from tablewright.domain.reply import Form, Reply, make_lookup_form
from tablewright.domain.text import count_noun
from tablewright.errors import NotFound, UsageError
from tablewright.operations.operation import ListRequest, Name, Page, Request, Text, copy_fields, operation
from tablewright.operations.paging import page_newest_first
from tablewright.operations.paths import display_path, hide_existence
from tablewright.operations.tables import Removed

if TYPE_CHECKING:
    from tablewright.services import Services
    from tablewright.workflows.ask.ask import Asker

Where = Annotated[
    Text,
    msgspec.Meta(
        description='Conditions: "kind = receipt and Total > 50 EUR and text contains tires". Operators: = != < <= > '
        ">= contains, in, between … and …, is known, is unknown.",
    ),
]
Figure = Literal["count", "sum", "average", "min", "max"]
FigureColumn = Annotated[Name, msgspec.Meta(description="The column to compute the figure from; not for count.")]
GroupColumn = Annotated[Name, msgspec.Meta(description="One figure for each value of this column.")]
ShownColumns = Annotated[tuple[Name, ...], msgspec.Meta(max_length=50, description="More columns to show.")]
ConversationRef = Annotated[str, msgspec.Meta(min_length=1, max_length=200, description="The id of the conversation.")]
ResultRef = Annotated[str, msgspec.Meta(min_length=1, max_length=200, description="The `result_id` of an answer.")]
ResultFormat = Annotated[Literal["csv", "xlsx", "json", "md"], msgspec.Meta(description="The kind of file.")]


class AskDocuments(Request, frozen=True):
    """A question in words; or `where` and what goes with it, which is looked up as written, without a model; or `rest`,
    the next rows of the last list of the conversation."""

    question: Annotated[
        str,
        msgspec.Meta(
            max_length=4_000,
            description="The question, in your own words.",
            examples=["How much did we spend on tires in 2024?"],
        ),
    ] = ""
    conversation: Annotated[
        Name, msgspec.Meta(description="Continue this conversation: the `conversation` of an earlier answer.")
    ] = ""
    rest: Annotated[bool, msgspec.Meta(description="Return the next rows of the last list instead of asking.")] = False
    agreed: Annotated[
        bool, msgspec.Meta(description="Read as many documents as the question needs, without asking first.")
    ] = False
    where: Where = ""
    figure: Annotated[Aggregate, msgspec.Meta(description="A figure instead of a list.")] = ""
    of: FigureColumn = ""
    by: GroupColumn = ""
    show: ShownColumns = ()
    sort: Annotated[Name, msgspec.Meta(description="Sort by this column; -COLUMN: largest first.")] = ""
    unit: Annotated[Name, msgspec.Meta(description="The column with the currency of the figures.")] = ""
    limit: Annotated[int, msgspec.Meta(ge=0, le=1_000_000, description="Only the first N; 0: all.")] = 0

    @property
    def form(self) -> Form | None:
        if self.where.strip() or self.figure:
            shown = {"by": self.by, "show": self.show, "sort": self.sort, "unit": self.unit, "limit": self.limit}
            return make_lookup_form(self.where, self.figure, self.of, **shown)  # type: ignore[arg-type]
        if self.of or self.by or self.show or self.sort or self.unit or self.limit:
            raise UsageError("`of`, `by`, `show`, `sort`, `unit` and `limit` go with `where` or `figure`.")
        return None


@operation("run")
async def ask_documents(
    services: Services, request: AskDocuments, *, tell: Callable[[Step], None] = lambda _: None
) -> Reply:
    """Answer a question about the documents, with citations. A list or a count includes everything that matches; its
    `ledger` says what could not be decided or read. Follow-up questions refer to the last result: "only 2024", "and the
    largest?". Without a model, a question is looked up if every word of it is known (`form`); otherwise passages with
    its words are returned."""
    form = request.form
    if sum((bool(request.question.strip()), form is not None, request.rest)) > 1:
        raise UsageError("Give a question, or `where`, or `rest`: one of them.")
    if form is not None:
        return await query_documents(services, form, request.conversation)
    asker = await open_asker(services, tell)
    if request.rest:
        return show_citation_paths(services, await asker.more(request.conversation))
    async with services.spending():
        question = check_request_text(request.question)
        return show_citation_paths(services, await asker.ask(question, request.conversation, agreed=request.agreed))


async def query_documents(services: Services, form: Form, conversation: str = "") -> Reply:
    """Look up a form that a page has already filled; no model is asked."""
    return show_citation_paths(services, await (await open_asker(services)).query(form, conversation))


def show_citation_paths(services: Services, reply: Reply) -> Reply:
    cited = tuple(msgspec.structs.replace(each, path=display_path(services, each.path)) for each in reply.citations)
    return msgspec.structs.replace(reply, citations=cited)


async def open_asker(services: Services, tell: Callable[[Step], None] = lambda _: None) -> Asker:
    from tablewright.workflows.ask.ask import Asker
    from tablewright.workflows.ask.turn import AskContext

    return Asker(
        AskContext(
            services.store,
            await services.toolbox.open_corpus(services.store),
            await services.toolbox.open_model(),
            open_tools=services.open_tools,
            actor=services.actor,
            policy=services.policy,
            concurrency=services.settings.concurrency,
            unasked=services.settings.documents_unasked,
            shown_rows=services.settings.answer_rows,
            shown_passages=services.settings.answer_passages,
            run_agreed=services.jobs.run,
            tell=tell,
            row_tables=services.row_tables,
        )
    )


class ExportResult(Request, frozen=True):
    result: ResultRef
    format: ResultFormat = "csv"


class Exported(Struct, frozen=True):
    """`name` is what to call the file, without its ending."""

    name: str
    rows: int


@operation("read")
async def export_result(services: Services, request: ExportResult, *, path: Path) -> Exported:
    """All rows of an answer, as a file."""
    from tablewright.workflows.documents import export_answer_rows

    if not request.result:
        raise NotFound("The answer has no rows to export.", advice="Ask for a list or a count.")
    with hide_existence(f"result {request.result!r}"):
        count = await export_answer_rows(services.store, request.result, path, folders=services.person is None)
    note = f"{count_noun(count, 'row')} as {path.suffix or 'text'}"
    await services.store.audit.note("export", f"result {request.result}", note)
    return Exported(name="result", rows=count)


# ── conversations ───────────────────────────────────────────────────────────────────────────────────────────────────


class ConversationHead(Struct, frozen=True):
    """`title` is the first question."""

    conversation: str
    started_at: str
    title: str


class ConversationPage(Page, frozen=True):
    conversations: tuple[ConversationHead, ...]


class TurnShown(Struct, frozen=True):
    question: str
    answer: str
    at: str


class ConversationShown(Struct, frozen=True):
    conversation: str
    started_at: str
    turns: tuple[TurnShown, ...]


@operation("read")
async def list_conversations(services: Services, request: ListRequest) -> ConversationPage:
    """Conversations about documents, newest first."""
    # A conversation without a title ended before its first answer.
    found = [each for each in await services.store.conversations.all() if each.title]
    some, more = page_newest_first(found, request.after, request.limit, lambda each: (each.started_at, each.id))
    heads = tuple(copy_fields(ConversationHead, each, conversation=each.id) for each in some)
    return ConversationPage(conversations=heads, next=more)


class ConversationRequest(Request, frozen=True):
    conversation: ConversationRef


@operation("read")
async def get_conversation(services: Services, request: ConversationRequest) -> ConversationShown:
    """The questions and answers of a conversation."""
    with hide_existence(f"conversation {request.conversation!r}"):
        found = await services.store.conversations.get(request.conversation)
    turns = tuple(copy_fields(TurnShown, each) for each in found.turns)
    return ConversationShown(conversation=found.id, started_at=found.started_at, turns=turns)


@operation("write")
async def remove_conversation(services: Services, request: ConversationRequest) -> Removed:
    """Delete a conversation with the rows of its answers."""
    with hide_existence(f"conversation {request.conversation!r}"):
        await services.store.conversations.remove(request.conversation)
    return Removed(removed=request.conversation)
