"""The requirements that one message states, read by rule, in the light of what was asked last."""

from __future__ import annotations

import re
from collections.abc import Iterable

from tablewright.decisions.intake.budget import STRUCK, read_spending
from tablewright.decisions.intake.categories import ANY, category_of, is_product
from tablewright.decisions.intake.clauses import Clause, clauses, turned
from tablewright.decisions.intake.gibberish import is_gibberish
from tablewright.decisions.intake.guard import tidy, without_chatter, without_greeting
from tablewright.decisions.intake.product import (
    COLOUR,
    CONDITION,
    FUEL,
    GEARBOX,
    GRADED,
    Named,
    bare_product,
    is_part,
    read_product,
)
from tablewright.decisions.intake.questions import Topic, options_of, topic_of
from tablewright.table.model import Noun
from tablewright.table.shortlist import ListOf, Requirements

MOST_ITEMS = 8
LONGEST_ITEM = 60


class Wants(Noun, frozen=True):
    """`said` is only what the message states. `dropped` no longer counts, `allowed` is no longer excluded."""

    said: Requirements = Requirements()
    dropped: tuple[str, ...] = ()
    allowed: tuple[str, ...] = ()
    is_open: bool = False
    """Whether any price is fine."""
    is_other: bool = False
    """Whether it names another product than the known one."""

    @property
    def says_something(self) -> bool:
        return bool(self.said.product_type or self.said.has_constraint or self.dropped or self.allowed or self.is_open)


_NOTHING = Requirements()


def read_wants(message: str, known: Requirements = _NOTHING, last: tuple[str, ...] = ()) -> Wants:
    """`last` are the questions that the message answers, the latest at the end."""
    text = _lowered(without_greeting(tidy(message)).strip())
    if is_gibberish(text):
        return Wants()
    topics = [topic_of(question) for question in last]
    currency = known.budget.currency if known.budget else ""
    spending = read_spending(text, is_asked="budget" in topics, currency=currency)
    if chosen := _chosen(text, last) or _chosen(spending.text, last):
        spent = None if text.strip().isdecimal() else spending.budget
        return Wants(said=_with_items(Requirements(budget=spent), [(_list_for(topics), each) for each in chosen]))
    text = _LEADING_NO.sub("", _COLON.sub(", ", _PLEASE.sub(",", spending.text)))
    named = _product(text, known.product_type, last)
    items: list[tuple[ListOf, str]] = []
    if named:
        text = named.text
        items += _described(named)
    text, filters = _filters(text)
    items += [("specifications", each) for each in filters]
    read = clauses(without_chatter(turned(text)))
    product = named.name if named else known.product_type
    items += [item for clause in read for item in _items(clause, product, topics, last)]
    said = _with_items(Requirements(product_type=named.name if named else "", budget=spending.budget), items)
    return Wants(
        said=said,
        dropped=tuple(each for clause in read if clause.mode == "drop" if (each := _item(clause.text))),
        allowed=tuple(each for clause in read if clause.mode == "allow" if (each := _item(clause.text))),
        is_open=spending.is_open,
        is_other=_is_other(named, known),
    )


def _product(text: str, known: str, last: tuple[str, ...]) -> Named | None:
    """With a product known, a message that is nothing but the name of another is about that one."""
    found = read_product(text, known)
    if found or not known:
        return found or bare_product(without_chatter(text))
    bare = bare_product(text)
    is_all = bare is not None and not bare.text.strip(f" .!?{STRUCK}") and is_product(bare.name)
    offered = {option.casefold() for question in last for option in options_of(question)}
    return bare if bare and is_all and not is_part(bare.name) and text.strip(" .!").casefold() not in offered else None


def _lowered(text: str) -> str:
    """Without the capitals of sentences: "Comfort matters" is about comfort; "Dell XPS" stays."""
    return _SENTENCE_START.sub(lambda found: found[0].lower(), text)


_SENTENCE_START = re.compile(r"(?:^|(?<=[.!?]\s))[A-Z](?=[a-z]+\b(?! [A-Z]))")


def _is_other(named: Named | None, known: Requirements) -> bool:
    if named is None or not known.product_type:
        return False
    return named.name.split()[-1].casefold() != known.product_type.split()[-1].casefold()


def _described(named: Named) -> list[tuple[ListOf, str]]:
    lists: tuple[tuple[ListOf, tuple[str, ...]], ...] = (
        ("must_haves", named.must_haves),
        ("priorities", named.priorities),
        ("specifications", named.specifications),
    )
    return [(name, each) for name, values in lists for each in values]


def _with_items(requirements: Requirements, items: Iterable[tuple[ListOf, str]]) -> Requirements:
    lists: dict[str, dict[str, str]] = {}
    for name, item in items:
        if item:
            lists.setdefault(name, {}).setdefault(item.casefold(), item)
    kept = {name: tuple(values.values())[:MOST_ITEMS] for name, values in lists.items()}
    return Requirements(product_type=requirements.product_type, budget=requirements.budget, **kept)


# ── one clause ───────────────────────────────────────────────────────────────────────────────────────────────────────


def _items(clause: Clause, product: str, topics: list[Topic], last: tuple[str, ...]) -> list[tuple[ListOf, str]]:
    item = _item(clause.text)
    if not item or clause.mode in ("drop", "allow") or (not product and re.match(r"(?:i|we) ", clause.cue)):
        return []
    if clause.mode == "avoid":
        return [("constraints", negative(item, clause.cue))] if not _NO_EXCLUSION.fullmatch(item) else []
    if clause.mode == "use":
        return (
            [("specifications", f"for {_POLITE.sub('', clause.text).strip()}")]
            if not _NO_USE.fullmatch(clause.text.strip())
            else []
        )
    if clause.mode == "place":
        name: ListOf = "must_haves" if clause.cue.startswith("made") else "specifications"
        if not re.match(r"\s*(?:the |an? )?[^\W\d]", clause.text):
            return []
        return [(name, f"{clause.cue} {_POLITE.sub('', clause.text).strip()}")]
    if clause.mode == "nice":
        return [("nice_to_haves", item)]
    if _CHEAP.fullmatch(item):
        return [("priorities", "price")]
    if clause.mode == "priority":
        return [("priorities", _GOOD.sub("", each) or each) for each in _OVER.split(item)]
    if clause.mode == "bare":
        return _bare(clause, item, product, topics, last)
    if _GOOD.match(item) or re.fullmatch(rf"(?:very |really |as )?{GRADED}(?: as possible)?", item, re.IGNORECASE):
        return [("priorities", _GOOD.sub("", item) or item)]
    return [("must_haves", item)]


def _bare(
    clause: Clause, item: str, product: str, topics: list[Topic], last: tuple[str, ...]
) -> list[tuple[ListOf, str]]:
    """Words with nothing that says how they are meant: an answer to our question, or an attribute in a list."""
    if _TALK.search(f" {clause.text} ") or len(item.split()) > (7 if re.search(r"\d", item) else 5):
        return []
    offered = {option.casefold(): topic_of(question) for question in last for option in options_of(question)}
    if item.casefold() in offered:
        return [(_list_for([offered[item.casefold()]]), item)]
    if _ATTRIBUTE.fullmatch(item):
        return [("specifications", item)]
    if _GOOD.match(item) or re.fullmatch(GRADED, item, re.IGNORECASE):
        return [("priorities", _GOOD.sub("", item) or item)]
    if item.casefold() in category_of(product).matters or item.casefold() in ANY.matters:
        return [("priorities", item)]
    name = _list_for(topics)
    if name == "constraints":
        return [("constraints", negative(item, ""))]
    if name == "specifications":
        return [("specifications", f"for {clause.text.strip()}")]
    return [(name, item)]


def _list_for(topics: list[Topic]) -> ListOf:
    lists: dict[Topic, ListOf] = {
        "priorities": "priorities", "avoid": "constraints", "use": "specifications", "features": "must_haves",
    }  # fmt: skip
    return next((lists[topic] for topic in topics if topic in lists), "must_haves")


def negative(item: str, cue: str = "") -> str:
    """The exclusion in words: "no plastic", "not from Acme", "avoid high mileage"."""
    cue = re.sub(r"^(?:it|they|please)\s+", "", cue)
    if found := re.match(r"any(?P<thing>thing)?\s+(?:that is |that's )?(?!with |that has )", item, re.IGNORECASE):
        item, cue = item[found.end() :], "not" if found["thing"] else cue
    if IS_NEGATIVE.match(item):
        return item
    if cue.startswith("avoid"):
        return f"avoid {item}"
    if re.search(r"(?:doesn't|does not|won't|will not)$", cue):
        return f"does not {item}"
    is_not = re.match(
        r"(?:too|from|by|made|more|bigger|larger|heavier|longer|wider|over|under|for|in|very)\b", item, re.IGNORECASE
    )
    if is_not:
        item = re.sub(r"^by\b", "from", item)
    if is_not or re.match(r"not|nothing|isn't|is not|aren't|except|anything|other|exclud|must|should|can|mustn't", cue):
        return f"not {item}"
    return f"no {item}"


IS_NEGATIVE = re.compile(
    r"(?:no|not|avoid|without|never|nothing|none|nor|exclud\w*|except|do(?:es)?n't|does not|isn't)\b", re.IGNORECASE
)


def _item(text: str) -> str:
    """The bare words: without article, small words and politeness; "" where none is left that says anything."""
    text = " ".join(text.split()).strip(" ,.:;!?-'\"()")
    text = _POLITE.sub("", _LEAD.sub("", f"{text} ").strip()).strip(" ,.:;!?-")
    if not re.search(r"[^\W_]", text) or _EMPTY.fullmatch(text) or is_gibberish(text):
        return ""
    return text if len(text) <= LONGEST_ITEM else text[:LONGEST_ITEM].rsplit(" ", 1)[0]


_LEAD = re.compile(
    r"^(?:(?:an?|the|some|it|its|they|also|really|very much|definitely|to be|to have|be|is|are|of|that|which|my|our|"
    r"their|"
    r"both|mostly|mainly|maybe|perhaps|just|something|then|and|or|but|so|has|have|would|if|to|able to|please|"
    r"actually|with)\s+)+",
    re.IGNORECASE,
)
_POLITE = re.compile(
    r"(?<![\s,])(?:[\s,]+(?:please|thanks|thank you|too|as well|though|at all|either|also|if possible|for sure|"
    r"only please|requirement|condition|constraint|now|instead|any ?more|to me|for me|after all|one|ones|is|are))+$",
    re.IGNORECASE,
)
_EMPTY = re.compile(
    r"(?:it|one|ones|that|this|they|them|something|anything|everything|nothing|good|nice|decent|great|best|please|"
    r"thanks|"
    r"and|or|but|so|well|ok|okay|yes|no|not|also|a|an|the|i|we|you|me|my|of|to|is|are|be|have|has|more|most|all|any|"
    r"some|"
    r"actually|really|definitely|fine|cool|hi|hello|hey|sorry|hmm+|um+|quality|else|thing|things|budget|price range|"
    r"the budget|my budget|for|with|in|from|by|on|at|now|then|too|instead|today|currently|again|asap|problem|rush|"
    r"worries|need|want|new|limit)",
    re.IGNORECASE,
)
_NO_EXCLUSION = re.compile(
    r"(?:preference|preferences|idea|problem|rush|worries|thanks|thank you|opinion|sure|bothered|really|question|"
    r"questions|"
    r"much|matter|yet|now|clue|more|way|budget)s?",
    re.IGNORECASE,
)
_NO_USE = re.compile(
    r"(?:me|it|now|sure|example|the price|money|less|more|that|this|us|real|once|you|good|the moment|preference|"
    r"the money|starters|free|sale|(?:something|anything|one)\b.*)",
    re.IGNORECASE,
)
_CHEAP = re.compile(
    r"(?:as )?(?:cheap|cheaper|affordable|inexpensive|(?:good )?value(?: for money)?|low(?:est)? price|cheapest|"
    r"(?:low|tight|small) budget|budget-friendly|"
    r"low cost)"
    r"(?: as possible)?",
    re.IGNORECASE,
)
_GOOD = re.compile(
    r"^(?:(?:a|very|really|pretty)\s+)*(?:good|great|decent|excellent|the best|best|nice|high|top|better|"
    r"more(?! than| or|\s+\d))\s+",
    re.IGNORECASE,
)
_TALK = re.compile(
    r"\b(?:i|i'm|i've|i'd|we|my|you|your|because|since|think|know|hope|guess|live|lives|was|were|is|are|am|can|could|"
    r"would|"
    r"will|did|does|do|how|what|why|who|when|where|if|they|he|she|her|his|want|wants|broke|said|told|like|recently|"
    r"currently|help|tell|old one|up to|such|there|here|let's|buy|buying|something|anything|yes|recommend|ignore|"
    r"please (?:find|show))\b",
    re.IGNORECASE,
)
_ATTRIBUTE = re.compile(
    rf"{COLOUR}(?: or {COLOUR})*|{FUEL}(?: engine)?|{GEARBOX}(?: (?:transmission|gearbox))?|{CONDITION}|size \w+|"
    rf"(?:women|men|kid|unisex)'?s?|"
    r"[\w ]{2,20} only|(?:new|left|right)[- ]handed|one size",
    re.IGNORECASE,
)
_OVER = re.compile(r"\s+(?:over|more than|rather than|before)\s+(?=[^\W\d])", re.IGNORECASE)
_COLON = re.compile(
    r"(?<!have)(?<!haves)(?<!budget)(?<!important)(?<!priority)(?<!priorities)(?<!most)(?<!essential):\s"
)
_PLEASE = re.compile(r"\bplease\s*[:,]", re.IGNORECASE)
_LEADING_NO = re.compile(r"^\W*(?:no|nope|well|so|ok|okay|yes|yeah|hmm+|um+|oh)\s*,\s*", re.IGNORECASE)


# ── filters, wherever they stand ─────────────────────────────────────────────────────────────────────────────────────

_YEAR = r"(?:19|20)\d\d"
_FILTER = re.compile(
    rf"\b(?:(?:from |between |year |years |model years? )*{_YEAR}\s*(?:-|to|and|until)\s*{_YEAR}(?: models?)?|"
    rf"(?:from |year )?{_YEAR}\s*(?:or|and)\s*(?:newer|later|younger|above|after|up|older|earlier|onwards|on)|"
    rf"(?:newer|later|younger|older|earlier) than {_YEAR}|(?:from|since|after|before) {_YEAR}(?: on(?:wards)?|"
    rf" or later)?|"
    rf"{_YEAR}\+|(?:only )?(?:in|from|within) the (?:uk|us|usa|eu|united kingdom|united states)(?: only)?|"
    r"(?:uk|us|usa|eu|europe|germany|france|ireland|canada|australia|india|spain|italy)[- ]only|"
    r"(?:sold|delivered|delivery|shipping|ships|shipped|stock|available) (?:in|to|within) (?:the )?[a-z]+|"
    rf"{GEARBOX} (?:transmission|gearbox)|{CONDITION}(?! (?:car|bike|laptop|phone)))(?![\w])",
    re.IGNORECASE,
)  # fmt: skip
_NEGATOR = re.compile(
    r"\b(?:no|not|avoid|without|nothing|don't want|never|isn't|except|must not be|anything but|ideally|preferably|"
    r"prefer)\s+(?:an?\s+|anything\s+)?$",
    re.I,
)


def _filters(text: str) -> tuple[str, list[str]]:
    found: list[str] = []
    for match in reversed(list(_FILTER.finditer(text))):
        if _NEGATOR.search(text[: match.start()]):
            continue
        found.append(" ".join(match[0].split()))
        before = re.sub(r"\b(?:must|should|needs? to|has to|it|be|ideally)\s*$", "", text[: match.start()])
        text = f"{before} | {text[match.end() :]}"
    return text, found[::-1]


# ── "the second", "both", "first and third" ──────────────────────────────────────────────────────────────────────────

_PLACES = {"first": 0, "1st": 0, "1": 0, "one": 0, "second": 1, "2nd": 1, "2": 1, "two": 1, "third": 2, "3rd": 2,
           "3": 2, "three": 2, "former": 0, "latter": -1, "last": -1, "fourth": 3, "4": 3}  # fmt: skip
_PLACED = re.compile(
    rf"\W*(?:(?:i'd|i would|i'll)\s+(?:say|go (?:for|with)|pick|choose|take)\s+)?(?:(?:the|number|option|and|then|&|"
    rf",|please|definitely|probably|ones?)\s*)*(?:{'|'.join(_PLACES)})\b"
    rf"(?:\W*(?:the|and|then|one|ones|option|please|{'|'.join(_PLACES)})\b)*\W*",
    re.IGNORECASE,
)
_ALL = re.compile(
    r"\W*(?:both|all|all of (?:them|these|those|the above)|all three|everything|equally|all equally)\b[\w\s]{0,12}\W*",
    re.IGNORECASE,
)


def _chosen(text: str, last: tuple[str, ...]) -> tuple[str, ...]:
    """The offered answers that the message points at, in the latest question that offers some."""
    offered = next((options for question in reversed(last) if (options := options_of(question))), ())
    if not offered:
        return ()
    if _ALL.fullmatch(text):
        return offered
    is_price = any(topic_of(question) == "budget" for question in last) and text.strip().isdecimal()
    if is_price or not _PLACED.fullmatch(text):
        return ()
    words = re.findall(r"\w+", text.casefold())
    ordinals = [word for word in words if word in _PLACES and not (word == "one" and len(words) > 1)]
    return tuple(offered[_PLACES[word]] for word in ordinals if _PLACES[word] < len(offered))
