"""Answers a question with the sentences of a few texts that say it, and with none where none does.

A sentence is worth what it holds of the question, the rarer words the more. It is no answer where it speaks of another
thing (a name or number of the question is missing), says the opposite, or holds nothing of the kind that is asked for.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import pairwise

from tablewright.extraction.spans import spans
from tablewright.extraction.wanted import Kind
from tablewright.table.model import Noun
from tablewright.table.untrusted import is_tainted
from tablewright.text.sections import Line, Section, sections
from tablewright.text.words import SMALL_WORDS, root, roots

MOST = 3
HELD = 0.35
"""How much of a question a sentence and what stands before it must hold. Measured on questions about paragraphs: 0.3
answers 2 % more of those that have an answer and refuses 4 % fewer whose paragraph is missing; 0.5 the other way, -12
and +8 %."""
FEW = 2
"""Telling words of a question, of which none may be missing around the answer."""
NAMED = 0.4
"""How much of a question about the way to do something a heading must name, to be that of the answer."""
AS_GOOD = 0.9
"""Where a second section is worth this share of the best, both are told."""
LONGEST_PATH = 8
"""Lines that name something above a text: more are a list."""
MOST_STEPS = 5
MOST_CHARACTERS = 700
"""Of a section that is told whole: sentences, and characters."""
BESIDE = 0.6
"""A further sentence is given along if it is worth this share of the best."""
LONGEST_SENTENCE = 600


class Telling(Noun, frozen=True):
    """What answers, a sentence or several: `start:end` of the text with that number, counted from 0."""

    text: int
    start: int
    end: int
    worth: float


def tell(question: str, texts: Sequence[tuple[str, str]]) -> list[Telling]:
    """The best sentences of the texts (each a title and a text), the best first; none, if none answers. How something
    is done is told by the section that says so, whole."""
    asked = _asked(question)
    if not asked.words:
        return []
    said = [sentence for number, (title, text) in enumerate(texts) for sentence in _sentences(number, title, text)]
    rarity = _rarity(asked, said)
    chosen = _chosen(asked, said, texts, rarity)
    if _ASKS_THE_WAY.search(question):
        least = _held(asked, chosen[0][1], rarity)[0] if chosen else 0.0
        if way := _way(asked, texts, rarity, least):
            return way
        chosen = [(chosen[0][0], sentence) for sentence in _from_here(chosen[0][1], said, texts)] if chosen else []
    return [
        Telling(text=sentence.text, start=sentence.start, end=sentence.end, worth=round(value, 4))
        for value, sentence in chosen
    ]


def _chosen(
    asked: _Question, said: Sequence[_Said], texts: Sequence[tuple[str, str]], rarity: dict[str, float]
) -> list[tuple[float, _Said]]:
    """The best sentences with their worth, each said once; none where the best is no answer."""
    worth = [(_worth(asked, sentence, rarity), sentence) for sentence in said]
    chosen: list[tuple[float, _Said]] = []
    for value, sentence in sorted(worth, key=lambda entry: (-entry[0], entry[1].text, entry[1].start)):
        if len(chosen) == MOST or (chosen and value < BESIDE * chosen[0][0]):
            break
        if is_tainted(texts[sentence.text][1], sentence.start, sentence.end):
            continue
        if _answers(asked, sentence, rarity):
            if all(sentence.words != other.words for _, other in chosen):
                chosen.append((value, sentence))
        elif not chosen:
            return []
    return chosen


# ── how something is done ────────────────────────────────────────────────────────────────────────────────────────────

_ASKS_THE_WAY = re.compile(
    r"\bhow (?:do|does|can|could|should|to|would)\b|\b(?:procedure|steps?|process|instructions?)\b|"
    r"\b(?:can|could|may|should|do|want to|need to|like to) (?:i|we|you)\b|\bi (?:want|need|would like) to\b|"
    r"\bis it possible to\b",
    re.IGNORECASE,
)


def _way(asked: _Question, texts: Sequence[tuple[str, str]], rarity: dict[str, float], least: float) -> list[Telling]:
    """The sections whose headings say what is to be done, the best first. None that holds less of the question than a
    sentence does (`least`)."""
    found: list[Telling] = []
    for number, (title, text) in enumerate(texts):
        titled = frozenset(roots(title))
        inside = sections(text)
        for place, section in enumerate(inside):
            passage = _passage(text, inside[place:])
            if passage is None:
                continue
            heading = _named_by(text, section)
            body = frozenset(roots(text[slice(*passage)], telling=True))
            named = sum(rarity[word] for word in asked.words & heading)
            told = sum(rarity[word] for word in (asked.words & body) - heading)
            fits = len(asked.words & heading) / max(1, len(heading))
            if (
                named >= NAMED
                and named + told > least - 0.001
                and _about(asked, heading | body | titled, heading | body | titled)
            ):
                worth = named * (0.7 + 0.3 * fits) + 0.5 * told
                found.append(Telling(text=number, start=passage[0], end=passage[1], worth=round(worth, 4)))
    found.sort(key=lambda each: -each.worth)
    others = (each for each in found[1:] if each.text != found[0].text and each.worth >= AS_GOOD * found[0].worth)
    return found[:1] + list(others)[:1]


def _named_by(text: str, section: Section) -> frozenset[str]:
    """The telling words of the headings above a section, and of a path that leads to it."""
    path = section.heading if len(section.heading) <= LONGEST_PATH else section.heading[-1:]
    return frozenset(
        root for line in (*section.above, *path) for root in roots(text[line.start : line.end], telling=True)
    )


def _from_here(best: _Said, said: Sequence[_Said], texts: Sequence[tuple[str, str]]) -> list[_Said]:
    """How something is done takes more than a sentence: those that follow under the same heading belong to it."""
    following = [
        each for each in said if each.text == best.text and each.start >= best.start and each.under == best.under
    ]
    return [each for each in following[:MOST] if not is_tainted(texts[each.text][1], each.start, each.end)]


def _passage(text: str, found: Sequence[Section]) -> tuple[int, int] | None:
    """From the first line of the first section as far as its heading goes, and no further than one likes to read."""
    lines = [line for each in found if each.above == found[0].above for line in (*each.heading, *each.body)]
    kept: list[Line] = []
    for line in lines:
        length = line.end - (kept[0] if kept else line).start
        if length > MOST_CHARACTERS or sum(not each.names for each in kept) == MOST_STEPS:
            break
        if is_tainted(text, line.start, line.end):
            break
        kept.append(line)
    while kept and kept[-1].names:
        kept.pop()
    return (kept[0].start, kept[-1].end) if kept else None


# ── the question ─────────────────────────────────────────────────────────────────────────────────────────────────────


class _Question(Noun, frozen=True):
    text: str
    words: frozenset[str]
    names: frozenset[str]
    numbers: frozenset[str]
    done: frozenset[str]
    """What is to be done with the thing that is named, where the way is asked: "repaint" of "repaint the pump P9"."""
    pairs: frozenset[tuple[str, str]]
    triples: tuple[tuple[str, str, str], ...]
    kinds: tuple[Kind, ...]
    strict: bool
    """Nothing but a number will do."""
    denied: bool


_KINDS: tuple[tuple[str, tuple[Kind, ...], bool], ...] = (
    (r"\bhow (?:many|much)\b|\bwhat (?:percentage|percent|number|proportion|fraction)\b", ("number",), True),
    (r"\b(?:what|which) years?\b", ("year", "date"), True),
    (r"\bhow (?:long|far|old|tall|high|large|big|fast|deep|wide|heavy)\b", ("number",), False),
    (r"\bwhen\b|\b(?:what|which) (?:date|day|month|decade|century)\b", ("date", "year", "number"), False),
    (r"\bwho(?:m|se)?\b", ("name",), False),
    (r"\bwhere\b|\b(?:what|which) (?:city|country|state|place|town|region|continent)\b", ("place",), False),
)


@lru_cache(maxsize=64)
def _asked(question: str) -> _Question:
    words = frozenset(roots(question, telling=True))
    names = {root for match in _CAPITAL.finditer(question) if match.start() for root in roots(match[0])}
    in_order = roots(question)
    kinds, strict = next(
        ((kinds, strict) for form, kinds, strict in _KINDS if re.search(form, question, re.IGNORECASE)), ((), False)
    )
    return _Question(
        text=question,
        words=words,
        names=frozenset(names & words),
        numbers=frozenset(word for word in words if word[0].isdigit()),
        done=_done(question, words, names & words) if _ASKS_THE_WAY.search(question) else frozenset(),
        pairs=frozenset(pairwise(in_order)),
        triples=tuple(_triples(in_order)),
        kinds=kinds,
        strict=strict,
        denied=bool(_DENIES.search(question)),
    )


def _done(question: str, words: frozenset[str], names: set[str]) -> frozenset[str]:
    """The telling words besides the names, the noun that stands beside one, and what is done with everything."""
    named = names | {word for word in words if any(map(str.isdigit, word))}
    beside = {near for pair in pairwise(roots(question)) for near in pair if named & set(pair)}
    return words - named - beside - _DONE_WITH_ALL if named else frozenset()


# ── the sentences ────────────────────────────────────────────────────────────────────────────────────────────────────


class _Said(Noun, frozen=True):
    """`under` are the words of its headings; `before` those, the title's and those of the sentence before; `around`
    those of the whole text."""

    text: int
    start: int
    end: int
    written: str
    under: frozenset[str]
    words: frozenset[str]
    pairs: frozenset[tuple[str, str]]
    before: frozenset[str]
    around: frozenset[str]


def _sentences(number: int, title: str, text: str) -> Iterator[_Said]:
    titled = frozenset(roots(title))
    around = titled | frozenset(roots(text))
    for section in sections(text):
        under = frozenset(
            root for line in section.above + section.heading for root in roots(text[line.start : line.end])
        )
        before = titled | under
        for line in section.body:
            in_order = roots(text[line.start : line.end])
            if not in_order or line.end - line.start > LONGEST_SENTENCE:
                continue
            words = frozenset(in_order)
            yield _Said(
                text=number,
                start=line.start,
                end=line.end,
                written=text[line.start : line.end],
                under=under,
                words=words,
                pairs=frozenset(pairwise(in_order)),
                before=before,
                around=around,
            )
            before = titled | under | words


def _rarity(asked: _Question, said: Sequence[_Said]) -> dict[str, float]:
    """How much each word of the question counts: all together 1, the rarer in the texts the more."""
    seen = Counter(word for sentence in said for word in asked.words & sentence.words)
    weights = {word: math.log(1 + len(said) / (0.5 + seen[word])) for word in asked.words}
    whole = sum(weights.values()) or 1.0
    return {word: weight / whole for word, weight in weights.items()}


def _held(asked: _Question, sentence: _Said, rarity: dict[str, float]) -> tuple[float, float]:
    """What of the question the sentence holds, and what only the words before it do."""
    own = sum(rarity[word] for word in asked.words & sentence.words)
    return own, sum(rarity[word] for word in (asked.words - sentence.words) & sentence.before)


def _worth(asked: _Question, sentence: _Said, rarity: dict[str, float]) -> float:
    own, before = _held(asked, sentence, rarity)
    in_order = len(asked.pairs & sentence.pairs) / max(1, len(asked.pairs))
    absent = len(asked.words - sentence.around) / len(asked.words)
    return own + 0.5 * own * own + 0.25 * before + 0.5 * in_order - 0.6 * absent - 0.4 * (not _of_kind(asked, sentence))


def _answers(asked: _Question, sentence: _Said, rarity: dict[str, float]) -> bool:
    own, before = _held(asked, sentence, rarity)
    known = sentence.words | sentence.before
    return (
        own + 0.5 * before >= HELD
        and _about(asked, known, sentence.around)
        and not (len(asked.words) <= FEW and asked.words - sentence.around)
        and not (asked.denied and not _DENIES_IT.search(sentence.written))
        and not any(_opposed(word, sentence.words) for word in asked.words - known)
        and not (asked.strict and not _of_kind(asked, sentence))
        and not _is_of_another(asked, sentence)
    )


def _about(asked: _Question, known: frozenset[str], around: frozenset[str]) -> bool:
    """Whether a passage speaks of what the question names, and of what is to be done with it."""
    return asked.numbers <= known and asked.names <= around and (not asked.done or bool(asked.done & known))


def _is_of_another(asked: _Question, sentence: _Said) -> bool:
    """Whether another word stands where the question has its own: "shut down host defenses" does not say what shuts
    down pathogen defenses. Measured on questions about paragraphs: 7 % more are refused that have no answer, 3 % more
    that have one."""
    between: dict[tuple[str, str], set[str]] = {}
    for before, word, after in _triples(roots(sentence.written)):
        between.setdefault((before, after), set()).add(word)
    return any(
        word in asked.words - sentence.words
        and not {before, after} <= _SMALL_ROOTS
        and bool(between.get((before, after), set()) - _SMALL_ROOTS)
        for before, word, after in asked.triples
    )


def _triples(words: list[str]) -> Iterator[tuple[str, str, str]]:
    return zip(words, words[1:], words[2:], strict=False)


def _of_kind(asked: _Question, sentence: _Said) -> bool:
    """Whether the sentence holds something of the kind that is asked for, and not only what the question says."""
    if not asked.kinds:
        return True
    if "date" in asked.kinds and not asked.strict and _AT_A_TIME.search(sentence.written):
        return True
    return any(
        not set(roots(span.value, telling=True)) <= asked.words
        for kind in asked.kinds
        for span in spans(kind, sentence.written)
        if span.value
    )


# ── words ────────────────────────────────────────────────────────────────────────────────────────────────────────────

_CAPITAL = re.compile(r"\b[A-ZÀ-Þ][\w’'-]*")
_AT_A_TIME = re.compile(r"\b(?:centur\w+|\d{2,4}s|after|before|during|until|when|while|once|today)\b", re.IGNORECASE)
_DENIES = re.compile(r"\b(?:not|never|no|cannot|without|nobody|none|\w+n['’]t)\b", re.IGNORECASE)
_DENIES_IT = re.compile(
    rf"{_DENIES.pattern}|\b(?:nor|neither|unable|fail(?:s|ed)? to|lack(?:s|ed|ing)?|except|excluding|refus\w+|hardly|"
    r"rather than|other than|unlike|prevent\w*|prohibit\w*|forb\w+)\b",
    re.IGNORECASE,
)
_OPPOSITES = """increase/decrease more/less more/fewer most/least first/last high/low higher/lower highest/lowest
large/small larger/smaller largest/smallest early/late earlier/later earliest/latest before/after begin/end start/end
start/stop open/close win/lose north/south east/west northern/southern eastern/western maximum/minimum
majority/minority old/new older/newer oldest/newest oldest/youngest older/younger allow/prohibit allow/forbid
allow/prevent support/oppose enter/leave arrive/depart internal/external inside/outside rich/poor strong/weak
stronger/weaker strongest/weakest fast/slow faster/slower male/female right/left positive/negative import/export
upper/lower above/below accept/reject attack/defend gain/lose hot/cold public/private urban/rural always/never buy/sell
rise/fall success/failure same/different long/short longer/shorter longest/shortest better/worse best/worst wide/narrow
heavy/light deep/shallow thick/thin easy/difficult true/false create/destroy build/destroy natural/artificial
ancient/modern minor/major optional/mandatory on/off enable/disable wired/wireless add/remove first/second first/third
second/third third/fourth""".split()
_DENYING = ("un", "in", "im", "non", "dis", "ir", "il")


_SMALL_ROOTS = frozenset(map(root, SMALL_WORDS))
_DONE_WITH_ALL = frozenset(
    map(
        root,
        """use enable activate change set find get open select turn adjust start run work fix check make go see view
        access configure allow need want know step procedure process instruction possible""".split(),
    )
)


@lru_cache(maxsize=1)
def _opposites() -> frozenset[tuple[str, str]]:
    pairs = [tuple(map(root, pair.split("/"))) for pair in _OPPOSITES]
    return frozenset((one, other) for pair in pairs for one, other in (pair, pair[::-1]))


def _opposed(word: str, words: frozenset[str]) -> bool:
    """Whether the words hold the opposite: "less" for "more", "disagree" for "agree"."""
    if any((word, other) in _opposites() for other in words):
        return True
    without = {word[len(prefix) :] for prefix in _DENYING if word.startswith(prefix) and len(word) > len(prefix) + 3}
    return bool(words & (without | {prefix + word for prefix in _DENYING if len(word) > 3}))
