"""The nouns of the advisor: what somebody wants to buy, the state of a conversation, and what a turn replies."""

from __future__ import annotations

from typing import Literal, TypeAlias

from tablewright.table.model import Evidence, Field, Money, Noun, RowId

Phase: TypeAlias = Literal["intake", "research", "advise", "end"]
Waiting: TypeAlias = Literal["", "requirements", "fields", "intent"]
"""What a person is to confirm before anything is spent."""
QueryAngle: TypeAlias = Literal[
    "review_site", "forum", "brand_catalog", "comparison", "budget", "feature_focus", "use_case", "alternatives"
]
SiteKind: TypeAlias = Literal["maker", "retailer", "marketplace", "review", "forum", "other"]
Intent: TypeAlias = Literal[
    "done",
    "links",
    "export",
    "question",
    "why_not",
    "new_fields",
    "more_options",
    "change_requirements",
    "flag",
    "show_all",
    "off_topic",
    "unclear",
]
ListOf: TypeAlias = Literal["must_haves", "nice_to_haves", "priorities", "specifications", "constraints"]

TARGET = 30
"""Candidates that are looked for."""
MOST = 50
"""Candidates that are kept, at most."""
FEW = 10
"""Candidates under which availability is said to be limited."""
TOP = 5

CONFIRM, EDIT = "Confirm Requirements", "Edit Requirements"
ENRICH, MODIFY = "Enrich Now", "Modify Fields"
YES, NO = "Yes, go on", "No"
GO_ON = "Go On"
FRESH = "Start Fresh"


# ── what somebody wants ──────────────────────────────────────────────────────────────────────────────────────────────


class PriceRange(Noun, frozen=True):
    most: float | None = None
    least: float | None = None
    currency: str = ""


class Requirements(Noun, frozen=True):
    """`specifications` narrow the search ("second hand", "UK only"), `constraints` exclude ("no plastic"): negatives
    only. `priorities` are in the order of their weight."""

    product_type: str = ""
    budget: PriceRange | None = None
    must_haves: tuple[str, ...] = ()
    nice_to_haves: tuple[str, ...] = ()
    priorities: tuple[str, ...] = ()
    specifications: tuple[str, ...] = ()
    constraints: tuple[str, ...] = ()

    @property
    def has_constraint(self) -> bool:
        return bool(
            self.budget
            or self.must_haves
            or self.nice_to_haves
            or self.priorities
            or self.specifications
            or self.constraints
        )

    @property
    def are_sufficient(self) -> bool:
        return bool(self.product_type) and self.has_constraint


# ── what was found ───────────────────────────────────────────────────────────────────────────────────────────────────


class Product(Noun, frozen=True):
    """A candidate before its cells are filled. `official_url` is a page of its maker, or empty; shops, marketplaces,
    reviews and forums are `seen_at`."""

    name: str
    evidence: Evidence
    maker: str = ""
    official_url: str = ""
    description: str = ""
    seen_at: tuple[str, ...] = ()
    score: float = 0.0


class Listing(Noun, frozen=True):
    """A place to buy, as its page said at that time."""

    shop: str
    url: str
    price: Money | None = None
    stock: str = ""
    evidence: Evidence | None = None
    at: str = ""


class Part(Noun, frozen=True):
    """What one field contributed to a product's score, in words: "Capacity 1.7 l: 0.8 of 1"."""

    field: str
    weight: float
    score: float
    why: str = ""


class Ranked(Noun, frozen=True):
    row_id: RowId
    name: str
    score: float
    parts: tuple[Part, ...] = ()
    unknown: tuple[str, ...] = ()
    """Fields that count and are not known of it."""
    doubts: tuple[str, ...] = ()
    """Those without which nobody knows whether it meets the requirements."""


class Excluded(Noun, frozen=True):
    row_id: RowId
    name: str
    reason: str
    field: str = ""


class Ranking(Noun, frozen=True):
    ranked: tuple[Ranked, ...] = ()
    excluded: tuple[Excluded, ...] = ()
    notes: tuple[str, ...] = ()
    """What the data cannot say: fields that are empty for many, conditions that could not be decided."""


# ── a conversation ───────────────────────────────────────────────────────────────────────────────────────────────────


class CellRef(Noun, frozen=True):
    row_id: RowId
    field: str


class Said(Noun, frozen=True):
    """A sentence of a reply. Every product fact in it stands in one of `cells`; without cells it states none."""

    text: str
    cells: tuple[CellRef, ...] = ()


class Card(Noun, frozen=True):
    """One of the top five: its place, why it is there, and the trade-off."""

    place: int
    row_id: RowId
    name: str
    score: float
    parts: tuple[Part, ...] = ()
    said: tuple[Said, ...] = ()
    official_url: str = ""


class ChatReply(Noun, frozen=True):
    """What a turn says. `rows` (under `columns`) is the table to show, `file` one that was written, `steps` what was
    done for it."""

    said: tuple[Said, ...] = ()
    cards: tuple[Card, ...] = ()
    columns: tuple[str, ...] = ()
    rows: tuple[tuple[str, ...], ...] = ()
    listings: tuple[Listing, ...] = ()
    buttons: tuple[str, ...] = ()
    file: str = ""

    @property
    def text(self) -> str:
        return "\n".join(each.text for each in self.said)


class ChatMessage(Noun, frozen=True):
    role: Literal["user", "advisor"]
    text: str
    at: str = ""


class Refinement(Noun, frozen=True):
    loop: int
    changed: str
    trigger: str


class ShortlistState(Noun, frozen=True):
    """Everything that a turn needs and nothing besides: `turn(state, message) -> (state, reply)`.

    `proposed` are fields that wait for "Enrich Now"; `pending` is the message that a confirmation is asked for.
    `before` is what was wanted before a change that waits for confirmation, should the person take it back. `asked`
    are the questions of intake so far, so that none comes twice.
    """

    id: str
    phase: Phase = "intake"
    requirements: Requirements = Requirements()
    table_id: str = ""
    waiting: Waiting = ""
    buttons: tuple[str, ...] = ()
    proposed: tuple[Field, ...] = ()
    pending: str = ""
    before: Requirements | None = None
    has_presented: bool = False
    asked: tuple[str, ...] = ()
    tried: tuple[str, ...] = ()
    """Queries that were sent already."""
    shown: tuple[RowId, ...] = ()
    refinements: tuple[Refinement, ...] = ()
    messages: tuple[ChatMessage, ...] = ()
    assumptions: tuple[str, ...] = ()
    error: str = ""
    created_at: str = ""
    updated_at: str = ""
