"""The pipeline's stages: pattern → search → decision → crawl → extract.

Each is a small step over one message. A row goes from stage to stage on its own, without waiting for its neighbours.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from itertools import zip_longest
from typing import TypeAlias

import msgspec

from tablewright.decisions.choose_pages import Choose, ChoosePages
from tablewright.decisions.plan_patterns import PlanPatterns, WasWeak
from tablewright.domain.model import Field, Noun, Row
from tablewright.domain.retrieved import Retrieved
from tablewright.strategies.feedback import Feedback
from tablewright.strategies.investigation import RowInvestigation
from tablewright.strategies.patterns import PatternGenerator
from tablewright.strategies.subject import allow_queries, queries_for, telling_columns

PAGES = 5
"""Opened in an attempt, at most."""
ENOUGH_HITS = 5
SEARCHES_AGAIN = 3
"""Searches in a further attempt, at most, or as many as there are weak columns."""


class Message(Noun, frozen=True, gc=True):
    """What travels from stage to stage: the row, the fields to fill, what the last attempt taught, and what the stages
    before have come to. The investigation is the row's own, and remembers earlier attempts."""

    row: Row
    fields: tuple[Field, ...]
    feedback: Feedback
    investigation: RowInvestigation
    patterns: tuple[str, ...] = ()
    searched: int = 0
    """How many of the patterns were searched for."""
    chosen: tuple[str, ...] = ()
    pages: tuple[Retrieved, ...] = ()
    by_stronger: bool = False
    """Whether a stronger model reads: then all there is, once more."""

    @property
    def is_again(self) -> bool:
        """In this run, or because the user wants something else than an earlier one found."""
        return self.feedback.attempt > 1 or bool(self.feedback.avoid_patterns)

    @property
    def missing(self) -> tuple[Field, ...]:
        return tuple(field for field in self.fields if not self.investigation.has(field))


Stage: TypeAlias = Callable[[Message], Awaitable[Message]]


class PatternStage:
    """One plan for the whole table; on a further attempt one for each weak column, or one for a row of which nothing
    was found, shared by all rows that are weak there for the same reason. So nothing of a single row is in what is
    asked, but for the sample: not which of its cells are empty, nor which other columns are weak in it."""

    def __init__(
        self, generator: PatternGenerator, fields: tuple[Field, ...], table: str = "", columns: tuple[str, ...] = ()
    ) -> None:
        """`columns` are those that no row is asked for: what some rows already have of the others is in no plan."""
        self.fields = fields
        self._table = table
        self._columns = columns
        self._generator = generator
        self._telling: tuple[str, ...] | None = None
        self._first: tuple[str, ...] = ()
        self._of_column: dict[str, set[str]] = {field.name: set() for field in fields}

    async def __call__(self, message: Message) -> Message:
        investigation = message.investigation
        if not message.is_again:
            self._first = await self._generator.plan(self._asked(message, self.fields), investigation.note)
            return msgspec.structs.replace(message, patterns=self._first)
        plans = []
        for fields in self._apart(message):
            plan = await self._generator.plan(self._asked(message, fields), investigation.note)
            for field in fields:
                self._of_column[field.name].update(plan)
            plans.append(plan)
        in_turn = [pattern for round in zip_longest(*plans) for pattern in round if pattern]
        most = max(SEARCHES_AGAIN, len(plans))
        return msgspec.structs.replace(message, patterns=tuple(dict.fromkeys(in_turn))[:most])

    def _apart(self, message: Message) -> list[tuple[Field, ...]]:
        """Each weak column by itself; all together where nothing was found, for then the row itself is looked for."""
        if len(message.fields) == len(self.fields) == len(message.missing):
            return [message.fields]
        return [(field,) for field in message.fields]

    def _asked(self, message: Message, fields: tuple[Field, ...]) -> PlanPatterns:
        subject, feedback = message.investigation.subject, message.feedback
        shared = {column: text for column, text in subject.context.items() if column in self._columns}
        subject = msgspec.structs.replace(subject, context=shared)
        names = {field.name for field in fields}
        weak = [column for column in feedback.weak if column.name in names]
        if self._telling is None:
            self._telling = telling_columns(subject, self.fields)
        of_this_run = {*self._first}.union(*self._of_column.values())
        tried = {pattern for name in names for pattern in self._of_column[name]} & {*feedback.avoid_patterns}
        tried |= {*feedback.avoid_patterns} - of_this_run
        return PlanPatterns(
            key=subject.column,
            fields=fields,
            columns=self._columns,
            telling=self._telling,
            sample=subject,
            table=self._table,
            attempt=feedback.attempt,
            avoid=(*self._first, *sorted(tried - {*self._first})) if message.is_again else (),
            weak=tuple(WasWeak(column=each.name, weakness=each.weakness, reason=each.reason) for each in weak),
            hints=tuple(dict.fromkeys(each.hint for each in weak)),
            notes={name: note for name, note in feedback.notes.items() if message.is_again and name in names},
        )


class SearchStage:
    """Pattern by pattern until there is something to choose from; on a further attempt, or for what the first pages
    did not say, every new query."""

    async def __call__(self, message: Message) -> Message:
        investigation = message.investigation
        searched = message.searched
        planned = queries_for(message.patterns[searched:], investigation.subject, message.row, investigation.fields)
        allow_queries(planned, planned_anew=message.is_again)
        for pattern in message.patterns[searched:]:
            searched += 1
            for query in queries_for((pattern,), investigation.subject, message.row, investigation.fields):
                if query not in investigation.queries and query not in message.feedback.avoid_queries:
                    investigation.patterns[query] = pattern
                    await investigation.search(query)
            if not message.searched and not message.is_again and enough(message):
                break
        return msgspec.structs.replace(message, searched=searched)


def enough(message: Message) -> bool:
    """With a model, results that it can choose from; without one, some of them must be seen to be about the row."""
    offers = message.investigation.offers()
    if message.investigation.model is not None:
        return len(offers) >= ENOUGH_HITS
    asked = ChoosePages(subject=message.investigation.subject, fields=message.fields, offers=offers, most=PAGES)
    return len(message.investigation.hits) >= ENOUGH_HITS and bool(Choose().fallback(asked))


class DecisionStage:
    """The pages to open, judged by title, address and snippet; none that was tried."""

    async def __call__(self, message: Message) -> Message:
        message.investigation.avoid(message.feedback.avoid_urls)
        return msgspec.structs.replace(message, chosen=await message.investigation.choose(message.fields, PAGES))


class CrawlStage:
    async def __call__(self, message: Message) -> Message:
        return msgspec.structs.replace(message, pages=await message.investigation.open(message.chosen))


class ExtractStage:
    """All fields from all the pages in one call. Of a page that was chosen and could not be read, its search result is
    read instead; without a model, any search result for what no page says."""

    async def __call__(self, message: Message) -> Message:
        investigation = message.investigation
        if investigation.model is None:
            await investigation.read(message.fields, message.pages)
            await investigation.read(message.missing, investigation.new_snippets())
            return message
        unread = {*message.chosen} - {page.origin for page in message.pages}
        snippets = tuple(snippet for snippet in investigation.snippets() if snippet.origin in unread)
        await investigation.read(message.fields, (*message.pages, *snippets))
        return message
