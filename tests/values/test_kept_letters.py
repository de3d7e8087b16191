"""No letter and no digit of an answer is lost unseen: a value keeps it, or the note lists it.

10,000 texts for each type of field: answers as pages, people and models write them, the same with other words around
them, loose pieces, and noise from all of Unicode. The seeds are fixed, so a failure can be run again.
"""

from __future__ import annotations

import random
import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterator

import pytest

from tablewright.domain.model import Field, FieldType
from tablewright.domain.text import format_value
from tablewright.values.choices import read_list
from tablewright.values.coerce import VALUE_LIMITS, CoercedValue, coerce_value, list_removed
from tablewright.values.dates import MONTHS
from tests.growth import grows_in_proportion

MANY = 10_000
PLANS = ("Gold", "Gold Plus", "Silver", "Health Care", "None", "C", "C++", "Café Crème")

FIELDS: dict[FieldType, tuple[Field, ...]] = {
    "text": (Field(name="Remark"), Field(name="City of birth")),
    "number": (
        Field(name="Founded", type="number"),
        Field(name="Height", type="number", unit="cm"),
        Field(name="Share", type="number", unit="%"),
        Field(name="Revenue", type="number", unit="USD million"),
        Field(name="Staff", type="number", unit="employees"),
    ),
    "boolean": (Field(name="Has WiFi", type="boolean"),),
    "select": (Field(name="Plan", type="select", options=PLANS), Field(name="Plan", type="select")),
    "date": (Field(name="Opened", type="date"),),
    "url": (Field(name="Website", type="url"),),
    "list": (Field(name="Tags", type="list"),),
    "money": (Field(name="Price", type="money"), Field(name="Price", type="money", unit="EUR")),
}

# ── answers as they are written ──────────────────────────────────────────────────────────────────────────────────────

NAMES = (
    "Dr. Smith", "Mon - Fri", "2 - 1", "1. FC Nord", "e. coli", "Acme, Inc.", "J. R. Brown", "well-known", "9 to 5",
    "Müller & Söhne", "O'Neil", "Zürich", "北京", "Ελλάδα", "naïve", "A", "B-52", "3D", "salt and pepper", "x - y - z",
    "Hall 4 – West", "St. Mary's", "No. 7", "24/7", "état", "I. M. Pei", "« guillemets »", "C++", "e.g. this",
    "a) first",
)  # fmt: skip
BEFORE = (
    "", "", "", "", "about ", "According to the data sheet, ", "The answer is ", "Sure! Here is the answer: ", "in ",
    "As of 2023, ", "roughly ", "**Note:** ", "Based on my research, ", "It was ", "in 3 rooms, ", "(est.) ", "“",
    "from ", "up to ", "Founded: ", "Price: ", "On Monday, ",
)  # fmt: skip
AFTER = (
    "", "", "", "", " in Ohio", " (2019)", ", the 2nd of them", " per month", " years ago", " or so", ".", "”", " [1]",
    " at 14:30", " UTC", ", see page 12", " people", " kg", " and 7 more", " (unaudited)", "+", " — not final",
)  # fmt: skip


def digits(rng: random.Random, least: int = 1, most: int = 7) -> str:
    return str(rng.randint(10 ** (least - 1), 10 ** rng.randint(least, most) - 1))


def grouped(rng: random.Random) -> str:
    whole = rng.choice("{:,}|{}|{:_}".split("|")).format(rng.randint(0, 10**7)).replace("_", rng.choice(" .'"))
    return whole + rng.choice(["", "", ".5", ",75", ".250"])


def number(rng: random.Random) -> str:
    plain = grouped(rng)
    return rng.choice(
        [
            plain, plain, f"-{plain}", f"({plain})", f"{plain}%", f"{plain} percent", f"{digits(rng, 1, 3)} million",
            f"{digits(rng, 1, 3)}k", f"{digits(rng, 1, 2)}-{digits(rng, 3, 4)}", f"{digits(rng)} to {digits(rng)}",
            f"between {digits(rng)} and {digits(rng)}", f"{digits(rng, 1, 2)} ½", f"{digits(rng, 1, 2)}/8", "twelve",
            f"{digits(rng, 1, 2)} ft {rng.randint(1, 11)} in", f"{plain} cm", f"{digits(rng, 1, 3)} × {digits(rng)} mm",
            f"{digits(rng, 1, 3)} employees", f"{digits(rng, 4, 4)}", f"1.2e{rng.randint(1, 9)}", "two hundred and six",
            f"{digits(rng, 1, 2)}:{rng.randint(10, 59)} min", f"{digits(rng)} ± 5", f"${plain}", f"USD {plain}",
        ]
    )  # fmt: skip


def money(rng: random.Random) -> str:
    mark = rng.choice(["$", "€", "£", "USD ", "EUR ", "CHF ", "A$", "Rs. ", "¥"])
    amount = grouped(rng)
    return rng.choice(
        [
            f"{mark}{amount}", f"{amount} {mark.strip()}", f"{mark}{digits(rng, 1, 2)}–{mark}{digits(rng, 3, 4)}",
            amount,
            f"{mark}{digits(rng, 1, 3)} million", f"{digits(rng, 1, 3)} euros", f"{digits(rng, 1, 3)} Canadian dollars",
            f"({mark}{amount})", f"{mark}{amount} per month", "free", f"{digits(rng, 1, 2)}p", f"{mark}{digits(rng)}k",
            f"{mark}{amount} (was {mark}{grouped(rng)})",
        ]
    )  # fmt: skip


def date(rng: random.Random) -> str:
    day, month, year = rng.randint(1, 28), rng.choice([*MONTHS]), rng.randint(1000, 2199)
    return rng.choice(
        [
            f"{day} {month} {year}", f"{month} {day}, {year}", f"{month} {year}", f"{year}",
            f"{year}-0{rng.randint(1, 9)}",
            f"{rng.randint(1, 12)}/{day}/{year}", f"{day}.{rng.randint(1, 12)}.{year % 100:02}",
            f"Q{rng.randint(1, 4)} {year}",
            f"{year}–{year + rng.randint(1, 30)}", f"{year}-05-0{rng.randint(1, 9)}T10:{day:02}Z", f"FY{year}",
            f"{day}–{day + 2} {month} {year}", f"{year // 10 * 10}s", f"the {day}th of {month} {year}", f"{year} – 08",
            f"Monday, {day} {month} {year}", f"{day} {month} {year} at 10:30 am", f"since {year}",
            f"{year}年5月{day}日",
        ]
    )  # fmt: skip


def listed(rng: random.Random) -> str:
    items = [rng.choice([*NAMES, number(rng), date(rng)]) for _ in range(rng.randint(1, 6))]
    bullet = rng.choice(["- ", "• ", "* ", "– "])
    lead = rng.choice(["", "", "The items:\n", "Some text\n", "Colours: "])
    return lead + rng.choice(
        [
            "; ".join(items), ", ".join(items), "\n".join(items), "\n".join(bullet + item for item in items),
            "\n".join(f"{place}. {item}" for place, item in enumerate(items, 1)), " | ".join(items),
            "\n".join(f"{letter}) {item}" for letter, item in zip("abcdef", items, strict=False)),
            f"[{', '.join(items)}]",
            ", ".join(items[:-1]) + f" and {items[-1]}", f"{bullet}{items[0]}", "; ".join([*items, items[0].upper()]),
            str(items).replace("'", '"'), f'["{items[0]}", null, 1e5, 7.50, true]', "、".join(items),
            "\n".join(f"{rng.randint(1, 99)}. {item}" for item in items), f"{bullet}{items[0]}\n{items[-1]}\n{bullet}z",
        ]
    )  # fmt: skip


def address(rng: random.Random) -> str:
    site = rng.choice(["example.com", "www.Example.org", "münchen.de", "a.b.co.uk:8080", "EXAMPLE.COM", "10.0.0.7"])
    path = rng.choice(["", "/", "/a/b_(c)", "/x?y=1&z=2#top", "/Tür", "/a,b;c"])
    whole = f"{rng.choice(['https://', 'http://', 'HTTP://', ''])}{site}{path}"
    return rng.choice(
        [
            whole,
            whole,
            f"<{whole}>",
            f"[the site]({whole})",
            f"Visit {whole}.",
            f"{whole} and {site}",
            f"see {whole}, ok",
        ]
    )


def yes_or_no(rng: random.Random) -> str:
    said = rng.choice(["yes", "no", "Yes", "N", "true", "oui", "nein", "✓", "supported", "not included", "1", "是"])
    return rng.choice(
        [said, f"{said}.", f"{said}, it has 2 antennas", "It is not available in model 7", f"The unit has it: {said}",
         "Yes, but only in some models", f"It is fully supported since {digits(rng, 4, 4)}",
         f"{said} ({rng.choice(NAMES)})"]
    )  # fmt: skip


def option(rng: random.Random) -> str:
    plan = rng.choice(PLANS)
    typo = plan.replace("l", "ll", 1)
    return rng.choice(
        [plan, plan.upper(), f"the {plan} plan", f"{plan} or {rng.choice(PLANS)}", plan.split()[0], typo, "Bronze 2",
         f"{plan} ({digits(rng)} users)", "health-care", "healthcare", "cafe creme for two", rng.choice(NAMES)]
    )  # fmt: skip


def words(rng: random.Random) -> str:
    said = " ".join(rng.choice([*NAMES, "the", "of", "and", "quiet", "river"]) for _ in range(rng.randint(1, 8)))
    return said if rng.random() < 0.99 else " ".join([said] * 200)


ANSWERS: dict[FieldType, Callable[[random.Random], str]] = {
    "text": words, "number": number, "boolean": yes_or_no, "select": option, "date": date, "url": address,
    "list": listed, "money": money,
}  # fmt: skip
PIECES = """
    Answer: According|to Based|on|my|research, n/a not|specified 1 2 3/4 10-20 1.234 1,5 2021 2021-05-03 03/05/2021 May
    – to $ € USD million k m cm kg ft ' " × x % °C ( ) [ ] ; , . - • * ** ` yes no Gold Silver None and https://x.org/a
    example.com http:// « » “ ” 1e5 ½ ١٢ − ~ about twelve hundred FY22 Q3 1990s 5'11" Dr. 1. a) i. and or null
""".replace("|", " ").split()


def noise(rng: random.Random) -> str:
    planes = [(0x20, 0x7E), (0xA0, 0x24F), (0x370, 0x52F), (0x600, 0x6FF), (0x900, 0x97F), (0x2000, 0x22FF)]
    planes += [(0x3040, 0x30FF), (0x4E00, 0x4FFF), (0xFF00, 0xFF60), (0x1F300, 0x1F6FF), (0x20, 0x40)]
    return "".join(chr(rng.randint(*rng.choice(planes))) for _ in range(rng.randint(1, 60)))


def texts_for(type: FieldType) -> Iterator[str]:
    """Yield the same texts every time."""
    rng = random.Random(f"kept letters of a {type}")
    answer = ANSWERS[type]
    for place in range(MANY):
        match place % 10:
            case 0 | 1 | 2:
                yield answer(rng)
            case 3 | 4 | 5 | 6:
                yield f"{rng.choice(BEFORE)}{answer(rng)}{rng.choice(AFTER)}"
            case 7:
                yield f"{answer(rng)}{rng.choice([', ', ' ', ' or ', '; ', chr(10)])}{answer(rng)}"
            case 8:
                yield rng.choice(["", " "]).join(rng.choice(PIECES) for _ in range(rng.randint(1, 12)))
            case _:
                yield noise(rng)


# ── what is kept ─────────────────────────────────────────────────────────────────────────────────────────────────────


def letters(text: str) -> Counter[str]:
    return Counter(mark for each in text if each.isalnum() for mark in each.casefold() if mark.isalnum())


def rest_of(text: str, removed: tuple[str, ...]) -> str:
    """The text without the removed parts, each of which must stand in it; stars around a label go first."""
    text, removed = text.replace("*", ""), tuple(part.replace("*", "") for part in removed)
    for part in sorted(removed, key=len, reverse=True):
        assert part in text, (part, text)
        before, _, after = text.rpartition(part) if text.endswith(part) else text.partition(part)
        text = f"{before}\n{after}"
    return text.strip()


def assert_noted(coerced: CoercedValue) -> None:
    """Every removed part stands in the note; of very long ones the beginning, and how much more there is."""
    said = [" ".join(part.split()) for part in coerced.removed]
    if sum(map(len, said)) <= VALUE_LIMITS.listed:
        assert all(f"“{part}”" in coerced.note for part in said)
    else:
        assert re.search(rf" and {sum(map(len, said)) - VALUE_LIMITS.listed:,} more characters$", coerced.note)


@pytest.mark.parametrize("type", ["text", "select", "url", "list"])
def test_words_are_kept_or_listed(type: FieldType) -> None:
    kept = noted = 0
    for place, text in enumerate(texts_for(type)):
        coerced = coerce_value(text, FIELDS[type][place % len(FIELDS[type])])
        if coerced.value is None:
            assert coerced.raw_value == text
            continue
        value = coerced.value if isinstance(coerced.value, tuple) else (format_value(coerced.value),)
        missing = letters(text) - letters(" ".join(value)) - letters(" ".join(coerced.removed))
        read_as = coerced.reason.partition(" read as ")[0] if " read as " in coerced.reason else ""
        assert not missing - letters(read_as), (text, coerced)
        assert_noted(coerced)
        kept += not coerced.removed
        noted += bool(coerced.removed)
    assert min(kept, noted) > MANY / 20  # the texts try both


WORDS_OF_NUMBERS = set(
    """
    million k m cm kg ft in mm min x e to and between percent twelve two hundred six employees usd eur chf rs a s m
    euros euro canadian dollars dollar p free minus d t b h g l
    """.split()
)
WORDS_OF_DATES = {*MONTHS, *"t z q fy s the of th st nd rd since to and de day season 年 月 日".split()}


@pytest.mark.parametrize("type", ["number", "money", "date"])
def test_what_stands_around_a_number_or_a_date_is_listed(type: FieldType) -> None:
    """What is left without the listed text gives the same value alone, and has no other words than those of numbers,
    units, currencies and dates."""
    known = WORDS_OF_DATES if type == "date" else WORDS_OF_NUMBERS
    kept = noted = 0
    for place, text in enumerate(texts_for(type)):
        field = FIELDS[type][place % len(FIELDS[type])]
        coerced = coerce_value(text, field)
        if coerced.value is None:
            assert coerced.raw_value == text
            continue
        assert_noted(coerced)
        rest = rest_of(text, coerced.removed)
        strange = set(words_of(rest)) - known
        assert not strange or rest in coerced.reason, (text, coerced, strange)
        assert_figures_kept(rest, coerced)
        kept += not coerced.removed
        noted += bool(coerced.removed)
    assert min(kept, noted) > MANY / 20


def words_of(text: str) -> list[str]:
    return [word.casefold() for word in re.findall(r"[^\W\d_]+", text) if word.isalpha()]


def assert_figures_kept(rest: str, coerced: CoercedValue) -> None:
    """A second figure in the text that was read is part of the value, or the reason shows it as it is written."""
    plain = "".join(str(unicodedata.decimal(mark)) if mark.isdecimal() else mark for mark in rest)
    figures = [int(found) for found in re.findall(r"\d+", plain)]
    if len(figures) > 1 and re.search(r"\d\s?(?:[–×]|to|and)\s?\D{0,6}\d", plain):
        assert coerced.reason, (rest, coerced)
        shown = [str(figure) in coerced.reason + format_value(coerced.value) for figure in figures]
        assert all(shown) or rest in coerced.reason, (rest, coerced)


def test_the_sentence_behind_a_yes_or_no_is_listed() -> None:
    plain = noted = 0
    for text in texts_for("boolean"):
        coerced = coerce_value(text, FIELDS["boolean"][0])
        if coerced.value is None:
            continue
        assert_noted(coerced)
        said = letters(text) - letters(" ".join(coerced.removed)) - letters(coerced.reason.partition(" read as ")[0])
        is_plain = coerced.label == "high" and sum(said.values()) <= len("false")
        assert not said or is_plain, (text, coerced)
        plain += is_plain
        noted += bool(coerced.removed)
    assert min(plain, noted) > MANY / 40


# ── single answers ───────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    "text", ["Dr. Smith", "Mon - Fri", "2 - 1", "1. FC Nord", "e. coli", "Hall 4 – West", "a - b - c", "J. S. Bach"]
)
def test_a_single_item_keeps_its_letters_and_its_dash(text: str) -> None:
    coerced = coerce_value(text, FIELDS["list"][0])
    assert (coerced.value, coerced.label, coerced.note) == ((text,), "high", "")


@pytest.mark.parametrize(
    ("text", "items"),
    [
        ("Dr. Smith\nDr. Jones", ("Dr. Smith", "Dr. Jones")),
        ("3. Liga\n1. FC Nord", ("3. Liga", "1. FC Nord")),
        ("1. one\n2. two\n3. three", ("one", "two", "three")),
        ("a) one\nb) two", ("one", "two")),
        ("- Mon - Fri\n- Sat - Sun", ("Mon - Fri", "Sat - Sun")),
        ("Mon - Fri | Sat - Sun", ("Mon - Fri", "Sat - Sun")),
        ("Mon - Fri, Sat - Sun", ("Mon - Fri", "Sat - Sun")),
    ],
)
def test_only_marks_at_the_beginning_of_lines_are_bullets(text: str, items: tuple[str, ...]) -> None:
    assert coerce_value(text, FIELDS["list"][0]).value == items


@pytest.mark.parametrize(
    ("text", "type", "note"),
    [
        ("39 years ago", "number", "taken out of a longer text; left out: “years ago”"),
        ("As of 2023, 500", "number", "several values: 500, 2023; left out: “As of 2023,”"),
        ("2021-05-03T10:00Z", "date", "left out: “T10:00Z”"),
        ("founded in 1998 in Ohio", "date", "taken out of a longer text; left out: “founded in”, “in Ohio”"),
        ("USD 20 per month", "money", "taken out of a longer text; left out: “per month”"),
        ("Yes, it has 2 antennas", "boolean", "yes, read from a sentence; left out: “Yes, it has 2 antennas”"),
        ("a; b; A", "list", "left out: “A”"),
        ("a, b and c", "list", "split at commas; left out: “and”"),
        ("The answer is Oslo", "text", "left out: “The answer is”"),
        ("See https://example.com/a.", "url", "taken out of a longer text; left out: “See”"),
        ("the Silver plan", "select", "Silver is named in the text; left out: “the”, “plan”"),
    ],
)
def test_the_note_lists_what_was_left_out(text: str, type: FieldType, note: str) -> None:
    assert coerce_value(text, FIELDS[type][0]).note == note


def test_long_text_is_listed_by_its_beginning_and_its_length() -> None:
    noted = list_removed(["b" * 300, "c" * 300])
    assert noted == f"left out: “{'b' * 300}”, “{'c' * 100}” and 200 more characters"


# ── lists take time in proportion to their length ────────────────────────────────────────────────────────────────────

HOSTILE = [
    ",", "a, ", ";", "a; ", "- ", "- a\n", "• ", "a | ", "[", "[[a],", "(a,", '"a", ', "'", "“", "\n", " ", "\t- ",
    "1. a\n", "a) ", "a and ", ", and ", ", inc", "、", "1,000,", "**a** ", "Tags: ", "Answer: ", "\u3000,",
]  # fmt: skip
SIZE = 800_000


def nested(opening: str, closing: str, size: int) -> str:
    return (opening * (size // 2))[: size // 2] + (closing * (size // 2))[: size // 2]


@pytest.mark.parametrize("mark", HOSTILE)
def test_a_list_takes_time_in_proportion_to_its_length(mark: str) -> None:
    text = (mark * SIZE)[:SIZE]
    for length in (SIZE, 20_000):
        assert grows_in_proportion(lambda size: coerce_value(text[:size], FIELDS["list"][0]), length), length
    assert grows_in_proportion(lambda size: coerce_value(f"[{text[:size]}]", FIELDS["list"][0]), 100_000)


@pytest.mark.parametrize("pair", ["[]", "()", "“”", '""', "**", "``"])
def test_a_nested_list_takes_time_in_proportion_to_its_length(pair: str) -> None:
    for between in ("", "a, "):
        opening, closing = pair[0] + between, between + pair[1]
        for length in (SIZE, 20_000):
            assert grows_in_proportion(
                lambda size, one=opening, two=closing: coerce_value(nested(one, two, size), FIELDS["list"][0]),  # type: ignore[misc]
                length,
            )


def test_a_list_of_any_length_is_kept_whole() -> None:
    items = tuple(f"item {number}" for number in range(100_000))
    assert read_list(", ".join(items)).value == items
    assert read_list("; ".join(items)).value == items
    assert coerce_value("\n".join(items), FIELDS["list"][0]).value == items
