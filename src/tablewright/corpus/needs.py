"""What a question needs to know of each thing: which labels, with what sort of values, and which words."""

from __future__ import annotations

from functools import lru_cache
from typing import Literal, NamedTuple, TypeAlias

from tablewright.corpus.vocabulary import stem, tokens
from tablewright.table.corpus import Condition, Question, Typed

ANYTHING = frozenset("document file paper page record entry thing one text doc row".split())

Sort: TypeAlias = Literal["number", "date", "text", "any"]


class Need(NamedTuple):
    sort: Sort
    base: str = ""


def needs_of(question: Question) -> dict[str, Need]:
    """The labels that the question needs, and what their values must be like."""
    needs: dict[str, Need] = {}

    def add(label: str, need: Need) -> None:
        known = needs.get(label)
        if label and (known is None or known.sort == "any" or (need.base and not known.base)):
            needs[label] = need

    for condition in question.conditions:
        for label in condition.of.labels:
            add(label, _need(condition))
    if question.of is not None:
        sort: Sort = "number" if question.of.operation or question.aggregate in ("sum", "average") else "any"
        for label in question.of.labels:
            add(label, Need(sort))
    for label in (question.group_by, *question.show):
        add(label, Need("any"))
    return needs


def _need(condition: Condition) -> Need:
    wanted = condition.values[0] if condition.values else Typed(raw="")
    if condition.of.operation:
        keeps_unit = condition.of.operation in ("abs", "max", "min", "+", "-")
        return Need("number", wanted.base if keeps_unit else "")
    if is_text(condition):
        return Need("text")
    if wanted.truth is not None:
        return Need("any")
    return Need("date") if wanted.date else Need("number", wanted.base)


def is_text(condition: Condition) -> bool:
    wanted = condition.values[0] if condition.values else Typed(raw="")
    if condition.of.operation or condition.comparator not in ("=", "!=", "contains"):
        return False
    return condition.comparator == "contains" or (
        wanted.number is None and wanted.si is None and not wanted.date and wanted.truth is None
    )


def texts_of(question: Question) -> list[str]:
    """What conditions look for in texts."""
    texts = (each.raw for condition in question.conditions if is_text(condition) for each in condition.values)
    return list(dict.fromkeys(texts))


def called_of(question: Question) -> frozenset[str]:
    """The words for the things, unless they mean anything at all."""
    called = stems(question.things)
    return frozenset() if called & ANYTHING else called


@lru_cache(maxsize=1024)
def stems(text: str) -> frozenset[str]:
    return frozenset(stem(word) for word in tokens(text))


def shown_labels(question: Question) -> tuple[str, ...]:
    """The labels of the question in the order in which a table shows them."""
    return tuple(needs_of(question))
