"""Questions that a model plans: it judges, code reads, counts, quotes and checks."""

from __future__ import annotations

import asyncio
import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tablewright.domain.reply import make_lookup_form
from tablewright.llm.tokens import estimate_tokens
from tablewright.messages.catalogue import localize_figure
from tablewright.operations.ask import AskDocuments, ask_documents
from tablewright.operations.documents import AnnotateDocuments, ListFacts, annotate_documents, list_facts
from tablewright.store.workers import UNREGISTERED_SUFFIX
from tablewright.workflows.ask import ask
from tests.llm.endpoint import Asked, Endpoint, answer, refusal
from tests.llm.endpoint import Reply as Sent
from tests.operating import add_documents, list_groups, look_up, remove_documents, set_kind
from tests.workflows.asking import (
    BLED,
    CAPTAIN_OF,
    CLASSIFYING,
    COMPOSING,
    CONCLUDING,
    GROUPING,
    PLANNING,
    READING,
    RECEIPTS,
    SPENT,
    SPENT_PLAN,
    TIRES_PLAN,
    TOTAL,
    TRANSLATING,
    blocks,
    column,
    condition,
    nothing,
    outside_blocks,
    plan,
    prompts,
    reader,
    sent_to,
    stating,
    who_the_captain_was,
)
from tests.workflows.conftest import LATE, ORDERS, Library, asked_of


async def test_a_model_words_the_answer_and_code_cites_it(library: Library, endpoint: Endpoint) -> None:
    endpoint.otherwise = reader({}, who_the_captain_was)
    reply = await library.with_model(endpoint).ask(CAPTAIN_OF)
    assert reply.answer == "Ottoline Brask was the captain. [source 1]"
    assert reply.citations[0].quote == "Marigold was Ottoline Brask"


async def test_a_list_is_read_from_every_document_of_the_kind_and_kept(library: Library, endpoint: Endpoint) -> None:
    endpoint.otherwise = reader({RECEIPTS: TIRES_PLAN, SPENT: SPENT_PLAN})
    async with library.with_model(endpoint).open() as services:
        listed = await asked_of(services, RECEIPTS)
        assert (listed.count, listed.ledger.matched, listed.ledger.no_match) == (55, 55, 5)  # type: ignore[union-attr]
        first = sum(READING in prompt for prompt in prompts(endpoint))
        assert 0 < first < 20, "short documents are read several at once"
        again = await asked_of(services, RECEIPTS)
        assert again.count == 55
        assert sum(READING in prompt for prompt in prompts(endpoint)) == first, "what was read is not read again"
        spent = await asked_of(services, SPENT)
        (table,) = [table for table in await services.tables() if table.name == "receipts"]
        names = [field.name for field in (await services.table(table.id)).fields]
    assert names == ["Document", "Title", "Item", "Total", "Date"]
    total = sum(80 + number for number in range(1, LATE + 1))
    assert f"{total:,} EUR" in spent.answer
    assert spent.completeness == "incomplete"
    assert "1 of 60 could not be decided" in spent.reason


async def test_a_model_says_what_new_documents_are_when_they_are_added(
    library: Library, endpoint: Endpoint, tmp_path: Path
) -> None:
    endpoint.otherwise = reader({})
    notes = [tmp_path / f"bell{number}.txt" for number in range(21)]
    for number, note in enumerate(notes):
        note.write_text(f"RECEIPT No. {number}\nBell Tower\nTotal: EUR 4.00\n")
    async with library.with_model(endpoint).open() as services:
        await set_kind(services, ["pump.md"], "data sheet")
        added = await add_documents(services, notes, workers=1)
        assert (added.classified, len(endpoint.asked)) == (21 + 2, 2), "twenty in a call, and none that a person named"
        kinds = {each.name: (each.kind, each.kind_by) for each in await services.store.documents.all(readable=True)}
        assert kinds["bell7.txt"] == ("receipt", "model")
        assert kinds["pump.md"] == ("data sheet", "person")
        assert (await add_documents(services, notes, workers=1)).classified == 0


async def test_documents_are_added_although_the_model_cannot_be_reached(
    library: Library, endpoint: Endpoint, tmp_path: Path
) -> None:
    endpoint.otherwise = refusal(401, "wrong key")
    note = tmp_path / "bell.txt"
    note.write_text("RECEIPT No. 77\nBell Tower\nTotal: EUR 4.00\n")
    async with library.with_model(endpoint).open() as services:
        added = await add_documents(services, [note], workers=1)
    assert (added.added, added.classified) == (1, 0)


async def test_only_a_document_that_changed_is_read_again(library: Library, endpoint: Endpoint) -> None:
    endpoint.otherwise = reader({RECEIPTS: TIRES_PLAN})
    async with library.with_model(endpoint).open() as services:
        await asked_of(services, RECEIPTS)
        before = len(endpoint.asked)
        path = library.folder / "receipts/r001.txt"
        path.write_text(path.read_text().replace("winter tire 205/55 R16", "brass bell"))
        await add_documents(services, [path], workers=1)
        assert (await asked_of(services, RECEIPTS)).count == 54
    read = [prompt for prompt in prompts(endpoint)[before:] if READING in prompt]
    assert len(read) == 1
    assert "brass bell" in read[0]


async def test_what_was_read_before_a_document_changed_decides_nothing(library: Library, endpoint: Endpoint) -> None:
    endpoint.otherwise = reader({RECEIPTS: TIRES_PLAN})
    async with library.with_model(endpoint).open() as services:
        await asked_of(services, RECEIPTS)
        path = library.folder / "receipts/r002.txt"
        path.write_text(path.read_text().replace("winter tire 205/55 R16", "brass bell"))
        await add_documents(services, [path], workers=1)
        reply = await look_up(services, make_lookup_form("kind = receipt and item contains tire"))
        (group,) = [each for each in await list_groups(services) if each.name == "receipt"]
        stale = [(cell.field, cell.row_id) for cell in await services.store.log.stale(group.table_id)]
    (item,) = [each for each in group.columns if each.name == "Item"]
    assert str(item) == "Item (59, 1 stale)"
    assert stale == [("Item", 2), ("Total", 2)]
    assert (reply.count, reply.completeness) == (54, "incomplete")
    assert reply.ledger is not None
    assert reply.ledger.undecided == (("r002", "Item was read before the document changed"),)


async def test_a_sum_is_said_in_the_words_of_the_plan_and_a_made_up_figure_is_not(
    library: Library, endpoint: Endpoint
) -> None:
    wie_viel, erfunden = "Was kosteten die Reifen 2024?", "Und was noch?"
    german = {**SPENT_PLAN, "question": wie_viel, "sentence": "{count} Belege von 2024 kosteten zusammen {figure}."}
    german |= {"language": "de"}
    invented = {**german, "sentence": "{count} Belege kosteten {figure}, 19 % davon Steuer."}
    endpoint.otherwise = reader({wie_viel: german, erfunden: invented})
    async with library.with_model(endpoint).open() as services:
        reply = await asked_of(services, wie_viel)
        plain = (await asked_of(services, erfunden)).answer
    total = sum(80 + number for number in range(1, LATE + 1))
    said, undecided = reply.answer.splitlines()
    assert said == f"{LATE} Belege von 2024 kosteten zusammen {localize_figure(f'{total:,}', 'de')} EUR."
    assert undecided == "Nicht entschieden: undated (Date ist nicht angegeben)."
    assert reply.ledger is not None
    assert reply.ledger.text(reply.language) == (
        f"{LATE} von 60 passen (receipts); 1 unentschieden; 1 Dokument ließ sich nicht lesen"
    )
    assert "1 von 60 ließen sich nicht entscheiden" in reply.reason
    assert plain.startswith("Die Summe von")


async def test_kinds_that_a_question_names_are_searched_first_and_the_reply_says_that_it_went_on(
    library: Library, endpoint: Endpoint
) -> None:
    asked = "What do the receipts say about the captain?"
    limited = plan(asked, queries=["captain of the schooner"], of=["receipt"])
    endpoint.otherwise = reader({asked: limited}, who_the_captain_was)
    reply = await library.with_model(endpoint).ask(asked)
    assert "Ottoline Brask" in reply.answer
    assert reply.relaxed == ("Searched in all documents, not only in receipts.",)
    assert reply.attempts[0].asked.endswith("in receipts")


async def test_a_document_that_the_plan_names_is_searched_alone(library: Library, endpoint: Endpoint) -> None:
    asked = "Who was the captain, according to the story?"
    async with library.with_model(endpoint).open() as services:
        story = next(each for each in await services.store.documents.all() if each.name == "story.txt")
        limited = plan(asked, queries=["captain of the schooner"], of=[story.name])
        endpoint.otherwise = reader({asked: limited}, who_the_captain_was)
        reply = await asked_of(services, asked)
    assert reply.relaxed == ()
    assert reply.attempts[0].asked.endswith(f"in {story.name}")
    assert {cited.document_id for cited in reply.citations} == {story.id}


async def test_documents_that_contradict_each_other_are_shown_as_that(
    library: Library, endpoint: Endpoint, tmp_path: Path
) -> None:
    asked, claim = "What is the pressure of the pump P9?", "The data sheet says 6 bar, the label says 8 bar."
    label = tmp_path / "label.txt"
    label.write_text("Label of the pump P9\n\nPump pressure: 8 bar\n")

    def composed(prompt: str) -> Any:
        held = {quote: number for number, text in blocks(prompt) for quote in PRESSURES if quote in text and number}
        quotes = [{"passage": number, "quote": quote} for quote, number in held.items()]
        said = {"statement": claim, "quotes": quotes, "calculations": [], "contradiction": True}
        return {"statements": [said], "answered": "yes", "missing": "", "queries": [], "ask": ""}

    endpoint.otherwise = reader({}, composed)
    async with library.with_model(endpoint).open() as services:
        await add_documents(services, [label], workers=1)
        reply = await asked_of(services, asked)
    assert reply.contradictions == (claim,)
    assert {cited.quote for cited in reply.citations} == set(PRESSURES)


PRESSURES = ("Pump pressure: 6 bar", "Pump pressure: 8 bar")


async def test_a_refusal_says_what_was_searched_for_and_asks_for_what_would_help(
    library: Library, endpoint: Endpoint
) -> None:
    endpoint.otherwise = reader({})
    reply = await library.with_model(endpoint).ask(CAPTAIN_OF)
    assert reply.clarification.startswith(f"Searched for: {CAPTAIN_OF} (")
    assert reply.clarification.endswith("Which ship is meant?")


async def test_before_very_many_documents_are_sorted_the_person_is_asked(
    library: Library, endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ask, "AT_INGEST", 1)
    agreed = plan("yes, do", action="go on")
    endpoint.otherwise = reader({RECEIPTS: TIRES_PLAN, TIRES_PLAN["question"]: TIRES_PLAN, "yes, do": agreed})
    async with library.with_model(endpoint).open() as services:
        asked = await asked_of(services, RECEIPTS)
        assert "3 documents must first be sorted by kind: about 1 model call," in asked.clarification
        assert len(endpoint.asked) == 1, "only the plan"
        sorted_ = await asked_of(services, "yes, do", asked.conversation)
        assert sorted_.count == 55, "who agrees to the whole is not asked again"
        assert sum(CLASSIFYING in prompt for prompt in prompts(endpoint)) == 1


async def test_two_questions_at_once_fill_one_table_of_a_kind(library: Library, endpoint: Endpoint) -> None:
    endpoint.otherwise = reader({RECEIPTS: TIRES_PLAN, SPENT: SPENT_PLAN})
    async with library.with_model(endpoint).open() as services:
        await asyncio.gather(asked_of(services, RECEIPTS), asked_of(services, SPENT))
        (table,) = await services.tables()
        names = {field.name for field in (await services.table(table.id)).fields}
    assert names == {"Document", "Title", "Item", "Total", "Date"}


async def test_before_many_documents_are_read_the_person_is_asked(library: Library, endpoint: Endpoint) -> None:
    endpoint.otherwise = reader({RECEIPTS: TIRES_PLAN, "yes, do": plan("yes, do", action="go on")})
    library = library.with_model(endpoint)
    library.settings = replace(library.settings, documents_unasked="20")
    async with library.open() as services:
        asked = await asked_of(services, RECEIPTS)
        assert "60 documents must be read for Item, Total: about" in asked.clarification
        assert not any(READING in prompt for prompt in prompts(endpoint))
        assert (await asked_of(services, "yes, do", asked.conversation)).count == 55
        (run,) = [each for each in await services.jobs.all() if each.kind == "enrich"]
        assert (run.status, run.usage.input_tokens > 0) == ("done", True)
        assert not run.owner.endswith(UNREGISTERED_SUFFIX), "others can watch, stop and resume it"


@pytest.mark.parametrize("words", [0, 3_000])
async def test_an_estimate_is_made_of_the_real_lengths_of_the_documents(
    empty: Library, endpoint: Endpoint, words: int
) -> None:
    asked = "What did we pay in total?"
    total = column("Total", "money", "What is the total?")
    planned = plan(asked, action="table", of=["receipt"], columns=[total], aggregate="sum", aggregate_column="Total")
    endpoint.otherwise = reader({asked: planned})
    papers = empty.folder / "papers"
    papers.mkdir()
    for number in range(1, 31):
        text = f"RECEIPT No. {number}\nCorner Garage\n\n{'and so on, ' * words}\n\nTotal: EUR 9.00\n"
        (papers / f"r{number}.txt").write_text(text)
    library = empty.with_model(endpoint)
    library.settings = replace(library.settings, documents_unasked="5")
    async with library.open() as services:
        await add_documents(services, [papers], kind="receipt")
        waiting = await asked_of(services, asked)
        found = re.search(r"([\d,]+) to ([\d,]+) tokens", waiting.clarification)
        assert found, waiting.clarification
        low, high = (int(each.replace(",", "")) for each in found.groups())
        agreed = AskDocuments(question=asked, conversation=waiting.conversation, agreed=True)
        assert (await ask_documents(services, agreed)).count == 30
    sent = [json.dumps(each.body) for each in endpoint.asked if READING in sent_to(each)]
    tokens = 0.8 * sum(map(estimate_tokens, sent))
    assert tokens / 2 <= (low + high) / 2 <= 2 * tokens


async def test_a_long_reading_that_is_stopped_keeps_what_was_read(library: Library, endpoint: Endpoint) -> None:
    read = reader({RECEIPTS: TIRES_PLAN})
    reading, stopped = asyncio.Event(), asyncio.Event()

    async def slow_after_ten(asked: Asked) -> Sent:
        if READING in sent_to(asked) and sum(READING in prompt for prompt in prompts(endpoint)) > 10:
            reading.set()
            await stopped.wait()
        return read(asked)

    endpoint.otherwise = slow_after_ten
    library = library.with_model(endpoint)
    library.settings = replace(library.settings, documents_unasked="20", concurrency="1")
    async with library.open() as services:
        asking = asyncio.create_task(ask_documents(services, AskDocuments(question=RECEIPTS, agreed=True)))
        await reading.wait()
        (run,) = [each for each in await services.jobs.all() if each.kind == "enrich"]
        await services.jobs.cancel(run.id)
        stopped.set()
        reply = await asking
        assert (await services.jobs.get(run.id)).status == "cancelled"
        assert reply.completeness == "incomplete"
        assert 0 < (reply.count or 0) < 55
        endpoint.otherwise = read
        before = len(endpoint.asked)
        assert (await ask_documents(services, AskDocuments(question=RECEIPTS, agreed=True))).count == 55
        again = sum(READING in prompt for prompt in prompts(endpoint)[before:])
        assert again < 60, "what was read before is not read again"


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
    assert reply.answer == "Twice the pressure is 12 bar. (calculated: 6 * 2) [source 1]"
    assert reply.citations[0].quote == "Pump pressure: 6 bar"


async def test_what_is_missing_is_searched_for_in_other_words(library: Library, endpoint: Endpoint) -> None:
    first = "Which officer commanded the sailing vessel?"

    def composed(prompt: str) -> Any:
        if "captain of the schooner" in prompt.partition("Searched for so far")[2]:
            return who_the_captain_was(prompt)
        return {**nothing(), "queries": ["captain of the schooner"]}

    receipts = plan(first, queries=["receipt of the Corner Garage, winter tire"])
    endpoint.otherwise = reader({first: receipts}, composed)
    reply = await library.with_model(endpoint).ask(first)
    assert "Ottoline Brask" in reply.answer
    assert len([tried for tried in reply.attempts if tried.tool.startswith("search")]) == 2


async def test_a_search_that_finds_nothing_new_is_not_read_again(empty: Library, endpoint: Endpoint) -> None:
    pump = empty.folder / "pump.md"
    pump.write_text("# Pump P9\n\nPump pressure: 6 bar\n")
    endpoint.otherwise = reader({}, lambda prompt: {**nothing(), "queries": ["pump pressure", "bar"]})
    async with empty.with_model(endpoint).open() as services:
        await add_documents(services, [pump], workers=1)
        reply = await asked_of(services, "How heavy is the pump P9?")
    assert sum(COMPOSING in prompt for prompt in prompts(endpoint)) == 1
    assert [(tried.matches, tried.note) for tried in reply.attempts] == [(1, ""), (0, "0 new")]
    assert reply.reason == "the document was read whole"


@pytest.mark.parametrize("said", [{"unexpected": True}, "certainly! [source 1]", []], ids=["keys", "prose", "list"])
async def test_a_model_that_answers_nonsense_is_said_to_have_been_left_out(
    library: Library, endpoint: Endpoint, said: Any
) -> None:
    endpoint.otherwise = answer(said)
    reply = await library.with_model(endpoint).ask(CAPTAIN_OF)
    assert reply.degraded
    assert "certainly" not in reply.answer
    assert (reply.route, reply.completeness) == ("passages", "incomplete")


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


async def test_a_model_adds_only_facts_that_stand_in_the_text(library: Library, endpoint: Endpoint) -> None:
    point = {"label": "Bleeding point", "value": "upper valve", "quote": "is bled through the upper valve"}
    price = {"label": "Price", "value": "900 EUR", "quote": "It costs 900 EUR"}
    endpoint.otherwise = answer({"facts": [point, price]})
    async with library.with_model(endpoint).open() as services:
        request = AnnotateDocuments(documents=("pump.md",))
        assert (await annotate_documents(services, request)).facts == 1
        assert (await annotate_documents(services, request)).facts == 0
        facts = (await list_facts(services, ListFacts(document="pump.md"))).facts
    (added,) = [fact for fact in facts if fact.by == "model"]
    assert (added.label, added.value) == ("Bleeding point", "upper valve")
    assert "bled through the upper valve" in added.quote
    assert any(fact.label == "Pump pressure" for fact in facts)
    assert all("upper valve" not in outside_blocks(prompt) for prompt in prompts(endpoint))


async def test_where_nothing_matches_the_texts_of_all_documents_are_read_too(
    library: Library, endpoint: Endpoint
) -> None:
    sailed, dear = "Which receipts name a captain?", "Which receipts are over 5000 EUR?"
    over = {"action": "table", "of": ["receipt"], "columns": [TOTAL], "queries": ["captain of the schooner"]}
    over |= {"conditions": [condition("Total", ">", "5000 EUR")]}
    plans = {asked: plan(asked, **over) for asked in (sailed, dear)}

    def composed(prompt: str) -> Any:
        return who_the_captain_was(prompt) if sailed in prompt else nothing()

    endpoint.otherwise = reader(plans, composed)
    async with library.with_model(endpoint).open() as services:
        await remove_documents(services, ["broken.pdf"])
        found = await asked_of(services, sailed)
        empty = await asked_of(services, dear)
    assert found.answer == "No receipts match.\nOttoline Brask was the captain. [source 1]"
    assert (found.count, found.completeness) == (0, "approximate")
    assert found.reason.startswith("besides the lookup, the best passages were read, not all")
    assert found.relaxed == ("Without “Total > 5000 EUR” 60 would match.",)
    assert (empty.answer, empty.completeness, empty.reason) == ("No receipts match.", "exact", "")
    assert "Total > 5000 EUR: matched 0 of 60 receipts" in prompts(endpoint)[-1]


async def test_what_the_columns_do_not_tell_is_searched_for_in_texts_and_that_is_said(
    library: Library, endpoint: Endpoint
) -> None:
    asked = "Which notes were sold for more than 3 EUR?"
    sold = plan(
        asked, action="table", of=["note"], columns=[TOTAL], conditions=[condition("Total", ">", "3 EUR")],
        queries=["captain of the schooner"],
    )  # fmt: skip

    def reply_of(sent: Asked) -> Sent:
        prompt = sent_to(sent).replace("\\n", "\n")
        if READING in prompt:
            rows = len(blocks(prompt)) if "=== ROW 1" in prompt else 0
            return answer({f"row {n}": {"Total": []} for n in range(1, rows + 1)} if rows else {"Total": []})
        return reader({asked: sold}, who_the_captain_was)(sent)

    endpoint.otherwise = reply_of
    reply = await library.with_model(endpoint).ask(asked)
    assert reply.relaxed == ("The columns that were looked up do not tell, so the texts were searched.",)
    assert "Ottoline Brask" in reply.answer


async def test_rows_of_tables_are_looked_up_with_what_their_documents_say(
    empty: Library, endpoint: Endpoint, tmp_path: Path
) -> None:
    sheet = (
        "RECEIPT No. {no}\nCorner Garage\nDate: {day}\n\n| Part | Pieces |\n|---|---|\n| bolt | {n} |\n| nut | 7 |\n"
    )
    for no, day, n in ((1, "2024-03-01", 10), (2, "2025-05-01", 20)):
        (tmp_path / f"r{no}.md").write_text(sheet.format(no=no, day=day, n=n))
    asked = "How many bolts were bought in 2025?"
    planned = plan(
        asked, action="table", of=["T1"],
        columns=[column("Part", "text", ""), column("Pieces", "number", ""), column("Date", "date", "When was that?")],
        conditions=[condition("Part", "=", "bolt"), condition("Date", "=", "2025")],
        aggregate="sum", aggregate_column="Pieces", queries=[asked], sentence="{figure} bolts were bought in 2025.",
    )  # fmt: skip
    endpoint.otherwise = reader({asked: planned})
    async with empty.with_model(endpoint).open() as services:
        await add_documents(services, [tmp_path / "r1.md", tmp_path / "r2.md"], workers=1)
        reply = await asked_of(services, asked)
        (group,) = [each for each in await list_groups(services) if each.name == "receipt"]
    assert reply.answer == "20 bolts were bought in 2025."
    assert [row.values for row in reply.rows] == [("bolt", "2025-05-01", "20")]
    assert (reply.completeness, str(reply.ledger)) == ("exact", "matched 1 of 4 rows")
    assert "Date: 2025-05-01" in reply.citations[0].quote
    assert "Date (2)" in map(str, group.columns)


async def test_a_lookup_stands_although_the_model_fails_to_read_the_texts_beside_it(
    library: Library, endpoint: Endpoint
) -> None:
    dear = "Which receipts are over 5000 EUR?"
    over = plan(
        dear, action="table", of=["receipt"], columns=[TOTAL], conditions=[condition("Total", ">", "5000 EUR")],
        queries=[dear],
    )  # fmt: skip
    endpoint.otherwise = reader({dear: over}, lambda prompt: {"nonsense": 1})
    reply = await library.with_model(endpoint).ask(dear)
    assert (reply.count, reply.answer) == (0, "No receipts match.")
    assert "other documents were not searched for it" in reply.reason


async def test_rows_that_are_compared_are_kept_out_by_meaning_not_by_spelling(
    library: Library, endpoint: Endpoint
) -> None:
    asked = "Which tires of the Corner Garage were bought twice?"
    item = column("Item", "text", "What was bought?")
    of = plan(
        asked, action="table", of=["receipt"], columns=[item], conditions=[condition("Item", "=", "rubber ring")],
        compare=True,
    )  # fmt: skip

    def reply_of(sent: Asked) -> Sent:
        prompt = sent_to(sent).replace("\\n", "\n")
        if GROUPING in prompt:
            values = re.findall(r"^\[(\d+)\] (.+)$", prompt, flags=re.MULTILINE)
            meant = [int(number) for number, value in values if "tire" in value]
            return answer({"groups": [{"name": "rubber ring", "numbers": meant}]})
        if CONCLUDING in prompt:
            said = [{"statement": "All of them.", "rows": [1], "calculations": []}]
            return answer({"statements": said, "listed": [1], "unsure": [], "missing": ""})
        return reader({asked: of})(sent)

    endpoint.otherwise = reply_of
    reply = await library.with_model(endpoint).ask(asked)
    (shown,) = [prompt for prompt in prompts(endpoint) if CONCLUDING in prompt]
    assert "tire" in shown.partition("rows>>")[2]
    assert reply.answer == "All of them. [source 1]"
    assert reply.attempts[-1].note == "compared by the model"


async def test_a_statement_over_many_rows_says_how_many_of_its_sources_are_shown(
    library: Library, endpoint: Endpoint
) -> None:
    asked = "Which tires were bought most often?"
    of = plan(asked, action="table", of=["receipt"], columns=[column("Item", "text", "What was bought?")], compare=True)

    def reply_of(sent: Asked) -> Sent:
        if CONCLUDING in sent_to(sent):
            said = [{"statement": "Winter tires were.", "rows": list(range(1, 11)), "calculations": []}]
            return answer({"statements": said, "listed": [], "unsure": [], "missing": ""})
        return reader({asked: of})(sent)

    endpoint.otherwise = reply_of
    reply = await library.with_model(endpoint).ask(asked)
    assert reply.answer.endswith("[source 6] (6 of 10 sources shown)")


async def test_a_further_search_shows_what_was_quoted_and_what_is_new(library: Library, endpoint: Endpoint) -> None:
    asked = "How is the pump P9 bled, and what was bought for the garden?"
    bled = stating("Through the upper valve.", "bled through the upper valve")
    more = iter(({"answered": "partly", "missing": "the garden", "queries": ["garden hose"]}, {}))
    planned = plan(asked, queries=["pump bled upper valve"])
    endpoint.otherwise = reader({asked: planned}, lambda prompt: bled(prompt) | next(more))
    reply = await library.with_model(endpoint).ask(asked)
    first, then = [prompt for prompt in prompts(endpoint) if COMPOSING in prompt]
    assert "garden hose" in then
    assert "upper valve" in then
    others = [text for number, text in blocks(first) if number and "upper valve" not in text]
    assert others
    assert [text for text in others if text in then] == []
    assert len(reply.attempts) == 2


async def test_the_named_documents_are_searched_again_before_all_others(library: Library, endpoint: Endpoint) -> None:
    asked = "Who was the captain of the ship?"
    more = iter((["upper valve of the pump"], ["type of the pump"], []))
    planned = plan(asked, queries=["pump pressure"], of=["pump.md"])
    endpoint.otherwise = reader({asked: planned}, lambda _: {**nothing(), "queries": next(more)})
    reply = await library.with_model(endpoint).ask(asked)
    assert [" in pump.md" in tried.asked for tried in reply.attempts] == [True, True, False]


async def test_names_of_a_follow_up_are_not_compared_again(library: Library, endpoint: Endpoint) -> None:
    item = column("Item", "text", "What was bought?")
    tires = {"action": "table", "of": ["receipt"], "columns": [item]}
    tires |= {"conditions": [condition("Item", "contains", "tires")]}
    first, then = "Which receipts are for tires?", "How many is that?"
    endpoint.otherwise = reader({first: plan(first, **tires), then: plan("How many?", **tires, aggregate="count")})
    async with library.with_model(endpoint).open() as services:
        await asked_of(services, first)
        before = len(prompts(endpoint))
        await asked_of(services, then)
    assert [PLANNING in prompt for prompt in prompts(endpoint)[before:]] == [True]


async def test_where_nothing_matches_texts_are_read_only_if_the_plan_expects_something_there(
    library: Library, endpoint: Endpoint
) -> None:
    dear = "Which receipts are over 5000 EUR?"
    over = plan(dear, action="table", of=["receipt"], columns=[TOTAL], conditions=[condition("Total", ">", "5000 EUR")])
    endpoint.otherwise = reader({dear: over})
    reply = await library.with_model(endpoint).ask(dear)
    assert (reply.count, reply.answer) == (0, "No receipts match.")
    assert not any(COMPOSING in prompt for prompt in prompts(endpoint))


async def test_our_own_lines_are_in_the_language_of_the_question_and_translated_once(
    library: Library, endpoint: Endpoint
) -> None:
    wished, second = "Zorp?", "Zarp?"
    plans = {asked: plan(asked, queries=[asked], language="zy") for asked in (wished, second)}

    def reply_of(sent: Asked) -> Sent:
        prompt = sent_to(sent).replace("\\n", "\n")
        if TRANSLATING in prompt:
            lines = re.findall(r"^\d+\. (.+)$", prompt.replace('\\"', '"').rstrip('"'), flags=re.MULTILINE)
            return answer({"lines": ["|".join(f"zy {form}" for form in line.split("|")) for line in lines]})
        return reader(plans)(sent)

    endpoint.otherwise = reply_of
    async with library.with_model(endpoint).open() as services:
        first = await asked_of(services, wished)
        await asked_of(services, second)
    assert first.answer == "zy The documents do not say.\nzy Missing: it is not told"
    assert sum(TRANSLATING in prompt for prompt in prompts(endpoint)) == 1


@pytest.mark.parametrize(
    ("language", "said"),
    [
        ("fr", "1\u202f577,20"),
        ("es-MX", "1.577,20"),
        ("de", "1.577,20"),
        ("hr", "1.577,20"),
        ("ja", "1,577.20"),
        ("", "1,577.20"),
    ],
)
def test_figures_are_written_as_the_language_writes_them(language: str, said: str) -> None:
    assert localize_figure("1,577.20", language) == said
