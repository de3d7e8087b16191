"""Texts made to keep a regular expression busy, and how its time grows with them.

For each repetition without a small bound: what leads up to it, then what it repeats, many times, then an end that
matches nothing. Growth is told by processor time at two lengths, one five times the other: a pattern that reads a text
once takes five times as long, one that comes back to each place twenty-five times.
"""

from __future__ import annotations

import re
import signal
from collections.abc import Collection, Iterator, Sequence
from functools import cache
from re import _constants as op  # type: ignore[attr-defined]
from re import _parser  # type: ignore[attr-defined]
from time import thread_time
from types import FrameType
from typing import Any

SHORT, LONG = 300, 1_500
MOST_GROWTH = 11.0
# Of the time in which this machine comes back to each of 1,500 places. A text that is read once takes far less.
NOTICEABLE = 0.2
GIVEN_UP = 0.5
BOUND = 40
ANCHORED = frozenset(("match", "fullmatch"))
ENDS = ("", "\x00", "\n!")
CHARACTERS = "a0 -A.,'_\n\"(:/<[|*`\té"
_REPEATS = (op.MAX_REPEAT, op.MIN_REPEAT, op.POSSESSIVE_REPEAT)


class Late(BaseException):
    pass


def growth(pattern: re.Pattern[Any], methods: Collection[str]) -> tuple[float, str] | None:
    """How many times longer a text takes that is five times as long, and the pump of that text; None if no text takes
    much longer."""
    for lead, pump in attacks(pattern):
        for end in ENDS:
            long = _text(pattern, lead, pump, end, LONG)
            for times in (1, 3, 12):  # a machine that has other work to do is slow now and then
                took = min(_seconds(pattern, long, methods) for _ in range(times))
                if took < NOTICEABLE * _coming_back():
                    break
                short = _text(pattern, lead, pump, end, SHORT)
                before = min(_seconds(pattern, short, methods) for _ in range(times))
                if took < GIVEN_UP and took / before <= MOST_GROWTH:
                    break
                if took >= GIVEN_UP:
                    return took / before, lead + pump
            else:
                return took / before, lead + pump
    return None


@cache
def _coming_back() -> float:
    """Seconds, on a machine that may be fast or slow."""
    return min(_seconds(re.compile(r"\(.*\)"), "(" * LONG, {"search"}) for _ in range(20))


def attacks(pattern: re.Pattern[Any]) -> list[tuple[str, str]]:
    tree = _parser.parse(pattern.pattern, pattern.flags)
    found: dict[tuple[str, str], None] = {}
    characters: dict[str, None] = {}
    for lead, body, rest in _repeats(list(tree), []):
        for turn in (0, 1, 2):
            before, inside, after = _sample(lead, turn), _sample(body, turn) or "a", _sample(rest, turn)
            for pump in (inside, before + inside, before + inside + after[:-1]):
                found["", pump] = None
            found[before, inside] = None
        characters |= dict.fromkeys(_characters(body)[:6])
        characters |= dict.fromkeys(_characters(rest)[:2])
    if found:
        found |= {("", each): None for each in (*list(characters)[:10], *" a0\n")}
        for one in list(characters)[:5]:
            found |= {("", one + other): None for other in list(characters)[:5] if one != other}
    return list(found)


def _text(pattern: re.Pattern[Any], lead: str, pump: str, end: str, length: int) -> Any:
    text = lead + pump * (length // len(pump)) + end
    return text.encode("latin-1", "replace") if isinstance(pattern.pattern, bytes) else text


def _seconds(pattern: re.Pattern[Any], text: Any, methods: Collection[str]) -> float:
    started = thread_time()
    signal.setitimer(signal.ITIMER_VIRTUAL, GIVEN_UP)
    try:
        if not ANCHORED.issuperset(methods):
            for _ in pattern.finditer(text):
                pass
        for method in ANCHORED.intersection(methods):
            getattr(pattern, method)(text)
    except Late:
        return GIVEN_UP
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
    return thread_time() - started


def give_up(_number: int, _frame: FrameType | None) -> None:
    raise Late


def _repeats(nodes: Sequence[Any], lead: list[Any]) -> Iterator[tuple[list[Any], list[Any], list[Any]]]:
    """Each repetition without a small bound: what stands before it, what it repeats, what follows."""
    lead = list(lead)
    for at, (kind, value) in enumerate(nodes):
        if kind in _REPEATS:
            if value[1] > BOUND:
                yield lead, list(value[2]), list(nodes[at + 1 :])
            yield from _repeats(list(value[2]), lead)
        else:
            for inner in _inside(kind, value):
                yield from _repeats(list(inner), lead)
        lead.append((kind, value))


def _inside(kind: Any, value: Any) -> Sequence[Any]:
    if kind is op.SUBPATTERN:
        return [value[3]]
    if kind is op.ATOMIC_GROUP:
        return [value]
    if kind is op.BRANCH:
        return list(value[1])
    return [value[1]] if kind in (op.ASSERT, op.ASSERT_NOT) else []


def _sample(nodes: Sequence[Any], turn: int) -> str:
    """A text that the nodes match, near enough; another for each turn."""
    made = ""
    for kind, value in nodes:
        if kind is op.LITERAL:
            made += chr(value)
        elif kind in (op.NOT_LITERAL, op.ANY, op.IN):
            fitting = _fitting(kind, value)
            made += fitting[turn % len(fitting)]
        elif kind is op.BRANCH:
            made += _sample(value[1][turn % len(value[1])], turn)
        elif kind in _REPEATS:
            made += _sample(value[2], turn) * min(max(value[0], 1 - turn % 2), 20)
        elif kind in (op.SUBPATTERN, op.ATOMIC_GROUP):
            made += _sample(_inside(kind, value)[0], turn)
    return made


def _characters(nodes: Sequence[Any]) -> list[str]:
    found: list[str] = []
    for kind, value in nodes:
        if kind is op.LITERAL:
            found.append(chr(value))
        elif kind in (op.NOT_LITERAL, op.ANY, op.IN):
            found += _fitting(kind, value)[:4]
        elif kind in _REPEATS:
            found += _characters(value[2])
        else:
            for inner in _inside(kind, value):
                found += _characters(inner)
    return found


def _fitting(kind: Any, value: Any) -> list[str]:
    if kind is op.ANY:
        return [each for each in CHARACTERS if each != "\n"]
    if kind is op.NOT_LITERAL:
        return [each for each in CHARACTERS if ord(each) != value]
    stated = [chr(each if name is op.LITERAL else each[0]) for name, each in value if name in (op.LITERAL, op.RANGE)]
    return [each for each in (*CHARACTERS, *stated) if _is_in(value, each)] or ["x"]


def _is_in(members: Sequence[Any], character: str) -> bool:
    code, found, negated = ord(character), False, False
    for kind, value in members:
        if kind is op.NEGATE:
            negated = True
        elif kind is op.LITERAL:
            found |= code == value
        elif kind is op.RANGE:
            found |= value[0] <= code <= value[1]
        elif kind is op.CATEGORY:
            found |= _CATEGORIES[value](character)
    return found is not negated


def _is_word(character: str) -> bool:
    return character.isalnum() or character == "_"


_CATEGORIES = {
    op.CATEGORY_DIGIT: str.isdigit,
    op.CATEGORY_NOT_DIGIT: lambda each: not each.isdigit(),
    op.CATEGORY_SPACE: str.isspace,
    op.CATEGORY_NOT_SPACE: lambda each: not each.isspace(),
    op.CATEGORY_WORD: _is_word,
    op.CATEGORY_NOT_WORD: lambda each: not _is_word(each),
}
