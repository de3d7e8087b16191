"""The evidence rule fails closed: what code cannot see in a retrieved text is no evidence."""

from __future__ import annotations

import pytest

from tablewright.citations.evidence import FROM_STATEMENT, are_independent, basis_for_rule, find_proving_rule, is_copy
from tablewright.domain.model import Field, FieldType
from tablewright.domain.retrieved import Retrieved
from tablewright.strategies.findings import combine_scores


@pytest.mark.parametrize(
    ("type_", "unit", "value", "quote"),
    [
        ("text", "", "Port Merrin", "headquartered in Port Merrin since 2004"),
        ("text", "", "Zoe Lindqvarn", "led by Zoë Lindqvärn"),
        ("text", "", "1987", "founded on 3 May 1987"),
        ("text", "", "3 May 1987", "founded on May 3, 1987"),
        ("number", "", "1987", "founded in 1987"),
        ("number", "", "1450", "employs around 1,450 people"),
        ("number", "kg", "1.18", "weighs 1,180 g"),
        ("number", "l", "1.7 l", "holds 1.7 litres"),
        ("number", "kg", "907.2", "Net weight: 2,000 lb"),
        ("number", "kg", "2.3", "Mass\n2.3 kg"),
        ("number", "m", "0.84", "| Height (cm) | 84 |"),
        ("number", "m", "0.951", "Size (length x width): 1886 x 951 mm"),
        ("number", "MΩ", "470 kΩ", "Coil | 470 | kΩ"),
        ("number", "MΩ", "0.47", "Coil | 470 | kΩ"),
        ("number", "", "2 million", "sold 2,000,000 of them"),
        ("money", "", "£38.50", "now only £38.50"),
        ("date", "", "1987-05-03", "founded on May 3, 1987"),
        ("date", "", "1987", "founded on May 3, 1987"),
        ("boolean", "", "yes", "Keep warm: yes"),
        ("boolean", "", "no", "Waterproof? No, sheds drizzle"),
        ("boolean", "", "no", "RAIN COVER ........... NO"),
        ("boolean", "", "yes", "Suitable for travel\nyes, made for it"),
        ("number", "s", "15", "done in a quarter of a minute"),
        ("number", "min", "30", "takes half an hour"),
        ("number", "min", "45", "about three quarters of an hour"),
        ("number", "h", "1", "charges in about an hour"),
        ("number", "min", "60", "charges in about an hour"),
        ("number", "cm", "100", "a metre long"),
        ("number", "h", "50", "plays for fifty hours, with drivers of 40 mm"),
        ("number", "l", "2", "fasst zwei Liter"),
        ("text", "", "1 hour", "charges in about an hour"),
        ("list", "", "steel; glass", "made of steel and glass"),
        ("url", "", "https://www.acme.example", "See acme.example for more"),
        ("date", "", "2007-12-06", "Date & Time: 12/06/2007, 1308 CST"),
        ("date", "", "2007-06-12", "Date & Time: 12/06/2007, 1308 CST"),
        ("text", "", "EUR", "Total: € 12,50"),
        ("text", "", "2 years", "for a period of two (2) years from the date hereof"),
        ("text", "", "1 year", "shall remain in effect for one year"),
        ("text", "", "1600 kg", "hebt hinten 1,6 t"),
        ("number", "", "9", "L'effectif est de neuf salariés"),
        ("number", "", "14", "beschäftigt vierzehn Mitarbeiter"),
        ("number", "km/h", "26.9", "Vitesse : 14,5 nœuds."),
        ("number", "m", "980", "auf 980 Metern über dem Meer"),
        ("number", "imp gal", "5", "holds 5 gallons"),
        ("money", "", "NOK 12 million", "12 millioner kroner"),
        ("money", "", "31900 JPY", "Model 45 – ¥31,900"),
        ("money", "", "119.95 EUR", "Alm 24 – 119,95 €"),
        ("text", "", "16th century", "The bridge dates from 1584."),
        ("text", "", "the 1980s", "It opened on 3 May 1987."),
        ("text", "", "1980er Jahre", "eröffnet 1987"),
        ("text", "", "siglo XVI", "construido en 1584"),
        ("text", "", "XIXe siècle", "bâti en 1900"),
    ],
)
def test_a_value_that_the_quote_states_or_converts_to_follows(
    type_: FieldType, unit: str, value: str, quote: str
) -> None:
    assert find_proving_rule(value, quote, Field(name="X", type=type_, unit=unit))


@pytest.mark.parametrize(
    ("type_", "unit", "value", "quote"),
    [
        ("text", "", "Aldermoor", "headquartered in Port Merrin"),
        ("text", "", "16th century", "The bridge dates from 1684."),
        ("text", "", "16th century", "The bridge dates from 1500."),
        ("text", "", "1980s", "It opened in 1990."),
        ("text", "", "early 1980s", "It opened in 1987."),
        ("text", "", "", "anything"),
        ("text", "", "n/a", "n/a"),
        ("number", "", "1988", "founded in 1987"),
        ("number", "", "87", "founded in 1987"),
        ("number", "kg", "1180", "weighs 1.18 kg"),
        ("number", "kg", "908.4", "Net weight: 2,000 lb"),
        ("number", "kg", "2", "weighs 5 lb"),
        ("number", "s", "25", "done in a quarter of a minute"),
        ("number", "h", "1", "goes 50 miles an hour"),
        ("number", "h", "1", "costs 5 dollars an hour"),
        ("number", "h", "2", "charges in about an hour"),
        ("boolean", "", "yes", "Waterproof? No, sheds drizzle"),
        ("money", "", "€38.50", "now only £38.50"),
        ("date", "", "1987-05-04", "founded on May 3, 1987"),
        ("boolean", "", "yes", "It has no keep-warm function, and does not support it"),
        ("list", "", "steel; gold", "made of steel and glass"),
        ("url", "", "https://evil.example", "See acme.example for more"),
        ("select", "", "Red", "It is blue"),
        ("date", "", "2007-12-07", "Date & Time: 12/06/2007, 1308 CST"),
        ("text", "", "USD", "Total: € 12,50"),
        ("text", "", "3 years", "for a period of two (2) years from the date hereof"),
        ("number", "km/h", "23", "Max speed 23 kn"),
        ("number", "m", "84", "| Height (cm) | 84 |"),
        ("number", "km/h", "30", "Vitesse : 14,5 nœuds."),
        ("number", "km/h", "26.9", "Vitesse : 14,5 (2)"),
    ],
)
def test_a_value_that_the_quote_does_not_give_does_not_follow(
    type_: FieldType, unit: str, value: str, quote: str
) -> None:
    options = ("Red", "Blue") if type_ == "select" else ()
    assert not find_proving_rule(value, quote, Field(name="Keep warm", type=type_, unit=unit, options=options))


@pytest.mark.parametrize(
    ("value", "quote", "rule"),
    [
        ("189 GBP", "Otter 54 – £189.00", "amount"),
        ("119.95 EUR", "Alm 24 – 119,95 €", "one end of a range"),
        ("24 EUR", "Alm 24 – 119,95 €", "one end of a range"),
        ("25 EUR", "Alm 24 – 119,95 €", ""),
        ("119.95 EUR", "Alm 24 – 119,95 €. Ihr Preis: 119,95 €", "amount"),
    ],
)
def test_neither_end_of_what_may_be_a_range_of_prices_is_simply_stated(value: str, quote: str, rule: str) -> None:
    assert find_proving_rule(value, quote, Field(name="Price", type="money")) == rule


@pytest.mark.parametrize(
    ("value", "quote", "rule"),
    [
        ("yes", "Dimmable | Yes, with any lamp", "stated"),
        ("no", "Dimmable: no", "stated"),
        ("yes", "A dimmable lamp for the desk", FROM_STATEMENT),
        ("no", "The lamp is not dimmable", FROM_STATEMENT),
        ("no", "It isn't a dimmable lamp", FROM_STATEMENT),
        ("no", "No assembly needed. Dimmable in four steps.", ""),
        ("no", "Dimmable, not for outdoor use", ""),
        ("yes", "Not only bright but dimmable", ""),
        ("no", "It does not flicker", ""),
        ("no", "Lamp: it does not flicker", ""),
    ],
)
def test_a_denial_proves_a_no_only_of_what_it_denies(value: str, quote: str, rule: str) -> None:
    assert find_proving_rule(value, quote, Field(name="Dimmable", type="boolean")) == rule


ARTICLE = " ".join(f"word{number}" for number in range(80))


def test_two_sources_of_one_domain_are_one() -> None:
    one = Retrieved(origin="http://a.example/1", text="this", domain="a.example")
    other = Retrieved(origin="http://a.example/2", text="that", domain="a.example")
    assert not are_independent(one, other)


def test_a_syndicated_copy_is_no_second_source() -> None:
    one = Retrieved(origin="http://a.example/1", text=f"By our staff. {ARTICLE}", domain="a.example")
    copy = Retrieved(origin="http://b.example/2", text=f"{ARTICLE} Reprinted with leave.", domain="b.example")
    own = Retrieved(origin="http://c.example/3", text="Acme was founded in 1987 in Port Merrin.", domain="c.example")
    assert is_copy(one.text, copy.text)
    assert not are_independent(one, copy)
    assert are_independent(one, own)


def test_confidence_grows_with_independent_sources_and_falls_with_contradiction() -> None:
    alone, both, disputed = combine_scores([0.8]), combine_scores([0.8, 0.8]), combine_scores([0.8], [0.8])
    assert disputed < alone < both <= 0.99
    assert combine_scores([0.8], snippet=True) < alone
    assert combine_scores([]) == 0.0
    assert combine_scores([0.9]) > combine_scores([0.5])


def test_a_decade_or_century_of_a_year_is_a_conversion_that_is_named() -> None:
    era = Field(name="Era", type="select", options=("16th century", "1980s"))
    assert find_proving_rule("16th century", "The bridge dates from 1584.", era) == "century of a year"
    assert find_proving_rule("1980s", "The bridge dates from 1987.", era) == "decade of a year"
    assert basis_for_rule("century of a year") == "converted"
