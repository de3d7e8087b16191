"""Deciding on a proposal cell by cell, as a person types it or a script feeds it."""

from __future__ import annotations

import asyncio
import json
import signal
import subprocess
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

import pytest

from tablewright.domain.edits import SetCell
from tablewright.domain.model import Cell, Conflict, Evidence, Field, Step, make_given_cell
from tablewright.domain.proposal import ProposedCell, Selection
from tablewright.store.store import Store
from tests.interfaces.conftest import TABLEWRIGHT, Shell
from tests.patience import PATIENCE
from tests.proposing import not_found, propose

FOUNDED = Field(name="Founded", type="number", question="When was {Name} founded?")
SIZE = Field(name="Size", type="select", options=("small", "large"), question="How large is {Name}?")
HOSTILE = "\x1b]0;owned\x07\x1b[2J\u202egnp.exe [bold]x[/bold]"


def found(value: int | str, confidence: float = 0.9, **more: Any) -> Cell:
    return Cell(value=value, status="ENRICHED", confidence=confidence, run_id="r", attempt=1, updated_at="t", **more)


EMPTY = Cell(status="FAILED", reason="not_found", error="Read without finding it.", attempt=1, updated_at="t")
QUOTE = Evidence(origin="https://acme.example/about", title="About Acme", quote="Acme was founded in 1998.")
OTHER = Evidence(origin="https://other.example/acme", quote="Acme, founded 1999")
ACME = found(1998, evidence=(QUOTE,), conflict=(Conflict(value=1999, evidence=(OTHER,)), Conflict(value=2001)))
STEPS = (Step(type="search", detail="Acme founded"), Step(type="fetch", detail="About Acme"))
CELLS = {
    (1, "Founded"): ACME,
    (1, "Size"): found("small", 0.6),
    (2, "Founded"): EMPTY,
    (2, "Size"): found("large", 0.8),
}


async def make(url: str, cells: dict[tuple[int, str], Cell]) -> str:
    async with await Store.open(url) as store:
        rows = [(make_given_cell("Acme"),), (make_given_cell("Bolt"),)]
        table_id = (await store.tables.create("firms", (Field(name="Name"),), rows, key_field="Name")).id
        run_id = await store.runs.start(table_id, "enrich", {"strategy": "pipeline"})
        proposal_id = await store.proposals.create(table_id, run_id, [FOUNDED, SIZE])
        operations = [
            ProposedCell(row_id=row_id, field=field, cell=cell, steps=STEPS) for (row_id, field), cell in cells.items()
        ]
        await store.proposals.add(proposal_id, operations)
        await store.proposals.finish(proposal_id, "found 3 of 4")
        return proposal_id


def location(shell: Shell) -> str:
    (shell.folder / "home").mkdir(exist_ok=True)
    return shell.environ.get("TABLEWRIGHT_DATABASE_URL") or f"sqlite:///{shell.folder / 'home' / 'tablewright.db'}"


def proposed(shell: Shell, cells: dict[tuple[int, str], Cell] = CELLS) -> str:
    return asyncio.run(make(location(shell), cells))


T = TypeVar("T")


def kept(shell: Shell, look: Callable[[Store], Awaitable[T]]) -> T:
    """What the database says, without the second that a further process would take."""

    async def read() -> T:
        async with await Store.open(location(shell)) as store:
            return await look(store)

    return asyncio.run(read())


def values(shell: Shell) -> list[object]:
    """Founded and Size of both firms; None where nothing was written."""
    rows = kept(shell, lambda store: store.tables.load("firms")).rows
    return [row.cell(name).value for row in rows for name in ("Founded", "Size")]


def decided(shell: Shell, proposal: str) -> list[str]:
    return [each.decision for each in kept(shell, lambda store: store.proposals.operations(proposal))]


def lines(*answers: str) -> str:
    return "".join(f"{answer}\n" for answer in answers)


def test_each_cell_is_accepted_refused_edited_or_skipped_and_the_run_is_undone_whole(any_shell: Shell) -> None:
    shell = any_shell
    proposal = proposed(shell)
    done = shell("proposals", "review", proposal, stdin=lines("a", "r", "e", "2003", "s", "q"))
    last = done.stderr.splitlines()[-1]
    assert last.startswith("1 accepted, 1 refused, 1 edited, 1 left open; undo with `tablewright tables undo firms")
    assert done.stdout == ""
    assert values(shell) == [1998, None, 2003, None]
    assert decided(shell, proposal) == ["applied", "refused", "edited", "open"]
    assert [change.kind for change in kept(shell, lambda store: store.log.changes("firms"))] == ["apply", "create"]
    shell(*last.split("`")[1].split()[1:])
    assert values(shell) == [None, None, None, None]


def test_a_person_sees_what_a_decision_needs(shell: Shell) -> None:
    shown = shell("proposals", "review", proposed(shell), stdin=lines("x")).stderr
    for part in (
        "Cell 1 of 4: Acme, Founded (row 1)",
        "1998",
        "0.90 (high)",
        "About Acme",
        "https://acme.example/about",
        "“Acme was founded in 1998.”",
        "Others say",
        "“Acme, founded 1999”",
        "2001",
        "search: Acme founded; fetch: About Acme",
    ):
        assert part in shown


def test_unsure_first_begins_with_a_second_reading_then_the_least_sure(shell: Shell) -> None:
    reading = found(1998, 0.75, conflict=(Conflict(value=2001, evidence=(OTHER,), reason="when it was registered"),))
    cells = CELLS | {(1, "Founded"): found(1998), (2, "Founded"): reading, (2, "Size"): EMPTY}
    shown = shell("proposals", "review", proposed(shell, cells), "--unsure-first", stdin=lines(*"sssx")).stderr
    order = [line.split(": ")[1].split(" (")[0] for line in shown.splitlines() if line.startswith("Cell ")]
    assert order == ["Bolt, Founded", "Bolt, Size", "Acme, Size", "Acme, Founded"]
    for part in ("May also be", "2001", "when it was registered"):
        assert part in shown


def test_a_typed_cell_says_who_typed_it_and_claims_no_source(shell: Shell) -> None:
    proposal = proposed(shell)
    shell("proposals", "review", proposal, "--field", "founded", "--row", "1", stdin=lines("e", "about 2003", "q"))
    cell = kept(shell, lambda store: store.tables.load("firms")).rows[0].cell("Founded")
    assert (cell.value, cell.raw_value, cell.status, cell.confidence) == (2003, "about 2003", "ENRICHED", 1)
    assert (cell.evidence, cell.conflict, cell.is_given) == ((), (), False)
    assert "typed in by" in shell("tables", "history", "firms", "--row", "1", "--field", "Founded").stdout
    assert "edited: 2003" in shell("proposals", "show", proposal).stdout


def test_what_is_no_value_of_the_column_is_asked_again(shell: Shell) -> None:
    typed = lines("e", "long ago", "2003", "e", "medium", "small or large", "", "e", "LARGE", "q")
    done = shell("proposals", "review", proposed(shell), "--row", "1", stdin=typed)
    assert "'long ago' is not of type number" in done.stderr
    assert "'medium' is none of the options. Write one of: small, large." in done.stderr
    assert "several options are named" in done.stderr
    assert values(shell)[:2] == [2003, "large"]


def test_an_answer_can_be_taken_back(shell: Shell) -> None:
    answers = lines("u", "r", "u", "a", "s", "s", "s", "u", "A", "u", "a", "q")
    done = shell("proposals", "review", proposed(shell), stdin=answers)
    assert "There is no answer to undo." in done.stderr
    assert values(shell) == [1998, None, None, "large"]


def test_all_the_rest_is_what_was_shown_has_a_value_and_was_not_answered(shell: Shell) -> None:
    proposal = proposed(shell)
    shell("proposals", "review", proposal, "--field", "Size", stdin=lines("r", "A", "q"))
    assert decided(shell, proposal) == ["open", "refused", "open", "applied"]
    shell("proposals", "review", proposal, stdin=lines("A", "q"))
    assert decided(shell, proposal) == ["applied", "refused", "open", "applied"]
    assert values(shell) == [1998, None, None, "large"]


def test_an_empty_cell_cannot_be_accepted(shell: Shell) -> None:
    proposal = proposed(shell)
    done = shell("proposals", "review", proposal, "--failed", stdin=lines("a", "nonsense", "?", "r", "q"))
    assert "There is no value to accept" in done.stderr
    assert "Type one of the letters" in done.stderr
    assert "skip: the cell stays open" in done.stderr
    assert decided(shell, proposal) == ["open", "open", "refused", "open"]


def test_only_doubtful_values_are_shown_on_request(shell: Shell) -> None:
    done = shell("proposals", "review", proposed(shell), "--below", "0.8", stdin=lines("x"))
    assert "Cell 1 of 1: Acme, Size (row 1)" in done.stderr
    assert "exclude each other" in shell("proposals", "review", "p", "--below", "0.8", "--failed", code=2).stderr


@pytest.mark.parametrize(
    ("answers", "code", "sentence"),
    [
        (("a", "e"), 1, "The answers ended before the review did."),
        (("a", "a", "r", "a"), 1, "The answers ended before the review did."),
        (("a", "r", "x"), 0, "Nothing was applied"),
    ],
)
def test_unless_the_person_says_so_nothing_is_applied(
    shell: Shell, answers: tuple[str, ...], code: int, sentence: str
) -> None:
    proposal = proposed(shell)
    done = shell("proposals", "review", proposal, stdin=lines(*answers), code=code)
    assert sentence in done.stderr
    assert "Nothing was applied" in done.stderr
    assert values(shell) == [None] * 4
    assert decided(shell, proposal) == ["open"] * 4


@pytest.mark.parametrize("answer", ["y", "a", "u", "?"])
def test_an_input_that_never_decides_anything_ends_the_dialogue(shell: Shell, answer: str) -> None:
    """As `yes | tablewright proposals review` does."""
    proposal = proposed(shell)
    done = shell("proposals", "review", proposal, stdin=lines(*[answer] * 1_000), code=1)
    assert "20 inputs in a row decided nothing. Nothing was applied" in " ".join(done.stderr.split())
    assert decided(shell, proposal) == ["open"] * 4


def test_ctrl_c_applies_nothing(shell: Shell) -> None:
    proposal = proposed(shell)
    process = subprocess.Popen(
        [TABLEWRIGHT, "proposals", "review", proposal],
        cwd=shell.folder,
        env=shell.environ,
        stdin=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        bufsize=1,
    )
    assert process.stdin is not None
    assert process.stderr is not None
    process.stdin.write(lines("a"))
    seen = ""
    while "Cell 2 of 4" not in seen or not seen.endswith("[?]: "):
        seen += process.stderr.read(1)
    process.send_signal(signal.SIGINT)
    _, rest = process.communicate(timeout=PATIENCE)
    assert process.returncode == 130
    assert "Stopped." in rest
    assert f"Nothing was applied; proposal {proposal} is as it was." in rest
    assert values(shell) == [None] * 4


def test_the_outcome_is_one_json_document_and_the_questions_are_elsewhere(shell: Shell) -> None:
    proposal = proposed(shell)
    done = shell("proposals", "review", proposal, "--json", stdin=lines("a", "r", "e", "2003", "s", "q"))
    outcome = json.loads(done.stdout)
    applied, head = outcome["applied"], outcome["proposal"]
    counts = {name: applied[name] for name in ("cells", "refused", "edited", "conflicts")}
    assert counts == {"cells": 2, "refused": 1, "edited": 1, "conflicts": 0}
    assert applied["change"]["number"] == 2
    assert (head["status"], head["counts"]["open"]) == ("open", 1)
    assert "[a]ccept" in done.stderr
    nothing = json.loads(shell("proposals", "review", proposal, "--json", stdin=lines("x")).stdout)
    assert (nothing["applied"]["cells"], nothing["applied"]["change"]) == (0, None)
    assert nothing["proposal"]["counts"]["open"] == 1
    ended = json.loads(shell("proposals", "review", proposal, "--json", stdin="", code=1).stdout)
    assert "Nothing was applied" in ended["error"]["kept"]


def test_other_peoples_text_reaches_the_terminal_as_text(shell: Shell) -> None:
    evidence = Evidence(origin=f"https://x.example/{HOSTILE}", title=HOSTILE, quote=HOSTILE)
    hostile = found(HOSTILE, evidence=(evidence,), conflict=(Conflict(value=HOSTILE, evidence=(evidence,)),))
    proposal = proposed(shell, {(1, "Size"): hostile, (2, "Size"): found(HOSTILE * 9, error=HOSTILE)})
    shown = shell("proposals", "review", proposal, stdin=lines("s", "e", HOSTILE, "", "x")).stderr
    assert not {"\x1b", "\x07", "\u202e"} & set(shown)
    assert "[bold]x[/bold]" in shown


def test_a_cell_that_was_changed_since_is_kept_and_said(shell: Shell) -> None:
    proposal = proposed(shell)
    kept(shell, lambda store: store.proposals.apply(proposal, Selection(rows=(1,))))
    by_hand = SetCell(row_id=2, field="Size", cell=make_given_cell("small"))
    kept(shell, lambda store: store.log.commit("firms", [by_hand]))
    done = shell("proposals", "review", proposal, "--row", "2", "--field", "Size", stdin=lines("a", "q"))
    assert "Changed since the run read them, and kept: 1 cell" in done.stderr
    refused = shell("proposals", "edit", proposal, "--row", "2", "--field", "Size", "large", code=1)
    assert "was changed since the run read it. Its value was kept." in " ".join(refused.stderr.split())
    assert values(shell)[3] == "small"
    shell("proposals", "review", proposal, "--row", "2", "--field", "Size", "--force", stdin=lines("a", "q"))
    assert values(shell)[3] == "large"


def test_one_cell_is_edited_without_a_dialogue(shell: Shell) -> None:
    proposal = proposed(shell)
    edit = ("proposals", "edit", proposal, "--row", "1", "--field")
    assert "none of the options" in shell(*edit, "Size", "huge", code=2).stderr
    assert "says nothing about row 9" in shell(*edit[:4], "9", "--field", "Size", "small", code=2).stderr
    assert values(shell) == [None] * 4
    outcome = json.loads(shell(*edit, "size", "Large", "--json").stdout)
    assert (outcome["applied"]["edited"], outcome["applied"]["cells"]) == (1, 1)
    assert outcome["proposal"]["counts"]["open"] == 3
    assert "1 edited" in shell(*edit, "Founded", "--", "-44").stderr
    assert values(shell) == [-44, "large", None, None]
    assert "is already edited" in shell(*edit, "Size", "small", code=2).stderr


def test_a_decided_proposal_is_not_asked_about(shell: Shell) -> None:
    proposal = proposed(shell)
    kept(shell, lambda store: store.proposals.apply(proposal, Selection(rows=(1,))))
    assert "no such open cells" in shell("proposals", "review", proposal, "--row", "1").stderr
    kept(shell, lambda store: store.proposals.reject(proposal))
    assert "already applied" in shell("proposals", "review", proposal, stdin=lines("a"), code=2).stderr


def test_a_value_stays_where_nothing_was_found_unless_the_person_clears_it(any_shell: Shell) -> None:
    shell = any_shell

    async def again() -> list[str]:
        async with await Store.open(location(shell)) as store:
            rows = [(make_given_cell("Acme"), make_given_cell(1998)), (make_given_cell("Bolt"), make_given_cell(2003))]
            await store.tables.create("firms", (Field(name="Name"), FOUNDED), rows, key_field="Name")
            nothing = {(row, "Founded"): not_found() for row in (1, 2)}
            return [await propose(store, "firms", nothing) for _ in range(2)]

    whole, single = asyncio.run(again())
    said = shell("proposals", "apply", whole)
    assert "Not found, so the present value stays: 2 cells." in said.stderr
    assert "undo" not in said.stderr
    shown = shell("proposals", "show", single).stdout
    assert "not found; the present value stays" in " ".join(shown.split())
    done = shell("proposals", "review", single, "--json", stdin=lines("s", "c", "q"))
    assert json.loads(done.stdout)["applied"]["cells"] == 1
    rows = kept(shell, lambda store: store.tables.load("firms")).rows
    assert [row.cell("Founded").value for row in rows] == [1998, None]
