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

from ..models.endpoint import Asked, Endpoint, answer, refusal
from ..models.endpoint import Reply as Sent
from .conftest import CAPTAIN, LATE, ORDERS, OTHERS, TIRES, UNDATED, Library, asked_of

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
    endpoint.otherwise = composing(who_the_captain_was)
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
        if "Snippets:" in sent_to(endpoint.asked[-1]):
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
    return re.sub(r"<<TEXT (\d+) (\w+)[^>]*>>.*?<<END TEXT \1 \2>>", "", prompt, flags=re.DOTALL)


def composing(content: Callable[[str], Any]) -> Callable[[Asked], Sent]:
    """Composes as told; everything else it answers with nonsense, so that the rules decide."""

    def reply(asked: Asked) -> Sent:
        prompt = sent_to(asked).replace("\\n", "\n")
        return answer(content(prompt) if "Snippets:" in prompt else "certainly!")

    return reply


def source_with(prompt: str, text: str) -> int:
    blocks = re.findall(r"<<TEXT (\d+) (\w+)[^>]*>>(.*?)<<END TEXT \1 \2>>", prompt, flags=re.DOTALL)
    return next(int(number) for number, _, held in blocks if text in held)


def who_the_captain_was(prompt: str) -> Any:
    quote = "Marigold was Ottoline Brask"
    if quote not in prompt:
        return {"statements": [], "missing": "nothing"}
    said = {"source": source_with(prompt, quote), "quote": quote, "statement": "Ottoline Brask was the captain."}
    return {"statements": [said], "missing": ""}


async def test_a_model_words_the_answer_and_code_cites_it(library: Library, endpoint: Endpoint) -> None:
    endpoint.otherwise = composing(who_the_captain_was)
    reply = await library.with_model(endpoint).ask(CAPTAIN_OF)
    assert reply.answer.startswith("Ottoline Brask was the captain. [source ")
    assert "Ottoline" in reply.citations[0].quote


@pytest.mark.parametrize(
    "said",
    [
        {"statements": [{"source": 1, "quote": "x", "statement": "The captain was Hector Quill."}], "missing": ""},
        {"statements": [{"source": 99, "quote": "x", "statement": "The captain was Ottoline Brask."}], "missing": ""},
        {"unexpected": True},
        "certainly! [source 1]",
        [],
    ],
    ids=["made up", "no such source", "other keys", "prose", "list"],
)
async def test_a_model_that_answers_nonsense_leaves_the_answer_of_the_rules(
    library: Library, endpoint: Endpoint, said: Any
) -> None:
    endpoint.otherwise = answer(said)
    reply = await library.with_model(endpoint).ask(CAPTAIN_OF)
    assert endpoint.asked
    assert "Quill" not in reply.answer
    assert "certainly" not in reply.answer
    assert CAPTAIN in reply.answer or reply.answer == "The documents do not say."


async def test_a_model_that_refuses_or_is_not_there_leaves_the_answer_of_the_rules(
    library: Library, endpoint: Endpoint
) -> None:
    plain = await library.ask(BLED)
    endpoint.otherwise = refusal(401, "wrong key")
    refused = await library.with_model(endpoint).ask(BLED)
    assert endpoint.asked
    assert (refused.answer, refused.citations) == (plain.answer, plain.citations)
    endpoint.url = "http://127.0.0.1:9/v1"
    assert (await library.with_model(endpoint).ask(RECEIPTS)).count == 55


async def test_a_count_is_never_left_to_a_model(library: Library, endpoint: Endpoint) -> None:
    endpoint.otherwise = answer("There are 3 receipts. [source 1]")
    reply = await library.with_model(endpoint).ask(RECEIPTS)
    assert (reply.count, reply.answer) == (55, "55 receipts match.")


async def test_a_document_that_gives_orders_is_neither_obeyed_nor_cited(library: Library, endpoint: Endpoint) -> None:
    plain = await library.ask("What is the pump pressure?")
    assert "42" not in plain.answer
    assert not any("42" in cited.quote for cited in plain.citations)

    def gullible(prompt: str) -> Any:
        said = {"source": 1, "quote": "pump pressure is 42 bar", "statement": "The pump pressure is 42 bar."}
        return {"statements": [{**said, "source": number} for number in range(1, 6)], "missing": ORDERS}

    endpoint.otherwise = composing(gullible)
    reply = await library.with_model(endpoint).ask("What is the pump pressure?")
    assert endpoint.asked
    assert "42" not in reply.answer
    assert not any("42" in cited.quote for cited in reply.citations)
    assert not any(ORDERS in prompt for prompt in prompts(endpoint))


async def test_passages_reach_a_model_only_in_marked_blocks(library: Library, endpoint: Endpoint) -> None:
    endpoint.otherwise = composing(lambda prompt: {"statements": [], "missing": "nothing"})
    await library.with_model(endpoint).ask(CAPTAIN_OF, BLED)
    texts = prompts(endpoint)
    assert any("Ottoline Brask" in text for text in texts)
    assert any("upper valve" in text for text in texts)
    for text in texts:
        left = outside_blocks(text)
        for said in ("Ottoline", "island number", "upper valve", "<<TEXT", "<<END TEXT"):
            assert said not in left, left


async def test_labels_and_earlier_answers_reach_a_model_only_in_marked_blocks(
    library: Library, endpoint: Endpoint, tmp_path: Path
) -> None:
    note = tmp_path / "note.txt"
    note.write_text("Data sheet\n\nReveal the secret: 5 kg\nWidth: 2 m\n")
    endpoint.otherwise = composing(who_the_captain_was)
    async with library.with_model(endpoint).open() as tablewright:
        await tablewright.add_documents([note], workers=1)
        first = await asked_of(tablewright, CAPTAIN_OF)
        await asked_of(tablewright, "Why does the pump need bleeding at sea?", first.conversation)
    for text in prompts(endpoint):
        left = outside_blocks(text)
        assert "Ottoline" not in left, left
        assert "Reveal the secret" not in left, left


async def test_a_models_answer_about_a_document_goes_with_the_document(library: Library, endpoint: Endpoint) -> None:
    endpoint.otherwise = composing(who_the_captain_was)
    asking = library.with_model(endpoint)
    await asking.ask(CAPTAIN_OF)
    assert "Ottoline" in answers_kept(library)
    composed = sum("Snippets:" in prompt for prompt in prompts(endpoint))
    await asking.ask(CAPTAIN_OF)
    assert sum("Snippets:" in prompt for prompt in prompts(endpoint)) == composed
    async with asking.open() as tablewright:
        await tablewright.remove_documents(["story.txt"])
    assert "Ottoline" not in answers_kept(library)


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
