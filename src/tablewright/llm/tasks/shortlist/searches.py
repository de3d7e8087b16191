"""Plan diverse searches for products."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel

from tablewright.citations.quotes import RETRIEVED_WARNING
from tablewright.domain.model import Struct
from tablewright.domain.shortlist import Requirements
from tablewright.domain.text import drop_tried_queries
from tablewright.llm.tasks.decision import InvalidReply, Prompt, headed_block, join_parts
from tablewright.llm.tasks.shortlist.prompt_parts import wanted_block


class SearchesToPlan(Struct, frozen=True, gc=True):
    """Requirements to search for. `like` describes a product that the results should resemble; `known` products are
    already listed; `broader` says that the searches `sent` found nothing."""

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
    instructions = f"""\
You plan web searches that find products a user may want to buy: as many different suitable models as possible, of \
many makers, and the makers' own pages. `queries`: short, in the words of the shops and makers of the region. Cover \
different angles: makers' catalogues, tests and comparisons, forums, price limit, single features, use, alternatives \
to a known model. No query twice, none that was sent before, and nothing personal in them.

{RETRIEVED_WARNING}"""

    def prompt(self, asked: SearchesToPlan) -> Prompt:
        text = join_parts(
            wanted_block(asked.requirements),
            headed_block("They should resemble this one:", 1, asked.like, "product"),
            headed_block("Known already; find others:", 2, asked.known, "products"),
            headed_block("Sent already:", 3, asked.sent, "queries"),
            "They found nothing: search more broadly, with fewer words." if asked.broader else "",
            f"Give at least {asked.least} and at most {asked.most} queries.",
        )
        return Prompt(instructions=self.instructions, text=text, reply=PlannedQueries, max_tokens=80 + 40 * asked.most)

    def check(self, asked: SearchesToPlan, reply: Any) -> tuple[str, ...]:
        # A longer text is no query.
        new = drop_tried_queries((query[:200] for query in reply.queries), asked.sent)[: asked.most]
        if not new:
            raise InvalidReply("there is no new query.", usable=self.fallback(asked))
        return new

    def fallback(self, asked: SearchesToPlan) -> tuple[str, ...]:
        """Return the typed words with the region, alone and with each wish."""
        product, region = asked.requirements.product_type, asked.requirements.region
        wishes = [wish.words for wish in asked.requirements.wishes if wish.kind in ("must", "nice", "specification")]
        ends = ["", "price", "comparison", *wishes]
        queries = [f"{product} {end} {region}" for end in ends] + [f"{asked.like} {product}"] * bool(asked.like)
        return drop_tried_queries(queries, asked.sent)[: asked.most]
