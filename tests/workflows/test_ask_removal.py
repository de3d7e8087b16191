"""A removed document leaves nothing behind: no answer, no result, no conversation, no cell, no cached reply."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from pathlib import Path

import pytest

from tablewright.errors import NotFound
from tests.llm.endpoint import Endpoint
from tests.operating import add_documents, ask, export_result, remove_documents
from tests.workflows.asking import (
    CAPTAIN_OF,
    COMPOSING,
    RECEIPTS,
    TIRES_PLAN,
    answers_kept,
    column,
    condition,
    dump,
    plan,
    prompts,
    reader,
    sent_to,
    who_the_captain_was,
)
from tests.workflows.conftest import Library, asked_of


async def test_a_removed_document_is_in_no_later_answer_result_or_conversation(library: Library) -> None:
    async with library.open() as services:
        listed = await asked_of(services, RECEIPTS)
        told = await asked_of(services, CAPTAIN_OF.replace("Who was", "Tell me who was"), listed.conversation)
        assert told.citations
        assert "Ottoline" in dump(library)
        gone = await remove_documents(services, ["story.txt", "r001.txt", "r054.txt"])
        assert len(gone) == 3
        assert (await asked_of(services, CAPTAIN_OF)).citations == ()
        assert (await asked_of(services, RECEIPTS)).count == 53
        target = library.folder.parent / "after.csv"
        assert await export_result(services, listed.result_id, target) == 53
        target.unlink()
    held = dump(library)
    assert "Ottoline" not in held
    assert "r054" not in held


async def test_a_document_named_twice_is_removed_once(library: Library) -> None:
    async with library.open() as services:
        gone = await remove_documents(services, ["story.txt", "story.txt", str(library.folder / "story.txt")])
    assert [document.name for document in gone] == ["story.txt"]


async def test_a_document_that_is_removed_while_a_question_waits_leaves_no_trace(
    library: Library, endpoint: Endpoint
) -> None:
    endpoint.otherwise = reader({}, who_the_captain_was)
    endpoint.open_gate.clear()
    async with library.with_model(endpoint).open() as services:
        asking = asyncio.create_task(ask(services, CAPTAIN_OF))
        await composing_begins(endpoint)
        await remove_documents(services, ["story.txt"])
        endpoint.open_gate.set()
        with suppress(NotFound):
            await asking
    assert ["Ottoline" in held for held in (dump(library), answers_kept(library))] == [False, False]


async def composing_begins(endpoint: Endpoint) -> None:
    """Lets all questions pass but the one for the answer, which waits at the gate."""
    while True:
        await endpoint.somebody_waits.wait()
        endpoint.somebody_waits.clear()
        if COMPOSING in sent_to(endpoint.asked[-1]):
            return
        endpoint.open_gate.set()
        endpoint.open_gate.clear()


async def test_of_several_to_remove_all_go_or_none(library: Library) -> None:
    async with library.open() as services:
        with pytest.raises(NotFound):
            await remove_documents(services, ["story.txt", "nobody.txt"])
        assert "story.txt" in {document.name for document in await services.store.documents.all()}


async def test_a_models_answer_about_a_document_goes_with_the_document(library: Library, endpoint: Endpoint) -> None:
    endpoint.otherwise = reader({RECEIPTS: TIRES_PLAN}, who_the_captain_was)
    asking = library.with_model(endpoint)
    await asking.ask(CAPTAIN_OF, RECEIPTS)
    assert "Ottoline" in answers_kept(library)
    composed = sum(COMPOSING in prompt for prompt in prompts(endpoint))
    await asking.ask(CAPTAIN_OF)
    assert sum(COMPOSING in prompt for prompt in prompts(endpoint)) == composed
    async with asking.open() as services:
        await remove_documents(services, ["story.txt", "r007.txt"])
    assert "Ottoline" not in answers_kept(library)
    held = dump(library)
    assert "r007" not in held
    assert "87.00" not in held
    async with asking.open() as services:
        assert (await asked_of(services, RECEIPTS)).count == 54
        assert [each for table in await services.tables() for each in await services.store.log.problems(table.id)] == []


async def test_compared_names_and_rewritten_questions_go_with_the_document(
    empty: Library, endpoint: Endpoint, tmp_path: Path
) -> None:
    for name, bought in (("a", "winter tire"), ("zz", "zephyr tire")):
        text = f"RECEIPT No. 901\nCorner Garage\n\n1 x {bought}   99.50\n\nTotal: EUR 99.50\n"
        (tmp_path / f"{name}.txt").write_text(text)
    item = column("Item", "text", "What was bought?")
    only = {"action": "table", "of": ["receipt"], "columns": [item]}
    only |= {"conditions": [condition("Item", "=", "zephyr tire")]}
    endpoint.otherwise = reader({"Which one?": plan("Which receipt is for the zephyr tire?", **only)})
    async with empty.with_model(endpoint).open() as services:
        await add_documents(services, [tmp_path / "a.txt", tmp_path / "zz.txt"], workers=1)
        assert (await asked_of(services, "Which one?")).count == 1
        assert ["zephyr" in held for held in (dump(empty), answers_kept(empty))] == [True, True]
        await remove_documents(services, ["zz.txt"])
    assert ["zephyr" in held for held in (dump(empty), answers_kept(empty))] == [False, False]
