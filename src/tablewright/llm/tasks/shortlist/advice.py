"""Give advice: what the ranked comparison means for this user. Code ranks and scores; the model writes the text."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel

from tablewright.citations.quotes import RETRIEVED_WARNING, mark_question, remove_marks
from tablewright.domain.model import RowId, Struct
from tablewright.domain.shortlist import ReplySentence, Requirements
from tablewright.domain.text import shorten_text
from tablewright.llm.tasks.decision import Prompt, accept_reply, lines_block
from tablewright.llm.tasks.shortlist.prompt_parts import (
    SENTENCES_PROMPT,
    ComparedRow,
    Sentence,
    comparison_lines,
    prove_sentences,
    requirements_text,
    wanted_block,
)
from tablewright.llm.text_budget import TEXT_LIMITS


class AdviceToGive(Struct, frozen=True, gc=True):
    """A ranked comparison. `top` is the number of rows shown as cards; `said` are the user's messages, for language and
    tone."""

    requirements: Requirements
    rows: tuple[ComparedRow, ...]
    columns: tuple[str, ...]
    top: int
    said: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    room: int = TEXT_LIMITS.default_room


class AdvisedCard(Struct, frozen=True):
    row_id: RowId
    best_for: str = ""
    said: tuple[ReplySentence, ...] = ()


class Advice(Struct, frozen=True, gc=True):
    intro: tuple[ReplySentence, ...] = ()
    cards: tuple[AdvisedCard, ...] = ()
    closing: tuple[ReplySentence, ...] = ()
    left_out: int = 0


class CardReply(BaseModel):
    product: int
    best_for: str
    why: Sentence
    trade_off: Sentence


class AdviceReply(BaseModel):
    intro: list[Sentence]
    cards: list[CardReply]
    closing: list[Sentence]


class GiveAdvice:
    name = "advise"
    instructions = f"""\
You advise a user who wants to buy something. A table of products was compared with their requirements; code has \
ranked those that meet the hard ones and says why others are left out. Explain the first ones, in the user's language, \
as a knowledgeable friend: honest about trade-offs and gaps, no pushing, no superlatives that the table does not \
support. Keep to code's order: never call a lower place better all in all, but say for whom it is the better choice.

`intro`: one or two sentences: the stance, and the main trade-off between the first ones; before them the answer, \
where the user's last message asks something ("how many of them are made of steel?"). `cards`: for each of the first \
{{top}}, `product` (its number), `best_for` (two to five words: for whom or for what it is best, different for each; \
"" if for nothing in particular), `why` (one sentence: why it is there), `trade_off` (one sentence: what is given up, \
or what is not known and matters). `closing`: at most three sentences: near misses that may be worth a little more \
money or a little less of something, what could not be found, one question that would narrow it down.

{SENTENCES_PROMPT}

{RETRIEVED_WARNING}"""

    def prompt(self, asked: AdviceToGive) -> Prompt:
        # Earlier messages are in the requirements; the last few show language and tone.
        said = "\n".join(asked.said[-4:])
        compared = comparison_lines(asked.rows, asked.columns, asked.room)
        notes = "\n\n" + "\n".join(asked.notes) if asked.notes else ""
        return Prompt(
            instructions=self.instructions.replace("{top}", str(asked.top)),
            text=(
                f"{wanted_block(asked.requirements)}\n\n"
                f"What the user said, the last message last:\n{mark_question(said)}\n\n"
                f"{lines_block(1, compared, 'comparison')}{notes}"
            ),
            reply=AdviceReply,
            max_tokens=2_000,
        )

    def check(self, asked: AdviceToGive, reply: Any) -> Advice:
        known = [*asked.said, requirements_text(asked.requirements), *asked.notes]
        intro, wrong = prove_sentences(reply.intro, asked.rows, asked.columns, known)
        closing, also_wrong = prove_sentences(reply.closing, asked.rows, asked.columns, known)
        problems = [*wrong, *also_wrong]
        cards: dict[RowId, AdvisedCard] = {}
        for card in reply.cards:
            if not 1 <= card.product <= asked.top:
                problems.append(f"there is no card for the product {card.product}; the first {asked.top} have one.")
                continue
            said, unproved = prove_sentences([card.why, card.trade_off], asked.rows, asked.columns, known)
            problems += unproved
            row_id = asked.rows[card.product - 1].row_id
            cards[row_id] = AdvisedCard(row_id=row_id, best_for=clip_label(card.best_for), said=tuple(said))
        advice = Advice(intro=tuple(intro), cards=tuple(cards.values()), closing=tuple(closing), left_out=len(problems))
        return accept_reply(advice, problems)

    def fallback(self, asked: AdviceToGive) -> Advice:
        """Return no advice: without a model the ranking and the scores are shown alone."""
        return Advice()


def clip_label(text: str) -> str:
    # Two to five words.
    return shorten_text(remove_marks(text), 60)
