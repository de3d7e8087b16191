"""Questions to all facts: which things match, which do not, which do not say; sums; and the file of all matches."""

from __future__ import annotations

import csv
import io
from decimal import Decimal

import pytest

from tablewright.corpus.aggregate import annotations_aggregate, export_annotations_csv
from tablewright.corpus.facts import BY_WORDS, DOUBT, Facts
from tablewright.corpus.found import Found
from tablewright.corpus.judge import judge, same_text, work_out
from tablewright.models.embedder import WordLlamaEmbedder
from tablewright.store.documents import ReadDocument
from tablewright.store.store import Store
from tablewright.table.corpus import (
    Aggregate,
    Annotation,
    Comparator,
    Condition,
    Document,
    Property,
    Quantity,
    Question,
    Segment,
    Truth,
    Typed,
)
from tablewright.table.typed import typed


@pytest.fixture
def database_url(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Nothing here depends on the database, so one is enough."""
    return f"sqlite:///{tmp_path_factory.mktemp('facts') / 'tablewright.db'}"


def words(text: str) -> Typed:
    return Typed(raw=text)


def date(iso: str) -> Typed:
    return Typed(raw=iso, date=iso)


def of(label: str) -> Quantity:
    return Quantity(label=label)


def reckon(operation: str, *parts: Quantity) -> Quantity:
    return Quantity(operation=operation, parts=parts)


def that(label: str | Quantity, comparator: Comparator, *values: str | Typed) -> Condition:
    quantity = of(label) if isinstance(label, str) else label
    read = tuple(value if isinstance(value, Typed) else typed(value) for value in values)
    return Condition(of=quantity, comparator=comparator, values=read)


def asking(things: str, *conditions: Condition, **more: object) -> Question:
    return Question(text="", intent="enumeration", things=things, conditions=conditions, **more)  # type: ignore[arg-type]


def document(
    name: str,
    facts: dict[str, str] | None = None,
    rows: list[dict[str, str]] | None = None,
    *,
    kind: str = "",
    text: str = "",
    contexts: dict[str, str] | None = None,
    problem: str = "",
) -> ReadDocument:
    """Its text is made of its facts and rows, so that each value stands where it says."""
    written = text + "\n"
    annotations: list[Annotation] = []
    for shape, table in (("fact", [{key: value} for key, value in (facts or {}).items()]), ("row", rows or [])):
        for entry in table:
            start, properties = len(written), []
            for label, raw in entry.items():
                label = label.rstrip("*")
                written += f"{label}: "
                place, context = len(written), (contexts or {}).get(label, "")
                written += raw + "\n"
                properties.append(
                    Property(label=label, value=typed(raw, label), start=place, end=place + len(raw), context=context)
                )
            annotations.append(
                Annotation(
                    shape="fact" if shape == "fact" else "row",
                    properties=tuple(properties),
                    start=start,
                    end=len(written),
                    page=1,
                    table=int(shape == "row"),
                )
            )
    noun = Document(
        id=name.partition(".")[0],
        path=f"/docs/{name}",
        name=name,
        title=name.partition(".")[0],
        media=name.rpartition(".")[2],
        kind=kind,
        categories=("short", "data-heavy"),
        problem=problem,
    )
    segment = Segment(number=0, start=0, end=len(written), text=written)
    if problem:
        return ReadDocument(document=noun)
    return ReadDocument(document=noun, text=written, segments=(segment,), annotations=tuple(annotations))


async def found(store: Store, question: Question, *documents: ReadDocument) -> Found:
    await store.documents.add_many(documents)
    return await Facts(store.documents, WordLlamaEmbedder()).annotations_search(question)


def names(result: Found) -> list[str]:
    return [thing.document_id for thing in result.matches]


# ── one value ────────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("value", "comparator", "wanted", "truth"),
    [
        ("1600 mm", "<", "1.6 m", "no match"),
        ("1600 mm", "<=", "1.6 m", "match"),
        ("160 cm", "=", "1.6 m", "match"),
        ("10-20 kg", "<", "25 kg", "match"),
        ("10-20 kg", "<", "15 kg", "not stated"),
        ("10-20 kg", ">", "20 kg", "no match"),
        ("1600", "<", "2 m", "not stated"),
        ("tall", "<", "2 m", "not stated"),
        ("12 W", "<", "2 m", "not stated"),
        ("RM 12.50", ">", "10", "match"),
        ("RM 12.50", ">", "EUR 10", "not stated"),
        ("12.50", ">", "EUR 10", "match"),
        ("no", "=", "no", "match"),
        ("yes", "=", "no", "no match"),
    ],
)
def test_a_value_is_compared_in_its_unit(value: str, comparator: Comparator, wanted: str, truth: Truth) -> None:
    assert judge(typed(value), that("x", comparator, wanted)).truth == truth


@pytest.mark.parametrize(
    ("value", "comparator", "wanted", "truth"),
    [
        ("2018-03-31", "=", "2018-03", "match"),
        ("2018-04-01", "=", "2018-03", "no match"),
        ("2018-04-01", "=", "2018", "match"),
        ("2018", "=", "2018-03", "not stated"),
        ("2018-03-01", ">", "2018-03", "no match"),
        ("2018-03-01", ">=", "2018-03", "match"),
        ("2018-02-28", "<", "2018-03", "match"),
        ("2018-03-31", "<=", "2018-03", "match"),
        ("2017", "<", "2018-03", "match"),
    ],
)
def test_a_month_or_a_year_is_a_period(value: str, comparator: Comparator, wanted: str, truth: Truth) -> None:
    assert judge(date(value), that("date", comparator, date(wanted))).truth == truth


def test_a_period_has_two_ends() -> None:
    quarter = that("date", "between", date("2018-01"), date("2018-03"))
    days = ("2017-12-31", "2018-01-01", "2018-03-31", "2018-04-01")
    assert [judge(date(day), quarter).truth for day in days] == ["no match", "match", "match", "no match"]


def test_a_name_is_the_same_whatever_its_case_and_punctuation() -> None:
    assert same_text("AEON CO. (M) BHD", "Aeon Co (M) Bhd.")
    assert same_text("99 SPEED MART S/B", "99 Speedmart S/B (519537-X)")
    assert not same_text("AEON CO. (M) BHD", "AEON BIG (M) SDN BHD")


def test_one_of_several_values_is_enough() -> None:
    thin = that("technology", "contains", words("Thin Film"), words("CdTe"))
    assert [judge(words(text), thin).truth for text in ("CdTe", "thin-film", "Mono")] == ["match", "match", "no match"]


def test_arithmetic_keeps_its_units() -> None:
    density = reckon("/", of("power"), reckon("*", of("length"), of("width")))
    values = {"power": typed("300 W"), "length": typed("2000 mm"), "width": typed("75 cm")}
    worked = work_out(density, values)
    assert isinstance(worked, Typed)
    assert (worked.si, worked.base) == (200.0, "W/m²")
    assert judge(worked, that(density, ">", "180 W/m²")).truth == "match"
    assert work_out(reckon("+", of("power"), of("width")), values) == "the parts are in different units"
    assert work_out(reckon("/", of("power"), of("depth")), values) == "depth is not stated"
    nothing = work_out(reckon("/", of("power"), of("width")), {**values, "width": typed("0 m")})
    assert nothing == "a division by zero"


def test_a_ratio_is_compared_with_percent() -> None:
    worked = work_out(reckon("/", of("a"), of("b")), {"a": typed("93 W"), "b": typed("100 W")})
    assert isinstance(worked, Typed)
    assert judge(worked, that("x", ">=", "92 %")).truth == "match"
    assert judge(worked, that("x", ">=", "0.94")).truth == "no match"
    assert judge(worked, that("x", ">=", Typed(raw="94 %", number=94, unit="%", si=0.94))).truth == "no match"


# ── all things ───────────────────────────────────────────────────────────────────────────────────────────────────────


async def test_every_receipt_is_decided_one_way_or_the_other(store: Store) -> None:
    result = await found(
        store,
        asking("receipt", that("total", ">", "100")),
        document("a.txt", {"Total": "RM 120.00"}, kind="receipt"),
        document("b.txt", {"Grand total": "80.00"}, kind="receipt"),
        document("c.txt", {"Cashier": "Ann"}, kind="receipt"),
        document("d.txt", {"Total": "900.00"}, kind="contract"),
        document("e.pdf", problem="it is encrypted"),
    )
    assert (names(result), result.rejected, result.unreadable, result.universe) == (["a"], 1, 1, 3)
    assert [(each.thing.document_id, each.reason) for each in result.undecided] == [("c", "total is not stated")]
    assert result.completeness == "incomplete"
    assert "1 of 3 do not say" in result.reason
    assert "1 document could not be read" in result.reason
    (stated,) = result.matches[0].values
    assert (stated.label, stated.value.raw, stated.page) == ("Total", "RM 120.00", 1)


async def test_a_sure_no_outweighs_what_is_not_stated(store: Store) -> None:
    result = await found(
        store,
        asking("receipt", that("date", "=", date("2018")), that("total", ">", "100")),
        document("a.txt", {"Total": "50"}, kind="receipt"),
        document("b.txt", {"Total": "150", "Date": "2018-05-03"}, kind="receipt"),
    )
    assert (names(result), result.rejected, result.undecided) == (["b"], 1, ())
    assert (result.completeness, result.reason) == ("exact", "")


async def test_each_document_is_read_by_the_label_that_fits_best(store: Store) -> None:
    stc = {"Maximum power (Pmax)": "Electrical data at STC", "PTC rating": "Electrical data at STC"}
    sheets = (
        document("a.txt", {"Maximum power (Pmax)": "300 W", "PTC rating": "270 W"}, contexts=stc),
        document("b.txt", {"STC power (W)": "280", "PTC power (W)": "305"}),
        document("c.txt", {"Pmpp (STC)": "310 Wp", "Pmpp (PTC)": "290 Wp", "Vmpp": "320 V"}),
    )
    result = await found(store, asking("module", that("STC power", ">=", "300 W")), *sheets)
    assert names(result) == ["a", "c"]
    assert {(read.label, read.things) for read in result.labels} == {
        ("Maximum power (Pmax)", 1),
        ("STC power (W)", 1),
        ("Pmpp (STC)", 1),
    }
    share = reckon("/", of("PTC power"), of("STC power"))
    result = await found(store, asking("module", that(share, ">", "92 %")))
    assert (names(result), result.completeness) == (["b", "c"], "exact")


async def test_two_equally_good_values_that_disagree_decide_nothing(store: Store) -> None:
    question = asking("letter", that("date", "<", date("2018")))
    result = await found(
        store,
        question,
        document("a.txt", {"Issue date": "2017-01-05", "Due date": "2019-01-05"}, kind="letter"),
        document("b.txt", {"Issue date": "2016-01-05", "Due date": "2017-01-05"}, kind="letter"),
    )
    assert names(result) == ["b"]
    assert [each.reason for each in result.undecided] == ["date may be Issue date: 2017-01-05 or Due date: 2019-01-05"]


async def test_what_no_label_says_is_looked_for_in_the_text(store: Store) -> None:
    result = await found(
        store,
        asking("receipt", that("merchant", "=", words("ACME Ltd"))),
        document("a.txt", {"Merchant": "Acme, Ltd."}, kind="receipt"),
        document("b.txt", kind="receipt", text="Thank you for shopping at ACME Ltd"),
        document("c.txt", kind="receipt", text="Thank you"),
        document("d.txt", {"Merchant": "Other"}, kind="receipt", text="next door to ACME Ltd"),
    )
    assert (names(result), result.rejected) == (["a", "b"], 2)
    assert (result.completeness, result.reason) == ("approximate", f"{BY_WORDS} (1)")


async def test_a_condition_without_a_label_is_met_by_the_words(store: Store) -> None:
    result = await found(
        store,
        asking("receipt", that("", "contains", words("tires"))),
        document("a.txt", kind="receipt", text="4 x TYRE 205/55"),
        document("b.txt", kind="receipt", text="one tire, mounted"),
        document("c.txt", kind="receipt", text="we are never tired"),
        document("d.txt", kind="manual", text="Changing tires"),
    )
    assert (names(result), result.rejected, result.completeness) == (["a", "b"], 1, "exact")


async def test_the_rows_of_a_spreadsheet_are_the_things(store: Store) -> None:
    rows = [
        {"Product": "Beam", "Length": "3 m", "Weight": "40 kg"},
        {"Product": "Rod", "Length": "2 m"},
        {"Product": "Pin", "Weight": "1 kg"},
    ]
    result = await found(store, asking("part", that("length", ">", "2.5 m")), document("parts.csv", None, rows))
    assert [thing.title for thing in result.matches] == ["parts: Beam"]
    assert (result.rejected, [each.thing.title for each in result.undecided]) == (1, ["parts: Pin"])
    by_word = await found(store, asking("part", that("", "contains", words("rods"))))
    assert ([thing.title for thing in by_word.matches], by_word.rejected) == (["parts: Rod"], 2)


async def test_conditions_on_items_must_be_met_by_one_item(store: Store) -> None:
    question = asking("receipt", that("item", "contains", words("tire")), that("amount", ">", "100"), of=of("amount"))
    result = await found(
        store,
        question,
        document("a.txt", None, [{"Item": "Tire", "Amount": "150"}, {"Item": "Oil", "Amount": "30"}], kind="receipt"),
        document("b.txt", None, [{"Item": "Tire", "Amount": "90"}, {"Item": "Oil", "Amount": "130"}], kind="receipt"),
    )
    assert (names(result), result.rejected) == (["a"], 1)
    assert [stated.value.raw for stated in result.matches[0].all_of("amount")] == ["150"]


async def test_a_date_that_can_be_read_in_two_ways_is_told_where_it_matters(store: Store) -> None:
    receipt = document("a.txt", {"Date": "03/04/2018"}, kind="receipt")
    year = await found(store, asking("receipt", that("date", "=", date("2018"))), receipt)
    month = await found(store, asking("receipt", that("date", "=", date("2018-04"))))
    assert (names(year), year.completeness) == (["a"], "exact")
    assert (names(month), month.completeness, month.reason) == (["a"], "approximate", f"{DOUBT} (1)")


async def test_the_odd_invoice_in_a_folder_of_receipts_is_counted_and_told(store: Store) -> None:
    receipts = [document(f"r{number}.txt", {"Total": "10"}, kind="receipt") for number in range(9)]
    invoice = document("tax.txt", {"Total": "700"}, kind="invoice")
    result = await found(store, asking("receipt", that("total", ">", "500")), *receipts, invoice)
    assert (names(result), result.universe) == (["tax"], 10)
    assert result.reason == "what looks like invoice was counted as receipt (1)"
    few = await found(store, asking("invoice", that("total", ">", "5")))
    assert (names(few), few.universe) == (["tax"], 1)


async def test_yes_and_no_are_compared_however_they_are_written(store: Store) -> None:
    result = await found(
        store,
        asking("module", that("bifacial", "=", "yes")),
        document("a.txt", {"Bifacial": "Y"}),
        document("b.txt", {"Bifacial": "No"}),
    )
    assert (names(result), result.rejected, result.completeness) == (["a"], 1, "exact")


async def test_a_label_that_nobody_uses_leaves_all_undecided(store: Store) -> None:
    result = await found(
        store, asking("receipt", that("latitude", ">", "5")), document("a.txt", {"Total": "9"}, kind="receipt")
    )
    assert (names(result), len(result.undecided), result.completeness) == ([], 1, "incomplete")


async def test_nothing_is_claimed_where_no_document_is_about_it(store: Store) -> None:
    result = await found(store, asking("submarine", that("depth", ">", "5 m")), document("a.txt", text="a letter"))
    assert (result.universe, result.completeness) == (0, "incomplete")
    assert result.reason == "no document is about submarine"


# ── sums and files ───────────────────────────────────────────────────────────────────────────────────────────────────


async def test_cents_add_up(store: Store) -> None:
    receipts = [document(f"r{number}.txt", {"Total": "RM 0.10"}, kind="receipt") for number in range(3)]
    question = asking("receipt", of=of("total"))
    result = await found(store, question, *receipts, document("bare.txt", {"Total": "0.10"}, kind="receipt"))
    (group,) = annotations_aggregate(result, "sum", of("total")).groups
    assert [(amount.value, amount.unit) for amount in group.amounts] == [(Decimal("0.40"), "MYR")]


async def test_currencies_are_never_added_together(store: Store) -> None:
    result = await found(
        store,
        asking("receipt", of=of("total")),
        document("a.txt", {"Total": "EUR 5"}, kind="receipt"),
        document("b.txt", {"Total": "USD 7"}, kind="receipt"),
        document("c.txt", {"Total": "EUR 2.50"}, kind="receipt"),
    )
    (group,) = annotations_aggregate(result, "sum", of("total")).groups
    assert [(amount.value, amount.unit) for amount in group.amounts] == [(Decimal("7.5"), "EUR"), (Decimal(7), "USD")]


@pytest.mark.parametrize(
    ("aggregate", "value", "holders"), [("max", Decimal(9), ["b", "c"]), ("min", Decimal(3), ["a"])]
)
async def test_all_that_hold_the_extreme_are_named(
    store: Store, aggregate: Aggregate, value: Decimal, holders: list[str]
) -> None:
    result = await found(
        store,
        asking("receipt", of=of("total")),
        *(document(f"{name}.txt", {"Total": total}, kind="receipt") for name, total in zip("abc", "399", strict=True)),
    )
    (amount,) = annotations_aggregate(result, aggregate, of("total")).groups[0].amounts
    assert (amount.value, [thing.document_id for thing in amount.things]) == (value, holders)


async def test_the_earliest_date_is_a_date(store: Store) -> None:
    result = await found(
        store,
        asking("receipt", of=of("date")),
        document("a.txt", {"Date": "2018-05-01"}, kind="receipt"),
        document("b.txt", {"Date": "2016-01-24"}, kind="receipt"),
    )
    (amount,) = annotations_aggregate(result, "min", of("date")).groups[0].amounts
    assert (amount.value, [thing.document_id for thing in amount.things]) == ("2016-01-24", ["b"])


async def test_groups_are_counted_and_averaged_and_gaps_are_told(store: Store) -> None:
    result = await found(
        store,
        asking("receipt", of=of("total"), group_by="merchant"),
        document("a.txt", {"Merchant": "Aeon", "Total": "10"}, kind="receipt"),
        document("b.txt", {"Merchant": "AEON", "Total": "20"}, kind="receipt"),
        document("c.txt", {"Merchant": "Tesco"}, kind="receipt"),
    )
    summed = annotations_aggregate(result, "average", of("total"), "merchant")
    assert [(group.key, group.count, [amount.value for amount in group.amounts]) for group in summed.groups] == [
        ("Aeon", 2, [Decimal(15)]),
        ("Tesco", 1, []),
    ]
    assert [thing.document_id for thing in summed.missing] == ["c"]
    assert (summed.completeness, summed.reason) == ("incomplete", "1 of 3 matches do not state total")


async def test_the_file_of_all_matches_runs_no_formula(store: Store) -> None:
    result = await found(
        store,
        asking("receipt", that("total", ">", "1"), show=("merchant",)),
        document("a.txt", {"Total": "10", "Merchant": '=HYPERLINK("http://x","y")'}, kind="receipt"),
    )
    head, row = csv.reader(io.StringIO(export_annotations_csv(result)))
    assert head == ["document", "title", "page", "total", "merchant", "total: passage", "merchant: passage"]
    assert row[:5] == ["a", "a", "1", "10", '\'=HYPERLINK("http://x","y")']
    assert row[5].startswith("Total ")
