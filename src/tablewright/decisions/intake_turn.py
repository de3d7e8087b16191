"""Intake turn: what a message adds to what somebody wants to buy, and what little is asked next.

Whatever a model fills in must stand in the message, in what was known, or in the answers that our own question offered;
the budget is read by code alone, and what code refuses no model can allow.
"""

from __future__ import annotations

import re
from typing import Any, Literal, TypeAlias

from msgspec import structs
from pydantic import BaseModel
from pydantic import Field as Key

from tablewright.decisions.decision import Prompt, Unusable
from tablewright.decisions.intake import guard
from tablewright.decisions.intake.categories import head, is_product
from tablewright.decisions.intake.edits import LISTS, applied, edited, merge, same
from tablewright.decisions.intake.gibberish import is_gibberish
from tablewright.decisions.intake.grounded import grounded
from tablewright.decisions.intake.questions import START_OVER, next_questions, one_question
from tablewright.decisions.intake.summary import summarise
from tablewright.decisions.intake.wants import Wants, read_wants
from tablewright.table.model import Noun
from tablewright.table.shortlist import PriceRange, Requirements
from tablewright.table.untrusted import WARNING, block, gives_orders

__all__ = ["Intake", "IntakeStep", "IntakeTurn", "edited", "gaps_of", "merge", "summarise"]

TurnKind: TypeAlias = Literal["answer", "vague", "skip", "new_topic", "off_topic", "refused", "greeting"]
LAST_QUESTIONS = 2
"""Of those asked, the latest that a message may answer: as many as one turn asks."""

INSTRUCTIONS = (
    "You help somebody to say what they want to buy. Take the message apart. product_type: what it is, in the "
    "singular, "
    "without its features. most, least, currency: the budget, only as written. must_haves: needed features. "
    "nice_to_haves: what is preferred. priorities: what matters most, the most important first. specifications: "
    "positive "
    "filters (second hand, UK only, 2015 or newer). constraints: only what is to be avoided, each with no, not or "
    "avoid. "
    "Use the message's own words, at most 8 short items a list; leave empty what it does not say. kind: answer, vague "
    "(says nothing specific), skip (wants the search now), new_topic (another product than the known one), off_topic, "
    "refused (illegal to buy), greeting. questions: at most 2 short ones about what is missing, with answers to choose "
    "from, none that was asked before. " + WARNING
)


class IntakeTurn(Noun, frozen=True):
    """`asked` are the questions so far, the latest at the end; `history` the messages before this one."""

    message: str
    requirements: Requirements = Requirements()
    asked: tuple[str, ...] = ()
    history: tuple[str, ...] = ()


class IntakeStep(Noun, frozen=True):
    """With `new_topic`, `requirements` are fresh ones for the new product: the old are the caller's to keep until the
    person agrees. `gaps` are what is not known, to be noted where the search starts all the same."""

    requirements: Requirements
    kind: TurnKind
    reply: str
    questions: tuple[str, ...] = ()
    ready: bool = False
    gaps: tuple[str, ...] = ()


class Filled(BaseModel):
    kind: TurnKind
    product_type: str = Key(default="", max_length=80)
    most: float | None = None
    least: float | None = None
    currency: str = Key(default="", max_length=20)
    must_haves: list[str] = Key(default=[], max_length=16)
    nice_to_haves: list[str] = Key(default=[], max_length=16)
    priorities: list[str] = Key(default=[], max_length=16)
    specifications: list[str] = Key(default=[], max_length=16)
    constraints: list[str] = Key(default=[], max_length=16)
    questions: list[str] = Key(default=[], max_length=6)


class Intake:
    name = "intake turn"

    def prompt(self, asked: IntakeTurn) -> Prompt:
        known = summarise(asked.requirements) if asked.requirements != Requirements() else "nothing yet"
        questions = "\n".join(asked.asked[-LAST_QUESTIONS:]) or "none"
        lines = (
            f"Known so far:\n{block(1, known, 'requirements')}",
            f"Earlier messages:\n{block(2, chr(10).join(asked.history[-4:])[:1_000])}" if asked.history else "",
            f"We asked:\n{block(3, questions, 'questions')}",
            f"The message:\n{block(4, asked.message[: guard.LONGEST], 'message')}",
        )
        return Prompt(
            instructions=INSTRUCTIONS, text="\n".join(line for line in lines if line), reply=Filled, max_tokens=450
        )

    def check(self, asked: IntakeTurn, reply: Any) -> IntakeStep:
        ruled = self.fallback(asked)
        if ruled.kind in ("refused", "greeting", "off_topic") or is_gibberish(asked.message):
            return ruled
        wants = read_wants(asked.message, asked.requirements, asked.asked[-LAST_QUESTIONS:])
        said = grounded(_stated(reply), asked.message, asked.requirements, asked.asked[-LAST_QUESTIONS:], wants)
        if reply.kind == "refused" and not is_product(said.product_type or asked.requirements.product_type):
            return _refused(asked, "things that may not be sold")
        claimed = any(getattr(reply, name) for name in LISTS) or reply.product_type
        if claimed and not (said.product_type or said.has_constraint) and not wants.says_something:
            raise Unusable("nothing of it stands in the message; leave empty what it does not say.", usable=ruled)
        if not (said.product_type or said.has_constraint):
            step = _as_it_says(reply, asked, ruled, wants)
            return structs.replace(step, questions=_usable_questions(reply, asked, step))
        known = asked.requirements.product_type
        is_other = bool(known and said.product_type) and head(said.product_type) != head(known)
        if is_other and not wants.is_other and reply.kind != "new_topic":
            said, is_other = structs.replace(said, product_type=""), False
        full = said if is_other and not wants.is_other else _fuller(said, wants)
        both = structs.replace(wants, said=full, is_other=is_other or wants.is_other)
        step = _answered(asked, both)
        return structs.replace(step, questions=_usable_questions(reply, asked, step))

    def fallback(self, asked: IntakeTurn) -> IntakeStep:
        text = guard.tidy(asked.message)
        if category := guard.refused(text):
            return _refused(asked, category)
        if guard.is_greeting(text):
            return _greeted(asked)
        wants = read_wants(asked.message, asked.requirements, asked.asked[-LAST_QUESTIONS:])
        if not text or _is_off_topic(text, wants):
            return _off_topic(asked, text)
        if wants.says_something or guard.wants_to_search(text) or guard.declines(text) or guard.is_yes(text):
            return _answered(asked, wants)
        if guard.is_question(text):
            return _off_topic(asked, text)
        return _vague(asked, "I did not understand that." if is_gibberish(text) else "")


def _is_off_topic(text: str, wants: Wants) -> bool:
    says_what = is_product(wants.said.product_type) or wants.said.has_constraint
    return not says_what and (guard.is_about_us(text) or guard.is_elsewhere(text))


# ── the steps ────────────────────────────────────────────────────────────────────────────────────────────────────────


def _answered(asked: IntakeTurn, wants: Wants) -> IntakeStep:
    if wants.is_other:
        return _new_topic(asked, wants)
    text = guard.tidy(asked.message)
    requirements = applied(asked.requirements, wants)
    skips = guard.wants_to_search(text)
    waved = guard.declines(text) and not wants.says_something
    kind: TurnKind = "skip" if skips else "answer"
    if not requirements.product_type:
        lead = "Happy to search right away; I only need to know what for." if skips else _understood(requirements)
        questions = next_questions(requirements, asked.asked)
        return IntakeStep(
            requirements=requirements, kind=kind, reply=lead, questions=questions, gaps=gaps_of(requirements)
        )
    questions = () if skips else next_questions(requirements, asked.asked)
    if skips:
        lead = _searching(requirements)
    elif guard.is_yes(text):
        lead = "Good."
    elif waved:
        lead = "No problem, I will leave that open."
    else:
        lead = _understood(requirements)
    return IntakeStep(
        requirements=requirements, kind=kind, reply=lead, questions=questions, ready=not questions,
        gaps=gaps_of(requirements),
    )  # fmt: skip


def _new_topic(asked: IntakeTurn, wants: Wants) -> IntakeStep:
    """A question whether to start over comes first: nothing that was said so far is lost by a slip."""
    new, old = (_with_article(each.product_type) for each in (wants.said, asked.requirements))
    question = START_OVER.format(product=new, old=old)
    return IntakeStep(
        requirements=wants.said, kind="new_topic", reply=f"So now it is {new} rather than {old}.",
        questions=(question,) if question not in asked.asked else next_questions(wants.said, asked.asked, most=1),
        gaps=gaps_of(wants.said),
    )  # fmt: skip


def _vague(asked: IntakeTurn, lead: str) -> IntakeStep:
    questions = one_question(asked.requirements, asked.asked)
    product = asked.requirements.product_type
    lead = lead or f"Gladly. One detail helps me to {f'find a good {product}' if product else 'start'}."
    return IntakeStep(
        requirements=asked.requirements, kind="vague", reply=lead, questions=questions,
        ready=bool(product) and not questions, gaps=gaps_of(asked.requirements),
    )  # fmt: skip


def _greeted(asked: IntakeTurn) -> IntakeStep:
    return IntakeStep(
        requirements=asked.requirements, kind="greeting", questions=_back(asked), gaps=gaps_of(asked.requirements),
        reply="Hello! I help you to choose what to buy: tell me what you look for, and I compare what there is.",
    )  # fmt: skip


def _off_topic(asked: IntakeTurn, text: str) -> IntakeStep:
    product = asked.requirements.product_type
    if guard.is_about_us(text):
        lead = "I am a shopping advisor: I find products, compare them from their makers' pages and say where to buy."
    elif not text:
        lead = "I can only help with choosing something to buy."
    else:
        lead = "That I cannot say: I am a shopping advisor and only help with choosing something to buy."
    back = f" Back to the {product}." if product else ""
    return IntakeStep(
        requirements=asked.requirements, kind="off_topic", reply=lead + back, questions=_back(asked),
        gaps=gaps_of(asked.requirements),
    )  # fmt: skip


def _refused(asked: IntakeTurn, category: str) -> IntakeStep:
    return IntakeStep(
        requirements=asked.requirements, kind="refused", gaps=gaps_of(asked.requirements),
        reply=f"I am sorry, I do not help with {category}, and have searched for nothing. "
        "I am glad to help with something else.",
    )  # fmt: skip


def _back(asked: IntakeTurn) -> tuple[str, ...]:
    """One question that leads back to the requirements."""
    return next_questions(asked.requirements, asked.asked, most=1)


def gaps_of(requirements: Requirements) -> tuple[str, ...]:
    """What was not said of them, in words."""
    known = (
        ("product type", bool(requirements.product_type)),
        ("budget", requirements.budget is not None),
        ("priorities", bool(requirements.priorities)),
        ("must-haves", bool(requirements.must_haves or requirements.specifications)),
    )
    return tuple(name for name, is_known in known if not is_known)


def _understood(requirements: Requirements) -> str:
    if not (requirements.product_type or requirements.has_constraint):
        return "All right."
    return f"Got it: {_lowered(summarise(requirements))}"


def _searching(requirements: Requirements) -> str:
    return f"All right, I will search with what you told me: {_lowered(summarise(requirements))}"


def _lowered(sentence: str) -> str:
    return sentence[0].lower() + sentence[1:] if sentence[1:2].islower() or sentence[1:2] == " " else sentence


def _with_article(product: str) -> str:
    return _lowered(summarise(Requirements(product_type=product)).rstrip("."))


# ── what a model says ────────────────────────────────────────────────────────────────────────────────────────────────


def _stated(reply: Any) -> Requirements:
    budget = None
    if reply.most is not None or reply.least is not None:
        budget = PriceRange(most=reply.most, least=reply.least, currency=reply.currency)
    lists = {name: tuple(getattr(reply, name)) for name in LISTS}
    return Requirements(product_type=reply.product_type, budget=budget, **lists)


def _as_it_says(reply: Any, asked: IntakeTurn, ruled: IntakeStep, wants: Wants) -> IntakeStep:
    """The model reads no requirement: it may know better than the rule, which takes bare words for a feature, that the
    message is off the topic, or impatient."""
    bare = structs.replace(wants.said, must_haves=()) == Requirements() and not (wants.dropped or wants.allowed)
    if wants.is_open or not bare:
        return ruled
    if reply.kind == "skip" and asked.requirements.product_type:
        return IntakeStep(
            requirements=asked.requirements, kind="skip", reply=_searching(asked.requirements), ready=True,
            gaps=gaps_of(asked.requirements),
        )  # fmt: skip
    return _off_topic(asked, guard.tidy(asked.message)) if reply.kind == "off_topic" else ruled


def _fuller(said: Requirements, wants: Wants) -> Requirements:
    """The model's reading where it has one, without what the message takes back; the rule's budget, and the rule's
    exclusions in any case."""
    ruled, gone = wants.said, (*wants.dropped, *wants.allowed)
    lists = {
        name: tuple(item for item in getattr(said, name) if not any(same(item, each) for each in gone))
        for name in LISTS
    }
    if not any(lists.values()):
        lists = {name: getattr(ruled, name) for name in LISTS}
    reading = Requirements(
        product_type=said.product_type or ruled.product_type, budget=ruled.budget or said.budget, **lists
    )
    return merge(reading, Requirements(constraints=ruled.constraints))


def _usable_questions(reply: Any, asked: IntakeTurn, step: IntakeStep) -> tuple[str, ...]:
    """A model's questions replace ours only where we would ask; short, new, without figures that nobody gave."""
    if not step.questions or step.kind in ("skip", "new_topic") or not step.requirements.product_type:
        return step.questions
    before = {re.sub(r"\W+", " ", each.casefold()).strip() for each in asked.asked}
    good = [
        question
        for question in (" ".join(each.split()) for each in reply.questions)
        if question.endswith("?")
        and 12 <= len(question) <= 140
        and not re.search(r"\d|https?:|www\.", question)
        and re.sub(r"\W+", " ", question.casefold()).strip() not in before
        and not gives_orders(question)
    ]
    return tuple(dict.fromkeys(good))[: len(step.questions)] or step.questions
