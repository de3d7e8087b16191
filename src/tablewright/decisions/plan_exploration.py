"""Plan exploration: what to search for, so that products are found from many sides.

One wording finds one kind of page. Reviews name what is praised, makers' catalogs what there is, forums what people
kept: so the queries go over eight angles, and none is sent twice. They are plain words, for any search engine: a site
that we do not know is never named.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import combinations, islice
from typing import Any, get_args

from pydantic import BaseModel
from pydantic import Field as Key

from tablewright.decisions.brief.phrases import as_query, same_words, short_query
from tablewright.decisions.candidates.kind import read_kind, singular
from tablewright.decisions.decision import Prompt, Unusable
from tablewright.table.model import Noun
from tablewright.table.money_text import read_amounts
from tablewright.table.shortlist import PriceRange, QueryAngle, Requirements
from tablewright.table.text import plural, show_float
from tablewright.table.untrusted import WARNING, block, clean, gives_orders, question_block

LEAST, MOST = 10, 15
LONGEST = 14
"""Words of a query: what is longer is a sentence, and finds nothing."""
SHOWN = 20
PAIRS = 12
ANGLES: tuple[QueryAngle, ...] = get_args(QueryAngle)

INSTRUCTIONS = (
    "You plan web searches that find products of one type. Write {least} to {most} short search queries, as one types "
    "them into a search engine: no sentences, no site: operators, no quotation marks. Use every angle: review_site "
    "(tests and reviews), forum (what people recommend), brand_catalog (a maker's own range), comparison (models "
    "against each other), budget, feature_focus, use_case, alternatives. Every query names the product type, a brand "
    "or a product. No query that was tried. " + WARNING
)


class PlanExploration(Noun, frozen=True):
    """`known` are products that were found, `brands` makers that were seen, `like` is what more is wanted of.
    `broader`: nothing was found, so fewer words."""

    requirements: Requirements
    known: tuple[str, ...] = ()
    brands: tuple[str, ...] = ()
    tried: tuple[str, ...] = ()
    like: str = ""
    broader: bool = False
    most: int = MOST


class ExploreQuery(Noun, frozen=True):
    text: str
    angle: QueryAngle


class PlannedQuery(BaseModel):
    query: str = Key(max_length=200)
    angle: QueryAngle


class PlannedQueries(BaseModel):
    queries: list[PlannedQuery] = Key(max_length=30)


class Explore:
    name = "plan exploration"

    def prompt(self, asked: PlanExploration) -> Prompt:
        parts = [question_block(_wanted(asked))]
        seen = [name for name in (*asked.brands, *asked.known) if not gives_orders(name)][:SHOWN]
        if seen:
            parts.append("Brands and products that were found:\n" + block(1, "\n".join(seen)))
        if asked.tried:
            parts.append("Tried already:\n" + block(2, "\n".join(asked.tried[-SHOWN:])))
        if asked.broader:
            parts.append("The last searches found nothing: use fewer and more general words.")
        return Prompt(
            instructions=INSTRUCTIONS.format(least=min(LEAST, asked.most), most=asked.most),
            text="\n\n".join(parts),
            reply=PlannedQueries,
            max_tokens=600,
        )

    def check(self, asked: PlanExploration, reply: Any) -> tuple[ExploreQuery, ...]:
        """Its queries that can be sent; the rule fills the angles that it left out."""
        plan = _Plan(asked)
        about = _about(asked)
        for planned in reply.queries:
            query = re.sub(r"\bsite:\S*", " ", clean(planned.query), flags=re.IGNORECASE).replace('"', " ")
            if not gives_orders(query) and about & {singular(word) for word in same_words(query)}:
                plan.add(query, planned.angle)
        if not plan.queries:
            raise Unusable(
                "every query needs the product type, a brand or a product, and must be new.",
                usable=self.fallback(asked),
            )
        missing = [angle for angle in ANGLES if angle not in {each.angle for each in plan.queries}]
        plan.fill(missing, at_most=len(plan.queries) + len(missing), each=1)
        plan.fill(ANGLES, at_most=min(LEAST, asked.most))
        return tuple(plan.queries)

    def fallback(self, asked: PlanExploration) -> tuple[ExploreQuery, ...]:
        plan = _Plan(asked)
        plan.fill(ANGLES, at_most=asked.most)
        return tuple(plan.queries)


class _Plan:
    """The queries as they come together: no more than allowed, none twice and none that was tried."""

    def __init__(self, asked: PlanExploration) -> None:
        self.queries: list[ExploreQuery] = []
        self._asked = asked
        self._seen = {same_words(query) for query in asked.tried}

    def add(self, text: str, angle: QueryAngle) -> bool:
        text = short_query(text)
        words = same_words(text)
        if not words or words in self._seen or len(text.split()) > LONGEST or len(self.queries) >= self._asked.most:
            return False
        self._seen.add(words)
        self.queries.append(ExploreQuery(text=text, angle=angle))
        return True

    def fill(self, angles: Sequence[QueryAngle], *, at_most: int, each: int = MOST) -> None:
        """In turn, the best wording of every angle first. Where makers are known their catalogs come before all: they
        have the pages that the others only lead to. At first that leaves room for every angle, later it need not."""
        left = {angle: _wordings(angle, self._asked) for angle in angles}
        if "brand_catalog" in left and each > 1:
            room = 3 * at_most // 4 if self._asked.tried else at_most - len(ANGLES) + 1
            for _ in self._asked.brands[: max(0, room)]:
                self._add_next(left["brand_catalog"], "brand_catalog")
        for _ in range(each):
            for angle, wordings in left.items():
                if len(self.queries) < at_most:
                    self._add_next(wordings, angle)

    def _add_next(self, wordings: Iterator[str], angle: QueryAngle) -> None:
        """The next that is new."""
        next((wording for wording in wordings if self.add(wording, angle)), "")


# ── wordings ─────────────────────────────────────────────────────────────────────────────────────────────────────────


def _wordings(angle: QueryAngle, asked: PlanExploration) -> Iterator[str]:
    """Wordings of an angle, the best first. Without names to go by they are general."""
    one = _type(asked)
    many = several(one)
    features = [] if asked.broader else list(_features(asked.requirements, one))
    names = list(dict.fromkeys((*((asked.like,) if asked.like else ()), *asked.known)))
    featured = [_with(feature, one) for feature in features]
    match angle:
        case "review_site":
            yield f"best {many} review"
            yield f"{many} tested"
            yield from (f"best {each} review" for each in featured)
            yield from (f"{name} review" for name in names)
            yield f"top rated {many}"
        case "forum":
            yield f"{one} recommendation forum"
            yield f"which {one} to buy forum"
            yield from (f"{each} recommendation forum" for each in featured)
            yield from (f"{name} owners forum" for name in names)
        case "brand_catalog":
            yield from (f"{brand} {_head(many)} official" for brand in asked.brands)
            yield f"{one} makers"
            yield f"{_head(many)} official site"
            yield f"{_head(many)} range"
            yield f"{one} manufacturers"
        case "comparison":
            yield from (f"{first} vs {second}" for first, second in islice(combinations(names, 2), PAIRS))
            yield f"{one} models compared"
            yield f"{many} comparison table"
            yield from (f"{each} comparison" for each in featured)
        case "budget":
            yield from _budgets(asked.requirements.budget if not asked.broader else None, one, many)
        case "feature_focus":
            yield from featured[:1]
            yield f"{_head(many)} specifications guarantee"
            yield from featured[1:]
            yield f"{one} features"
            yield f"{_head(many)} recommended price warranty"
        case "use_case":
            yield from (f"{one} {use}" for use in _uses(asked.requirements) if not asked.broader)
            yield from (f"{one} for {use}" for use in ("home", "everyday use", "small spaces", "travel", "beginners"))
        case "alternatives":
            yield from (f"{name} alternatives" for name in names)
            yield from (f"{many} like {name}" for name in names)
            yield f"alternatives to popular {many}"
            yield f"lesser known {many}"


def _type(asked: PlanExploration) -> str:
    """The product type as it is searched for; of "electric gooseneck kettle" only "kettle", to search more broadly."""
    said = as_query(asked.requirements.product_type).strip() or "product"
    head = read_kind(said).head
    return head if asked.broader and head else said


def several(one: str) -> str:
    """ "electric kettles" of "electric kettle", and "lamps for reading" of "lamp for reading"."""
    noun, *rest = re.split(r"(?=\s(?:for|with|without|under|of)\s)", one, maxsplit=1)
    words = noun.split()
    if not words:
        return ""
    words[-1] = words[-1] if singular(words[-1]) != words[-1].casefold() else plural(words[-1], 2)
    return " ".join((*words, *"".join(rest).split()))


def _head(many: str) -> str:
    """ "kettles" of "electric kettles": a maker's catalog need not say the rest."""
    return re.split(r"\s(?:for|with|without|under|of)\s", many)[0].split()[-1]


_ONLY = re.compile(r"\b(?:only|must (?:have|be)|has to (?:have|be)|needs?|at least|preferably|prefer|ideally)\b", re.I)
_NOT = re.compile(r"^\s*(?:no|not|without|avoid|never|nothing (?:with|of|made of)|non)\b[\s-]*(?:an?\b|any\b)?", re.I)
_FOR = re.compile(r"\bfor\s+\S", re.I)


def _features(requirements: Requirements, one: str) -> Iterator[str]:
    """What it must have, in words; prices are for the budget, and purposes for the use."""
    said = same_words(one)
    wanted = (*requirements.must_haves, *requirements.specifications, *requirements.nice_to_haves)
    for each in (*wanted, *requirements.priorities):
        words = as_query(_ONLY.sub(" ", each))
        if words and not _is_money(words) and not _FOR.match(words) and not same_words(words) <= said:
            yield words
    for each in requirements.constraints:
        words = as_query(_NOT.sub("", each))
        if words and not _is_money(words):
            yield f"without {words}"


def _uses(requirements: Requirements) -> Iterator[str]:
    said = (*requirements.must_haves, *requirements.specifications, *requirements.nice_to_haves)
    for each in (*said, *requirements.priorities):
        if use := _FOR.search(each):
            yield short_query(each[use.start() :])


def _with(feature: str, one: str) -> str:
    return f"{one} {feature}" if feature.startswith("without ") else f"{feature} {one}"


def _budgets(budget: PriceRange | None, one: str, many: str) -> Iterator[str]:
    if budget and budget.most:
        yield f"best {one} under {_price(budget.most, budget.currency)}"
    if budget and budget.least:
        yield f"{many} over {_price(budget.least, budget.currency)}"
    if budget and budget.most:
        yield f"{many} below {_price(budget.most, budget.currency)}"
    yield f"best value {one}"
    yield f"{many} prices"
    yield f"cheap {many}"


_SIGNS = {"GBP": "£", "USD": "$", "EUR": "€", "JPY": "¥", "INR": "₹"}


def _price(amount: float, currency: str) -> str:
    shown = show_float(float(amount))
    return f"{_SIGNS[currency]}{shown}" if currency in _SIGNS else f"{shown} {currency}".strip()


def _is_money(words: str) -> bool:
    return any(amount.money.currency for amount in read_amounts(words))


# ── a model's queries ────────────────────────────────────────────────────────────────────────────────────────────────


def _wanted(asked: PlanExploration) -> str:
    said = asked.requirements
    lines = [f"Product type: {clean(said.product_type)}"]
    if said.budget:
        budget = next(_budgets(said.budget, said.product_type, ""), "")
        lines.append(f"Budget: {budget.removeprefix('best ').strip()}")
    for name in ("must_haves", "nice_to_haves", "priorities", "specifications", "constraints"):
        if items := getattr(said, name):
            lines.append(f"{name.replace('_', ' ').capitalize()}: {clean('; '.join(items))}")
    if asked.like:
        lines.append(f"More like: {clean(asked.like)}")
    return "\n".join(lines)


def _about(asked: PlanExploration) -> set[str]:
    """Words of which a query must have one, to be about such products at all."""
    names = " ".join((_head(several(_type(asked))), asked.like, *asked.known, *asked.brands))
    return {singular(word) for word in same_words(names) if len(word) > 2}
