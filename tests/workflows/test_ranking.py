"""Wishes evaluated on cells by code: units, durations, ranges, lists, currencies, and what nobody knows."""

from __future__ import annotations

import itertools

import pytest
from msgspec import structs

from tablewright.domain.model import Cell, Conflict, Evidence, Field, FieldType, Money, Row, Table, Value
from tablewright.domain.shortlist import Ranking, Requirements, Wish, WishOperator
from tablewright.values.money import ExchangeRates
from tablewright.workflows.shortlist.advice import keep_known_products
from tablewright.workflows.shortlist.ranking import list_missed_wishes, rank_products
from tablewright.workflows.shortlist.wording import make_compared_rows

RATES = ExchangeRates(date="2026-01-02", per_euro={"EUR": 1.0, "GBP": 0.8, "USD": 1.1})
TYPES: dict[str, tuple[FieldType, str]] = {
    "Price": ("money", ""),
    "Capacity": ("number", "l"),
    "Boils in": ("number", "min"),
    "Keep warm": ("boolean", ""),
    "Material": ("text", ""),
    "Colours": ("list", ""),
    "Offered as": ("text", ""),
}


def table(**products: dict[str, Value]) -> Table:
    fields = (Field(name="Product"), *(Field(name=name, type=kind, unit=unit) for name, (kind, unit) in TYPES.items()))
    rows = []
    for number, (name, values) in enumerate(products.items(), start=1):
        cells = {"Product": Cell(value=name, status="ENRICHED")}
        for column, value in values.items():
            raw = value if isinstance(value, str) else None
            if isinstance(value, str) and TYPES[column][0] == "number":  # as it was read: "0.8 – 1.0 l"
                value = float(value.split()[0])
            cells[column] = Cell(value=value, raw_value=raw, status="ENRICHED")
        rows.append(Row(id=number, key=name, cells=cells))
    return Table(id="t", name="t", fields=fields, rows=tuple(rows), key_field="Product")


def wish(column: str, operator: WishOperator, *values: str, hard: bool = True) -> Wish:
    return Wish(words=f"{column} wish", hard=hard, column=column, operator=operator, values=values)


def ranked(products: Table, *wishes: Wish) -> Ranking:
    return rank_products(products, Requirements(product_type="kettle", wishes=wishes), RATES)


def fate(value: Value, column: str, operator: WishOperator, *values: str) -> str:
    """ "in", "out" or "open"."""
    cells = {} if value is None else {column: value}
    found = ranked(table(A=cells), wish(column, operator, *values))
    return "out" if found.excluded else "open" if found.ranked[0].unknown else "in"


@pytest.mark.parametrize(
    ("value", "column", "operator", "wanted", "expected"),
    [
        (1.7, "Capacity", ">=", "1500 ml", "in"),
        (0.8, "Capacity", ">=", "1500 ml", "out"),
        (1.7, "Capacity", ">=", "1.5", "in"),
        ("0.8 – 1.7 l", "Capacity", ">=", "1 l", "open"),
        (None, "Capacity", ">=", "1 l", "open"),
        (2.35, "Boils in", "<", "141.5 s", "in"),
        (2.35, "Boils in", "<=", "2:21 min", "in"),
        (2.35, "Boils in", "<", "2:20 min", "out"),
        (Money(amount=49.99, currency="GBP"), "Price", "<=", "50 GBP", "in"),
        (Money(amount=59.0, currency="EUR"), "Price", "<=", "50 GBP", "open"),
        (Money(amount=62.0, currency="EUR"), "Price", "<=", "50 GBP", "open"),
        (Money(amount=66.0, currency="EUR"), "Price", "<=", "50 GBP", "out"),
        (Money(amount=60.0, currency="PLN"), "Price", "<=", "50 GBP", "open"),
        (True, "Keep warm", "=", "yes", "in"),
        (False, "Keep warm", "=", "yes", "out"),
        ("Brushed stainless steel", "Material", "contains", "stainless steel", "in"),
        ("Edelstahl", "Material", "contains", "stainless steel", "open"),
        ("Plastic and glass", "Material", "not contains", "plastic", "out"),
        ("Glass", "Material", "not contains", "plastic", "in"),
        (("red", "blue"), "Colours", "=", "blue", "in"),
        (("red", "blue"), "Colours", "=", "green", "out"),
        (1.7, "Capacity", "known", "", "in"),
        (None, "Capacity", "known", "", "open"),
        (("red", "blue"), "Colours", "!=", "blue", "out"),
    ],
)
def test_a_wish_is_met_or_missed_or_not_known(
    value: Value, column: str, operator: WishOperator, wanted: str, expected: str
) -> None:
    assert fate(value, column, operator, *([wanted] if wanted else [])) == expected


def test_a_range_takes_both_ends() -> None:
    assert fate(1.2, "Capacity", "between", "1 l", "1.5 l") == "in"
    assert fate(1.7, "Capacity", "between", "1 l", "1.5 l") == "out"


def test_of_equals_those_come_first_whose_price_is_in_the_currency_of_the_budget() -> None:
    products = table(
        Unpriced={"Capacity": 1.0},
        Abroad={"Price": Money(amount=20.0, currency="USD")},
        Far={"Price": Money(amount=25.0, currency="EUR")},
        Dear={"Price": Money(amount=49.0, currency="GBP")},
        Cheap={"Price": Money(amount=30.0, currency="GBP")},
    )
    found = ranked(products, wish("Price", "<=", "50 GBP"))
    assert [each.name for each in found.ranked] == ["Dear", "Cheap", "Abroad", "Far", "Unpriced"], (
        "never by price alone"
    )
    found = ranked(products, wish("Capacity", "<=", "2 l", hard=False))
    assert [each.name for each in found.ranked] == ["Unpriced", "Abroad", "Far", "Dear", "Cheap"], "no budget, no home"


def test_what_is_left_out_says_why_and_near_misses_come_first() -> None:
    products = table(
        Far={"Price": Money(amount=90.0, currency="GBP")},
        Near={"Price": Money(amount=54.0, currency="GBP")},
        Abroad={"Price": Money(amount=200.0, currency="USD")},
    )
    found = ranked(products, wish("Price", "<=", "50 GBP"))
    assert [(each.name, each.near) for each in found.excluded] == [("Near", True), ("Far", False), ("Abroad", False)]
    assert found.excluded[0].reason == "Price is 54.00 GBP, wanted <= 50 GBP"
    assert "Price is 200.00 USD, about 145 GBP" in found.excluded[2].reason
    assert found.prices == {3: "about 145 GBP"}
    abroad = make_compared_rows(products, found)[2]
    assert abroad.cells["Price"] == "200.00 USD, about 145 GBP", "the adviser compares without calculating"
    assert found.notes == (
        "Prices in other currencies are compared at rates of 2026-01-02, so about: 1 USD = 0.727 GBP.",
    )


def test_the_order_is_the_order_of_the_scores_and_the_score_says_what_it_is_made_of() -> None:
    products = table(
        Small={"Capacity": 0.5, "Keep warm": True, "Price": Money(amount=30, currency="GBP")},
        Large={"Capacity": 2.0, "Keep warm": False, "Price": Money(amount=20, currency="GBP")},
        Middle={"Capacity": 1.0, "Keep warm": True, "Price": Money(amount=10, currency="GBP")},
        Unknown={"Price": Money(amount=5, currency="GBP")},
    )
    wishes = wish("Keep warm", "=", "yes", hard=False), wish("Capacity", "highest", hard=False)
    found = ranked(products, *wishes, wish("Price", "<=", "50 GBP"))
    assert [each.name for each in found.ranked] == ["Middle", "Small", "Large", "Unknown"]
    for better, worse in itertools.pairwise(found.ranked):
        assert better.score >= worse.score
    middle = found.ranked[0]
    assert [(part.weight, round(part.score, 2)) for part in middle.parts] == [(3, 1.0), (2, 0.33), (1, 1.0)]
    assert middle.score == pytest.approx(sum(part.weight * part.score for part in middle.parts) / 6, abs=1e-4)
    assert "Keep warm no, wanted yes" in [part.why for part in found.ranked[2].parts]


def test_the_first_wishes_count_most() -> None:
    products = table(Warm={"Keep warm": True, "Capacity": 0.5}, Large={"Keep warm": False, "Capacity": 2.0})
    warm, large = wish("Keep warm", "=", "yes", hard=False), wish("Capacity", ">=", "1 l", hard=False)
    assert [each.name for each in ranked(products, warm, large).ranked] == ["Warm", "Large"]
    assert [each.name for each in ranked(products, large, warm).ranked] == ["Large", "Warm"]


def test_products_that_tie_keep_the_order_of_the_last_advice() -> None:
    products = table(A={"Capacity": 2.0}, B={"Capacity": 2.0}, C={"Capacity": 2.0}, Worse={"Capacity": 0.5})
    wanted = Requirements(wishes=(wish("Capacity", ">=", "1 l", hard=False),))
    tied = rank_products(products, wanted, RATES)
    assert [(each.name, each.level) for each in tied.ranked] == [("A", 0), ("B", 0), ("C", 0), ("Worse", 1)]
    verdicts = [row.verdict for row in make_compared_rows(products, tied)]
    assert verdicts == [*["a tie for the places 1 to 3"] * 3, "place 4"]
    broken = rank_products(products, wanted, RATES, preferred=(4, 3, 1))
    assert [each.name for each in broken.ranked] == ["C", "A", "B", "Worse"], "it breaks ties, and overrules no score"


def test_a_price_in_another_currency_that_is_far_below_the_limit_meets_it_and_the_card_says_so() -> None:
    products = table(
        Far={"Price": Money(amount=45.0, currency="EUR")}, Near={"Price": Money(amount=50.0, currency="EUR")}
    )
    found = ranked(products, wish("Price", "<=", "50 GBP"))
    assert [(each.name, bool(each.unknown)) for each in found.ranked] == [("Far", False), ("Near", True)]
    (part,) = found.ranked[0].parts
    assert part.why == "Price 45.00 EUR, about 36 GBP: converted, but far within the limit"
    assert found.notes, "the rates are named"


def test_what_is_excluded_does_not_stretch_the_scale_and_a_ranking_wish_never_excludes() -> None:
    products = table(
        Light={"Capacity": 1.0, "Keep warm": True},
        Heavy={"Capacity": 2.0, "Keep warm": True},
        Out={"Capacity": 100.0, "Keep warm": False},
    )
    found = ranked(products, wish("Capacity", "lowest"), wish("Keep warm", "=", "yes"))
    assert [(each.name, each.parts[0].score) for each in found.ranked] == [("Light", 1.0), ("Heavy", 0.0)]
    assert [each.name for each in found.excluded] == ["Out"]


def test_a_hard_wish_that_is_not_known_counts_less_than_one_that_is_met() -> None:
    found = ranked(table(Silent={}, Sure={"Capacity": 1.7}), wish("Capacity", ">=", "1 l"))
    assert [(each.name, each.unknown) for each in found.ranked] == [
        ("Sure", ()),
        ("Silent", ("Capacity wish: Capacity was not looked for yet",)),
    ]


def test_what_is_not_known_to_meet_every_must_comes_after_all_that_is() -> None:
    products = table(Known={"Capacity": 1.0, "Keep warm": True}, Open={"Capacity": 2.0})
    wishes = (
        wish("Keep warm", "=", "yes"),
        wish("Capacity", "highest", hard=False),
        wish("Capacity", ">", "1.5 l", hard=False),
    )
    found = ranked(products, *wishes)
    assert [each.name for each in found.ranked] == ["Known", "Open"]
    assert found.ranked[0].score >= found.ranked[1].score
    assert found.ranked[1].unknown == ("Keep warm wish: Keep warm was not looked for yet",)


def test_what_is_not_known_never_comes_before_what_is_known_however_badly_it_meets_the_rest() -> None:
    """Even if the score of those that are known is 0, which leaves nothing to lower."""
    products = table(
        Open={"Capacity": 2.0, "Boils in": 2.0},
        Worst={"Capacity": 0.5, "Boils in": 9.0, "Keep warm": True},
    )
    wishes = (wish("Capacity", ">", "1 l", hard=False), wish("Boils in", "<", "3 min", hard=False))
    found = ranked(products, wish("Keep warm", "=", "yes"), *wishes)
    assert [each.name for each in found.ranked] == ["Worst", "Open"]


def test_used_and_discontinued_things_are_left_out_unless_they_are_wanted() -> None:
    products = table(New={"Offered as": "new"}, Old={"Offered as": "discontinued"}, Used={"Offered as": "used"})
    assert [each.reason for each in ranked(products).excluded] == ["it is discontinued", "it is used"]
    found = ranked(products, wish("Offered as", "=", "used"))
    assert [each.name for each in found.ranked] == ["Used"]


def test_who_prefers_used_things_gets_them_beside_the_new_and_no_discontinued_ones() -> None:
    products = table(New={"Offered as": "new"}, Old={"Offered as": "discontinued"}, Used={"Offered as": "used"})
    found = ranked(products, wish("Offered as", "=", "used", hard=False))
    assert [each.name for each in found.ranked] == ["Used", "New"]
    assert [each.name for each in found.excluded] == ["Old"]


def test_the_only_one_is_the_best_whichever_way_a_wish_ranks() -> None:
    only = table(Only={"Capacity": 1.7})
    assert [ranked(only, wish("Capacity", each)).ranked[0].score for each in ("lowest", "highest")] == [1.0, 1.0]


def test_those_that_miss_least_come_first_among_those_left_out() -> None:
    products = table(Twice={"Capacity": 0.5, "Keep warm": False}, Once={"Capacity": 1.7, "Keep warm": False})
    found = ranked(products, wish("Capacity", ">=", "1 l"), wish("Keep warm", "=", "yes"))
    assert [(each.name, each.missed) for each in found.excluded] == [("Once", 1), ("Twice", 2)]


def test_the_model_sees_what_other_sources_say_and_what_was_not_looked_up() -> None:
    rival = Conflict(value=1.5, evidence=(Evidence(origin="http://shop.example/a", domain="shop.example"),))
    products = table(A={"Capacity": 1.7})
    cell = structs.replace(products.rows[0].cells["Capacity"], conflict=(rival,))
    row = structs.replace(products.rows[0], cells={**products.rows[0].cells, "Capacity": cell})
    products = structs.replace(products, rows=(row,))
    (shown,) = make_compared_rows(products, ranked(products))
    assert shown.cells["Capacity"] == "1.7 l (also 1.5 l, shop.example)"
    assert shown.cells["Material"] == "not looked up"
    (named,) = make_compared_rows(products, ranked(products), is_filled=False)
    assert named.text(["Capacity"]) == "A"


def test_what_nothing_is_known_of_is_not_presented_beside_what_is() -> None:
    def asked(**products: dict[str, Value]) -> Table:
        made = table(**products)
        fields = (made.fields[0], *(structs.replace(field, question="What is it?") for field in made.fields[1:]))
        return structs.replace(made, fields=fields)

    some, none = asked(A={}, B={"Capacity": 1.7}), asked(A={}, B={})
    assert [each.name for each in keep_known_products(ranked(some), some).ranked] == ["B"]
    assert [each.name for each in keep_known_products(ranked(none), none).ranked] == ["A", "B"]


def test_wishes_without_a_column_neither_exclude_nor_count() -> None:
    products = table(A={"Capacity": 1.7})
    assert ranked(products, Wish(words="pretty")).ranked[0].score == 1.0


def test_a_price_over_the_budget_is_told_in_the_words_of_the_wish_and_one_near_a_rate_is_not() -> None:
    wanted = Requirements(wishes=(wish("Price", "<", "50 GBP"), wish("Price", "lowest"), wish("Capacity", ">=", "1 l")))
    prices = {"GBP": (49.99, 50.0), "EUR": (40.0, 62.5, 99.0)}
    over = [
        f"{amount:g} {currency}"
        for currency, amounts in prices.items()
        for amount in amounts
        if list_missed_wishes(Money(amount=amount, currency=currency), wanted, RATES) == ("Price wish",)
    ]
    assert over == ["50 GBP", "99 EUR"]


def test_what_nobody_knows_counts_no_more_than_the_least_that_is_known() -> None:
    products = table(Silent={"Keep warm": True}, Small={"Capacity": 0.5, "Keep warm": True}, Large={"Capacity": 2.0})
    found = ranked(products, wish("Capacity", "highest", hard=False), wish("Keep warm", "=", "yes", hard=False))
    scores = {each.name: each.parts[0].score for each in found.ranked}
    assert scores == {"Large": 1.0, "Small": 0.0, "Silent": 0.0}


@pytest.mark.parametrize(
    ("column", "operator", "wanted", "expected"),
    [
        ("Capacity", ">=", "1 l", "out"),
        ("Material", "contains", "steel", "out"),
        ("Material", "not contains", "plastic", "in"),
        ("Capacity", "known", "", "out"),
    ],
)
def test_what_a_page_says_there_is_none_of_is_known(
    column: str, operator: WishOperator, wanted: str, expected: str
) -> None:
    said = Evidence(origin="https://zorb.example", quote="Filter: none", start=0, end=12)
    absent = Cell(status="FAILED", reason="not_applicable", evidence=(said,))
    products = table(A={})
    row = products.rows[0]
    row = structs.replace(row, cells={**row.cells, column: absent})
    products = structs.replace(products, rows=(row,))
    found = ranked(products, wish(column, operator, *([wanted] if wanted else [])))
    assert ("out" if found.excluded else "open" if found.ranked[0].unknown else "in") == expected
    (shown,) = make_compared_rows(products, found)
    assert shown.cells[column] == "none"


def test_a_discontinued_product_says_what_else_it_misses_and_is_no_near_miss() -> None:
    """So that it is not told before one that misses a single wish."""
    products = table(
        Gone={"Offered as": "discontinued", "Capacity": 0.5},
        Near={"Capacity": 0.9},
    )
    found = ranked(products, wish("Capacity", ">=", "1 l"))
    near, gone = found.excluded
    assert (near.name, near.near, near.missed) == ("Near", True, 1)
    assert (gone.name, gone.near, gone.missed) == ("Gone", False, 2)
    assert gone.reason == "it is discontinued; Capacity is 0.5 l, wanted >= 1 l"
