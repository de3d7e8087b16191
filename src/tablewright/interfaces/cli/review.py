"""The dialogue in which a person decides on a proposal, cell by cell. Nothing is written before it ends."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

from tablewright.domain.model import Cell, Field, Table
from tablewright.domain.proposal import CellAt, ProposalHead, ProposedCell
from tablewright.domain.text import cell_text
from tablewright.errors import Cancelled, EditConflict, NotFound, RunError, UsageError
from tablewright.interfaces.cli import views
from tablewright.interfaces.cli.output import harmless_text, print_note, stderr
from tablewright.interfaces.cli.views import NOTHING_APPLIED
from tablewright.interfaces.interrupting import restore_interrupt
from tablewright.operations.review import (
    ApplyProposal,
    CellPlace,
    Decided,
    DecideProposal,
    GetProposal,
    OwnCell,
    decide_proposal,
    get_proposal,
    read_own_value,
    sort_unsure_first,
)

if TYPE_CHECKING:
    from tablewright.services import Services

Verdict: TypeAlias = Literal["accepted", "refused", "edited", "emptied", "skipped"]

# Words that people type, and the keys they stand for.
KEY_WORDS = {
    "accept": "a",
    "refuse": "r",
    "edit": "e",
    "empty": "c",
    "clear": "c",
    "skip": "s",
    "all": "A",
    "undo": "u",
    "help": "?",
    "quit": "q",
}
HELP = """\
a  accept: the proposed value goes into the table
r  refuse: the table stays as it is, and the cell is not asked again
e  edit: type your own value in its place
c  clear: nothing was found, and the value that the table has goes too
s  skip: the cell stays open in the proposal
A  accept all the rest that has a value
u  undo the last answer
q  quit, and apply what was answered; the rest stays open
x  quit, and apply nothing"""


async def review_proposal(
    services: Services, request: ApplyProposal, *, failed: bool | None = None, unsure_first: bool = False
) -> Decided:
    """Ask about every open cell that is chosen and do what was answered, in one transaction."""
    head = await get_proposal(services, GetProposal(proposal_id=request.proposal_id))
    cells = await services.store.proposals.open_cells(
        head.id, request.selection(), failed=failed, even_unfinished=request.force
    )
    nothing = Decided(proposal=head, applied=NOTHING_APPLIED)
    if not cells:
        print_note(f"Proposal {head.id} has no such open cells.")
        return nothing
    table = await services.table(head.table_id)
    order = {field.name: position for position, field in enumerate(head.fields)}
    cells.sort(key=lambda at: (at[0], order.get(at[1], 0)))
    if unsure_first:
        cells = await sort_unsure_first(services, head.id, cells)
    decision = decision_from(
        head.id, await Dialogue(services, head, table, cells).collect_answers(), force=request.force
    )
    if not (decision.accepted or decision.refused or decision.edited or decision.emptied):
        return nothing
    return await decide_proposal(services, decision)


async def write_own_value(services: Services, request: DecideProposal) -> Decided:
    """Write one cell, without a dialogue; raise EditConflict if that is not possible any more."""
    (own,) = request.edited
    operation = await services.store.proposals.operation(request.proposal_id, own.row_id, own.field)
    where = f"Row {own.row_id}, {operation.field}"
    if operation.decision != "open":
        raise UsageError(f"{where} is already {operation.decision}.", kept="Nothing was changed.")
    done = await decide_proposal(services, request)
    if done.applied.conflicts:
        raise EditConflict(
            f"{where} was changed since the run read it.", kept="Its value was kept.", advice="--force overwrites it."
        )
    if not done.applied.cells:
        why = "is gone" if done.applied.gone else "was decided by another user in the meantime"
        raise EditConflict(f"{where} {why}.", kept="Nothing was changed.")
    return done


@dataclass(frozen=True, kw_only=True)
class ReviewAnswer:
    """The answer for one cell, or for all that follow if `the_rest`."""

    verdict: Verdict
    cells: tuple[CellAt, ...]
    own: str = ""
    the_rest: bool = False


def decision_from(proposal_id: str, answers: Sequence[ReviewAnswer], *, force: bool) -> DecideProposal:
    def cells(verdict: Verdict) -> tuple[CellPlace, ...]:
        chosen = [at for answer in answers if answer.verdict == verdict for at in answer.cells]
        return tuple(CellPlace(row_id=row_id, field=field) for row_id, field in chosen)

    edited = [(answer.cells[0], answer.own) for answer in answers if answer.verdict == "edited"]
    return DecideProposal(
        proposal_id=proposal_id,
        accepted=cells("accepted"),
        refused=cells("refused"),
        edited=tuple(OwnCell(row_id=row_id, field=field, value=own) for (row_id, field), own in edited),
        emptied=cells("emptied"),
        force=force,
    )


class Dialogue:
    def __init__(self, services: Services, head: ProposalHead, table: Table, cells: Sequence[CellAt]) -> None:
        self._services = services
        self._head = head
        self._table = table
        self._cells = cells
        self._answers: list[ReviewAnswer] = []
        self._explained = 0
        self._kept = f"Nothing was applied; proposal {head.id} is as it was."

    async def collect_answers(self) -> list[ReviewAnswer]:
        """Return the answers once the person confirms them."""
        while True:
            match self._ask_at_the_end() if self._is_at_the_end else await self._ask_about_the_next():
                case "q":
                    return self._answers
                case "x":
                    return []
                case "u" if self._answers:
                    self._answers.pop()
                case "u":
                    self._explain("There is no answer to undo.")

    @property
    def _is_at_the_end(self) -> bool:
        return len(self._answers) == len(self._cells) or any(answer.the_rest for answer in self._answers)

    def _ask_at_the_end(self) -> str:
        counts = dict.fromkeys(("accepted", "refused", "edited", "emptied"), 0)
        for answer in self._answers:
            if answer.verdict in counts:
                counts[answer.verdict] += len(answer.cells)
        left = len(self._cells) - sum(counts.values())
        summary = ", ".join(
            f"{count:,} {verdict}" for verdict, count in counts.items() if count or verdict != "emptied"
        )
        print_note(f"That was the last cell: {summary}, {left:,} left open.")
        while (key := self._ask("[q]uit and apply, [u]ndo, quit and drop all [x]:")) not in list("qux"):
            self._explain("Type q, u or x.")
        return key

    async def _ask_about_the_next(self) -> str:
        """Ask until there is an answer, or return one of the keys that the caller handles."""
        at = self._cells[len(self._answers)]
        operation = await self._services.store.proposals.operation(self._head.id, *at)
        now = await self._show(operation)
        has_value = operation.cell.value is not None
        can_clear = not has_value and now.value is not None
        accept = "[a]ccept, " if has_value else "[c]lear, " if can_clear else ""
        more = "accept [A]ll the rest, [u]ndo, [q]uit and apply, quit and drop all [x], help [?]:"
        question = f"{accept}[r]efuse, [e]dit, [s]kip, {more}"
        while True:
            key = self._ask(question)
            match key:
                case "a" if has_value:
                    return self._answer(ReviewAnswer(verdict="accepted", cells=(at,)))
                case "a":
                    self._explain("There is no value to accept: refuse, edit or skip.")
                case "c" if can_clear:
                    return self._answer(ReviewAnswer(verdict="emptied", cells=(at,)))
                case "c":
                    self._explain(
                        "There is nothing to clear: only a present value for which nothing was found can be cleared."
                    )
                case "r":
                    return self._answer(ReviewAnswer(verdict="refused", cells=(at,)))
                case "s":
                    return self._answer(ReviewAnswer(verdict="skipped", cells=(at,)))
                case "e":
                    if own := await self._ask_for_value(operation):
                        return self._answer(ReviewAnswer(verdict="edited", cells=(at,), own=own))
                case "A":
                    return self._answer(ReviewAnswer(verdict="accepted", cells=await self._rest(), the_rest=True))
                case "u" | "q" | "x":
                    return key
                case "?":
                    self._explain(HELP)
                case _:
                    self._explain("Type one of the letters in brackets; ? explains them.")

    def _answer(self, answer: ReviewAnswer) -> str:
        self._answers.append(answer)
        self._explained = 0
        return ""

    def _explain(self, text: str) -> None:
        """Explain a wrong input. A person learns from it; a program that always answers the same, such as `yes`, does
        not, so it ends."""
        self._explained += 1
        # Inputs in a row that decide nothing: more than a person needs to read the help.
        if self._explained > 20:
            raise RunError(
                f"{20} inputs in a row decided nothing.",
                kept=self._kept,
                advice="`tablewright proposals review --help` names the answers.",
            )
        print_note(text)

    async def _rest(self) -> tuple[CellAt, ...]:
        """Return the remaining cells that have a value; an empty cell is not accepted unseen."""
        try:
            found = await self._services.store.proposals.open_cells(self._head.id, failed=False, even_unfinished=True)
        except UsageError:  # another user has decided on all of it, so these answers are too late
            return ()
        return tuple(sorted({*self._cells[len(self._answers) :]} & {*found}))

    async def _ask_for_value(self, operation: ProposedCell) -> str:
        """Return the person's own value, or "" if they would rather not."""
        field = find_proposed_field(self._head, self._table, operation.field)
        while text := self._read(
            f"Your value for {field.name} ({describe_field_type(field)}; an empty line goes back):"
        ):
            try:
                own = await read_own_value(self._services, self._head, operation, text)
            except UsageError as error:
                self._explain(str(error))
                continue
            if cell_text(own) != text:
                print_note(f"Read as {cell_text(own)} ({own.error}).")
            return text
        return ""

    async def _show(self, operation: ProposedCell) -> Cell:
        """Show what a decision needs: the row, the present and the proposed value, its sources, and how it was found.
        Return the cell as it is now."""
        row = (await self._services.rows_by_id(self._table.id, [operation.row_id])).get(operation.row_id)
        name = cell_text(row.cell(self._table.key_field)) if row and self._table.key_field else ""
        of = f"Cell {len(self._answers) + 1:,} of {len(self._cells):,}"
        gone = "" if row else ", which was removed since"
        title = f"{of}: {name[:80]}{', ' if name else ''}{operation.field} (row {operation.row_id}{gone})"
        now = row.cell(operation.field) if row else Cell()
        views.print_operation(title, now, operation)
        return now

    def _ask(self, question: str) -> str:
        text = self._read(question)
        return KEY_WORDS.get(text.lower(), text)

    def _read(self, question: str) -> str:
        try:
            with restore_interrupt():
                stderr().print(harmless_text(question, 500), end=" ", highlight=False, soft_wrap=True)
                line = sys.stdin.readline()
        except KeyboardInterrupt:
            stderr().print()
            raise Cancelled("Stopped.", kept=self._kept) from None
        except UnicodeDecodeError:
            raise RunError("The answer is not readable text.", kept=self._kept) from None
        if not line:
            stderr().print()
            raise RunError(
                "The answers ended before the review did.", kept=self._kept, advice="The last one is q or x."
            )
        if not sys.stdin.isatty():
            stderr().print(harmless_text(line.strip()), highlight=False, soft_wrap=True)
        return line.strip()


def find_proposed_field(head: ProposalHead, table: Table, name: str) -> Field:
    """Return the field as it will be when the proposal is applied."""
    field = next((field for field in head.fields if field.name == name), None) or table.field(name)
    if field is None:
        raise NotFound(f"Table {table.id} has no field {name!r} any more.")
    return field


def describe_field_type(field: Field) -> str:
    if field.type == "select" and field.options:
        return f"one of: {', '.join(field.options)}"
    return f"{field.type}, {field.unit}" if field.unit else field.type
