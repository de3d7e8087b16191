"""Pick claims: the few statements whose being wrong would hurt most, and how to look for what others say of them.

The query never holds the claim's own figure: it would find only those who repeat it.
"""

from __future__ import annotations

import re
from typing import Any

from pydantic import BaseModel
from pydantic import Field as Key

from tablewright.decisions.decision import Prompt, Unusable
from tablewright.table.model import Noun, RowId, confidence_label
from tablewright.table.numbers import read_numbers
from tablewright.table.research import MOST_CLAIMS, Brief, Claim, FieldKind
from tablewright.table.text import plural, shortened
from tablewright.table.untrusted import WARNING, block, clean, gives_orders, question_block
from tablewright.text.words import roots

MOST_OFFERED = 20
"""Statements that a model chooses from, those of the highest impact."""
LONGEST_SHOWN = 220
MOST_WORDS = 8
"""Of a query."""
MOST_CELLS = 3
"""Of a row: what has more is a table, and nobody confirms or denies a table."""

INSTRUCTIONS = (
    f"You choose which statements of a report are checked with independent sources, at most {MOST_CLAIMS}. Choose "
    "those on which the answer depends most and that are most likely to be wrong: prices and other figures, what only "
    "one source says, what a seller says of itself; not what everybody knows, and not two of the same candidate if "
    "others are there. Write in `chosen` their numbers, the most important first. " + WARNING
)


class Statement(Noun, frozen=True):
    """`weight` is how much depends on it, 0 to 1 (a required column, a chosen candidate, part of the answer); `sources`
    are the independent domains that say it already. `name` is the candidate's, where it is about one."""

    text: str
    url: str
    domain: str = ""
    confidence: float = 0.5
    weight: float = 0.5
    row_id: RowId = 0
    field: str = ""
    sources: int = 1
    has_number: bool = False
    name: str = ""


class PickClaims(Noun, frozen=True):
    brief: Brief
    statements: tuple[Statement, ...]


class Chosen(BaseModel):
    chosen: list[int] = Key(max_length=2 * MOST_CLAIMS)


class Pick:
    name = "pick claims"

    def prompt(self, asked: PickClaims) -> Prompt:
        lines = [
            f"{number}. {shortened(each.text, LONGEST_SHOWN)} "
            f"({each.domain or 'document'}; {each.sources} {plural('source', each.sources)})"
            for number, each in enumerate(_offered(asked), start=1)
        ]
        text = f"{question_block(asked.brief.question)}\nStatements:\n{block(1, chr(10).join(lines), 'statements')}"
        return Prompt(instructions=INSTRUCTIONS, text=text, reply=Chosen, max_tokens=60)

    def check(self, asked: PickClaims, reply: Any) -> tuple[Claim, ...]:
        offered = _offered(asked)
        numbers = [number for number in dict.fromkeys(reply.chosen) if 1 <= number <= len(offered)]
        if offered and not numbers:
            raise Unusable(f"The statements are numbered 1 to {len(offered)}.", usable=self.fallback(asked))
        return tuple(_claim(offered[number - 1], asked.brief) for number in numbers[:MOST_CLAIMS])

    def fallback(self, asked: PickClaims) -> tuple[Claim, ...]:
        """One of each candidate or angle first, by impact; a second one only where there are too few."""
        firsts: list[Statement] = []
        others: list[Statement] = []
        for each in _offered(asked, most=len(asked.statements)):
            alike = any(each.row_id and each.row_id == other.row_id for other in firsts)
            (others if alike else firsts).append(each)
        return tuple(_claim(each, asked.brief) for each in (*firsts, *others)[:MOST_CLAIMS])


def _offered(asked: PickClaims, most: int = MOST_OFFERED) -> list[Statement]:
    """The highest impact first, each said once."""
    kept: dict[str, Statement] = {}
    for each in sorted(asked.statements, key=lambda each: -_impact(each, asked.brief)):
        is_table = each.text.count("|") > MOST_CELLS and not each.name
        if roots(each.text, telling=True) and not gives_orders(each.text) and not is_table:
            kept.setdefault(" ".join(each.text.casefold().split()), each)
    return list(kept.values())[:most]


def _impact(statement: Statement, brief: Brief) -> float:
    """What depends on it, and how easily it is wrong: figures are, and what nobody else says."""
    return (
        statement.weight
        + 0.4 * statement.has_number
        + 0.2 * (_kind(statement, brief) == "price")
        + (0.4 if statement.sources <= 1 else 0.1 if statement.sources == 2 else 0.0)
        + 0.2 * (1 - statement.confidence)
    )


def _claim(statement: Statement, brief: Brief) -> Claim:
    return Claim(
        claim_text=_told(statement, brief),
        source_url=statement.url,
        confidence=confidence_label(statement.confidence),
        verification_query=query_for(statement, brief),
        row_id=statement.row_id,
        field=statement.field,
    )


def _told(statement: Statement, brief: Brief) -> str:
    """As a statement: a row of a table with commas, and a bare value with what it is the value of."""
    text = _BARS.sub(", ", " ".join(clean(statement.text).split())).strip(", ")
    value = text.removeprefix(f"{statement.name}: ")
    field = statement.field.replace("_", " ")
    if value != text and value.startswith(statement.name):
        return f"{statement.name}: {value.removeprefix(statement.name).lstrip(' ,:;–-')}"
    if value == text or _kind(statement, brief) != "fact" or set(roots(field)) & set(roots(value)):
        return text
    return f"{statement.name}: {field if field.isupper() else field[:1].lower() + field[1:]} {value}"


_BARS = re.compile(r"\s*\|[\s|]*")


def _kind(statement: Statement, brief: Brief) -> FieldKind | None:
    return next((wanted.kind for wanted in brief.columns if wanted.field.name == statement.field), None)


# ── the query ────────────────────────────────────────────────────────────────────────────────────────────────────────

_BESIDE = {
    "price": "pricing review comparison",
    "proof": "customer reviews case study results",
    "site": "official website",
    "name": "review",
}
_IDLE = frozenset(
    """according approximately around nearly almost roughly about over under more less than up to per percent per cent
    some most many other others including such however also while which said says reported reportedly million billion
    thousand hundred usd eur gbp dollars euros pounds""".split()
)
_WORD = re.compile(r"[^\W_][\w’'&.-]*[^\W_]|[^\W_]")


def query_for(statement: Statement, brief: Brief) -> str:
    """What independent sources, for it or against it, would be found by."""
    kind = _kind(statement, brief)
    if statement.name and kind in _BESIDE:
        return f"{statement.name} {_BESIDE[kind]}"
    if not statement.name:
        return " ".join(_telling(statement.text)[:MOST_WORDS])
    column = _telling(statement.field.replace("_", " ")) if kind else []
    words = _telling(re.sub(re.escape(statement.name), " ", statement.text, flags=re.IGNORECASE))
    return " ".join((statement.name, *dict.fromkeys((*column, *words)))[: MOST_WORDS + 1])


def _telling(text: str) -> list[str]:
    """The words that say something, without any figure."""
    for number in reversed(read_numbers(text)):
        text = f"{text[: number.start]} {text[number.end :]}"
    words = (word for word in _WORD.findall(text) if word.casefold() not in _IDLE and roots(word, telling=True))
    return list(dict.fromkeys(word for word in words if not word[0].isdigit()))
