"""Extract fields: read all asked fields of a row from the texts at hand, each with the passage that states it.

A model names a value and the words that state it. Its quote is only a hint: code looks for it, and where the words are
not quite those of the text, for another passage that states the value. What no passage states is not believed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Any

from pydantic import BaseModel, ConfigDict, create_model
from pydantic import Field as Key

from tablewright.decisions.decision import Prompt, Unusable
from tablewright.decisions.excerpt import excerpt
from tablewright.extraction import reader
from tablewright.extraction.about import Subject, about, mentions
from tablewright.extraction.candidate import Candidate
from tablewright.extraction.kinds import typed
from tablewright.extraction.passages import passages
from tablewright.extraction.reader import ABOUT, SURE
from tablewright.extraction.relations import Kind, normal
from tablewright.extraction.wanted import wanted
from tablewright.table.coerce import is_not_found
from tablewright.table.evidence import follows, locate
from tablewright.table.model import Field, Noun
from tablewright.table.numbers import read_numbers
from tablewright.table.retrieved import Retrieved
from tablewright.table.template import replace_columns
from tablewright.table.untrusted import WARNING, block

MOST_TEXTS = 3
HEAD, A_FIELD, CONTEXT = 900, 700, 6_000
"""Characters of texts in a prompt: for a start, more for each field, and at most."""
QUOTED, STATED, CONVERTED = 0.98, 0.94, 0.8
"""How much an answer is worth whose quote was found, whose value stands in another passage, or follows by a rule."""
PASSAGES_TRIED = 400

INSTRUCTIONS = (
    "You fill the fields of one table row from texts. For each field write `value`: the shortest answer, as it would "
    "stand in a cell, never a sentence; and `quote`: the few words of the text that state it, copied exactly. If no "
    'text states it about this row, leave both empty (""). Use nothing but the texts. ' + WARNING
)
KINDS: dict[Kind, str] = {
    "year": "a year",
    "date": "a date",
    "money": "an amount of money",
    "measure": "a number with its unit",
    "count": "a number",
    "number": "a number",
    "person": "a person's name",
    "city": "a city or town",
    "state": "a state or province",
    "country": "a country",
    "nationality": "a nationality",
    "place": "a place",
    "organisation": "a name",
    "name": "a name",
    "title": "a title",
    "code": "a code",
    "url": "a web address",
    "yesno": "yes or no",
}
EXACT: frozenset[Kind] = frozenset({"year", "count", "number", "code", "url"})
COUNTED: frozenset[Kind] = frozenset({"year", "date", "money", "measure", "count", "number"})
NAMED: frozenset[Kind] = frozenset({"person", "organisation", "name"})
"""Kinds of which an answer that says more is cut to the one it holds; names only where a description goes before."""


class Extract(Noun, frozen=True):
    """`known` are the fields that have an answer already: for their sake a model is not asked a second time."""

    subject: Subject
    fields: tuple[Field, ...]
    sources: tuple[Retrieved, ...]
    known: frozenset[str] = frozenset()


class Answer(BaseModel):
    model_config = ConfigDict(extra="ignore")
    value: str = Key(max_length=160)
    quote: str = Key(max_length=240)


class ExtractFields:
    """Decides the candidates of each field, the best first; a field nobody could read has none."""

    name = "extract fields"

    def prompt(self, asked: Extract) -> Prompt:
        sources = self._worth_reading(asked)
        share = min(CONTEXT, HEAD + A_FIELD * len(asked.fields)) // max(1, len(sources)) + HEAD // 2
        texts = "\n\n".join(
            block(number, excerpt(source.text, asked.fields, share), source.title)
            for number, source in enumerate(sources, start=1)
        )
        lines = "\n".join(described(field, asked.subject) for field in asked.fields)
        return Prompt(
            instructions=INSTRUCTIONS,
            text=f"{texts}\n\nRow: {asked.subject.described}\nFields of {asked.subject.name or 'the text'}:\n{lines}",
            reply=reply_for(tuple(field.name for field in asked.fields)),
            max_tokens=60 + 90 * len(asked.fields),
        )

    def has_something_to_read(self, asked: Extract) -> bool:
        """Without a text about the row a model has nothing to answer from, whatever it may say."""
        return bool(self._worth_reading(asked))

    def _worth_reading(self, asked: Extract) -> list[Retrieved]:
        """The texts that are about the row, the surest first."""
        fits = [(about(asked.subject, source.title, source.text), source) for source in asked.sources]
        ranked = sorted(fits, key=lambda entry: -entry[0])
        return [source for fit, source in ranked if fit >= ABOUT or mentions(asked.subject, source.text)][:MOST_TEXTS]

    def check(self, asked: Extract, reply: Any) -> dict[str, list[Candidate]]:
        """What passages support. Only an answer without anything of use is worth a second question: a model that makes
        up one value among good ones makes it up again."""
        found: dict[str, list[Candidate]] = {}
        problems = []
        for place, field in enumerate(asked.fields):
            answer: Answer = getattr(reply, f"f{place}")
            candidate, problem = supported(asked, field, answer.value.strip(), answer.quote.strip())
            found[field.name] = [candidate] if candidate else []
            if problem and field.name not in asked.known:
                problems.append(f"{field.name}: {problem}")
        if problems and not any(found.values()):
            raise Unusable("; ".join(problems), usable=found)
        return found

    def fallback(self, asked: Extract) -> dict[str, list[Candidate]]:
        found = reader.read(asked.subject, asked.fields, asked.sources)
        return {name: [candidate for candidate in each if candidate.score >= SURE] for name, each in found.items()}


def supported(asked: Extract, field: Field, value: str, quote: str) -> tuple[Candidate | None, str]:
    """The answer as a candidate, if a passage about the row states it; else what is wrong with it, "" for no answer."""
    if not value or is_not_found(value):
        return None, ""
    value = _cut(value, field)
    if normal(value) == normal(asked.subject.name):
        return None, f"{value!r} is only the name of the row. Leave both empty if no text states the {field.name}."
    if not _may_be(value, field):
        kind = KINDS[wanted(field).kind]
        return None, f"{value!r} is not {kind}. Write {kind} that a text states for {field.name}, or leave both empty."
    best: Candidate | None = None
    elsewhere = False
    for number, source in enumerate(asked.sources):
        fit = about(asked.subject, source.title, source.text)
        for start, end, worth in _passages(value, quote, source, field):
            passage = source.text[start:end]
            how = follows(value, passage, field)
            if not how:
                continue
            if fit < ABOUT and not mentions(asked.subject, passage):
                elsewhere = True
                continue
            score = round(min(worth, CONVERTED if how.startswith(("unit", "words")) else worth) * max(fit, 0.6), 4)
            if best is None or score > best.score:
                best = Candidate(
                    field=field.name, value=value, source=number, start=start, end=end, score=score, how=f"model, {how}"
                )
            break
    if best is not None:
        return best, ""
    if elsewhere:
        return None, f"only a text about something else than {asked.subject.name} says {value!r}. Leave both empty."
    return None, f"no text says {value!r}. Copy the value as a text has it, or leave both empty."


def _passages(value: str, quote: str, source: Retrieved, field: Field) -> Iterator[tuple[int, int, float]]:
    """The quote where it stands, then other passages, those that speak of the field first."""
    if quote and (place := locate(quote, source.text)):
        yield *place, QUOTED
    words = {word[:6] for word in wanted(field).words}
    spoken = [
        (len(words & {word[:6] for word in normal(source.text[start:end]).split()}), start, end)
        for start, end in passages(source.text).pieces[:PASSAGES_TRIED]
    ]
    for _, start, end in sorted(spoken, key=lambda piece: (-piece[0], piece[1])):
        yield start, end, STATED


def _cut(value: str, field: Field) -> str:
    """The answer alone: 1998 of "opened in 1998", the name of "Swiss firm Bolliger & Mabillard"."""
    want = wanted(field)
    exact = want.kind in EXACT or (want.kind == "measure" and want.bare)
    named = want.kind in NAMED and bool(_DESCRIBED.search(value))
    held = typed(want, value) if (exact or named) and field.type in ("text", "number") else ()
    return held[0].value if len(held) == 1 else value


def _may_be(value: str, field: Field) -> bool:
    """What asks for a number is not answered without one."""
    return wanted(field).kind not in COUNTED or bool(read_numbers(value))


_DESCRIBED = re.compile(r"^(?:[A-Z][\w-]+ )?(?:[a-z-]{3,} )+(?=[A-Z])")


def described(field: Field, subject: Subject) -> str:
    """A field in a prompt: "- Founded (a year): What year was Acme founded?"."""
    want = wanted(field)
    kind = f"one of: {', '.join(field.options)}" if field.options else KINDS.get(want.kind, field.type)
    unit = f", in {want.unit}" if want.unit else ""
    question = replace_columns(field.question, subject.called)
    return f"- {field.name} ({kind}{unit})" + (f": {question}" if question else "")


@lru_cache(maxsize=256)
def reply_for(names: tuple[str, ...]) -> type[BaseModel]:
    """A form with one answer a field, under the field's own name; made once for the same fields."""
    fields: dict[str, Any] = {f"f{place}": (Answer, Key(alias=name)) for place, name in enumerate(names)}
    return create_model("Answers", __config__=ConfigDict(populate_by_name=True), **fields)
