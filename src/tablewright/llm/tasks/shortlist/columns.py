"""Propose the columns by which products are compared, those for the user's wishes first."""

from __future__ import annotations

from typing import Any

from msgspec import structs
from pydantic import BaseModel

from tablewright.citations.quotes import RETRIEVED_WARNING, mark_text
from tablewright.domain.model import Field, Struct, column_key
from tablewright.domain.retrieved import Retrieved
from tablewright.domain.shortlist import PRICE_FIELD, Requirements
from tablewright.llm.tasks.decision import InvalidReply, Prompt
from tablewright.llm.tasks.shortlist.conditions import (
    WishedColumn,
    budget_currency,
    build_wished_field,
    find_wishes_fault,
)
from tablewright.llm.tasks.shortlist.prompt_parts import columns_text, pages_text, wanted_block
from tablewright.llm.text_budget import TEXT_LIMITS

# Besides the columns of the wishes; each is looked up for every product.
MAX_CATEGORY_COLUMNS = 8
# More pages of one kind of goods state much the same, and each would be shown shorter.
MAX_EXAMPLE_PAGES = 4


class ColumnsToPropose(Struct, frozen=True, gc=True):
    """Requirements and example pages. `fields` exist already, such as those that wishes need."""

    requirements: Requirements
    fields: tuple[Field, ...] = ()
    sources: tuple[Retrieved, ...] = ()
    room: int = TEXT_LIMITS.example_pages


class ProposedColumns(BaseModel):
    columns: list[WishedColumn]


class ProposeColumns:
    name = "columns"
    instructions = f"""\
You choose the columns by which products are compared for a user who wants to buy one. For someone who wants just \
this, which verifiable facts help to decide? First what stands for their wishes and priorities, then what the \
category needs. Only facts that pages about such products state, as the example pages show; no ratings, scores or \
estimates of your own, nothing that is the same for all. At most {{most}} columns besides those that are there.

Each has a short `name`, in the language of the wishes; `type`; `unit` for numbers ("l", "kg", "min"), one for all \
products, else ""; `options` for a select; and a `question`, in the language of the pages, that a page about one \
single product answers ("What is the capacity of {{Product}}?"). What is measured is a number with its unit, or a text \
where some products state a word instead ("unlimited"); a property that is there or not is yes/no, several things \
are a list. Where tests by others are among the pages, one text column for what testers found is welcome.

{RETRIEVED_WARNING}"""

    def prompt(self, asked: ColumnsToPropose) -> Prompt:
        sources = asked.sources[:MAX_EXAMPLE_PAGES]
        texts = pages_text(sources, asked.room)
        there = columns_text((PRICE_FIELD, *asked.fields))
        return Prompt(
            instructions=self.instructions.replace("{most}", str(MAX_CATEGORY_COLUMNS)),
            text=(
                f"{wanted_block(asked.requirements)}\n\n"
                f"There already:\n{mark_text(0, there, 'columns')}\n\nExample pages:\n{texts}"
            ),
            reply=ProposedColumns,
            # Eight columns, each with a question.
            max_tokens=900,
        )

    def check(self, asked: ColumnsToPropose, reply: Any) -> tuple[Field, ...]:
        if problem := find_wishes_fault((), reply.columns, ()):
            raise InvalidReply(problem, usable=self.fallback(asked))
        there = {column_key(field.name) for field in (PRICE_FIELD, *asked.fields)}
        proposed = (structs.replace(build_wished_field(column), role="category") for column in reply.columns)
        new = {column_key(field.name): field for field in proposed}
        # Twelve more for the price and the columns of the wishes: each is looked up for every product.
        return (*self.fallback(asked), *(field for key, field in new.items() if key not in there))[
            : MAX_CATEGORY_COLUMNS + 12
        ]

    def fallback(self, asked: ColumnsToPropose) -> tuple[Field, ...]:
        """Return the price and the columns that the wishes need."""
        price = price_field(asked.requirements)
        return (price, *(field for field in asked.fields if field.name != price.name))


def price_field(requirements: Requirements) -> Field:
    """Return the price column, restricted to the buyer's region and the currency of the budget, since prices differ
    between countries."""
    currency = budget_currency(requirements)
    region = f"for buyers in {requirements.region}" if requirements.region else ""
    wanted = ", ".join(filter(None, (region, f"in {currency}" if currency else "")))
    if not wanted:
        return PRICE_FIELD
    return structs.replace(PRICE_FIELD, question=f"{PRICE_FIELD.question} Only prices {wanted}, if there are any.")
