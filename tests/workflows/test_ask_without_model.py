"""Questions without a model: a form where every word is known, passages where not, and never more than is known."""

from __future__ import annotations

import asyncio
import csv
from dataclasses import replace
from pathlib import Path

import pytest

from tablewright.domain.documents import Aggregate
from tablewright.domain.reply import Reply, make_lookup_form
from tablewright.errors import NotFound, UsageError
from tests.operating import (
    add_documents,
    ask,
    export_result,
    get_conversation,
    list_conversations,
    list_groups,
    look_up,
    more_rows,
    remove_documents,
    set_kind,
)
from tests.workflows.asking import BLED, CAPTAIN_OF, RECEIPTS, UNANSWERED
from tests.workflows.conftest import CAPTAIN, LATE, ORDERS, OTHERS, TIRES, UNDATED, Library, asked_of, check


async def test_of_a_long_passage_the_sentence_that_answers_is_highlighted(library: Library) -> None:
    reply = await library.ask(CAPTAIN_OF)
    assert (reply.citations[0].highlight, len(reply.citations[0].quote) > 1_000) == (CAPTAIN, True)


async def test_rows_are_looked_up_with_what_their_documents_say_and_by_category_without_a_model(
    empty: Library,
) -> None:
    papers = empty.folder / "papers"
    papers.mkdir()
    sheet = "Slip {no}\n\nDate: {day}\nClerk: {clerk}\n\n| Part | Pieces |\n|---|---|\n| bolt | {n} |\n| nut | 7 |\n"
    for no, day, clerk, n in ((1, "2024-03-01", "Ida", 10), (2, "2025-05-01", "Ida", 20), (3, "2025-06-01", "Jon", 30)):
        (papers / f"s{no}.md").write_text(sheet.format(no=no, day=day, clerk=clerk, n=n))
    (papers / "essay.txt").write_text("On walking\n\n" + "One foot is put before the other. " * 60)
    async with empty.open() as services:
        await add_documents(services, [papers])
        bolts = await look_up(
            services, make_lookup_form("table = T1 and Part = bolt and Date in 2025", "sum", "Pieces")
        )
        assert "50" in bolts.answer
        assert (bolts.count, str(bolts.ledger)) == (2, "matched 2 of 6 rows")
        by = await look_up(services, make_lookup_form("table = T1 and Part = bolt", "sum", "Pieces", by="Clerk"))
        assert "Ida: The sum of Pieces of 2 rows is 30." in by.answer
        text = await look_up(services, make_lookup_form("category = text-heavy"))
        assert ([row.title for row in text.rows], text.completeness) == (["essay"], "exact")
        assert (await look_up(services, make_lookup_form("category != text-heavy"))).count == 3
        (group,) = [
            each for each in await list_groups(services) if any(column.name == "Clerk" for column in each.columns)
        ]
        assert "category" in {column.name for column in group.columns}


async def test_a_column_is_found_by_a_longer_or_shorter_label_which_the_answer_names(empty: Library) -> None:
    sheet = empty.folder / "staff.csv"
    sheet.write_text("Name,Qty,Bonus 2024 (EUR),Bonus 2023 (EUR)\nAnn,3,100,90\nBo,9,250,80\nCy,5,300,70\n")
    async with empty.open() as services:
        await add_documents(services, [sheet], kind="staff list")
        paid = await look_up(services, make_lookup_form("table = T1 and bonus 2024 > 200"))
        assert (paid.count, paid.columns[0], paid.completeness) == (2, "Bonus 2024 (EUR)", "approximate")
        assert "“bonus 2024” was taken for Bonus 2024 (EUR)" in paid.reason
        assert (await look_up(services, make_lookup_form("table = T1 and quantity > 4"))).count == 2
        with pytest.raises(UsageError, match="No row states 'bonus'"):
            await look_up(services, make_lookup_form("table = T1 and bonus > 200"))


async def test_where_nothing_matches_the_reply_says_what_was_tried_and_which_values_there_are(library: Library) -> None:
    async with library.open() as services:
        dear = await look_up(services, make_lookup_form("kind = receipt and Total > 5000 EUR"))
        assert dear.answer == "No receipts match."
        assert "receipt: Total > 5000 EUR (0)" in dear.clarification
        assert "Total is known from EUR 81.00 to EUR 980.00." in dear.clarification
        assert (await look_up(services, make_lookup_form("kind = receipt and Total > 90 EUR"))).clarification == ""


async def test_how_much_an_answer_shows_is_a_setting(library: Library) -> None:
    library.settings = replace(library.settings, answer_rows="7", answer_passages="2")
    reply = await library.ask(RECEIPTS)
    assert (len(reply.rows), reply.more, reply.count) == (7, 48, 55)
    assert len((await library.ask(RECEIPTS, "show the rest")).rows) == 7
    assert (await library.ask("garage and pump")).attempts[0].threshold == "top 2"


async def test_passages_are_kept_so_that_the_rest_can_be_shown_and_all_exported(
    library: Library, tmp_path: Path
) -> None:
    library.settings = replace(library.settings, answer_passages="3")
    async with library.open() as services:
        first = await asked_of(services, "winter tires from the garage, please?")
        assert (first.route, len(first.citations), first.more > 0) == ("passages", 3, True)
        rest = await asked_of(services, "show the rest", first.conversation)
        assert (len(rest.rows), rest.columns) == (first.more, ("passage",))
        assert {each.document_id for each in rest.rows}.isdisjoint(each.document_id for each in first.citations)
        await export_result(services, first.result_id, tmp_path / "passages.csv")
    rows = list(csv.reader((tmp_path / "passages.csv").read_text().splitlines()))
    assert len([row for row in rows if row and row[0].startswith("r0")]) == 3 + first.more


async def test_a_value_that_one_column_alone_states_is_a_condition_and_the_answer_says_so(empty: Library) -> None:
    papers = empty.folder / "papers"
    papers.mkdir()
    for number, (buyer, seller, status) in enumerate((("Kolb", "Arn", "unpaid"), ("Arn", "Kolb", "paid")) * 3):
        text = f"Buyer: {buyer}\nSeller: {seller}\nStatus: {status}\nClerk: Ida Holm\n\n{number} bars of soap.\n"
        (papers / f"b{number}.txt").write_text(text)
    async with empty.open() as services:
        await add_documents(services, [papers], kind="bill")
        unpaid = await asked_of(services, "How many bills are unpaid?")
        assert (unpaid.count, str(unpaid.form)) == (3, "kind = bill and Status = unpaid; count")
        assert (unpaid.completeness, "“unpaid” was taken for" in unpaid.reason) == ("approximate", True)
        assert (await asked_of(services, "bills of Ida Holm")).count == 6
        ambiguous = await asked_of(services, "bills of Kolb")
        assert (ambiguous.not_understood, ambiguous.count) == (("Kolb",), None)
        negated = await asked_of(services, "Which bills are not unpaid?")
        assert (negated.not_understood, negated.count) == (("not",), None)
        assert {cited.highlight for cited in negated.citations[:3]} == {"Status: unpaid"}


# ── every word understood: a form ────────────────────────────────────────────────────────────────────────────────────


async def test_a_list_has_all_that_match_and_its_ledger_says_what_could_not_be_read(library: Library) -> None:
    reply = await library.ask(RECEIPTS)
    assert f"{TIRES + UNDATED} receipts match" in reply.answer
    assert str(reply.form) == "kind = receipt and text contains tires"
    ledger = reply.ledger
    assert ledger is not None
    assert (ledger.total, ledger.no_match, ledger.not_stated, ledger.unreadable) == (61, OTHERS, 0, 1)
    assert str(ledger) == "matched 55 of 60 receipts; 1 document could not be read"
    assert reply.completeness == "incomplete"
    assert "could not be read" in reply.reason
    assert len(reply.rows) == 50
    assert all("tire" in cited.quote for cited in reply.citations)


async def test_a_sum_is_of_all_things_and_names_its_unit(library: Library) -> None:
    reply = await library.ask("What is the sum of the total of all receipts?")
    total = sum(80 + number for number in range(1, TIRES + OTHERS + 1)) + 980
    assert f"{total:,} EUR" in reply.answer
    assert str(reply.form) == "kind = receipt; sum of Total"


async def test_a_limit_is_compared_as_a_number(library: Library) -> None:
    reply = await library.ask("which receipts have a total above 138 EUR?")
    assert sorted(row.title for row in reply.rows) == ["r059", "undated"]
    assert {row.values for row in reply.rows} == {("EUR 139.00",), ("EUR 980.00",)}


async def test_what_nobody_said_about_kinds_is_never_called_exact(library: Library) -> None:
    async with library.open() as services:
        await remove_documents(services, ["broken.pdf"])
        unsure = await asked_of(services, "how many receipts are there?")
        assert (unsure.count, unsure.completeness) == (60, "approximate")
        assert "the kind of 3 of 63 documents is not confirmed" in unsure.reason
        await set_kind(services, [each.name for each in await services.store.documents.all()], "paper")
        sure = await asked_of(services, "how many papers are there?")
    assert (sure.count, sure.completeness) == (63, "exact")


# ── a word not understood: passages ──────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("question", "left"),
    [
        ("which receipts are still unpaid?", ("still", "unpaid")),
        ("receipts with a total not above 138 EUR", ("not",)),
        ("receipts in March", ("March",)),
        ("the largest receipt", ("largest",)),
        ("receipts or notes with a total above 5", ("or", "notes")),
    ],
)
async def test_a_word_that_is_not_understood_is_named_and_nothing_is_counted(
    library: Library, question: str, left: tuple[str, ...]
) -> None:
    reply = await library.ask(question)
    assert set(left) <= set(reply.not_understood)
    assert (reply.count, reply.rows, reply.route, reply.completeness) == (None, (), "passages", "incomplete")
    assert all(f"“{word}”" in reply.answer for word in left)


async def test_passages_stand_where_they_say_and_are_called_passages(library: Library) -> None:
    reply = await library.ask(BLED)
    assert "1 passage matches the question's words." in reply.answer
    assert any("upper valve" in cited.quote and Path(cited.path).name == "pump.md" for cited in reply.citations)


async def test_where_no_passage_has_its_words_nothing_is_shown(library: Library) -> None:
    reply = await library.ask(UNANSWERED)
    assert reply.citations == ()
    assert reply.answer == "Without a model this cannot be answered. No passage matches the question's words."


async def test_a_passage_that_gives_orders_is_not_shown(library: Library) -> None:
    reply = await library.ask("What is the pump pressure?")
    assert not any(ORDERS in cited.quote for cited in reply.citations)


@pytest.mark.parametrize("text", ["?", "%", "\0", "receipts " * 400, "\u202e🛞", "'; drop table documents; --", '"'])
async def test_odd_questions_get_an_answer_all_the_same(library: Library, text: str) -> None:
    reply = await library.ask(text)
    assert reply.answer


async def test_without_documents_or_a_question_it_is_said_what_to_do(empty: Library) -> None:
    with pytest.raises(UsageError, match="docs add"):
        await empty.ask(RECEIPTS)
    with pytest.raises(UsageError, match="no question"):
        await empty.ask("  \n ")
    with pytest.raises(UsageError, match="17,999 characters; at most 4,000"):
        await empty.ask("receipts " * 2_000)


async def test_a_corpus_of_unreadable_files_answers_nothing_and_counts_them(empty: Library, tmp_path: Path) -> None:
    (tmp_path / "broken.pdf").write_bytes(b"%PDF-1.7 and then nothing")
    async with empty.open() as services:
        await add_documents(services, [tmp_path / "broken.pdf"], workers=1)
        reply = await asked_of(services, "how many documents are there?")
    assert reply.citations == ()
    assert reply.ledger is not None
    assert (reply.ledger.matched, reply.ledger.unreadable, reply.completeness) == (0, 1, "incomplete")


# ── the kept result ──────────────────────────────────────────────────────────────────────────────────────────────────


async def test_the_rest_is_shown_until_that_was_all(library: Library) -> None:
    async with library.open() as services:
        first = await asked_of(services, RECEIPTS)
        second = await asked_of(services, "show the rest", first.conversation)
        third = await more_rows(services, first.conversation)
    assert second.answer == "Rows 51 to 55 of 55."
    assert second.completeness == "incomplete", "the rest is as complete as the list"
    assert len({row.document_id for row in (*first.rows, *second.rows)}) == 55
    assert (third.rows, third.answer) == ((), "That was all.")
    assert second.result_id == third.result_id == first.result_id


async def test_the_kept_table_is_exported_whole_with_where_each_row_is_from(library: Library, tmp_path: Path) -> None:
    target = tmp_path / "tires.csv"
    async with library.open() as services:
        first = await asked_of(services, RECEIPTS)
        reply = await asked_of(services, f'export to "{target}"', first.conversation)
        assert (reply.export, reply.result_id, reply.count) == (str(target), first.result_id, 55)
        assert not target.exists()
        assert await export_result(services, reply.result_id, target) == 55
    rows = list(csv.DictReader(target.read_text(encoding="utf-8-sig").splitlines()))
    assert {Path(row["path"]).name for row in rows} == {f"r{n:03}.txt" for n in range(1, 55)} | {"undated.txt"}


async def test_an_answer_without_rows_exports_nothing_and_leaves_the_old_file(library: Library, tmp_path: Path) -> None:
    target = tmp_path / "old.csv"
    target.write_text("precious")
    async with library.open() as services:
        reply = await asked_of(services, UNANSWERED)
        with pytest.raises(NotFound):
            await export_result(services, reply.result_id, target)
        with pytest.raises(UsageError):
            await export_result(services, (await asked_of(services, RECEIPTS)).result_id, tmp_path / "x.docx")
    assert target.read_text() == "precious"
    assert not (tmp_path / "x.docx").exists()


async def test_a_form_goes_on_with_a_conversation_of_another_process(library: Library) -> None:
    first = await library.ask(RECEIPTS)
    async with library.open() as services:
        form = make_lookup_form("kind = receipt and text contains tires and date in 2024")
        reply = await look_up(services, form, first.conversation)
        assert (reply.count, reply.conversation) == (LATE, first.conversation)
        told = await get_conversation(services, first.conversation)
        with pytest.raises(NotFound, match="no conversation"):
            await ask(services, RECEIPTS, "c-nobody")
    assert [turn.question for turn in told.turns] == [RECEIPTS, str(form)]


async def test_show_the_rest_of_nothing_is_not_looked_for_in_the_documents(library: Library) -> None:
    reply = await library.ask("show the rest")
    assert (reply.attempts, reply.rows) == ((), ())


async def test_many_may_ask_at_once(library: Library) -> None:
    async with library.open() as services:
        replies = await asyncio.gather(*(ask(services, RECEIPTS) for _ in range(4)))
    assert {reply.count for reply in replies} == {55}
    assert len({reply.conversation for reply in replies}) == 4


# ── by conditions ───────────────────────────────────────────────────────────────────────────────────


async def looked_up(library: Library, where: str, figure: Aggregate = "", of: str = "") -> Reply:
    async with library.open() as services:
        reply = await look_up(services, make_lookup_form(where, figure, of))
        await check(services, reply)
        return reply


async def test_conditions_list_exactly_what_meets_them(library: Library) -> None:
    reply = await looked_up(library, "kind = receipt and total >= 138 EUR")
    assert [row.values for row in reply.rows] == [("EUR 138.00",), ("EUR 139.00",), ("EUR 980.00",)]
    assert str(reply.ledger) == "matched 3 of 60 receipts; 1 document could not be read"


async def test_a_sum_by_conditions_says_what_is_undecided(library: Library) -> None:
    reply = await looked_up(library, "kind = receipt and date in 2024", "sum", "total")
    assert f"{sum(80 + number for number in range(1, LATE + 1)):,} EUR" in reply.answer
    assert reply.completeness == "incomplete"
    assert "Date is not stated" in reply.reason


async def test_a_column_that_nobody_states_is_refused_with_those_that_are_known(library: Library) -> None:
    with pytest.raises(UsageError) as refused:
        await looked_up(library, "kind = receipt and colour = red")
    assert "No receipt states 'colour'" in str(refused.value)
    assert "Total" in str(refused.value)


async def test_a_column_in_other_words_is_the_first_of_those_that_are_offered(library: Library) -> None:
    with pytest.raises(UsageError, match="the nearest first: Date"):
        await looked_up(library, "kind = receipt and day = 2024-03-04")


async def test_where_nothing_matches_each_condition_says_what_it_kept_out(library: Library) -> None:
    reply = await looked_up(library, "kind = receipt and text contains tires and date in 2019")
    assert (reply.count, reply.rows, reply.citations) == (0, (), ())
    assert any("2019" in said and f"{TIRES + UNDATED} would match" in said for said in reply.relaxed)


async def test_where_nothing_matches_documents_of_other_kinds_are_looked_at(library: Library) -> None:
    reply = await looked_up(library, "kind = receipt and text contains upper valve")
    assert reply.relaxed == (
        "Without “text contains upper valve” 60 would match.",
        "Of documents that are not receipts, 1 matches: Pump P9 (pump.md).",
    )
    assert [each.note for each in reply.attempts] == ["", "wider", "wider"]


async def test_what_is_not_stated_is_neither_yes_nor_no(library: Library) -> None:
    reply = await looked_up(library, "kind = receipt and text contains tires and date in 2024")
    ledger = reply.ledger
    assert ledger is not None
    assert (reply.count, ledger.matched, ledger.not_stated) == (LATE, LATE, UNDATED)
    assert [name for name, _ in ledger.undecided] == ["undated"]
    assert reply.completeness == "incomplete"


async def test_of_a_text_only_its_words_can_be_asked(library: Library) -> None:
    with pytest.raises(UsageError, match="text contains WORDS"):
        await looked_up(library, "kind = receipt and text = tires")


async def test_a_kind_that_is_not_there_is_refused_with_those_that_are(library: Library) -> None:
    with pytest.raises(NotFound, match="receipt"):
        await looked_up(library, "kind = lease")


async def test_a_person_says_what_a_document_is_and_it_stays(library: Library) -> None:
    async with library.open() as services:
        await set_kind(services, ["pump.md"], "Data  Sheet")
        path = library.folder / "pump.md"
        path.write_text(f"{path.read_text()}\nWeight: 9 kg\n")
        await add_documents(services, [path], workers=1)
        assert "data sheet" in [each.kind for each in await services.store.documents.all()]
    reply = await looked_up(library, "kind = data sheet and weight > 8 kg")
    assert reply.count == 1


async def test_what_can_be_looked_up_is_listed(library: Library) -> None:
    async with library.open() as services:
        groups = {group.name: group for group in await list_groups(services)}
    columns = {column.name: column.known for column in groups["receipt"].columns}
    assert groups["receipt"].members == 60
    assert columns["Total"] == 60
    assert columns["Date"] == 59


async def test_a_table_is_shown_with_its_columns_and_added_up_without_its_total(empty: Library, tmp_path: Path) -> None:
    sheet = tmp_path / "hours.csv"
    sheet.write_text("Worker,Task,Hours\nBerg,Crane,7.5\nHolt,Office,8\nIwu,Crane,4\nAlles,,19.5\n")
    async with empty.open() as services:
        await add_documents(services, [sheet], workers=1)
        listed = await look_up(services, make_lookup_form("table = T1 and Task = Crane"))
        added = await look_up(services, make_lookup_form("table = T1", "sum", "Hours"))
    assert set(listed.columns) == {"Worker", "Task", "Hours"}
    assert listed.answer.startswith("2 rows match.\n- Crane (Worker Berg, Hours 7.5) [source 1]")
    assert added.answer == "The sum of Hours of 3 rows is 19.5."
    assert (added.completeness, added.reason) == ("exact", "1 row that only adds up the others was left out")


async def test_a_column_can_be_compared_with_another_one(empty: Library, tmp_path: Path) -> None:
    sheet = tmp_path / "samples.csv"
    sheet.write_text("Sample,Lead (µg/l),Limit (mg/l)\nA1,12,0.01\nA2,8,0.01\nA3,<10,0.01\nA4,47,\n")
    async with empty.open() as services:
        await add_documents(services, [sheet], workers=1)
        reply = await look_up(services, make_lookup_form("table = T1 and Lead (µg/l) > {Limit (mg/l)}"))
        with pytest.raises(UsageError, match="No row states 'Threshold'"):
            await look_up(services, make_lookup_form("table = T1 and Lead (µg/l) > {Threshold}"))
    assert [row.values[0] for row in reply.rows] == ["12"]
    assert (reply.completeness, str(reply.ledger)) == ("incomplete", "matched 1 of 4 rows; 1 undecided")
    assert "Limit (mg/l) is not stated" in reply.reason
    assert str(reply.form) == "table = T1 and Lead (µg/l) > {Limit (mg/l)}"


async def test_kinds_that_titles_suggest_are_guesses_until_somebody_says_them(empty: Library, tmp_path: Path) -> None:
    paper = tmp_path / "papers"
    paper.mkdir()
    for number, boat in enumerate(("Elena", "Marlin", "Tern"), start=1):
        (paper / f"{number}.txt").write_text(f"Berth contract No. {number}\n\nBoat: {boat}\nFee: {number}00.00 EUR\n")
    (paper / "rules.txt").write_text("Harbour rules\n\nNo boat may anchor in the channel.\n")
    async with empty.open() as services:
        added = await add_documents(services, [paper], workers=1)
        assert (added.classified, added.from_titles) == (0, 3)
        documents = {each.name: each for each in await services.store.documents.all()}
        assert [(each.kind, each.kind_by) for each in documents.values()] == [("berth contract", "title")] * 3 + [
            ("", "")
        ]
        (group,) = [each for each in await list_groups(services) if each.name == "berth contract"]
        assert (group.members, group.from_titles) == (3, 3)
        reply = await look_up(services, make_lookup_form("kind = berth contract", "sum", "Fee"))
        assert "600 EUR" in reply.answer
        assert reply.completeness == "approximate"
        assert "the kind of 3 of these 3 is a guess from titles and folders" in reply.reason
        await set_kind(services, ["1.txt"], "mooring contract")
        assert {each.kind for each in await services.store.documents.all() if each.heading.startswith("Berth")} == {
            "mooring contract"
        }, "what a person says of one names the others under its heading"
        await set_kind(services, ["2.txt", "3.txt"], "mooring contract")
        await set_kind(services, ["rules.txt"], "rules")
        sure = await look_up(services, make_lookup_form("kind = mooring contract", "sum", "Fee"))
    assert ("600 EUR" in sure.answer, sure.completeness) == (True, "exact")


async def test_a_kind_from_a_title_goes_with_the_document_that_shared_it(empty: Library, tmp_path: Path) -> None:
    for number in (1, 2):
        (tmp_path / f"{number}.txt").write_text(f"Berth contract No. {number}\n\nThe berth is let for a year.\n")
    async with empty.open() as services:
        await add_documents(services, [tmp_path / "1.txt", tmp_path / "2.txt"], workers=1)
        assert [each.kind for each in await services.store.documents.all()] == ["berth contract"] * 2
        await remove_documents(services, ["2.txt"])
        (left,) = await services.store.documents.all()
    assert (left.kind, left.kind_by) == ("", "")


async def test_a_conversation_that_was_broken_off_before_its_first_answer_is_not_listed(library: Library) -> None:
    async with library.open() as services:
        await services.store.conversations.start()
        asked = await asked_of(services, RECEIPTS)
        assert await list_conversations(services) == [asked.conversation]
