"""Answer from the table: a question about the products, answered by their cells and by nothing else.

What no cell says is said to be unknown, with the offer to add it to the comparison.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from pydantic import BaseModel
from pydantic import Field as Key

from tablewright.decisions.decision import Prompt, Unusable
from tablewright.decisions.rank_products import SAID_OF_PRODUCT, doubt_of, end_told, find_row
from tablewright.decisions.replies import (
    Sense,
    amount,
    direction_in,
    field_told,
    has_told,
    is_told,
    known,
    listed,
    name_of,
    ref,
    senses,
    stated,
    told,
)
from tablewright.decisions.wishes import Wish, better, deciding, holds, priced, wish
from tablewright.table.model import Field, Noun, Row, Table
from tablewright.table.shortlist import Ranked, Ranking, Said
from tablewright.table.untrusted import WARNING, block, question_block
from tablewright.text.words import roots

MOST_NAMED = 10
"""Products that are named in one sentence; of more only the number is told."""
MOST_FACTS = 12
MOST_OFFERED = 120
MOST_CHOSEN = 12

INSTRUCTIONS = (
    "You answer a question about products by choosing cells of a table. Write in `cells` the numbers of those cells "
    "that answer it, the most important first, and none where no cell does. " + WARNING
)


class AnswerFromTable(Noun, frozen=True):
    """`products` and `fields` are those that the question is known to be about; others are found in its words."""

    question: str
    table: Table
    products: tuple[str, ...] = ()
    fields: tuple[str, ...] = ()
    product_type: str = ""


class Numbers(BaseModel):
    cells: list[int] = Key(max_length=40)


class Answer:
    name = "answer from the table"

    def prompt(self, asked: AnswerFromTable) -> Prompt:
        lines = "\n".join(
            f"{number}. {name_of(row, asked.table)} | {field.name}: {told(row.cell(field.name), field)}"
            for number, (row, field) in enumerate(_offered(asked), start=1)
        )
        text = f"{question_block(asked.question)}\nCells:\n{block(1, lines, 'cells')}"
        return Prompt(instructions=INSTRUCTIONS, text=text, reply=Numbers, max_tokens=120)

    def check(self, asked: AnswerFromTable, reply: Any) -> tuple[Said, ...]:
        """The chosen cells, told one product a sentence. The rule answers what it understands."""
        if answered := tuple(_answers(asked)):
            return answered
        offered = _offered(asked)
        numbers = [number for number in dict.fromkeys(reply.cells) if 1 <= number <= len(offered)]
        if reply.cells and not numbers:
            raise Unusable(f"The cells are numbered 1 to {len(offered)}.", usable=self.fallback(asked))
        chosen: dict[int, tuple[Row, list[Field]]] = {}
        for row, field in (offered[number - 1] for number in numbers[:MOST_CHOSEN]):
            chosen.setdefault(row.id, (row, []))[1].append(field)
        return tuple(_facts(row, fields, asked.table) for row, fields in chosen.values()) or self.fallback(asked)

    def fallback(self, asked: AnswerFromTable) -> tuple[Said, ...]:
        return tuple(_answers(asked)) or (_unanswered(asked),)


def is_understood(asked: AnswerFromTable) -> bool:
    """Whether the rule has an answer: then no model needs to be asked."""
    return any(True for _ in _answers(asked))


def _offered(asked: AnswerFromTable) -> list[tuple[Row, Field]]:
    about = _rows(asked) or list(asked.table.rows)
    fields = [field for field in asked.table.fields if field.name != asked.table.key_field]
    return [(row, field) for row in about for field in fields if known(row.cell(field.name))][:MOST_OFFERED]


# ── what is asked ────────────────────────────────────────────────────────────────────────────────────────────────────

_COUNTS = re.compile(r"\bhow many\b", re.IGNORECASE)
_COMPARES = re.compile(r"\b(?:compare|versus|vs\.?|differ\w*|difference|or)\b", re.IGNORECASE)
_WHICH = re.compile(
    r"\b(?:which|what|who|any|list|show|are there|is there|do any)\b.*?\b(?:have|has|with|are|is|come|comes|support|"
    r"include|cost|costs|weigh|hold|under|over|below|above|made|were|(?=without))\b\s*(?P<what>.+)",
    re.IGNORECASE,
)
_WHETHER = re.compile(
    r"^\s*(?:and |but |so )?(?:is|are|does|do|has|have|can|will)\b\s*(?P<what>.*)", re.IGNORECASE | re.DOTALL
)
_MORE = re.compile(r"\b(?:tell me|more about|details?|describe|what about|know about|info\w*|everything)\b", re.I)
_BESIDE = re.compile(
    r"^(?:(?:a|an|the|have|has|come|comes|with|made|of|from|in|is|are|it|any|cost|costs|weigh|weighs|support|include|"
    r"ones?|them|these|products?|do|does|hold|holds|available|there)\b\s*)+",
    re.IGNORECASE,
)
_COLUMN_FORM = re.compile(r"\b(?:what(?:'s| is| are)?|how (?:much|long|heavy|big|large|loud))\b", re.IGNORECASE)
_HOW: dict[str, str] = {
    "how much": "price cost", "how long": "warranty battery length time", "how heavy": "weight",
    "how big": "capacity size", "how large": "capacity size", "how loud": "noise sound", "how old": "year age",
    "how powerful": "power wattage", "cost": "price", "weigh": "weight", "made of": "material", "hold": "capacity",
    "who makes": "maker brand", "where": "country origin",
}  # fmt: skip


def _answers(asked: AnswerFromTable) -> Iterator[Said]:
    """By the form of the question, the most telling first; nothing where it has none that cells can answer."""
    table, rows, words = asked.table, _rows(asked), _without_names(asked)
    fields = _fields(asked, words)
    extreme = next((sense for sense in senses(words) if sense.degree == "est"), None)
    way = better(fields[0], asked.product_type) if fields else None
    if extreme is None and way and re.search(r"\bbest\b", words, re.IGNORECASE):
        extreme = Sense(word="best", direction=way, degree="est")
    if extreme is not None:
        yield from _extreme(extreme, fields, rows if len(rows) > 1 else list(table.rows), table)
    elif len(rows) > 1 and (_COMPARES.search(words) or not fields):
        pointed = [field for sense in senses(words) for field in _all_fields(table) if _points(sense, field, table)]
        yield from _compared(rows, fields or pointed[:1], table)
    elif len(rows) == 1 and _WHETHER.match(asked.question) and (read := _condition(_WHETHER, words, asked)):
        yield _whether(read, rows[0], table)
    elif not rows and (_COUNTS.search(words) or _WHICH.search(words)) and (wanted := _filters(words, asked)):
        for each in wanted:
            yield from _those(each, table, counts=bool(_COUNTS.search(words)))
    elif rows and fields:
        yield from (_facts(row, fields, table) for row in rows[:MOST_NAMED])
    elif rows and (_MORE.search(words) or not _telling(words)):
        yield from (_facts(row, _all_fields(table), table) for row in rows[:MOST_NAMED])
    elif fields and (_COLUMN_FORM.search(words) or asked.fields):
        yield from (_facts(row, fields, table) for row in list(table.rows)[:MOST_NAMED])


def _rows(asked: AnswerFromTable) -> list[Row]:
    """The products that are named, in the order of the question."""
    table = asked.table
    found = {row.id: row for name in asked.products if (row := find_row(table, name))}
    said = asked.question.casefold()
    places: list[tuple[int, Row]] = []
    for row in sorted(table.rows, key=lambda row: -len(name_of(row, table))):  # of "Beam Mini" no other "Beam" is meant
        for part in (name_of(row, table).casefold(), *_short_names(row, table)):
            if place := re.search(rf"(?<!\w){re.escape(part)}(?!\w)", said):
                places.append((place.start(), row))
                said = f"{said[: place.start()]}{' ' * len(place[0])}{said[place.end() :]}"
                break
    return list({**found, **{row.id: row for _, row in sorted(places, key=lambda each: each[0])}}.values())


def _short_names(row: Row, table: Table) -> list[str]:
    """The first or the last words of the name, where no other product has them and no column is called so."""
    words = name_of(row, table).casefold().split()
    others = " | ".join(name_of(each, table).casefold() for each in table.rows if each.id != row.id)
    columns = {root for field in table.fields for root in roots(field.name)}
    parts = [" ".join(part) for size in range(len(words) - 1, 0, -1) for part in (words[:size], words[-size:])]
    return [part for part in parts if len(part) > 3 and part not in others and not set(roots(part)) & columns]


def _without_names(asked: AnswerFromTable) -> str:
    text = asked.question
    for row in _rows(asked):
        for part in (name_of(row, asked.table), *_short_names(row, asked.table)):
            text = re.sub(rf"(?<!\w)(?:the )?{re.escape(part)}(?:['’]s)?(?!\w)", " ", text, flags=re.IGNORECASE)
    return " ".join(text.split()).strip(" ?.!")


def _fields(asked: AnswerFromTable, words: str) -> list[Field]:
    table = asked.table
    given = [field for name in asked.fields if (field := table.field(name))]
    said = set(roots(words, telling=True))
    columns = _all_fields(table)
    named = [field for field in columns if set(roots(field.name, telling=True)) & said]
    whole = [field for field in named if set(roots(field.name, telling=True)) <= said]
    whole = [each for each in whole if not any(set(roots(each.name)) < set(roots(other.name)) for other in whole)]
    meant = [
        field
        for form, names in _HOW.items()
        if re.search(rf"\b{form}\b", words, re.IGNORECASE)
        for field in columns
        if set(roots(names)) & set(roots(field.name))
    ]
    return list(
        {field.name: field for field in (*given, *(whole or named), *([] if named or given else meant[:1]))}.values()
    )


def _points(sense: Sense, field: Field, table: Table) -> bool:
    return bool(sense.degree and sense.fields and direction_in(field, sense) and _sizes(field, list(table.rows)))


def _all_fields(table: Table) -> list[Field]:
    return [field for field in table.shown_fields if field.name != table.key_field and field.type != "url"]


_FORM = frozenset(
    roots(
        "what about tell more know the is it like how which one ones and give show me please can you first second third"
        " fourth fifth number last"
    )
)


def _telling(words: str) -> set[str]:
    return set(roots(words, telling=True)) - _FORM


def _condition(form: re.Pattern[str], words: str, asked: AnswerFromTable) -> Wish | None:
    found = form.search(words)
    phrase = _BESIDE.sub("", found["what"].strip(" ?.")) if found else ""
    read = wish(phrase, asked.table, asked.product_type) if phrase else None
    return read if read is not None and read.decides else None


def _filters(words: str, asked: AnswerFromTable) -> list[Wish]:
    """One condition, or several that are joined by "and" and are about different columns."""
    whole = _filter(words, asked)
    parts = [_filter(f"which have {part}" if place else part, asked) for place, part in enumerate(words.split(" and "))]
    apart = {each.field.name: each for each in parts if each is not None and each.field is not None}
    return list(apart.values()) if 1 < len(apart) == len(parts) else [whole] if whole else []


def _filter(words: str, asked: AnswerFromTable) -> Wish | None:
    if _COUNTS.search(words):
        words = re.sub(r"^.*?\bhow many\b(?: of (?:them|these|the products))?", "which", words, flags=re.IGNORECASE)
    limit = re.search(
        r"\b(?:under|over|below|above|at least|at most|more than|less than|up to|after|before|since)\b.*\d.*",
        words,
        re.I,
    )
    read = wish(limit[0], asked.table, asked.product_type) if limit else None
    return read if read is not None and read.decides else _condition(_WHICH, words, asked)


# ── answers ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def _facts(row: Row, fields: list[Field], table: Table) -> Said:
    """ "Vessa Uno: capacity 1.4 l, warranty 3 years. Its noise is not known."."""
    name = name_of(row, table)
    have = [field for field in fields if known(row.cell(field.name))][:MOST_FACTS]
    missing = [field for field in fields if not known(row.cell(field.name))][:MOST_FACTS]
    cells = (*(ref(row, field) for field in have), *(ref(row, field) for field in missing))
    lacking = f"{listed(field_told(field) for field in missing)} not known" if missing else ""
    if len(fields) == 1 and missing:
        column = field_told(fields[0])
        what = f"Whether {name} {has_told(fields[0])}" if fields[0].type == "boolean" else f"The {column} of {name}"
        verb = "is" if fields[0].type == "boolean" else is_told(fields[0])
        return Said(text=f"{what} {verb} not known; it can be looked up again.", cells=cells)
    facts = [f"{field_told(field)} {_value(row, field)}" for field in have]
    return Said(text=f"{name}: {', '.join((*facts, *([lacking] if lacking else [])))}.", cells=cells)


def _value(row: Row, field: Field) -> str:
    cell = row.cell(field.name)
    doubt = doubt_of(cell) if known(cell) else ""
    return f"{told(cell, field)} ({doubt})" if doubt else told(cell, field)


def _extreme(sense: Sense, fields: list[Field], rows: list[Row], table: Table) -> Iterator[Said]:
    """ "The lightest": of the column that is named, or that the word itself speaks of."""
    columns = fields or ([field for field in _all_fields(table) if sense.fields] if sense.fields else [])
    for field in columns:
        way = direction_in(field, sense) if sense.fields else sense.direction
        way = sense.direction if way is None and field in fields else way
        sizes = _sizes(field, rows)
        if way is None or not sizes:
            continue
        end = max(sizes.values()) if way == "more" else min(sizes.values())
        first = [row for row in rows if sizes.get(row.id) == end]
        names = listed(name_of(row, table) for row in first[:MOST_NAMED])
        cells = tuple(ref(row, field) for row in rows if row.id in sizes)
        word, one = end_told(field, way), len(first) == 1
        which = f"the {word}" if word in SAID_OF_PRODUCT else f"the {word} {field_told(field)}"
        verb = ("is" if one else "are") if word in SAID_OF_PRODUCT else "has" if one else "have"
        value = _value(first[0], field)
        if len(sizes) == 1:
            yield Said(text=f"{names} is the only one whose {field_told(field)} is known: {value}.", cells=cells)
        else:
            of = f"of {len(sizes)} products whose {field_told(field)} can be compared"
            yield Said(text=f"{names} {verb} {which} ({value}) {of}.", cells=cells)
        yield from _silent(field, [row for row in rows if row.id not in sizes], table)
        return


def _silent(field: Field, rows: list[Row], table: Table, why: str = "could not be compared") -> Iterator[Said]:
    """Those of which it is not known, and those whose value is in another currency or says neither yes nor no."""
    missing = [row for row in rows if not known(row.cell(field.name))]
    if missing:
        names = listed(name_of(row, table) for row in missing[:MOST_NAMED])
        subject = names if len(missing) <= MOST_NAMED else f"{len(missing)} products"
        whether = f"Whether {subject} {has_told(field, many=len(missing) > 1)}"
        what = whether if field.type == "boolean" else f"The {field_told(field)} of {subject}"
        verb = "is" if field.type == "boolean" else is_told(field)
        yield Said(text=f"{what} {verb} not known.", cells=tuple(ref(row, field) for row in missing))
    if unlike := [row for row in rows if known(row.cell(field.name))][:MOST_NAMED]:
        shown = listed(f"{name_of(row, table)} ({_value(row, field)})" for row in unlike)
        yield Said(text=f"{shown} {why}.", cells=tuple(ref(row, field) for row in unlike))


def _sizes(field: Field, rows: list[Row]) -> dict[int, float]:
    """Amounts by row; prices only in the currency that most are in."""
    sizes = {row.id: size for row in rows if (size := amount(row.cell(field.name), field)) is not None}
    if field.type != "money":
        return sizes
    prices = {row.id: price.currency for row in rows if (price := priced(row.cell(field.name), field))}
    usual = max(sorted(set(prices.values())), key=list(prices.values()).count, default="")
    return {row: size for row, size in sizes.items() if prices.get(row) == usual}


def _compared(rows: list[Row], fields: list[Field], table: Table) -> Iterator[Said]:
    """Column by column what differs; then in what they are the same."""
    same: list[Field] = []
    told_apart = 0
    for field in fields or _all_fields(table):
        values = [told(row.cell(field.name), field) for row in rows]
        if not any(known(row.cell(field.name)) for row in rows):
            continue
        if len(set(values)) == 1:
            same.append(field)
        elif told_apart < MOST_FACTS:
            told_apart += 1
            each = "; ".join(f"{name_of(row, table)} {_value(row, field)}" for row in rows)
            yield Said(text=f"{field.name}: {each}.", cells=tuple(ref(row, field) for row in rows))
    if same:
        facts = ", ".join(f"{field_told(field)} {told(rows[0].cell(field.name), field)}" for field in same[:MOST_FACTS])
        cells = tuple(ref(row, field) for field in same[:MOST_FACTS] for row in rows)
        yield Said(text=f"The same for {'both' if len(rows) == 2 else 'all'}: {facts}.", cells=cells)


def _whether(read: Wish, row: Row, table: Table) -> Said:
    field = deciding(read, row)
    name, cells = name_of(row, table), (ref(row, field),)
    answer = holds(read, row)
    if not known(row.cell(field.name)):
        return _facts(row, [field], table)
    opening = {"yes": "Yes: ", "no": "No: ", "undecided": "That is not certain: "}[answer]
    doubt = doubt_of(row.cell(field.name))
    return Said(text=f"{opening}{name} {stated(row, field)}{f' ({doubt})' if doubt else ''}.", cells=cells)


def _those(read: Wish, table: Table, *, counts: bool) -> Iterator[Said]:
    field = read.field
    assert field is not None
    answers = {row.id: holds(read, row) for row in table.rows}
    have = [row for row in table.rows if answers[row.id] == "yes"]
    decided = [row for row in table.rows if answers[row.id] != "undecided"]
    cells = tuple(ref(row, deciding(read, row)) for row in decided)
    shown = [f"{name_of(row, table)} ({_value(row, deciding(read, row))})" for row in have[:MOST_NAMED]]
    further = f" and {len(have) - MOST_NAMED} more" if len(have) > MOST_NAMED else ""
    what = f"of {len(decided)} products whose {field_told(field)} can be compared"
    if not have:
        yield Said(text=f"None {what}.", cells=cells)
    elif counts or further:
        yield Said(text=f"{len(have)} {what}: {', '.join(shown)}.", cells=cells)
    else:
        feature = has_told(field, many=len(have) > 1, lacks=read.negative)
        feature = f"{listed(name_of(row, table) for row in have)} {feature}"
        text = feature if field.type == "boolean" and read.shown_by is None else listed(shown)
        yield Said(text=f"{text}.", cells=tuple(ref(row, deciding(read, row)) for row in have))
    why = "could not be compared" if read.is_bound else "may or may not: the cells do not say"
    yield from _silent(field, [row for row in table.rows if answers[row.id] == "undecided"], table, why)


def _unanswered(asked: AnswerFromTable) -> Said:
    rows = _rows(asked)
    of = f" of {listed(name_of(row, asked.table) for row in rows[:MOST_NAMED])}" if rows else ""
    cells = tuple(ref(row, asked.table.key_field) for row in rows[:MOST_NAMED])
    return Said(text=f"The comparison does not say that{of}; it can be added as a new column.", cells=cells)


# ── why not ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def why_not(name: str, table: Table, ranking: Ranking) -> tuple[Said, ...]:
    """Why a product is not among the first: the reason for which it was left out, or its place and what cost it."""
    row = find_row(table, name)
    if row is None:
        return (Said(text="That product is not among the candidates; it can be searched for and added."),)
    full, key = name_of(row, table), ref(row, table.key_field)
    for excluded in ranking.excluded:
        if excluded.row_id == row.id:
            cells = (ref(row, excluded.field),) if excluded.field else (key,)
            return (Said(text=f"{full} was left out: {excluded.reason}.", cells=cells),)
    for place, ranked in enumerate(ranking.ranked, start=1):
        if ranked.row_id == row.id:
            opening = f"{full} is in place {place} of {len(ranking.ranked)}."
            return (Said(text=opening, cells=(key,)), *_costs(row, ranked, ranking, table))
    return (Said(text=f"{full} was not ranked.", cells=(key,)),)


def _costs(row: Row, ranked: Ranked, ranking: Ranking, table: Table) -> Iterator[Said]:
    """The parts that earned it least for their weight, each against the product that earned the most by it."""
    lost = sorted((part for part in ranked.parts if part.score < 0.7), key=lambda part: -part.weight * (1 - part.score))
    for part in lost[:2]:
        field = table.field(part.field)
        if field is None or part.field == table.key_field:
            continue
        if not known(row.cell(field.name)):
            yield Said(text=f"Its {field_told(field)} is not known, which earned it nothing.", cells=(ref(row, field),))
            continue
        best = max(
            ranking.ranked, key=lambda each: next((one.score for one in each.parts if one.field == part.field), 0.0)
        )
        other = table.row(best.row_id)
        cells = (ref(row, field), *((ref(other, field),) if other and other.id != row.id else ()))
        against = f"; {name_of(other, table)} {stated(other, field)}" if other and other.id != row.id else ""
        doubt = doubt_of(row.cell(field.name))
        own = f"{stated(row, field)} ({doubt})" if doubt else stated(row, field)
        yield Said(text=f"{name_of(row, table)} {own}{against}.", cells=cells)
