"""Write a section: a few statements from the passages that were found, each with the passage that it stands on.

A model names the passage of each statement. Code checks that the passage bears it, writes the passage's own words where
it does not, and sets the citation itself. Without a model a section is the passages' own sentences.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any

from pydantic import BaseModel
from pydantic import Field as Key

from tablewright.decisions.citations import unsupported
from tablewright.decisions.decision import Prompt, Unusable
from tablewright.decisions.judge_claim import ClaimPassage, Judge, JudgeClaim
from tablewright.decisions.rank_passages import copies
from tablewright.models.tokens import estimate_tokens
from tablewright.table.model import Noun
from tablewright.table.research import Passage, Sentence
from tablewright.table.untrusted import WARNING, block, clean, gives_orders, question_block
from tablewright.text.sections import readable
from tablewright.text.words import roots

BUDGET = 1_500
"""Tokens of the passages that are sent."""
FEWEST, MOST = 2, 6
"""Sentences of a section."""
MOST_REPEATED = 12
"""Sentences of earlier sections that the model is shown."""
LONGEST_STATEMENT = 400

INSTRUCTIONS = (
    "You write one section of a report with nothing but the numbered passages below. Give 2 to 6 statements that "
    "answer the section's question, in an order that reads well. For each write `passage`, the number of the passage "
    "that says it, and `statement`, one plain sentence that says no more than that passage: its numbers, names and "
    "conditions stay as they are. Write no numbers of passages, no addresses and no opinion into a statement. Do not "
    "repeat what earlier sections said. " + WARNING
)

REPEATED = "an earlier section says it"


class WriteSection(Noun, frozen=True):
    """`numbers` are the references' numbers, one for each passage; `written` are the sentences of earlier sections."""

    heading: str
    question: str
    passages: tuple[Passage, ...]
    numbers: tuple[int, ...]
    written: tuple[str, ...] = ()


class Written(Noun, frozen=True):
    """`dropped` says what was left out or put into the source's own words, and why."""

    sentences: tuple[Sentence, ...] = ()
    dropped: tuple[str, ...] = ()


class Said(BaseModel):
    passage: int
    statement: str = Key(max_length=LONGEST_STATEMENT)


class Statements(BaseModel):
    statements: list[Said] = Key(max_length=MOST)


class Write:
    name = "write section"

    def prompt(self, asked: WriteSection) -> Prompt:
        parts = [question_block(f"Section: {asked.heading}\nQuestion: {asked.question}")]
        if asked.written:
            parts.append(f"Earlier sections said:\n{block(0, chr(10).join(asked.written[-MOST_REPEATED:]))}")
        parts += [block(place + 1, _own_words(each), each.evidence.title) for place, each in enumerate(fit(asked))]
        return Prompt(instructions=INSTRUCTIONS, text="\n".join(parts), reply=Statements, max_tokens=600)

    def check(self, asked: WriteSection, reply: Any) -> Written:
        """What the passages bear. Only a reply of which nothing is left is worth a second question."""
        draft = _Draft(asked)
        sent = len(fit(asked))
        for said in reply.statements:
            text = plain(said.statement)
            if not 1 <= said.passage <= sent:
                draft.drop(text, f"there is no passage {said.passage}")
            elif problem := _problem(text, asked.passages[said.passage - 1]):
                draft.put_in_own_words(text, problem, said.passage - 1)
            else:
                draft.add(text, said.passage - 1)
        if asked.passages and not draft.believed:
            said = "; ".join(draft.dropped) or "there is no statement"
            raise Unusable(said, usable=self._with_dropped(asked, draft.dropped))
        draft.fill(FEWEST)
        return draft.written()

    def fallback(self, asked: WriteSection) -> Written:
        """The passages' own sentences, the best first: it is followed by the others of its source in their order."""
        draft = _Draft(asked)
        draft.fill(MOST)
        return draft.written(grouped=True)

    def _with_dropped(self, asked: WriteSection, dropped: Iterable[str]) -> Written:
        own = self.fallback(asked)
        return Written(sentences=own.sentences, dropped=(*dropped, *own.dropped))


def fit(asked: WriteSection) -> tuple[Passage, ...]:
    """The passages that fit into the budget, the best first; at least one."""
    left, kept = BUDGET, 0
    for passage in asked.passages:
        left -= estimate_tokens(_own_words(passage)) + estimate_tokens(passage.evidence.title) + 24
        if left < 0 and kept:
            break
        kept += 1
    return asked.passages[:kept]


# ── the draft ────────────────────────────────────────────────────────────────────────────────────────────────────────


def _says_more(text: str, heading: str) -> bool:
    """Than the name that stands over the section: "About Acme." says nothing of Acme."""
    return bool(set(roots(text)) - set(roots(f"{heading} about the welcome to home page")))


class _Draft:
    """The sentences so far, each with the place of its passage: none that was said before."""

    def __init__(self, asked: WriteSection) -> None:
        self._asked = asked
        self._said: list[tuple[str, list[int]]] = []
        self.dropped: list[str] = []
        self.believed = False
        """Whether a statement stands as it was written."""

    def add(self, text: str, place: int) -> None:
        self.believed = True
        self._keep(text, place)

    def put_in_own_words(self, text: str, problem: str, place: int) -> None:
        if place in self._used():
            self.drop(text, problem)
        else:
            self.dropped.append(f"{text!r}: {problem}; the source's own words stand instead")
            self._keep(_own_words(self._asked.passages[place]), place)

    def drop(self, text: str, problem: str) -> None:
        self.dropped.append(f"{text!r}: {problem}; left out")

    def fill(self, count: int) -> None:
        """With the own words of passages that are not used yet, the best first, up to that many sentences."""
        for place, passage in enumerate(self._asked.passages):
            if len(self._said) >= count:
                return
            text = _own_words(passage)
            if place not in self._used() and not gives_orders(text) and _says_more(text, self._asked.heading):
                self._keep(text, place)

    def written(self, *, grouped: bool = False) -> Written:
        said = sorted(self._said, key=self._group) if grouped else self._said
        made = tuple(
            Sentence(text=text, citations=tuple(sorted({self._asked.numbers[place] for place in places})))
            for text, places in said
        )
        return Written(sentences=made, dropped=tuple(self.dropped))

    def _keep(self, text: str, place: int) -> None:
        """A sentence that stands here already, from another source, is said once and cites both."""
        for said, places in self._said:
            if copies(said, text):
                if not _problem(said, self._asked.passages[place]):
                    places.append(place)
                return
        if any(copies(earlier, text) for earlier in self._asked.written):
            self.drop(text, REPEATED)
        elif len(self._said) < MOST:
            self._said.append((text, [place]))

    def _used(self) -> set[int]:
        return {place for _, places in self._said for place in places}

    def _group(self, said: tuple[str, Sequence[int]]) -> tuple[int, int]:
        evidence = [each.evidence for each in self._asked.passages]
        own = evidence[said[1][0]]
        first = next(place for place, each in enumerate(evidence) if each.origin == own.origin)
        return first, own.start or 0 if said[1][0] > first else -1


# ── what is believed ─────────────────────────────────────────────────────────────────────────────────────────────────

_STRONGER = re.compile(
    r"\b(?:most|largest|biggest|highest|lowest|best|worst|greatest|only|all|every|always|never|none|first|leading)\b",
    re.IGNORECASE,
)


def _problem(text: str, passage: Passage) -> str:
    """Why the passage does not bear the statement; "" where it does."""
    if gives_orders(text):
        return "it gives orders"
    quote, title = _own_words(passage), passage.evidence.title
    if problem := unsupported(text, f"{title}\n{quote}"):
        return problem
    held = {word.casefold() for word in _STRONGER.findall(quote)}
    if stronger := [word for word in _STRONGER.findall(text) if word.casefold() not in held]:
        return f"the source does not say {', '.join(stronger)}"
    judged = Judge().fallback(JudgeClaim(claim=text, passages=(ClaimPassage(text=quote, title=title),)))
    return "" if judged.verdict == "supported" else judged.reason or "the source does not say all of it"


# ── how it is told ───────────────────────────────────────────────────────────────────────────────────────────────────

_MARKS = re.compile(
    r"\s*(?:\[\s*(?:(?:source|passage|text|ref\w*)\s*)?\d+(?:\s*[,;–-]\s*\d+)*\s*\]|\(\s*(?:source|passage|text)s?\s*\d*\s*\)"
    r"|\[[^\]\n]{0,12}(?:needed|who\?|when\?|edit)\])",
    re.IGNORECASE,
)
_ADDRESS = re.compile(r"\s*[(<\[]?\s*(?:https?://|www\.)[^\s)>\]]+[)>\]]?", re.IGNORECASE)
_SOURCE_SAYS = re.compile(
    r"^(?:according to|as (?:stated|noted|mentioned|described) (?:in|by))? ?(?:the |this )?"
    r"(?:source|passage|text|article|page|document)s?(?: \d+)?"
    r"(?:,| (?:says?|states?|mentions?|notes?|reports?|explains?|shows?|describes?|indicates?)(?: that\b)?[:,]?) ",
    re.IGNORECASE,
)
_CONNECTS = re.compile(
    r"^(?:however|moreover|furthermore|in addition|additionally|also|but|and|so|thus|therefore|meanwhile|for example|"
    r"for instance|on the other hand|nevertheless|nonetheless|besides|instead|consequently|similarly|finally|again|"
    r"indeed|as (?:mentioned|noted|described|discussed|seen) (?:above|earlier|before)), ",
    re.IGNORECASE,
)
_RULE_OF_TABLE = re.compile(r"[\s|:-]+")


def plain(text: str) -> str:
    """A statement without citations and addresses of its own, and without "the source says"."""
    said = _SOURCE_SAYS.sub("", _ADDRESS.sub("", _MARKS.sub("", " ".join(clean(text).split())))).strip()
    return _sentence(said)


def _own_words(passage: Passage) -> str:
    """The passage as one tells it: without marks, and without a first word that leans on what stood before it."""
    quote = clean(passage.evidence.quote)
    told = _table(quote) if quote.count("|") > 1 else readable(quote)
    return _sentence(_CONNECTS.sub("", _MARKS.sub("", " ".join(told.split()))))


def _sentence(said: str) -> str:
    said = said[:1].upper() + said[1:]
    return said if not said or said[-1] in '.!?…"”’)' else f"{said.rstrip(' ,;:')}."


def _table(quote: str) -> str:
    """ "Small tower: Price $400; Large tower: Price $2,900"."""
    lines = [line for line in quote.splitlines() if not _RULE_OF_TABLE.fullmatch(line)]
    head, *rows = ([cell.strip() for cell in line.strip().strip("|").split("|")] for line in lines)
    if not rows:
        return readable(quote.replace("|", " "))
    told = []
    for first, *others in rows:
        cells = ", ".join(f"{name} {cell}" for name, cell in zip(head[1:], others, strict=False) if cell)
        told.append(f"{first}: {cells}" if cells else first.rstrip(" .;"))
    return "; ".join(told)
