"""Classify intent: what somebody wants next, once they have seen the comparison, and which products and columns they
mean.

Plain commands need no model: the rule is sure of them. Names come from the table, words from the message: neither a
model nor a rule can bring in a product that is not there.
"""

from __future__ import annotations

from typing import Any

from msgspec import structs
from pydantic import BaseModel
from pydantic import Field as Key

from tablewright.decisions.decision import Prompt, Unusable
from tablewright.decisions.question.words import same
from tablewright.decisions.shopping.mentions import named_in
from tablewright.decisions.shopping.next_step import (
    LIKELY,
    SURE,
    ClassifyIntent,
    IntentRead,
    column_named,
    read_next_step,
    what_next,
)
from tablewright.table.shortlist import Intent
from tablewright.table.text import shortened
from tablewright.table.untrusted import WARNING, block, clean, question_block
from tablewright.text.words import stems

__all__ = ["Classify", "ClassifyIntent", "IntentRead"]

MOST_SHOWN = 40
MOST_TURNS = 4

INSTRUCTIONS = (
    "You read what a buyer says about a comparison of products. intent: done (has chosen, or wants no more), links "
    "(where to buy, stock, the price checked again), export (a file), question (about products that are there), "
    "why_not (why a product is not listed or not higher), new_fields (a further column for all products), more_options "
    "(other or similar products, also cheaper ones), change_requirements (budget, must-haves, priorities), flag (a "
    "value is wrong), show_all (the whole table), off_topic, or unclear. products: those that are meant, by their "
    "names in the list. fields: columns that are meant. new_fields: columns to add. like: the product that others "
    "shall resemble. count: how many more, or 0. changes: the words that change what is wanted. question: what to ask "
    "back, if unclear. " + WARNING
)


class Reading(BaseModel):
    intent: Intent
    products: list[str] = Key(default_factory=list, max_length=20)
    fields: list[str] = Key(default_factory=list, max_length=20)
    new_fields: list[str] = Key(default_factory=list, max_length=10)
    like: str = Key(default="", max_length=120)
    count: int = Key(default=0, ge=0, le=50)
    changes: str = Key(default="", max_length=300)
    question: str = Key(default="", max_length=300)


class Classify:
    name = "classify intent"

    def prompt(self, asked: ClassifyIntent) -> Prompt:
        others = (name for name in asked.products if name not in asked.shown)
        names = [shortened(name, 80) for name in (*asked.shown, *others)][:MOST_SHOWN]
        numbered = "\n".join(f"{place}. {name}" for place, name in enumerate(names, start=1))
        before = "\n".join(shortened(turn, 200) for turn in asked.history[-MOST_TURNS:])
        text = (
            f"Wanted: {clean(asked.requirements.product_type)}\nProducts, the best first:\n"
            f"{block(1, numbered or 'none')}\nColumns:\n{block(2, chr(10).join(asked.fields) or 'none')}\n"
        )
        text += f"Said before:\n{block(3, before)}\n" if before else ""
        message = f"Message:\n{question_block(asked.message)}"
        return Prompt(instructions=INSTRUCTIONS, text=text + message, reply=Reading, max_tokens=220)

    def is_plain(self, asked: ClassifyIntent) -> bool:
        """Whether the message needs no model."""
        return self.fallback(asked).confidence >= SURE

    def check(self, asked: ClassifyIntent, reply: Any) -> IntentRead:
        """Its reading, with names of the table and words of the message only. A plain command is what it says."""
        ruled = self.fallback(asked)
        if ruled.confidence >= SURE and reply.intent != ruled.intent:
            raise Unusable(f"the message says plainly that the intent is {ruled.intent}.", usable=ruled)
        named = dict.fromkeys(name for each in reply.products for name in _products_named(each, asked))
        unknown = [each for each in reply.products if not _products_named(each, asked)]
        if unknown and reply.intent != "why_not":
            raise Unusable(f"{unknown[0][:60]!r} is no product of the table.", usable=ruled)
        columns = tuple(column for column in asked.fields if any(same(column, each) for each in reply.fields))
        words = frozenset(stems(asked.message))
        new = tuple(each for each in reply.new_fields if _is_said(each, words) and not column_named(each, asked))
        read = IntentRead(
            intent=reply.intent,
            products=tuple(named) or ruled.products,
            fields=columns or ruled.fields,
            new_fields=new or (ruled.new_fields if reply.intent in (ruled.intent, "new_fields") else ()),
            like=next(iter(_products_named(reply.like, asked)), "") or ruled.like,
            count=reply.count if str(reply.count) in asked.message or not ruled.count else ruled.count,
            changes=reply.changes if reply.changes and _is_said(reply.changes, words) else ruled.changes,
            path=ruled.path,
            confidence=max(LIKELY, ruled.confidence) if reply.intent == ruled.intent else LIKELY,
            question=clean(reply.question) if reply.intent == "unclear" else "",
        )
        if read.intent == "new_fields" and not (read.new_fields or read.fields):
            raise Unusable("new_fields needs the words for the columns to add.", usable=ruled)
        if read.intent == "unclear" and not read.question:
            return structs.replace(read, question=what_next(asked))
        return read

    def fallback(self, asked: ClassifyIntent) -> IntentRead:
        return read_next_step(asked)


def _products_named(name: str, asked: ClassifyIntent) -> tuple[str, ...]:
    whole = tuple(product for product in asked.products if product.casefold() == name.strip().casefold())
    if whole or not name.strip():
        return whole
    return tuple(product for span in named_in(name, asked.products, asked.shown) for product in span.products)


def _is_said(text: str, words: frozenset[str]) -> bool:
    told = stems(text)
    return bool(told) and all(word in words for word in told)
