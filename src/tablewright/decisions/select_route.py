"""Select a route: whether a question is answered from the facts of the documents, from their texts, or from both."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, TypeAlias

from pydantic import BaseModel
from pydantic import Field as Key

from tablewright.decisions.decision import Prompt, Unusable
from tablewright.models.tokens import estimate_tokens
from tablewright.table.corpus import Question
from tablewright.table.model import Noun
from tablewright.table.untrusted import WARNING, block, clean, gives_orders, question_block

RouteName: TypeAlias = Literal["structured", "hybrid", "long-text"]

ROUTES: tuple[RouteName, ...] = ("structured", "hybrid", "long-text")
NEEDED: dict[RouteName, tuple[str, ...]] = {
    "structured": ("annotations_search",),
    "hybrid": ("search_text",),
    "long-text": ("search_vector",),
}
"""The tools without which a route is none."""
COVERED = 0.5
"""From this share of documents with facts on, facts can be trusted to tell of all that there is."""
SUMMARY = 350  # tokens

INSTRUCTIONS = (
    "You are a retrieval router: choose the best plan for answering a question from a person's own documents. "
    "structured: filters and sums over typed facts and table rows; for lists, counts and totals of documents with "
    "facts. hybrid: facts and text search together; where few documents have facts, or words must be found in texts. "
    "long-text: summaries, then passages, by meaning; for explanations and manuals. Avoid a route whose tools failed. "
    "Answer with the route, the other two as fallbacks in the order to try them, and the reason in one short sentence. "
    + WARNING
)


class SelectRoute(Noun, frozen=True, gc=True):
    """`coverage` is the share of documents that have facts, `categories` how many documents are of each, `health` what
    each tool is like: "ok", "slow" or "failed: why". `has_followup`: the question goes on from kept results."""

    question: Question
    summary: str = ""
    coverage: float = 0.0
    categories: Mapping[str, int] = {}
    health: Mapping[str, str] = {}
    has_followup: bool = False

    def works(self, route: RouteName) -> bool:
        return not any(self.health.get(tool, "ok").startswith("failed") for tool in NEEDED[route])


class Route(Noun, frozen=True):
    route: RouteName
    fallbacks: tuple[RouteName, ...]
    reason: str


class Routing(BaseModel):
    route: RouteName
    fallbacks: list[RouteName] = Key(max_length=3)
    reason: str = Key(max_length=200)


class Select:
    name = "select route"

    def prompt(self, asked: SelectRoute) -> Prompt:
        categories = ", ".join(f"{name} {count:,}" for name, count in asked.categories.items()) or "none"
        health = ", ".join(f"{tool} {state}" for tool, state in asked.health.items()) or "all ok"
        followup = "yes" if asked.has_followup else "no"
        lines = (
            f"Conversation summary:\n{block(0, latest(asked.summary, SUMMARY))}" if asked.summary else "",
            question_block(asked.question.text),
            clean(f"Detected intent: {asked.question.intent}{_detail(asked.question)}"),
            f"Follow-up on kept results: {followup}",
            f"Documents: {categories}",
            f"Annotation coverage: {asked.coverage:.0%}",
            f"Tool health: {clean(health)}",
        )
        return Prompt(
            instructions=INSTRUCTIONS, text="\n".join(line for line in lines if line), reply=Routing, max_tokens=150
        )

    def check(self, asked: SelectRoute, reply: Any) -> Route:
        if not asked.works(reply.route) and any(map(asked.works, ROUTES)):
            failed = ", ".join(NEEDED[reply.route])
            raise Unusable(f"{reply.route} needs {failed}, which failed.", usable=self.fallback(asked))
        reason = " ".join(clean(reply.reason).split())
        rule = self.fallback(asked)
        return _ordered(
            asked, (reply.route, *reply.fallbacks, rule.route, *rule.fallbacks), "" if gives_orders(reason) else reason
        )

    def fallback(self, asked: SelectRoute) -> Route:
        question = asked.question
        if question.intent == "conceptual" and not question.aggregate:
            return _ordered(asked, ("long-text", "hybrid", "structured"), "an explanation is asked for")
        if question.intent == "numeric" and not question.aggregate:
            return _ordered(asked, ("hybrid", "structured", "long-text"), "one value of one thing is asked for")
        if asked.has_followup:
            return _ordered(asked, ROUTES, "the question goes on from kept results")
        if not _labelled(question):
            return _ordered(asked, ("hybrid", "structured", "long-text"), "only words say what is asked for")
        if asked.coverage < COVERED:
            share = f"only {asked.coverage:.0%} of the documents have facts"
            return _ordered(asked, ("hybrid", "structured", "long-text"), share)
        return _ordered(asked, ROUTES, f"facts are asked for, and {asked.coverage:.0%} of the documents have some")


def _labelled(question: Question) -> bool:
    """Whether a fact is named that things are chosen, counted or summed by."""
    quantities = [condition.of for condition in question.conditions]
    quantities += [question.of] if question.of else []
    return any(label for quantity in quantities for label in quantity.labels) or bool(question.group_by)


def _detail(question: Question) -> str:
    parts = [question.aggregate, *(condition.words for condition in question.conditions)]
    said = "; ".join(part for part in parts if part)
    return f" ({said})" if said else ""


def _ordered(asked: SelectRoute, wish: tuple[RouteName, ...], reason: str) -> Route:
    """Routes whose tools failed come last, as they may be well again by then."""
    order = sorted(dict.fromkeys((*wish, *ROUTES)), key=lambda route: not asked.works(route))
    if order[0] != wish[0]:
        reason += f"; {', '.join(NEEDED[wish[0]])} failed, so not {wish[0]}"
    return Route(route=order[0], fallbacks=tuple(order[1:]), reason=reason)


def latest(summary: str, tokens: int) -> str:
    """The end of a summary, where the newest stands, within so many tokens."""
    while summary and (size := estimate_tokens(summary)) > tokens:
        cut = max(1, len(summary) * (size - tokens) // size)
        space = summary.find(" ", cut)
        summary = summary[space + 1 :] if space >= 0 else summary[cut:]
    return summary
