"""One question about one row on its way through the web: what may still be done, and what must be before an answer
counts. A model steers it (agent.py) or, without one, a fixed path (research.py)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tablewright.decisions import answer_with_tools as words
from tablewright.decisions.answer_with_tools import Reply
from tablewright.decisions.choose_pages import Offer
from tablewright.decisions.extract import ExtractFields
from tablewright.decisions.reader.reader import Candidate
from tablewright.strategies.notebook import Notebook
from tablewright.table.model import Field, Step
from tablewright.table.retrieved import Retrieved

RESULTS_SHOWN = 5
PATIENCE = 2
"""Turns that a model may waste, asking for what it has, before it can only answer."""


class SentBack(Exception):
    """The answer does not count yet; the text tells the model what to do."""


@dataclass(frozen=True, kw_only=True)
class Limits:
    """How far an exploration goes, and how far it must go before it may give up or be done."""

    steps: int
    """Searches and pages, at most."""
    searches: int
    pages: int
    approaches: int = 1
    """Searches and pages before "not found" is accepted."""
    angles: int = 1
    """Different queries before any answer is accepted."""
    cross: int = 0
    """Pages that an answer is compared with."""
    turns: int = 8
    tokens: int = 300


class Exploration:
    """One question about one row, under way. `angles` are queries to try, in order, where the model tries too few."""

    def __init__(self, notebook: Notebook, field: Field, angles: Sequence[str], limits: Limits) -> None:
        self.notebook = notebook
        self.field = field
        self.limits = limits
        self._angles = list(angles)
        self._numbered: list[str] = []
        self._answer: tuple[Candidate, tuple[Retrieved, ...]] | None = None
        self._wasted = 0
        self._corrected = False
        self._deepened = False

    @property
    def prompt(self) -> str:
        shown = words.results(self._number(self.notebook.likely((self.field,), RESULTS_SHOWN)))
        return words.question(self.notebook.subject, self.field, shown)

    def _number(self, origins: Sequence[str]) -> list[tuple[int, Offer]]:
        offers = {offer.origin: offer for offer in self.notebook.offers()}
        self._numbered += [origin for origin in origins if origin not in self._numbered]
        return [(self._numbered.index(origin) + 1, offers[origin]) for origin in origins if origin in offers]

    @property
    def may_search(self) -> bool:
        return self._has_patience and self._steps_left > 0 and len(self.notebook.queries) < self.limits.searches

    @property
    def may_open(self) -> bool:
        left = self._steps_left > 0 and self.notebook.opened < self.limits.pages
        return self._has_patience and left and bool(self.notebook.offers())

    @property
    def _has_patience(self) -> bool:
        return self._wasted < PATIENCE

    @property
    def _steps_left(self) -> int:
        return self.limits.steps - self.notebook.steps

    async def search(self, query: str) -> str:
        query = " ".join(query.split())[:200]
        if not query or self._was_searched(query):
            self._wasted += 1
            return "That was searched already. Use other words, or answer."
        new = {hit.origin for hit in await self.notebook.search(query)}
        likely = self.notebook.likely((self.field,), RESULTS_SHOWN)
        return words.results(self._number([origin for origin in likely if origin in new]))

    def _was_searched(self, query: str) -> bool:
        return query.casefold() in {tried.casefold() for tried in self.notebook.queries}

    async def open(self, number: int) -> str:
        if not 1 <= number <= len(self._numbered):
            self._wasted += 1
            return f"There is no result {number}. The results are numbered 1 to {len(self._numbered)}."
        origin = self._numbered[number - 1]
        if origin not in {offer.origin for offer in self.notebook.offers()}:
            self._wasted += 1
            return "That page was opened already. Open another, or answer."
        return await self._read([origin]) or "That page could not be read. Try another."

    async def _read(self, origins: Sequence[str]) -> str:
        pages = await self.notebook.open(origins)
        await self.notebook.read(ExtractFields(), (self.field,), pages, ask=False)
        numbers = {origin: number for number, origin in enumerate(self._numbered, start=1)}
        return "\n\n".join(words.page(numbers.get(page.origin, 0), page, self.field) for page in pages)

    async def check(self, reply: Reply) -> Reply:
        """Takes the answer if a text states it; else, or before enough was read, sends the model on."""
        sources: tuple[Retrieved, ...] = (*self.notebook.pages, *self.notebook.snippets())
        candidate, problem = words.accept(self.notebook.subject, self.field, sources, reply)
        if candidate:
            self._answer = candidate, sources
        elif problem:
            again = "asked again" if not self._corrected else "left out"
            self.notebook.note(
                Step(type="thinking", detail=f"The model said “{reply.value}”, which no text states; {again}.")
            )
            if not self._corrected:
                self._corrected = True
                raise SentBack(f"It cannot be used: {problem}")
        if more := await self._deepen(found=candidate is not None):
            kept = f"You said {reply.value!r}. Compare:" if candidate else "Not found so far. Read this:"
            raise SentBack(f"{kept}\n\n{more}\n\nNow give the answer again, from all texts.")
        return reply

    def conclude(self) -> None:
        """The last answer that a text states is the one that counts: it came after the most reading."""
        if self._answer:
            candidate, sources = self._answer
            self.notebook.take(self.field, [candidate], sources)

    async def _deepen(self, *, found: bool) -> str:
        """What must still be read before the answer counts, as text for the model; "" where nothing more is to come."""
        if self._deepened:
            return ""
        self._deepened = True
        if not found and self.notebook.steps < self.limits.approaches:
            await self._next_angle()
        while len(self.notebook.queries) < self.limits.angles and self._steps_left > 0 and self._angles:
            await self._next_angle()
        pages = self.limits.cross if found else max(self.limits.cross, min(1, self.limits.pages))
        wanted = pages - len(self.notebook.pages)
        likely = self.notebook.likely((self.field,), max(0, min(wanted, self._steps_left)))
        self._number(likely)
        return await self._read(likely) if likely else ""

    async def _next_angle(self) -> None:
        while self._angles:
            query = self._angles.pop(0)
            if not self._was_searched(query):
                await self.notebook.search(query)
                return
