"""Answer with tools: one question about one row, by a model that may search, and open pages, before it answers.

The words it is given, and what counts as an answer. The rule beside it is the path that the strategies go without a
model; the check is that of every extraction: what no retrieved text states is not believed.
"""

from __future__ import annotations

from collections.abc import Sequence

from pydantic import BaseModel
from pydantic import Field as Key

from tablewright.decisions.choose_pages import Offer
from tablewright.decisions.excerpt import excerpt
from tablewright.decisions.extract import Extract, described, supported
from tablewright.extraction.about import Subject
from tablewright.extraction.candidate import Candidate
from tablewright.table.model import Field
from tablewright.table.retrieved import Retrieved
from tablewright.table.untrusted import WARNING, block

SNIPPET = 240
PAGE = 1_600
"""Characters of a search result and of a page that a model is shown: the passages that matter, not the first ones."""

_CELL = (
    "The value goes into a table cell: the shortest answer, never a sentence. The quote is the few words of a text "
    'that state it, copied exactly. If no text states it about this row, leave both empty (""). Never answer from '
    "memory. "
)
LOOKUP = (
    "You answer one question about one table row from search results alone. If a result states the answer, answer at "
    "once. If none does, search once more with other words. " + _CELL + WARNING
)
EXPLORATORY = (
    "You answer one question about one table row. Open the search result that is most likely to state the answer, read "
    "it, and answer as soon as a text states it. If it does not, open another result or search with other words. "
    + _CELL
    + WARNING
)
COMPREHENSIVE = (
    "You answer one question about one table row, thoroughly: search from several angles, read two or three pages of "
    "different sites, and compare what they say before you answer. Where they differ, take the best supported. "
    + _CELL
    + WARNING
)


class Reply(BaseModel):
    """Gives the answer: its value, and the words of a text that state it; both empty if no text does."""

    value: str = Key(max_length=160)
    quote: str = Key(max_length=240)


def question(subject: Subject, field: Field, texts: str) -> str:
    """After the texts, and again after every further one: small models forget what came before a page."""
    return f"{texts}\n\nRow: {subject.described}\nField of {subject.name}:\n{described(field, subject)}"


def results(offers: Sequence[tuple[int, Offer]]) -> str:
    """Numbered: a page is opened by its number, so no text can add an address of its own."""
    if not offers:
        return "No new result."
    lines = [f"{offer.title}\n{_passage(offer.snippet)}" for _, offer in offers]
    return "\n".join(block(number, line) for (number, _), line in zip(offers, lines, strict=True))


def _passage(snippet: str) -> str:
    return snippet if len(snippet) <= SNIPPET else snippet[:SNIPPET] + " …"


def page(number: int, source: Retrieved, field: Field) -> str:
    return block(number, excerpt(source.text, (field,), PAGE), source.title)


def check(subject: Subject, field: Field, sources: Sequence[Retrieved], reply: Reply) -> tuple[Candidate | None, str]:
    """The answer, if a retrieved text about the row states it; else what is wrong with it, "" for no answer."""
    asked = Extract(subject=subject, fields=(field,), sources=tuple(sources))
    return supported(asked, field, reply.value.strip(), reply.quote.strip())
