"""What to ask next: few questions, each with answers to choose from or a way to leave it to us, none twice."""

from __future__ import annotations

import re
from typing import Literal, TypeAlias

from tablewright.decisions.intake.categories import category_of
from tablewright.table.shortlist import Requirements

Topic: TypeAlias = Literal["product", "budget", "priorities", "features", "use", "avoid", "start_over", "other"]
MOST_QUESTIONS = 2

WHAT = "What would you like to buy, for example a kettle, a laptop or a bicycle?"
BUDGET = "What would you like to spend at most, or shall I look at every price?"
START_OVER = "Shall we start over with {product}, or stay with {old}?"


def next_questions(requirements: Requirements, asked: tuple[str, ...], most: int = MOST_QUESTIONS) -> tuple[str, ...]:
    """What is not known and was not asked; with enough known, only what matters most and the budget are asked."""
    if not requirements.product_type:
        return _fresh((WHAT,), asked) or (_WHAT_AGAIN if _WHAT_AGAIN not in asked else _WHAT_PLAINLY,)
    category = category_of(requirements.product_type)
    open_questions: list[str] = []
    topics = {topic_of(question) for question in _about_this(asked)}
    if not requirements.priorities and "priorities" not in topics:
        open_questions.append(f"What matters most: {listed(category.matters)}?")
    if requirements.budget is None and "budget" not in topics:
        open_questions.append(
            BUDGET if BUDGET not in asked else _BUDGET_AGAIN.format(product=requirements.product_type)
        )
    if not open_questions and not requirements.has_constraint and "features" not in topics:
        open_questions.append(
            f"Is there anything it must have, such as {listed(category.features)}, or shall I keep it open?"
        )
    return _fresh(tuple(open_questions), asked)[:most]


def one_question(requirements: Requirements, asked: tuple[str, ...]) -> tuple[str, ...]:
    """For somebody vague: one thing to say, the budget or a feature."""
    if not requirements.product_type:
        return next_questions(requirements, asked)
    category = category_of(requirements.product_type)
    offered = (
        BUDGET if requirements.budget is None else "",
        f"Is there anything it must have, such as {listed(category.features)}, or shall I keep it open?",
        f"What matters most: {listed(category.matters)}?" if not requirements.priorities else "",
    )
    return _fresh(tuple(question for question in offered if question), asked)[:1]


def _about_this(asked: tuple[str, ...]) -> tuple[str, ...]:
    """The questions since the person turned to this product."""
    turned = [at for at, question in enumerate(asked) if topic_of(question) == "start_over"]
    return asked[turned[-1] + 1 :] if turned else asked


_BUDGET_AGAIN = "And for the {product}: what would you like to spend at most, or is every price fine?"
_WHAT_AGAIN = "Which kind of product is it: something for the home, for work, or to travel with?"
_WHAT_PLAINLY = "Please name the product, in a word or two: a desk lamp, headphones, a car?"


def _fresh(questions: tuple[str, ...], asked: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(question for question in questions if question not in asked)


def listed(items: tuple[str, ...], last: str = "or") -> str:
    return f"{', '.join(items[:-1])} {last} {items[-1]}" if len(items) > 1 else "".join(items)


def topic_of(question: str) -> Topic:
    small = question.casefold()
    if re.search(r"\bstart over\b|\bstay with\b", small):
        return "start_over"
    if re.search(r"\b(?:spend|budget|price range|how much|afford)\b", small):
        return "budget"
    if re.search(r"matters? most|most important|important to you|priorit|care (?:most )?about|more important", small):
        return "priorities"
    if re.search(r"\bmust (?:it )?have\b|must-have|\bfeatures?\b|\bneed it to\b|\bprefer\b", small):
        return "features"
    if re.search(r"\bavoid\b|not want|rule out|exclude", small):
        return "avoid"
    if re.search(r"\b(?:used? (?:it |them )?for|use it|where will|what for|who is it for)\b", small):
        return "use"
    if re.search(r"\b(?:buy|kind of product|name the product|looking for)\b", small):
        return "product"
    return "other"


def options_of(question: str) -> tuple[str, ...]:
    """The answers that a question offers: after its colon, dash or "such as", before "or shall I …"."""
    if topic_of(question) in ("budget", "product", "start_over"):
        return ()
    found = re.search(r"(?::|—|–|\s-\s|\bsuch as\b|\be\.g\.|\bfor example\b|\bis it\b)\s*(?P<list>[^?:]+)\?", question)
    if not found:
        return ()
    text = re.sub(r",?\s*or (?:shall|should|do|is|are|does|something|anything|other)\b.*$", "", found["list"])
    parts = re.split(r"\s*,\s*(?:or\s+)?|\s+or\s+", text)
    return tuple(part.strip() for part in parts if part.strip() and len(part.split()) <= 6)
