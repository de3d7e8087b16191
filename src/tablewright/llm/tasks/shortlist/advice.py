"""Give advice: what the ranked comparison means for this user. Code ranks and scores; the model writes the text."""

from __future__ import annotations

from collections.abc import Sequence
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
    """`order` has all ranked products, with their ties broken; `ties` are the reasons."""

    intro: tuple[ReplySentence, ...] = ()
    order: tuple[RowId, ...] = ()
    ties: tuple[ReplySentence, ...] = ()
    cards: tuple[AdvisedCard, ...] = ()
    closing: tuple[ReplySentence, ...] = ()
    left_out: int = 0


class CardReply(BaseModel):
    product: int
    best_for: str
    why: Sentence
    trade_off: Sentence


class TieReply(BaseModel):
    products: list[int]
    why: Sentence


class AdviceReply(BaseModel):
    ties: list[TieReply]
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

`ties`: products that tie meet the requirements equally well, so you decide their order. For each tie that reaches \
into the first {{top}}: all its `products` (their numbers), the best first, by what testers found where the table has \
that, else by what serves this user best, never by the price alone; and `why`: one sentence with the reason for those \
in front. None where nothing ties. The places below are those of your order.

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
        order, ties, not_tied = break_ties(reply.ties, asked, known)
        problems += not_tied
        first = order[: asked.top]
        cards: dict[RowId, AdvisedCard] = {}
        for card in reply.cards:
            if card.product not in first:
                numbers = ", ".join(map(str, first))
                problems.append(f"there is no card for the product {card.product}; the first are {numbers}.")
                continue
            said, unproved = prove_sentences([card.why, card.trade_off], asked.rows, asked.columns, known)
            problems += unproved
            row_id = asked.rows[card.product - 1].row_id
            cards[row_id] = AdvisedCard(row_id=row_id, best_for=clip_label(card.best_for), said=tuple(said))
        advice = Advice(
            intro=tuple(intro),
            order=tuple(asked.rows[number - 1].row_id for number in order),
            ties=tuple(ties),
            cards=tuple(cards.values()),
            closing=tuple(closing),
            left_out=len(problems),
        )
        return accept_reply(advice, problems)

    def fallback(self, asked: AdviceToGive) -> Advice:
        """Return no advice: without a model the ranking and the scores are shown alone."""
        return Advice()


def break_ties(
    ties: Sequence[TieReply], asked: AdviceToGive, known: Sequence[str]
) -> tuple[list[int], list[ReplySentence], list[str]]:
    """Return the numbers of the ranked products in the order that breaks the ties, the reasons, and what is wrong. A
    product changes places only with those that it ties with."""
    levels = {number: row.level for number, row in enumerate(asked.rows, start=1) if row.level is not None}
    order, said, problems = list(levels), list[ReplySentence](), list[str]()
    for tie in ties:
        numbers = list(dict.fromkeys(tie.products))
        if len(numbers) < 2 or len({levels.get(number, -number) for number in numbers}) > 1:
            problems.append(f"the products {', '.join(map(str, tie.products))} are no tie.")
            continue
        places = sorted(order.index(number) for number in numbers)
        for place, number in zip(places, numbers, strict=True):
            order[place] = number
        proved, unproved = prove_sentences([tie.why], asked.rows, asked.columns, known)
        said += proved
        problems += unproved
    return order, said, problems


def clip_label(text: str) -> str:
    # Two to five words.
    return shorten_text(remove_marks(text), 60)
