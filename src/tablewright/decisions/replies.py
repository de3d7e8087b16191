"""What the advisor says of products: how a cell is put into words, and whether a sentence says no more than its cells.

`bears` fails closed: a number, a name, a material, a yes or no, or a comparison that it cannot find in the cited cells
(or in what the person said, `asked`) is named, and the sentence is not to be said.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import Literal, TypeAlias

from tablewright.decisions.citations import OPENERS
from tablewright.decisions.grounds import close, converted, numbers_in
from tablewright.decisions.question.words import is_plural
from tablewright.table.currencies import currency_of
from tablewright.table.measures import Measure, read_measures
from tablewright.table.model import Cell, Field, Money, Noun, Row, RowId, Table
from tablewright.table.money_text import read_amounts
from tablewright.table.shortlist import CellRef, Said
from tablewright.table.text import cell_text, plural, shortened, show
from tablewright.table.units import parse_unit
from tablewright.table.untrusted import clean, gives_orders
from tablewright.text.words import roots

Direction: TypeAlias = Literal["more", "less"]

LONGEST_TOLD = 90
LONG_NUMBER = 10_000
"""From here on thousands are set apart; a year is not."""
SHORT_VALUE = 6
"""Words of a text that is a value ("brushed stainless steel") and no description."""

# ── cells in words ───────────────────────────────────────────────────────────────────────────────────────────────────

_SIGNS = {"GBP": "£", "EUR": "€", "USD": "$"}
_LONG_UNITS = {"yr": "year", "mo": "month", "wk": "week", "d": "day", "h": "hour"}


def known(cell: Cell) -> bool:
    """Whether it says something that may be repeated: an order to machines is no value."""
    return (
        cell.value not in (None, "", ())
        and cell.status in ("ENRICHED", "FLAGGED")
        and not gives_orders(show(cell.value))
    )


def told(cell: Cell, field: Field) -> str:
    """The value as a person would say it: "£47.50", "1.7 l", "5 years", "yes"; "not known" where there is none."""
    if not known(cell):
        return "not known"
    value = cell.value
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, Money):
        return money_told(Money(amount=value.amount, currency=value.currency or currency_of(field.unit)))
    if isinstance(value, int | float):
        unit = _LONG_UNITS.get(field.unit, field.unit)
        if unit in _LONG_UNITS.values():
            unit = plural(unit, 1 if value == 1 else 2)
        number = f"{value:,}" if isinstance(value, int) and abs(value) >= LONG_NUMBER else show(value)
        return f"{number}{'' if unit == '%' else ' '}{unit}".strip()
    if isinstance(value, tuple):
        return shortened(clean(listed(value)), LONGEST_TOLD)
    return shortened(clean(cell_text(cell)), LONGEST_TOLD).rstrip(".")


def money_told(money: Money) -> str:
    whole = float(money.amount).is_integer()
    grouped = "," if abs(money.amount) >= LONG_NUMBER else ""
    amount = f"{money.amount:{grouped}.{0 if whole else 2}f}"
    sign = _SIGNS.get(money.currency)
    return f"{sign}{amount}" if sign else f"{amount} {money.currency}".strip()


def name_of(row: Row, table: Table) -> str:
    return " ".join(clean(cell_text(row.cell(table.key_field))).split()) or f"row {row.id}"


def field_told(field: Field | str) -> str:
    """A column's name inside a sentence: "Boil time" → "boil time", "USB ports" and "LED type" as they are."""
    name = field if isinstance(field, str) else field.name
    words = name.replace("_", " ").split()
    return " ".join(word if word[1:] != word[1:].casefold() else word.casefold() for word in words)


def stated(row: Row, field: Field) -> str:
    """What a known cell says, as the end of a sentence about its product: "costs £38", "has no keep warm"."""
    cell = row.cell(field.name)
    if isinstance(cell.value, bool):
        return has_told(field, lacks=not cell.value)
    if set(roots(field.name)) & set(roots("material body")):
        return f"is made of {told(cell, field)}"
    return f"costs {told(cell, field)}" if field.type == "money" else f"has {field_told(field)} {told(cell, field)}"


_ADJECTIVE = re.compile(r"(?:able|ible|less|proof|safe|resistant|free)$", re.IGNORECASE)


def has_told(field: Field, *, many: bool = False, lacks: bool = False) -> str:
    """A yes or no of products: "has keep warm", "have no USB port", "is not dimmable"."""
    if _ADJECTIVE.search(field.name):
        return f"{'are' if many else 'is'} {'not ' if lacks else ''}{field_told(field)}"
    return f"{'have' if many else 'has'} {'no ' if lacks else ''}{field_told(field)}"


def is_told(field: Field) -> str:
    """ "Is" or "are", as the column's name wants it."""
    return "are" if is_plural(field.name.split()[-1] if field.name.split() else "") else "is"


def ref(row: Row, field: Field | str) -> CellRef:
    return CellRef(row_id=row.id, field=field if isinstance(field, str) else field.name)


def listed(items: Iterable[str]) -> str:
    """ "A, B and C"."""
    every = list(items)
    return every[0] if len(every) == 1 else f"{', '.join(every[:-1])} and {every[-1]}" if every else ""


# ── amounts ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def amount(cell: Cell, field: Field) -> float | None:
    """What can be compared of a cell: a number, the amount of a price, the year of a date, the one quantity of a text
    in the field's unit."""
    value = cell.value
    if not known(cell) or isinstance(value, bool | tuple):
        return None
    if isinstance(value, Money):
        return float(value.amount)
    if isinstance(value, int | float):
        return float(value)
    if field.type == "date" and isinstance(value, str) and value[:4].isdecimal():
        return int(value[:4]) + (int(value[5:7]) - 1) / 12 if value[5:7].isdecimal() else float(value[:4])
    measures = read_measures(str(value), field.unit)
    if field.type != "text" or len(measures) != 1 or measures[0].high is not None or measures[0].sizes:
        return None
    if not field.unit or not measures[0].unit:
        return float(measures[0].value) if measures[0].unit == field.unit else None
    return converted(float(measures[0].value), measures[0].unit, field.unit)


# ── words that compare ───────────────────────────────────────────────────────────────────────────────────────────────


class Sense(Noun, frozen=True):
    """What "light" says: less, of a field that is named like one of `fields`; of any that is said, where empty."""

    word: str
    direction: Direction
    fields: tuple[str, ...] = ()
    degree: Literal["", "er", "est"] = ""


_PRICE, _MASS, _SOUND = "price cost rrp", "weight mass", "noise sound loudness volume level"
_SIZE, _SPEED, _SPAN = "capacity volume size litres dimension", "speed power wattage boil time", "width thickness depth"
_SENSES: dict[str, tuple[Direction, str]] = {
    "cheap": ("less", _PRICE), "affordable": ("less", _PRICE), "inexpensive": ("less", _PRICE),
    "expensive": ("more", _PRICE), "dear": ("more", _PRICE), "costly": ("more", _PRICE),
    "light": ("less", _MASS), "lightweight": ("less", _MASS), "portable": ("less", _MASS), "heavy": ("more", _MASS),
    "quiet": ("less", _SOUND), "silent": ("less", _SOUND), "loud": ("more", _SOUND), "noisy": ("more", _SOUND),
    "large": ("more", _SIZE), "big": ("more", _SIZE), "roomy": ("more", _SIZE), "spacious": ("more", _SIZE),
    "small": ("less", _SIZE), "compact": ("less", f"size dimension footprint width height {_SIZE}"),
    "long": ("more", ""), "short": ("less", ""), "high": ("more", ""), "low": ("less", ""),
    "fast": ("more", _SPEED), "quick": ("more", _SPEED), "slow": ("less", _SPEED),
    "bright": ("more", "brightness lumen luminous light output"), "dim": ("less", "brightness lumen light output"),
    "powerful": ("more", "power wattage"), "strong": ("more", "power wattage"), "weak": ("less", "power wattage"),
    "tall": ("more", "height"), "wide": ("more", "width"), "narrow": ("less", "width"), "thin": ("less", _SPAN),
    "slim": ("less", _SPAN), "thick": ("more", _SPAN), "deep": ("more", "depth"), "new": ("more", "year release"),
    "recent": ("more", "year release"), "old": ("less", "year release"), "efficient": ("less", "energy consumption"),
    "economical": ("less", "consumption energy fuel"), "durable": ("more", "warranty guarantee"),
}  # fmt: skip
_COMPARES = re.compile(
    rf"\b(?:(?P<many>more|most|less|least)\s+)?(?P<word>{'|'.join(sorted(_SENSES, key=len, reverse=True))})"
    r"(?P<degree>(?:[gnmt]?(?:er|est)|r|st)?)\b|\b(?P<noisy>(?:heav|nois|room)i)(?P<how>er|est)\b"
    r"|(?<!at )\b(?P<alone>most|least)\b",
    re.IGNORECASE,
)


def senses(text: str) -> Iterator[Sense]:
    """The words of a text that compare: "lightest", "more expensive", "the most"."""
    for found in _COMPARES.finditer(text):
        degree: Literal["", "er", "est"] = ""
        if found["alone"]:
            yield Sense(word="most", direction="more" if found["alone"].casefold() == "most" else "less", degree="est")
            continue
        word = f"{found['noisy'][:-1]}y" if found["noisy"] else found["word"]
        ending = (found["how"] or found["degree"] or "").casefold()
        many = (found["many"] or "").casefold()
        if many or ending:
            degree = "est" if many in ("most", "least") or ending.endswith("st") else "er"
        direction, fields = _SENSES[word.casefold()]
        if many in ("less", "least"):
            direction = "less" if direction == "more" else "more"
        yield Sense(word=word.casefold(), direction=direction, fields=tuple(fields.split()), degree=degree)


def direction_in(field: Field, sense: Sense) -> Direction | None:
    """Which way the sense points in a field; None where it says nothing of it. Fast is a short time."""
    words = _name_roots(field.name)
    if sense.fields and not words & {root for word in sense.fields for root in roots(word)}:
        return None
    if sense.word in ("fast", "quick", "slow") and "time" in words:
        return "less" if sense.direction == "more" else "more"
    return sense.direction


@lru_cache(maxsize=4096)
def _name_roots(name: str) -> frozenset[str]:
    return frozenset(roots(name.replace("_", " "), telling=True)) or frozenset(roots(name))


# ── what a sentence may say ──────────────────────────────────────────────────────────────────────────────────────────

_PUSHES = re.compile(
    r"\b(?:the best|best (?:option|choice|buy|value|product|pick)|(?:you )?should (?:buy|get|choose|pick)|definitely|"
    r"must[- ](?:buy|have it)|perfect|unbeatable|winner|wins|ideal|amazing|no[- ]brainer|go for|buy it|i recommend|"
    r"we recommend|don't miss|hurry|superb|fantastic|excellent)\b",
    re.IGNORECASE,
)
_MATERIALS = re.compile(
    r"\b(?:plastic|steel|glass|alumini?um|ceramic|wood(?:en)?|copper|brass|titanium|silicone|leather|bamboo|iron|"
    r"carbon|rubber|cotton|nylon|porcelain|stone|marble)\b",
    re.IGNORECASE,
)
_UNKNOWN = re.compile(
    r"\b(?:not known|unknown|(?:not|nothing) (?:say|said|given|stated|found)|could not be|no (?:value|figure)s?)\b",
    re.I,
)
_NOT_KNOWN = re.compile(r"\b(?:not known|unknown)\b", re.IGNORECASE)
_DENIES = re.compile(r"\b(?:no|not|without|lacks?|lacking|never|nor|neither|none|\w+n't)\b", re.IGNORECASE)
_CLAIMS = re.compile(
    r"\b(?:they|these|all|both|it|each|every|most|none|some|products?)\b(?: \w+){0,2}? "
    r"(?:has|have|lacks?|comes?|offers?)\b",
    re.IGNORECASE,
)
_OPENING = re.compile(r"^(?:yes|no)[:,] ", re.IGNORECASE)
_OF_PERSON = re.compile(r"\b(?:you|your)\b", re.IGNORECASE)
_OF_OTHERS = re.compile(r"\b(?:others?|rest|against|than|next)\b", re.IGNORECASE)
_CLAUSE = re.compile(r"[;!?]|[.,](?=\s|$)|\b(?:but|while|whereas|and|although|though|yet)\b", re.IGNORECASE)
_PLACE = re.compile(r"\b(?:place|rank) \d+(?: (?:of|in) \d+)?\b", re.IGNORECASE)
_COUNT = re.compile(
    r"\b(?P<count>\d+)(?=\s+(?:of|in all|more|others?|(?:[^\W\d]+\s+){0,2}(?:products?|options?|candidates?))\b)"
    r"|\bof (?:the |these |those |them )?(?P<all>\d+)\b(?!\s*[^\W\d])|\bof (?:the |these )?(?P<these>\d+) "
    r"(?:products?|options?|candidates?|with|that|shown|whose)\b",
    re.IGNORECASE,
)
_PROPER = re.compile(r"(?<=[^\s.!?:;(“\"])\s+(?P<name>[A-Z][\w’'&-]+)|^(?P<first>[A-Z][\w’'&-]+)(?=\s+[A-Z][\w’'&-]+)")
_FIRST_MARK = 0xE000
_MARKS = re.compile("[\ue000-\uf8ff]")


class _Cited(Noun, frozen=True):
    row: Row
    field: Field
    cell: Cell

    @property
    def text(self) -> str:
        others = (told(Cell(value=each.value, status="ENRICHED"), self.field) for each in self.cell.conflict)
        return "; ".join((told(self.cell, self.field), show(self.cell.value), *others)) if known(self.cell) else ""


class _Clause(Noun, frozen=True):
    """`subjects` are the products it names, or those of the clause before."""

    text: str
    subjects: tuple[RowId, ...]

    def own(self, cited: list[_Cited]) -> list[_Cited]:
        """The cells that its facts must stand in: those of its product, if it speaks of one and of no other."""
        one = len(set(self.subjects)) == 1 and not _OF_OTHERS.search(self.text)
        return [each for each in cited if not one or each.row.id in self.subjects]


def pushes(text: str) -> str:
    """The words by which a sentence sells instead of telling, or ""."""
    found = _PUSHES.search(text)
    return found[0] if found else ""


def bears(said: Said, table: Table, asked: str = "") -> str:
    """What of the sentence stands neither in the cells that it cites nor in what the person said; "" where all does."""
    cited: list[_Cited] = []
    for cell in said.cells:
        row, field = table.row(cell.row_id), table.field(cell.field)
        if row is None or field is None:
            return f"there is no cell {cell.field} of row {cell.row_id}"
        cited.append(_Cited(row=row, field=field, cell=row.cell(field.name)))
    text, named = _marked(_OPENING.sub("", said.text), table)
    if strangers := sorted(name_of(row, table) for row in named if all(row.id != each.row.id for each in cited)):
        return f"no cell of {', '.join(strangers)} is cited"
    clauses = list(_clauses(text, named))
    checks = (
        _empty_cells(text, clauses, cited, table),
        _numbers(text, clauses, cited, named, table, asked),
        _words(text, clauses, cited, table, asked),
        _yes_and_no(clauses, cited, table),
        _comparisons(clauses, cited),
    )
    return next(filter(None, checks), "")


def _marked(text: str, table: Table) -> tuple[str, list[Row]]:
    """The text with one mark for each product that it names, so that no digit of "Degree 15" is a figure."""
    named: list[Row] = []
    rows = sorted(((name_of(row, table), row) for row in table.rows), key=lambda each: (-len(each[0]), each[0]))
    for name, row in rows:
        pattern = r"\s+".join(map(re.escape, name.split()))
        mark = chr(_FIRST_MARK + len(named))
        text, count = re.subn(rf"(?<!\w){pattern}(?!\w)", mark, text, flags=re.IGNORECASE)
        if count:
            named.append(row)
    return text, named


def _clauses(text: str, named: list[Row]) -> Iterator[_Clause]:
    subjects: tuple[RowId, ...] = ()
    for part in filter(str.strip, _CLAUSE.split(text)):
        own = tuple(named[ord(mark) - _FIRST_MARK].id for mark in _MARKS.findall(part))
        subjects = own or subjects
        yield _Clause(text=part, subjects=subjects)


def _empty_cells(text: str, clauses: list[_Clause], cited: list[_Cited], table: Table) -> str:
    """An empty cell is cited only to say that it is empty, and a full one never."""
    empty = [each for each in cited if not known(each.cell)]
    if empty and not _UNKNOWN.search(text):
        return f"{empty[0].field.name} of {name_of(empty[0].row, table)} is not known"
    for clause in clauses:
        cells = clause.own(cited)
        if _NOT_KNOWN.search(clause.text) and cells and all(known(each.cell) for each in cells):
            return f"{cells[0].field.name} of {name_of(cells[0].row, table)} is known"
    return ""


def _numbers(text: str, clauses: list[_Clause], cited: list[_Cited], named: list[Row], table: Table, asked: str) -> str:
    rows = {each.row.id for each in cited}
    counts = {len(table.rows), len(rows), len(named), len(cited), sum(not known(each.cell) for each in cited)}
    if not cited and not named:
        counts |= {int(found) for found in re.findall(r"\d+", text)}  # no product is spoken of

    def without_count(match: re.Match[str]) -> str:
        number = match["count"] or match["all"] or match["these"]
        return "" if int(number) in counts else match[0]

    for clause in clauses:
        rest = _COUNT.sub(without_count, _PLACE.sub("", clause.text))
        sources = [each.text for each in clause.own(cited)]
        if missing := _not_in(rest, sources, asked, bare=bool(cited or named)):
            return f"the cells do not say {missing}"
    return ""


def _not_in(text: str, sources: list[str], asked: str, *, bare: bool) -> str:
    """The first quantity that no source states: prices with their currency, measures with their unit, bare numbers."""
    every = [*sources, asked]
    prices = [each.money for source in every for each in read_amounts(source) if each.money.currency]
    measures = [each for source in every for each in read_measures(source) if each.unit]
    held = {number for source in every for number in numbers_in(source)}
    seen: list[tuple[int, int]] = []
    for price in read_amounts(text):
        if price.money.currency:
            if not any(
                close(price.money.amount, one.amount) and price.money.currency == one.currency for one in prices
            ):
                return text[price.start : price.end].strip()
            seen.append((price.start, price.end))
    for measure in read_measures(text):
        if measure.unit and not _within(seen, measure.start):
            stands = {size for each in measures for size in _sizes(each, measure.unit)}
            stands |= held if parse_unit(measure.unit) is None else set()
            if not all(any(close(size, other, 1e-6) for other in stands) for size in _sizes(measure, measure.unit)):
                return text[measure.start : measure.end].strip()
            seen.append((measure.start, measure.end))
    loose = [found for found in re.finditer(r"\d+(?:[.,]\d+)*", text) if bare and not _within(seen, found.start())]
    missing = (
        found[0]
        for found in loose
        if not any(close(number, other) for number in numbers_in(found[0]) for other in held)
    )
    return next(missing, "")


def _within(spans: list[tuple[int, int]], place: int) -> bool:
    return any(start <= place < end for start, end in spans)


def _sizes(measure: Measure, unit: str) -> set[float]:
    sizes = {float(measure.value), *map(float, measure.sizes), *([] if measure.high is None else [float(measure.high)])}
    if measure.unit == unit:
        return sizes
    return {size for each in sizes if (size := converted(each, measure.unit, unit)) is not None}


def _words(text: str, clauses: list[_Clause], cited: list[_Cited], table: Table, asked: str) -> str:
    """Materials, values of other cells, and names: each stands in a cited cell, a column's name or the person's words.
    In a clause about one product it stands in that product's own cells."""
    columns = set(roots(" ".join(field.name for field in table.fields)))
    allowed = columns | set(roots(asked)) | {root for each in cited for root in roots(each.text)}
    values = _values(table) if cited else frozenset[str]()
    for clause in clauses:
        own = clause.own(cited)
        held = columns | {root for each in own for root in roots(each.text)}
        here = held if clause.subjects and not _OF_PERSON.search(clause.text) else allowed
        for word in re.findall(r"[^\W\d_]{3,}", clause.text):
            meant = set(roots(word))
            if (_MATERIALS.fullmatch(word) or (len(word) > 3 and meant & values)) and not meant <= here:
                return f"the cells do not say {word}"
    for found in _PROPER.finditer(text):
        name = found["name"] or found["first"]
        if name.casefold() not in OPENERS and not set(roots(name)) <= allowed:
            return f"the cells do not say {name}"
    return ""


@lru_cache(maxsize=64)
def _values_of(texts: frozenset[str]) -> frozenset[str]:
    return frozenset(root for text in texts for root in roots(text, telling=True) if root.isalpha() and len(root) > 3)


def _values(table: Table) -> frozenset[str]:
    """The words of options and of short texts, which are claims wherever they are said."""
    texts = set[str]()
    for field in table.fields:
        if field.name != table.key_field and field.type in ("text", "select", "list"):
            texts.update(field.options)
            shown = (show(row.cell(field.name).value) for row in table.rows)
            texts.update(text for text in shown if text and len(text.split()) <= SHORT_VALUE and "://" not in text)
    return _values_of(frozenset(texts)) - _COMMON


_COMMON = frozenset(
    roots(
        """known other these those place table comparison product price cost costs limit budget near say says said with
        without have has give gives given take takes between choice choose matter matters more most less least long
        short high low large small full only also none same each both either option left about compare field value
        source sources disagree flagged wrong confidence part score count counts stand stands standard"""
    )
)


def _yes_and_no(clauses: list[_Clause], cited: list[_Cited], table: Table) -> str:
    for clause in clauses:
        spoken = set(roots(clause.text))
        if _OF_PERSON.search(clause.text) or (_UNKNOWN.search(clause.text) and clause.subjects == ()):
            continue
        for field in table.fields:
            if field.type != "boolean" or not _name_roots(field.name) <= spoken:
                continue
            cells = [each for each in cited if each.field.name == field.name]
            own = [each.cell for each in cells if not clause.subjects or each.row.id in clause.subjects]
            if not cited and not clause.subjects and not _CLAIMS.search(clause.text):
                continue
            if _UNKNOWN.search(clause.text):
                wrong = not own or all(map(known, own))
            else:
                expected = not _DENIES.search(clause.text)
                wrong = not own or any(each.value is not expected for each in own)
            if wrong:
                return f"the cells do not say so of {field.name}"
    return ""


def _comparisons(clauses: list[_Clause], cited: list[_Cited]) -> str:
    """ "The lightest" is the lightest of all whose weight is cited, "lighter" lighter than one of them."""
    for clause in clauses:
        if not clause.subjects or _OF_PERSON.search(clause.text):
            continue
        for sense in senses(clause.text):
            if sense.degree and not any(_is_so(sense, field, clause, cited) for field in _fields(clause, cited)):
                return f"the cells do not say that it is so: {sense.word}{sense.degree}"
    return ""


def _fields(clause: _Clause, cited: list[_Cited]) -> list[Field]:
    fields = list({each.field.name: each.field for each in cited}.values())
    spoken = set(roots(clause.text))
    return [field for field in fields if _name_roots(field.name) & spoken] or fields


def _is_so(sense: Sense, field: Field, clause: _Clause, cited: list[_Cited]) -> bool:
    is_named = _name_roots(field.name) <= set(roots(clause.text))
    direction = direction_in(field, sense) or (sense.direction if is_named else None)
    values = {each.row.id: amount(each.cell, field) for each in cited if each.field.name == field.name}
    numbers = {row: value for row, value in values.items() if value is not None}
    first = len(_MARKS.findall(clause.text.partition(" than ")[0])) or len(clause.subjects)
    own = [numbers[row] for row in clause.subjects[:first] if row in numbers]
    if direction is None or not own or len(numbers) < 2:
        return False
    sign = 1 if direction == "more" else -1
    ends = max(sign * value for value in numbers.values()), min(sign * value for value in numbers.values())
    return any(sign * value == ends[0] if sense.degree == "est" else sign * value > ends[1] for value in own)
