"""Understand a question: what is asked for, what it must be, and whether all of it, one number or an explanation is
wanted."""

from __future__ import annotations

import re
from datetime import date
from typing import Any, Literal

from msgspec import structs
from pydantic import BaseModel
from pydantic import Field as Key

from tablewright.decisions.decision import Prompt, Unusable
from tablewright.decisions.question.amounts import numeric_conditions
from tablewright.decisions.question.head import Head, read_head
from tablewright.decisions.question.marked import STRUCK, Marked, tidy
from tablewright.decisions.question.quantity import quantity
from tablewright.decisions.question.things import demanded, is_known
from tablewright.decisions.question.wording import LABEL_OF_VERB, dated_conditions, worded_conditions
from tablewright.decisions.question.words import among, content, label, singular, words
from tablewright.table.corpus import Aggregate, Comparator, Condition, Intent, Quantity, Question, Typed
from tablewright.table.model import Noun
from tablewright.table.periods import read_period
from tablewright.table.typed import typed
from tablewright.table.untrusted import WARNING, block, question_block

MOST_LABELS = 40
INSTRUCTIONS = (
    "You take a question about a person's own documents apart. intent: enumeration (all things that fit, or a count, "
    "sum, average, largest or smallest of them), numeric (one number or date of one thing), conceptual (an "
    "explanation). things: what is asked for, in the singular. conditions: what the things must be, each with the "
    "label it is about (empty: the words must stand anywhere), a comparator and the value exactly as the question "
    "writes it, with its unit. of: the label that is summed, averaged, compared or looked up. Use only words of the "
    "question, or a given label that means the same. Leave out what the question does not say. " + WARNING
)


class Ask(Noun, frozen=True):
    """`kinds` are the kinds of documents there are, `labels` the commonest labels of their facts, `today` is ISO.

    `summary` is the conversation so far, `last` the question before, for words such as "those"."""

    text: str
    today: str
    summary: str = ""
    last: Question | None = None
    kinds: tuple[str, ...] = ()
    labels: tuple[str, ...] = ()


class Demand(BaseModel):
    label: str = ""
    comparator: Comparator
    value: str


class Taken(BaseModel):
    intent: Intent
    things: str = ""
    conditions: list[Demand] = Key(default=[], max_length=8)
    aggregate: Literal["", "count", "sum", "min", "max", "average"] = ""
    of: str = ""
    group_by: str = ""
    show: list[str] = Key(default=[], max_length=8)


class Understand:
    name = "understand question"

    def prompt(self, asked: Ask) -> Prompt:
        kinds = ", ".join(asked.kinds) or "unknown"
        labels = "\n".join(" ".join(name.split())[:40] for name in asked.labels[:MOST_LABELS]) or "unknown"
        known = block(0, f"Kinds: {kinds}\nLabels:\n{labels}")
        lines = (
            f"What the documents have:\n{known}",
            f"Today: {asked.today}",
            f"Conversation so far:\n{block(1, asked.summary)}" if asked.summary else "",
            question_block(asked.text),
        )
        return Prompt(
            instructions=INSTRUCTIONS,
            text="\n".join(line for line in lines if line),
            reply=Taken,
            max_tokens=400,
        )

    def check(self, asked: Ask, reply: Any) -> Question:
        """Only what the question says counts: a value that does not stand in it was made up."""
        ruled = self.fallback(asked)
        whole = _plain(asked.text)
        made_up = [demand.value for demand in reply.conditions if _plain(demand.value) not in whole]
        if made_up:
            raise Unusable(f"the question does not say {made_up[0][:60]!r}.", usable=ruled)
        conditions = tuple(_demanded(demand, asked) for demand in reply.conditions)
        if reply.intent == "enumeration" and not (conditions or reply.aggregate or reply.things):
            raise Unusable("an enumeration needs things, conditions or an aggregate.", usable=ruled)
        if ruled.intent != "enumeration" and (
            _ASKS_FOR_ONE.match(asked.text) or not _can_be_listed(reply, conditions, asked)
        ):
            return ruled
        aggregate: Aggregate = reply.aggregate if reply.intent == "enumeration" else ""
        return structs.replace(
            ruled,
            intent=reply.intent,
            things=singular(reply.things.strip().casefold()) or ruled.things,
            conditions=_better(ruled.conditions, conditions),
            aggregate=aggregate,
            of=quantity(reply.of, asked.labels) if reply.of.strip() else ruled.of if aggregate else None,
            group_by=singular(reply.group_by.strip()),
            show=tuple(dict.fromkeys((*ruled.show, *(name.strip() for name in reply.show if name.strip())))),
        )

    def is_plain(self, asked: Ask) -> bool:
        """Whether the rule understands every word, so that a model need not be asked."""
        marked = Marked(asked.text)
        question, left = _read(asked, marked)
        return question.intent == "enumeration" and bool(question.things or question.of) and not left

    def fallback(self, asked: Ask) -> Question:
        return _read(asked, Marked(asked.text))[0]


def _read(asked: Ask, marked: Marked) -> tuple[Question, tuple[str, ...]]:
    """The question, and the words of it that were not understood."""
    show = _shown(marked)
    terms = content(_searchable(marked))
    before = marked.text
    head = read_head(marked, asked.kinds, asked.labels)
    things = _things(head, asked)
    conditions: list[Condition] = []
    if head.intent == "enumeration":
        if head.thing:
            conditions += demanded(marked, head.thing, asked.labels)
        conditions += dated_conditions(marked, asked.labels, date.fromisoformat(asked.today[:10]))
        conditions += numeric_conditions(marked, things, asked.labels)
        conditions += worded_conditions(marked, things, asked.labels)
        if not (head.sure or conditions or head.aggregate) or _is_no_list(head, conditions, asked):
            marked.text, head, things, conditions = before, Head(intent="conceptual"), "", []
    elif head.subject:
        conditions.append(_named(head.subject))
    question = Question(
        text=marked.whole,
        intent=head.intent,
        terms=_without_numbers(terms, conditions) if head.intent == "enumeration" else terms,
        phrases=tuple(marked.phrases),
        things=things,
        conditions=tuple(conditions),
        aggregate=head.aggregate,
        of=head.of,
        group_by=head.group_by,
        show=show,
    )
    return question, content(marked.text.replace(STRUCK, " "))


def _things(head: Head, asked: Ask) -> str:
    name = head.thing.name if head.thing else ""
    if asked.last and (not name or name in _PRONOUNS) and head.intent == "enumeration":
        return asked.last.things
    return "" if name in _PRONOUNS else name


_PRONOUNS = frozenset("one ones those these them they it that this thing".split())


def _is_no_list(head: Head, conditions: list[Condition], asked: Ask) -> bool:
    """ "Which buttons are on the remote?", "How many Huguenots were killed in Toulouse?": things that nobody has
    documents of, with nothing to compare that documents state."""
    thing = head.thing
    is_story = thing is not None and _TELLS_A_STORY.search(tidy(asked.text), thing.end) is not None
    is_one = thing is not None and not thing.plural and not among(thing.name, asked.kinds)
    if not asked.kinds or (thing and is_known(thing.name, asked.kinds) and not (is_one and is_story)):
        return False
    named = (thing.name if thing else "", head.group_by, *(head.of.labels if head.of else ()))
    if any(_is_stated(name, asked.labels) for name in named) or any(_compares(each, asked) for each in conditions):
        return False
    if asked.labels and (is_story or head.aggregate in ("max", "min")):
        return True
    if asked.labels and (head.aggregate or not _ASKS_WHICH.match(asked.text)):
        return False
    return not any(len(each.values) > 1 or _NAME.match(each.values[0].raw) or each.of.label for each in conditions)


def _can_be_listed(reply: Taken, conditions: tuple[Condition, ...], asked: Ask) -> bool:
    """Whether it is a list of something that documents have. "What profession were Robinson and Gallagher?" is not,
    although professions could be listed."""
    if reply.intent != "enumeration":
        return False
    if not asked.kinds:
        return True
    named = (reply.things, reply.of, reply.group_by)
    known = any(is_known(singular(name.casefold()), asked.kinds) for name in named if name.strip())
    return (
        known
        or any(_is_stated(name, asked.labels) for name in named)
        or any(_compares(each, asked) for each in conditions)
    )


def _compares(condition: Condition, asked: Ask) -> bool:
    """Whether it is about something that documents state: a label of theirs, or a quantity in a unit."""
    value = condition.values[0]
    measured = value.number is not None and bool(value.unit or value.currency)
    return measured or bool(condition.of.operation) or _is_stated(condition.of.label, asked.labels)


def _is_stated(name: str, labels: tuple[str, ...]) -> bool:
    """Whether a label is the name, or holds it: the price is stated by a "unit price"."""
    said = {singular(word.casefold()) for word in words(name)}
    return bool(said) and any(said <= {singular(word.casefold()) for word in words(other)} for other in labels)


_TELLS_A_STORY = re.compile(r"\b(?:was|were|did|had|became|began)\b|\b[a-z]{3,}ed\b")
_NAME = re.compile(r"[A-Z].*|\S*\d")
_ASKS_WHICH = re.compile(r"\s*(?:which|what)\b", re.IGNORECASE)
_ASKS_FOR_ONE = re.compile(
    r"\s*(?:(?:is|was|are|were|do|does|did|has|have|had|can|could|should|will|would|why|when|where)\b"
    r"|how\b(?! (?:many|much))|(?:what|who)(?:'s| is| was) (?:the|its|their|an?)\b)",
    re.IGNORECASE,
)
"""A yes or a no, or one thing: small models take such questions for lists of what they name."""


def _named(subject: str) -> Condition:
    return Condition(of=Quantity(), comparator="contains", values=(Typed(raw=subject),), words=subject)


# ── what the answer is to name ───────────────────────────────────────────────────────────────────────────────────────

_TELL = re.compile(
    r"(?:^|(?<=[.?!;]))\s*(?:please\s+)?(?:give|list|show|include|return|state|name|print|add|tell me|answer with|"
    r"report)\s+"
    r"(?:me\s+)?(?:only\s+)?(?:their|its|the|also|each)\s+(?P<what>[^.?!]+?)\s*(?:[.?!]|$)",
    re.IGNORECASE,
)
_AND_WHICH = re.compile(
    r"(?:,\s*and|,|\band)\s+(?:(?P<from>from|by|to|at|in|on|for|with)\s+)?(?:which|what)\s+(?P<what>[^,?.!\d]+?)"
    r"(?P<rest>\s+(?:carr(?:y|ies)|has|have|had|is|are|was|were|did|does|do|states?|shows?)\b[^,?.!]*)?\s*(?=[,?.!]|$)",
    re.IGNORECASE,
)
_ALONG = re.compile(
    r"(?:,\s*|\s+)(?:together with|along with|with|and|including)\s+(?:their|its)\s+(?P<what>[a-z][\w -]*?(?:(?:,\s*|"
    r"\s+and\s+)[a-z][\w -]*?)*)\s*(?=[?.!]|$)",
)
_AND_WHEN = re.compile(
    r"(?:,\s*and|,|\band)\s+when\s+(?:is|was|are|were|does|did|do)\s+(?:it|they|that)\s+(?P<verb>\w+)\s*(?=[?.!]|$)",
    re.IGNORECASE,
)
_NOT_SHOWN = frozenset("id ids name document file identifier number one it them".split())


def _shown(marked: Marked) -> tuple[str, ...]:
    """The labels that are asked for besides: "and from which merchant", "Give their dates." Struck out of the text."""
    found: list[str] = []
    if when := _AND_WHEN.search(marked.text):
        found.append(LABEL_OF_VERB.get(when["verb"].casefold(), "date"))
        marked.strike(when.start(), when.end())
    for pattern in (_TELL, _AND_WHICH, _ALONG):
        for match in list(pattern.finditer(marked.text)):
            if not marked.text[: match.start()].strip(f" {STRUCK}") or STRUCK in match[0]:
                continue
            if pattern is _ALONG and re.search(r"\d|\b(?:above|below|over|under|at)\b", match[0]):
                continue
            is_the_thing = pattern is _AND_WHICH and match["rest"]
            names = [] if is_the_thing else re.split(r"\s*,\s*(?:and\s+)?|\s+and\s+", match["what"])
            found += [name for each in names if (name := singular(label(each))) and name.casefold() not in _NOT_SHOWN]
            marked.strike(match.start(), match.end())
    return tuple(dict.fromkeys(found))


# ── words to search for ──────────────────────────────────────────────────────────────────────────────────────────────


def _searchable(marked: Marked) -> str:
    """What is left to search for, quotations opened."""
    text = marked.text.replace(STRUCK, " ")
    for at, phrase in enumerate(marked.phrases):
        before, _, rest = text.partition(f'"{chr(0xE000 + at)}')
        text = f"{before} {phrase} {rest.lstrip(chr(0xE000 + at))}"
    return text


_SAYS_HOW = frozenset(
    """above below over under least most than between exactly wider narrower longer shorter taller higher lower heavier
    lighter cheaper larger bigger smaller greater less fewer whose dated sum total average mean count number largest
    smallest highest lowest earliest latest up or closer weaker stronger since before after until last this next per
    contain contains containing mention mentions mentioning include includes carry carries older younger rated cost
    costs weigh weighs largest cheapest heaviest oldest youngest newest about different later twice""".split()
)


def _without_numbers(terms: tuple[str, ...], conditions: list[Condition]) -> tuple[str, ...]:
    """A text need not hold the number that its own is compared with, nor the words of the comparison."""
    compared = " ".join(each.words for each in conditions if each.values[0].number is not None or each.values[0].date)
    numbers = {word.casefold() for word in words(compared) if any(letter.isdigit() for letter in word)}
    units = {each.values[0].unit.casefold() for each in conditions}
    return tuple(
        term for term in terms
        if (small := term.casefold()) not in numbers and small not in _SAYS_HOW and small not in units
    )  # fmt: skip


# ── what a model says ────────────────────────────────────────────────────────────────────────────────────────────────


def _plain(text: str) -> str:
    return re.sub(r"[^\w.%/-]+", " ", tidy(text).casefold()).strip(" .")


def _demanded(demand: Demand, asked: Ask) -> Condition:
    of = quantity(demand.label, asked.labels) if demand.label.strip() else Quantity()
    said = f"{demand.label} {demand.comparator} {demand.value}".strip()
    if "date" in demand.label.casefold():
        period = read_period(f"in {demand.value}", date.fromisoformat(asked.today[:10]))
        ends = [end.isoformat() for end in (period.start, period.end) if end] if period else []
        if len(ends) == 2:
            values = tuple(Typed(raw=end, date=end) for end in ends)
            if demand.comparator in ("=", "between", "contains"):
                return Condition(of=of, comparator="between", values=values, words=said)
            edge = values[0] if demand.comparator in ("<", ">=") else values[1]
            return Condition(of=of, comparator=demand.comparator, values=(edge,), words=said)
    text = demand.comparator == "contains" or not demand.label.strip()
    value = Typed(raw=demand.value.strip()) if text else typed(demand.value.strip())
    if demand.comparator == "between" and value.high is not None:
        unit = f" {value.unit or value.currency}".rstrip()
        values = (typed(f"{value.number}{unit}"), typed(f"{value.high}{unit}"))
        return Condition(of=of, comparator="between", values=values, words=said)
    comparator: Comparator = "=" if demand.comparator == "between" else demand.comparator
    return Condition(of=of, comparator=comparator, values=(value,), words=said)


def _better(ruled: tuple[Condition, ...], said: tuple[Condition, ...]) -> tuple[Condition, ...]:
    """The model's conditions, but where the rule read the same value it read its label from the same words, and knows
    more: how a quantity is worked out, what an absolute value is."""
    values = {_plain(value.raw): condition for condition in ruled for value in condition.values}
    kept: list[Condition] = []
    for condition in said:
        better = next((values[key] for value in condition.values if (key := _plain(value.raw)) in values), condition)
        if better not in kept:
            kept.append(better)
    twins = [each for each in ruled if each not in kept and any(each.words == other.words for other in kept)]
    return (*kept, *twins)
