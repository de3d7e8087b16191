"""Extract fields: read all asked fields of a row from the texts at hand, each with the passage that states it."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from pydantic import BaseModel, ConfigDict, create_model
from pydantic import Field as Key

from tablewright.decisions.decision import Prompt, Unusable
from tablewright.decisions.excerpt import excerpt
from tablewright.decisions.reader import reader
from tablewright.decisions.reader.about import Subject, about, mentions
from tablewright.decisions.reader.reader import ABOUT, SURE, Candidate
from tablewright.decisions.untrusted import WARNING, block
from tablewright.table.coerce import is_not_found
from tablewright.table.evidence import follows, locate
from tablewright.table.model import Field, Noun
from tablewright.table.retrieved import Retrieved
from tablewright.table.template import replace_columns

MOST_TEXTS = 3
HEAD, A_FIELD, CONTEXT = 900, 700, 6_000
"""Characters of texts in a prompt: for a start, more for each field, and at most."""
STATED = 0.9
CONVERTED = 0.75

INSTRUCTIONS = (
    "You read texts and fill the fields of one table row. For each field first copy into `quote`, word for word, the "
    "shortest passage of a text that states it about this row; then write into `value` the value alone, as it would "
    'stand in a cell. If no text states it about this row, leave both empty (""). Use nothing but the texts. ' + WARNING
)


class Extract(Noun, frozen=True):
    subject: Subject
    fields: tuple[Field, ...]
    sources: tuple[Retrieved, ...]


class Answer(BaseModel):
    model_config = ConfigDict(extra="ignore")
    quote: str = Key(max_length=600)
    value: str = Key(max_length=400)


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
        lines = "\n".join(_line(field, asked.subject) for field in asked.fields)
        return Prompt(
            instructions=INSTRUCTIONS,
            text=f"Row: {asked.subject.described}\n\n{texts}\n\nFields of {asked.subject.name or 'the text'}:\n{lines}",
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

    def accept(self, asked: Extract, reply: Any) -> dict[str, list[Candidate]]:
        found: dict[str, list[Candidate]] = {}
        problems = []
        for place, field in enumerate(asked.fields):
            answer: Answer = getattr(reply, f"f{place}")
            candidate, problem = checked(asked, field, answer.value.strip(), answer.quote.strip())
            found[field.name] = [candidate] if candidate else []
            if problem:
                problems.append(f"{field.name}: {problem}")
        if problems:
            raise Unusable("; ".join(problems), usable=found)
        return found

    def rule(self, asked: Extract) -> dict[str, list[Candidate]]:
        found = reader.read(asked.subject, asked.fields, asked.sources)
        return {name: [candidate for candidate in each if candidate.score >= SURE] for name, each in found.items()}


def checked(asked: Extract, field: Field, value: str, quote: str) -> tuple[Candidate | None, str]:
    """The answer as a candidate, if a text has the quote, the value follows from it and it is about the row."""
    if not value or is_not_found(value):
        return None, ""
    if not quote:
        return None, "there is no quote. Copy it from a text, or leave both empty."
    problem = "the quote stands in no text. Copy a passage word for word, or leave both empty."
    for number, source in enumerate(asked.sources):
        place = locate(quote, source.text)
        if place is None:
            continue
        start, end = place
        how = follows(value, source.text[start:end], field)
        if not how:
            problem = (
                f"{value!r} does not follow from the quote. Give the value as the quote has it, or leave both empty."
            )
            continue
        fit = about(asked.subject, source.title, source.text)
        if fit < ABOUT and not mentions(asked.subject, source.text[start:end]):
            problem = f"that text is not about {asked.subject.name}. Leave both empty unless another text states it."
            continue
        score = (STATED if how in ("verbatim", "number", "date", "amount") else CONVERTED) * max(fit, 0.6)
        return (
            Candidate(
                field=field.name, value=value, source=number, start=start, end=end, score=score, how=f"model, {how}"
            ),
            "",
        )
    return None, problem


def _line(field: Field, subject: Subject) -> str:
    kind = f"one of {', '.join(field.options)}" if field.options else field.type
    unit = f" in {field.unit}" if field.unit else ""
    question = replace_columns(field.question, lambda column: subject.context.get(column, subject.name))
    return f"- {field.name} ({kind}{unit})" + (f": {question}" if question else "")


@lru_cache(maxsize=256)
def reply_for(names: tuple[str, ...]) -> type[BaseModel]:
    """A form with one answer a field, under the field's own name; made once for the same fields."""
    fields: dict[str, Any] = {f"f{place}": (Answer, Key(alias=name)) for place, name in enumerate(names)}
    return create_model("Answers", __config__=ConfigDict(populate_by_name=True), **fields)
