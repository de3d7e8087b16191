"""One question about one row on its way through the web: what may still be done, and what must be before an answer
counts. A model steers it (agent.py) or, without one, a fixed path (research.py)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tablewright.decisions import answer_with_tools as words
from tablewright.decisions.answer_with_tools import Reply
from tablewright.decisions.choose_pages import Offer
from tablewright.decisions.extract import ExtractFields
from tablewright.extraction.candidate import Candidate
from tablewright.sources.source import Hit
from tablewright.strategies.notebook import Notebook
from tablewright.table.model import Field, Step
from tablewright.table.retrieved import Retrieved

RESULTS_SHOWN = 5
PAGES_SHOWN = 3
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
        """The question, what was read already, and the results that may be opened."""
        offers = self._number(self.notebook.likely((self.field,), RESULTS_SHOWN))
        read = [words.page(0, page, self.field) for page in self.notebook.pages[-PAGES_SHOWN:]]
        return self._asked("\n\n".join([*read, words.results(offers)]))

    def _asked(self, texts: str) -> str:
        return words.question(self.notebook.subject, self.field, texts)

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
        if not self.may_search:
            return "No more searches. Answer from what you have."
        if not query or self._was_searched(query):
            self._wasted += 1
            return "That was searched already. Use other words, or answer."
        return self._asked(self._new_results(await self.notebook.search(query)))

    def _new_results(self, new: Sequence[Hit]) -> str:
        """Those of the new ones that may be about the row, the likeliest first."""
        origins = {hit.origin for hit in new}
        likely = self.notebook.likely((self.field,), len(self.notebook.hits))
        return words.results(self._number([origin for origin in likely if origin in origins][:RESULTS_SHOWN]))

    def _was_searched(self, query: str) -> bool:
        return query.casefold() in {tried.casefold() for tried in self.notebook.queries}

    async def open(self, number: int) -> str:
        if not self.may_open:
            return "No more pages. Answer from what you have."
        if not 1 <= number <= len(self._numbered):
            self._wasted += 1
            return f"There is no result {number}. The results are numbered 1 to {len(self._numbered)}."
        origin = self._numbered[number - 1]
        if origin not in {offer.origin for offer in self.notebook.offers()}:
            self._wasted += 1
            return "That page was opened already. Open another, or answer."
        page = await self._read([origin])
        return self._asked(page) if page else "That page could not be read. Try another."

    async def _read(self, origins: Sequence[str]) -> str:
        pages = await self.notebook.open(origins)
        await self.notebook.read(ExtractFields(), (self.field,), pages, ask=False)
        numbers = {origin: number for number, origin in enumerate(self._numbered, start=1)}
        return "\n\n".join(words.page(numbers.get(page.origin, 0), page, self.field) for page in pages)

    async def check(self, reply: Reply) -> Reply:
        """Takes the answer if a text states it; else, or before enough was read, sends the model on."""
        sources: tuple[Retrieved, ...] = (*self.notebook.pages, *self.notebook.snippets())
        candidate, problem = words.check(self.notebook.subject, self.field, sources, reply)
        if candidate:
            self._answer = candidate, sources
        elif problem:
            why = problem.partition(". ")[0].rstrip(".")
            again = "left out" if self._corrected else "asked again"
            self.notebook.note(Step(type="thinking", detail=f"The model said “{reply.value}”, but {why}; {again}."))
            if not self._corrected:
                self._corrected = True
                raise SentBack(f"It cannot be used: {problem}")
        if more := await self._deepen(found=candidate is not None):
            kept = f"You said {reply.value!r}. Compare:" if candidate else "Not found so far. Read this:"
            raise SentBack(f"{kept}\n\n{self._asked(more)}\n\nGive the answer again, from all texts.")
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
        new: list[Hit] = []
        if not found and self.notebook.steps < self.limits.approaches:
            new += await self._next_angle()
        while len(self.notebook.queries) < self.limits.angles and self._steps_left > 0 and self._angles:
            new += await self._next_angle()
        if not self.limits.pages:
            return self._new_results(new) if new and not found else ""
        wanted = max(1, self.limits.cross) - len(self.notebook.pages)
        likely = self.notebook.likely((self.field,), max(0, min(wanted, self._steps_left)))
        self._number(likely)
        return await self._read(likely) if likely else ""

    async def _next_angle(self) -> list[Hit]:
        while self._angles and self._steps_left > 0:
            query = self._angles.pop(0)
            if not self._was_searched(query):
                return await self.notebook.search(query)
        return []
