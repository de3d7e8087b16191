"""Questions to the documents: complete where they can be, cited where they speak, and honest about the rest."""

from __future__ import annotations

import asyncio
import csv
import json
import re
import sqlite3
import zlib
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from tablewright.errors import NotFound, UsageError
from tablewright.journeys.ask import tables
from tablewright.table.form import Form, parse_where
from tablewright.table.reply import Reply

from ..models.endpoint import Asked, Endpoint, answer, refusal
from ..models.endpoint import Reply as Sent
from .conftest import CAPTAIN, LATE, ORDERS, OTHERS, TIRES, UNDATED, Library, asked_of, check

RECEIPTS = "all receipts that contain tires"
CAPTAIN_OF = "Who was the captain of the schooner Marigold?"
BLED = "How is the pump P9 bled?"
UNANSWERED = "Who won the world cup final of 1966?"


# ── all of them, accounted for ───────────────────────────────────────────────────────────────────────────────────────


async def test_a_list_has_all_that_match_and_its_ledger_says_what_could_not_be_read(library: Library) -> None:
    reply = await library.ask(RECEIPTS)
    assert reply.count == TIRES + UNDATED
    assert f"{TIRES + UNDATED} receipts match" in reply.answer
    ledger = reply.ledger
    assert ledger is not None
    assert (ledger.total, ledger.no_match, ledger.not_stated, ledger.unreadable) == (61, OTHERS, 0, 1)
    assert str(ledger) == "matched 55 of 61 receipts; 1 could not be read"
    assert reply.completeness == "incomplete"
    assert "could not be read" in reply.reason
    assert len(reply.rows) == 50
    assert all("tire" in cited.quote for cited in reply.citations)


async def test_what_is_not_stated_is_neither_yes_nor_no(library: Library) -> None:
    reply = await library.ask("receipts with tires in 2024")
    ledger = reply.ledger
    assert ledger is not None
    assert (reply.count, ledger.matched, ledger.not_stated) == (LATE, LATE, UNDATED)
    assert [name for name, _ in ledger.undecided] == ["undated"]
    assert "undecided" in str(ledger)
    assert reply.completeness == "incomplete"


async def test_a_sum_is_of_all_things_and_names_its_unit(library: Library) -> None:
    reply = await library.ask("What is the sum of the total of all receipts?")
    total = sum(80 + number for number in range(1, TIRES + OTHERS + 1)) + 980
    assert f"{total:,} EUR" in reply.answer
    assert f"{TIRES + OTHERS + UNDATED} receipts" in reply.answer


async def test_a_limit_is_compared_as_a_number(library: Library) -> None:
    reply = await library.ask("which receipts are above 138 EUR")
    assert sorted(row.title for row in reply.rows) == ["r059", "undated"]
    assert {row.values for row in reply.rows} == {("EUR 139.00",), ("EUR 980.00",)}


async def test_where_nothing_matches_each_filter_says_what_it_kept_out(library: Library) -> None:
    reply = await library.ask("receipts with tires in 2019")
    assert (reply.count, reply.rows, reply.citations) == (0, (), ())
    assert any("2019" in said and f"{TIRES + UNDATED} would match" in said for said in reply.relaxed)
    assert any("relaxed" in tried.threshold for tried in reply.attempts)


@pytest.mark.parametrize(
    "question",
    [
        "all receipts that contain tires",
        "panels at most 1 m wide",
        "What is the width of the Helioscrest HC-Terra 500?",
        "How many receipts are there?",
        "data sheets with a power of at least 400 W",
        "receipts from Whitlow in 2024",
    ],
)
async def test_what_is_said_of_the_sample_papers_stands_in_them(sample: Library, question: str) -> None:
    reply = await sample.ask(question)
    assert reply.citations or reply.count
    assert reply.route
    assert reply.attempts


# ── one passage ──────────────────────────────────────────────────────────────────────────────────────────────────────


async def test_an_explanation_is_quoted_with_its_place(library: Library) -> None:
    reply = await library.ask(BLED)
    assert "upper valve" in reply.answer
    (cited,) = [each for each in reply.citations if "upper valve" in each.quote]
    assert Path(cited.path).name == "pump.md"
    assert f"[source {cited.number}]" in reply.answer
    assert reply.completeness == "approximate"


async def test_a_quote_from_the_middle_of_a_very_long_line_is_where_it_says(library: Library) -> None:
    reply = await library.ask(CAPTAIN_OF)
    assert CAPTAIN in reply.answer
    assert [cited.quote for cited in reply.citations] == [CAPTAIN]


async def test_each_sentence_of_one_passage_has_a_source_that_says_it(library: Library, tmp_path: Path) -> None:
    note = tmp_path / "valve.txt"
    note.write_text(
        "The brass valve\n\nThe brass valve is opened with a square key. Then the brass valve is turned to the left. "
        "Last of all the brass valve is oiled with rapeseed oil.\n"
    )
    async with library.open() as tablewright:
        await tablewright.add_documents([note], workers=1)
        reply = await asked_of(tablewright, "How is the brass valve opened, turned and oiled?")
    assert "square key" in reply.answer


async def test_a_known_subject_is_not_an_answer(library: Library) -> None:
    reply = await library.ask("How do I repaint the pump P9?")
    assert reply.citations == ()


async def test_a_question_without_an_answer_is_refused_and_says_what_was_tried(library: Library) -> None:
    reply = await library.ask(UNANSWERED)
    assert reply.citations == ()
    assert "[source" not in reply.answer + reply.clarification
    assert reply.answer == "The documents do not say."
    assert reply.completeness == "incomplete"
    assert {tried.tool.split("(")[0] for tried in reply.attempts} >= {"search_vector"}
    assert all(tried.tool in reply.clarification for tried in reply.attempts)


# ── the conversation goes on ─────────────────────────────────────────────────────────────────────────────────────────


async def test_the_rest_is_shown_until_that_was_all(library: Library) -> None:
    async with library.open() as tablewright:
        first = await asked_of(tablewright, RECEIPTS)
        second = await asked_of(tablewright, "show the rest", first.conversation)
        third = await asked_of(tablewright, "show the rest", first.conversation)
    assert second.answer == "Rows 51 to 55 of 55."
    assert len({row.document_id for row in (*first.rows, *second.rows)}) == 55
    assert (third.rows, third.answer) == ((), "That was all.")
    assert second.result_id == third.result_id == first.result_id


async def test_only_narrows_the_last_question(library: Library) -> None:
    async with library.open() as tablewright:
        first = await asked_of(tablewright, RECEIPTS)
        late = await asked_of(tablewright, "only 2024", first.conversation)
        early = await asked_of(tablewright, "only 2023", first.conversation)
        few = await asked_of(tablewright, "only those above 130 EUR", first.conversation)
    assert (first.count, late.count, early.count, few.count) == (TIRES + 1, LATE, TIRES - LATE, 4)


async def test_the_kept_table_is_exported_whole_with_where_each_row_is_from(library: Library, tmp_path: Path) -> None:
    target = tmp_path / "tires.csv"
    async with library.open() as tablewright:
        first = await asked_of(tablewright, RECEIPTS)
        reply = await asked_of(tablewright, f'export that table to "{target}"', first.conversation)
        assert (reply.export, reply.result_id, reply.count) == (str(target), first.result_id, 55)
        assert not target.exists()
        assert await tablewright.export_result(reply.result_id, target) == 55
    rows = list(csv.DictReader(target.read_text(encoding="utf-8-sig").splitlines()))
    assert len(rows) == 55
    assert {Path(row["path"]).name for row in rows} == {f"r{n:03}.txt" for n in range(1, 55)} | {"undated.txt"}


async def test_an_answer_without_rows_exports_nothing_and_leaves_the_old_file(library: Library, tmp_path: Path) -> None:
    target = tmp_path / "old.csv"
    target.write_text("precious")
    async with library.open() as tablewright:
        reply = await asked_of(tablewright, UNANSWERED)
        with pytest.raises(NotFound):
            await tablewright.export_result(reply.result_id, target)
        with pytest.raises(UsageError):
            await tablewright.export_result((await asked_of(tablewright, RECEIPTS)).result_id, tmp_path / "x.docx")
    assert target.read_text() == "precious"
    assert not (tmp_path / "x.docx").exists()


async def test_a_new_topic_with_a_question_forgets_what_was_before(library: Library) -> None:
    reply = await library.ask(RECEIPTS, "only 2024", "new topic: how many receipts contain garden hose?")
    assert reply.count == OTHERS


async def test_after_a_new_topic_there_is_nothing_to_narrow(library: Library) -> None:
    reply = await library.ask(RECEIPTS, "new topic", "only 2024")
    assert reply.count != LATE


async def test_the_rest_of_an_incomplete_answer_is_not_called_exact(library: Library) -> None:
    reply = await library.ask(RECEIPTS, "show the rest")
    assert reply.completeness == "incomplete"


async def test_show_the_rest_of_nothing_is_not_looked_for_in_the_documents(library: Library) -> None:
    reply = await library.ask("show the rest")
    assert reply.attempts == ()
    assert reply.answer != "The documents do not say."


async def test_a_narrowed_question_is_widened_with_its_conditions(library: Library) -> None:
    reply = await library.ask(RECEIPTS, "only 2024", "search all documents")
    assert reply.count == LATE
    reply = await library.ask(RECEIPTS, "which of those are above 130 EUR?", "search all documents")
    assert reply.count == 5


async def test_a_conversation_is_gone_on_with_by_another_process(library: Library) -> None:
    first = await library.ask(RECEIPTS)
    async with library.open() as tablewright:
        reply = await asked_of(tablewright, "only 2024", first.conversation)
    assert reply.count == LATE
    async with library.open() as tablewright:
        with pytest.raises(NotFound, match="no conversation"):
            await tablewright.ask(RECEIPTS, conversation="c-nobody")


async def test_many_may_ask_at_once(library: Library) -> None:
    async with library.open() as tablewright:
        replies = await asyncio.gather(*(tablewright.ask(RECEIPTS) for _ in range(4)))
    assert {reply.count for reply in replies} == {55}
    assert len({reply.conversation for reply in replies}) == 4


async def test_without_documents_or_a_question_it_is_said_what_to_do(empty: Library) -> None:
    with pytest.raises(UsageError, match="docs add"):
        await empty.ask(RECEIPTS)
    with pytest.raises(UsageError, match="no question"):
        await empty.ask("  \n ")
    with pytest.raises(UsageError, match="17,999 characters; at most 4,000"):
        await empty.ask("receipts " * 2_000)


@pytest.mark.parametrize("text", ["?", "%", "\0", "receipts " * 400, "\u202e🛞", "'; drop table documents; --", '"'])
async def test_odd_questions_get_an_answer_all_the_same(library: Library, text: str) -> None:
    reply = await library.ask(text)
    assert reply.answer


async def test_a_corpus_of_unreadable_files_answers_nothing_and_counts_them(empty: Library, tmp_path: Path) -> None:
    (tmp_path / "broken.pdf").write_bytes(b"%PDF-1.7 and then nothing")
    async with empty.open() as tablewright:
        await tablewright.add_documents([tmp_path / "broken.pdf"], workers=1)
        reply = await asked_of(tablewright, RECEIPTS)
    assert reply.citations == ()
    assert reply.ledger is not None
    assert (reply.ledger.matched, reply.ledger.unreadable) == (0, 1)


# ── by conditions, without a model ───────────────────────────────────────────────────────────────────────────────────


async def looked_up(library: Library, where: str, **values: Any) -> Reply:
    kind, table, conditions = parse_where(where)
    async with library.open() as tablewright:
        reply = await tablewright.query_documents(Form(kind=kind, table=table, conditions=conditions, **values))
        await check(tablewright, reply)
        return reply


async def test_conditions_list_exactly_what_meets_them(library: Library) -> None:
    reply = await looked_up(library, "kind = receipt and total >= 138 EUR")
    assert [row.values for row in reply.rows] == [("EUR 138.00",), ("EUR 139.00",), ("EUR 980.00",)]
    assert str(reply.ledger) == "matched 3 of 61 receipts; 1 could not be read"


async def test_a_sum_by_conditions_says_what_is_undecided(library: Library) -> None:
    reply = await looked_up(library, "kind = receipt and date in 2024", aggregate="sum", of="total")
    assert f"{sum(80 + number for number in range(1, LATE + 1)):,} EUR" in reply.answer
    assert reply.completeness == "incomplete"
    assert "Date is not stated" in reply.reason


async def test_a_column_that_nobody_states_is_refused_with_those_that_are_known(library: Library) -> None:
    with pytest.raises(UsageError) as refused:
        await looked_up(library, "kind = receipt and colour = red")
    assert "No receipt states 'colour'" in str(refused.value)
    assert "Total" in str(refused.value)


async def test_a_kind_that_is_not_there_is_refused_with_those_that_are(library: Library) -> None:
    with pytest.raises(NotFound, match="receipt"):
        await looked_up(library, "kind = lease")


async def test_a_person_says_what_a_document_is_and_it_stays(library: Library) -> None:
    async with library.open() as tablewright:
        await tablewright.set_document_kind(["pump.md"], "Data  Sheet")
        path = library.folder / "pump.md"
        path.write_text(f"{path.read_text()}\nWeight: 9 kg\n")
        await tablewright.add_documents([path], workers=1)
        assert [each.kind for each in await tablewright.documents(kind="data sheet")] == ["data sheet"]
    reply = await looked_up(library, "kind = data sheet and weight > 8 kg")
    assert reply.count == 1


async def test_what_can_be_looked_up_is_listed(library: Library) -> None:
    async with library.open() as tablewright:
        groups = {group.name: group for group in await tablewright.known_of_documents()}
    columns = {column.name: column.known for column in groups["receipt"].columns}
    assert groups["receipt"].members == 60
    assert columns["Total"] == 60
    assert columns["Date"] == 59


# ── removal ──────────────────────────────────────────────────────────────────────────────────────────────────────────


async def test_a_removed_document_is_in_no_later_answer_result_or_conversation(library: Library) -> None:
    async with library.open() as tablewright:
        listed = await asked_of(tablewright, RECEIPTS)
        told = await asked_of(tablewright, CAPTAIN_OF.replace("Who was", "Tell me who was"), listed.conversation)
        assert told.citations
        assert "Ottoline" in dump(library)
        gone = await tablewright.remove_documents(["story.txt", "r001.txt", "r054.txt"])
        assert len(gone) == 3
        assert (await asked_of(tablewright, CAPTAIN_OF)).citations == ()
        assert (await asked_of(tablewright, RECEIPTS)).count == 53
        target = library.folder.parent / "after.csv"
        assert await tablewright.export_result(listed.result_id, target) == 53
        target.unlink()
    held = dump(library)
    assert "Ottoline" not in held
    assert "r054" not in held


async def test_a_document_named_twice_is_removed_once(library: Library) -> None:
    async with library.open() as tablewright:
        gone = await tablewright.remove_documents(["story.txt", "story.txt", str(library.folder / "story.txt")])
    assert [document.name for document in gone] == ["story.txt"]


async def test_a_document_that_is_removed_while_a_question_waits_leaves_no_trace(
    library: Library, endpoint: Endpoint
) -> None:
    endpoint.otherwise = reader({}, who_the_captain_was)
    endpoint.open_gate.clear()
    async with library.with_model(endpoint).open() as tablewright:
        asking = asyncio.create_task(tablewright.ask(CAPTAIN_OF))
        await composing_begins(endpoint)
        await tablewright.remove_documents(["story.txt"])
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
    async with library.open() as tablewright:
        with pytest.raises(NotFound):
            await tablewright.remove_documents(["story.txt", "nobody.txt"])
        assert "story.txt" in {document.name for document in await tablewright.documents()}


def dump(library: Library) -> str:
    """All text that the database holds."""
    with sqlite3.connect(Path(library.settings.home) / "tablewright.db") as connection:
        text = "\n".join(connection.iterdump())
    connection.close()
    return text


# ── with a model ─────────────────────────────────────────────────────────────────────────────────────────────────────


def sent_to(asked: Asked) -> str:
    return "\n".join(json.dumps(message["content"], ensure_ascii=False) for message in asked.body["messages"])


def prompts(endpoint: Endpoint) -> list[str]:
    return [sent_to(asked).replace("\\n", "\n") for asked in endpoint.asked]


def outside_blocks(prompt: str) -> str:
    left = re.sub(r"<<TEXT (\d+) (\w+)[^>]*>>.*?<<END TEXT \1 \2>>", "", prompt, flags=re.DOTALL)
    return re.sub(r"<<QUESTION (\w+)>>.*?<<END QUESTION \1>>", "", left, flags=re.DOTALL)


def blocks(prompt: str) -> list[tuple[int, str]]:
    found = re.findall(r"<<TEXT (\d+) (\w+)[^>]*>>(.*?)<<END TEXT \1 \2>>", prompt, flags=re.DOTALL)
    return [(int(number), held) for number, _, held in found]


CLASSIFYING, PLANNING = "You sort somebody's documents", "You plan how a question"
READING, COMPOSING, GROUPING = "You fill cells of a table", "You answer a question from passages", "You compare values"


def plan(question: str, **values: Any) -> dict[str, Any]:
    empty: dict[str, Any] = {"say": "", "path": "", "queries": [], "of": [], "columns": [], "conditions": []}
    empty |= {"aggregate": "", "aggregate_column": "", "group_by": "", "order_by": "", "descending": False}
    return {"question": question, "action": "text", **empty, "limit": 0, "unit_column": "", "compare": False, **values}


def column(name: str, type: str, question: str) -> dict[str, str]:
    return {"name": name, "type": type, "question": question, "unit": ""}


def condition(name: str, operator: str, *values: str) -> dict[str, Any]:
    return {"column": name, "operator": operator, "values": list(values)}


def reader(
    plans: dict[str, dict[str, Any]], composed: Callable[[str], Any] = lambda prompt: nothing()
) -> Callable[[Asked], Sent]:
    """Plans and composes as told; classifies and reads receipts as one would."""

    def reply(asked: Asked) -> Sent:
        prompt = sent_to(asked).replace("\\n", "\n")
        if CLASSIFYING in prompt:
            kinds = [{"number": n, "kind": "receipt" if "RECEIPT" in text else "note"} for n, text in blocks(prompt)]
            return answer({"kinds": kinds})
        if PLANNING in prompt:
            asks = re.findall(r"<<QUESTION (\w+)>>(.*?)<<END QUESTION \1>>", prompt, flags=re.DOTALL)[-1][1].strip()
            return answer(plans.get(asks) or plan(asks, queries=[asks]))
        if READING in prompt:
            return answer(read_rows(prompt))
        if GROUPING in prompt:
            return answer({"groups": [{"name": name, "numbers": []} for name in names_asked(prompt)]})
        return answer(composed(prompt))

    return reply


def names_asked(prompt: str) -> list[str]:
    found = re.search(r"Names asked about: (.*)", prompt)
    return found[1].split(" · ") if found else []


def read_rows(prompt: str) -> dict[str, Any]:
    """The cells of each receipt, alone or several at once."""
    names = re.findall(r"^- ([^(\n]+) \(", prompt, flags=re.MULTILINE)
    rows = [cells_of(text, names) for _, text in blocks(prompt) if "Corner Garage" in text]
    return {f"row {n}": row for n, row in enumerate(rows, start=1)} if "=== ROW 1" in prompt else rows[0]


PATTERNS = {"Total": r"Total: EUR ([\d.]+)", "Date": r"Date: ([\d-]+)", "Item": r"1 x (.+?)   "}


def cells_of(text: str, names: list[str]) -> dict[str, Any]:
    cells: dict[str, Any] = {}
    for name in names:
        found = re.search(PATTERNS[name], text)
        quotes = [{"text": 1, "quote": found[0].strip()}] if found else []
        value = f"{found[1]} EUR" if found and name == "Total" else found[1] if found else ""
        cells[name] = [{"value": value, "basis": "stated", "quotes": quotes}] if found else []
    return {"texts": [{"text": 1, "same_row": "same", "reason": "it is the document"}], "cells": cells}


def nothing() -> dict[str, Any]:
    return {"statements": [], "answered": "no", "missing": "it is not told", "queries": []}


def stating(statement: str, quote: str, calculation: str = "") -> Callable[[str], Any]:
    def composed(prompt: str) -> Any:
        held = [number for number, text in blocks(prompt) if quote in text and number]
        if not held:
            return nothing()
        quotes = [{"passage": held[0], "quote": quote}]
        said = [{"statement": statement, "quotes": quotes, "calculation": calculation}]
        return {"statements": said, "answered": "yes", "missing": "", "queries": []}

    return composed


who_the_captain_was = stating("Ottoline Brask was the captain.", "Marigold was Ottoline Brask")
ITEM = column("Item", "text", "What was bought?")
TOTAL = column("Total", "money", "What is the total?")
DATE = column("Date", "date", "When was it paid?")
TIRES_PLAN = plan(
    "Which receipts are for tires?",
    action="table",
    of=["receipt"],
    columns=[ITEM, TOTAL],
    conditions=[condition("Item", "contains", "tire")],
)
SPENT = "What did we spend on tires in 2024?"
SPENT_PLAN = plan(
    SPENT,
    action="table",
    of=["receipt"],
    columns=[ITEM, TOTAL, DATE],
    conditions=[condition("Item", "contains", "tire"), condition("Date", "=", "2024")],
    aggregate="sum",
    aggregate_column="Total",
)


async def test_a_model_words_the_answer_and_code_cites_it(library: Library, endpoint: Endpoint) -> None:
    endpoint.otherwise = reader({}, who_the_captain_was)
    reply = await library.with_model(endpoint).ask(CAPTAIN_OF)
    assert reply.answer == "Ottoline Brask was the captain. [source 1]"
    assert reply.citations[0].quote == "Marigold was Ottoline Brask"


async def test_a_list_is_read_from_every_document_of_the_kind_and_kept(library: Library, endpoint: Endpoint) -> None:
    endpoint.otherwise = reader({RECEIPTS: TIRES_PLAN, SPENT: SPENT_PLAN})
    async with library.with_model(endpoint).open() as tablewright:
        listed = await asked_of(tablewright, RECEIPTS)
        assert (listed.count, listed.ledger.matched, listed.ledger.no_match) == (55, 55, 5)  # type: ignore[union-attr]
        first = sum(READING in prompt for prompt in prompts(endpoint))
        assert 0 < first < 20, "short documents are read several at once"
        again = await asked_of(tablewright, RECEIPTS)
        assert again.count == 55
        assert sum(READING in prompt for prompt in prompts(endpoint)) == first, "what was read is not read again"
        spent = await asked_of(tablewright, SPENT)
        (table,) = [table for table in await tablewright.tables() if table.name == "receipts"]
        names = [field.name for field in (await tablewright.table(table.id)).fields]
    assert names == ["Document", "Title", "Item", "Total", "Date"]
    total = sum(80 + number for number in range(1, LATE + 1))
    assert f"{total:,} EUR" in spent.answer
    assert spent.completeness == "incomplete"
    assert "1 of 60 could not be decided" in spent.reason


async def test_only_a_document_that_changed_is_read_again(library: Library, endpoint: Endpoint) -> None:
    endpoint.otherwise = reader({RECEIPTS: TIRES_PLAN})
    async with library.with_model(endpoint).open() as tablewright:
        await asked_of(tablewright, RECEIPTS)
        before = len(endpoint.asked)
        path = library.folder / "receipts/r001.txt"
        path.write_text(path.read_text().replace("winter tire 205/55 R16", "brass bell"))
        await tablewright.add_documents([path], workers=1)
        assert (await asked_of(tablewright, RECEIPTS)).count == 54
    read = [prompt for prompt in prompts(endpoint)[before:] if READING in prompt]
    assert len(read) == 1
    assert "brass bell" in read[0]


async def test_before_many_documents_are_read_the_person_is_asked(
    library: Library, endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tables, "ASKS_FIRST", 20)
    endpoint.otherwise = reader({RECEIPTS: TIRES_PLAN, "yes, do": plan("yes, do", action="go on")})
    async with library.with_model(endpoint).open() as tablewright:
        asked = await asked_of(tablewright, RECEIPTS)
        assert "60 documents must be read for Item, Total" in asked.clarification
        assert not any(READING in prompt for prompt in prompts(endpoint))
        assert (await asked_of(tablewright, "yes, do", asked.conversation)).count == 55


async def test_a_condition_in_another_currency_is_undecided_and_said(library: Library, endpoint: Endpoint) -> None:
    dear = "receipts over 100 dollars"
    over = plan(
        dear, action="table", of=["receipt"], columns=[TOTAL], conditions=[condition("Total", ">", "100 USD")],
        queries=[dear],
    )  # fmt: skip
    endpoint.otherwise = reader({dear: over})
    reply = await library.with_model(endpoint).ask(dear)
    assert (reply.count, reply.completeness) == (0, "incomplete")
    assert "it is in EUR, and nothing is converted" in reply.reason


async def test_a_plan_that_cannot_be_carried_out_goes_back_with_the_reason(
    library: Library, endpoint: Endpoint
) -> None:
    wrong = {**TIRES_PLAN, "of": ["bill"]}
    sent: list[str] = []

    def improving(asked: Asked) -> Sent:
        prompt = sent_to(asked)
        if PLANNING in prompt:
            sent.append(prompt)
            return answer(wrong if len(sent) == 1 else TIRES_PLAN)
        return reader({})(asked)

    endpoint.otherwise = improving
    assert (await library.with_model(endpoint).ask(RECEIPTS)).count == 55
    assert "`of` must name some of: receipt, note" in sent[1]


async def test_what_cannot_be_verified_is_left_out_and_said(library: Library, endpoint: Endpoint) -> None:
    endpoint.otherwise = reader({}, stating("The captain was aged 44.", "Marigold was Ottoline Brask"))
    reply = await library.with_model(endpoint).ask(CAPTAIN_OF)
    assert "44" not in reply.answer
    assert "1 statement could not be verified and is left out." in reply.answer


async def test_a_figure_that_follows_by_arithmetic_is_proved(library: Library, endpoint: Endpoint) -> None:
    endpoint.otherwise = reader({}, stating("Twice the pressure is 12 bar.", "Pump pressure: 6 bar", "6 * 2"))
    reply = await library.with_model(endpoint).ask("What is twice the pump pressure?")
    assert reply.answer == "Twice the pressure is 12 bar. [source 1]"
    assert reply.citations[0].quote == "Pump pressure: 6 bar"


async def test_what_is_missing_is_searched_for_in_other_words(library: Library, endpoint: Endpoint) -> None:
    first = "Which officer commanded the sailing vessel?"

    def composed(prompt: str) -> Any:
        if "captain of the schooner" in prompt.partition("Searched for so far")[2]:
            return who_the_captain_was(prompt)
        return {**nothing(), "queries": ["captain of the schooner"]}

    endpoint.otherwise = reader({}, composed)
    reply = await library.with_model(endpoint).ask(first)
    assert "Ottoline Brask" in reply.answer
    assert len([tried for tried in reply.attempts if tried.tool.startswith("search")]) == 2


@pytest.mark.parametrize("said", [{"unexpected": True}, "certainly! [source 1]", []], ids=["keys", "prose", "list"])
async def test_a_model_that_answers_nonsense_is_said_to_have_been_left_out(
    library: Library, endpoint: Endpoint, said: Any
) -> None:
    endpoint.otherwise = answer(said)
    reply = await library.with_model(endpoint).ask(CAPTAIN_OF)
    assert reply.degraded
    assert "certainly" not in reply.answer
    assert CAPTAIN in reply.answer or reply.answer == "The documents do not say."


async def test_a_model_that_refuses_or_is_not_there_is_said(library: Library, endpoint: Endpoint) -> None:
    plain = await library.ask(BLED)
    endpoint.otherwise = refusal(401, "wrong key")
    refused = await library.with_model(endpoint).ask(BLED)
    assert "refused the key" in refused.degraded
    assert (refused.answer, refused.citations) == (plain.answer, plain.citations)
    endpoint.url = "http://127.0.0.1:9/v1"
    unreached = await library.with_model(endpoint).ask(RECEIPTS)
    assert unreached.degraded
    assert unreached.count == 55


async def test_a_document_that_gives_orders_is_neither_obeyed_nor_cited(library: Library, endpoint: Endpoint) -> None:
    plain = await library.ask("What is the pump pressure?")
    assert "42" not in plain.answer
    assert not any("42" in cited.quote for cited in plain.citations)
    endpoint.otherwise = reader({}, stating("The pump pressure is 42 bar.", "pump pressure is 42 bar"))
    reply = await library.with_model(endpoint).ask("What is the pump pressure?")
    assert endpoint.asked
    assert "42" not in reply.answer
    assert not any("42" in cited.quote for cited in reply.citations)
    assert not any(ORDERS in prompt for prompt in prompts(endpoint))


async def test_documents_questions_and_answers_reach_a_model_only_in_marked_blocks(
    library: Library, endpoint: Endpoint
) -> None:
    endpoint.otherwise = reader({RECEIPTS: TIRES_PLAN}, who_the_captain_was)
    await library.with_model(endpoint).ask(CAPTAIN_OF, RECEIPTS, BLED)
    texts = prompts(endpoint)
    assert any("Ottoline Brask" in text for text in texts)
    assert any("upper valve" in text for text in texts)
    for text in texts:
        left = outside_blocks(text)
        for said in ("Ottoline", "island number", "upper valve", "winter tire", "schooner", "<<TEXT", "<<END TEXT"):
            assert said not in left, left


async def test_a_models_answer_about_a_document_goes_with_the_document(library: Library, endpoint: Endpoint) -> None:
    endpoint.otherwise = reader({RECEIPTS: TIRES_PLAN}, who_the_captain_was)
    asking = library.with_model(endpoint)
    await asking.ask(CAPTAIN_OF, RECEIPTS)
    assert "Ottoline" in answers_kept(library)
    composed = sum(COMPOSING in prompt for prompt in prompts(endpoint))
    await asking.ask(CAPTAIN_OF)
    assert sum(COMPOSING in prompt for prompt in prompts(endpoint)) == composed
    async with asking.open() as tablewright:
        await tablewright.remove_documents(["story.txt", "r007.txt"])
    assert "Ottoline" not in answers_kept(library)
    held = dump(library)
    assert "r007" not in held
    assert "87.00" not in held
    async with asking.open() as tablewright:
        assert (await asked_of(tablewright, RECEIPTS)).count == 54
        assert await tablewright.problems() == []


def answers_kept(library: Library) -> str:
    """What the cache of answers holds."""
    with sqlite3.connect(Path(library.settings.home) / "tablewright.db") as connection:
        values = [value for (value,) in connection.execute("SELECT value FROM cache")]
    connection.close()
    return "\n".join(zlib.decompress(value).decode() for value in values)


async def test_a_model_adds_only_facts_that_stand_in_the_text(library: Library, endpoint: Endpoint) -> None:
    point = {"label": "Bleeding point", "value": "upper valve", "quote": "is bled through the upper valve"}
    price = {"label": "Price", "value": "900 EUR", "quote": "It costs 900 EUR"}
    endpoint.otherwise = answer({"facts": [point, price]})
    async with library.with_model(endpoint).open() as tablewright:
        assert await tablewright.annotate_documents(["pump.md"]) == 1
        assert await tablewright.annotate_documents(["pump.md"]) == 0
        facts = (await tablewright.document("pump.md")).facts
    (added,) = [fact for fact in facts if fact.by == "model"]
    assert (added.label, added.value) == ("Bleeding point", "upper valve")
    assert "bled through the upper valve" in added.quote
    assert any(fact.label == "Pump pressure" for fact in facts)
    assert all("upper valve" not in outside_blocks(prompt) for prompt in prompts(endpoint))
