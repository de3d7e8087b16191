"""Choose lists: which search results are worth opening to find many things at once."""

from __future__ import annotations

from tablewright.citations.untrusted import WARNING, question_block
from tablewright.decisions.choose_pages import Choice, ChooseResults, Offer, listed
from tablewright.decisions.decision import Prompt
from tablewright.domain.listing import ListPlan
from tablewright.domain.model import Noun

INSTRUCTIONS = f"""\
You choose which search results to open, to find the rows of a table. Best are pages that list many of the things, \
whole and with some of the columns: a register, a directory, an encyclopedia list, a ranking, a member list. Prefer \
pages of different sites over several of one: what independent lists agree on is sure, and where they differ shows \
what is missing. Open pages about single things only where no list is offered. `numbers` are the results to open, the \
best first; none if none is worth opening.

{WARNING}"""


class ListsToChoose(Noun, frozen=True):
    plan: ListPlan
    offers: tuple[Offer, ...]
    read: tuple[str, ...] = ()
    """Addresses that were read already."""
    most: int = 5


class ChooseLists(ChooseResults):
    name = "choose lists"

    def prompt(self, asked: ListsToChoose) -> Prompt:
        plan = asked.plan
        wanted = [plan.question, f"Things: {plan.things}", f"Columns: {', '.join(each.name for each in plan.fields)}"]
        wanted += [f"Such lists stand: {plan.places}"] if plan.places else []
        read = f"\nRead already: {', '.join(asked.read)}" if asked.read else ""
        results = listed(list(enumerate(asked.offers, start=1)))
        return Prompt(
            instructions=INSTRUCTIONS,
            text=f"{question_block(chr(10).join(wanted))}{read}\n\n{results}\n\nChoose at most {asked.most}.",
            reply=Choice,
            max_tokens=80,
        )
