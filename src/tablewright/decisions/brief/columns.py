"""The columns of a catalog: which ones a question asks for, and how each is read."""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import islice

from tablewright.decisions.brief.phrases import items, sentence_case
from tablewright.decisions.column_names import known_column
from tablewright.decisions.question.words import is_plural
from tablewright.table.fieldspec import parse_field
from tablewright.table.model import Field, FieldType
from tablewright.table.research import FieldKind, Wanted

MOST_COLUMNS = 12
MOST_WORDS = 8
MOST_CLAUSES = 20

NAME = Wanted(field=Field(name="Name", required=True), kind="name")
PROVIDER = Wanted(
    field=Field(name="Provider URL", type="url", question="What is the website of {Name}?", required=True), kind="site"
)


def _column(name: str, kind: FieldKind, question: str, *, required: bool = False) -> Wanted:
    return Wanted(
        field=Field(name=name, type=_TYPES.get(kind, "text"), question=question, required=required), kind=kind
    )


_TYPES: dict[FieldKind, FieldType] = {"site": "url", "proof": "list"}
_PRICE = "What does {Name} cost?"
_PROOF = "Which customers or case studies show that {Name} works?"
USUAL_OF_OFFERS = (
    NAME,
    PROVIDER,
    _column("Problem solved", "prose", "Which problem does {Name} solve?", required=True),
    _column("Pricing model", "price", _PRICE, required=True),
    _column("Proof links", "proof", _PROOF, required=True),
    _column("Pricing evidence", "price", "Where is the price of {Name} stated, and in which words?"),
    _column("Target customer", "prose", "Who is {Name} for?"),
    _column("AI usage", "prose", "How does {Name} use artificial intelligence?"),
    _column("Replicable stack", "prose", "Which technology is {Name} built with?"),
    _column("Evergreen reason", "prose", "Why will {Name} still be needed in some years?"),
)
SITE = _column("Website", "site", "What is the website of {Name}?", required=True)
USUAL_OF_OTHERS = (
    NAME,
    _column("Website", "site", "What is the website of {Name}?"),
    _column("Description", "prose", "What is {Name}?", required=True),
)

_OFFERED = re.compile(
    r"\b(?:products?|services?|tools?|providers?|compan(?:y|ies)|platforms?|business(?:es)?|business models?|vendors?|"
    r"suppliers?|start-?ups?|apps?|applications?|software|solutions?|agenc(?:y|ies)|firms?|saas|brands?|makers?|"
    r"manufacturers?|retailers?|resellers?|shops?|stores?|banks?|insurers?|insurances?|hosts?|hosting|courses?|"
    r"subscriptions?|consultanc(?:y|ies)|consultants?|contractors?|operators?|carriers?|systems?|assistants?|"
    r"chatbots?|bots?|plugins?|extensions?|marketplaces?|packages?|offers?|offerings?|kits?|alternatives?|"
    r"competitors?|crms?|erps?|devices?|machines?|generators?|builders?|editors?|trackers?|managers?|franchises?|"
    r"side hustles|revenue models?|gyms?|hotels?|restaurants?|caterers?|clinics?|lenders?|brokers?|exchanges?|"
    r"wallets?|apis?)\b",
    re.IGNORECASE,
)


def is_offered(things: str, named: Iterable[str] = ()) -> bool:
    """Whether the things are offered by somebody: "CRM tools for dentists" are, and whatever has a price; "cities with
    castles" are not."""
    head = re.split(r"\s(?:for|in|of|with|that|which|who|from|to|by|at|on|under|near|using|without)\s", f"{things} ")[0]
    return bool(_OFFERED.search(head) or _PRICED.search(things)) or any(kind_of(item) in _OF_OFFERS for item in named)


_PRICED = re.compile(r"[$€£]\s?\d|\b(?:cheap|affordable|paid)\b", re.IGNORECASE)
_OF_OFFERS: frozenset[FieldKind] = frozenset({"price", "proof"})


# ── what a word asks for ─────────────────────────────────────────────────────────────────────────────────────────────

_OF = r"(?:(?:official|provider|company|vendor|own|main|product|supplier|maker|manufacturer)(?:'s)?\s+)*"
_SPOKEN_OF: tuple[tuple[FieldKind, str], ...] = (
    ("name", rf"^(?:{_OF}|\w+\s+)names?$"),
    ("name", r"^(?:company|provider|vendor|product|title)$"),
    (
        "site",
        rf"^(?:links? to (?:the |its |their )?)?{_OF}(?:web\s?sites?|home\s?pages?|urls?|links?|web address(?:es)?|"
        r"web pages?|sites?|domains?)(?:\s+(?:urls?|links?|address(?:es)?))?$",
    ),
    (
        "fact",
        r"\b(?:number|count|amount|share|percentage|rate) of\b|\b(?:stock|share) prices?\b|\b(?:customer|client|"
        r"user) (?:count|numbers?|rating)\b|\b(?:ratings?|scores?|stars)$|\bcustomer (?:id|numbers?)\b",
    ),
    (
        "prose",
        r"\b(?:target|ideal|typical) (?:customers?|clients?|users?|groups?|audiences?|markets?|buyers?)\b|"
        r"\bcustomer (?:segments?|types?|profiles?|support|service|groups?)\b|\b(?:audience|problems?|"
        r"pain)\b",
    ),
    (
        "price",
        r"\b(?:pric(?:e|es|ing|ed)|costs?|fees?|tariffs?|how much|tuition)\b|^(?:\w+ )?(?:subscriptions?|plans?|"
        r"tiers?|quotes?)$|^(?:hourly |daily |monthly |day )?rates$|\b(?:hourly|day) rate\b|\bpackages\b",
    ),
    (
        "proof",
        r"\bcase.?stud(?:y|ies)\b|\b(?:proofs?|testimonials?|customers?|clients?|references?|reviews?|"
        r"endorsements?|success stor(?:y|ies)|evidence|examples? of use|deployments?)\b",
    ),
    (
        "prose",
        r"\b(?:descriptions?|summar(?:y|ies)|overviews?|use cases?|features?|functions?|strengths?|weakness(?:es)?|"
        r"pros|cons|advantages?|disadvantages?|benefits?|drawbacks?|limitations?|differentiators?|usps?|propositions?|"
        r"missions?|histor(?:y|ies)|backgrounds?|approach(?:es)?|technolog(?:y|ies)|stacks?|reasons?|(?:business|"
        r"revenue|operating|delivery) models?|integrations?|support|notes?|comments?|explanations?|purposes?|"
        r"strateg(?:y|ies)|risks?|methods?|methodolog(?:y|ies)|usage|uses|specialt(?:y|ies)|services|offerings?|story|"
        r"significance|importance|achievements?|contributions?|impacts?|claims? to fame|known for|ai|security|privacy|"
        r"requirements?|workflows?|steps?|ease|quality|suitab\w+)\b|^(?:how|why|what|who|when|where|which)\b",
    ),
)
_KINDS = tuple((kind, re.compile(pattern, re.IGNORECASE)) for kind, pattern in _SPOKEN_OF)
_KNOWN_ANYHOW = re.compile(
    r"\b(?:year|date|location|country|city|rating|license|licence|funding|size|market cap|integrations?|battery life|"
    r"contact|e-?mail|phone|address|duration|length|age|opening hours|type|category|industry|owner|team)s?$",
    re.IGNORECASE,
)
_CONDITION = re.compile(
    r"^(?:an?|no|at least|at most|more|less|fewer|over|under|up to|only|good|great|strong|low|high|free|built-in|zero|"
    r"real|the (?:best|most|highest|lowest)|\d)\b|\b(?:under|over|below|above|at least|at most|up to|less than|"
    r"more than|between|starting (?:at|from))\s*[\d$€£]",
    re.IGNORECASE,
)


_GOES_ON = re.compile(r"\s(?:with|including|along with|and their)\s", re.IGNORECASE)
"""No column: "John Hillcoat with year", of videos directed by him."""


def kind_of(item: str) -> FieldKind:
    return next((kind for kind, pattern in _KINDS if pattern.search(item)), "fact")


def is_known(item: str) -> bool:
    """Whether the words are those of a column rather than of a quality: "pricing", not "an offline mode"."""
    if _CONDITION.search(item) or _GOES_ON.search(item) or len(item.split()) > MOST_WORDS:
        return False
    return kind_of(item) != "fact" or bool(_KNOWN_ANYHOW.search(item)) or known_column(item) is not None


def column(item: str, *, required: bool = True) -> Wanted | None:
    """A column from the words that ask for it; None where they are not the words of one."""
    item = _CLAUSE.sub("", item).strip(" .,:;")
    if not re.search(r"[^\W\d_]{2}", item) or len(item.split()) > MOST_WORDS or "{" in item or "}" in item:
        return None
    for pattern, name, said in _SAID:
        if re.fullmatch(pattern, item, re.IGNORECASE):
            return column(name, required=required) if not said else _typed(name, kind_of(name), said, required)
    if yes_no := _WHETHER.fullmatch(item):
        return _yes_no(yes_no["verb"].casefold(), yes_no["what"], required)
    kind = kind_of(item)
    if kind == "name":
        return NAME
    return _typed(sentence_case(item), kind, _question(item, kind), required)


def _typed(name: str, kind: FieldKind, question: str, required: bool) -> Wanted:
    kind_type: FieldType = _fact_type(name) if kind == "fact" else _TYPES.get(kind, "text")
    return Wanted(field=Field(name=name, type=kind_type, question=question, required=required), kind=kind)


_IT = r"(?:it|they|he|she|each|each one|this|that)"
_CLAUSE = re.compile(
    r"(?<=\w)\s+(?:that|which|such as|so that|because|e\.g\.|i\.e\.|if available|where available)\b.*$", re.IGNORECASE
)
_SAID: tuple[tuple[str, str, str], ...] = (
    (rf"(?:what|which)(?: the)? problems? {_IT} (?:solves?|address(?:es)?)|problems?(?: {_IT} (?:solves?|"
     rf"address(?:es)?))?",
     "Problem solved", "Which problem does {Name} solve?"),
    (rf"(?:how much|what) {_IT} (?:costs?|charges?)", "Price", _PRICE),
    (rf"who {_IT} (?:is|are) for|who {_IT} serves?|(?:target|ideal) (?:audience|group|market|"
     r"customers?|users?|clients?)",
     "Target customer", "Who is {Name} for?"),
    (rf"who uses? {_IT}|who {_IT} works? with", "Customers", ""),
    (rf"how {_IT} works?", "How it works", "How does {Name} work?"),
    (rf"what {_IT} (?:does|do|offers?)", "Description", "What does {Name} do?"),
    (rf"what {_IT} (?:is|are)", "Description", "What is {Name}?"),
    (rf"when {_IT} (?:was|were) (?:founded|established|started)|year (?:founded|established)|founding (?:year|date)|"
     r"founded(?: in)?|year of foundation|foundation year|established", "Founded", "What year was {Name} founded?"),
    (rf"where {_IT} (?:is|are) (?:based|located|headquartered)|hq|head ?quarters?|head office", "Headquarters",
     "Where is the headquarters of {Name}?"),
    (rf"who (?:founded|started|created|made) {_IT}", "Founders", "Who founded {Name}?"),
    (r"(?:number of )?employees|headcount|staff|(?:company|team) size", "Employees",
     "How many employees does {Name} have?"),
)  # fmt: skip
_WHETHER = re.compile(
    rf"(?:whether|if) (?:or not )?(?:{_IT}|there) (?P<verb>is|are|was|were|has|have|can|offers?|supports?|provides?|"
    r"includes?|allows?|works?|uses?|runs?|comes?|integrates?|needs?|requires?) (?P<what>.+)",
    re.IGNORECASE,
)


def _yes_no(verb: str, what: str, required: bool) -> Wanted:
    if verb in ("is", "are", "was", "were"):
        question = f"Is {{Name}} {what}?"
    elif verb == "can":
        question = f"Can {{Name}} {what}?"
    else:
        question = f"Does {{Name}} {'have' if verb in ('has', 'have') else verb.removesuffix('s')} {what}?"
    name = sentence_case(re.sub(r"^(?:an?|the)\s+", "", what, flags=re.IGNORECASE))
    return Wanted(field=Field(name=name, type="boolean", question=question, required=required), kind="fact")


def _fact_type(name: str) -> FieldType:
    small = name.casefold()
    if re.search(r"\burls?$|\blinks?$|\bpage$|\brepositor(?:y|ies)$", small):
        return "url"
    if re.search(r"\bdate\b|\bwhen\b|\bdeadline\b|\bbirthday\b", small):
        return "date"
    if re.search(r"\byear\b|\bfounded\b|^(?:number|count|amount) of\b|\b(?:ratings?|scores?|count)$", small):
        return "number"
    return _OF_KINDS.get(_kind(name), "text") if not small.endswith("hours") else "text"


def _kind(name: str) -> str:
    column = known_column(name)
    return column.kind if column else ""


_OF_KINDS: dict[str, FieldType] = {"year": "number", "count": "number", "number": "number", "date": "date",
                                   "money": "money", "url": "url"}  # fmt: skip
_PERSON = frozenset({"person"})


def _question(item: str, kind: FieldKind) -> str:
    small = item if re.match(r"[A-Z]{2}|\w+[A-Z]", item) else item[:1].lower() + item[1:]
    if kind == "price" and (len(item.split()) < 2 or kind_of(item.split()[0]) == "price"):
        return _PRICE
    if kind == "proof":
        return _PROOF
    if kind == "site":
        return "What is the website of {Name}?"
    if re.match(r"(?:how|why|what|who|when|where|which)\b", small):
        about = re.sub(rf"\b{_IT}\b", "{Name}", item, count=1)
        return f"{sentence_case(about)}?" if "{Name}" in about else f"{sentence_case(about)} ({{Name}})?"
    if re.fullmatch(r"(?:short |brief )?(?:descriptions?|summary|overview|explanation)", small):
        return "What is {Name}?"
    if counted := re.match(r"(?:number|count) of (.+)", small):
        return f"How many {counted[1]} does {{Name}} have?"
    plural = is_plural(item.split()[-1])
    if kind == "fact" and _kind(item) in _PERSON:
        return f"Who {'are' if plural else 'is'} the {small} of {{Name}}?"
    return f"What {'are' if plural else 'is'} the {small} of {{Name}}?"


# ── which ones are asked for ─────────────────────────────────────────────────────────────────────────────────────────

_SAY = (
    r"(?:include|list|give|provide|state|show|report|add|note|specify|mention|collect|describe|find|say|write|tell me|"
    r"i need|i want|we need|we want|please|with|get|capture|record)"
)
_END = r"(?=[.?!](?:\s|$)|(?<!\s)\s+(?:for each|for every|in an? table|as an? table|in table)\b|$)"
_NAMES_THEM = re.compile(
    rf"\b(?:(?:for|with|of|about) (?:each|every one|every|all|all of them)\b(?:\s+[\w-]+){{0,4}}?\s*[,:]?\s*(?:please"
    rf"\s+)?(?:also\s+)?{_SAY}\b\s*:?|(?:required|requested|wanted|needed|desired|following|these)\s+(?:details?|"
    r"fields?|columns?|information|data|attributes?)(?:\s+(?:are|is|for each(?: \w+)?))?\s*[:(–—-]?|(?:columns?|"
    r"fields?|details?|attributes?)(?:\s+(?:for|named|called|are))?\s*[:(]?|(?:and|plus|with|,|including|along with|"
    rf"together with|as well as)\s+(?:also\s+)?(?:their|its|each one's|the following))\s+(?P<list>.+?){_END}",
    re.IGNORECASE,
)
_MAY_NAME_THEM = re.compile(
    r"(?:,|\b(?:with|including|include|along with|together with|as well as|plus|by|on|in terms of|based on|regarding|"
    r"according to|comparing|showing|listing|mentioning|stating|by their|and))\s+(?!their\b|its\b)(?=\S)",
    re.IGNORECASE,
)
OF_THINGS = re.compile(
    r"^(?:please\s+)?(?:list|compare|give me|give|show me|show|find|provide|compile|collect|name|"
    r"state)\s++(?:the\s++)?(?P<list>[^.?!]{3,80}?)(?<!\s)\s+(?:of|for)\s++(?=(?:the\s+|at least\s+)?(?:top\s+|"
    r"best\s+)?(?:\d{1,3}|two|three|four|five|six|seven|eight|nine|ten|twelve|twenty|all|some|several)\s)",
    re.IGNORECASE,
)


def named_items(question: str) -> list[str]:
    """The words that name columns, in the order of the question: "with pricing and case studies"."""
    found: list[tuple[int, list[str]]] = []
    sure = [(match.start(), match.end()) for match in _NAMES_THEM.finditer(question)]
    if (before := OF_THINGS.search(question)) and all(is_known(item) for item in items(before["list"])):
        found.append((before.start("list"), items(before["list"])))
        sure.append(before.span())
    for match in _NAMES_THEM.finditer(question):
        found.append((match.start("list"), [item for item in items(match["list"]) if not _CONDITION.search(item)]))
    for place in [match.end() for match in islice(_MAY_NAME_THEM.finditer(question), MOST_CLAUSES)]:
        if not any(start <= place < end for start, end in sure) and (said := clause(question, place)):
            found.append((place, said))
            sure.append((place, len(question)))
    return list(dict.fromkeys(item for _, those in sorted(found) for item in those))


def clause(question: str, place: int) -> list[str]:
    """The columns that the clause at `place` names, if its first words are those of a column."""
    match = re.compile(rf"(?P<list>.{{1,300}}?){_END}", re.IGNORECASE).match(question, place)
    said = items(re.split(r"(?i),?\s+(?:and\s+)?(?:their|its)\s", match["list"])[0]) if match else []
    if not said or not is_known(_CLAUSE.sub("", said[0])):
        return []
    return [item for item in said if not _CONDITION.search(item)]


def columns_of(named: Iterable[str], *, offered: bool) -> tuple[Wanted, ...]:
    """First the name, then whose it is, then what was asked for; the usual ones where nothing was."""
    asked = [found for item in named if (found := column(item)) and found.kind != "name"]
    site = PROVIDER if offered else SITE
    asked = [site if each.kind == "site" else each for each in asked]
    return _joined(asked, offered)[:MOST_COLUMNS] if asked else (USUAL_OF_OFFERS if offered else USUAL_OF_OTHERS)


def given_columns(fields: Iterable[str], *, offered: bool) -> tuple[Wanted, ...]:
    """The columns that the user wrote, as "Price" or as "Founded:number=What year was {Name} founded?"."""
    asked = []
    for text in fields:
        field = parse_field(text)
        kind = kind_of(field.name)
        if kind == "name":
            continue
        found = column(field.name) or _typed(field.name, kind, _question(field.name, kind), True)
        was_typed = ":" in text.partition("=")[0]
        asked.append(
            Wanted(
                field=Field(
                    name=field.name,
                    type=field.type if was_typed else found.field.type,
                    question=field.question or found.field.question,
                    unit=field.unit,
                    options=field.options,
                    required=True,
                ),
                kind=found.kind if not was_typed or field.type == found.field.type else "fact",
            )
        )
    return _joined(asked, offered)


def _joined(asked: list[Wanted], offered: bool) -> tuple[Wanted, ...]:
    has_site = any(each.kind == "site" for each in asked)
    first = (NAME, PROVIDER) if offered and not has_site else (NAME,)
    unique: dict[str, Wanted] = {}
    for each in (*first, *asked):
        unique.setdefault(each.field.name.casefold(), each)
    return tuple(unique.values())
