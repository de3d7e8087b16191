"""Columns: what products of a kind are compared by, the user's wishes first."""

from __future__ import annotations

from typing import Any

from msgspec import structs
from pydantic import BaseModel

from tablewright.citations.quotes import WARNING, block
from tablewright.decisions.decision import Prompt, Unusable
from tablewright.decisions.shortlist.conditions import WishedColumn, as_field, budget_currency, wishes_fault
from tablewright.decisions.shortlist.prompt_parts import columns_text, pages_text, wanted_block
from tablewright.domain.model import Field, Noun, column_key
from tablewright.domain.retrieved import Retrieved
from tablewright.domain.shortlist import PRICE_FIELD, Requirements
from tablewright.models.text_budget import EXAMPLE_PAGES_ROOM

INSTRUCTIONS = f"""\
You choose the columns by which products are compared for somebody who wants to buy one. For someone who wants just \
this, which verifiable facts help to decide? First what stands for their wishes and priorities, then what the \
category needs. Only facts that pages about such products state, as the example pages show; no ratings, scores or \
estimates of your own, nothing that is the same for all. At most {{most}} columns beside those that are there.

Each has a short `name`, in the language of the wishes; `type`; `unit` for numbers ("l", "kg", "min"), one for all \
products, else ""; `options` for a select; and a `question`, in the language of the pages, that a page about one \
single product answers ("What is the capacity of {{Product}}?"). What is measured is a number with its unit, or a text \
where some products state a word instead ("unlimited"); a property that is there or not is yes/no, several things \
are a list. Where tests by others are among the pages, one text column for what testers found is welcome.

{WARNING}"""
MOST = 8
EXAMPLES = 4


class ColumnsToPropose(Noun, frozen=True, gc=True):
    """`fields` are there already, such as those that wishes need."""

    requirements: Requirements
    fields: tuple[Field, ...] = ()
    sources: tuple[Retrieved, ...] = ()
    room: int = EXAMPLE_PAGES_ROOM


class ProposedColumns(BaseModel):
    columns: list[WishedColumn]


class ProposeColumns:
    name = "columns"

    def prompt(self, asked: ColumnsToPropose) -> Prompt:
        sources = asked.sources[:EXAMPLES]
        texts = pages_text(sources, asked.room)
        there = columns_text((PRICE_FIELD, *asked.fields))
        return Prompt(
            instructions=INSTRUCTIONS.replace("{most}", str(MOST)),
            text=(
                f"{wanted_block(asked.requirements)}\n\n"
                f"There already:\n{block(0, there, 'columns')}\n\nExample pages:\n{texts}"
            ),
            reply=ProposedColumns,
            max_tokens=900,
        )

    def check(self, asked: ColumnsToPropose, reply: Any) -> tuple[Field, ...]:
        if problem := wishes_fault((), reply.columns, ()):
            raise Unusable(problem, usable=self.fallback(asked))
        there = {column_key(field.name) for field in (PRICE_FIELD, *asked.fields)}
        proposed = (structs.replace(as_field(column), role="category") for column in reply.columns)
        new = {column_key(field.name): field for field in proposed}
        return (*self.fallback(asked), *(field for key, field in new.items() if key not in there))[: MOST + 12]

    def fallback(self, asked: ColumnsToPropose) -> tuple[Field, ...]:
        """The price, and what the wishes need."""
        price = price_field(asked.requirements)
        return (price, *(field for field in asked.fields if field.name != price.name))


def price_field(requirements: Requirements) -> Field:
    """Of a product that costs something else in each country, the price where it is to be bought, in the currency of
    the budget."""
    currency = budget_currency(requirements)
    region = f"for buyers in {requirements.region}" if requirements.region else ""
    wanted = ", ".join(filter(None, (region, f"in {currency}" if currency else "")))
    if not wanted:
        return PRICE_FIELD
    return structs.replace(PRICE_FIELD, question=f"{PRICE_FIELD.question} Only prices {wanted}, if there are any.")
