"""Choose sources: which search results of a round are worth opening for a piece of research."""

from __future__ import annotations

from tablewright.citations.untrusted import WARNING, block
from tablewright.decisions.choose_pages import Choice, ChooseResults, Offer, listed
from tablewright.decisions.decision import Prompt
from tablewright.decisions.take_notes import described
from tablewright.domain.model import Noun
from tablewright.domain.research import Brief

INSTRUCTIONS = """\
You choose which search results to open for a piece of research. Open those that are likely to say something that \
helps: the page of whoever is asked about, what others report and compare, figures at their source, and sites that \
are independent of each other, also such as may say otherwise. Several pages of one site are welcome where each is \
likely to say something else. Leave out results about something else or about a namesake, and copies of each other. \
`numbers` are the results to open, the best first; none if none is worth opening.
"""


class SourcesToChoose(Noun, frozen=True, gc=True):
    """`aims` say what the searches of the round are for."""

    brief: Brief
    aims: tuple[str, ...]
    offers: tuple[Offer, ...]
    most: int


class ChooseSources(ChooseResults):
    name = "choose sources"

    def prompt(self, asked: SourcesToChoose) -> Prompt:
        aims = block(1, "\n".join(asked.aims), "searches")
        results = listed(list(enumerate(asked.offers, start=1)))
        return Prompt(
            instructions=f"{INSTRUCTIONS}\n{WARNING}\n\n{described(asked.brief)}",
            text=f"Searched for:\n{aims}\n\n{results}\n\nChoose at most {asked.most}.",
            reply=Choice,
            max_tokens=200,
        )
