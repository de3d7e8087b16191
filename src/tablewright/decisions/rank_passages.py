"""Rank passages: from retrieved pages to the sentences that say something about one side of a question.

A page that does not speak of the question's subject gives none, and neither does a sentence on another side of it: for
"challenges" there must be words of difficulty, in the sentence or in the heading above it. What a page says to its
visitors (menus, cookies, "subscribe") or to machines is no passage. No model is asked: a passage is a quote, whole
sentences as they stand.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import pairwise

from tablewright.decisions.answers import tell
from tablewright.decisions.menus import is_navigation
from tablewright.decisions.sides import Asked, read_asked
from tablewright.table.evidence import evidence_for
from tablewright.table.model import Evidence, Noun
from tablewright.table.research import Passage
from tablewright.table.retrieved import Retrieved
from tablewright.table.untrusted import gives_orders, is_tainted
from tablewright.text.sections import Line, Section, sections
from tablewright.text.words import roots

SHORTEST, LONGEST = 40, 500
"""Characters of a passage."""
FEWEST_WORDS = 6
READ = 120_000
"""Characters of a page that are looked at."""
KNOWN = 0.6
"""How much of the subject must be named in a sentence, the one before it, its headings and the title."""
LEAST = 0.4
"""The score that a passage needs."""
TIE = 0.05
"""Scores this close are alike: then the domain that has given fewer passages comes first."""
ALIKE = 0.8
"""Of the words of the shorter of two sentences: so many the same, and they are copies."""
BEST_TOLD = 2.0
"""What a sentence that answers a question fully is worth to `tell`."""


class RankPassages(Noun, frozen=True):
    topic: str
    question: str
    sources: tuple[Retrieved, ...]
    most: int = 6
    most_of_a_source: int = 2


class Rank:
    name = "rank passages"

    def fallback(self, asked: RankPassages) -> tuple[Passage, ...]:
        """The best first."""
        about = read_asked(asked.question, asked.topic)
        if not about.subject:
            return ()
        found = [passage for source in asked.sources for passage in _of_source(about, source, asked)]
        return tuple(_chosen(found, asked))


def copies(one: str, other: str) -> bool:
    """Whether two sentences say the same in the same words, as far as the shorter goes."""
    first, second = set(roots(one, telling=True)), set(roots(other, telling=True))
    shorter = min(len(first), len(second))
    return shorter > 0 and len(first & second) >= ALIKE * shorter and _figures(one) == _figures(other)


def _figures(text: str) -> set[str]:
    return set(re.findall(r"\d+(?:[.,]\d+)*", text))


def _chosen(found: Sequence[Passage], asked: RankPassages) -> Iterator[Passage]:
    kept: list[Passage] = []
    of_source: Counter[str] = Counter()
    of_domain: Counter[str] = Counter()
    left = sorted(found, key=lambda each: -each.score)
    while left and len(kept) < asked.most:
        tied = [each for each in left if each.score >= left[0].score - TIE]
        best = min(tied, key=lambda each: of_domain[each.evidence.domain])
        left.remove(best)
        place = best.evidence
        if of_source[place.origin] == asked.most_of_a_source:
            continue
        if any(_repeats(place, each.evidence) for each in kept):
            continue
        of_source[place.origin] += 1
        of_domain[place.domain] += 1
        kept.append(best)
    yield from sorted(kept, key=lambda each: -each.score)


def _repeats(one: Evidence, other: Evidence) -> bool:
    """The same words of the same place, or of another page of the same domain: two domains that agree are two."""
    if one.origin == other.origin and (one.start or 0) < (other.end or 0) and (other.start or 0) < (one.end or 0):
        return True
    return one.domain == other.domain and copies(one.quote, other.quote)


# ── what a page says ─────────────────────────────────────────────────────────────────────────────────────────────────


class _Piece(Noun, frozen=True):
    """What may become a passage. `named` are the words of the title and the headings over it, `before` those of the
    sentence before; `headings` are the headings as written."""

    start: int
    end: int
    text: str
    headings: str
    named: frozenset[str]
    before: frozenset[str] = frozenset()


def _of_source(about: Asked, source: Retrieved, asked: RankPassages) -> Iterator[Passage]:
    text = source.text[:READ]
    if not _speaks_of(about, f"{source.title}\n{text}"):
        return
    scored = _told(about, source.title, text) if not (about.sides or about.what) else _weighed(about, source, text)
    for start, end, score in scored:
        if score >= LEAST and not is_tainted(source.text, start, end) and not gives_orders(source.text[start:end]):
            yield Passage(evidence=evidence_for(source, start, end), topic=asked.topic, score=round(min(1.0, score), 3))


def _speaks_of(about: Asked, page: str) -> bool:
    """Whether the page names the subject: its names, most of its words, and two of them side by side as in the
    question ("vertical" and "farming" far apart are something else)."""
    in_order = roots(page)
    words, pairs = set(in_order), set(pairwise(in_order))
    together = [any(pair in pairs for pair in pairwise(phrase)) for phrase in about.phrases if len(phrase) > 1]
    return (
        about.names <= words
        and len(about.subject & words) >= KNOWN * len(about.subject)
        and (not together or any(together))
    )


def _told(about: Asked, title: str, text: str) -> Iterator[tuple[int, int, float]]:
    """Of a question that names no side: the sentences that answer it."""
    whole = [piece for section in sections(text) for piece in _pieces(text, title, section)]
    for told in tell(about.question, [(title, text)]):
        inside = [piece for piece in whole if piece.start < told.end and piece.end > told.start]
        for piece in inside[:1]:
            yield piece.start, piece.end, max(LEAST, told.worth / BEST_TOLD)


def _weighed(about: Asked, source: Retrieved, text: str) -> Iterator[tuple[int, int, float]]:
    is_its_page = _is_about(about, source.title)
    for section in sections(text):
        for piece in _pieces(text, source.title, section):
            if score := _score(about, piece, is_its_page=is_its_page):
                yield piece.start, piece.end, score


def _is_about(about: Asked, title: str) -> bool:
    """Whether a part of the title is the subject's name and hardly more: "About Acme | Acme Lighting", not "Acme lights
    the pier"."""
    parts = (set(roots(part, telling=True)) for part in re.split(r"\s[-–—·|]\s|[|:]", title))
    return any(about.subject <= part and len(part) <= len(about.subject) + 1 for part in parts)


def _score(about: Asked, piece: _Piece, *, is_its_page: bool) -> float:
    """0 where it is about something else."""
    words = frozenset(roots(piece.text))
    if is_its_page and _STANDS_FOR.search(piece.text):
        words |= about.subject
    own = len(about.subject & words) / len(about.subject)
    known = len(about.subject & (words | piece.named | piece.before)) / len(about.subject)
    titled = about.subject <= piece.named
    numbers = {word for word in about.subject if word.isdigit()}
    if known < KNOWN or (not own and not titled) or not numbers <= words | piece.named | piece.before:
        return 0.0
    side = _defines(about, piece.text) if about.what else _tells(about, piece, words, is_its_page)
    if not side:
        return 0.0
    substance = 0.5 * bool(_figures(piece.text)) + 0.5 * (80 <= len(piece.text) <= 300)
    opens = about.subject <= frozenset(roots(piece.text[: len(piece.text) // 2]))
    spoken = 0.15 * bool(_SPEAKS_AS_WE.search(piece.text))
    return 0.3 * own + 0.15 * known + 0.4 * side + 0.05 * (titled + opens) + 0.05 * substance - spoken


def _tells(about: Asked, piece: _Piece, words: frozenset[str], is_its_page: bool) -> float:
    """The question's own word for the side says most, then a heading that names it, then other words for it: where the
    sentence names the subject too or, on a page about it, has several of them."""
    text = piece.text[:1].lower() + piece.text[1:]
    told = max(({match[0] for match in side.says.finditer(text)} for side in about.sides), key=len)
    said = 0 if all(map(_YEAR.fullmatch, told)) and _REPORTS.search(text) else len(told)
    if about.side & words:
        return min(1.0, 0.8 + 0.1 * said)
    named = any(side.names.search(text) for side in about.sides)
    if any(side.asks.search(piece.headings) for side in about.sides):
        return 0.9 if said else 0.6
    if not about.subject & words:
        return 0.6 if said > 1 and is_its_page else 0.0
    if named or said > 1:
        return 0.8 if named else 0.7
    return 0.45 if said and about.subject <= words else 0.0


_YEAR = re.compile(r"(?:1[5-9]|20)\d\d")
_REPORTS = re.compile(r"[$€£¥%]|\b(?:revenues?|sales|employees|staff|profits?|turnover)\b")
"""Figures of a year are no history."""
_STANDS_FOR = re.compile(
    r"\b(?:the|this) (?:company|corporation|firm|business|group|organi[sz]ation|club|band|team|airline|university|"
    r"school|city|town|village|country|film|album|song|book|series|product|stadium|station|museum|river|lake|island)\b(?!['’])",
    re.IGNORECASE,
)
"""On a page about the subject this is its name."""
_DEFINES = re.compile(
    r"\b(?:is|are|was|were) (?:also |often |usually |generally |commonly )?[\"“]?(?:an?|the|one|any|defined|known|"
    r"called|considered)\b|\b(?:refers?|referring) to\b|\bmeans?\b|\bdenotes?\b|\bdescribes?\b|\bconsists? of\b",
    re.IGNORECASE,
)
_ASIDE = re.compile(r"\([^()]*\)|,[^,]*,")


def _defines(about: Asked, text: str) -> float:
    """ "X is …" says it best; "formal X is …" and "X and Y are …" speak of something narrower or wider."""
    verb = _DEFINES.search(text)
    if verb is None:
        return 0.0
    before = roots(_ASIDE.sub(" ", text[: verb.start()]), telling=True)
    count = len(about.subject)
    if set(before) == about.subject:
        return 1.0
    if len(before) > count + 2:
        return 0.0
    return 0.5 if about.subject in (set(before[:count]), set(before[-count:])) else 0.0


# ── pieces of a page ─────────────────────────────────────────────────────────────────────────────────────────────────

_TO_VISITORS = re.compile(
    r"©|\b(?:cookies?|privacy (?:policy|settings)|consent to|subscribe|sign(?:ing)? (?:up|in)|log ?in|newsletter|"
    r"copyright|all rights reserved|click (?:here|on|the)|read (?:more|on|the full)|learn more|follow us|"
    r"share (?:this|on)|contact us|terms (?:of|and) (?:use|service|conditions)|(?:this|our|in the following) "
    r"(?:article|post|blog|guide|page|website|site|section)|in this (?:issue|edition|episode)|"
    r"skip to|enable javascript|advertisement|shopping cart|"
    r"leave a (?:comment|reply)|posted (?:on|by)|let us know|get (?:started|in touch))\b",
    re.IGNORECASE,
)
_SPEAKS_AS_WE = re.compile(r"\b(?:I|[Ww]e|[Oo]ur|us|my|[Yy]our?|[Ll]et['’]s)\b")
_LEANS_BACK = re.compile(
    r"(?:it(?! is (?:\w+ )?(?:possible|important|clear|likely|estimated|known|hard|difficult|easy|worth|necessary)\b)|"
    r"its|this|these|those|they|their|them|he|she|his|her|such|both (?:of|are|were|have|had)|another|that|here|"
    r"there(?! (?:is|are|was|were))|the (?:former|latter|same)|as a result|for this reason|one of (?:these|them))\b",
    re.IGNORECASE,
)
_WHOLE = re.compile(r"(?<![.…])[.!][\"”’')\]*_]*(?:\[[^\]\n]{1,20}\])*$")
_NO_PROSE = re.compile(r"[|›»]|\w > \w|\n[A-Z][\w ]{2,20}:\s|https?://|\bwww\.|^\[\d+\]")
"""Cells, paths of a menu, addresses and notes, and a labelled line that was taken for the rest of the one above it."""
_LABEL = re.compile(r"(?:Description|Summary|Abstract|Answer|Note|Tip):\s+")
_ITEM = re.compile(r"\s*(?:[-*+•·▪◦–]|\(?\d{1,2}[.)])\s*")


def _pieces(text: str, title: str, section: Section) -> Iterator[_Piece]:
    over = (*section.above, *section.heading[-2:])
    headings = "\n".join(text[line.start : line.end] for line in over)
    named = frozenset(roots(f"{title}\n{headings}"))
    before: Line | None = None
    for line in section.body:
        start = line.start
        if _LEANS_BACK.match(text, line.start) and before and text[before.end : line.start] == " ":
            start = before.start
        if label := _LABEL.match(text, start):
            start = label.end()
        said = text[start : line.end]
        if _is_statement(text, start, line.end) and not _LEANS_BACK.match(said):
            earlier = frozenset(roots(text[before.start : before.end])) if before else frozenset()
            yield _Piece(start=start, end=line.end, text=said, headings=headings, named=named, before=earlier)
        before = line
    for start, end in (*_lists(text, section), *_tables(text, section)):
        yield _Piece(start=start, end=end, text=text[start:end], headings=headings, named=named)


def _is_statement(text: str, start: int, end: int) -> bool:
    """Whether it is a whole sentence, or an item of a list that says as much, and is said to readers."""
    said = text[start:end]
    first = next((character for character in said if character.isalnum()), "")
    whole = bool(_WHOLE.search(said)) or (_is_item(text, start) and not said.endswith(("?", ":", "…", "...", ",", ";")))
    return (
        SHORTEST <= len(said) <= LONGEST
        and len(said.split()) >= FEWEST_WORDS
        and whole
        and not _NO_PROSE.search(said)
        and not first.islower()
        and said.count('"') % 2 == 0
        and said.count("“") == said.count("”")
        and not _TO_VISITORS.search(said)
        and not is_navigation(said)
    )


def _is_item(text: str, start: int) -> bool:
    return _ITEM.fullmatch(text, text.rfind("\n", 0, start) + 1, start) is not None


def _lists(text: str, section: Section) -> Iterator[tuple[int, int]]:
    """Short items say nothing alone: they are told together with what stands right above them."""
    over = (*section.above, *section.heading)
    lead = over[-1] if over else None
    end, items = 0, 0
    for line in (*section.body, None):
        item = line is not None and _is_item(text, line.start) and not _TO_VISITORS.search(text, line.start, line.end)
        if line and lead and item and line.end - lead.start <= LONGEST:
            end, items = line.end, items + 1
            continue
        if lead and items > 1 and end - lead.start >= SHORTEST:
            yield lead.start, end
        lead = line if line and text[line.end - 1] == ":" else None
        end, items = 0, 0


_ROW = re.compile(r"^[^\n|]*\|[^\n]*\|[^\n]*$", re.MULTILINE)


def _tables(text: str, section: Section) -> Iterator[tuple[int, int]]:
    """The head of a table with as many rows as fit."""
    rows = [line for line in section.body if _ROW.search(text, line.start, line.end)]
    if len(rows) < 2:
        return
    start = text.rfind("\n", 0, rows[0].start) + 1
    ends = [row.end for row in rows[1:] if row.end - start <= LONGEST and "\n\n" not in text[start : row.end]]
    if ends and ends[-1] - start >= SHORTEST:
        stop = text.find("\n", ends[-1])
        yield start, stop if 0 <= stop - start <= LONGEST else ends[-1]
