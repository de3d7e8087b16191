"""A research run in progress: its saved state, its limits, its progress events, and the memo of each round.

All steps of the run share one `ResearchProgress`; only `research.py` saves the rounds it collects.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import TypeAlias

import msgspec

from tablewright.citations.quotes import looks_like_prompt_injection, remove_marks
from tablewright.domain.model import Step
from tablewright.domain.research import (
    MEMO_LIMITS,
    Brief,
    CatalogCandidate,
    Gap,
    Memo,
    Note,
    Research,
    ResearchEvent,
    ResearchTask,
    Round,
    SourceEntry,
    SourceNote,
    Stage,
    TaskKind,
)
from tablewright.domain.retrieved import Retrieved
from tablewright.domain.text import count_noun, normalize_whitespace, pluralize_noun, shorten_text
from tablewright.errors import RunError
from tablewright.llm.tasks.reflect import Reflection, describe_missing_fields
from tablewright.llm.tokens import estimate_tokens
from tablewright.store.store import Store
from tablewright.strategies.strategy import Tools
from tablewright.workflows.research.library import Library, ResearchLimits

Watch: TypeAlias = Callable[[ResearchEvent], None]


class ResearchProgress:
    """The state that all steps of a run share."""

    def __init__(
        self, store: Store, tools: Tools, limits: ResearchLimits, research: Research, *, actor: str, watch: Watch
    ) -> None:
        self.store = store
        self.tools = tools
        self.limits = limits
        self.research = research
        self.actor = actor
        self.watch = watch
        self.round = 0
        self.kind: TaskKind | None = None
        self.library = Library(tools, research.brief, limits, searched=self._searched, tell=self.note)

    @property
    def brief(self) -> Brief:
        return self.research.brief

    @property
    def results(self) -> list[Note]:
        return [result for each in self.research.rounds for result in each.notes]

    @property
    def notes(self) -> list[SourceNote]:
        return [note for each in self.research.rounds for note in each.source_notes]

    @property
    def memo(self) -> Memo | None:
        """The memo of the last complete round."""
        return self.research.rounds[-1].memo if self.research.rounds else None

    @property
    def queries(self) -> list[str]:
        """All queries of the complete rounds."""
        return [task.search_query for each in self.research.rounds for task in each.tasks]

    @property
    def searches_left(self) -> int:
        return max(0, self.research.max_tasks - len(self.queries))

    def add(self, done: Round) -> None:
        self.research = msgspec.structs.replace(self.research, rounds=(*self.research.rounds, done))

    async def search(self, tasks: Sequence[ResearchTask]) -> list[Note]:
        """Search for the tasks and return their notes. Raise RunError if all searches fail or no page can be opened,
        since that is not "not found"."""
        self.tell("round", detail=f"{count_noun(len(tasks), 'search')}", total=len(tasks))
        results = await self.library.search_for(tasks)
        if self.limits.spent or not tasks or tasks[0].kind == "verify":
            return results
        # Verification is exempt above: a claim without a search stays "not checked".
        errors = [result.error for result in results if result.error]
        if len(errors) == len(tasks):
            raise RunError(f"Every search of round {self.round} failed: {errors[0]}", **self.kept())
        refused = [source for result in results for source in result.sources if source.status != "read"]
        if refused and not self.library.pages:
            raise RunError(
                f"{count_noun(len(refused), 'page')} were found and none could be read: "
                f"{refused[0].url}: {refused[0].detail or refused[0].status}.",
                **self.kept(),
            )
        return results

    def new_memo(
        self,
        reflection: Reflection,
        new: Sequence[SourceNote],
        searches: int,
        shown: Sequence[CatalogCandidate] | None = None,
    ) -> Memo:
        """Return the memo of a round with `new` notes and so many searches; `shown` are the rows of a catalog if the
        round changed them."""
        brief, before, notes = self.brief, self.memo, [*self.notes, *new]
        completed = self.research.max_tasks - self.searches_left + searches
        is_catalog = brief.report_type == "catalog"
        if shown is None:
            shown = before.candidates if before else ()
        return Memo(
            query=brief.question,
            report_type=brief.report_type,
            round_index=self.round,
            tasks_completed=completed,
            tasks_remaining=max(0, self.research.max_tasks - completed),
            unique_citations=len({note.evidence.origin for note in notes}),
            unique_domains=len({note.evidence.domain or note.evidence.origin for note in notes}),
            pages_extracted=len(self.library.pages),
            themes_covered=reflection.themes,
            sources_summary=summarise_sources(self.library.pages.values(), notes),
            gaps=reflection.gaps,
            claims_to_verify=reflection.claims,
            contradictions=reflection.contradictions,
            answered=reflection.answered,
            target_items=brief.target_items if is_catalog else 0,
            candidates=tuple(shown[: MEMO_LIMITS.candidates]),
            required_fields=tuple(each.field.name for each in brief.columns if each.field.required and is_catalog),
        )

    def kept(self) -> dict[str, str]:
        """Return what an error says was kept, and what to do next."""
        rounds = len(self.research.rounds)
        kept = f"{rounds} complete {pluralize_noun('round', rounds)}" if rounds else "The plan"
        return {
            "kept": f"{kept} and all paid results are kept.",
            "advice": f"`tablewright research --resume {self.research.id}` continues from there.",
        }

    # ── progress events ──────────────────────────────────────────────────────────────────────────────────────────────

    def tell(
        self,
        stage: Stage,
        *,
        detail: str = "",
        done: int = 0,
        total: int = 0,
        gaps: tuple[Gap, ...] = (),
        closed: tuple[str, ...] = (),
    ) -> None:
        self.watch(
            ResearchEvent(
                stage=stage,
                round_index=self.round,
                kind=self.kind,
                detail=detail,
                done=done,
                total=total,
                gaps=gaps,
                closed=closed,
            )
        )

    def note(self, step: Step) -> None:
        self.tell("reading", detail=step.detail)

    def _searched(self, task: ResearchTask) -> None:
        self.tell("task", detail=task.search_query)


# ── the memo ─────────────────────────────────────────────────────────────────────────────────────────────────────────

# The model reads the memo before each reflection: these keep a long list from filling it.
MAX_MEMO_GAPS = 5


def carry_over(memo: Memo) -> Reflection:
    """Return the last memo's judgements, for a round without a new reflection."""
    return Reflection(
        answered=memo.answered,
        themes=memo.themes_covered,
        gaps=memo.gaps,
        contradictions=memo.contradictions,
        claims=memo.claims_to_verify,
    )


def summarise_sources(pages: Iterable[Retrieved], notes: Sequence[SourceNote]) -> tuple[SourceEntry, ...]:
    """Return a few sources per site, those with notes first."""
    topics: dict[str, Counter[str]] = {}
    for note in notes:
        topics.setdefault(note.evidence.origin, Counter())[note.topic] += 1
    kept: list[SourceEntry] = []
    # Pages with notes first; the sort is stable, so the others keep the order in which they were opened.
    for page in sorted(pages, key=lambda page: page.origin not in topics):
        of_domain = sum(each.domain == page.domain for each in kept if page.domain)
        if len(kept) < MEMO_LIMITS.sources and of_domain < MEMO_LIMITS.sources_of_a_domain:
            noted = topics.get(page.origin)
            kept.append(
                SourceEntry(
                    url=page.origin,
                    domain=page.domain,
                    title=page.title,
                    has_evidence=noted is not None,
                    relevance=noted.most_common(1)[0][0] if noted else "",
                )
            )
    return tuple(kept)


def format_memo(memo: Memo, most_tokens: int = MEMO_LIMITS.tokens) -> str:
    """Return the memo as text, the most important first; what does not fit is cut from the end."""
    lines = list(_yield_memo_lines(memo))
    while lines and estimate_tokens("\n".join(lines)) > most_tokens:
        # The sections are in order of importance, so the end is what the model misses least.
        lines.pop()
    return "\n".join(lines)


def _yield_memo_lines(memo: Memo) -> Iterable[str]:
    yield f"# Research memo, round {memo.round_index}"
    # A long question is in the prompt already; here it only reminds.
    yield f"Query: {shorten_text(memo.query, 400)}"
    yield f"Report type: {memo.report_type}. Answered: {memo.answered}."
    yield f"Searches: {memo.tasks_completed} made, {memo.tasks_remaining} left."
    yield f"Pages read: {memo.pages_extracted}; noted from: {memo.unique_citations}, of {memo.unique_domains} sites."
    titles = (f"- {each.title or each.url} ({each.domain})" for each in memo.sources_summary)
    sections: dict[str, Iterable[str]] = {
        "Gaps": (
            f"{number}. [{gap.priority}] {gap.description}."
            + (f" Suggested: {gap.suggested_query}" if gap.suggested_query else "")
            for number, gap in enumerate(memo.gaps[:MAX_MEMO_GAPS], start=1)
        ),
        "Claims to verify": (
            f"- {each.claim_text} (note {each.note}). Verify with: {each.verification_query}"
            for each in memo.claims_to_verify
        ),
        "Contradictions": (
            f"- {each.about}: notes {', '.join(map(str, each.notes))} against {', '.join(map(str, each.against))}"
            for each in memo.contradictions
        ),
        "Themes covered": (f"- {theme}" for theme in memo.themes_covered),
        "Candidates": (f"- {each.name}: {describe_missing_fields(each)}" for each in memo.candidates[:10]),
        "Sources": (title for title in titles if not looks_like_prompt_injection(title)),
    }
    for heading, items in sections.items():
        if lines := [normalize_whitespace(remove_marks(item)) for item in items]:
            yield from (f"\n## {heading}", *lines)
