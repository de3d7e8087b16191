"""Reflect on a round of research: what the notes answer, what is missing, what contradicts, and which claims to check.

A gap is closed only by a note: the model names the note that fills it, and code keeps every other gap open.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

from msgspec import structs
from pydantic import BaseModel

from tablewright.citations.quotes import RETRIEVED_WARNING, clean_line, mark_block
from tablewright.domain.model import Struct
from tablewright.domain.research import (
    DEFAULT_EXTENT,
    MEMO_LIMITS,
    Brief,
    CatalogCandidate,
    Claim,
    Contradiction,
    Gap,
    GapType,
    ResearchExtent,
    SourceNote,
)
from tablewright.domain.text import pluralize_noun, shorten_text
from tablewright.llm.tasks.decision import Prompt, accept_reply, headed_block, join_parts
from tablewright.llm.tasks.take_notes import describe_research
from tablewright.llm.text_budget import TEXT_LIMITS, shorten_evenly


class RoundToReflect(Struct, frozen=True, gc=True):
    """A round of research. `gaps` were open before the round, and `memo_text` has the first few by number; `candidates`
    are the rows of a list so far; `room` is for the notes, in characters."""

    brief: Brief
    round_index: int
    notes: tuple[SourceNote, ...]
    gaps: tuple[Gap, ...] = ()
    memo_text: str = ""
    gaps_in_memo: int = 0
    claims: tuple[Claim, ...] = ()
    """Claims of the memo that are to be checked."""
    candidates: tuple[CatalogCandidate, ...] = ()
    searched: tuple[str, ...] = ()
    searches_left: int = 0
    new_notes: int = 0
    """How many of the notes the last round brought."""
    extent: ResearchExtent = DEFAULT_EXTENT
    room: int = TEXT_LIMITS.default_room


class Reflection(Struct, frozen=True):
    """The state of the research. `closed` are gaps with the number of the note that fills each."""

    answered: Literal["yes", "partly", "no"] = "no"
    themes: tuple[str, ...] = ()
    gaps: tuple[Gap, ...] = ()
    closed: tuple[tuple[Gap, int], ...] = ()
    contradictions: tuple[Contradiction, ...] = ()
    claims: tuple[Claim, ...] = ()


class FilledGap(BaseModel):
    gap: int
    note: int


class OpenGap(BaseModel):
    type: GapType
    earlier: int
    description: str
    section: str
    thing: str
    fields: list[str]
    priority: int
    query: str


class Contradicting(BaseModel):
    notes: list[int]
    against: list[int]
    about: str


class ClaimToCheck(BaseModel):
    note: int
    claim: str
    query: str


class Reflected(BaseModel):
    answered: Literal["yes", "partly", "no"]
    themes: list[str]
    filled: list[FilledGap]
    gaps: list[OpenGap]
    contradictions: list[Contradicting]
    claims: list[ClaimToCheck]


class ReflectOnRound:
    name = "reflect"
    instructions = """\
You direct a piece of research. A round of searching and reading is over. You see what is asked, the notes taken so \
far (each with its number and its site), the memo of the round before with its gaps, and the searches made. Judge \
where the research stands.

`answered`: whether a careful writer could answer all of the question from these notes: "yes", "partly" or "no".
`themes`: what is known by now, up to 5 points of a few words.
`filled`: the earlier gaps that notes have filled, each with the number of the gap and of a note that fills it. Any \
other earlier gap stays open without your naming it.
`gaps`: what else is missing, the most important first, 10 at most:
- `type`: "missing_topic" for a part of the question on which there is nothing; "missing_field" for a detail of one \
named thing (`thing`, `fields`); "missing_candidates" where too few things of a kind were found; "weak_evidence" for \
what is noted but rests on one interested party, an old page or a single voice, where that matters. The outcome of \
something announced for a day now past is missing, too.
- `earlier`: the number of an earlier gap that you reword or give a new query, else 0.
- `description`: what is missing, in a few words. `section`: the section that it belongs to, or "".
- `priority`: 1 if the question cannot be answered without it, 2 if the answer would be weaker, 3 if it is nice to \
have.
- `query`: the search that is most likely to fill it, unlike those made; with the names that the notes have brought \
up, in the language of those who would write about it. Where the notes show what a description in the question means, \
search for that thing by its name. "" if no search can.
`contradictions`: where notes cannot both be right, such as two figures for the same thing at the same time: the \
numbers of the `notes` that say one thing, of those that speak `against` them, and what it is `about`. Offers of \
different sellers, prices of different plans, and figures of different dates or scopes contradict nothing.
`claims`: up to {claims} statements that the answer most depends on and that other sites could confirm or refute: the \
number of the note, the claim as one sentence that stands by itself, and a `query` that finds what others say of it. \
The query does not repeat the claim's own figure, so that it also finds who says otherwise. With none, the claims of \
the memo stay.

An honest "yes" with no gaps is welcome: searches cost money. Descriptions, themes and claims are in the language of \
the report.
"""

    def prompt(self, asked: RoundToReflect) -> Prompt:
        further = list(enumerate(asked.gaps, start=1))[asked.gaps_in_memo :]
        gaps = [f"{number}. [{gap.priority}] {gap.description}" for number, gap in further]
        table = (
            [f"- {each.name}: {describe_missing_fields(each)}" for each in asked.candidates]
            if asked.searches_left
            else []
        )
        of_table = (
            'The table so far, and what is missing or weak in it. A gap of type "missing_field" whose `thing` '
            "and `fields` are named as here is looked for on the pages that its query finds, and fills the cell:"
        )
        instructions = self.instructions.format(claims=asked.extent.checked_claims)
        return Prompt(
            instructions=f"{instructions}\n{RETRIEVED_WARNING}\n\n{describe_research(asked.brief)}",
            text=join_parts(
                f"The notes:\n{mark_block('TEXT 0', list_notes(asked.notes, asked.room), 'notes')}",
                headed_block("The memo before this round, with its gaps:", 1, asked.memo_text, "memo", is_proved=True),
                headed_block("Further gaps before this round:", 4, gaps, "gaps", is_proved=True),
                headed_block(of_table, 3, table, "table", is_proved=True),
                f"Searched so far:\n{mark_block('TEXT 2', chr(10).join(asked.searched), 'searches')}",
                describe_progress(asked),
            ),
            reply=Reflected,
            # Ten gaps with their queries, themes, contradictions and claims.
            max_tokens=2_000,
        )

    def check(self, asked: RoundToReflect, reply: Any) -> Reflection:
        numbers = {note.number: note for note in asked.notes}
        problems = []
        closed: dict[int, int] = {}
        for each in reply.filled:
            if not 1 <= each.gap <= len(asked.gaps):
                problems.append(f"there was no gap {each.gap} before.")
            elif each.note not in numbers:
                problems.append(f"gap {each.gap}: there is no note {each.note} that could fill it.")
            else:
                closed.setdefault(each.gap, each.note)
        claims, contradictions = [], []
        for claim in reply.claims[: asked.extent.checked_claims]:
            if claim.note not in numbers:
                problems.append(
                    f"the claim {shorten_text(claim.claim, 60)!r} is of no note: there is none {claim.note}."
                )
            else:
                claims.append(
                    Claim(
                        claim_text=clean_line(claim.claim),
                        source_url=numbers[claim.note].evidence.origin,
                        note=claim.note,
                        verification_query=clean_line(claim.query),
                    )
                )
        for found in reply.contradictions:
            notes = tuple(number for number in dict.fromkeys(found.notes) if number in numbers)
            against = tuple(n for n in dict.fromkeys(found.against) if n in numbers and n not in notes)
            if notes and against:
                contradictions.append(Contradiction(about=clean_line(found.about), notes=notes, against=against))
            else:
                problems.append(f"the contradiction about {found.about!r} needs notes of both sides.")
        reflection = Reflection(
            answered=reply.answered,
            themes=tuple(shorten_text(theme, 120) for theme in map(clean_line, reply.themes) if theme)[
                : MEMO_LIMITS.themes
            ],
            gaps=merge_open_gaps(asked.gaps, closed, reply.gaps),
            closed=tuple((asked.gaps[place - 1], note) for place, note in closed.items()),
            contradictions=tuple(contradictions),
            claims=tuple(claims) or asked.claims,
        )
        return accept_reply(reflection, problems)

    def fallback(self, asked: RoundToReflect) -> Reflection:
        """Return each section without an excerpt as a gap; more takes an understanding of the notes."""
        noted = {note.topic for note in asked.notes}
        return Reflection(
            gaps=tuple(
                Gap(
                    gap_type="missing_topic",
                    description=angle.name,
                    missing_topic=angle.name,
                    suggested_query=angle.name,
                )
                for angle in asked.brief.angles
                if angle.name not in noted
            )
        )


def describe_progress(asked: RoundToReflect) -> str:
    """Return the state of the research and what comes next."""
    left = asked.searches_left
    said = [f"Round {asked.round_index} is over" + (" and brought no new note." if not asked.new_notes else ".")]
    of = "gaps" if asked.round_index == 1 else "gaps of priority 1 that have a query"
    searches = f"{left} {pluralize_noun('search', left)}"
    said.append(f"Up to {searches} can be made for {of}." if left else "No more searches are made for gaps.")
    said += ["Then the claims are checked."] if asked.extent.checked_claims else []
    sites = len({note_site(note) for note in asked.notes})
    if left and sites < asked.extent.sites:
        said.append(
            f"The notes are of {sites} {pluralize_noun('site', sites)}, and {asked.extent.sites} at least are wanted: "
            "let the queries find others that speak of the same."
        )
    return " ".join(said)


def describe_missing_fields(candidate: CatalogCandidate) -> str:
    missing = [name for name, status in candidate.fields.items() if status == "missing"]
    weak = [name for name, status in candidate.fields.items() if status == "partial"]
    said = [f"missing: {', '.join(missing)}"] if missing else []
    said += [f"weak: {', '.join(weak)}"] if weak else []
    return "; ".join(said) or "complete"


def merge_open_gaps(before: Sequence[Gap], closed: dict[int, int], found: Sequence[OpenGap]) -> tuple[Gap, ...]:
    """Return earlier gaps that no note fills and the new ones, by priority, in a stable order."""
    open_ones = {place: gap for place, gap in enumerate(before, start=1) if place not in closed}
    new = []
    for each in found:
        gap = Gap(
            gap_type=each.type,
            description=shorten_text(clean_line(each.description), 200),
            priority=min(max(each.priority, 1), 3),
            candidate_name=clean_line(each.thing),
            missing_fields=tuple(map(clean_line, each.fields)),
            missing_topic=clean_line(each.section),
            suggested_query=clean_line(each.query),
        )
        if not gap.description:
            continue
        # By the number of an earlier gap, so that a reworded gap does not count as a new one.
        if each.earlier in open_ones:
            open_ones[each.earlier] = gap
        else:
            new.append(gap)
    # The query of a gap that is still open did not help, so it is not searched again.
    kept = [structs.replace(gap, suggested_query="") if gap in before else gap for gap in open_ones.values()]
    return tuple(sorted((*kept, *new), key=lambda gap: gap.priority)[: MEMO_LIMITS.gaps])


def list_notes(notes: Sequence[SourceNote], room: int) -> str:
    """Return one line per note, shortened if not all fit."""
    lines = [f"[{note.number}] ({note_site(note)}) {note.statement}" for note in notes]
    return "\n".join(shorten_evenly(lines, room, TEXT_LIMITS.min_note))


def note_site(note: SourceNote) -> str:
    return note.evidence.domain or note.evidence.title or note.evidence.origin
