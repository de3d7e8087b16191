"""Investigation of one row: gather texts, read them, and derive the findings.

Every strategy that works with the web has one for each row, or for each question about it. Its steps read like a
person's notes; its findings come only from texts that were read, each checked by the evidence rule.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from datetime import date
from typing import Any

from msgspec import structs

from tablewright.citations.quotes import cite_span
from tablewright.domain.model import MAX_DOUBTED_CONFIDENCE, Conflict, Evidence, Field, Finding, Reason, Step
from tablewright.domain.retrieved import Retrieved, hash_content, is_document_id
from tablewright.domain.text import count_noun, format_value, shorten_text
from tablewright.extraction.reader import Candidate
from tablewright.extraction.subject import (
    SUBJECT_SCORES,
    Subject,
    find_contradiction,
    has_name_words,
    score_sources,
    score_subject_match,
)
from tablewright.llm.tasks.cell_answer import ABSENT_VALUE, MAX_UNCLEAR_SCORE
from tablewright.llm.tasks.choose_pages import ChoosePages, Offer, pages_for_row
from tablewright.llm.tasks.decision import Decision, Outcome, fall_back
from tablewright.llm.tasks.judge_values import (
    AnsweredField,
    Checked,
    CheckSupport,
    Coverage,
    CoverageToJudge,
    JudgeCoverage,
    JudgedValue,
    SupportToCheck,
)
from tablewright.llm.tasks.plan_patterns import OtherPatternsToPlan, PlanOtherPatterns
from tablewright.llm.tasks.read import ReadRow, RowReading, RowToRead
from tablewright.strategies.findings import Disagreements, ReadCandidate, Weights, check_candidates, resolve_value
from tablewright.strategies.gathering import Decided, Gathering
from tablewright.strategies.request_batcher import BatchSlot, RequestBatcher
from tablewright.strategies.strategy import Tell, Tools
from tablewright.values.coerce import coerce_value
from tablewright.values.same_value import same_value
from tablewright.web.fetch.guard import registrable_domain
from tablewright.web.provenance import current_provenance
from tablewright.web.source import Hit, Source

# A judged value counts as high only after a second judgement that its quotes support it.
SUPPORTED_CONFIDENCE, JUDGED_CONFIDENCE = 0.82, 0.7
# With cascade, a score of the built-in reader from which the model is not asked.
SURE_SCORE = 0.8
# In a step; the evidence has the whole quote.
QUOTE_CHARACTERS = 140
READ_ROW_TASK = ReadRow()


class RowInvestigation(Gathering):
    """One row under investigation. `only` narrows the trace to these fields, for work that is done for them alone. With
    a `slot`, pages are read in calls shared with other rows."""

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
        examples: Mapping[str, tuple[str, ...]] | None = None,
        side_by_side: Collection[str] = (),
    ) -> None:
        super().__init__(web, tools.model, self.note, tools.calls.searches)
        self.subject = subject
        self._called = [subject]
        """The row under each form of its name that was searched for."""
        self.fields = tuple(fields)
        self.notes: Mapping[str, str] = {}
        self._examples = examples or {}
        self.strict = tools.strict
        self._cascade = tools.cascade
        self._prefers = tools.prefers
        self.slot = slot or RequestBatcher(None).slot()
        self._tell_of = tell
        self._only = tuple(only)
        self.chose_own_page = False
        """True if the last choice was the row's plain page, so that the model has not judged the other results."""
        self._shown: set[str] = set()
        """Results that the model chose among."""
        self._snippets_read: set[str] = set()
        self._namesakes: dict[str, str] = {}
        self._read_before: dict[str, Retrieved] = {}
        self._unverified: dict[str, str] = {}
        self._degraded: dict[str, str] = {}
        self._reads: dict[str, list[ReadCandidate]] = {field.name: [] for field in fields}
        self._disagreements = Disagreements(subject, side_by_side)
        self._left: set[str] = set()
        self._absent: dict[str, Evidence] = {}
        """By column, the evidence that the row has no such thing."""

    def note(self, step: Step, *fields: str) -> None:
        self._tell_of(step, *(fields or self._only))

    @property
    def steps(self) -> int:
        """Searches made and pages asked for."""
        return len(self.queries) + self.opened

    async def _ask(self, task: Decision[Any, Decided], request: Any) -> Outcome[Decided]:
        """Ask the model, in a call shared with other rows if they use the same one."""
        # The strong model is asked for single rows, and never through the batch of the usual one.
        if self.slot.model is self.model:
            return await self.slot.decide(task, request, self.note)
        return await super()._ask(task, request)

    async def plan_again(self, request: OtherPatternsToPlan) -> tuple[str, ...]:
        """Return new search patterns for this row. What a private text says must not get into the queries of others, so
        such a row does not share a request."""
        provenance = current_provenance()
        ask = super()._ask if provenance is not None and provenance.has_read_private else self._ask
        planned = (await ask(PlanOtherPatterns(), request)).decided
        if planned.name:
            self._called.append(structs.replace(self.subject, name=planned.name))
        return planned.patterns

    # ── choosing ─────────────────────────────────────────────────────────────────────────────────────────────────────

    def _fit(self, result: Hit | Offer) -> float:
        return max(score_subject_match(subject, result.title, result.snippet) for subject in self._called)

    async def choose_pages(self, fields: Sequence[Field], most: int) -> tuple[str, ...]:
        """Return the results worth opening, the best first. Results that a model declines are not offered again.

        The model is not shown results that are clearly about something else, and is not asked if one result is plainly
        the row's page, or if it has chosen before and no new result names the row."""
        task = pages_for_row(self.subject, fields, self.notes)
        if self.model is None:
            # The ranking is no verdict: a result that was not chosen may be the next best.
            return (await self.choose(task, most)).decided
        offered = self._possible_offers()
        own = [offer for offer in offered if self._names_row(offer, offer.title) or self._is_own_page(offer)]
        self.chose_own_page = not self.pages and len(own) == 1 and self._is_own_page(own[0])
        if self.chose_own_page:
            self.note(Step(type="thinking", detail=f"“{own[0].title}” is plainly the page of {self.subject.name}."))
            return (own[0].origin,)
        new = [offer for offer in offered if offer.origin not in self._shown]
        if self._shown and not any(self._names_row(each, f"{each.title} {each.snippet} {each.origin}") for each in new):
            return ()
        outcome = await self.choose(task, most, [self.hits[offer.origin] for offer in offered])
        if not outcome.degraded:
            shown = {offer.origin for offer in offered}
            self._shown |= shown
            self._declined |= shown - {*outcome.decided}
        return outcome.decided

    def _possible_offers(self) -> list[Offer]:
        """Return the offers without those that are clearly about something else, if any result is not."""
        possible = {hit.origin for hit in self.hits.values() if self._fit(hit) >= SUBJECT_SCORES.possible}
        return [
            offer for offer in self.offers() if not possible or offer.origin in possible or is_document_id(offer.origin)
        ]

    def _is_own_page(self, offer: Offer) -> bool:
        # A document may name the row in its title and be one of many about it.
        return not is_document_id(offer.origin) and self._fit(offer) >= SUBJECT_SCORES.surely_own

    def _names_row(self, offer: Offer, text: str) -> bool:
        return is_document_id(offer.origin) or any(has_name_words(subject, text) for subject in self._called)

    def likely(self, fields: Sequence[Field], most: int) -> tuple[str, ...]:
        """Return the results worth opening as the built-in rules see it, new sites first."""
        seen = {page.domain for page in self.pages.values()}
        offers = self.offers()
        ranked = ChoosePages().fallback(pages_for_row(self.subject, fields).among(offers, len(offers)))
        # A stable sort: among new sites, and among known ones, the ranking holds.
        return tuple(sorted(ranked, key=lambda origin: registrable_domain(origin) in seen))[:most]

    def snippets(self) -> tuple[Retrieved, ...]:
        """Return the search results whose pages were not read."""
        read = {*self._led_to, *self.pages}
        return tuple(
            Retrieved(
                origin=hit.origin,
                text=hit.snippet,
                title=hit.title,
                kind="snippet",
                domain=registrable_domain(hit.origin),
                retrieved_at=hit.retrieved_at,
                content_hash=hash_content(hit.snippet),
            )
            for hit in self.hits.values()
            if hit.snippet and hit.origin not in read
        )

    def new_snippets(self) -> tuple[Retrieved, ...]:
        """Return the snippets that were not read yet."""
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
        decision: ReadRow = READ_ROW_TASK,
    ) -> None:
        """Read the sources with the model, or with the built-in reader if there is none. With `--cascade` the built-in
        reader goes first, and the model is asked only for fields that it is not sure of."""
        if not sources or not fields:
            return
        if self.model is None or not ask:
            await self._read_without_model(fields, sources)
            return
        if self._cascade:
            await self._read_without_model(fields, sources)
            fields = tuple(field for field in fields if self.score(field) < SURE_SCORE)
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
        if outcome.over_budget:
            # Read by the built-in rules they would count as filled, and the next run would not ask the model for them.
            return
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
            subject=self.subject, fields=fields, sources=sources, earlier=tuple(self._read_before.values())
        )
        found = (await fall_back(ReadRow(), asked)).found
        self._read_before |= {source.origin: source for source in sources if source.kind != "snippet"}
        for field in fields:
            self.take(field, found.get(field.name, []), sources)

    def take(self, field: Field, candidates: Sequence[Candidate], sources: Sequence[Retrieved]) -> None:
        """Keep the candidates that pass the evidence rule, and note them as steps."""
        for each in candidates:
            if each.value == ABSENT_VALUE:
                self._absent.setdefault(field.name, cite_span(sources[each.source], each.start, each.end))
        reads = check_candidates(field, candidates, sources)
        if self.model is not None:
            self._disagreements.read_at_once(field, reads)
        for read in reads:
            noted = any(
                other.source.origin == read.source.origin and same_value(other.value, read.value, "merging")
                for other in self._reads[field.name]
            )
            # Kept even if it is not noted again: its score may be better.
            self._reads[field.name].append(read)
            if not noted:
                quote = shorten_text(read.source.words_at(read.candidate.start, read.candidate.end), QUOTE_CHARACTERS)
                where = read.source.domain or read.source.title
                where += " (search result)" if read.source.kind == "snippet" else ""
                detail = f"{where} says {format_value(read.value)}: “{quote}”"
                data = {"url": read.source.origin, "same_row": read.candidate.same_row, "doubt": read.candidate.doubt}
                self.note(Step(type="thinking", detail=detail, data=data), field.name)

    def refuse(self, field: Field, problem: str) -> None:
        """Keep the reason why an answer was not verified, for the cell that stays empty."""
        self._unverified[field.name] = problem

    def degrade(self, field: Field, problem: str) -> None:
        """Note that the model failed, so that the field is read without it from now on."""
        self._degraded[field.name] = problem
        detail = f"{problem} Read without the model."
        self.note(Step(type="thinking", detail=detail, data={"degraded": True}), field.name)

    def is_degraded(self, field: Field) -> bool:
        return field.name in self._degraded

    def examples_of(self, field: Field) -> tuple[str, ...]:
        return self._examples.get(field.name, ())

    def has(self, field: Field) -> bool:
        """Return True if a text states the field, or states that there is none."""
        return bool(self._reads[field.name]) or field.name in self._absent

    def so_far(self, fields: Sequence[Field]) -> dict[str, Finding]:
        """Return the findings so far, for the fields that have one."""
        return {field.name: found for field in fields if (found := self._weighed(field)) is not None}

    def leave(self, fields: Sequence[Field]) -> None:
        """Note that these fields are not searched for."""
        self._left |= {field.name for field in fields}

    def score(self, field: Field) -> float:
        """Return the score of the best candidate so far, or 0."""
        return max((read.candidate.score for read in self._reads[field.name]), default=0.0)

    def _leave_out_namesakes(self) -> None:
        """Drop pages about another subject of the same name, as far as code can see: pages that contradict the row's
        cells while others match. A model judges each text itself; the user's own documents are never dropped."""
        pages = [page for page in self.pages.values() if page.kind != "document"]
        for page, fit in zip(pages, score_sources(self.subject, pages), strict=True):
            if fit > SUBJECT_SCORES.namesake or page.origin in self._namesakes:
                continue
            self._namesakes[page.origin] = "what it says of itself does not match the row"
            for name, reads in self._reads.items():
                self._reads[name] = [read for read in reads if read.source.origin != page.origin]
            detail = (
                f"“{page.title}” ({page.domain}) is about another {self.subject.name}: {self._namesakes[page.origin]}."
            )
            self.note(Step(type="thinking", detail=detail, data={"url": page.origin, "same_row": "other"}))

    # ── findings ─────────────────────────────────────────────────────────────────────────────────────────────────────

    async def findings(self, fields: Sequence[Field]) -> list[Finding]:
        """Return a finding for each field from all texts read. Judged values are judged a second time, in one call."""
        if self.model is None:
            self._leave_out_namesakes()
        found = {field.name: self._weighed(field) for field in fields}
        if self.model is not None:
            for name, step in (await self._disagreements.compare(fields, found, self.decide)).items():
                self.note(step, name)
            found = {field.name: self._weighed(field) for field in fields}
        # After the comparison, because a judged value may have lost to a stated one by then.
        if judged := [field for field in fields if (each := found[field.name]) is not None and each.basis == "judged"]:
            verdicts = await self._supported([(field, found[field.name]) for field in judged])
            for field in judged:
                found[field.name] = self._after_support(field, found[field.name], verdicts.get(field.name))
        return [
            self._not_found(field)
            if (each := found[field.name]) is None
            else await self._kept(self._proposed(each, field))
            for field in fields
        ]

    async def finding(self, field: Field) -> Finding:
        return (await self.findings((field,)))[0]

    def _weighed(self, field: Field) -> Finding | None:
        both_right = self._disagreements.both_right[field.name]
        found = resolve_value(field, self._reads[field.name], self.subject, self._prefers, both_right)
        if found is None:
            return None
        said = [found.error or "", doubt := self._doubt(field, found)]
        if doubt:
            # Never high if the page may be about something else than the row.
            found = structs.replace(found, confidence=min(found.confidence, MAX_DOUBTED_CONFIDENCE))
        if degraded := self._degraded.get(field.name):
            said.append(f"Read without the model: {degraded}")
        return structs.replace(found, error=" ".join(filter(None, said)) or None)

    def _proposed(self, finding: Finding, field: Field) -> Finding:
        """Return the finding; of the built-in reader, only what it is sure enough of, and the rest as a hint."""
        # A model gives the basis of its answers, and the built-in reader none: no threshold of its overrules a model.
        if any(read.candidate.basis is not None for read in self._reads[field.name]):
            return finding
        sure = finding.confidence
        if sure >= Weights.MIN_HIGH:
            return finding
        if sure >= Weights.MIN_PROPOSED:
            return structs.replace(finding, confidence=min(sure, MAX_DOUBTED_CONFIDENCE))
        if finding.conflict and self.score(field) >= Weights.MIN_PROPOSED:
            # What lowers it is that sources disagree, which is worth a look, whichever is right.
            return structs.replace(finding, confidence=min(sure, Weights.MAX_LOW))
        value = coerce_value(finding.value, field).value
        hint = Conflict(value=value, evidence=finding.evidence, reason="The built-in rules are not sure of it.")
        others = tuple(other for other in finding.conflict if not same_value(other.value, value, "merging"))
        return Finding(
            field=field.name,
            reason="not_found",
            error="The built-in rules found only what they are not sure of.",
            conflict=(hint, *others) if value is not None else others,
        )

    def _doubt(self, field: Field, finding: Finding) -> str:
        """Return why all cited pages may be about something else than the row, according to the reader or to code, or
        ""."""
        cited = {evidence.origin for evidence in finding.evidence}
        reads = [read for read in self._reads[field.name] if read.source.origin in cited]
        doubts = [read.candidate.doubt or self._contradicted(read.source) for read in reads]
        return f"The page may be about something else: {doubts[0]}" if doubts and all(doubts) else ""

    def _contradicted(self, source: Retrieved) -> str:
        """With a model, return how the page contradicts the row's other cells, or ""."""
        return find_contradiction(self.subject, source) if self.model is not None and source.kind == "page" else ""

    async def _supported(self, judged: Sequence[tuple[Field, Finding | None]]) -> Mapping[str, Checked]:
        values = tuple(
            JudgedValue(field=field, value=format_value(each.value), evidence=each.evidence)
            for field, each in judged
            if each is not None
        )
        asked = SupportToCheck(subject=self.subject, values=values)
        verdicts: Mapping[str, Checked] = (await self.decide(CheckSupport(), asked)).decided
        return verdicts

    def _after_support(self, field: Field, finding: Finding | None, verdict: Checked | None) -> Finding | None:
        """Return a judged value after its second judgement. A value that its quotes do not support is left out and
        reported."""
        assert finding is not None
        if verdict is None:
            unchecked = "It could not be checked whether the quotes support it."
            said = " ".join(filter(None, (finding.error, unchecked)))
            return structs.replace(finding, confidence=min(finding.confidence, JUDGED_CONFIDENCE), error=said)
        shown = repr(shorten_text(format_value(finding.value), QUOTE_CHARACTERS))
        if verdict.verdict == "no":
            said = f"{shown} is not supported by its quotes: {verdict.reason}"
            self._unverified[field.name] = said
            # Only what was judged is dropped: a stated value that had lost may now win.
            self._reads[field.name] = [read for read in self._reads[field.name] if read.basis != "judged"]
            self.note(Step(type="thinking", detail=said, data={"left_out": True}), field.name)
            return self._weighed(field)
        sure = (
            SUPPORTED_CONFIDENCE
            if verdict.verdict == "yes" and finding.confidence > MAX_UNCLEAR_SCORE
            else JUDGED_CONFIDENCE
        )
        # Support for one of two values does not say that the other is wrong, and settles no other doubt.
        if finding.conflict or finding.error or verdict.verdict != "yes":
            sure = min(sure, finding.confidence, JUDGED_CONFIDENCE)
        partly = f"Its quotes support it only in part: {verdict.reason}" if verdict.verdict == "partly" else ""
        said = " ".join(filter(None, (finding.error, partly)))
        detail = f"The quotes support {shown}: {verdict.verdict}. {verdict.reason}"
        self.note(Step(type="thinking", detail=detail, data={"support": verdict.verdict}), field.name)
        return structs.replace(finding, confidence=min(sure, SUPPORTED_CONFIDENCE), error=said or None)

    async def _kept(self, finding: Finding) -> Finding:
        """Store search results that became evidence, so that their quotes can be looked up like those of pages."""
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
            # A part of it, which is kept whole already.
            if kept.kind == "document":
                shift = kept.text.index(snippet.text)
                return cite_span(kept, shift + (evidence.start or 0), shift + (evidence.end or 0))
            return structs.replace(evidence, content_hash=kept.content_hash, retrieved_at=kept.retrieved_at)

        return structs.replace(
            finding,
            evidence=tuple([await stored(evidence) for evidence in finding.evidence]),
            conflict=tuple(
                [
                    structs.replace(rival, evidence=tuple([await stored(each) for each in rival.evidence]))
                    for rival in finding.conflict
                ]
            ),
        )

    def _not_found(self, field: Field) -> Finding:
        if there := self._absent.get(field.name):
            quote = shorten_text(there.quote, QUOTE_CHARACTERS)
            said = f"{there.domain or there.title} says that there is none: “{quote}”"
            return Finding(field=field.name, reason="not_applicable", error=said, evidence=(there,))
        # In this order: a spent budget and a failed search say more about an empty cell than a page that refused.
        if self.over_budget:
            # Pages that were opened were perhaps not read.
            said = "The run stopped at its cap on spending while this row was in progress."
            return Finding(field=field.name, reason="over_budget", error=said)
        blocked = [refusal for refusal in self.refusals.values() if refusal.reason == "blocked"]
        reason: Reason = "blocked" if blocked else "not_found"
        if self._nothing_answered():
            reason = "error"
        said = (
            f"{self._looked_at()} No search was made for it, which would change nothing."
            if field.name in self._left
            else self._looked_at()
        )
        if unverified := self._unverified.get(field.name):
            said = f"The model's answer could not be verified and was left out: {unverified.rstrip('.')}. {said}"
        return Finding(field=field.name, reason=reason, error=said)

    def _nothing_answered(self) -> bool:
        """Return True if the search or every page failed, so that nothing can be concluded."""
        if not self.hits:
            return bool(self.failed_searches or self.unsent)
        return bool(self.refusals) and not self.pages and all(each.is_outage for each in self.refusals.values())

    def _looked_at(self) -> str:
        """Return the searches and pages as text, and why they were not enough."""
        if self.failed_searches and not self.hits:
            return f"The search failed: {[*self.failed_searches.values()][-1].what}"
        if self.unsent and not self.hits:
            return f"A search was not sent: {next(iter(self.unsent.values()))}"
        if not self.hits and not self.opened:
            return f"No search result for {' or '.join(repr(query) for query in self.queries)}."
        said = [f"{refusal.origin}: {refusal.detail.rstrip('.')}." for refusal in self.refusals.values()]
        if own := [page for page in self.pages.values() if page.origin not in self._namesakes]:
            said.append(f"Read without finding it: {describe_pages(own)}.")
        if others := [page for page in self.pages.values() if page.origin in self._namesakes]:
            why = self._namesakes[others[0].origin].rstrip(".")
            said.append(f"About something else: {describe_pages(others)} ({why}).")
        if not self.opened and (
            self._snippets_read or any(self._fit(hit) >= SUBJECT_SCORES.about for hit in self.hits.values())
        ):
            said.append(f"None of {len(self.hits)} search results says it in its snippet.")
        return " ".join(said) or f"None of {len(self.hits)} search results is about {self.subject.name}."

    async def rate(self, findings: Sequence[Finding], *, ask: bool = False) -> Coverage:
        """Rate how completely the fields are answered, by a rule or, with `ask`, by the model; note it as a step."""
        fields = {field.name: field for field in self.fields}
        asked = CoverageToJudge(
            subject=self.subject,
            answers=tuple(
                AnsweredField(
                    field=fields[finding.field],
                    evidence=finding.evidence,
                    value=format_value(finding.value) if finding.value is not None else "",
                    confidence=finding.confidence,
                    sources=len({each.domain or each.origin for each in finding.evidence}),
                    conflict=bool(finding.conflict),
                )
                for finding in findings
            ),
            opened=len(self.pages),
        )
        coverage: Coverage = (
            (await self.decide(JudgeCoverage(), asked)).decided if ask else JudgeCoverage().fallback(asked)
        )
        self.note(Step(type="coverage", detail=describe_coverage(coverage, asked), data={"rating": coverage.rating}))
        return coverage


def describe_pages(pages: Sequence[Retrieved]) -> str:
    """Return pages as text: "2 pages of acme.example, manual.pdf"."""
    documents = list(dict.fromkeys(page.title for page in pages if page.kind == "document"))
    web = [page for page in pages if page.kind != "document"]
    domains = ", ".join(dict.fromkeys(page.domain for page in web))
    named = [f"{count_noun(len(web), 'page')} of {domains}"] if web else []
    return ", ".join((*named, *documents))


def describe_coverage(coverage: Coverage, asked: CoverageToJudge) -> str:
    """Return a rating as text: "medium: 3 of 4 answered; weak or missing: Founded"."""
    answered = sum(1 for answer in asked.answers if answer.value)
    weak = f"; weak or missing: {', '.join(coverage.weak)}" if coverage.weak else ""
    disputed = [answer.field.name for answer in asked.answers if answer.conflict]
    argued = f"; sources disagree on {', '.join(disputed)}" if disputed else ""
    return f"{coverage.rating}: {answered} of {len(asked.answers)} answered{weak}{argued}"
