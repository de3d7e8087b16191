"""The pipeline's stages: pattern → search → decision → crawl → extract.

Each is a small step over one message. A row goes from stage to stage on its own, without waiting for its neighbours.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
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
"""Searches in a further attempt, at most."""


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

    @property
    def is_again(self) -> bool:
        return self.feedback.attempt > 1


Stage: TypeAlias = Callable[[Message], Awaitable[Message]]


class PatternStage:
    """One plan for the whole table; on a further attempt one for each weak column, shared by all rows that are weak
    there for the same reason."""

    def __init__(self, generator: PatternGenerator, fields: tuple[Field, ...]) -> None:
        self._generator = generator
        self.fields = fields

    async def __call__(self, message: Message) -> Message:
        notebook = message.notebook
        if not message.is_again:
            patterns = await self._generator.plan(self._asked(message, self.fields), notebook.note)
            return msgspec.structs.replace(message, patterns=patterns)
        planned: list[str] = []
        for field in message.fields:
            planned += await self._generator.plan(self._asked(message, (field,)), notebook.note)
        return msgspec.structs.replace(message, patterns=tuple(dict.fromkeys(planned))[:SEARCHES_AGAIN])

    def _asked(self, message: Message, fields: tuple[Field, ...]) -> PlanPatterns:
        subject, feedback = message.notebook.subject, message.feedback
        names = {field.name for field in fields}
        return PlanPatterns(
            key=subject.column,
            fields=fields,
            columns=telling_columns(subject, fields),
            samples=(subject.name,),
            attempt=feedback.attempt,
            avoid=feedback.avoid_patterns,
            weak=tuple(
                WasWeak(column=weak.name, weakness=weak.weakness, reason=weak.reason)
                for weak in feedback.weak
                if weak.name in names
            ),
            hints=feedback.hints,
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
    return bool(offers) and bool(Choose().rule(asked))


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
            # A model reads search results only where there is no page to read: they are a part of the page.
            await notebook.read(FromSnippets(), missing, notebook.new_snippets(), ask=not notebook.pages)
        return message
