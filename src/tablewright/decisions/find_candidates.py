"""Find candidates: which things of the asked kind do these texts name?

A name must stand in a retrieved text, outside of what speaks to machines, and be one of the things: not the customer of
a case study, not the paper that wrote about it, not a heading. The rule knows four places where such names stand: an
organisation's own site, a list, a page about one thing, and a sentence that gives examples.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Any

from pydantic import BaseModel
from pydantic import Field as Key

from tablewright.decisions.candidates.joined import joined
from tablewright.decisions.candidates.kind import Kind, read_kind, singulars
from tablewright.decisions.candidates.lists import listed
from tablewright.decisions.candidates.names import compact, is_some_name, unmarked
from tablewright.decisions.candidates.said import about_one, in_sentences
from tablewright.decisions.candidates.seen import Seen, domain_of
from tablewright.decisions.candidates.sites import Site, own_sites, read_sites, subject_of
from tablewright.decisions.decision import Prompt, Unusable
from tablewright.table.evidence import locate, stands_in
from tablewright.table.model import Noun
from tablewright.table.research import Named
from tablewright.table.retrieved import Retrieved
from tablewright.table.untrusted import WARNING, block, clean, gives_orders, is_tainted, question_block

MOST = 30
MOST_OF_A_PAGE = 300
MOST_SHOWN = 12
SHOWN = 700
"""Characters of each text that a model is shown."""
SAID_BY_MODEL = 0.7

INSTRUCTIONS = (
    "You list the things of one kind that the texts below name. For each give `text`, the number of the text; `name`, "
    "the thing's name as it stands there, nothing more; and `quote`, a few words of that text with the name in them, "
    "copied exactly. Only things that are themselves of the kind: no customers, authors, publishers, headings or "
    "categories. Each thing once. If no text names one, give an empty list. " + WARNING
)


class FindCandidates(Noun, frozen=True):
    """`things` is what is wanted ("AI providers"), `question` the whole question; `sources` are pages and snippets."""

    things: str
    question: str
    sources: tuple[Retrieved, ...]
    most: int = MOST


class Mentioned(BaseModel):
    text: int
    name: str = Key(max_length=120)
    quote: str = Key(max_length=300)


class Listing(BaseModel):
    things: list[Mentioned] = Key(max_length=MOST)


class Find:
    name = "find candidates"

    def prompt(self, asked: FindCandidates) -> Prompt:
        shown = "\n".join(
            block(number, source.text[:SHOWN], source.title)
            for number, source in enumerate(asked.sources[:MOST_SHOWN], start=1)
        )
        return Prompt(
            instructions=INSTRUCTIONS,
            text=f"{shown}\n\n{question_block(asked.question)}\nList the {clean(asked.things)} that these texts name.",
            reply=Listing,
            max_tokens=900,
        )

    def check(self, asked: FindCandidates, reply: Any) -> tuple[Named, ...]:
        """What the texts bear, beside what the rule finds: a model sees only the beginning of each text. Only an answer
        of which nothing is left is worth a second question."""
        kind = read_kind(asked.things)
        sites = read_sites(asked.sources)
        found: list[Seen] = []
        problems = []
        for said in reply.things:
            seen, problem = _supported(asked, kind, sites, said)
            if seen:
                found.append(seen)
            else:
                problems.append(problem)
        if problems and not found:
            raise Unusable("; ".join(problems[:5]), usable=self.fallback(asked))
        ruled = _seen(kind, asked) if kind.head else ()
        return joined(kind, (*found, *ruled), asked.sources, asked.most)

    def fallback(self, asked: FindCandidates) -> tuple[Named, ...]:
        kind = read_kind(asked.things)
        return joined(kind, _seen(kind, asked), asked.sources, asked.most) if kind.head else ()


def _seen(kind: Kind, asked: FindCandidates) -> Iterator[Seen]:
    sites = read_sites(asked.sources)
    wants = frozenset(word for word in singulars(asked.question) if len(word) > 3) - set(singulars(asked.things))
    yield from own_sites(kind, sites, asked.sources, wants)
    for place, source in enumerate(asked.sources):
        site = sites.get(domain_of(source))
        for seen in (
            *islice(listed(kind, source, place, subject_of(source, site)), MOST_OF_A_PAGE),
            *about_one(kind, source, place, site),
            *islice(in_sentences(kind, source, place), MOST_OF_A_PAGE),
        ):
            if kind.publisher or not _is_its_publisher(seen.name, site):
                yield seen


def _is_its_publisher(name: str, site: Site | None) -> bool:
    return site is not None and site.publisher and compact(name) == compact(site.name)


def _supported(asked: FindCandidates, kind: Kind, sites: dict[str, Site], said: Mentioned) -> tuple[Seen | None, str]:
    name = unmarked(" ".join(clean(said.name).split()))
    if not 1 <= said.text <= min(len(asked.sources), MOST_SHOWN):
        return None, f"there is no text {said.text}"
    source = asked.sources[said.text - 1]
    if gives_orders(name) or not is_some_name(name, kind):
        return None, f"{name[:40]!r} is no name"
    place = locate(said.quote, source.text)
    if place is None or is_tainted(source.text, *place):
        return None, f"the quote for {name!r} does not stand in text {said.text}"
    if not stands_in(name, source.text[place[0] : place[1]]):
        return None, f"{name!r} does not stand in its quote"
    if not kind.publisher and _is_its_publisher(name, sites.get(domain_of(source))):
        return None, f"{name!r} only published text {said.text}"
    return Seen(name=name, source=said.text - 1, start=place[0], end=place[1], score=SAID_BY_MODEL), ""
