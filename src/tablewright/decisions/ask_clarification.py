"""Ask for clarification: where a search found nothing or far too much, say what was tried and what would help."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel
from pydantic import Field as Key

from tablewright.decisions.decision import Prompt, Unusable
from tablewright.decisions.grounds import numbers_in
from tablewright.table.corpus import Intent, Question
from tablewright.table.model import Noun
from tablewright.table.reply import Tried
from tablewright.table.text import plural
from tablewright.table.untrusted import WARNING, block, clean, gives_orders, question_block

HINTS: dict[Intent, tuple[str, ...]] = {
    "enumeration": ("a time range", "a name to filter by", "an amount or size to stay within"),
    "numeric": (
        "another name or number of the thing",
        "the range that would be acceptable",
        "which document to look in",
    ),
    "conceptual": ("other words for it", "the document or chapter it may stand in", "what it is needed for"),
}
WIDER: dict[Intent, tuple[str, ...]] = {
    "enumeration": ("other words for it", "another kind of document", "a wider time range or limit"),
    "numeric": HINTS["numeric"],
    "conceptual": HINTS["conceptual"],
}
"""What helps where nothing was found; `HINTS` where there was too much."""
MANY = 50
"""Matches that make a question too wide. The passages that a text search returns are always fewer."""
NOTHING = ("search all documents", "switch to text search")
TOO_MUCH = ("filter by vendor ACME", "filter to 2024 only", "export the full CSV")

INSTRUCTIONS = (
    "A search in a person's own documents cannot go on as it was asked. Write to that person: `tried`, one or two "
    "sentences on what was tried and what came of it; `ask`, one question for just what would help; `examples`, two or "
    "three short follow-ups that the person could type. Use no numbers and no names but those given, promise nothing, "
    "and answer nothing. " + WARNING
)


class AskClarification(Noun, frozen=True):
    """`reason` is why it cannot go on, `result` what there is ("0 matches", "1,042 rows stored for export"). Without
    `hints` those of the question's intent are asked for, without `examples` the usual follow-ups offered."""

    question: Question
    reason: str
    attempts: tuple[Tried, ...] = ()
    result: str = ""
    hints: tuple[str, ...] = ()
    examples: tuple[str, ...] = ()

    @property
    def wanted(self) -> tuple[str, ...]:
        return self.hints or (HINTS if self.is_too_much else WIDER)[self.question.intent]

    @property
    def offered(self) -> tuple[str, ...]:
        return self.examples or (TOO_MUCH if self.is_too_much else NOTHING)

    @property
    def is_too_much(self) -> bool:
        """What is found only without a filter is not too much of what was asked for."""
        return any(each.matches > MANY and not each.threshold.startswith("relaxed") for each in self.attempts)


class Wording(BaseModel):
    tried: str = Key(max_length=500)
    ask: str = Key(max_length=300)
    examples: list[str] = Key(max_length=4)


class Clarify:
    """Decides the text that the person reads."""

    name = "ask for clarification"

    def prompt(self, asked: AskClarification) -> Prompt:
        attempts = "\n".join(f"- {described(attempt)}" for attempt in asked.attempts) or "- nothing"
        lines = (
            f"Reason: {asked.reason}",
            question_block(asked.question.text),
            f"Attempts tried:\n{block(0, attempts)}",
            f"Result summary: {asked.result}" if asked.result else "",
            f"Please ask the user for: {either(asked.wanted)}.",
            f"Offer example follow-ups such as {either(quoted(asked.offered))} when appropriate.",
        )
        return Prompt(
            instructions=INSTRUCTIONS, text="\n".join(line for line in lines if line), reply=Wording, max_tokens=300
        )

    def check(self, asked: AskClarification, reply: Any) -> str:
        tried, ask, *examples = (" ".join(clean(part).split()) for part in (reply.tried, reply.ask, *reply.examples))
        if not tried or not ask:
            raise Unusable("say what was tried, and ask for what would help.")
        said = " ".join((tried, ask))
        if made_up := sorted(numbers_in(said) - numbers_in(self.prompt(asked).text)):
            raise Unusable(f"{', '.join(f'{number:g}' for number in made_up)} was not given.")
        if "[source" in said.casefold() or gives_orders(said):
            raise Unusable("only ask; cite nothing.")
        offered = [example.strip("\"'“”") for example in examples if example and not gives_orders(example)]
        return worded(tried, ask, tuple(offered) or asked.offered)

    def fallback(self, asked: AskClarification) -> str:
        tried = f"I could not answer “{asked.question.text}”: {_ended(asked.reason)}"
        if asked.attempts:
            tried += f" Tried: {'; '.join(map(described, asked.attempts))}."
        if asked.result:
            tried += f" {_ended(asked.result)}"
        return worded(tried, f"Please tell me {either(asked.wanted)}.", asked.offered)


def worded(tried: str, ask: str, examples: tuple[str, ...]) -> str:
    return f"{tried}\n{ask}\nFor example: {either(quoted(examples))}."


def described(attempt: Tried) -> str:
    """ "search_text “tire receipt” (987 matches, threshold: top 40)"."""
    threshold = f", threshold: {attempt.threshold}" if attempt.threshold else ""
    return f"{attempt.tool} {attempt.asked} ({attempt.matches:,} {plural('match', attempt.matches)}{threshold})"


def either(parts: tuple[str, ...]) -> str:
    return " or ".join(parts) if len(parts) < 3 else f"{', '.join(parts[:-1])}, or {parts[-1]}"


def quoted(parts: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(f"“{part}”" for part in parts)


def _ended(sentence: str) -> str:
    sentence = sentence.strip()
    return sentence if sentence.endswith((".", "!", "?")) else f"{sentence}."
