"""What code answers from the members of a kind: groups by their figure, order, and what their kind is."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from msgspec.structs import replace as replace_document

from tablewright.conditions.evaluate import NameSpellings
from tablewright.documents.results import StatedFact
from tablewright.documents.search import CorpusHit
from tablewright.domain.condition import describe_condition
from tablewright.domain.documents import Document
from tablewright.domain.model import Cell, Evidence, Field, Money, Table, column_key
from tablewright.domain.text import pluralize_noun
from tablewright.llm.tasks.compose import ConcludeFromRows, NumberedRow, RowsToConclude
from tablewright.llm.tasks.plan_question import DocumentGroup, QuestionPlan, find_question_plan_fault, text_search_plan
from tablewright.values.comparable_value import parse_comparable
from tablewright.workflows.ask.answering import complete_sentence, describe_undecided
from tablewright.workflows.ask.query import evaluate_plan
from tablewright.workflows.ask.query_rows import (
    Inventory,
    QueryRow,
    QueryScope,
    RowTable,
    UncoveredDocuments,
    drop_total_rows,
    make_query_rows,
    make_stated_facts,
)
from tablewright.workflows.ask.tables import (
    MAX_UNNARROWED_ROWS,
    choose_sentence,
    find_rows_without_figure,
    find_uncovered,
    suggest_narrowing,
)
from tablewright.workflows.ask.texts import fuse_hits


def member(name: str, **values: str) -> QueryRow:
    return QueryRow(
        document=Document(id=name, name=name, path=name),
        title=name,
        values={
            column_key(label): (StatedFact(asked=label, label=label, value=parse_comparable(raw), start=0, end=0),)
            for label, raw in values.items()
        },
    )


def plan(**asked: Any) -> QuestionPlan:
    columns = [
        {"name": name, "type": "text", "question": f"What is its {name}?", "unit": ""} for name in asked.pop("columns")
    ]
    return QuestionPlan.model_validate(
        text_search_plan("").model_dump() | {"action": "table", "of": ["order"], "columns": columns} | asked
    )


ORDERS = QueryScope(
    members=[
        member("1", supplier="Aldine", date="2024-03-01"),
        member("2", supplier="Bask"),
        member("3", supplier="Aldine", date="2024-01-05"),
        member("4", supplier="Corso", date="2024-02-01"),
        member("5", supplier="Corso", date="2024-02-02"),
    ]
)


def test_the_largest_groups_are_those_with_the_largest_figure_and_all_that_share_it() -> None:
    asked = plan(columns=["supplier"], aggregate="count", group_by="supplier", descending=True, limit=1)
    found, aggregated = evaluate_plan(asked, ORDERS, NameSpellings())
    assert aggregated is not None
    assert [(group.key, group.count) for group in aggregated.groups] == [("Aldine", 2), ("Corso", 2)]
    assert ([thing.title for thing in found.matches], found.completeness) == (["1", "3", "4", "5"], "exact")


def test_what_does_not_state_the_order_stands_at_the_end_of_a_whole_list() -> None:
    found, _ = evaluate_plan(plan(columns=["date"], order_by="date"), ORDERS, NameSpellings())
    assert [thing.title for thing in found.matches] == ["3", "4", "5", "1", "2"]
    assert (found.undecided, found.completeness) == ((), "exact")


def test_of_the_first_few_nobody_knows_where_it_belongs() -> None:
    found, _ = evaluate_plan(plan(columns=["date"], order_by="date", limit=2), ORDERS, NameSpellings())
    assert [thing.title for thing in found.matches] == ["3", "4"]
    assert [each.reason for each in found.undecided] == ["date is not stated"]
    assert found.completeness == "incomplete"


def test_dates_are_grouped_by_month_quarter_or_year_in_their_order() -> None:
    def groups(period: str) -> list[tuple[str, int]]:
        asked = plan(columns=["date"], aggregate="count", group_by="date", period=period)
        _, aggregated = evaluate_plan(asked, ORDERS, NameSpellings())
        assert aggregated is not None
        return [(group.key, group.count) for group in aggregated.groups if group.key]

    assert groups("month") == [("2024-01", 1), ("2024-02", 2), ("2024-03", 1)]
    assert groups("quarter") == [("2024 Q1", 4)]
    assert groups("year") == [("2024", 4)]


def test_what_was_computed_is_not_stated() -> None:
    computed = StatedFact(
        asked="due", label="due", value=parse_comparable("2024-03-31"), start=0, end=0, calculation="2024-03-01 + 30"
    )
    scope = QueryScope(
        members=[replace(member("6"), values={"due": (computed,)}), member("7", due="2024-04-02"), member("8")]
    )
    unknown = [{"column": "due", "operator": "unknown", "values": []}]
    found, _ = evaluate_plan(plan(columns=["due"], conditions=unknown), scope, NameSpellings())
    assert [thing.title for thing in found.matches] == ["6", "8"]


def test_figures_that_code_does_not_read_are_left_to_a_reader() -> None:
    races = QueryScope(members=[member("1", time="3:12.6"), member("2", time="3:40.4"), member("3")])
    asked = plan(columns=["time"], aggregate="min", aggregate_column="time")
    assert find_rows_without_figure(asked, races, NameSpellings()) == {("1", 0), ("2", 0)}
    assert not find_rows_without_figure(
        plan(columns=["date"], aggregate="min", aggregate_column="date"), ORDERS, NameSpellings()
    )


GROUPS = {
    "lease": DocumentGroup(name="lease", columns=("Rent",)),
    "T1": DocumentGroup(name="T1", columns=("Flat", "Water"), fixed=True),
}


@pytest.mark.parametrize(
    ("of", "columns", "problem"),
    [
        (["T1", "lease"], {"Flat": "Which flat is let?", "Water": "", "Area": "How large is it?"}, ""),
        (["T1", "lease"], {"Flat": "", "Rent": ""}, ""),
        (["T1", "lease"], {"Flat": "", "Water": ""}, "no column is read from lease"),
        (["T1"], {"Flat": "", "Landlord": "Who is the landlord?"}, ""),
        (["T1"], {"Area": ""}, "there is no column 'Area'; T1 has: Flat, Water. A column of the whole document needs"),
        (["lease"], {"Area": ""}, "the column 'Area' needs a question"),
    ],
)
def test_a_plan_may_join_tables_with_documents_where_each_column_can_be_found(
    of: list[str], columns: dict[str, str], problem: str
) -> None:
    shown = [{"name": name, "type": "text", "question": asks, "unit": ""} for name, asks in columns.items()]
    made = plan(columns=[]).model_dump() | {"of": of, "columns": shown, "compare": True}
    said = find_question_plan_fault(QuestionPlan.model_validate(made), GROUPS)
    assert said.startswith(problem) if problem else said == ""


def test_a_list_that_nobody_reads_says_by_what_to_narrow_it() -> None:
    asked = plan(columns=["supplier"], conditions=[{"column": "supplier", "operator": "known", "values": []}])
    assert suggest_narrowing(MAX_UNNARROWED_ROWS, asked, ORDERS, 50) == ""
    said = suggest_narrowing(1_042, asked, ORDERS, 50)
    assert said == "1,042 match, and the first 50 are shown. Narrow them by date, or export them all."


def test_rows_that_do_not_fit_are_told_to_who_concludes_and_are_counted() -> None:
    asked = RowsToConclude(question="Which are late?", rows=(NumberedRow(table="order", text="1: Aldine"),), more=1_200)
    assert (
        "1,200 more rows do not fit here; say that the answer is of these rows."
        in ConcludeFromRows().prompt(asked).text
    )


def test_a_date_that_was_read_in_one_of_two_ways_is_told_where_the_other_would_decide() -> None:
    due = Field(name="due", type="date", question="When is it due?")
    quote = Evidence(origin="1", quote="Due 02/04/2026")
    cell = Cell(value="2026-04-02", raw_value="2026-04-02", status="ENRICHED", confidence=0.9, evidence=(quote,))
    scope = QueryScope(members=[replace(member("1"), values={"due": make_stated_facts(due, cell)})])

    def when(day: str) -> tuple[int, str]:
        asked = plan(columns=["due"], conditions=[{"column": "due", "operator": "=", "values": [day]}])
        dated = asked.model_copy(update={"columns": [asked.columns[0].model_copy(update={"type": "date"})]})
        found, _ = evaluate_plan(dated, scope, NameSpellings())
        return len(found.matches), found.completeness

    assert when("2026") == (1, "exact")
    assert when("2026-04") == (1, "approximate")


def test_kinds_that_are_plurals_already_stay_as_they_are() -> None:
    several = [pluralize_noun(noun, 2) for noun in ("invoice", "meeting minutes", "address", "policy", "status", "fax")]
    assert several == ["invoices", "meeting minutes", "addresses", "policies", "statuses", "faxes"]


def rows_of(*cells: tuple[str, ...], header: tuple[str, ...] = ("Task", "Worker", "Hours")) -> list[QueryRow]:
    made = []
    for at, row in enumerate(cells, start=1):
        filled = {label: raw for label, raw in zip(header, row, strict=True) if raw}
        gaps = {column_key(label): "the table leaves it empty" for label in header if label not in filled}
        made.append(replace(member("sheet", **filled), row=at, missing=gaps))
    return made


@pytest.mark.parametrize(
    ("last", "is_summed"),
    [
        (("Summe", "", "17"), True),
        (("Crane", "Holt", "17"), True),
        (("Crane", "Holt", "4"), False),
        (("Crane", "", ""), False),
    ],
)
def test_a_last_row_that_adds_up_the_others_is_not_one_of_them(last: tuple[str, ...], is_summed: bool) -> None:
    rows = rows_of(("Crane", "Berg", "7.5"), ("Wash", "Iwu", "8"), ("Paint", "Berg", "1.5"), last)
    kept, totals = drop_total_rows([rows])
    assert (len(kept), len(totals)) == ((3, 1) if is_summed else (4, 0))


def test_the_numbers_of_two_rows_add_up_to_that_of_the_third_by_chance() -> None:
    rows = rows_of(("1", "Berg"), ("2", "Iwu"), ("3", "Holt"), header=("No.", "Worker"))
    assert drop_total_rows([rows]) == (rows, [])


@pytest.mark.parametrize(
    ("rows", "is_sure"),
    [
        ([("Mast", "Berg", "180"), ("Rigging", "Iwu", "95"), ("Total due", "Berg", "275")], False),
        ([("Mast", "Berg", "180"), ("Total due", "", "180")], False),
        ([("Mast", "Berg", "180"), ("Rigging", "Iwu", "180")], True),
        ([("Mast", "Berg", "180"), ("Rigging", "Iwu", "95"), ("Paint", "Berg", "40")], True),
    ],
)
def test_a_sum_of_few_rows_is_not_exact_where_the_last_may_be_their_total(
    rows: list[tuple[str, ...]], is_sure: bool
) -> None:
    kept, totals = drop_total_rows([rows_of(*rows)])
    asked = plan(columns=["Hours"], aggregate="sum", aggregate_column="Hours")
    found, _ = evaluate_plan(asked, QueryScope(members=kept, called="row"), NameSpellings())
    said = ("exact", "") if is_sure else ("approximate", "1 row may only add up those above it")
    assert (len(kept), totals) == (len(rows), [])
    assert (found.completeness, found.reason) == said


def test_what_is_not_decided_is_named_with_its_own_reason() -> None:
    members = [member("A", total="12 EUR"), member("B"), member("C", total="7 EUR"), member("D", total="9 GBP")]
    asked = plan(columns=["total"], conditions=[{"column": "total", "operator": ">", "values": ["8 GBP"]}])
    found, _ = evaluate_plan(asked, QueryScope(members=members), NameSpellings())
    assert describe_undecided(found, "en") == (
        "Not decided: A, C (it is in EUR, and nothing is converted).\nNot decided: B (total is not stated)."
    )


def test_documents_of_one_title_are_told_apart_by_their_files() -> None:
    documents = [
        Document(id=name, name=f"{name}.pdf", path=name, title=title)
        for name, title in (("1", "Invoice"), ("2", "Invoice"), ("3", "Lease"), ("4", ""), ("5", ""))
    ]
    documents += [Document(id=folder, name="4.md", path=f"{folder}/4.md", title="4") for folder in ("north", "south")]
    table = Table(id="t", name="invoices", fields=(), rows=())
    titles = [each.title for each in make_query_rows(table, {}, documents)]
    assert titles == ["Invoice (1.pdf)", "Invoice (2.pdf)", "Lease (3.pdf)", "4.pdf", "5.pdf", "4, north", "4, south"]


def test_rows_left_out_as_totals_are_told_and_do_not_make_a_sum_less_exact() -> None:
    scope = QueryScope(members=rows_of(("Crane", "Berg", "7.5"), ("Wash", "Iwu", "8")), called="row", totals=1)
    found, _ = evaluate_plan(plan(columns=["Hours"], aggregate="sum", aggregate_column="Hours"), scope, NameSpellings())
    assert (found.completeness, found.reason) == ("exact", "1 row that only adds up the others was left out")


def test_rows_are_not_all_where_other_documents_of_the_kind_have_no_such_table() -> None:
    paper = Document(id="a", name="a.pdf", path="a.pdf", kind="delivery note", kind_by="model")
    other = replace_document(paper, id="b", name="b.txt")
    table = RowTable(name="T1", labels=("Item",), members=[replace(member("a", Item="board"), document=paper)])
    things = Inventory(kinds={"delivery note": [paper, other]}, tables={"T1": table}, text="", groups={})
    left = find_uncovered(["T1"], things)
    assert left == UncoveredDocuments(count=1, total=2, called="delivery note")
    found, _ = evaluate_plan(plan(columns=["Item"]), QueryScope(members=table.members, uncovered=left), NameSpellings())
    assert found.completeness == "incomplete"
    assert found.reason == "1 of 2 delivery notes has no such table, so it was not looked at"
    assert find_uncovered(["T1", "delivery note"], things) is None
    assert find_uncovered(["delivery note"], things) is None


def test_a_sum_of_values_that_are_not_sure_is_not_exact() -> None:
    weak = replace(member("1", total="12 EUR"), doubts=frozenset({"total"}))
    scope = QueryScope(members=[weak, member("2", total="5 EUR")])
    found, _ = evaluate_plan(plan(columns=["total"], aggregate="sum", aggregate_column="total"), scope, NameSpellings())
    assert found.completeness == "approximate"


# ── a column beside another one ──────────────────────────────────────────────────────────────────────────────────────

BILLS = QueryScope(
    members=[
        member("late", paid="2026-04-02", due="2026-03-30"),
        member("in time", paid="2026-03-01", due="2026-03-30"),
        member("open", due="2026-03-30"),
        member("without term", paid="2026-03-01"),
    ],
    called="bill",
)
LATE = {"column": "paid", "operator": ">", "values": ["{Due}"]}


def test_a_column_is_compared_with_another_one_of_the_same_member() -> None:
    found, _ = evaluate_plan(plan(columns=["paid", "Due"], conditions=[LATE]), BILLS, NameSpellings())
    assert [thing.title for thing in found.matches] == ["late"]
    assert [(each.thing.title, each.reason) for each in found.undecided] == [
        ("open", "paid is not stated"),
        ("without term", "Due is not stated"),
    ]
    assert (found.rejected, found.completeness) == (1, "incomplete")
    assert (describe_condition(found.question.conditions[0]), found.question.show) == ("paid > Due", ("paid", "Due"))


def test_a_comparison_of_two_columns_is_exact_where_all_state_both() -> None:
    scope = replace(BILLS, members=BILLS.members[:2])
    found, _ = evaluate_plan(plan(columns=["paid", "Due"], conditions=[LATE]), scope, NameSpellings())
    assert (len(found.matches), found.completeness) == (1, "exact")
    judged = replace(scope.members[0], doubts=frozenset({"due"}))
    found, _ = evaluate_plan(
        plan(columns=["paid", "Due"], conditions=[LATE]), replace(scope, members=[judged]), NameSpellings()
    )
    assert (len(found.matches), found.completeness) == (1, "approximate")


def test_a_range_may_reach_from_one_column_to_another() -> None:
    stays = QueryScope(
        members=[
            member("inside", seen="2026-03-05", start="2026-03-01", end="2026-03-31"),
            member("before", seen="2026-02-05", start="2026-03-01", end="2026-03-31"),
        ]
    )
    within = {"column": "seen", "operator": "between", "values": ["{start}", "{end}"]}
    found, _ = evaluate_plan(plan(columns=["seen", "start", "end"], conditions=[within]), stays, NameSpellings())
    assert ([thing.title for thing in found.matches], found.completeness) == (["inside"], "exact")
    ended = {"column": "seen", "operator": "between", "values": ["2026-01", "{end}"]}
    found, _ = evaluate_plan(plan(columns=["seen", "end"], conditions=[ended]), stays, NameSpellings())
    assert len(found.matches) == 2


def test_both_columns_are_in_the_unit_that_stands_in_one_of_its_own() -> None:
    samples = QueryScope(members=[member("1", result="12", limit="0.01 mg/l", unit="µg/l")])
    above = {"column": "result", "operator": ">", "values": ["{limit}"]}
    asked = plan(columns=["result", "limit", "unit"], conditions=[above], unit_column="unit")
    found, _ = evaluate_plan(asked, samples, NameSpellings())
    assert (len(found.matches), found.completeness) == (1, "exact")


def test_names_in_two_columns_are_the_same_where_they_mean_the_same() -> None:
    orders = QueryScope(
        members=[member("1", buyer="Nordwind", payer="Nordwind GmbH"), member("2", buyer="A", payer="B")]
    )
    other = {"column": "buyer", "operator": "!=", "values": ["{payer}"]}
    asked = plan(columns=["buyer", "payer"], conditions=[other])
    named = {"buyer = payer": {"Nordwind": "Nordwind GmbH", "Nordwind GmbH": "Nordwind GmbH"}}
    assert [each.title for each in evaluate_plan(asked, orders, NameSpellings(named=named))[0].matches] == ["2"]
    assert [each.title for each in evaluate_plan(asked, orders, NameSpellings())[0].matches] == ["1", "2"]


@pytest.mark.parametrize(
    ("operator", "values", "problem"),
    [
        (">", ["{Rent}"], ""),
        ("between", ["{Rent}", "900 EUR"], ""),
        (">", ["{Deposit}"], "'Deposit' is used, but it is not among `columns`."),
        ("in month", ["{Rent}"], "'{Rent}' is no month from 1 to 12."),
    ],
)
def test_a_plan_names_the_columns_that_it_compares(operator: str, values: list[str], problem: str) -> None:
    asked = plan(columns=["Area"], conditions=[{"column": "Area", "operator": operator, "values": values}])
    assert find_question_plan_fault(asked.model_copy(update={"of": ["lease"]}), GROUPS) == problem


def test_a_figure_of_limits_and_ranges_is_not_exact() -> None:
    scope = QueryScope(members=[member("1", lead="<0.5"), member("2", lead="3-4"), member("3", lead="7")])
    found, _ = evaluate_plan(
        plan(columns=["lead"], aggregate="average", aggregate_column="lead"), scope, NameSpellings()
    )
    assert (found.completeness, found.reason) == ("approximate", "2 of 3 give lead only as a limit or a range")


@pytest.mark.parametrize(
    "asked",
    [
        {"aggregate": "max", "aggregate_column": "price"},
        {"order_by": "price", "descending": True, "limit": 1},
        {"aggregate": "sum", "aggregate_column": "price", "group_by": "price", "limit": 1},
    ],
)
def test_the_largest_in_two_currencies_is_not_exact(asked: dict[str, Any]) -> None:
    mixed = QueryScope(members=[member("1", price="132 EUR"), member("2", price="2480 GBP")])
    found, _ = evaluate_plan(plan(columns=["price"], **asked), mixed, NameSpellings())
    assert found.completeness == "approximate"
    assert found.reason == "nothing is converted, so figures in EUR, GBP were not weighed against each other"
    alike = QueryScope(members=[member("1", price="132 EUR"), member("2", price="2480 EUR")])
    assert evaluate_plan(plan(columns=["price"], **asked), alike, NameSpellings())[0].completeness == "exact"


@pytest.mark.parametrize(
    ("named", "why"),
    [
        ("currency", "nothing is converted, so figures in EUR, GBP were not weighed against each other"),
        ("", "the figures may be in several currencies (EUR, GBP)"),
    ],
)
def test_the_best_paid_in_two_currencies_are_not_exact_where_the_currency_has_a_column(named: str, why: str) -> None:
    pay = {"1": ("5900", "GBP"), "2": ("4750", "EUR"), "3": ("4250", "GBP")}
    scope = QueryScope(members=[member(name, pay=figure, currency=unit) for name, (figure, unit) in pay.items()])
    asked = plan(columns=["pay", "currency"], order_by="pay", descending=True, limit=2, unit_column=named)
    found, _ = evaluate_plan(asked, scope, NameSpellings())
    assert (found.completeness, found.reason) == ("approximate", why)


@pytest.mark.parametrize(
    ("descending", "order"), [(False, ["4", "1", "3", "2", "5"]), (True, ["1", "4", "2", "3", "5"])]
)
def test_a_whole_list_in_two_currencies_is_sorted_within_each(descending: bool, order: list[str]) -> None:
    prices = {"1": "132 EUR", "2": "2480 GBP", "3": "40 GBP", "4": "90 EUR"}
    mixed = QueryScope(members=[*(member(name, price=price) for name, price in prices.items()), member("5")])
    found, _ = evaluate_plan(plan(columns=["price"], order_by="price", descending=descending), mixed, NameSpellings())
    assert [thing.title for thing in found.matches] == order
    assert found.completeness == "exact", "all are there"
    assert found.reason == "sorted within each of EUR, GBP, which are not compared with each other"
    alike = QueryScope(members=[member("1", price="900 g"), member("2", price="1 kg")])
    found, _ = evaluate_plan(plan(columns=["price"], order_by="price"), alike, NameSpellings())
    assert ([thing.title for thing in found.matches], found.reason) == (["1", "2"], "")


def test_a_sum_in_two_currencies_is_exact() -> None:
    mixed = QueryScope(members=[member("1", price="132 EUR"), member("2", price="2480 GBP")])
    found, _ = evaluate_plan(plan(columns=["price"], aggregate="sum", aggregate_column="price"), mixed, NameSpellings())
    assert found.completeness == "exact"


def test_the_largest_in_each_currency_is_not_added_up_in_a_sentence() -> None:
    mixed = QueryScope(members=[member("1", price="132 EUR"), member("2", price="2480 GBP")])
    for aggregate, said in (("max", ""), ("average", ""), ("sum", "It is 132 EUR + 2,480 GBP.")):
        asked = plan(columns=["price"], aggregate=aggregate, aggregate_column="price")
        found, aggregated = evaluate_plan(asked, mixed, NameSpellings())
        assert complete_sentence("It is {figure}.", found, aggregated) == said


def test_none_one_and_many_have_sentences_of_their_own_and_none_is_not_claimed_while_something_is_undecided() -> None:
    sentences = {"sentence": "{count} are.", "sentence_one": "Yes, one is.", "sentence_none": "No, none is."}

    named = {"column": "supplier", "operator": "="}

    def said(supplier: str, *members: QueryRow) -> str:
        asked = plan(columns=["supplier"], **sentences, conditions=[{**named, "values": [supplier]}])
        found, aggregated = evaluate_plan(asked, QueryScope(members=members), NameSpellings())
        return complete_sentence(choose_sentence(asked, found), found, aggregated)

    aldine, bask, silent = member("1", supplier="Aldine"), member("2", supplier="Bask"), member("3")
    assert [said("Bask", aldine, bask), said("Bask", bask, bask), said("Corso", aldine)] == [
        "Yes, one is.",
        "2 are.",
        "No, none is.",
    ]
    assert said("Corso", aldine, silent) == ""


def test_what_is_first_in_one_search_is_read_wherever_others_put_it() -> None:
    def ranking(*ids: int) -> list[CorpusHit]:
        return [CorpusHit(id=id, document=Document(id="d", name="d", path="d"), text="", score=0.0) for id in ids]

    fused = fuse_hits([ranking(1, 2, 3, 4), ranking(9, 2, 3, 4), ranking(8, 3, 2)])
    assert [each.id for each in fused] == [1, 8, 9, 2, 3, 4]


def test_an_amount_shows_its_currency_once() -> None:
    rent = Field(name="Rent", type="money", unit="EUR")
    (stated,) = make_stated_facts(rent, Cell(value=Money(840, "EUR"), status="ENRICHED"))
    assert (stated.value.raw, stated.value.currency) == ("840 EUR", "EUR")
