"""The nouns of the advisor: what somebody wants to buy, the state of a conversation, and what a turn replies."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, TypeAlias

from tablewright.domain.condition import Condition, describe_condition
from tablewright.domain.model import Evidence, Field, Money, Noun, RowId
from tablewright.messages.catalogue import ShortlistText, translate

Phase: TypeAlias = Literal["intake", "research", "advise", "end"]
Waiting: TypeAlias = Literal["", "requirements", "fields"]
"""What a person is to confirm before anything is spent."""
OfferedAs: TypeAlias = Literal["new", "used", "refurbished", "discontinued"]
STATES: ShortlistText[tuple[OfferedAs, ...]] = ("new", "used", "refurbished", "discontinued")
WishKind: TypeAlias = Literal["budget", "must", "nice", "avoid", "priority", "specification"]
WishOperator: TypeAlias = Literal[
    "", "=", "!=", "<", "<=", ">", ">=", "between", "contains", "not contains", "known", "lowest", "highest"
]

WORDED: ShortlistText[dict[str, str]] = {
    "!=": "not",
    "between": "between",
    "contains": "contains",
    "not contains": "not contains",
    "known": "known",
    "lowest": "lowest",
    "highest": "highest",
}
"""Operators that are words."""
YES_NO: ShortlistText[tuple[str, ...]] = ("yes", "no")

MOST = 50
"""Candidates that are kept, at most."""
FEW = 10
"""Candidates under which availability is said to be limited."""
TOP = 5

BUTTONS: ShortlistText[tuple[str, ...]] = (
    "Confirm Requirements",
    "Edit Requirements",
    "Enrich Now",
    "Modify Fields",
    "Go On",
    "Try Again",
    "Start Fresh",
)
CONFIRM, EDIT, ENRICH, MODIFY, GO_ON, TRY_AGAIN, FRESH = BUTTONS

COLUMNS: ShortlistText[tuple[str, ...]] = ("Product", "Maker", "Official page", "Offered as", "Price")
KEY, MAKER, PAGE, OFFERED_AS, PRICE = COLUMNS
"""Of every comparison."""
FOUND_AT = "Page"
"""Without a model: where the candidate was found, whoever's page that is."""
FOUND_FIELDS = (
    Field(name=KEY),
    Field(name=MAKER),
    Field(name=PAGE, type="url"),
    Field(name=OFFERED_AS, type="select", options=STATES),
)
"""What is known of a candidate when it is found."""
STANDING_FIELDS = (*FOUND_FIELDS, Field(name=PRICE, type="money"))
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


def column_name(name: str, language: str = "") -> str:
    """The columns that every comparison has are named in the language; others are called what they are called."""
    return translate("shortlist", name, language) if name in COLUMNS else name


def state_name(name: str, language: str = "") -> str:
    """Return what goods are offered as, "used": in the language where it is one of ours."""
    return translate("shortlist", name, language) if name in STATES else name


# ── what somebody wants ──────────────────────────────────────────────────────────────────────────────────────────────


class Wish(Condition, frozen=True, kw_only=True):
    """One thing that somebody wants, in their words, and the condition by which code checks it on a cell. `lowest` and
    `highest` rank. Without a column it cannot be checked from specifications, and the reply says so. A `hard` one
    excludes; others count for the score."""

    column: str = ""
    operator: WishOperator = ""
    words: str
    kind: WishKind = "must"
    hard: bool = True

    def text(self, language: str = "") -> str:
        """ "under £50: Price < 50 GBP"; once only where it was said as a condition."""
        if not self.column:
            return translate("shortlist", "{words}: cannot be checked from specifications", language, words=self.words)
        condition = f"{column_name(self.column, language)} {self.wanted(language)}"
        return condition if self.words == describe_condition(self) else f"{self.words}: {condition}"

    def wanted(self, language: str = "") -> str:
        """ "< 50 GBP", "= ja"."""
        sign = translate("shortlist", WORDED[self.operator], language) if self.operator in WORDED else self.operator
        joint = translate("shortlist", " and " if self.operator == "between" else " or ", language)
        values = (translate("shortlist", each, language) if each in YES_NO else each for each in self.values)
        return f"{sign} {joint.join(values)}".strip()


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
        price = self.price_text or translate("shortlist", "no price named", language)
        place = ", ".join(filter(None, (self.product, self.shop)))
        return f"{place}: {', '.join(filter(None, (price, state, self.stock, self.missed(language))))}"

    @property
    def price_text(self) -> str:
        """ "39.00 GBP, about 44 CHF"."""
        return ", ".join(filter(None, (str(self.price or ""), self.about)))

    def missed(self, language: str = "") -> str:
        wishes = ", ".join(f"“{words}”" for words in self.misses)
        return translate("shortlist", "does not meet {wishes}", language, wishes=wishes) if wishes else ""


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
        best_for = translate("shortlist", "best for {what}", language, what=self.best_for) if self.best_for else ""
        is_open = translate("shortlist", "not known to meet every must", language) if self.is_open else ""
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

    def translate(self, text: str, /, **values: Any) -> str:
        """Return a text of ours in the language of the conversation."""
        return translate("shortlist", text, self.language, **values)

    @property
    def is_undecided(self) -> bool:
        """Nothing was searched and nothing waits for confirmation: what is wanted is still being found out."""
        return self.phase == "intake" and not self.waiting and not self.table_id
