"""Outline the report: which sections it has, in what order, and how they are called.

Only topics that something was found about become sections: a model may order and name them, not add one.
"""

from __future__ import annotations

import re
from typing import Any, Literal, TypeAlias

from pydantic import BaseModel
from pydantic import Field as Key

from tablewright.decisions.decision import Prompt, Unusable
from tablewright.decisions.grounds import numbers_in
from tablewright.models.tokens import estimate_tokens
from tablewright.table.model import Noun
from tablewright.table.research import DEFAULT_ITEMS, Brief
from tablewright.table.text import plural
from tablewright.table.untrusted import WARNING, block, clean, gives_orders, question_block
from tablewright.text.words import roots

TopicKind: TypeAlias = Literal["angle", "overview", "candidate", "comparison"]

ENOUGH = 2
"""Passages that a candidate needs for a section of its own: with fewer, the table says it all."""
MOST_SECTIONS = 12
LONGEST_HEADING = 80
MEMO_BUDGET = 800
"""Tokens of the memo that are sent."""
_ORDER: dict[TopicKind, int] = {"overview": 0, "angle": 1, "candidate": 2, "comparison": 3}
_CALLED: dict[TopicKind, str] = {"overview": "Overview", "comparison": "How They Compare"}

INSTRUCTIONS = (
    "You outline a report. Below are the numbered topics that something was found about. Put them into the order in "
    "which a reader wants them and give each a short heading in the language of the question. For each write `topic`, "
    "its number, and `heading`. Use every topic once and add none; put no numbers or names into a heading that stand "
    "in neither the topic nor the question. " + WARNING
)


class Topic(Noun, frozen=True):
    """An angle of a narrative; or of a catalog what all candidates share, one of them, or where they differ."""

    name: str
    passages: int
    kind: TopicKind = "angle"


class OutlineReport(Noun, frozen=True):
    """`topics` stand in the order of their worth: of a catalog the best candidate first."""

    brief: Brief
    topics: tuple[Topic, ...]
    memo_text: str = ""


class Planned(Noun, frozen=True):
    heading: str
    topic: str


class Outline(Noun, frozen=True):
    sections: tuple[Planned, ...] = ()


class Named(BaseModel):
    topic: int
    heading: str = Key(max_length=LONGEST_HEADING)


class Headings(BaseModel):
    sections: list[Named] = Key(max_length=MOST_SECTIONS)


class OutlineIt:
    name = "outline report"

    def prompt(self, asked: OutlineReport) -> Prompt:
        listed = "\n".join(
            f"{number}. {topic.name} ({topic.passages} {plural('passage', topic.passages)})"
            for number, topic in enumerate(covered(asked), start=1)
        )
        parts = [question_block(asked.brief.question)]
        if asked.memo_text:
            parts.append(f"What the research found:\n{block(0, _cut(asked.memo_text), 'memo')}")
        parts.append(f"Topics:\n{block(1, listed, 'topics')}")
        return Prompt(instructions=INSTRUCTIONS, text="\n".join(parts), reply=Headings, max_tokens=400)

    def check(self, asked: OutlineReport, reply: Any) -> Outline:
        """The model's order, then what it forgot; a heading that cannot be kept is the topic's own."""
        topics = covered(asked)
        chosen = {
            named.topic: _heading(named.heading, topics[named.topic - 1], asked.brief.question)
            for named in reply.sections
            if 1 <= named.topic <= len(topics)
        }
        if topics and not chosen:
            raise Unusable(f"The topics are numbered 1 to {len(topics)}.", usable=self.fallback(asked))
        for number, topic in enumerate(topics, start=1):
            chosen.setdefault(number, own_heading(topic))
        return Outline(
            sections=tuple(
                Planned(heading=heading, topic=topics[number - 1].name) for number, heading in chosen.items()
            )
        )

    def fallback(self, asked: OutlineReport) -> Outline:
        return Outline(
            sections=tuple(Planned(heading=own_heading(topic), topic=topic.name) for topic in covered(asked))
        )


def covered(asked: OutlineReport) -> tuple[Topic, ...]:
    """The topics that get a section, in the order of the brief's angles; of a catalog the overview, the best candidates
    of which enough is known, and how they compare."""
    places = {angle.name: place for place, angle in enumerate(asked.brief.angles)}
    candidates = [topic for topic in asked.topics if topic.kind == "candidate" and topic.passages >= ENOUGH]
    best = candidates[: asked.brief.target_items or DEFAULT_ITEMS]
    kept = [topic for topic in asked.topics if topic.passages > 0 and (topic.kind != "candidate" or topic in best)]
    kept.sort(key=lambda topic: (_ORDER[topic.kind], places.get(topic.name, len(places))))
    return tuple(kept[:MOST_SECTIONS])


# ── headings ─────────────────────────────────────────────────────────────────────────────────────────────────────────

_SMALL = frozenset("a an and as at but by for from in into nor of off on or over per so the to up via vs with".split())
_NOT_PLAIN = re.compile(r"https?://\S*|www\.\S*|\[[^\]]*\]|[#*_`<>|]|^\s*(?:section\s+)?\d+\s*[.:)]\s*", re.IGNORECASE)


def own_heading(topic: Topic) -> str:
    if topic.kind == "candidate":
        return topic.name
    return _CALLED.get(topic.kind) or titled(topic.name)


def titled(name: str) -> str:
    """ "how it works" → "How It Works"; what has a capital letter already ("CO2", "iOS") stays as it is."""
    words = " ".join(name.split()).rstrip("?.: ").split(" ")
    last = len(words) - 1
    return " ".join(
        word if not word.islower() or (word in _SMALL and 0 < place < last) else word[:1].upper() + word[1:]
        for place, word in enumerate(words)
    )


def _heading(written: str, topic: Topic, question: str) -> str:
    """The model's words, if they are about the topic and hold nothing new; else the topic's own."""
    heading = " ".join(_NOT_PLAIN.sub(" ", clean(written)).split()).rstrip(".: ")
    known = f"{topic.name} {question}"
    told = set(roots(heading, telling=True))
    own = set(roots(topic.name, telling=True)) or set(roots(question, telling=True))
    about = bool(told & own) or topic.kind in _CALLED
    new = not set(numbers_in(heading)) <= set(numbers_in(known)) or _strange(heading, known)
    if not told or not about or new or gives_orders(heading):
        return own_heading(topic)
    return heading if topic.kind == "candidate" else titled(heading)


def _strange(heading: str, known: str) -> bool:
    """Whether it holds a name in capitals that neither the topic nor the question has: "GDPR"."""
    held = set(re.findall(r"\w+", known.casefold()))
    return any(word.casefold() not in held for word in re.findall(r"\b[A-Z][A-Z0-9]+\b", heading))


def _cut(memo: str) -> str:
    """Whole lines from the beginning, as far as they fit."""
    kept: list[str] = []
    left = MEMO_BUDGET
    for line in memo.splitlines():
        left -= estimate_tokens(line) + 1
        if left < 0:
            break
        kept.append(line)
    return "\n".join(kept)
