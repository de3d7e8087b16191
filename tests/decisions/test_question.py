"""Questions taken apart by the rule, in many fields; and what of a model's reading is believed."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec import structs

from tablewright.decisions.decision import Unusable
from tablewright.decisions.understand_question import Ask, Taken, Understand
from tablewright.table.corpus import Condition, Quantity, Question, Typed
from tests.growth import grows_in_proportion

TODAY = "2024-05-15"
BIKES: dict[str, Any] = {"kinds": ("data sheet",), "labels": ("weight", "frame size", "price", "colour", "gears")}
PAPERS: dict[str, Any] = {"kinds": ("invoice", "receipt"), "labels": ("total", "vendor", "date", "due date", "paid")}
CONTRACTS: dict[str, Any] = {"kinds": ("contract",), "labels": ("party", "effective date", "term", "notice period")}
MACHINES: dict[str, Any] = {
    "kinds": ("data sheet", "manual"), "labels": ("rated power", "weight", "length", "width", "height", "noise level"),
}  # fmt: skip
STAFF: dict[str, Any] = {"kinds": ("spreadsheet",), "labels": ("name", "department", "salary", "hire date", "age")}
PANELS: dict[str, Any] = {"labels": ("bifacial", "maximum power", "cell type")}


def understood(text: str, **around: Any) -> Question:
    return Understand().fallback(Ask(text=text, today=TODAY, **around))


def shown(of: Quantity | None) -> str:
    if of is None:
        return ""
    return f"{of.operation}({', '.join(map(shown, of.parts))})" if of.operation else of.label


def value(typed: Typed) -> str:
    if typed.date or typed.truth is not None:
        return typed.date or str(typed.truth)
    if typed.si is not None:
        return f"{typed.si:g} {typed.base}".strip()
    return typed.raw if typed.number is None else f"{typed.number:g} {typed.currency}".strip()


def demand(condition: Condition) -> str:
    values = " | ".join(map(value, condition.values))
    return f"{shown(condition.of) or '*'} {condition.comparator} {values}"


def demands(text: str, **around: Any) -> list[str]:
    return sorted(map(demand, understood(text, **around).conditions))


# ── numbers ──────────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("text", "around", "things", "expected"),
    [
        ("Bikes lighter than 12 kg that cost less than 1500 euros", BIKES, "bike",
         ["price < 1500 EUR", "weight < 12 kg"]),
        ("How many bikes weigh between 10 and 14 kg?", BIKES, "bike", ["weight between 10 kg | 14 kg"]),
        ("bikes with a frame size of at least 54 cm", BIKES, "bike", ["frame size >= 0.54 m"]),
        ("Which mountain bikes have at least 21 gears?", BIKES, "mountain bike", ["gears >= 21"]),
        ("solar panels at most 1.2 m wide", {}, "solar panel", ["width <= 1.2 m"]),
        ("modules 1.5 m long or less", {}, "module", ["length <= 1.5 m"]),
        ("Compressors whose rated power is above 5 kW and noise level at most 70 dB", MACHINES, "compressor",
         ["noise level <= 70 dB", "rated power > 5000 W"]),
        ("pumps whose length and width are below 60 cm", MACHINES, "pump", ["length < 0.6 m", "width < 0.6 m"]),
        ("Which machines have a maximum pressure of 10 bar or more?", MACHINES, "machine",
         ["maximum pressure >= 1e+06 Pa"]),
        ("How many contracts have a notice period longer than 90 days?", CONTRACTS, "contract",
         ["notice period > 7.776e+06 s"]),
        ("Employees older than 50 and younger than 60", STAFF, "employee", ["age < 60", "age > 50"]),
        ("Batteries with a capacity of 100 Ah", {}, "battery", ["capacity = 100 Ah"]),
        ("lamps with 12 LEDs", {}, "lamp", ["LEDs = 12"]),
        ("receipts over $500", PAPERS, "receipt", ["total > 500 USD"]),
        ("bikes under €900", BIKES, "bike", ["price < 900 EUR"]),
        ("Which invoices exceed 10k?", PAPERS, "invoice", ["total > 10000"]),
        ("ovens with a thermal drift weaker (closer to zero) than -0.2 %/C", {}, "oven",
         ["abs(thermal drift) < 0.2 %/°C"]),
        ("pumps whose net power is at least 80 percent of the gross power", {}, "pump",
         ["/(net power, gross power) >= 0.8"]),
        ("machines whose height is more than twice the width", MACHINES, "machine", ["/(height, width) > 2"]),
        ("boxes with a loading ratio (weight divided by length times width) above 20 kg/m2", {}, "box",
         ["/(weight, *(length, width)) > 20 kg/m²"]),
        ("tables with an area below 2 m²", {}, "table", ["*(length, width) < 2 m²"]),
        ("shelves that fit in a 2.00 m by 0.80 m space (either orientation)", {}, "shelf",
         ["max(length, width) <= 2 m", "min(length, width) <= 0.8 m"]),
    ],
)  # fmt: skip
def test_comparisons_have_a_quantity_a_comparator_and_a_value_in_si(
    text: str, around: dict[str, Any], things: str, expected: list[str]
) -> None:
    question = understood(text, **around)
    assert (question.intent, question.things) == ("enumeration", things)
    assert sorted(map(demand, question.conditions)) == expected


def test_a_box_of_three_sides_compares_the_middle_side_too() -> None:
    assert demands("parcels that fit in a 60 cm by 40 cm by 30 cm box")[0] == (
        "-(-(+(length, width, height), max(length, width, height)), min(length, width, height)) <= 0.4 m"
    )


def test_a_derived_quantity_is_worked_out_of_the_labels_there_are() -> None:
    text = "panels with a power density below 110 W per square metre"
    assert demands(text, labels=("voltage", "maximum power")) == ["/(maximum power, *(length, width)) < 110 W/m²"]
    assert demands(text, labels=("Power density",)) == ["Power density < 110 W/m²"]


# ── words and dates ──────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("text", "around", "expected"),
    [
        ("all receipts that contain tires", PAPERS, ["* contains tires"]),
        ("List every tire purchase receipt.", PAPERS, ["* contains tire"]),
        ("receipts mentioning asbestos or lead", PAPERS, ["* contains asbestos | lead"]),
        ("contracts that mention arbitration and breach of contract", CONTRACTS,
         ["* contains arbitration", "* contains breach of contract"]),
        ('How many invoices are from the vendor "Müller & Co. (Nord) KG" (same name, ignoring case)?', PAPERS,
         ["vendor = Müller & Co. (Nord) KG"]),
        ('receipts from "Corner Shop"', {"kinds": ("receipt",)}, ["merchant = Corner Shop"]),
        ("Invoices from ACME over $500 that are not paid", PAPERS,
         ["paid = False", "total > 500 USD", "vendor contains ACME"]),
        ("How many receipts carry a shop address in Port Merrin?", PAPERS, ["shop address contains Port Merrin"]),
        ("Machines made in Germany", MACHINES, ["* contains Germany"]),
        ("contracts without a termination clause", CONTRACTS, ["* != termination clause"]),
        ("Machines with no CE marking", MACHINES, ["* != CE marking"]),
        ("List all red bikes with disc brakes", BIKES, ["* contains disc brakes", "* contains red"]),
        ("Folding bikes (Brompton, Dahon or Tern)", BIKES, ["* contains Brompton | Dahon | Tern"]),
        ("CdTe modules", PANELS, ["* contains CdTe"]),
        ("bifacial modules", PANELS, ["bifacial = True"]),
        ("modules that are not bifacial", PANELS, ["bifacial = False"]),
        ("modules whose cell type is CdTe or CIGS", PANELS, ["cell type = CdTe | CIGS"]),
        ("Employees in the Sales department earning more than 60,000", STAFF, ["department = Sales", "salary > 60000"]),
        ("tickets with priority high or urgent", {"labels": ("priority",)}, ["priority = high | urgent"]),
        ("E-mails from alice@example.com about the budget", {"kinds": ("e-mail",)},
         ["* contains budget", "from contains alice@example.com"]),
        ("How many receipts are dated in 2018-03 (year-month; the day comes first)?", PAPERS,
         ["date between 2018-03-01 | 2018-03-31"]),
        ("Contracts that expire before 2026-01-01", CONTRACTS, ["expiry date <= 2025-12-31"]),
        ("employees hired since 2020", STAFF, ["hire date >= 2020-01-01"]),
        ("How many invoices are due next month?", PAPERS, ["due date between 2024-06-01 | 2024-06-30"]),
        ("receipts for tires from 2019 to 2021", PAPERS, ["* contains tires", "date between 2019-01-01 | 2021-12-31"]),
    ],
)  # fmt: skip
def test_demands_in_words_and_dates(text: str, around: dict[str, Any], expected: list[str]) -> None:
    question = understood(text, **around)
    assert question.intent == "enumeration"
    assert sorted(map(demand, question.conditions)) == expected


def test_quoted_words_are_phrases() -> None:
    assert understood('e-mails that mention "Project Falcon"').phrases == ("Project Falcon",)


def test_an_adjective_that_is_part_of_a_kind_s_name_demands_nothing() -> None:
    question = understood("Which medical reports are there?", kinds=("medical report",))
    assert (question.things, question.conditions) == ("medical report", ())


# ── aggregates ───────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("text", "around", "things", "aggregate", "of", "by"),
    [
        ("How many employees are there per department?", STAFF, "employee", "count", "", "department"),
        ("number of receipts by month", PAPERS, "receipt", "count", "", "month"),
        ("How many receipts were paid by card?", PAPERS, "receipt", "count", "", ""),
        ("What is the sum of the totals of all invoices from Globex?", PAPERS, "invoice", "sum", "total", ""),
        ("What is the sum of all invoices from Globex?", PAPERS, "invoice", "sum", "total", ""),
        ("average price of the Trek bikes per colour", BIKES, "bike", "average", "price", "colour"),
        ("average salary of employees in Berlin", STAFF, "employee", "average", "salary", ""),
        ("Total amount per vendor in 2023", PAPERS, "", "sum", "total", "vendor"),
        ("How much did we spend on tires last quarter?", PAPERS, "", "sum", "total", ""),
        ("Which receipt has the largest total?", PAPERS, "receipt", "max", "total", ""),
        ("receipt with the largest total", PAPERS, "receipt", "max", "total", ""),
        ("What is the earliest invoice date?", PAPERS, "invoice", "min", "date", ""),
        ("What is the cheapest bike with hydraulic brakes?", BIKES, "bike", "min", "price", ""),
        ("Which machine is the heaviest?", MACHINES, "machine", "max", "weight", ""),
        ("Who is the oldest employee?", STAFF, "employee", "max", "age", ""),
        ("the most recent invoice from Globex", PAPERS, "invoice", "max", "date", ""),
        ("Which vendor has the most invoices?", PAPERS, "invoice", "count", "", "vendor"),
        ("What is the highest rated power among the electric pumps?", MACHINES, "pump", "max", "rated power", ""),
    ],
)
def test_aggregates(text: str, around: dict[str, Any], things: str, aggregate: str, of: str, by: str) -> None:
    question = understood(text, **around)
    assert question.intent == "enumeration"
    assert (question.things, question.aggregate, shown(question.of), question.group_by) == (things, aggregate, of, by)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Which receipt has the largest total, and from which vendor?", ("vendor",)),
        ("What is the earliest receipt date, and which receipt(s) carry it?", ()),
        ("What is the largest invoice from Globex, and when is it due?", ("due date",)),
        ("Which receipts have a total above 500.00? Give their ids.", ()),
        ("Which receipts have a total above 500.00? Give their dates and vendors.", ("date", "vendor")),
        ("List invoices and their totals.", ("total",)),
    ],
)
def test_what_is_asked_besides_is_shown_and_no_condition(text: str, expected: tuple[str, ...]) -> None:
    question = understood(text, **PAPERS)
    assert question.show == expected
    assert all("ids" not in condition.words for condition in question.conditions)


# ── one number, or an explanation ────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("text", "of", "subject"),
    [
        ("What is the width of the X-200?", "width", "X-200"),
        ("How heavy is the Canyon Endurace 7?", "weight", "Canyon Endurace 7"),
        ("How much does the Kettle 3000 cost?", "price", "Kettle 3000"),
        ("How many teeth does the GX-40 have?", "teeth", "GX-40"),
        ("What is the total of invoice INV-2023-118?", "total", "INV-2023-118"),
        ("What is the notice period of the contract with Initech?", "notice period", "Initech"),
        ("What was Globex's capital expenditure in FY2018?", "capital expenditure", "Globex"),
    ],
)
def test_one_number_of_one_thing_is_looked_up(text: str, of: str, subject: str) -> None:
    question = understood(text, labels=("notice period",))
    assert (question.intent, shown(question.of)) == ("numeric", of)
    assert [demand(condition) for condition in question.conditions] == [f"* contains {subject}"]


@pytest.mark.parametrize(
    "text",
    [
        "How does the arbitration clause work?",
        "Why is the pump so loud?",
        "What does error E23 mean?",
        "What is the purpose of the reset button?",
        "What is the difference between an NDA and an MSA?",
        "What are the benefits of insulation?",
        "Summarise the safety chapter",
        "Which cable do I need to connect the TV?",
        "DNS settings",
        "Wie hoch ist der Gesamtbetrag der Rechnung 4711?",
        "Quelles factures dépassent 500 euros ?",
        "全部の領収書",
    ],
)
def test_an_explanation_and_other_languages_are_left_to_the_search_of_texts(text: str) -> None:
    question = understood(text, kinds=("manual",))
    assert (question.intent, question.conditions, question.aggregate) == ("conceptual", (), "")
    assert question.terms


@pytest.mark.parametrize(
    "text",
    [
        "How many sailors were drowned at Cape Vell?",  # a story, and no kind of document
        "Which villages of Upper Merrin were rebuilt?",
        "What is the largest town of Merrin?",  # nothing that is stated of towns
        "What policy did Harrow follow after the war?",
        "The edict helped weavers by lowering what?",
    ],
)
def test_what_a_text_tells_of_is_no_list_although_documents_have_labels(text: str) -> None:
    assert understood(text, **PAPERS).intent == "conceptual"


@pytest.mark.parametrize(
    ("text", "around"),
    [
        ("How many machines were made with a weight above 20 kg?", MACHINES),
        ("How many employees were hired in 2020?", STAFF),
        ("Which receipts were paid in March?", PAPERS),
        ("How many panels are there?", MACHINES),
    ],
)
def test_what_documents_state_is_a_list_in_the_past_tense_too(text: str, around: dict[str, Any]) -> None:
    assert understood(text, **around).intent == "enumeration"


def test_the_terms_are_the_words_to_search_for() -> None:
    assert understood("How do I replace the water filter?").terms == ("replace", "water", "filter")
    assert understood("Which receipts mentioning tires are over $500?", **PAPERS).terms == ("receipts", "tires")


@pytest.mark.parametrize(
    "text", ["", "?", "()", '""', "(((", "and and and " * 160, "receipts from " + "Acme and " * 220]
)
def test_no_text_breaks_it_or_takes_long(text: str) -> None:
    assert grows_in_proportion(lambda size: understood(text[:size], **PAPERS), len(text))


def test_a_question_is_plain_where_every_word_is_understood() -> None:
    plain = Ask(text="receipts from ACME above 100", today=TODAY, **PAPERS)
    odd = Ask(text="receipts whose handwriting resembles my uncle", today=TODAY, **PAPERS)
    assert Understand().is_plain(plain)
    assert not Understand().is_plain(odd)


def test_those_are_the_things_of_the_last_question() -> None:
    last = understood("receipts from ACME", **PAPERS)
    assert understood("How many of those are above 100?", last=last, **PAPERS).things == "receipt"


# ── with a model ─────────────────────────────────────────────────────────────────────────────────────────────────────

ASKED = Ask(text="Things bought at Globex in 2023 for 500 dollars or more", today=TODAY, **PAPERS)


def test_the_prompt_has_kinds_labels_and_the_conversation_in_marked_blocks() -> None:
    assert Understand().prompt(structs.replace(ASKED, summary="Asked: tires")).text == (
        "What the documents have:\n"
        "<<TEXT 0 0b224c4b>>\n"
        "Kinds: invoice, receipt\nLabels:\ntotal\nvendor\ndate\ndue date\npaid\n"
        "<<END TEXT 0 0b224c4b>>\n"
        "Today: 2024-05-15\n"
        "Conversation so far:\n"
        "<<TEXT 1 ec1b5490>>\nAsked: tires\n<<END TEXT 1 ec1b5490>>\n"
        "<<QUESTION e5626111>>\n"
        "Things bought at Globex in 2023 for 500 dollars or more\n"
        "<<END QUESTION e5626111>>"
    )


def test_what_a_model_reads_is_typed() -> None:
    reply = Taken.model_validate(
        {
            "intent": "enumeration",
            "things": "receipts",
            "conditions": [
                {"label": "vendor", "comparator": "=", "value": "Globex"},
                {"label": "date", "comparator": "=", "value": "2023"},
                {"label": "total", "comparator": ">=", "value": "500 dollars"},
            ],
        }
    )
    question = Understand().check(ASKED, reply)
    assert question.things == "receipt"
    read = sorted(map(demand, question.conditions))
    assert read[0] == "date between 2023-01-01 | 2023-12-31"
    assert "total >= 500 USD" in read


def test_a_value_that_the_question_does_not_say_is_refused_and_the_rule_is_left() -> None:
    reply = Taken.model_validate(
        {"intent": "enumeration", "conditions": [{"label": "vendor", "comparator": "=", "value": "Initech"}]}
    )
    with pytest.raises(Unusable, match="Initech") as refused:
        Understand().check(ASKED, reply)
    assert refused.value.usable == Understand().fallback(ASKED)


def test_what_the_rule_worked_out_of_the_same_words_is_kept() -> None:
    asked = Ask(text="ovens with a thermal drift weaker (closer to zero) than -0.2 %/C", today=TODAY)
    reply = Taken.model_validate(
        {"intent": "enumeration", "conditions": [{"label": "thermal drift", "comparator": "<", "value": "-0.2 %/C"}]}
    )
    assert [demand(each) for each in Understand().check(asked, reply).conditions] == ["abs(thermal drift) < 0.2 %/°C"]


@pytest.mark.parametrize(
    "text",
    [
        "Was there any drop in the total paid since 2022?",
        "What is the amount of the total that ACME received from the separation of Globex?",
        "Did Globex pay its due date?",
        "How does the vendor date its invoices?",
    ],
)
def test_a_question_for_one_thing_is_no_list_whatever_a_model_says(text: str) -> None:
    asked = Ask(text=text, today=TODAY, **PAPERS)
    reply = Taken.model_validate({"intent": "enumeration", "things": "total"})
    assert Understand().check(asked, reply) == Understand().fallback(asked)
    assert Understand().fallback(asked).intent != "enumeration"
