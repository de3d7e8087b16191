"""The state of one exploration steered by a model (agent.py): a question about a row, the steps that are left, and the
reading that is required before an answer counts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date

from tablewright.domain.model import Field, Step
from tablewright.domain.retrieved import Retrieved
from tablewright.domain.text import drop_tried_queries, shorten_text
from tablewright.extraction.reader import Candidate
from tablewright.llm.tasks import answer_with_tools as words
from tablewright.llm.tasks.answer_with_tools import Reply
from tablewright.llm.tasks.choose_pages import Offer
from tablewright.llm.text_budget import TEXT_LIMITS
from tablewright.strategies.investigation import RowInvestigation
from tablewright.web.fetch.guard import registrable_domain
from tablewright.web.source import Hit


class SentBack(Exception):
    """Raised for an answer that does not count yet; the text tells the model what to do."""


@dataclass(frozen=True, kw_only=True)
class ExplorationLimits:
    """The most that an exploration may do, and the least before it may give up or be done."""

    steps: int
    """The most searches and pages together."""
    searches: int
    pages: int
    approaches: int = 1
    """Searches and pages before "not found" is accepted."""
    angles: int = 1
    """Different queries before any answer is accepted."""
    cross: int = 0
    """Pages that an answer must be compared with."""
    # More turns than steps: each step takes one, and an answer that is sent back another.
    turns: int = 8
    tokens: int = 1024


class Exploration:
    """One question about one row in progress. `angles` are queries to try, in order, if the model tries too few."""

    def __init__(
        self,
        investigation: RowInvestigation,
        field: Field,
        angles: Sequence[str],
        limits: ExplorationLimits,
        tried: Sequence[str] = (),
    ) -> None:
        assert investigation.model is not None
        self.investigation = investigation
        self.field = field
        self.limits = limits
        self._room = investigation.model.text_room // TEXT_LIMITS.opened_page_parts
        self._angles = list(angles)
        self._tried = tuple(tried)
        self._numbered: list[str] = []
        self._searches_before = max(0, len(investigation.queries) - 1)
        """The search that begins this exploration counts; those of earlier attempts do not."""
        self._pages_before = investigation.opened
        self._answer: tuple[list[Candidate], tuple[Retrieved, ...]] | None = None
        self._wasted = 0
        self._corrected = False
        self._deepened = False
        self._refusal_explained = False

    @property
    def prompt(self) -> str:
        """The question and the results that may be opened."""
        asked = words.question_text(
            self.investigation.subject,
            self.field,
            self.investigation.examples_of(self.field),
            self.investigation.notes,
            self._tried,
        )
        return f"{asked}\n\nSearch results:\n{words.results_text(self._number(self.investigation.offers()))}"

    def _number(self, offers: Sequence[Offer]) -> list[tuple[int, Offer]]:
        # Numbers are given once and kept: the model may open a result of any earlier turn.
        self._numbered += [offer.origin for offer in offers if offer.origin not in self._numbered]
        return [(self._numbered.index(offer.origin) + 1, offer) for offer in offers]

    @property
    def may_search(self) -> bool:
        return self._has_patience and self._steps_left > 0 and self._searches < self.limits.searches

    @property
    def may_open(self) -> bool:
        left = self._steps_left > 0 and self._pages < self.limits.pages
        return self._has_patience and left and bool(self.investigation.offers())

    @property
    def _has_patience(self) -> bool:
        # Wasted turns, such as repeated searches, after which a model may only answer.
        return self._wasted < 2

    @property
    def _searches(self) -> int:
        return len(self.investigation.queries) - self._searches_before

    @property
    def _pages(self) -> int:
        return self.investigation.opened - self._pages_before

    @property
    def _steps_left(self) -> int:
        return self.limits.steps - self._searches - self._pages

    async def search(self, query: str) -> str:
        # A model may write a whole paragraph; search engines want a few words.
        query = " ".join(query.split())[:200]
        if not self.may_search:
            return "No more searches. Answer from what you have."
        if not drop_tried_queries([query], self.investigation.queries):
            self._wasted += 1
            return "That was searched already. Use other words, or answer."
        new = await self._search(query)
        why = self.investigation.unsent.get(query)
        if why is None:
            return self._new_results(new)
        # Documents may have answered even though the web was not asked.
        self._wasted += not new
        said = self._explain_refusal(why)
        return f"{said}\n\n{self._new_results(new)}" if new else said

    def _explain_refusal(self, why: str) -> str:
        """Return why a search was not sent to the web, in full only the first time."""
        is_known, self._refusal_explained = self._refusal_explained, True
        return "The web was not searched, for the same reason." if is_known else f"The web was not searched: {why}"

    def _new_results(self, new: Sequence[Hit]) -> str:
        origins = {hit.origin for hit in new}
        return words.results_text(
            self._number([offer for offer in self.investigation.offers() if offer.origin in origins])
        )

    async def open(self, number: int) -> str:
        if not self.may_open:
            return "No more pages. Answer from what you have."
        if not 1 <= number <= len(self._numbered):
            self._wasted += 1
            return f"There is no result {number}. The results are numbered 1 to {len(self._numbered)}."
        origin = self._numbered[number - 1]
        if origin not in {offer.origin for offer in self.investigation.offers()}:
            self._wasted += 1
            return "That page was opened already. Open another, or answer."
        return await self._read([origin]) or "That page could not be read. Try another."

    async def _read(self, origins: Sequence[str]) -> str:
        await self.investigation.open(origins)
        name = self.investigation.subject.name
        return "\n\n".join(
            words.page_text(self._numbered.index(origin) + 1, page, self.field, self._room, name)
            for origin in origins
            if (page := self.investigation.page_of(origin))
        )

    def _texts(self) -> tuple[Retrieved, ...]:
        """Return the text behind each number: the page if it was opened, else the search result."""
        snippets = {snippet.origin: snippet for snippet in self.investigation.snippets()}
        nothing = Retrieved(origin="", text="")
        return tuple(self.investigation.page_of(origin) or snippets.get(origin, nothing) for origin in self._numbered)

    async def check(self, reply: Reply) -> Reply:
        """Take the verified answers; raise SentBack once for a failed check, and until enough has been read."""
        texts = self._texts()
        candidates, problem = words.check_answers(
            self.field, texts, reply, strict=self.investigation.strict, today=date.today().isoformat()
        )
        if candidates:
            # With the texts of that moment, which the candidates refer to by position.
            self._answer = candidates, texts
        if problem:
            again = "left out" if self._corrected else "asked again"
            detail = f"The model's answer fails a check, {again}: {problem}"
            self.investigation.note(Step(type="thinking", detail=detail, data={"left_out": self._corrected}))
            self.investigation.refuse(self.field, problem)
            # Once: a model that fails the same check twice will fail it again, and each turn costs the whole
            # exploration so far.
            if not self._corrected:
                self._corrected = True
                raise SentBack(f"It fails a check: {problem}")
        if more := await self._deepen(found=bool(candidates)):
            value = reply.answers[0].value if candidates else ""
            kept = f"You said {shorten_text(value, 120)!r}. Compare:" if value else "Not found so far. Read this:"
            raise SentBack(f"{kept}\n\n{more}\n\nGive the answer again, from all texts.")
        return reply

    def conclude(self) -> None:
        """Take the last verified answer, which came after the most reading."""
        if self._answer:
            candidates, texts = self._answer
            self.investigation.take(self.field, candidates, texts)

    async def _deepen(self, *, found: bool) -> str:
        """Return texts that must still be read before the answer counts, or ""."""
        # Once: after that the answer counts, however little more could be read.
        if self._deepened:
            return ""
        self._deepened = True
        new: list[Hit] = []
        if not found and self._searches + self._pages < self.limits.approaches:
            new += await self._next_angle()
        while self._searches < self.limits.angles and self._steps_left > 0 and self._angles:
            new += await self._next_angle()
        # At least one page is read, even where nothing must be compared: a snippet alone may leave out a condition.
        offers = self._offers_to_compare(max(1, self.limits.cross))
        if not offers:
            # An answer that was found needs no further search results without a page to compare.
            return self._new_results(new) if new and not found else ""
        self._number(offers)
        return await self._read([offer.origin for offer in offers])

    def _offers_to_compare(self, most: int) -> list[Offer]:
        """Return what must be read to have so many sites or, where there are not so many, pages."""
        read = self.investigation.pages.values()
        sites = {page.domain for page in read}
        left = most - len(sites)
        of_new_sites: list[Offer] = []
        others: list[Offer] = []
        for offer in self.investigation.offers():
            site = registrable_domain(offer.origin)
            (others if site in sites else of_new_sites).append(offer)
            sites.add(site)
        chosen = of_new_sites[: max(0, left)]
        chosen += others[: max(0, most - len(read) - len(chosen))]
        return chosen[: max(0, self._steps_left)]

    async def _next_angle(self) -> list[Hit]:
        while self._angles and self._steps_left > 0:
            query = self._angles.pop(0)
            if drop_tried_queries([query], self.investigation.queries):
                return await self._search(query)
        return []

    async def _search(self, query: str) -> list[Hit]:
        """Return the new results."""
        known = set(self.investigation.hits)
        return [hit for hit in await self.investigation.search(query) if hit.origin not in known]
