"""Searches for products: diverse queries."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel

from tablewright.citations.quotes import WARNING
from tablewright.decisions.decision import Prompt, Unusable, headed_block, join_parts
from tablewright.decisions.shortlist.prompt_parts import wanted_block
from tablewright.domain.model import Noun
from tablewright.domain.shortlist import Requirements
from tablewright.domain.text import new_queries

QUERIES = f"""\
You plan web searches that find products somebody may want to buy: as many different suitable models as possible, of \
many makers, and the makers' own pages. `queries`: short, in the words of the shops and makers of the region. Cover \
different angles: makers' catalogues, tests and comparisons, forums, price limit, single features, use, alternatives \
to a known model. No query twice, none that was sent before, and nothing personal in them.

{WARNING}"""


class SearchesToPlan(Noun, frozen=True, gc=True):
    """`like` describes a product that those wanted resemble; `known` are products that are there already; `broader`:
    the searches that were `sent` found nothing."""

    requirements: Requirements
    least: int
    most: int
    sent: tuple[str, ...] = ()
    known: tuple[str, ...] = ()
    like: str = ""
    broader: bool = False


class PlannedQueries(BaseModel):
    queries: list[str]


class PlanSearches:
    name = "plan searches"

    def prompt(self, asked: SearchesToPlan) -> Prompt:
        text = join_parts(
            wanted_block(asked.requirements),
            headed_block("They should resemble this one:", 1, asked.like, "product"),
            headed_block("Known already; find others:", 2, asked.known, "products"),
            headed_block("Sent already:", 3, asked.sent, "queries"),
            "They found nothing: search more broadly, with fewer words." if asked.broader else "",
            f"Give at least {asked.least} and at most {asked.most} queries.",
        )
        return Prompt(instructions=QUERIES, text=text, reply=PlannedQueries, max_tokens=80 + 40 * asked.most)

    def check(self, asked: SearchesToPlan, reply: Any) -> tuple[str, ...]:
        new = new_queries((query[:200] for query in reply.queries), asked.sent)[: asked.most]
        if not new:
            raise Unusable("there is no new query.", usable=self.fallback(asked))
        return new

    def fallback(self, asked: SearchesToPlan) -> tuple[str, ...]:
        """The words that were typed, alone, with the region, and with each wish."""
        product, region = asked.requirements.product_type, asked.requirements.region
        wishes = [wish.words for wish in asked.requirements.wishes if wish.kind in ("must", "nice", "specification")]
        ends = ["", "price", "comparison", *wishes]
        queries = [f"{product} {end} {region}" for end in ends] + [f"{asked.like} {product}"] * bool(asked.like)
        return new_queries(queries, asked.sent)[: asked.most]
