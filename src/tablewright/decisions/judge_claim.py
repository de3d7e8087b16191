"""Judge a claim: whether the passages bear it, all of it, part of it, or say something else.

Without a model the claim's names, numbers, dates and telling words are laid beside the sentences that come nearest, and
how they lie is weighed. A model reads the nearest sentences and quotes the words that decide; code looks for those
words, and lets no model find a name or number where none stands. What could not be judged is "not checked".
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

from msgspec import structs
from pydantic import BaseModel
from pydantic import Field as Key

from tablewright.decisions.decision import Prompt, Unusable
from tablewright.decisions.entailment.alignment import Alignment, Text
from tablewright.decisions.entailment.contradiction import against
from tablewright.decisions.entailment.parts import Part, parts
from tablewright.decisions.entailment.weighing import BEARS_ALL, BEARS_SOME, likelihood, measures
from tablewright.models.tokens import estimate_tokens
from tablewright.table.evidence import locate
from tablewright.table.model import Noun
from tablewright.table.research import Verdict
from tablewright.table.untrusted import WARNING, block, is_tainted

BUDGET = 700
SUPPORTED = 0.6
"""The likelihood from which on a sentence counts as borne. More than even: a wrong citation costs more than a sentence
that is checked again or left out."""
SOMETHING = 0.5
MISSING = 0.5
STATED = 0.4
"""Of what the claim says of its subject: a text that says less of it does not speak of it, however often it names the
subject."""
MOST_NAMED = 5
CONTEXT = 300
"""Characters before the claim that a model is shown."""
GAP = " … "

INSTRUCTIONS = (
    "You check whether texts bear a claim. Copy into `quote` the few words of a text that decide, exactly as they "
    'stand there, or "" if none does. Then give the `verdict`: "supported" if the texts say everything that the claim '
    'says; "contradicted" if they say that it is otherwise; "partly" if they say only some of it, or with another '
    'number or a limit; "not said" if they do not speak of it. Go by the texts alone, not by what you know. ' + WARNING
)


class ClaimPassage(Noun, frozen=True):
    """Passages of one `origin` are parts of one page."""

    text: str
    title: str = ""
    origin: str = ""


class JudgeClaim(Noun, frozen=True):
    """`about` is the subject that the claim belongs to, `context` the text it stands in: they say who "he" is."""

    claim: str
    passages: tuple[ClaimPassage, ...]
    about: str = ""
    context: str = ""
    budget_tokens: int = BUDGET


class Judged(Noun, frozen=True):
    """The deciding words stand at `start:end` of passage number `passage`. `score` is how likely all of the claim is
    borne. `reason` is what is missing, or what is said instead."""

    verdict: Verdict
    passage: int | None = None
    start: int = 0
    end: int = 0
    score: float = 0.0
    reason: str = ""


class Ruling(BaseModel):
    quote: str = Key(max_length=300)
    verdict: Literal["supported", "contradicted", "partly", "not said"]


class Judge:
    name = "judge claim"

    def prompt(self, asked: JudgeClaim) -> Prompt:
        lines = [block(number, text, asked.passages[number - 1].title) for number, text in _nearest(asked)]
        if context := asked.context[-CONTEXT:].strip():
            lines.append("Before the claim stands:\n" + block(0, context, "context"))
        lines.append(f"The claim:\n{block(0, asked.claim, f'claim about {asked.about}' if asked.about else 'claim')}")
        return Prompt(instructions=INSTRUCTIONS, text="\n\n".join(lines), reply=Ruling, max_tokens=160)

    def check(self, asked: JudgeClaim, reply: Any) -> Judged:
        ruled = self.fallback(asked)
        place = _place(reply.quote, asked.passages)
        if reply.verdict == "not said":
            return Judged(verdict="not checked", score=ruled.score, reason=_says_nothing(()))
        if place is None and reply.verdict != "partly":
            raise Unusable(f"{reply.quote!r} does not stand in the texts", usable=ruled)
        found = structs.replace(ruled, passage=place[0], start=place[1], end=place[2]) if place else ruled
        if reply.verdict == "contradicted":
            return structs.replace(found, verdict="contradicted", reason=ruled.reason or "the text says otherwise")
        if reply.verdict == "supported" and ruled.verdict == "contradicted":
            return ruled
        missing = _aligned(asked, range(len(asked.passages))).unsaid
        if reply.verdict == "supported" and not missing:
            return structs.replace(found, verdict="supported", reason="")
        return structs.replace(found, verdict="qualified", reason=_says_nothing(missing) if missing else ruled.reason)

    def fallback(self, asked: JudgeClaim) -> Judged:
        """Each page is judged alone; several together only if none of them bears the claim."""
        pages = _pages(asked.passages)
        judged = [_judged(asked, numbers) for numbers in pages]
        borne = [each for each in judged if each.verdict == "supported"]
        if not borne and len(pages) > 1:
            judged.append(_judged(asked, range(len(asked.passages))))
        denied = next((each for each in judged if each.verdict == "contradicted"), None)
        best = max(judged, key=lambda each: (_ORDER[each.verdict], each.score), default=None)
        if best is None:
            return Judged(verdict="not checked", reason="there is nothing to check it against")
        if best.verdict == "supported" and denied:
            return structs.replace(best, verdict="qualified", reason=f"another source disagrees: {denied.reason}")
        return best


_ORDER: dict[Verdict, int] = {"not checked": 0, "qualified": 1, "contradicted": 2, "supported": 3}


def _pages(passages: Sequence[ClaimPassage]) -> list[list[int]]:
    """The numbers of the passages, by page."""
    found: dict[str, list[int]] = {}
    for number, passage in enumerate(passages):
        found.setdefault(passage.origin or f"passage {number}", []).append(number)
    return list(found.values())


def _aligned(asked: JudgeClaim, numbers: Sequence[int]) -> Alignment:
    texts = [Text(text=asked.passages[number].text, title=asked.passages[number].title) for number in numbers]
    return Alignment(asked.claim, parts(asked.claim, asked.about), asked.about, texts)


def _judged(asked: JudgeClaim, numbers: Sequence[int]) -> Judged:
    """Of the passages with these numbers, as one text."""
    alignment = _aligned(asked, numbers)
    if not alignment.parts or not alignment.bearing:
        return Judged(verdict="not checked", reason=_says_nothing(()))
    measured = measures(alignment)
    all_of_it, some_of_it = likelihood(measured, BEARS_ALL), likelihood(measured, BEARS_SOME)
    opposed = against(alignment)
    deciding = opposed.sentence if opposed else alignment.nearest[alignment.bearing[0]]
    found = Judged(
        verdict="not checked",
        passage=numbers[deciding.text],
        start=deciding.start,
        end=deciding.end,
        score=round(all_of_it, 3),
    )
    missing = _missing(alignment)
    if opposed:
        verdict: Verdict = "contradicted" if opposed.outright else "qualified"
        return structs.replace(found, verdict=verdict, reason=opposed.reason)
    if not alignment.speaks_of_subject:
        return structs.replace(found, reason=f"it says nothing of {asked.about}")
    if alignment.stated < STATED:
        return structs.replace(found, passage=None, start=0, end=0, reason=_says_nothing(missing))
    if all_of_it >= SUPPORTED and not alignment.unsaid:
        return structs.replace(found, verdict="supported")
    if max(all_of_it, some_of_it) >= SOMETHING:
        return structs.replace(found, verdict="qualified", reason=_says_nothing(missing))
    return structs.replace(found, passage=None, start=0, end=0, reason=_says_nothing(missing))


def _missing(alignment: Alignment) -> tuple[Part, ...]:
    """The parts that are not said, names and numbers first."""
    lacking = [
        part
        for part, share in zip(alignment.parts, alignment.together, strict=True)
        if part in alignment.unsaid or (share < MISSING and part.root not in alignment.subject)
    ]
    return tuple(sorted(lacking, key=lambda part: (not part.is_hard, part.start)))


def _says_nothing(missing: Sequence[Part]) -> str:
    named = list(dict.fromkeys(part.written for part in missing))
    return f"it says nothing of {', '.join(named[:MOST_NAMED])}" if named else "it does not say all of it"


# ── with a model ─────────────────────────────────────────────────────────────────────────────────────────────────────


def _nearest(asked: JudgeClaim) -> list[tuple[int, str]]:
    """What fits into the budget of the sentences that say most of the claim, and of those beside them, in the order in
    which they stand; by the number of their passage, from 1."""
    alignment = _aligned(asked, range(len(asked.passages)))
    worth = alignment.weights @ alignment.said
    ranked = [*alignment.bearing, *(int(place) for place in (-worth).argsort() if int(place) not in alignment.bearing)]
    places = {(each.text, each.start): number for number, each in enumerate(alignment.sentences)}
    own = [places[alignment.nearest[place].text, alignment.nearest[place].start] for place in ranked]
    beside = [place + step for place in own[:2] for step in (-1, 1)]
    left, kept = asked.budget_tokens, set[int]()
    for place in (*own[:2], *beside, *own[2:]):
        if not 0 <= place < len(alignment.sentences) or place in kept:
            continue
        cost = estimate_tokens(alignment.sentences[place].written) + 2
        if cost <= left:
            kept.add(place)
            left -= cost
    found: dict[int, str] = {}
    last = -1
    for place in sorted(kept):
        sentence = alignment.sentences[place]
        before = found.get(sentence.text, "")
        joint = (" " if place == last + 1 else GAP) if before else ""
        found[sentence.text] = before + joint + " ".join(sentence.written.split())
        last = place
    return [(number + 1, text) for number, text in found.items()]


def _place(quote: str, passages: Sequence[ClaimPassage]) -> tuple[int, int, int] | None:
    for number, passage in enumerate(passages):
        place = locate(quote, passage.text)
        if place and not is_tainted(passage.text, *place):
            return number, *place
    return None
