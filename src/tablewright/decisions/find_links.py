"""Find links: the things that a question describes without naming them, and the names that may be theirs.

"Who left the band with the single Church of Noise?" names no band. A table row, or a page, that holds what the question
says of it does: its name is searched for next, and the question is asked of what is found.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from pydantic import BaseModel
from pydantic import Field as Key

from tablewright.decisions.decision import Prompt, Unusable
from tablewright.decisions.hops.asking import asking, telling
from tablewright.decisions.hops.rows import Cell, Meant, TableRow, called, meant, tables
from tablewright.decisions.titles import names_a_thing, thing_of
from tablewright.extraction.passages import passages
from tablewright.extraction.spans import spans
from tablewright.table.evidence import evidence_for, locate, stands_in
from tablewright.table.model import Evidence, Noun
from tablewright.table.retrieved import Retrieved
from tablewright.table.text import plural
from tablewright.table.untrusted import WARNING, block, gives_orders, is_tainted, question_block

MOST = 3
LEAST = 0.12
"""The score under which a name is no link."""
LONG_CELL = 6
"""Words: a longer cell is a description, and the names in it may be links."""
LINES_SHOWN = 12
LONGEST_LINE = 400
QUERY_WORDS = 6
UNSEEN = 0.5
AGREED, TOLD = 0.9, 0.6
"""Scores of names that a model gives: with the rule, and alone."""
BESIDE = 0.55
"""How much of a page's score a name has that only stands in its best sentence."""

INSTRUCTIONS = (
    "A question describes something without naming it: a person, a place, a work, a team. Find in the texts the name "
    "of the thing that it describes, so that it can be looked up. Write `name`, the name as a text has it, never the "
    "answer to the question itself; and `quote`, the few words that show that it is the one, copied exactly. Give the "
    "likeliest first, at most {most}. If no text names it, give none. " + WARNING
)


class FindLinks(Noun, frozen=True):
    question: str
    sources: tuple[Retrieved, ...]
    most: int = MOST


class Link(Noun, frozen=True):
    """`evidence` is the row or sentence that shows that `name` is meant; `query` what to search for next; `question`
    the question with the name in the place of the description."""

    name: str
    evidence: Evidence
    query: str
    question: str
    score: float


class NamedThing(BaseModel):
    name: str = Key(max_length=120)
    quote: str = Key(max_length=240)


class Named(BaseModel):
    links: list[NamedThing] = Key(max_length=5)


class LinkFinder:
    name = "find links"

    def prompt(self, asked: FindLinks) -> Prompt:
        lines = _best_lines(asked)
        texts = "\n\n".join(
            block(number, "\n".join(lines[number]), asked.sources[number - 1].title) for number in sorted(lines)
        )
        return Prompt(
            instructions=INSTRUCTIONS.format(most=asked.most),
            text=f"{texts}\n\n{question_block(asked.question)}",
            reply=Named,
            max_tokens=80 * asked.most,
        )

    def check(self, asked: FindLinks, reply: Any) -> tuple[Link, ...]:
        """Names that stand in a text, with the quote if it is there, else with the line of the name; behind them those
        of the rule. One that only the model gives is believed less."""
        ruled = {called(link.name): link for link in self.fallback(asked)}
        links: dict[str, Link] = {}
        unknown = []
        for place, said in enumerate(reply.links):
            name = said.name.strip()
            if not name or called(name) in links:
                continue
            if (evidence := _shown(asked.sources, name, said.quote)) is None:
                unknown.append(name)
                continue
            score = round((AGREED if called(name) in ruled else TOLD) - 0.15 * place, 4)
            links[called(name)] = _link(asked.question, name, evidence, telling(evidence.quote), score)
        if unknown and not links:
            shown = tuple(ruled.values())
            raise Unusable(f"no text has the {plural('name', len(unknown))} {', '.join(unknown)}.", usable=shown)
        return tuple((links | {key: link for key, link in ruled.items() if key not in links}).values())[: asked.most]

    def fallback(self, asked: FindLinks) -> tuple[Link, ...]:
        best: dict[str, Link] = {}
        for link in (*_from_tables(asked), *_from_pages(asked)):
            key = called(link.name)
            if key and (key not in best or best[key].score < link.score):
                best[key] = link
        ranked = sorted(best.values(), key=lambda link: -link.score)
        return tuple(link for link in ranked if link.score >= LEAST)[: asked.most]


# ── names in tables and on pages ─────────────────────────────────────────────────────────────────────────────────────


def _from_tables(asked: FindLinks) -> Iterator[Link]:
    weights = weigh(asked.question, asked.sources)
    said = _said(weights, asked.sources)
    for source in asked.sources:
        about_title = {name: words for name, words in said.items() if name != called(thing_of(source))}
        for table in tables(source.text):
            for row in meant(asked.question, thing_of(source), table, weights, about_title):
                yield from _from_row(asked.question, source, row)


def _from_row(question: str, source: Retrieved, found: Meant) -> Iterator[Link]:
    if is_tainted(source.text, found.row.start, found.row.end):
        return
    evidence = evidence_for(source, found.row.start, found.row.end)
    described = telling(" ".join([thing_of(source), *(f"{cell.heading} {cell.text}" for cell in found.row.cells)]))
    for name, fit in _names(question, found.row):
        score = round(min(1.0, found.worth) * (0.5 + 0.5 * found.sure) * fit, 4)
        yield _link(question, name, evidence, described, score)


def _names(question: str, row: TableRow) -> Iterator[tuple[str, float]]:
    """The names that the cells of a row give, and how well each would fit as the thing that is described."""
    asked = set(telling(question))
    wanted = asking(question).head
    lettered = [cell for cell in row.cells if re.search(r"[^\W\d_]{2}", cell.text)]
    for place, cell in enumerate(lettered):
        words = set(telling(cell.text))
        if not words:
            continue
        named = words <= asked
        fit = _fit(cell, asked, wanted, first=place == 0) * (0.45 if named else 1.0)
        if len(cell.text.split()) <= LONG_CELL:
            yield _tidy(cell.text), fit
            continue
        for span in spans("name", cell.text):
            inside = set(telling(span.value))
            if inside and not inside <= asked:
                yield span.value, fit * 0.6


def _fit(cell: Cell, asked: set[str], wanted: str, *, first: bool) -> float:
    heading = set(telling(cell.heading))
    if heading & (asked - {wanted}):
        return 1.0
    return 0.8 if first or heading & _NAMING else 0.55


_NAMING = frozenset(
    word for each in "name title team player artist film person club school".split() for word in telling(each)
)


def _tidy(text: str) -> str:
    """Without the marks and counts that lists put behind a name: "Hellaro *", "Dempo (3)"."""
    return re.sub(r"\s*(?:[*†‡§#^]+|\(\d*\)|\[\w*\])\s*", " ", text).strip(" ,;") or text.strip()


def _from_pages(asked: FindLinks) -> Iterator[Link]:
    """A page that says in one place what the question says of the thing is the thing's own."""
    weights = weigh(asked.question, asked.sources)
    whole = sum(weights.values()) or 1.0
    for source in asked.sources:
        if set(telling(thing_of(source))) <= set(weights) or tables(source.text):
            continue
        found = _best_sentence(weights, source)
        if found is not None and not is_tainted(source.text, found[1], found[2]):
            words, start, end = found
            score = round(0.8 * sum(weights[word] for word in words) / whole, 4)
            name = thing_of(source)
            evidence = evidence_for(source, start, end)
            sentence = source.text[start:end]
            if names_a_thing(name):
                yield _link(asked.question, name, evidence, sorted(words), score)
                sentence = f"{name}. {sentence}"
            for span in spans("name", sentence):
                inside = set(telling(span.value))
                if inside and not inside <= set(weights) and called(span.value) != called(name):
                    yield _link(asked.question, span.value, evidence, sorted(words), round(score * BESIDE, 4))


def _said(weights: Mapping[str, float], sources: Sequence[Retrieved]) -> dict[str, frozenset[str]]:
    """What the page of each name says of the question, in one sentence."""
    found = {}
    for source in sources:
        if not tables(source.text) and (best := _best_sentence(weights, source)):
            found[called(thing_of(source))] = best[0] - frozenset(telling(thing_of(source)))
    return found


def _best_sentence(weights: Mapping[str, float], source: Retrieved) -> tuple[frozenset[str], int, int] | None:
    best: tuple[float, frozenset[str], int, int] | None = None
    for sentence in passages(source.text).sentences[:200]:
        words = frozenset(telling(sentence.text)) & frozenset(weights)
        held = sum(weights[word] for word in words)
        if words and (best is None or held > best[0]):
            best = held, words, sentence.start, sentence.start + len(sentence.text)
    return best[1:] if best else None


def weigh(question: str, sources: Sequence[Retrieved]) -> dict[str, float]:
    """How much each telling word of the question counts: the rarer in the lines of the texts, the more. One that no
    text has can tell none from another."""
    pieces = [piece for source in sources for piece in _pieces(source.text)]
    words = set(telling(question))
    seen = Counter(word for piece in pieces for word in words & piece)
    return {
        word: math.log(1 + (len(pieces) + 1) / (0.5 + seen[word])) * (1.0 if seen[word] else UNSEEN)
        for word in sorted(words)
    }


def _pieces(text: str) -> Iterator[frozenset[str]]:
    for start, end in passages(text).pieces[:2_000]:
        yield frozenset(telling(text[start:end]))


# ── a link ───────────────────────────────────────────────────────────────────────────────────────────────────────────


def _link(question: str, name: str, evidence: Evidence, described: Sequence[str], score: float) -> Link:
    left = undescribed(question, described)
    query = " ".join([name, *[word for word in left if called(word) not in called(name).split()][:QUERY_WORDS]])
    return Link(name=name, evidence=evidence, query=query, question=put_in(question, name, described), score=score)


_WORD = re.compile(r"[^\W_]+(?:['’.,-][^\W_]+)*")
_QUESTION_WORDS = re.compile(r"(?:who|whom|whose|what|which|when|where|how|many|much)", re.IGNORECASE)


def undescribed(question: str, described: Sequence[str]) -> list[str]:
    """The words of the question that ask, without those that only describe."""
    known = set(described)
    words = _WORD.findall(question)
    return [
        word
        for word in words
        if (own := telling(word)) and not set(own) <= known and not _QUESTION_WORDS.fullmatch(word)
    ]


_DETERMINER = re.compile(r"\b(?:the|this|these|that|those|an?)\b", re.IGNORECASE)
_MODIFIED = re.compile(
    r"\b(?:the|this|these|an?) (?:[\w-]+ ){1,3}(?:with|who|that|where|(?:in |at |for )?which|whose|when)"
    r"(?: [\w.-]+){0,3} $",
    re.IGNORECASE,
)
APART = 4
"""Words that may stand between two that describe the same thing."""


def put_in(question: str, name: str, described: Sequence[str]) -> str:
    """The question with the name where its description stands: from its article to the last word that describes."""
    known = set(described) - set(telling(asking(question).noun))
    groups: list[list[tuple[int, int, int]]] = []
    for place, found in enumerate(_WORD.finditer(question)):
        own = telling(found[0])
        if place and own and set(own) <= known:
            if groups and place - groups[-1][-1][0] <= APART:
                groups[-1].append((place, found.start(), found.end()))
            else:
                groups.append([(place, found.start(), found.end())])
    if not groups:
        return question
    most = max(groups, key=len)
    first, last = most[0][1], most[-1][2]
    near = [
        each.start()
        for each in _DETERMINER.finditer(question, 0, first)
        if question.count(" ", each.start(), first) <= 3
    ]
    start = near[-1] if near else first
    while longer := _MODIFIED.search(question[:start]):
        start = longer.start()
    return " ".join(f"{question[:start]}{name}{question[last:]}".split())


# ── for a model ──────────────────────────────────────────────────────────────────────────────────────────────────────


def _best_lines(asked: FindLinks) -> dict[int, list[str]]:
    """The lines that hold most of the question, under the number of their source, in order; a table's with its
    headings."""
    weights = weigh(asked.question, asked.sources)
    held: list[tuple[float, int, int, int]] = []
    for number, source in enumerate(asked.sources, start=1):
        for start, end in passages(source.text).pieces[:2_000]:
            words = frozenset(telling(source.text[start:end])) & frozenset(weights)
            if worth := sum(weights[word] for word in words):
                held.append((worth, number, start, end))
    best = sorted(sorted(held, key=lambda line: -line[0])[:LINES_SHOWN], key=lambda line: line[1:3])
    lines: dict[int, list[str]] = {}
    for _, number, start, end in best:
        text = asked.sources[number - 1].text
        heading = next((_headings(table) for table in tables(text) if table[0].start <= start <= table[-1].end), "")
        shown = lines.setdefault(number, [heading] if heading else [])
        shown.append(text[start:end][:LONGEST_LINE])
    return lines


def _headings(table: Sequence[TableRow]) -> str:
    return " | ".join(cell.heading for cell in table[0].cells)


def _shown(sources: Sequence[Retrieved], name: str, quote: str) -> Evidence | None:
    """The quote, where it stands beside the name; else the line with the name."""
    if gives_orders(name):
        return None
    for source in sources:
        place = locate(quote, source.text)
        titled = stands_in(name, source.title)
        if place and (titled or stands_in(name, source.text[slice(*place)])) and not is_tainted(source.text, *place):
            return evidence_for(source, *place)
    for source in sources:
        for start, end in passages(source.text).pieces:
            if stands_in(name, source.text[start:end]) and not is_tainted(source.text, start, end):
                return evidence_for(source, start, end)
    return None
