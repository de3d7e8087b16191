"""Follow up: what a message means after the question before it, and what is remembered of a conversation.

"Show the rest", "export that table" and "only 2024" work on the result that is there; "its weight?" is about the thing
that was asked about; "new topic" forgets. Everything else is a question of its own.
"""

from __future__ import annotations

import re
from typing import Any, Literal, TypeAlias

from msgspec import structs
from pydantic import BaseModel
from pydantic import Field as Key

from tablewright.decisions.decision import Prompt, Unusable
from tablewright.decisions.question.marked import tidy
from tablewright.decisions.question.words import content, words
from tablewright.decisions.understand_question import Ask, Understand
from tablewright.models.tokens import estimate_tokens
from tablewright.table.corpus import Condition, Quantity, Question, Typed
from tablewright.table.model import Noun
from tablewright.table.text import plural, shortened
from tablewright.table.untrusted import WARNING, block, question_block

Turn: TypeAlias = Literal["new question", "rest", "export", "narrow", "widen", "text search", "new topic"]

MOST_TOKENS = 400
INSTRUCTIONS = (
    "You read a message in a conversation about a person's documents. kind: rest (show more of the last result), "
    "export (write the last result to a file), narrow (the last result with further conditions), widen (the last "
    "question in all documents), text search (the last question in the texts), new topic (forget the conversation) or "
    "new question. question: the message as a question that stands alone, with the names that its pronouns mean; for "
    "narrow only the further conditions. Use only words of the conversation. " + WARNING
)


class Message(Noun, frozen=True):
    """What was written, after `last` was asked. The rest is as in `Ask`."""

    text: str
    today: str
    last: Question | None = None
    summary: str = ""
    kinds: tuple[str, ...] = ()
    labels: tuple[str, ...] = ()


class Followed(Noun, frozen=True):
    """`text` stands alone. `question` is the whole question where the last one goes on, narrowed or varied; `path` is
    the file of an export, if one was named."""

    kind: Turn
    text: str = ""
    question: Question | None = None
    path: str = ""


class Meant(BaseModel):
    kind: Turn
    question: str = Key(default="", max_length=600)


class FollowUp:
    name = "follow up"

    def prompt(self, asked: Message) -> Prompt:
        last = asked.last.text if asked.last else "none"
        return Prompt(
            instructions=INSTRUCTIONS,
            text=(
                f"{block(1, asked.summary or 'nothing yet')}\nLast question:\n{question_block(last)}\n"
                f"Message:\n{question_block(asked.text)}"
            ),
            reply=Meant,
            max_tokens=160,
        )

    def check(self, asked: Message, reply: Any) -> Followed:
        """Only names that were said count."""
        ruled = self.fallback(asked)
        if asked.last is None and reply.kind not in ("new question", "new topic"):
            raise Unusable("there is no result yet that the message could be about.", usable=ruled)
        known = f"{asked.text} {asked.summary} {asked.last.text if asked.last else ''}".casefold()
        made_up = [
            word for word in words(reply.question) if _IS_A_NAME.search(word[1:]) and word.casefold() not in known
        ]
        if made_up:
            raise Unusable(f"nobody said {made_up[0][:60]!r}.", usable=ruled)
        if reply.kind == ruled.kind and reply.kind != "new question":
            return ruled
        text = reply.question.strip() or ruled.text
        if reply.kind == "narrow" and asked.last:
            return _narrow(asked, asked.last, text)
        return Followed(kind=reply.kind, text=text, path=ruled.path)

    def is_plain(self, asked: Message) -> bool:
        """Whether the message needs no model: it is a command, or there is nothing that it could refer to."""
        return asked.last is None or self.fallback(asked).kind != "new question" or not _REFERS.search(asked.text)

    def fallback(self, asked: Message) -> Followed:
        text = tidy(asked.text)
        if fresh := _NEW_TOPIC.match(text):
            return Followed(kind="new topic", text=text[fresh.end() :].strip())
        if asked.last is None:
            return Followed(kind="new question", text=text)
        if _EXPORT.match(text):
            file = _FILE.search(text)
            return Followed(kind="export", text=text, path=next(filter(None, file.groups())) if file else "")
        for kind, pattern in _COMMANDS:
            if pattern.fullmatch(text):
                return Followed(kind=kind, text=asked.last.text)
        if narrowing := _NARROW.match(text):
            return _narrow(asked, asked.last, text[narrowing.end() :])
        if only := _ONLY_AFTER.fullmatch(text):
            return _narrow(asked, asked.last, only[1])
        if (other := _OTHERWISE.match(text)) and not _ITS.match(text):
            return _varied(asked, asked.last, text[other.end() :].strip(" ?."))
        return _resolved(asked, asked.last, text)


_PLEASE = r"\s*(?:(?:please|ok(?:ay)?|now|then|and|can you|could you)[\s,]+)*"
_NEW_TOPIC = re.compile(
    rf"{_PLEASE}(?:(?:a\s+)?(?:new|different|another|change(?: of| the)?)\s+(?:topic|subject|question)|start over|"
    r"forget (?:that|it|this|everything|all that|the above)|reset)\b[\s:,.;!-]*",
    re.IGNORECASE,
)
_EXPORT = re.compile(
    rf"{_PLEASE}(?:export|save|download|dump|write)\b(?=.*\b(?:that|this|it|them|those|these|table|results?|rows?|"
    rf"list|all|full|"
    r"everything|csv|excel|xlsx|json|file|to|as)\b)",
    re.IGNORECASE,
)
_FILE = re.compile(
    r"\"([^\"]+\.\w{1,8})\"|((?:[\w~./\\-]|\\ )+\.(?:csv|tsv|json|jsonl|xlsx|md|html|txt))\b|"
    r"\b(?:to|into|as|in)\s+(?:(?:a|the)\s+file\s+)?([\w~./\\-]+\.[a-z]\w{0,7})\b",
    re.IGNORECASE,
)
_REST = (
    r"(?:(?:show|give|list|see|display|print|get|read)\s+)?(?:me\s+)?(?:the\s+)?(?:rest|remaining(?:\s+\w+)?|remainder|"
    r"more|next(?:\s+(?:page|ones|\d+|rows|results))?|other ones|others|\d+ more|more (?:rows|results)|all)\s*"
    r"(?:of\s+(?:it|them|those|these|that)\s*)?(?:please)?|continue|go on|keep going|and the rest|what else|anything "
    r"else"
)
_WIDEN = (
    r"(?:search|look|try|ask)\s+(?:in\s+|through\s+)?(?:all|every|the other|my other)\s+(?:the\s+|my\s+|of the\s+)?"
    r"(?:documents?|files?|sources?)|(?:search|look)\s+(?:everywhere|everything)|(?:widen|broaden|relax|loosen)\b.*|"
    r"(?:drop|remove|without|ignore)\s+(?:the|all|any|those)?\s*(?:filters?|conditions?|limits?)"
)
_TEXT_SEARCH = (
    r"(?:switch|change|go)\s+to\s+(?:the\s+)?(?:full[ -])?texts?(?:\s+search)?|(?:use|try|do)\s+(?:a\s+|the\s+)?"
    r"(?:full[ -])?text search|search\s+(?:in\s+)?the\s+(?:full\s+)?texts?(?:\s+instead)?|(?:full[ -])?text search"
)
_COMMANDS: tuple[tuple[Turn, re.Pattern[str]], ...] = (
    ("rest", re.compile(rf"{_PLEASE}(?:{_REST})[\s.!?]*", re.IGNORECASE)),
    ("widen", re.compile(rf"{_PLEASE}(?:{_WIDEN})[\s.!?]*", re.IGNORECASE)),
    ("text search", re.compile(rf"{_PLEASE}(?:{_TEXT_SEARCH})[\s.!?]*", re.IGNORECASE)),
)
_NARROW = re.compile(
    rf"{_PLEASE}(?:but\s+)?(?:(?:only|just)\s+|(?:filter|restrict|limit|narrow)\s*(?:it|them|that|those|this|"
    rf"down)?\s*(?:down\s*)?"
    r"(?:to|by|for|on)\s+(?:only\s+)?|(?:which|what|any|some)\s+(?:one\s+|ones\s+)?(?:of|among)\s+(?:those|these|"
    r"them)\s+|(?:and\s+)?(?:of|among|from)\s+"
    r"(?:those|these|them),?\s+(?:only\s+|which\s+)?)|"
    r"(?=(?:exclude|excluding|without|except|but not|not)\s)",
    re.IGNORECASE,
)
_ONLY_AFTER = re.compile(r"(.{1,60}?)\s+only[\s.!]*", re.IGNORECASE)
_OTHERWISE = re.compile(
    rf"{_PLEASE}(?:(?:what|how)\s+about|and(?=\s+(?:in|for|from|with|by|since|before|after|last|this)\b))\s*",
    re.IGNORECASE,
)
_REFERS = re.compile(
    r"\b(?:it|its|they|their|them|those|these|that|this|one|ones|he|his|she|her|same|such|there)\b", re.IGNORECASE
)
_IS_A_NAME = re.compile(r"[A-Z\d]")


# ── the last question goes on ────────────────────────────────────────────────────────────────────────────────────────


def _understood(asked: Message, last: Question, text: str) -> Question:
    return Understand().fallback(
        Ask(text=text, today=asked.today, last=last, kinds=asked.kinds, labels=asked.labels, summary=asked.summary)
    )


_ONES = re.compile(
    r"^(?:(?:show|list|give)\s+(?:me\s+)?)?(?:the|those|these|that|ones|one|are|is|were|was|which|in\s+those)\s+(?=\S)",
    re.IGNORECASE,
)
_NOUN = re.compile(r"\s+ones?\b", re.IGNORECASE)


def _narrow(asked: Message, last: Question, text: str) -> Followed:
    """The last question with what is added. What cannot be understood must stand in the things as it is written."""
    rest = text.strip(" ?.!,")
    things = plural(last.things or "document", 2)
    if _NOUN.search(rest):
        alone = re.sub(r"^(?:the|those)\s+", "", _NOUN.sub(f" {things}", rest), flags=re.IGNORECASE)
    else:
        while (shorter := _ONES.sub("", rest)) != rest:
            rest = shorter
        alone = f"list {things} {rest}"
    added = _understood(asked, last, alone)
    if not added.conditions:
        added = _understood(
            asked, last, f"list {things} from {rest}" if rest[:1].isupper() else f"list {things} with {rest}"
        )
    conditions = added.conditions or _must_stand(rest)
    question = structs.replace(
        last,
        text=f"{last.text} · {text.strip()}",
        intent="enumeration",
        terms=tuple(dict.fromkeys((*last.terms, *added.terms))),
        phrases=tuple(dict.fromkeys((*last.phrases, *added.phrases))),
        conditions=_together(last.conditions, conditions),
    )
    return Followed(kind="narrow", text=alone, question=question)


def _must_stand(text: str) -> tuple[Condition, ...]:
    said = " ".join(content(text))
    return (Condition(of=Quantity(), comparator="contains", values=(Typed(raw=said),), words=text),) if said else ()


def _together(last: tuple[Condition, ...], added: tuple[Condition, ...]) -> tuple[Condition, ...]:
    """A new time takes the place of the old one; other conditions hold beside each other."""
    timed = {condition.of for condition in added if condition.values[0].date}
    kept = (condition for condition in last if condition.of not in timed and condition not in added)
    return (*kept, *added)


def _varied(asked: Message, last: Question, text: str) -> Followed:
    """ "What about 2023?" asks the same of another time, another shop or another thing."""
    things = plural(last.things or "document", 2)
    added = _understood(asked, last, f"list {things} {text}").conditions
    if not added:
        added = _understood(asked, last, f"list {things} from {text}").conditions or _must_stand(text)
    kinds = {_sort(condition) for condition in added}
    if not last.conditions and last.intent == "conceptual":
        return Followed(kind="new question", text=f"{last.text} {text}")
    question = structs.replace(
        last,
        text=f"{last.text} · {text}",
        terms=tuple(dict.fromkeys((*last.terms, *content(text)))),
        conditions=(*(each for each in last.conditions if _sort(each) not in kinds), *added),
    )
    return Followed(kind="new question", text=f"{last.text} · {text}", question=question)


def _sort(condition: Condition) -> tuple[str, ...]:
    """Conditions of one sort take each other's place: two times, two names, two limits of one quantity."""
    value = condition.values[0]
    if value.date:
        return ("time",)
    if value.number is None:
        return ("words",)
    return ("number", *condition.of.labels)


_ITS = re.compile(
    rf"^{_PLEASE}(?:what(?:'s| is| was| are| about)\s+)?its\s+(?P<what>[^?.!]+?)\s*[?.!]*$", re.IGNORECASE
)
_THEIR = re.compile(r"\btheir\s+(?P<what>[\w -]+?)(?=\s*[?.!,]|\s*$)", re.IGNORECASE)
_OF_THEM = re.compile(
    r"\b(?:of\s+)?(?:all\s+(?:of\s+)?)?(?:those|these|them)\b(?!\s+(?!(?:by|per|in|from|with|are|is|were|was|that|"
    r"have|has|cost|contain|mention)\b)[a-z])",
    re.IGNORECASE,
)
_PLURALS = re.compile(r"\b(?:they|them|those|these|their)\b", re.IGNORECASE)
_SINGLE = re.compile(r"\b(?:it|that one|this one)\b(?!\s+(?:possible|necessary|true|possibly|safe)\b)", re.IGNORECASE)


def _resolved(asked: Message, last: Question, text: str) -> Followed:
    """The message with its pronouns replaced by what they mean."""
    things = last.things
    if things and last.intent == "enumeration" and _PLURALS.search(text):
        alone = _THEIR.sub(lambda found: f"{found['what']} of all {plural(things, 2)}", text)
        alone = _OF_THEM.sub(plural(things, 2), alone)
        alone = re.sub(r"\b(?:they|those|these)\b", plural(things, 2), alone, flags=re.IGNORECASE)
        found = _understood(asked, last, alone)
        if found.intent == "enumeration":
            question = structs.replace(found, things=things, conditions=_together(last.conditions, found.conditions))
            return Followed(kind="narrow", text=alone, question=question)
        return Followed(kind="new question", text=alone)
    subject = _subject(last)
    if not subject:
        return Followed(kind="new question", text=text)
    if its := _ITS.match(text):
        return Followed(kind="new question", text=f"What is the {its['what']} of {subject}?")
    alone = re.sub(r"\bits\b", f"{subject}'s", _SINGLE.sub(subject, text), flags=re.IGNORECASE)
    if alone == text and _PLURALS.search(text):
        alone = f"{text} ({subject})"
    return Followed(kind="new question", text=alone)


def _subject(last: Question) -> str:
    """What the last question was about: the name in it, or the thing."""
    named = (each.values[0].raw for each in last.conditions if not each.of.labels[0] and each.comparator == "contains")
    return (
        next(named, "")
        or next(iter(last.phrases), "")
        or (f"the {last.things}" if last.things else " ".join(last.terms[:4]))
    )


# ── what is remembered ───────────────────────────────────────────────────────────────────────────────────────────────

_CITED = re.compile(r"\s*\[source \d+(?:,\s*\d+)*\]", re.IGNORECASE)
_SENTENCE = re.compile(r"(?<=[.!?])\s+(?=\S)")
_ANSWER = 360  # characters of an answer that are remembered


def rolling_summary(previous: str, question: Question, answer: str) -> str:
    """The newest exchange first, then as many of the older ones as fit into 400 tokens."""
    lines = [f"Asked: {shortened(question.text, 240)} Answer: {_gist(answer)}", *previous.splitlines()]
    kept: list[str] = []
    for line in lines:
        if estimate_tokens("\n".join((*kept, line))) > MOST_TOKENS:
            break
        kept.append(line)
    return "\n".join(kept) or shortened(lines[0], MOST_TOKENS)


def _gist(answer: str) -> str:
    """The sentences that hold names or numbers, in their order, as far as they fit; the first one always."""
    sentences = _SENTENCE.split(" ".join(_CITED.sub("", answer).split()))
    kept: list[str] = []
    for place, sentence in enumerate(sentences):
        telling = place == 0 or any(_IS_A_NAME.search(word) for word in words(sentence)[1:])
        if telling and (not kept or len(" ".join((*kept, sentence))) <= _ANSWER):
            kept.append(sentence)
    return shortened(" ".join(kept), _ANSWER)
