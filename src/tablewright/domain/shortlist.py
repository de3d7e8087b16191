"""Types of the shopping advisor: wishes and requirements, candidates and rankings, the conversation, and its replies.

No I/O: `workflows/shortlist` carries out turns, `store/` keeps the state.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, TypeAlias

from tablewright.domain.condition import Condition, describe_condition
from tablewright.domain.model import Evidence, Field, Money, RowId, Struct
from tablewright.messages.catalogue import ShortlistText, localize_figure, translate

Phase: TypeAlias = Literal["intake", "research", "advise", "end"]
# What the person must confirm before anything is spent.
Waiting: TypeAlias = Literal["", "requirements", "fields", "refinement"]
OfferedAs: TypeAlias = Literal["new", "used", "refurbished", "discontinued"]
OFFER_STATES: ShortlistText[tuple[OfferedAs, ...]] = ("new", "used", "refurbished", "discontinued")
WishKind: TypeAlias = Literal["budget", "must", "nice", "avoid", "priority", "specification"]
WishOperator: TypeAlias = Literal[
    "", "=", "!=", "<", "<=", ">", ">=", "between", "contains", "not contains", "known", "lowest", "highest"
]

# Operators that are words, and so are translated.
OPERATOR_WORDS: ShortlistText[dict[str, str]] = {
    "!=": "not",
    "between": "between",
    "contains": "contains",
    "not contains": "not contains",
    "known": "known",
    "lowest": "lowest",
    "highest": "highest",
}
# Values of conditions that are words of our own, and so are translated.
YES_NO: ShortlistText[tuple[str, ...]] = ("yes", "no")

# Candidates presented as cards.
TOP_CANDIDATES = 5

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

STANDING_COLUMNS: ShortlistText[tuple[str, ...]] = ("Product", "Maker", "Official page", "Offered as", "Price")
# The columns that every comparison has.
PRODUCT_COLUMN, MAKER_COLUMN, PAGE_COLUMN, OFFERED_AS_COLUMN, PRICE_COLUMN = STANDING_COLUMNS
# Without a model: the page on which the candidate was found, whether its maker's or not.
FOUND_AT_COLUMN = "Page"
# The columns known when a candidate is found.
FOUND_FIELDS = (
    Field(name=PRODUCT_COLUMN),
    Field(name=MAKER_COLUMN),
    Field(name=PAGE_COLUMN, type="url"),
    Field(name=OFFERED_AS_COLUMN, type="select", options=OFFER_STATES),
)
STANDING_FIELDS = (*FOUND_FIELDS, Field(name=PRICE_COLUMN, type="money"))
PRICE_FIELD = Field(
    name=PRICE_COLUMN,
    type="money",
    question=(
        "What does {Product} cost, as the row offers it? New, unless it says otherwise. Where sellers ask different "
        "prices, an answer for each."
    ),
)
MEETS_FIELD = Field(
    name="Meets requirements",
    type="boolean",
    description="Whether the candidate meets every hard requirement; worked out from its cells.",
    role="qualification",
)


def localize_column_name(name: str, language: str = "") -> str:
    """Return the name of a standing column in the language; other columns keep their names."""
    return translate("shortlist", name, language) if name in STANDING_COLUMNS else name


def localize_offer_state(name: str, language: str = "") -> str:
    """Return the state of an offer, such as "used", in the language if it is one of `OFFER_STATES`."""
    return translate("shortlist", name, language) if name in OFFER_STATES else name


# ── requirements ─────────────────────────────────────────────────────────────────────────────────────────────────────


class Wish(Condition, frozen=True, kw_only=True):
    """One wish in the person's words, with the condition that checks it on a cell. `lowest` and `highest` only rank.
    Without a column it cannot be checked from specifications, and the reply says so. A `hard` wish excludes
    candidates; others count towards the score."""

    column: str = ""
    operator: WishOperator = ""
    words: str
    kind: WishKind = "must"
    hard: bool = True

    def text(self, language: str = "") -> str:
        """Return "under £50: Price < 50 GBP", or just the condition if the person wrote it as one."""
        if not self.column:
            return translate("shortlist", "{words}: cannot be checked from specifications", language, words=self.words)
        condition = f"{localize_column_name(self.column, language)} {self.wanted(language)}"
        return condition if self.words == describe_condition(self) else f"{self.words}: {condition}"

    def wanted(self, language: str = "") -> str:
        """Return the operator and values, as in "< 50 GBP" or "= ja"."""
        sign = (
            translate("shortlist", OPERATOR_WORDS[self.operator], language)
            if self.operator in OPERATOR_WORDS
            else self.operator
        )
        joint = translate("shortlist", " and " if self.operator == "between" else " or ", language)
        values = (translate("shortlist", each, language) if each in YES_NO else each for each in self.values)
        return f"{sign} {joint.join(values)}".strip()


class Requirements(Struct, frozen=True):
    """All requirements. `region` is where the product will be bought. `wishes` are in order of weight."""

    product_type: str = ""
    region: str = ""
    wishes: tuple[Wish, ...] = ()


# ── limits of a search ───────────────────────────────────────────────────────────────────────────────────────────────


class ShortlistLimits(Struct, frozen=True):
    """Limits of a search for products. After `seconds` of filling the table it stops; the person can continue it."""

    products: int = 30
    queries: int = 12
    seconds: float = 300.0
    retries: int = 2
    search_seconds: float = 30.0


DEFAULT_LIMITS = ShortlistLimits()


# ── candidates ───────────────────────────────────────────────────────────────────────────────────────────────────────


class Product(Struct, frozen=True):
    """A candidate before its cells are filled. `official_url` is a page of its maker, or ""; `evidence` has one passage
    that names it for each page on which it was found."""

    name: str
    evidence: tuple[Evidence, ...]
    maker: str = ""
    official_url: str = ""
    offered_as: OfferedAs | None = None
    """None if unknown."""


class ShopListing(Struct, frozen=True):
    """An offer by a shop, as its page stated it at that time."""

    shop: str
    url: str
    price: Money | None = None
    stock: str = ""
    offered_as: OfferedAs = "new"
    evidence: Evidence | None = None
    at: str = ""
    product: str = ""
    misses: tuple[str, ...] = ()
    """The wishes about the price that it misses, in the user's words."""
    about: str = ""
    """The price in the currency of the budget, if that is another one."""

    def text(self, language: str = "") -> str:
        """Return "Kettle 2, Corner Shop: 34.00 GBP, used, 2 left, does not meet “under £30”"."""
        state = localize_offer_state(self.offered_as, language) if self.offered_as != "new" else ""
        price = self.price_text(language) or translate("shortlist", "no price named", language)
        place = ", ".join(filter(None, (self.product, self.shop)))
        return f"{place}: {', '.join(filter(None, (price, state, self.stock, self.missed(language))))}"

    def price_text(self, language: str = "") -> str:
        """Return the price, as in "39.00 GBP, about 44 CHF"."""
        return ", ".join(filter(None, (localize_figure(str(self.price or ""), language), self.about)))

    def missed(self, language: str = "") -> str:
        wishes = ", ".join(f"“{words}”" for words in self.misses)
        return translate("shortlist", "does not meet {wishes}", language, wishes=wishes) if wishes else ""


class ScorePart(Struct, frozen=True):
    """One wish's contribution to a product's score: "Capacity 1.7 l: 0.8 of 1"."""

    field: str
    weight: float
    score: float
    why: str = ""
    outcome: Literal["met", "missed", "unknown", "compared"] = "met"
    """compared: a wish for the lowest or highest value, which no product misses."""


class RankedProduct(Struct, frozen=True):
    row_id: RowId
    name: str
    score: float
    parts: tuple[ScorePart, ...] = ()
    unknown: tuple[str, ...] = ()
    """Hard wishes that its cells do not decide, with the reason."""
    level: int = 0
    """Products that tie have the same one, 0 for the best."""


class ExcludedProduct(Struct, frozen=True):
    """A product that misses hard wishes, `missed` in number. `near`: it misses a single figure, and only by little."""

    row_id: RowId
    name: str
    reason: str
    field: str = ""
    near: bool = False
    missed: int = 1


class Ranking(Struct, frozen=True):
    """Products in order of their scores. `notes` are assumptions, such as an exchange rate."""

    ranked: tuple[RankedProduct, ...] = ()
    excluded: tuple[ExcludedProduct, ...] = ()
    notes: tuple[str, ...] = ()
    prices: Mapping[RowId, str] = {}
    """Converted prices, for prices in another currency than the budget: "about 44 CHF"."""
    euros: Mapping[RowId, float] = {}
    """The prices in euros, for sorting."""


# ── a conversation ───────────────────────────────────────────────────────────────────────────────────────────────────


class CellRef(Struct, frozen=True):
    row_id: RowId
    field: str


class ReplySentence(Struct, frozen=True):
    """A sentence of a reply. Each product fact in it is supported by one of `cells`; without cells it states none."""

    text: str
    cells: tuple[CellRef, ...] = ()


class CardLink(Struct, frozen=True):
    label: str
    url: str


class Card(Struct, frozen=True):
    """One of the top candidates: its place, the reasons, and the trade-off."""

    place: int
    row_id: RowId
    name: str
    score: float | None = None
    """None without a model, which ranks nothing."""
    parts: tuple[ScorePart, ...] = ()
    said: tuple[ReplySentence, ...] = ()
    official_url: str = ""
    best_for: str = ""
    rank_reason: str = ""
    """What it meets and misses, in words; empty if `said` lists it."""
    links: tuple[CardLink, ...] = ()
    """The product's official page, and the page that states the price."""
    is_open: bool = False
    """True if it is unknown whether it meets every hard wish."""

    def heading(self, language: str = "") -> str:
        """Return the heading, as in "1. Kettle 2, best for small kitchens"."""
        best_for = translate("shortlist", "best for {what}", language, what=self.best_for) if self.best_for else ""
        is_open = translate("shortlist", "not known to meet every must", language) if self.is_open else ""
        return ", ".join(filter(None, (f"{self.place}. {self.name}", best_for, is_open)))


class ChatReply(Struct, frozen=True):
    """The reply of a turn, shown in this order: `said`, the table (`rows` under `columns`), cards, offers, `notes`.
    `file` is an exported file."""

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
        """Return all that the person sees, as text: it is stored, and shown to the model as its own reply."""
        said, notes = ([each.text for each in texts] for texts in (self.said, self.notes))
        cards = [
            f"{card.heading(language)}: {' '.join(each.text for each in card.said)}".rstrip(": ") for card in self.cards
        ]
        table = "" if self.cards or not self.rows else "; ".join(row[0] for row in self.rows)
        offers = [offer.text(language) for offer in self.listings]
        return "\n".join(filter(None, (*said, *cards, table, *offers, *notes)))


class ChatMessage(Struct, frozen=True):
    role: Literal["user", "advisor"]
    text: str
    at: str = ""
    is_aside: bool = False
    """True if it was refused or is about something else: advice does not see it."""


class Refinement(Struct, frozen=True):
    loop: int
    changed: str
    trigger: str


class PendingRefinement(Struct, frozen=True, kw_only=True):
    """More products, or columns for all of them, and the message that asked for it."""

    intent: Literal["more", "columns"]
    message: str
    requirements: Requirements = Requirements()
    columns: tuple[Field, ...] = ()
    drop_columns: tuple[str, ...] = ()
    about_columns: tuple[str, ...] = ()
    like: RowId | None = None
    count: int = 0


class ShortlistState(Struct, frozen=True):
    """The complete state of a conversation: `turn(state, message) -> (state, reply)`.

    `columns` are those that wishes need and the table does not have yet; `proposed` those that wait for "Enrich Now".
    `before` are the requirements before a change that is not yet confirmed, in case the person withdraws it.
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
    refinement: PendingRefinement | None = None
    """What waits for "Go On", once it was said what it takes."""
    has_presented: bool = False
    tried: tuple[str, ...] = ()
    """Queries that were already sent."""
    read: tuple[str, ...] = ()
    """Pages whose products are all in the table."""
    removed: tuple[str, ...] = ()
    """Products that the person removed: no search brings them back."""
    shown: tuple[RowId, ...] = ()
    preferred: tuple[RowId, ...] = ()
    """Products in the order in which the last advice put them: it breaks ties."""
    offers: tuple[ShopListing, ...] = ()
    """The offers that were last looked up."""
    refinements: tuple[Refinement, ...] = ()
    messages: tuple[ChatMessage, ...] = ()
    language: str = ""
    """The person's language, as the model determined it; built-in texts use it too."""
    error: str = ""
    unanswered: str = ""
    """The message whose run is under way, or ended without a reply."""
    created_at: str = ""
    updated_at: str = ""

    def translate(self, text: str, /, **values: Any) -> str:
        """Return a built-in text in the language of the conversation."""
        return translate("shortlist", text, self.language, **values)

    @property
    def is_undecided(self) -> bool:
        """True while the requirements are still being collected: nothing was searched or waits for confirmation."""
        return self.phase == "intake" and not self.waiting and not self.table_id
