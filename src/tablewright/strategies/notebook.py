"""A notebook: what was searched, found, opened, refused and read for one row, and what follows from it.

Every strategy that works with the web keeps one. Its steps read like a person's notes; its findings come only from what
is in it, each checked by the evidence rule.
"""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Sequence
from typing import Any

import msgspec

from tablewright.decisions.choose_pages import Choose, ChoosePages, Offer
from tablewright.decisions.decision import Decision, decide
from tablewright.decisions.extract import Extract, ExtractFields
from tablewright.decisions.judge_coverage import Answered, Coverage, Judge, JudgeCoverage
from tablewright.errors import OverBudget, SearchError
from tablewright.extraction.about import Subject, about, shared_context
from tablewright.extraction.candidate import Candidate
from tablewright.extraction.reader import ABOUT
from tablewright.models.concern import concerning
from tablewright.sources.fetch.domain import registrable_domain
from tablewright.sources.source import Hit, Query, Source
from tablewright.strategies.findings import Read, agree, checked, weigh
from tablewright.strategies.packing import Seat
from tablewright.strategies.strategy import Tell
from tablewright.strategies.tools import Tools
from tablewright.table.evidence import evidence_for
from tablewright.table.model import Evidence, Field, Finding, Reason, Step
from tablewright.table.retrieved import Refusal, Retrieved, content_hash, is_document
from tablewright.table.text import plural, shortened, show

FAMILIAR = 0.5
"""The share of a row's other cells that a page must know to be surely about this one of several of the name."""
SURE_ENOUGH = 0.8
"""With cascade, what the built-in reader must score for a model not to be asked."""
QUOTED = 140


class Notebook:
    """`only` narrows the trace to these fields, for work that is done for them alone.

    With a `seat`, pages are read together with those of other rows."""

    def __init__(
        self,
        subject: Subject,
        fields: Sequence[Field],
        tools: Tools,
        web: Source,
        tell: Tell,
        *,
        only: Sequence[str] = (),
        seat: Seat | None = None,
    ) -> None:
        self.subject = subject
        self.fields = tuple(fields)
        self.model = tools.model
        self.queries: list[str] = []
        self.hits: dict[str, Hit] = {}
        self.pages: list[Retrieved] = []
        self.over_budget = False
        self._cascade = tools.cascade
        self._prefers = tools.prefers
        self.seat = seat
        self._web = web
        self._tell = tell
        self._only = tuple(only)
        self._avoided: frozenset[str] = frozenset()
        self._tried: set[str] = set()
        self._snippets_read: set[str] = set()
        self._refusals: list[Refusal] = []
        self._reads: dict[str, list[Read]] = {field.name: [] for field in fields}
        self._failed_search = ""

    def note(self, step: Step, *fields: str) -> None:
        self._tell(step, *(fields or self._only))

    @property
    def opened(self) -> int:
        """Pages asked for, whether they could be read or not."""
        return len(self._tried)

    @property
    def steps(self) -> int:
        """Searches made and pages asked for."""
        return len(self.queries) + self.opened

    async def decide(self, decision: Decision[Any, Any], asked: Any) -> Any:
        outcome = await decide(decision, asked, self.model, self.note)
        self.over_budget |= outcome.over_budget
        return outcome.decided

    # ── searching and opening ────────────────────────────────────────────────────────────────────────────────────────

    def avoid(self, origins: Collection[str]) -> None:
        """These are not opened any more."""
        self._avoided = frozenset(origins)

    async def search(self, query: str, pattern: str = "") -> list[Hit]:
        """The results that were not known yet. `pattern` is what the query was made of, for the record."""
        self.queries.append(query)
        try:
            found = await self._web.search(Query(text=query))
        except SearchError as error:
            self._failed_search = error.what
            self.over_budget |= isinstance(error, OverBudget)
            self.note(Step(type="error", detail=f"Search for “{query}” failed: {error.what}", data={"query": query}))
            return []
        new = [hit for hit in found.hits if hit.origin not in self.hits]
        self.hits |= {hit.origin: hit for hit in new}
        named = sum(1 for hit in found.hits if self._fit(hit) >= ABOUT)
        sent = "”, then “".join(found.queries) or query
        count = len(found.hits)
        results = "nothing found" if not count else "1 result" if count == 1 else f"{count} results"
        about_it = f", {named} about {self.subject.name}" if count and self.subject.name else ""
        self.note(
            Step(
                type="search",
                detail=f"Searched “{sent}”: {results}{about_it}.",
                data={"query": query, "results": count, **({"pattern": pattern} if pattern else {})},
            )
        )
        return new

    def _fit(self, hit: Hit) -> float:
        return about(self.subject, hit.title, hit.snippet)

    def offers(self) -> tuple[Offer, ...]:
        """The results that were not opened yet."""
        return tuple(
            Offer(origin=hit.origin, title=hit.title, snippet=hit.snippet)
            for hit in self.hits.values()
            if hit.origin not in self._tried and hit.origin not in self._avoided
        )

    async def choose(self, fields: tuple[Field, ...], most: int) -> tuple[str, ...]:
        """The results worth opening, the best first."""
        offers = self.offers()
        if not offers:
            return ()
        choice = ChoosePages(subject=self.subject, fields=fields, offers=offers, most=most)
        if Choose().is_plain(choice):
            return Choose().fallback(choice)
        chosen: tuple[str, ...] = await self.decide(Choose(), choice)
        return chosen

    def likely(self, fields: tuple[Field, ...], most: int) -> tuple[str, ...]:
        """As `choose`, by the rule alone; of sites that were not read yet first."""
        seen = {page.domain for page in self.pages}
        offers = self.offers()
        ranked = Choose().fallback(ChoosePages(subject=self.subject, fields=fields, offers=offers, most=len(offers)))
        return tuple(sorted(ranked, key=lambda origin: registrable_domain(origin) in seen))[:most]

    async def open(self, origins: Sequence[str]) -> tuple[Retrieved, ...]:
        """The pages that could be read; the others are noted with the reason."""
        wanted = [origin for origin in origins if origin not in self._tried]
        self._tried.update(wanted)
        pages = []
        for origin, page in zip(wanted, await asyncio.gather(*map(self._web.open, wanted)), strict=True):
            if isinstance(page, Refusal):
                self._refusals.append(page)
                self.note(
                    Step(
                        type="error",
                        detail=f"Could not read {origin}: {page.detail}",
                        data={"url": origin, "reason": page.reason},
                    )
                )
            else:
                pages.append(page)
                self.note(
                    Step(
                        type="fetch",
                        detail=f"Read “{page.title or origin}”{f' ({page.domain})' if page.domain else ''}.",
                        data={"url": page.origin},
                    )
                )
        self.pages += pages
        return tuple(pages)

    def snippets(self) -> tuple[Retrieved, ...]:
        """The results whose pages were not read: those that refused, and those that were not opened."""
        read = {page.origin for page in self.pages}
        return tuple(
            Retrieved(
                origin=hit.origin,
                text=hit.snippet,
                title=hit.title,
                kind="snippet",
                domain=registrable_domain(hit.origin),
                retrieved_at=hit.retrieved_at,
                content_hash=content_hash(hit.snippet),
            )
            for hit in self.hits.values()
            if hit.snippet and hit.origin not in read
        )

    def new_snippets(self) -> tuple[Retrieved, ...]:
        """Those that were not read yet."""
        new = tuple(snippet for snippet in self.snippets() if snippet.content_hash not in self._snippets_read)
        self._snippets_read.update(snippet.content_hash for snippet in new)
        return new

    def take_over(self, pages: Sequence[Retrieved]) -> None:
        """What others have opened already."""
        self.pages += pages
        self._tried.update(page.origin for page in pages)

    # ── reading ──────────────────────────────────────────────────────────────────────────────────────────────────────

    async def read(
        self, decision: ExtractFields, fields: tuple[Field, ...], sources: tuple[Retrieved, ...], *, ask: bool = True
    ) -> None:
        """By the built-in reader and, with `ask`, by the model; what both find is weighed in the end."""
        if not sources:
            return
        found = decision.fallback(Extract(subject=self.subject, fields=fields, sources=sources))
        if ask and self.model is not None:
            unsure = tuple(field for field in fields if not (self._cascade and best(found[field.name]) >= SURE_ENOUGH))
            known = frozenset(name for name, candidates in found.items() if candidates)
            asked = Extract(subject=self.subject, fields=unsure, sources=sources, known=known)
            if unsure and decision.has_something_to_read(asked):
                for name, candidates in (await self._asked(decision, asked)).items():
                    found[name] = [*candidates, *found[name]]
        for field in fields:
            self.take(field, found.get(field.name, []), sources)

    async def _asked(self, decision: ExtractFields, asked: Extract) -> dict[str, list[Candidate]]:
        own = [source.origin for source in asked.sources if is_document(source.origin)]
        shares = self.seat is not None and self.seat.model is self.model and type(decision) is ExtractFields
        if self.seat is not None and shares and not own:
            outcome = await self.seat.extract(asked, self.note)
            self.over_budget |= outcome.over_budget
            return outcome.decided
        with concerning(own):
            said: dict[str, list[Candidate]] = await self.decide(decision, asked)
        return said

    def take(self, field: Field, candidates: Sequence[Candidate], sources: Sequence[Retrieved]) -> None:
        """Keeps what the evidence rule allows, and notes what each source says."""
        reads = checked(field, candidates, sources)
        for read in reads:
            noted = any(
                other.source.origin == read.source.origin and agree(other.value, read.value)
                for other in self._reads[field.name]
            )
            self._reads[field.name].append(read)
            if not noted:
                quote = shortened(read.source.text[read.candidate.start : read.candidate.end], QUOTED)
                where = read.source.domain or read.source.title
                where += " (search result)" if read.source.kind == "snippet" else ""
                detail = f"{where} says {show(read.value)}: “{quote}”"
                self.note(Step(type="thinking", detail=detail, data={"url": read.source.origin}), field.name)

    def has(self, field: Field) -> bool:
        return bool(self._reads[field.name])

    def score(self, field: Field) -> float:
        """Of the best reading so far."""
        return max((read.candidate.score for read in self._reads[field.name]), default=0.0)

    def open_fields(self) -> tuple[Field, ...]:
        return tuple(field for field in self.fields if not self._reads[field.name])

    def leave_out_namesakes(self) -> None:
        """A site that knows nothing of the row but its name, and contradicts one that does, speaks of another. The
        user's own documents are about what the user has."""
        known: dict[str, float] = {}
        for page in (page for page in self.pages if page.kind != "document"):
            share = shared_context(self.subject, page.title, page.text)
            known[page.domain] = max(share, known.get(page.domain, 0.0))
        familiar = {domain for domain, share in known.items() if share >= FAMILIAR}
        for domain in [domain for domain, share in known.items() if share == 0]:
            if self._only_contradicts(domain, familiar):
                for name, reads in self._reads.items():
                    self._reads[name] = [read for read in reads if read.source.domain != domain]
                said = f"{domain} is about another {self.subject.name}: it knows nothing else of this row."
                self.note(Step(type="thinking", detail=said, data={"domain": domain}))

    def _only_contradicts(self, domain: str, familiar: Collection[str]) -> bool:
        contradicts = False
        for reads in self._reads.values():
            theirs = [read.value for read in reads if read.source.domain == domain]
            others = [read.value for read in reads if read.source.domain in familiar]
            if theirs and others:
                if any(agree(one, other) for one in theirs for other in others):
                    return False
                contradicts = True
        return contradicts

    # ── what follows ─────────────────────────────────────────────────────────────────────────────────────────────────

    async def finding(self, field: Field) -> Finding:
        found = weigh(field, self._reads[field.name], self.subject, self._prefers)
        return self._not_found(field) if found is None else await self._kept(found)

    async def _kept(self, finding: Finding) -> Finding:
        """A search result that became evidence is stored, so that its quote can be looked up like a page's."""
        snippets = {
            (read.source.origin, read.source.content_hash): read.source
            for read in self._reads[finding.field]
            if read.source.kind == "snippet"
        }

        async def stored(evidence: Evidence) -> Evidence:
            snippet = snippets.get((evidence.origin, evidence.content_hash))
            if snippet is None:
                return evidence
            kept = await self._web.keep(snippet)
            if kept.kind == "document":  # a part of it, which is kept whole already
                shift = kept.text.index(snippet.text)
                return evidence_for(kept, shift + (evidence.start or 0), shift + (evidence.end or 0))
            return msgspec.structs.replace(evidence, content_hash=kept.content_hash, retrieved_at=kept.retrieved_at)

        return msgspec.structs.replace(
            finding,
            evidence=tuple([await stored(evidence) for evidence in finding.evidence]),
            conflict=tuple(
                [
                    msgspec.structs.replace(rival, evidence=tuple([await stored(each) for each in rival.evidence]))
                    for rival in finding.conflict
                ]
            ),
        )

    def _not_found(self, field: Field) -> Finding:
        blocked = [refusal for refusal in self._refusals if refusal.reason == "blocked"]
        reason: Reason = "blocked" if blocked else "not_found"
        if self.over_budget:
            reason = "over_budget"
        elif self._failed_search and not self.hits:
            reason = "error"
        return Finding(field=field.name, reason=reason, error=self._looked_at())

    def _looked_at(self) -> str:
        """Where it was looked for, and why that was not enough."""
        if self._failed_search and not self.hits:
            return f"The search failed: {self._failed_search}"
        if not self.hits and not self._tried:
            return f"No search result for {' or '.join(repr(query) for query in self.queries)}."
        said = [f"{refusal.origin}: {refusal.detail.rstrip('.')}." for refusal in self._refusals]
        if self.pages:
            said.append(f"Read without finding it: {read_places(self.pages)}.")
        elif not self._tried and any(self._fit(hit) >= ABOUT for hit in self.hits.values()):
            said.append(f"None of {len(self.hits)} search results says it in its snippet.")
        return " ".join(said) or f"None of {len(self.hits)} search results is about {self.subject.name}."

    async def rate(self, findings: Sequence[Finding], *, ask: bool = False) -> Coverage:
        """How completely the fields are answered, by the rule or, with `ask`, by the model; noted as a step."""
        asked = JudgeCoverage(
            row=self.subject.name,
            answers=tuple(
                Answered(
                    field=finding.field,
                    value=show(finding.value) if finding.value is not None else "",
                    confidence=finding.confidence,
                    sources=len(finding.evidence),
                    conflict=bool(finding.conflict),
                )
                for finding in findings
            ),
            opened=len(self.pages),
        )
        coverage: Coverage = await self.decide(Judge(), asked) if ask else Judge().fallback(asked)
        self.note(Step(type="coverage", detail=described(coverage, asked), data={"rating": coverage.rating}))
        return coverage


def read_places(pages: Sequence[Retrieved]) -> str:
    """ "2 pages of acme.example, manual.pdf"."""
    documents = list(dict.fromkeys(page.title for page in pages if page.kind == "document"))
    web = [page for page in pages if page.kind != "document"]
    domains = ", ".join(dict.fromkeys(page.domain for page in web))
    named = [f"{len(web)} {plural('page', len(web))} of {domains}"] if web else []
    return ", ".join((*named, *documents))


def described(coverage: Coverage, asked: JudgeCoverage) -> str:
    """`medium: 3 of 4 answered; weak or missing: Founded`"""
    answered = sum(1 for answer in asked.answers if answer.value)
    weak = f"; weak or missing: {', '.join(coverage.weak)}" if coverage.weak else ""
    disputed = [answer.field for answer in asked.answers if answer.conflict]
    argued = f"; sources disagree on {', '.join(disputed)}" if disputed else ""
    return f"{coverage.rating}: {answered} of {len(asked.answers)} answered{weak}{argued}"


def best(candidates: Sequence[Candidate]) -> float:
    return candidates[0].score if candidates else 0.0
