"""What the truth says can be read on some page, in whatever words and units; what it leaves empty is nowhere."""

from __future__ import annotations

import re
from typing import Any

import pytest

from tablewright.sample.documents import sample_files
from tablewright.sample.site import SamplePage, site_address
from tablewright.sample.world import sample_pages, sample_world

LITRES = {"l": 1.0, "litre": 1.0, "liter": 1.0, "litres": 1.0, "ml": 0.001, "fl oz": 0.0295735, "cups": 0.236588}
KILOGRAMS = {"kg": 1.0, "g": 0.001, "lb": 0.453592}
CENTIMETRES = {"cm": 1.0, "mm": 0.1, "m": 100.0, "ft": 30.48}
SIGNS = {"GBP": "£", "EUR": "€", "USD": "$", "JPY": "¥", "NOK": "NOK", "SEK": "SEK", "CAD": "C$", "CHF": "CHF"}
HEADCOUNT = re.compile(
    r"\d[\d,]*\s+(?:employees|staff|colleagues|persons|people)\b|(?:employees|staff|workforce of|headcount)\W{1,3}\d",
    re.I,
)


def readable() -> list[SamplePage]:
    """Pages that any visitor may and can read."""
    closed = {site.name: site.forbids for site in sample_world().values()}
    return [
        page
        for page in sample_pages()
        if page.status == 200 and not page.consent and not page.path.startswith(closed[page.site] or ("\0",))
    ]


def about(company: dict[str, Any]) -> list[str]:
    """The texts about a company: of its own site, and of others whose title names it."""
    own = (company["fields"]["website"] or "").removeprefix("http://www.").removesuffix(".example")
    city = company["fields"]["headquarters"] or "\0"
    return [
        f"{page.title}\n{page.text}"
        for page in readable()
        if page.site == own
        or (company["name"].removesuffix(" Logistics") in f"{page.title}\n{page.text}" and city in page.text)
    ]


def test_every_fact_about_a_company_can_be_read_somewhere(truth: dict[str, Any]) -> None:
    for company in truth["companies"]:
        texts = about(company)
        for field, value in company["fields"].items():
            if value is None:
                continue
            wanted = f"{value:,}" if field == "employees" else str(value).removeprefix("http://")
            if field == "website":
                texts = [*texts, *(page.body for page in readable() if page.site in ("candlewickpedia", "ledgerline"))]
            pattern = rf"(?<![\d,]){re.escape(wanted)}(?![\d]|,\d)"
            assert any(re.search(pattern, text) for text in texts), f"{company['name']}: {field} {wanted}"


def test_what_is_empty_stands_nowhere(truth: dict[str, Any]) -> None:
    empty = [company for company in truth["companies"] if None in company["fields"].values()]
    assert [company["id"] for company in empty] == ["zwaluwmolen", "quillon", "drumlinvale", "thistledown"]
    for company in empty:
        fields = company["fields"]
        assert company["empty_because"].keys() == {name for name, value in fields.items() if value is None}
        sentences = [
            sentence
            for page in sample_pages()
            if company["name"].split()[0] in f"{page.title} {page.text} {page.indexed}"
            for sentence in re.split(r"[.\n]", f"{page.text}\n{page.indexed}")
        ]
        if company["id"] == "drumlinvale":
            assert "drumlinvale" not in sample_world()
            assert not any("drumlinvale.example" in page.body for page in sample_pages())
        elif company["id"] == "thistledown":
            assert sentences == []
        else:
            assert [sentence for sentence in sentences if HEADCOUNT.search(sentence)] == []


def test_the_pattern_for_headcounts_would_find_one() -> None:
    assert HEADCOUNT.search("Around 275 people work for Skagerby Marine")
    assert HEADCOUNT.search("Number of employees | c. 1,450") is None
    assert HEADCOUNT.search("Employees | 520")
    assert HEADCOUNT.search("the company, which has about 1,450 staff")


def kettle_pages(kettle: dict[str, Any]) -> str:
    (page,) = [page for page in sample_pages() if page.title == kettle["name"] and page.path.startswith("/kettles/")]
    return page.text


def measures(text: str, units: dict[str, float]) -> list[float]:
    names = "|".join(sorted(units, key=len, reverse=True))
    found = re.findall(rf"(\d[\d.,]*)\s*({names})\b", text, re.IGNORECASE)
    return [number(amount) * units[unit.lower()] for amount, unit in found]


def number(text: str) -> float:
    """1,5 is one and a half; 1,150 is a thousand and more."""
    return float(re.sub(r",(?=\d{3}\b)", "", text).replace(",", "."))


@pytest.mark.parametrize(
    ("field", "units"), [("capacity_l", LITRES), ("weight_kg", KILOGRAMS), ("power_w", {"w": 1.0, "watts": 1.0})]
)
def test_every_measure_of_a_kettle_stands_on_its_makers_page(
    truth: dict[str, Any], field: str, units: dict[str, float]
) -> None:
    assert len(truth["kettles"]) == 35
    assert len({kettle["maker"] for kettle in truth["kettles"]}) == 10
    for kettle in truth["kettles"]:
        value, stated = kettle["fields"][field], measures(kettle_pages(kettle), units)
        if value is None:
            assert stated == [], kettle["name"]
        else:
            assert any(abs(amount - value) <= 0.01 * value for amount in stated), f"{kettle['name']}: {value} {stated}"


def price_pattern(price: dict[str, Any]) -> str:
    sign = re.escape(SIGNS[price["currency"]])
    written = re.escape(f"{price['amount']:,.2f}").replace(r"\.00", r"(?:\.00)?")
    written = written.replace(",", "[ ,]").replace(r"\.", "[.,]")
    return rf"{sign} ?{written}(?!\d)|(?<!\d){written} ?{sign}"


def test_prices_materials_and_times_of_kettles_stand_on_their_makers_pages(truth: dict[str, Any]) -> None:
    for kettle in truth["kettles"]:
        text, fields = kettle_pages(kettle), kettle["fields"]
        price = price_pattern(fields["price"])
        assert re.search(price, text), f"{kettle['name']}: {price}"
        assert fields["material"] in text
        assert re.search(rf"(?<!\d){fields['warranty_years']} year", text), kettle["name"]
        if fields["keep_warm_min"]:
            assert re.search(rf"(?<!\d){fields['keep_warm_min']} min", text), kettle["name"]
        assert (
            bool(re.search(r"\d.* °[CF]|\d presets", text.partition("Specifications")[2]))
            == (fields["variable_temperature"])
        ), kettle["name"]


def lamp_page(lamp: dict[str, Any]) -> SamplePage:
    (page,) = [page for page in sample_pages() if page.title == lamp["name"] and page.path.startswith("/lamps/")]
    return page


@pytest.mark.parametrize(
    ("field", "units"),
    [
        ("flux_lm", {"lm": 1.0, "lumen": 1.0, "lumens": 1.0}),
        ("power_w", {"w": 1.0, "watt": 1.0, "watts": 1.0}),
        ("height_cm", CENTIMETRES),
        ("weight_kg", KILOGRAMS),
        ("cable_m", {unit: length / 100 for unit, length in CENTIMETRES.items()}),
    ],
)
def test_every_measure_of_a_lamp_stands_on_its_makers_page(
    truth: dict[str, Any], field: str, units: dict[str, float]
) -> None:
    assert len(truth["lamps"]) == 24
    assert len({lamp["maker"] for lamp in truth["lamps"]}) == 8
    for lamp in truth["lamps"]:
        value, stated = lamp["fields"][field], measures(lamp_page(lamp).text, units)
        if value is None:
            assert stated == [], lamp["name"]
        else:
            assert any(abs(amount - value) <= 0.01 * value for amount in stated), f"{lamp['name']}: {value} {stated}"


def test_colours_prices_and_other_facts_of_lamps_stand_on_their_makers_pages(truth: dict[str, Any]) -> None:
    for lamp in truth["lamps"]:
        page, fields = lamp_page(lamp), lamp["fields"]
        kelvins = [int(kelvin) for kelvin in re.findall(r"\b\d{4}(?=(?:(?:–| to )\d{4})? K\b)", page.text)]
        colour = fields["colour_temperature_k"]
        assert kelvins == (sorted({colour["from"], colour["to"]}) if colour else []), lamp["name"]
        rendering = re.findall(r"(?:CRI\)?|rendering index|Ra)(?:[:|]|Ra|[ >≥])*(\d\d)\b", page.text)
        assert rendering == ([str(fields["cri"])] if fields["cri"] else []), lamp["name"]
        for field in ("material", "base"):
            assert fields[field] is None or fields[field] in page.text, lamp["name"]
        years = fields["warranty_years"]
        assert years is None or re.search(rf"(?<!\d){years} year", page.text), lamp["name"]
        text = sample_world()[page.site].pages["/"].text if page.status == 403 else page.text
        prices = re.findall("|".join(map(re.escape, SIGNS.values())), text)
        assert bool(prices) == bool(fields["price"]), lamp["name"]
        assert not prices or re.search(price_pattern(fields["price"]), text), lamp["name"]
        assert bool(re.search("discontinued", page.text, re.IGNORECASE)) == lamp["discontinued"]


def test_lamps_say_in_many_words_whether_they_can_be_dimmed(truth: dict[str, Any]) -> None:
    wordings = set()
    for lamp in truth["lamps"]:
        if lamp["fields"]["dimmable"] is None:
            continue
        found = re.search(
            r"(?:dimmable\)?\??|dimm(?:ing|er):?|light control)[ :|]+([^\n·]+)", lamp_page(lamp).text, re.I
        )
        assert found, lamp["name"]
        wordings.add(found[1].strip())
        assert bool(re.match(r"no\b|not\b", found[1], re.I)) != lamp["fields"]["dimmable"], (
            f"{lamp['name']}: {found[1]}"
        )
    assert len(wordings) >= 12


def test_what_is_not_said_of_a_lamp_has_its_reason(truth: dict[str, Any]) -> None:
    reasons = {}
    for lamp in truth["lamps"]:
        empty = {field for field, value in lamp["fields"].items() if value is None}
        assert lamp.get("empty_because", {}).keys() == empty, lamp["name"]
        if empty:
            reasons[lamp["id"]] = set(lamp["empty_because"].values())
            assert ("blocked" in reasons[lamp["id"]]) == (lamp_page(lamp).status == 403)
    assert reasons == {
        "falenora-velo-grande": {"not_found"},
        "inkwell-daughters-dogsbody": {"not_found"},
        "inkwell-daughters-nightwatch": {"blocked"},
    }


def test_every_fact_about_a_provider_stands_on_its_site(truth: dict[str, Any]) -> None:
    assert len(truth["providers"]) == 8
    for provider in truth["providers"]:
        fields = provider["fields"]
        (site,) = [site for site in sample_world().values() if site_address(site.name) == fields["website"]]
        text = "\n".join(f"{page.title}\n{page.text}" for page in site.pages.values())
        for field in ("founded", "headquarters", "ceo", "employees"):
            assert fields[field] is None or str(fields[field]) in text, f"{provider['name']}: {field}"
        assert all(client in text for client in fields["clients"]), provider["name"]
        price = f"{fields['price']['amount']:,.2f}".removesuffix(".00")
        assert re.search(re.escape(price).replace(",", "[.,]"), text), f"{provider['name']}: {price}"
        if fields["employees"] is None:
            assert HEADCOUNT.search(text) is None, provider["name"]


def test_receipts_say_what_the_truth_says(truth: dict[str, Any]) -> None:
    papers = {paper.name: paper.text for paper in sample_files()}
    receipts = truth["documents"]["receipts"]
    assert len(receipts) == 25
    assert sum(receipt["tires"] for receipt in receipts) == 10
    for receipt in receipts:
        text = papers[receipt["file"]]
        amount = receipt["total"]["amount"]
        total = f"{amount:.2f}" if receipt["total"]["currency"] != "JPY" else str(amount)
        assert total in text.split("Total due" if "Total due" in text else "TOTAL")[-1], receipt["no"]
        assert {receipt["no"], receipt["date"], receipt["total"]["currency"]} <= set(re.findall(r"[\w-]+", text))
        items = text.replace(receipt["shop"], "").replace(receipt["shop"].upper(), "")
        assert bool(re.search(r"\bt[iy]res?\b", items, re.IGNORECASE)) == receipt["tires"], receipt["no"]
    others = [receipt for receipt in receipts if not receipt["tires"]]
    alike = [receipt["no"] for receipt in others if "tire" in papers[receipt["file"]].lower()]
    assert alike == ["R-005", "R-010", "R-012"]


def test_data_sheets_say_what_the_truth_says(truth: dict[str, Any]) -> None:
    papers = {paper.name: paper.text for paper in sample_files()}
    panels = truth["documents"]["datasheets"]
    assert len(panels) == 12
    for panel in panels:
        text = papers[panel["file"]]
        lengths = measures(text, {"mm": 1.0, "cm": 10.0, "m": 1000.0, "in": 25.4})
        for wanted in (panel["width_mm"], panel["height_mm"]):
            assert any(abs(length - wanted) <= 1 for length in lengths), f"{panel['model']}: {wanted} {lengths}"
        assert any(abs(mass - panel["weight_kg"]) <= 0.06 for mass in measures(text, KILOGRAMS)), panel["model"]
        assert f"{panel['power_w']} W" in text
        assert f"{panel['efficiency_percent']:.1f} %" in text
