"""The nouns of the advisor: what somebody wants to buy, the state of a conversation, and what a turn replies."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, TypeAlias

from tablewright.domain.model import Evidence, Field, Money, Noun, RowId
from tablewright.messages.messages import column_name, message, state_name

Phase: TypeAlias = Literal["intake", "research", "advise", "end"]
Waiting: TypeAlias = Literal["", "requirements", "fields"]
"""What a person is to confirm before anything is spent."""
OfferedAs: TypeAlias = Literal["new", "used", "refurbished", "discontinued"]
STATES: tuple[OfferedAs, ...] = ("new", "used", "refurbished", "discontinued")
WishKind: TypeAlias = Literal["budget", "must", "nice", "avoid", "priority", "specification"]
WishOperator: TypeAlias = Literal[
    "", "=", "!=", "<", "<=", ">", ">=", "between", "contains", "not contains", "known", "lowest", "highest"
]

MOST = 50
"""Candidates that are kept, at most."""
FEW = 10
"""Candidates under which availability is said to be limited."""
TOP = 5

CONFIRM, EDIT = "Confirm Requirements", "Edit Requirements"
ENRICH, MODIFY = "Enrich Now", "Modify Fields"
GO_ON = "Go On"
TRY_AGAIN = "Try Again"
FRESH = "Start Fresh"
BUTTONS = frozenset({CONFIRM, EDIT, ENRICH, MODIFY, GO_ON, TRY_AGAIN, FRESH})

KEY, MAKER, PAGE, OFFERED_AS, PRICE = "Product", "Maker", "Official page", "Offered as", "Price"
FOUND_AT = "Page"
"""Without a model: where the candidate was found, whoever's page that is."""
PRICE_FIELD = Field(
    name=PRICE,
    type="money",
    question=(
        "What does {Product} cost, as the row offers it? New, unless it says otherwise. Where sellers ask different "
        "prices, an answer for each."
    ),
)
MEETS = Field(
    name="Meets requirements",
    type="boolean",
    description="Whether the candidate meets every hard requirement; worked out from its cells.",
    role="qualification",
)


# ── what somebody wants ──────────────────────────────────────────────────────────────────────────────────────────────


class Wish(Noun, frozen=True):
    """One thing that somebody wants, in their words, and how code checks it on a cell: `column operator values`.
    Several values mean any of them; `lowest` and `highest` rank. Without a column it cannot be checked from
    specifications, and the reply says so. A `hard` one excludes; others count for the score."""

    words: str
    kind: WishKind = "must"
    hard: bool = True
    column: str = ""
    operator: WishOperator = ""
    values: tuple[str, ...] = ()

    def text(self, language: str = "") -> str:
        """ "under £50: Price < 50 GBP"; once only where it was said as a condition."""
        if not self.column:
            return message("shortlist: cannot be checked", language, words=self.words)
        condition = f"{column_name(self.column, language)} {self.wanted(language)}"
        return condition if self.words == self.condition else f"{self.words}: {condition}"

    def wanted(self, language: str = "") -> str:
        """ "< 50 GBP", "= ja"."""
        is_word = self.operator in ("!=", "between", "contains", "not contains", "known", "lowest", "highest")
        sign = message(f"shortlist: {self.operator}", language) if is_word else self.operator
        joint = message("and" if self.operator == "between" else "or", language)
        values = (message(f"shortlist: {each}", language) if each in ("yes", "no") else each for each in self.values)
        return f"{sign} {joint.join(values)}".strip()

    @property
    def condition(self) -> str:
        """ "Price <= 50 GBP"."""
        joint = " and " if self.operator == "between" else " or "
        return f"{self.column} {self.operator} {joint.join(self.values)}".strip() if self.column else ""


class Requirements(Noun, frozen=True):
    """`region` is where it is to be bought. `wishes` are in the order of their weight."""

    product_type: str = ""
    region: str = ""
    wishes: tuple[Wish, ...] = ()


# ── what a search may take ───────────────────────────────────────────────────────────────────────────────────────────


class ShortlistLimits(Noun, frozen=True):
    """What a search for products may take. `seconds` are for filling the table; the rest can be gone on with."""

    products: int = 30
    queries: int = 12
    seconds: float = 300.0
    retries: int = 0
    search_seconds: float = 30.0


USUAL_LIMITS = ShortlistLimits()


# ── what was found ───────────────────────────────────────────────────────────────────────────────────────────────────


class Product(Noun, frozen=True):
    """A candidate before its cells are filled. `official_url` is a page of its maker, or empty; `evidence` are the
    passages that name it, one for each page that it was found on."""

    name: str
    evidence: tuple[Evidence, ...]
    maker: str = ""
    official_url: str = ""
    offered_as: OfferedAs | None = None
    """None: nobody could say."""


class ShopListing(Noun, frozen=True):
    """A place to buy a product, as its page said at that time."""

    shop: str
    url: str
    price: Money | None = None
    stock: str = ""
    offered_as: OfferedAs = "new"
    evidence: Evidence | None = None
    at: str = ""
    product: str = ""
    misses: tuple[str, ...] = ()
    """The wishes about the price that it does not meet, in the user's words."""
    about: str = ""
    """The price in the currency of the budget, where it is in another one."""

    def text(self, language: str = "") -> str:
        """ "Kettle 2, Corner Shop: 34.00 GBP, used, 2 left, does not meet “under £30”"."""
        state = state_name(self.offered_as, language) if self.offered_as != "new" else ""
        price = self.price_text or message("shortlist: no price", language)
        place = ", ".join(filter(None, (self.product, self.shop)))
        return f"{place}: {', '.join(filter(None, (price, state, self.stock, self.missed(language))))}"

    @property
    def price_text(self) -> str:
        """ "39.00 GBP, about 44 CHF"."""
        return ", ".join(filter(None, (str(self.price or ""), self.about)))

    def missed(self, language: str = "") -> str:
        wishes = ", ".join(f"“{words}”" for words in self.misses)
        return message("shortlist: does not meet", language, wishes=wishes) if wishes else ""


class ScorePart(Noun, frozen=True):
    """What one wish contributed to a product's score, in words: "Capacity 1.7 l: 0.8 of 1"."""

    field: str
    weight: float
    score: float
    why: str = ""


class Ranked(Noun, frozen=True):
    row_id: RowId
    name: str
    score: float
    parts: tuple[ScorePart, ...] = ()
    unknown: tuple[str, ...] = ()
    """Hard wishes that no cell of it decides, and why."""


class Excluded(Noun, frozen=True):
    """`near`: it misses one figure only, and by little. `missed`: how many requirements it misses."""

    row_id: RowId
    name: str
    reason: str
    field: str = ""
    near: bool = False
    missed: int = 1


class Ranking(Noun, frozen=True):
    """`notes` are what was taken for granted, such as a rate of exchange."""

    ranked: tuple[Ranked, ...] = ()
    excluded: tuple[Excluded, ...] = ()
    notes: tuple[str, ...] = ()
    prices: Mapping[RowId, str] = {}
    """Prices in the currency of the budget where they are in another one: "about 44 CHF"."""
    euros: Mapping[RowId, float] = {}
    """What the prices are worth, to sort them by."""


# ── a conversation ───────────────────────────────────────────────────────────────────────────────────────────────────


class CellRef(Noun, frozen=True):
    row_id: RowId
    field: str


class ReplySentence(Noun, frozen=True):
    """A sentence of a reply. Every product fact in it stands in one of `cells`; without cells it states none."""

    text: str
    cells: tuple[CellRef, ...] = ()


class Card(Noun, frozen=True):
    """One of the top five: its place, why it is there, and the trade-off."""

    place: int
    row_id: RowId
    name: str
    score: float
    parts: tuple[ScorePart, ...] = ()
    said: tuple[ReplySentence, ...] = ()
    official_url: str = ""
    best_for: str = ""
    is_open: bool = False
    """Whether nobody knows of it if it meets every must."""

    def heading(self, language: str = "") -> str:
        """ "1. Kettle 2, best for small kitchens"."""
        best_for = message("shortlist: best for", language, what=self.best_for) if self.best_for else ""
        is_open = message("shortlist: open", language) if self.is_open else ""
        return ", ".join(filter(None, (f"{self.place}. {self.name}", best_for, is_open)))


class ChatReply(Noun, frozen=True):
    """What a turn says: `said`, then the table (`rows` under `columns`), the cards and the offers, then `notes`. `file`
    is one that was written."""

    said: tuple[ReplySentence, ...] = ()
    cards: tuple[Card, ...] = ()
    columns: tuple[str, ...] = ()
    rows: tuple[tuple[str, ...], ...] = ()
    listings: tuple[ShopListing, ...] = ()
    buttons: tuple[str, ...] = ()
    file: str = ""
    notes: tuple[ReplySentence, ...] = ()

    @property
    def text(self) -> str:
        return "\n".join(each.text for each in (*self.said, *self.notes))

    def whole(self, language: str = "") -> str:
        """All that the person sees, in words: what is kept of it, and what the model reads of its own reply."""
        said, notes = ([each.text for each in texts] for texts in (self.said, self.notes))
        cards = [
            f"{card.heading(language)}: {' '.join(each.text for each in card.said)}".rstrip(": ") for card in self.cards
        ]
        table = "" if self.cards or not self.rows else "; ".join(row[0] for row in self.rows)
        offers = [offer.text(language) for offer in self.listings]
        return "\n".join(filter(None, (*said, *cards, table, *offers, *notes)))


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

    `columns` are those that wishes need and the table does not have yet; `proposed` those that wait for "Enrich Now".
    `before` is what was wanted before a change that waits for confirmation, should the person take it back.
    """

    id: str
    phase: Phase = "intake"
    requirements: Requirements = Requirements()
    columns: tuple[Field, ...] = ()
    table_id: str = ""
    waiting: Waiting = ""
    buttons: tuple[str, ...] = ()
    proposed: tuple[Field, ...] = ()
    before: Requirements | None = None
    has_presented: bool = False
    tried: tuple[str, ...] = ()
    """Queries that were sent already."""
    removed: tuple[str, ...] = ()
    """Products that the person took out: no search brings them back."""
    shown: tuple[RowId, ...] = ()
    offers: tuple[ShopListing, ...] = ()
    """Where products can be bought, as it was asked last."""
    refinements: tuple[Refinement, ...] = ()
    messages: tuple[ChatMessage, ...] = ()
    language: str = ""
    """That the person speaks, as the model tells it: our own words are in it, too."""
    error: str = ""
    created_at: str = ""
    updated_at: str = ""

    @property
    def is_undecided(self) -> bool:
        """Nothing was searched and nothing waits for confirmation: what is wanted is still being found out."""
        return self.phase == "intake" and not self.waiting and not self.table_id
