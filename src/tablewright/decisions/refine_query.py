"""Refine a query: what to search for next, when the first queries did not bring the answer."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel
from pydantic import Field as Key

from tablewright.decisions.decision import Prompt, Unusable
from tablewright.extraction.about import Subject
from tablewright.extraction.relations import Kind, normal
from tablewright.extraction.wanted import wanted
from tablewright.table.model import Field, Noun
from tablewright.table.untrusted import WARNING, block, gives_orders

INSTRUCTIONS = (
    "A web search did not answer a question about one table row. Write one new search query, short, with other words "
    "than the earlier ones, that is likely to find a page which states the answer. " + WARNING
)


MEASURED: frozenset[Kind] = frozenset({"measure", "money", "number", "count", "yesno"})
SPECIFIED = ("specifications", "technical data", "facts history")
TOLD = ("about company profile", "facts history")
"""Words of the pages that usually state what is asked: of things that are measured, and of others."""


def other_names(field: Field) -> list[str]:
    """What else the field is called, and words of the pages that usually state it."""
    want = wanted(field)
    names = [normal(name) for name in want.relation.names.split("|")] if want.known else []
    return [*names, *(SPECIFIED if want.kind in MEASURED else TOLD)]


class RefineQuery(Noun, frozen=True):
    subject: Subject
    field: Field
    tried: tuple[str, ...]
    titles: tuple[str, ...] = ()
    """What the earlier queries found."""


class NewQuery(BaseModel):
    query: str = Key(min_length=3, max_length=200)


class Refine:
    name = "refine a query"

    def prompt(self, asked: RefineQuery) -> Prompt:
        found = block(1, "\n".join(asked.titles[:10]) or "nothing")
        tried = "\n".join(f"- {query}" for query in asked.tried)
        question = asked.field.question or asked.field.name
        return Prompt(
            instructions=INSTRUCTIONS,
            text=f"Row: {asked.subject.described}\nQuestion: {question}\nTried:\n{tried}\nFound:\n{found}",
            reply=NewQuery,
            max_tokens=60,
        )

    def check(self, asked: RefineQuery, reply: Any) -> str:
        query = " ".join(reply.query.split())
        if gives_orders(query):
            raise Unusable("that is no search query.", usable=self.fallback(asked))
        if normal(query) in {normal(tried) for tried in asked.tried}:
            raise Unusable("that query was tried. Use other words.", usable=self.fallback(asked))
        return query

    def fallback(self, asked: RefineQuery) -> str:
        """The name with another name of the field that was not tried: "Acme headquarters" → "Acme head office"."""
        tried = {normal(query) for query in asked.tried}
        for words in (*other_names(asked.field), ""):
            query = f"{asked.subject.name} {words}".strip()
            if normal(query) not in tried:
                return query
        return ""
