"""The pipeline's stages: pattern → search → decision → crawl → extract.

Each is a small step over one message. A row goes from stage to stage on its own, without waiting for its neighbours.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from itertools import zip_longest
from typing import TypeAlias

import msgspec

from tablewright.decisions.answer_from_snippets import FromSnippets
from tablewright.decisions.choose_pages import Choose, ChoosePages
from tablewright.decisions.extract import ExtractFields
from tablewright.decisions.plan_patterns import PlanPatterns, WasWeak
from tablewright.strategies.feedback import Feedback
from tablewright.strategies.notebook import Notebook
from tablewright.strategies.patterns import PatternGenerator
from tablewright.strategies.subject import queries_for, telling_columns
from tablewright.table.model import Field, Noun, Row
from tablewright.table.retrieved import Retrieved

PAGES = 5
"""Opened in an attempt, at most."""
ENOUGH_HITS = 5
SEARCHES_AGAIN = 3
"""Searches in a further attempt, at most, or as many as there are weak columns."""


class Message(Noun, frozen=True, gc=True):
    """What travels from stage to stage: the row, the fields to fill, what the last attempt taught, and what the stages
    before have come to. The notebook is the row's own, and remembers earlier attempts."""

    row: Row
    fields: tuple[Field, ...]
    feedback: Feedback
    notebook: Notebook
    patterns: tuple[str, ...] = ()
    chosen: tuple[str, ...] = ()
    pages: tuple[Retrieved, ...] = ()
    by_stronger: bool = False
    """Whether a stronger model reads: then all there is, once more."""

    @property
    def is_again(self) -> bool:
        return self.feedback.attempt > 1


Stage: TypeAlias = Callable[[Message], Awaitable[Message]]


class PatternStage:
    """One plan for the whole table; on a further attempt one for each weak column, shared by all rows that are weak
    there for the same reason. So nothing of a single row is in what is asked, but for the sample: not which of its
    cells are empty, nor which other columns are weak in it."""

    def __init__(self, generator: PatternGenerator, fields: tuple[Field, ...]) -> None:
        self.fields = fields
        self._generator = generator
        self._columns: tuple[str, ...] | None = None
        self._first: tuple[str, ...] = ()
        self._of_column: dict[str, set[str]] = {field.name: set() for field in fields}

    async def __call__(self, message: Message) -> Message:
        notebook = message.notebook
        if not message.is_again:
            self._first = await self._generator.plan(self._asked(message, self.fields), notebook.note)
            return msgspec.structs.replace(message, patterns=self._first)
        plans = []
        for field in message.fields:
            plan = await self._generator.plan(self._asked(message, (field,)), notebook.note)
            self._of_column[field.name].update(plan)
            plans.append(plan)
        in_turn = [pattern for round in zip_longest(*plans) for pattern in round if pattern]
        most = max(SEARCHES_AGAIN, len(plans))
        return msgspec.structs.replace(message, patterns=tuple(dict.fromkeys(in_turn))[:most])

    def _asked(self, message: Message, fields: tuple[Field, ...]) -> PlanPatterns:
        subject, feedback = message.notebook.subject, message.feedback
        names = {field.name for field in fields}
        weak = [column for column in feedback.weak if column.name in names]
        if self._columns is None:
            self._columns = telling_columns(subject, self.fields)
        tried = {pattern for name in names for pattern in self._of_column[name]} & {*feedback.avoid_patterns}
        return PlanPatterns(
            key=subject.column,
            fields=fields,
            columns=self._columns,
            samples=(subject.name,),
            attempt=feedback.attempt,
            avoid=(*self._first, *sorted(tried - {*self._first})) if message.is_again else (),
            weak=tuple(WasWeak(column=each.name, weakness=each.weakness, reason=each.reason) for each in weak),
            hints=tuple(each.hint for each in weak),
        )


class SearchStage:
    """In the first attempt until there are enough results about the row, later every new query."""

    async def __call__(self, message: Message) -> Message:
        notebook = message.notebook
        for pattern in message.patterns:
            for query in queries_for((pattern,), notebook.subject, message.row):
                if query not in notebook.queries:
                    await notebook.search(query, pattern)
            if not message.is_again and len(notebook.hits) >= ENOUGH_HITS and some_are_about_it(message):
                break
        return message


def some_are_about_it(message: Message) -> bool:
    offers = message.notebook.offers()
    asked = ChoosePages(subject=message.notebook.subject, fields=message.fields, offers=offers, most=PAGES)
    return bool(offers) and bool(Choose().fallback(asked))


class DecisionStage:
    """The pages to open, judged by title and snippet; none that was tried."""

    async def __call__(self, message: Message) -> Message:
        message.notebook.avoid(message.feedback.avoid_urls)
        return msgspec.structs.replace(message, chosen=await message.notebook.choose(message.fields, PAGES))


class CrawlStage:
    async def __call__(self, message: Message) -> Message:
        return msgspec.structs.replace(message, pages=await message.notebook.open(message.chosen))


class ExtractStage:
    """All fields from all the pages in one call. What no page says but a search result does is taken from that."""

    async def __call__(self, message: Message) -> Message:
        notebook = message.notebook
        await notebook.read(ExtractFields(), message.fields, message.pages)
        if missing := tuple(field for field in message.fields if not notebook.has(field)):
            snippets = notebook.snippets() if message.by_stronger else notebook.new_snippets()
            # A model reads search results only where there is no page to read: they are a part of the page.
            await notebook.read(FromSnippets(), missing, snippets, ask=not notebook.pages)
        return message
