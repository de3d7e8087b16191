"""Investigating a row: what was gathered and read for it, and what follows from that.

Every strategy that works with the web has one for each row, or for each question about it. Its steps read like a
person's notes; its findings come only from what was read, each checked by the evidence rule.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from datetime import date
from typing import Any

import msgspec

from tablewright.citations.quotes import cite_span
from tablewright.decisions.cell_answer import NONE, UNCLEAR
from tablewright.decisions.choose_pages import Choose, pages_for_row
from tablewright.decisions.decision import Decision, Outcome, fall_back
from tablewright.decisions.judge_values import (
    AnsweredField,
    Checked,
    Coverage,
    Judge,
    JudgeCoverage,
    JudgedValue,
    Support,
    ToSupport,
)
from tablewright.decisions.read import ReadRow, RowReading, RowToRead
from tablewright.domain.model import Evidence, Field, Finding, Reason, Step
from tablewright.domain.retrieved import Retrieved, content_hash
from tablewright.domain.text import count_noun, shortened, show
from tablewright.extraction.about import NAMESAKE, Subject, about, contradiction, fits
from tablewright.extraction.reader import ABOUT, Candidate
from tablewright.sources.fetch.guard import registrable_domain
from tablewright.sources.source import Hit, Source
from tablewright.strategies.findings import Disagreements, ReadCandidate, checked, resolve_value
from tablewright.strategies.gathering import Decided, Gathering
from tablewright.strategies.request_batcher import BatchSlot, RequestBatcher
from tablewright.strategies.strategy import Tell, Tools
from tablewright.values.same_value import same_value

SUPPORTED = 0.82
"""How sure a judged value is whose quotes support it by a second judgement; until then it is at most `JUDGED`."""
JUDGED = 0.7
DOUBTED = 0.75
"""At most, where the page may be about something else than the row."""
SURE_ENOUGH = 0.8
"""With cascade, what the built-in reader must score for a model not to be asked."""
QUOTED = 140
NOT_SEARCHED = "No search was made for it, which would change nothing."
NOTHING: Mapping[str, tuple[str, ...]] = {}
READ_ROW = ReadRow()


class RowInvestigation(Gathering):
    """`only` narrows the trace to these fields, for work that is done for them alone. With a `slot`, pages are read
    together with those of other rows."""

    def __init__(
        self,
        subject: Subject,
        fields: Sequence[Field],
        tools: Tools,
        web: Source,
        tell: Tell,
        *,
        only: Sequence[str] = (),
        slot: BatchSlot | None = None,
        examples: Mapping[str, tuple[str, ...]] = NOTHING,
        side_by_side: Collection[str] = (),
    ) -> None:
        super().__init__(web, tools.model, self.note)
        self.subject = subject
        self.fields = tuple(fields)
        self.notes: Mapping[str, str] = {}
        self._examples = examples
        self.strict = tools.strict
        self._cascade = tools.cascade
        self._prefers = tools.prefers
        self.slot = slot or RequestBatcher(None).slot()
        self._tell_of = tell
        self._only = tuple(only)
        self._snippets_read: set[str] = set()
        self._namesakes: dict[str, str] = {}
        self._read_before: dict[str, Retrieved] = {}
        self._unverified: dict[str, str] = {}
        self._degraded: dict[str, str] = {}
        self._reads: dict[str, list[ReadCandidate]] = {field.name: [] for field in fields}
        self._disagreements = Disagreements(subject, side_by_side)
        self._left: set[str] = set()
        self._absent: dict[str, Evidence] = {}
        """By column, where a text says that the row has no such thing."""

    def note(self, step: Step, *fields: str) -> None:
        self._tell_of(step, *(fields or self._only))

    @property
    def steps(self) -> int:
        """Searches made and pages asked for."""
        return len(self.queries) + self.opened

    async def _ask(self, task: Decision[Any, Decided], request: Any) -> Outcome[Decided]:
        """By the model, together with other rows."""
        if self.slot.model is self.model:
            return await self.slot.decide(task, request, self.note)
        return await super()._ask(task, request)

    # ── choosing ─────────────────────────────────────────────────────────────────────────────────────────────────────

    def _fit(self, hit: Hit) -> float:
        return about(self.subject, hit.title, hit.snippet)

    async def choose_pages(self, fields: Sequence[Field], most: int) -> tuple[str, ...]:
        """Return the results worth opening, the best first. What a model declines is not offered to it again."""
        offered = {offer.origin for offer in self.offers()}
        outcome = await self.choose(pages_for_row(self.subject, fields, self.notes), most)
        if self.model is not None and not outcome.degraded:
            self._declined |= offered - {*outcome.decided}
        return outcome.decided

    def likely(self, fields: Sequence[Field], most: int) -> tuple[str, ...]:
        """As `choose_pages`, without a model; of sites that were not read yet first."""
        seen = {page.domain for page in self.pages.values()}
        offers = self.offers()
        ranked = Choose().fallback(pages_for_row(self.subject, fields).among(offers, len(offers)))
        return tuple(sorted(ranked, key=lambda origin: registrable_domain(origin) in seen))[:most]

    def snippets(self) -> tuple[Retrieved, ...]:
        """The results whose pages were not read: those that refused, and those that were not opened."""
        read = {*self._led_to, *self.pages}
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

    # ── reading ──────────────────────────────────────────────────────────────────────────────────────────────────────

    async def read(
        self,
        fields: tuple[Field, ...],
        sources: tuple[Retrieved, ...],
        *,
        ask: bool = True,
        decision: ReadRow = READ_ROW,
    ) -> None:
        """By the model; by the built-in reader where there is none. With the user's own `--cascade` the reader goes
        first, and the model is asked for what it is not sure of."""
        if not sources or not fields:
            return
        if self.model is None or not ask:
            await self._read_without_model(fields, sources)
            return
        if self._cascade:
            await self._read_without_model(fields, sources)
            fields = tuple(field for field in fields if self.score(field) < SURE_ENOUGH)
            if not fields:
                return
        asked = RowToRead(
            subject=self.subject,
            fields=fields,
            sources=sources,
            room=self.model.text_room,
            examples={field.name: each for field in fields if (each := self.examples_of(field))},
            notes={name: note for name, note in self.notes.items() if any(field.name == name for field in fields)},
            strict=self.strict,
            today=date.today().isoformat(),
        )
        outcome = await self.decide(decision, asked)
        reading: RowReading = outcome.decided
        for other in reading.others:
            page = sources[other.source]
            self._namesakes[page.origin] = other.reason
            detail = f"{page.domain or page.title} is about something else: {other.reason}"
            self.note(Step(type="thinking", detail=detail, data={"url": page.origin, "same_row": "other"}))
        self._unverified |= reading.refused
        for field in fields:
            if outcome.degraded:
                self._degraded[field.name] = outcome.degraded
            self.take(field, reading.found.get(field.name, []), sources)

    async def _read_without_model(self, fields: tuple[Field, ...], sources: tuple[Retrieved, ...]) -> None:
        asked = RowToRead(
            subject=self.subject, fields=fields, sources=sources, beside=tuple(self._read_before.values())
        )
        found = (await fall_back(ReadRow(), asked)).found
        self._read_before |= {source.origin: source for source in sources if source.kind != "snippet"}
        for field in fields:
            self.take(field, found.get(field.name, []), sources)

    def take(self, field: Field, candidates: Sequence[Candidate], sources: Sequence[Retrieved]) -> None:
        """Keeps what the evidence rule allows, and notes what each source says."""
        for each in candidates:
            if each.value == NONE:
                self._absent.setdefault(field.name, cite_span(sources[each.source], each.start, each.end))
        reads = checked(field, candidates, sources)
        if self.model is not None:
            self._disagreements.read_at_once(field, reads)
        for read in reads:
            noted = any(
                other.source.origin == read.source.origin and same_value(other.value, read.value, "merging")
                for other in self._reads[field.name]
            )
            self._reads[field.name].append(read)
            if not noted:
                quote = shortened(read.source.words_at(read.candidate.start, read.candidate.end), QUOTED)
                where = read.source.domain or read.source.title
                where += " (search result)" if read.source.kind == "snippet" else ""
                detail = f"{where} says {show(read.value)}: “{quote}”"
                data = {"url": read.source.origin, "same_row": read.candidate.same_row, "doubt": read.candidate.doubt}
                self.note(Step(type="thinking", detail=detail, data=data), field.name)

    def refuse(self, field: Field, problem: str) -> None:
        """Keeps why an answer was not verified, for the cell that stays empty."""
        self._unverified[field.name] = problem

    def degrade(self, field: Field, problem: str) -> None:
        """From here on the field is read without the model, which cannot be asked."""
        self._degraded[field.name] = problem
        detail = f"{problem} Read without the model."
        self.note(Step(type="thinking", detail=detail, data={"degraded": True}), field.name)

    def is_degraded(self, field: Field) -> bool:
        return field.name in self._degraded

    def examples_of(self, field: Field) -> tuple[str, ...]:
        return self._examples.get(field.name, ())

    def has(self, field: Field) -> bool:
        """Return True if something was read of it, be it that there is none."""
        return bool(self._reads[field.name]) or field.name in self._absent

    def so_far(self, fields: Sequence[Field]) -> dict[str, Finding]:
        """Return what follows from what was read by now, for those of which something was."""
        return {field.name: found for field in fields if (found := self._weighed(field)) is not None}

    def leave(self, fields: Sequence[Field]) -> None:
        """For these no search is made."""
        self._left |= {field.name for field in fields}

    def score(self, field: Field) -> float:
        """Of the best reading so far."""
        return max((read.candidate.score for read in self._reads[field.name]), default=0.0)

    def _leave_out_namesakes(self) -> None:
        """Without a model, which says of each text whether it is about the row: pages that say something else of
        themselves than the row does, where others say the same. The user's own documents are about what the user
        has."""
        pages = [page for page in self.pages.values() if page.kind != "document"]
        for page, fit in zip(pages, fits(self.subject, pages), strict=True):
            if fit > NAMESAKE or page.origin in self._namesakes:
                continue
            self._namesakes[page.origin] = "what it says of itself does not match the row"
            for name, reads in self._reads.items():
                self._reads[name] = [read for read in reads if read.source.origin != page.origin]
            said = (
                f"“{page.title}” ({page.domain}) is about another {self.subject.name}: {self._namesakes[page.origin]}."
            )
            self.note(Step(type="thinking", detail=said, data={"url": page.origin, "same_row": "other"}))

    # ── what follows ─────────────────────────────────────────────────────────────────────────────────────────────────

    async def findings(self, fields: Sequence[Field]) -> list[Finding]:
        """Return what follows for each field from all that was read; what was judged is judged a second time, once a
        row."""
        if self.model is None:
            self._leave_out_namesakes()
        found = {field.name: self._weighed(field) for field in fields}
        if self.model is not None:
            for name, step in (await self._disagreements.compare(fields, found, self.decide)).items():
                self.note(step, name)
            found = {field.name: self._weighed(field) for field in fields}
        if judged := [field for field in fields if (each := found[field.name]) is not None and each.basis == "judged"]:
            verdicts = await self._supported([(field, found[field.name]) for field in judged])
            for field in judged:
                found[field.name] = self._after_support(field, found[field.name], verdicts.get(field.name))
        return [
            self._not_found(field) if (each := found[field.name]) is None else await self._kept(each)
            for field in fields
        ]

    async def finding(self, field: Field) -> Finding:
        return (await self.findings((field,)))[0]

    def _weighed(self, field: Field) -> Finding | None:
        both_right = self._disagreements.both_right[field.name]
        found = resolve_value(field, self._reads[field.name], self.subject, self._prefers, both_right)
        if found is None:
            return None
        said = [doubt := self._doubt(field, found)]
        if doubt:
            found = msgspec.structs.replace(found, confidence=min(found.confidence, DOUBTED))
        if degraded := self._degraded.get(field.name):
            said.append(f"Read without the model: {degraded}")
        return msgspec.structs.replace(found, error=" ".join(filter(None, said)) or None)

    def _doubt(self, field: Field, finding: Finding) -> str:
        """Why the pages may be about something else than the row, where no other page that is cited is surely about
        it: by the reader's word, or by what code can see."""
        cited = {evidence.origin for evidence in finding.evidence}
        reads = [read for read in self._reads[field.name] if read.source.origin in cited]
        doubts = [read.candidate.doubt or self._contradicted(read.source) for read in reads]
        return f"The page may be about something else: {doubts[0]}" if doubts and all(doubts) else ""

    def _contradicted(self, source: Retrieved) -> str:
        """With a model: what the page says of itself that the row's other cells do not."""
        return contradiction(self.subject, source) if self.model is not None and source.kind == "page" else ""

    async def _supported(self, judged: Sequence[tuple[Field, Finding | None]]) -> Mapping[str, Checked]:
        values = tuple(
            JudgedValue(field=field, value=show(each.value), evidence=each.evidence)
            for field, each in judged
            if each is not None
        )
        asked = ToSupport(subject=self.subject, values=values)
        verdicts: Mapping[str, Checked] = (await self.decide(Support(), asked)).decided
        return verdicts

    def _after_support(self, field: Field, finding: Finding | None, verdict: Checked | None) -> Finding | None:
        """A judged value after its second judgement. One that its quotes do not support is left out, and said."""
        assert finding is not None
        if verdict is None:
            said = "It could not be checked whether the quotes support it."
            return msgspec.structs.replace(finding, confidence=min(finding.confidence, JUDGED), error=said)
        if verdict.verdict == "no":
            said = f"{shortened(show(finding.value), QUOTED)!r} is not supported by its quotes: {verdict.reason}"
            self._unverified[field.name] = said
            self._reads[field.name] = [read for read in self._reads[field.name] if read.basis != "judged"]
            self.note(Step(type="thinking", detail=said, data={"left_out": True}), field.name)
            return self._weighed(field)
        sure = SUPPORTED if verdict.verdict == "yes" and finding.confidence > UNCLEAR else JUDGED
        if finding.conflict or verdict.verdict != "yes":
            sure = min(sure, finding.confidence, JUDGED)
        detail = f"The quotes support {shortened(show(finding.value), QUOTED)!r}: {verdict.verdict}. {verdict.reason}"
        self.note(Step(type="thinking", detail=detail, data={"support": verdict.verdict}), field.name)
        return msgspec.structs.replace(finding, confidence=min(sure, SUPPORTED))

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
                return cite_span(kept, shift + (evidence.start or 0), shift + (evidence.end or 0))
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
        if there := self._absent.get(field.name):
            said = f"{there.domain or there.title} says that there is none: “{shortened(there.quote, QUOTED)}”"
            return Finding(field=field.name, reason="not_applicable", error=said, evidence=(there,))
        blocked = [refusal for refusal in self.refusals.values() if refusal.reason == "blocked"]
        reason: Reason = "blocked" if blocked else "not_found"
        if self.over_budget:
            reason = "over_budget"
        elif self._nothing_answered():
            reason = "error"
        said = f"{self._looked_at()} {NOT_SEARCHED}" if field.name in self._left else self._looked_at()
        if unverified := self._unverified.get(field.name):
            said = f"The model's answer could not be verified and was left out: {unverified.rstrip('.')}. {said}"
        return Finding(field=field.name, reason=reason, error=said)

    def _nothing_answered(self) -> bool:
        """Return True if the search failed, or every page that was opened: then nothing is known of what is there."""
        if not self.hits:
            return bool(self.failed_searches or self.unsent)
        return bool(self.refusals) and not self.pages and all(each.is_outage for each in self.refusals.values())

    def _looked_at(self) -> str:
        """Return where it was looked for, and why that was not enough."""
        if self.failed_searches and not self.hits:
            return f"The search failed: {[*self.failed_searches.values()][-1].what}"
        if self.unsent and not self.hits:
            return f"A search was not sent: {next(iter(self.unsent.values()))}"
        if not self.hits and not self.opened:
            return f"No search result for {' or '.join(repr(query) for query in self.queries)}."
        said = [f"{refusal.origin}: {refusal.detail.rstrip('.')}." for refusal in self.refusals.values()]
        if own := [page for page in self.pages.values() if page.origin not in self._namesakes]:
            said.append(f"Read without finding it: {read_places(own)}.")
        if others := [page for page in self.pages.values() if page.origin in self._namesakes]:
            why = self._namesakes[others[0].origin].rstrip(".")
            said.append(f"About something else: {read_places(others)} ({why}).")
        if not self.opened and (self._snippets_read or any(self._fit(hit) >= ABOUT for hit in self.hits.values())):
            said.append(f"None of {len(self.hits)} search results says it in its snippet.")
        return " ".join(said) or f"None of {len(self.hits)} search results is about {self.subject.name}."

    async def rate(self, findings: Sequence[Finding], *, ask: bool = False) -> Coverage:
        """Return how completely the fields are answered, by the rule or, with `ask`, by the model; noted as a step."""
        asked = JudgeCoverage(
            row=self.subject.name,
            answers=tuple(
                AnsweredField(
                    field=finding.field,
                    value=show(finding.value) if finding.value is not None else "",
                    confidence=finding.confidence,
                    sources=len({each.domain or each.origin for each in finding.evidence}),
                    conflict=bool(finding.conflict),
                )
                for finding in findings
            ),
            opened=len(self.pages),
        )
        coverage: Coverage = (await self.decide(Judge(), asked)).decided if ask else Judge().fallback(asked)
        self.note(Step(type="coverage", detail=described(coverage, asked), data={"rating": coverage.rating}))
        return coverage


def read_places(pages: Sequence[Retrieved]) -> str:
    """ "2 pages of acme.example, manual.pdf"."""
    documents = list(dict.fromkeys(page.title for page in pages if page.kind == "document"))
    web = [page for page in pages if page.kind != "document"]
    domains = ", ".join(dict.fromkeys(page.domain for page in web))
    named = [f"{count_noun(len(web), 'page')} of {domains}"] if web else []
    return ", ".join((*named, *documents))


def described(coverage: Coverage, asked: JudgeCoverage) -> str:
    """`medium: 3 of 4 answered; weak or missing: Founded`"""
    answered = sum(1 for answer in asked.answers if answer.value)
    weak = f"; weak or missing: {', '.join(coverage.weak)}" if coverage.weak else ""
    disputed = [answer.field for answer in asked.answers if answer.conflict]
    argued = f"; sources disagree on {', '.join(disputed)}" if disputed else ""
    return f"{coverage.rating}: {answered} of {len(asked.answers)} answered{weak}{argued}"
