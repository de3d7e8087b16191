"""Answer a question: a name, a number, a date or a phrase, with the words of a text that say so; nothing when unsure.

Where the question only describes a thing, `via` is its name: then the texts about that thing are read, and the words
that described it count little. Without a model the built-in reader and the sentence that holds most of the question
give the answer. What a model says counts only where a text says it.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

from msgspec import structs
from pydantic import BaseModel
from pydantic import Field as Key

from tablewright.decisions import answers
from tablewright.decisions.column_names import known_column
from tablewright.decisions.decision import Prompt, Unusable
from tablewright.decisions.excerpt import excerpt
from tablewright.decisions.find_links import Link, put_in, undescribed, weigh
from tablewright.decisions.hops.asking import Asking, asking, telling, verbs
from tablewright.decisions.hops.phrases import phrases
from tablewright.decisions.hops.rows import called, meant, tables
from tablewright.decisions.titles import thing_of
from tablewright.extraction import reader
from tablewright.extraction.about import Subject, about
from tablewright.extraction.passages import Sentence, passages
from tablewright.extraction.spans import Span
from tablewright.table.coerce import is_not_found
from tablewright.table.evidence import follows, locate
from tablewright.table.model import Field, Noun
from tablewright.table.retrieved import Retrieved
from tablewright.table.untrusted import WARNING, block, is_tainted, question_block

MOST = 3
SURE, SURE_ALONE = 0.3, 0.5
"""Under this score the rule says nothing; the second is for a question that is answered as it is, without a link."""
THROUGH, LIKELY_LINK = 0.45, 0.45
CLEAR = 0.3
"""The share of its score by which an answer must be better than any other to be beyond doubt."""
ABOUT = 0.5
MOST_SENTENCES = 200
HEAD, AT_THE_TOP = 3, 0.7
"""Sentences at the beginning of a page, which say when a life began and ended without a word for it."""
DESCRIBES = 0.25
"""How much a word counts that only describes the thing, against one that asks something of it."""
CHARACTERS, MOST_TEXTS = 5_000, 4
"""Of texts in a prompt."""
QUOTED, STATED = 0.9, 0.7

INSTRUCTIONS = (
    "You answer a question from texts. Write `value`: the shortest answer, a name, a number, a date or a few words, "
    "never a sentence; and `quote`: the few words of a text that say it, copied exactly. If no text says it, leave "
    'both empty (""). Use nothing but the texts. ' + WARNING
)


class AnswerQuestion(Noun, frozen=True):
    """`via` is the thing that a description in the question stands for, if one was found."""

    question: str
    sources: tuple[Retrieved, ...]
    via: str = ""
    most: int = MOST


class ShortAnswer(Noun, frozen=True):
    """`text` as it would stand in a cell; the words that say it are `start:end` of the source with that number."""

    text: str
    source: int
    start: int
    end: int
    score: float


class Said(BaseModel):
    value: str = Key(max_length=160)
    quote: str = Key(max_length=300)


class Answerer:
    name = "answer question"

    def prompt(self, asked: AnswerQuestion) -> Prompt:
        field = _field(asked.question)
        chosen = _read_first(asked)[:MOST_TEXTS]
        share = CHARACTERS // max(1, len(chosen))
        texts = "\n\n".join(
            block(number, excerpt(source.text, [field], share), source.title)
            for number, (_, _, source) in enumerate(chosen, start=1)
        )
        hint = f"\n{_HINT}\n{block(0, asked.via)}" if asked.via else ""
        return Prompt(
            instructions=INSTRUCTIONS,
            text=f"{texts}\n\n{question_block(asked.question)}{hint}",
            reply=Said,
            max_tokens=160,
        )

    def has_something_to_read(self, asked: AnswerQuestion) -> bool:
        """Without a text about the thing a model has nothing to answer from, whatever it may say."""
        return bool(_read_first(asked))

    def check(self, asked: AnswerQuestion, reply: Any) -> tuple[ShortAnswer, ...]:
        value = reply.value.strip().rstrip(".")
        if not value or is_not_found(value):
            return ()
        if asked.via and called(value) == called(asked.via):
            raise Unusable(
                f"{value!r} is the thing that is asked about. Leave both empty if no text answers.", usable=()
            )
        found = _stated(asked, value, reply.quote)
        if found is None:
            raise Unusable(f"no text says {value!r}. Copy the words of a text, or leave both empty.", usable=())
        return (found,)

    def fallback(self, asked: AnswerQuestion) -> tuple[ShortAnswer, ...]:
        best: dict[str, ShortAnswer] = {}
        for answer in _candidates(asked):
            key = called(answer.text) or answer.text
            if key not in best or best[key].score < answer.score:
                best[key] = answer
        ranked = sorted(best.values(), key=lambda answer: (-answer.score, answer.source, answer.start))
        least, doubt = SURE if asked.via else SURE_ALONE, _doubt(ranked)
        doubted = (structs.replace(answer, score=round(answer.score * doubt, 4)) for answer in ranked)
        return tuple(answer for answer in doubted if answer.score >= least)[: asked.most]


def through(link: Link, links: Sequence[Link], answer: ShortAnswer) -> float:
    """What an answer is worth that was found by way of a link: less by an unlikely one, or one of several. It is worth
    telling from `THROUGH` up. Measured on 113 questions: from 0.45 up 23 answers are right and 8 wrong, from 0.3 up 26
    and 18."""
    likely: float = min(1.0, link.score / LIKELY_LINK) ** 0.6
    first = max((each.score for each in links), default=link.score)
    return round(answer.score * likely * link.score / first, 4)


_HINT = "What the question describes is likely this:"


# ── with no model ────────────────────────────────────────────────────────────────────────────────────────────────────


def _doubt(ranked: Sequence[ShortAnswer]) -> float:
    """1 where the best answer stands alone, 0.5 where another is as good. Measured on questions about paragraphs: of
    the best answers 28 % are right where another is within a tenth of their score, 50 % where none is within 0.3."""
    if not ranked or not ranked[0].score:
        return 1.0
    best = ranked[0]
    own = called(best.text)
    others = [each.score for each in ranked[1:] if called(each.text) not in own and own not in called(each.text)]
    ahead = (best.score - max(others, default=0.0)) / best.score
    return 0.5 + 0.5 * min(1.0, ahead / CLEAR)


def _candidates(asked: AnswerQuestion) -> Iterator[ShortAnswer]:
    wanted = asking(asked.question)
    described = _described(asked)
    weights = weigh(asked.question, asked.sources)
    question = Worded(asked, wanted, weights, described)
    told = _told(asked)
    for number, fit, source in _read_first(asked):
        for sentence in (_head(source),) if wanted.at_the_top else passages(source.text).sentences[:MOST_SENTENCES]:
            if asked.via or (number, sentence.start) in told:
                for answer in _in_sentence(wanted, question, sentence, number, source):
                    yield structs.replace(answer, score=round(answer.score * fit, 4))
        yield from _in_rows(wanted, weights, asked, number, source)
    if asked.via:
        yield from _by_reader(asked, wanted, question, put_in(asked.question, asked.via, sorted(described)))


class Worded:
    """The words of a question: those that ask, which an answer must stand beside, and those that only describe."""

    def __init__(
        self, asked: AnswerQuestion, wanted: Asking, weights: Mapping[str, float], described: frozenset[str]
    ) -> None:
        named = frozenset(telling(asked.via))
        kind_alone = frozenset(telling(wanted.noun)[-1:]) if wanted.kinds in _SAID_BY_KIND else frozenset()
        self.named = bool(named)
        self.known = frozenset((*weights, *named))
        self.asks = {word: weight for word, weight in weights.items() if word not in named | described | kind_alone}
        self.leads = frozenset(word for word in verbs(asked.question, frozenset(self.asks)) if word not in described)
        self.describes = {word: weight for word, weight in weights.items() if word in described - named}

    def held(self, words: Collection[str]) -> float:
        """How much of what is asked stands there, from 0 to 1."""
        asks = _share(self.asks, words)
        return (1 - DESCRIBES) * asks + DESCRIBES * _share(self.describes, words) if asks else 0.0


def _share(weights: Mapping[str, float], words: Collection[str]) -> float:
    whole = sum(weights.values())
    return sum(weight for word, weight in weights.items() if word in words) / whole if whole else 0.0


_SAID_BY_KIND = (("year",), ("date",), ("city", "place"), ("country",), ("state", "place"))


def _told(asked: AnswerQuestion) -> frozenset[tuple[int, int]]:
    """Where the sentences stand that answer the question as it is."""
    texts = [(source.title, source.text) for source in asked.sources]
    found = () if asked.via else answers.tell(asked.question, texts)
    return frozenset(
        (each.text, sentence.start)
        for each in found
        for sentence in passages(asked.sources[each.text].text).sentences
        if each.start <= sentence.start < each.end
    )


def _read_first(asked: AnswerQuestion) -> list[tuple[int, float, Retrieved]]:
    """Those about the thing that is asked about, and how surely; all, where no thing is known."""
    if not asked.via:
        return [(number, 1.0, source) for number, source in enumerate(asked.sources)]
    fits = [(number, _fit(asked.via, source), source) for number, source in enumerate(asked.sources)]
    return [each for each in sorted(fits, key=lambda each: -each[1]) if each[1] >= ABOUT]


def _fit(via: str, source: Retrieved) -> float:
    name, title = called(via), called(thing_of(source))
    if name == title:
        return 1.0
    if f" {name} " in f" {title} " or f" {title} " in f" {name} ":
        return 0.85
    return 0.8 * about(Subject(name=via), source.title, source.text)


def _described(asked: AnswerQuestion) -> frozenset[str]:
    """The words of the question that the row has that names the thing: those only describe it. Without a row, those
    behind the word that begins a description."""
    if not asked.via:
        return frozenset()
    name = called(asked.via)
    words: set[str] = set()
    for source in asked.sources:
        for table in tables(source.text):
            for row in table:
                if any(_same(name, called(cell.text)) for cell in row.cells):
                    words.update(telling(source.title))
                    words.update(word for cell in row.cells for word in (*telling(cell.heading), *telling(cell.text)))
    words.update(word for each in _NAMES_IN.findall(asked.question, 1) for word in telling(each))
    begins = _BEGINS.search(asked.question, 8) if _OPENS.match(asked.question) else None
    asks = frozenset(telling(asking(asked.question).noun))
    if begins and set(telling(asked.question[: begins.start()])) - words - asks:
        words.update(telling(asked.question[begins.start() :]))
    return frozenset(words) - asks


def _same(name: str, cell: str) -> bool:
    return bool(cell) and (f" {name} " in f" {cell} " or name.startswith(f"{cell} "))


_OPENS = re.compile(r"(?:[a-z]+ )?(?:who|what|which|when|where|how)", re.IGNORECASE)
_NAMES_IN = re.compile(r"\b[A-ZÀ-Þ][\w’'.-]*|\b\d[\d.,]*")
_BEGINS = re.compile(
    r"\b(?:with|who|that|where|which|whose|when|located|based|starring|named after|"
    r"(?:held|played|directed|founded) by)\b",
    re.IGNORECASE,
)


def _in_sentence(
    wanted: Asking, question: Worded, sentence: Sentence, number: int, source: Retrieved
) -> Iterator[ShortAnswer]:
    start, end = sentence.start, sentence.start + len(sentence.text)
    titled = () if question.named else telling(source.title)
    worth = question.held({*telling(sentence.text), *titled})
    if is_tainted(source.text, start, end) or not (worth or wanted.at_the_top):
        return
    for span in phrases(wanted, sentence.text, question.known, question.leads):
        near = 1.0 if wanted.at_the_top else _nearness(wanted, span, sentence.text, question.asks)
        score = (AT_THE_TOP if wanted.at_the_top else worth**0.6) * span.sure * (0.4 + 0.6 * near)
        yield ShortAnswer(text=span.value, source=number, start=start, end=end, score=round(min(1.0, score), 4))


def _head(source: Retrieved) -> Sentence:
    """The beginning of a page, whole: abbreviations like that in "Hellaro (transl. The outburst)" end no sentence."""
    told = [each for each in passages(source.text).sentences if called(each.text) != called(source.title)]
    first = told[:HEAD]
    start, end = (first[0].start, first[-1].start + len(first[-1].text)) if first else (0, 0)
    return Sentence(text=source.text[start:end], start=start, number=0)


def _nearness(wanted: Asking, span: Span, sentence: str, weights: Mapping[str, float]) -> float:
    """How near the words of the question stand, the telling ones counting more: 1 beside them, 0 far away."""
    top = max(weights.values(), default=1.0) or 1.0
    best = 0.8 if wanted.head and wanted.head in telling(span.value) else 0.0
    for word in re.finditer(r"[^\W_]+", sentence):
        weight = max((weights.get(root, 0.0) for root in telling(word[0])), default=0.0)
        if not weight or span.start <= word.start() < span.end:
            continue
        before = word.end() <= span.start
        between = sentence[word.end() : span.start] if before else sentence[span.end : word.start()]
        apart = len(between.split()) + 2 * between.count(",") + 3 * between.count(";")
        if before and _AGENT.search(between):
            apart = min(apart, 1)  # "discovered in 1782 by the mineralogist Franz-Joseph Müller"
        best = max(best, weight / top / (1 + apart / 5))
    return best


_AGENT = re.compile(r"\bby (?:[\w-]+ ){0,4}$")


def _in_rows(
    wanted: Asking, weights: Mapping[str, float], asked: AnswerQuestion, number: int, source: Retrieved
) -> Iterator[ShortAnswer]:
    """The cell under the heading that the question asks for, in the row that it speaks of."""
    if not wanted.head:
        return
    for table in tables(source.text):
        for row in meant(asked.question, source.title, table, weights, {})[:1]:
            for cell in row.row.cells:
                if (
                    wanted.head in telling(cell.heading)
                    and cell.text
                    and not is_tainted(source.text, cell.start, cell.end)
                ):
                    yield ShortAnswer(
                        text=cell.text,
                        source=number,
                        start=row.row.start,
                        end=row.row.end,
                        score=round(min(1.0, row.worth) * row.sure, 4),
                    )


def _by_reader(asked: AnswerQuestion, wanted: Asking, question: Worded, named: str) -> Iterator[ShortAnswer]:
    """What the built-in reader finds for the question as a column, if it is of the kind that is asked for."""
    field = _field(named)
    known = known_column(field.name, field.question)
    if wanted.life or known is None or known.kind not in wanted.kinds:
        return
    for found in reader.read(Subject(name=asked.via), [field], asked.sources)[field.name]:
        passage = asked.sources[found.source].text[found.start : found.end]
        fits = any(called(span.value) == called(found.value) for span in phrases(wanted, passage, question.known))
        if found.score >= reader.SURE and fits:
            yield ShortAnswer(
                text=found.value,
                source=found.source,
                start=found.start,
                end=found.end,
                score=round(found.score * 0.8, 4),
            )


def _field(question: str) -> Field:
    """The question as a column: its name is what is asked for."""
    noun = asking(question).noun
    return Field(name=noun or " ".join(undescribed(question, ())[:3]) or "Answer", question=question)


# ── what a model said ────────────────────────────────────────────────────────────────────────────────────────────────


def _stated(asked: AnswerQuestion, value: str, quote: str) -> ShortAnswer | None:
    """The quote where it stands and says the value; else the sentence that says it and holds most of the question."""
    field = Field(name="Answer")
    for number, _, source in _read_first(asked):
        place = locate(quote, source.text)
        if place and follows(value, source.text[slice(*place)], field) and not is_tainted(source.text, *place):
            return ShortAnswer(text=value, source=number, start=place[0], end=place[1], score=QUOTED)
    weights = weigh(asked.question, asked.sources)
    best: tuple[float, ShortAnswer] | None = None
    for number, _, source in _read_first(asked):
        for start, end in passages(source.text).pieces[:2_000]:
            passage = source.text[start:end]
            if follows(value, passage, field) and not is_tainted(source.text, start, end):
                held = sum(weights.get(word, 0.0) for word in set(telling(passage)))
                if held and (best is None or held > best[0]):
                    best = held, ShortAnswer(text=value, source=number, start=start, end=end, score=STATED)
    return best[1] if best else None
