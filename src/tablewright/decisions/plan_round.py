"""Plan round: what the workers search for in the next round.

Round 1 discovers, round 2 fills the gaps that the memo names, round 3 looks for other sources on the claims that matter
most. No query is sent twice.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from pydantic import BaseModel
from pydantic import Field as Key

from tablewright.decisions.brief.angles import topic_of
from tablewright.decisions.brief.catalog import head
from tablewright.decisions.brief.columns import is_offered, kind_of
from tablewright.decisions.brief.phrases import as_query, names_in, same_words, short_query
from tablewright.decisions.decision import Prompt, Unusable
from tablewright.decisions.detect_gaps import DIVERSE, plain_name
from tablewright.decisions.memo_text import bounded, said, written
from tablewright.decisions.question.words import is_plural, singular
from tablewright.table.model import Noun, RowId
from tablewright.table.research import Angle, Brief, Claim, Gap, Memo, ResearchTask, TaskKind
from tablewright.table.untrusted import WARNING, block, gives_orders, question_block

_QUERIES = (
    "Write short search queries of the words that pages use: no sentences, no question marks. instructions: what to "
    "look for, in one sentence. "
)
DISCOVER_CATALOG = (
    "You plan round 1 of the research for a list. Plan searches that find things of the asked kind, each in another "
    "wording, so that they find them independently of each other. target_gap stays empty. " + _QUERIES
)
DISCOVER_NARRATIVE = (
    "You plan round 1 of the research for a report. Plan at least one search for each of the numbered angles. "
    "target_gap: the number of the angle. " + _QUERIES
)
FILL_CATALOG = (
    "You plan round 2 of the research for a list: it fills the gaps of the memo, so that the profiles of the "
    "candidates "
    "become complete. Each task is for one numbered gap, the most important first; target_gap: its number. For a "
    "missing "
    'price search the name with "pricing cost plans", for missing proof the name with "case study testimonial". '
    + _QUERIES
    + WARNING
)
FILL_NARRATIVE = (
    "You plan round 2 of the research for a report: it fills the gaps of the memo and strengthens what is weak. Each "
    "task is for one numbered gap, the most important first; target_gap: its number. Aim at other websites than those "
    "that were read. " + _QUERIES + WARNING
)
VERIFY = (
    "You plan round 3 of the research: it checks the claims of the memo. Each task is for one numbered claim; "
    "target_gap: its number. Look for independent websites, not those of the claim's own source, and for what "
    "contradicts the claim as much as for what confirms it; for prices look for reviews and comparisons. "
    + _QUERIES
    + WARNING
)
SEARCHED_TWICE = "every task needs a search query of its own that was not tried"


class PlanRound(Noun, frozen=True):
    """`most` is how many tasks the round may have, `tried` are the queries that were sent before."""

    brief: Brief
    round_index: int
    memo: Memo | None = None
    most: int = 5
    tried: tuple[str, ...] = ()


class PlannedTask(BaseModel):
    search_query: str = Key(max_length=200)
    instructions: str = Key(default="", max_length=400)
    target_gap: str = Key(default="", max_length=200)


class PlannedTasks(BaseModel):
    tasks: list[PlannedTask] = Key(max_length=30)


class _Target(Noun, frozen=True):
    """What a task is for: an angle, a gap or a claim, as `text` names it; and queries for it, the best first."""

    text: str
    queries: tuple[str, ...]
    kind: TaskKind = "discover"
    instructions: str = ""
    names: tuple[str, ...] = ()
    row_id: RowId = 0
    fields: tuple[str, ...] = ()


class Plan:
    name = "plan round"

    def prompt(self, asked: PlanRound) -> Prompt:
        parts = [question_block(asked.brief.question)]
        if asked.round_index == 1:
            parts.append(question_block(_asked_for(asked.brief)))
        elif asked.memo:
            parts.append(f"Memo:\n{block(1, written(asked.memo))}")
        if asked.tried:
            parts.append("Tried already:\n" + block(2, "\n".join(said(query, 160) for query in asked.tried[-20:])))
        parts.append(f"Plan at most {asked.most} tasks.")
        instructions = _instructions(asked)
        return Prompt(instructions=instructions, text="\n\n".join(parts), reply=PlannedTasks, max_tokens=700)

    def check(self, asked: PlanRound, reply: Any) -> tuple[ResearchTask, ...]:
        """Its queries for targets that there are; what room it leaves is filled by the rule. For one fact the words of
        the question itself are searched for as well: what a model makes of them may be about something else."""
        targets = _targets(asked)
        free = asked.round_index == 1 and asked.brief.report_type == "catalog"
        tasks = _Tasks(asked)
        served = set()
        if asked.brief.is_fact:
            for each in targets:
                tasks.add_first_new(each)
        own = len(tasks.planned)
        for planned in reply.tasks:
            if asked.brief.is_fact and len(tasks.planned) - own >= asked.most // 2:
                break
            target = targets[0] if free and targets else _named(planned.target_gap, targets)
            query = short_query(planned.search_query)
            if target is None or gives_orders(query) or not tasks.add(target, query, planned.instructions):
                continue
            served.add(target.text)
        if targets and not served:
            raise Unusable(f"{SEARCHED_TWICE}, and the number of what it is for.", usable=self.fallback(asked))
        for target in targets if free else [each for each in targets if each.text not in served]:
            tasks.add_first_new(target)
        if asked.brief.is_fact:
            tasks.add_all(targets)
        return tuple(tasks.planned)

    def fallback(self, asked: PlanRound) -> tuple[ResearchTask, ...]:
        tasks = _Tasks(asked)
        targets = _targets(asked)
        for target in targets:
            tasks.add_first_new(target)
        if asked.brief.is_fact:
            tasks.add_all(targets)
        elif asked.round_index == 2 and asked.brief.report_type == "catalog":
            for target in targets:
                for query in target.queries:
                    if _other_field(query, target, tasks.planned):
                        tasks.add(target, query)
        return tuple(tasks.planned)


class _Tasks:
    """The tasks of a round as they come together: numbered, no more than allowed, no query twice."""

    def __init__(self, asked: PlanRound) -> None:
        self.planned: list[ResearchTask] = []
        self._asked = asked
        self._seen = {same_words(query) for query in asked.tried}

    def add(self, target: _Target, query: str, instructions: str = "") -> bool:
        words = same_words(query)
        if len(self.planned) >= self._asked.most or not words or words in self._seen:
            return False
        self._seen.add(words)
        number = len(self.planned) + 1
        round_index = self._asked.round_index
        instructions = said(instructions, 300)
        self.planned.append(
            ResearchTask(
                id=f"v_{number}" if round_index >= 3 else f"r{round_index}_{number}",
                kind=target.kind,
                search_query=query,
                instructions=target.instructions if not instructions or gives_orders(instructions) else instructions,
                target_gap=target.text,
                row_id=target.row_id,
                fields=target.fields,
            )
        )
        return True

    def add_first_new(self, target: _Target) -> None:
        for query in target.queries:
            if self.add(target, query) or len(self.planned) >= self._asked.most:
                return

    def add_all(self, targets: Sequence[_Target]) -> None:
        for target in targets:
            for query in target.queries:
                self.add(target, query)


def _instructions(asked: PlanRound) -> str:
    catalog = asked.brief.report_type == "catalog"
    if asked.round_index >= 3:
        return VERIFY
    if asked.round_index == 2:
        return FILL_CATALOG if catalog else FILL_NARRATIVE
    return DISCOVER_CATALOG if catalog else DISCOVER_NARRATIVE


def _asked_for(brief: Brief) -> str:
    if brief.report_type == "catalog":
        columns = ", ".join(each.field.name for each in brief.columns if each.field.required)
        return f"Listed are: {brief.things} ({brief.target_items} wanted)\nColumns: {columns}"
    return "Angles:\n" + "\n".join(f"{n}. {angle.name}: {angle.question}" for n, angle in enumerate(brief.angles, 1))


def _named(said_target: str, targets: Sequence[_Target]) -> _Target | None:
    """The target that a reply means, by its number or by its words."""
    if number := re.match(r"\s*(?:gap|claim|angle|no\.?|#)?\s*(\d{1,2})\b", said_target, re.IGNORECASE):
        place = int(number[1])
        return targets[place - 1] if 1 <= place <= len(targets) else None
    words = same_words(said_target)
    for target in targets:
        own = same_words(target.text)
        if words and (own <= words or (words <= own and len(words) > 1)):
            return target
    named = (t for t in targets if any(name and same_words(name) <= words for name in t.names))
    return next(named, None) if words else None


# ── what the round is for ────────────────────────────────────────────────────────────────────────────────────────────


def _targets(asked: PlanRound) -> list[_Target]:
    brief = asked.brief
    if asked.round_index == 1:
        if brief.report_type == "narrative":
            return [_angle(brief, angle) for angle in brief.angles]
        wanted = ", ".join(each.field.name for each in brief.columns if each.field.required)
        about = f"Find {brief.things}. Note the name of each, and if it is said: {wanted}."
        return [_Target(text="", queries=(query,), instructions=about) for query in discovery_queries(brief)]
    if not asked.memo:
        return []
    memo = bounded(asked.memo)
    if asked.round_index == 2:
        return [_gap(brief, gap) for gap in memo.gaps]
    return [_claim(claim) for claim in memo.claims_to_verify]


def discovery_queries(brief: Brief) -> list[str]:
    """Independent wordings for the same things: what several of them find is likely to be most of what there is. Pages
    about one of them say "film director", those about many "films"."""
    things = brief.things or as_query(brief.question)
    columns = [
        _column_words(each.field.name) for each in brief.columns if each.field.required and each.kind not in _OF_ALL
    ]
    is_best = re.match(r"(?:top|best|most|least|\w+est)\b", things, re.IGNORECASE)
    generic = [
        f"list of {things}",
        f"top {things}" if is_best else f"best {things}",
        f"{things} {'companies providers' if is_offered(things) else 'examples'}",
        f"{things} comparison",
        f"{things} directory",
        f"new {things}",
        f"{things} guide overview",
        f"{things} recommended",
        f"{things} ranking review",
    ]
    noun = head(things)
    one = things.replace(noun, singular(noun), 1) if noun and is_plural(noun) else things
    ways = [things]
    for place in range(max(len(columns), len(generic))):
        ways += [f"{one} {words}" for words in columns[place : place + 1]] + generic[place : place + 1]
    unique = {same_words(query): query for query in reversed([short_query(as_query(way)) for way in ways])}
    return [query for query in reversed(unique.values()) if query]


_OF_ALL = frozenset({"name", "site"})


def _column_words(name: str) -> str:
    return name if re.match(r"[A-Z]{2}|\w+[A-Z]", name) else name.lower()


def _angle(brief: Brief, angle: Angle) -> _Target:
    query = angle.query or as_query(angle.question)
    own = as_query(angle.question)
    names = " ".join(names_in(angle.question))
    wordings = (own, angle.question, names, f"{own} facts", f"{names} history" if names else f"{own} overview")
    ways = (query, *wordings) if brief.is_fact else (query, own, f"{query} overview", f"{query} report")
    return _Target(
        text=angle.name,
        queries=_unique(ways),
        instructions=f"Find what answers: {angle.question}",
        names=(angle.name,),
    )


def _gap(brief: Brief, gap: Gap) -> _Target:
    topic = as_query(topic_of(brief.question))
    discovers = gap.gap_type == "missing_candidates" or gap.missing_topic == DIVERSE
    if gap.gap_type == "missing_candidates":
        ways: Iterable[str] = (gap.suggested_query, *discovery_queries(brief))
        instructions = f"Find more {brief.things}."
    elif gap.candidate_name:
        name = plain_name(gap.candidate_name)
        ways = (gap.suggested_query, *_field_queries(name, gap))
        instructions = f"Find for {name}: {', '.join(gap.missing_fields)}."
    elif gap.missing_topic == DIVERSE:
        ways = (
            gap.suggested_query,
            *(
                f"{topic} {words}"
                for words in ("research study", "statistics report", "news analysis", "expert opinion", "encyclopedia")
            ),
        )
        instructions = "Find websites that were not read yet."
    else:
        angle = next((each for each in brief.angles if each.name == gap.missing_topic), None)
        about = (
            (angle.query or as_query(angle.question))
            if angle
            else f"{topic} {as_query(gap.missing_topic or gap.description)}"
        )
        ways = (
            gap.suggested_query,
            about,
            *(
                f"{about} {words}"
                for words in ("explained", "report analysis", "research study", "overview", "statistics")
            ),
        )
        instructions = f"Find what answers: {angle.question}" if angle else f"Find: {gap.description}"
    return _Target(
        text=gap.description,
        queries=_unique(ways),
        kind="discover" if discovers else "fill",
        instructions=said(instructions, 300),
        names=(gap.candidate_name, gap.missing_topic),
        fields=gap.missing_fields,
    )


def _field_queries(name: str, gap: Gap) -> Iterator[str]:
    """For every missing field a query of its own, then other words for them together."""
    kinds = {field: kind_of(field) for field in gap.missing_fields}
    for field, kind in kinds.items():
        yield f'"{name}" {_FIELD_WORDS.get(kind, field)}'
    for field, kind in kinds.items():
        yield f"{name} {_OTHER_WORDS.get(kind, f'{field} about')}"
    if gap.gap_type == "weak_evidence":
        yield f"{name} comparison alternatives"
    yield f"{name} {' '.join(gap.missing_fields)} overview"
    yield f"{name} company profile"


_FIELD_WORDS = {
    "price": "pricing cost plans",
    "proof": "case study customer testimonial review",
    "site": "official website",
}
_OTHER_WORDS = {
    "price": "how much subscription fee per month",
    "proof": "success story client results",
    "site": "homepage",
}


def _other_field(query: str, target: _Target, planned: Sequence[ResearchTask]) -> bool:
    """Whether it is a query for a field of a gap that the tasks so far do not search for."""
    words = same_words(query)
    kinds = {kind_of(field): field for field in target.fields}
    for kind, field in kinds.items():
        own = same_words(_FIELD_WORDS.get(kind, field))
        if own <= words and query.startswith('"'):
            sent = [same_words(task.search_query) for task in planned if task.target_gap == target.text]
            return not any(own <= other for other in sent)
    return False


_FIGURE = re.compile(r"\S*\d\S*")
"""Left out of a search for what others say: who says another figure is to be found too."""


def _claim(claim: Claim) -> _Target:
    about = as_query(_FIGURE.sub(" ", said(claim.claim_text, 120)))
    ways = (claim.verification_query, f"{about} review comparison", f"{about} independent", about, f"{about} criticism")
    return _Target(
        text=said(claim.claim_text, 200),
        queries=_unique(ways),
        kind="verify",
        instructions="Look for independent sources that confirm or contradict it, other than "
        + said(claim.source_url, 120),
        row_id=claim.row_id,
        fields=(claim.field,) if claim.field else (),
    )


def _unique(queries: Iterable[str]) -> tuple[str, ...]:
    kept: dict[frozenset[str], str] = {}
    for query in map(short_query, queries):
        if (words := same_words(query)) and not gives_orders(query):
            kept.setdefault(words, query)
    return tuple(kept.values())
