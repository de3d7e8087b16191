"""What somebody wants to buy, out of the message: "I want a quiet desk lamp" is a desk lamp, and quiet matters."""

from __future__ import annotations

import re

from tablewright.decisions.intake.budget import STRUCK
from tablewright.decisions.intake.categories import category_of, head, is_product, one_of
from tablewright.decisions.question.words import ENDS_A_NAME
from tablewright.table.model import Noun

MOST_WORDS = 6


class Named(Noun, frozen=True):
    """`name` is the product without what only describes it; `text` the message without the words of both."""

    name: str
    text: str
    must_haves: tuple[str, ...] = ()
    priorities: tuple[str, ...] = ()
    specifications: tuple[str, ...] = ()
    is_changed: bool = False
    """Whether the message says that it is something else now: "actually", "instead"."""


def read_product(text: str, known: str = "") -> Named | None:
    """The product of the message, if it names one. With one known, only another or a closer one counts: "I want a
    timer" is about the kettle."""
    for opened in _OPENER.finditer(text):
        start = opened.end()
        found = _named(text, start, opened.start())
        if found and (not known or _is_product_now(found, known, text)):
            return found
    broken = _BROKEN.search(text)
    if broken is None or known:
        return None
    return _described(broken["what"], f"{text[: broken.start()]} {STRUCK} {text[broken.end() :]}", is_changed=False)


def bare_product(text: str) -> Named | None:
    """The message starts with it: "desk lamp, dimmable". Only where nothing is known yet."""
    start = len(text) - len(text.lstrip(f" ,.{STRUCK}"))
    first = None if _NO_NAME.match(text, start) else _named(text, start, start)
    if first:
        return first
    for later in _SEGMENT.finditer(text):
        found = _named(text, later.start("what"), later.start("what"))
        if found and is_product(found.name):
            return found
    return None


def _is_product_now(found: Named, known: str, text: str) -> bool:
    if head(found.name) == head(known):
        return True
    if found.is_changed and not is_part(found.name):
        return True
    return is_product(found.name) and not is_part(found.name) and _is_opened_with_article(found, text)


def is_part(name: str) -> bool:
    """Whether it is rather a part or a property of something than a product of its own."""
    return bool(_PART.search(name))


def _is_opened_with_article(found: Named, text: str) -> bool:
    return bool(
        re.search(rf"\b(?:an?|some|new|pair of)\b[^.,;]{{0,40}}{re.escape(found.name)}|{found.name}s\b", text, re.I)
    )


def _named(text: str, start: int, struck_from: int) -> Named | None:
    skipped = _SMALL.match(text, start)
    start = skipped.end() if skipped else start
    words: list[str] = []
    end = start
    while word := _WORD.match(text, end):
        small = word["word"].casefold()
        if words and (_SIZES.fullmatch(small) or (_FIGURES.search(text[end : end + 12]) and is_product(words[-1]))):
            break
        if small in _ENDS and (words or small != "budget"):
            break
        words.append(word["word"])
        end = word.end()
    name = " ".join(words).strip(" -.")
    if not name or len(words) > MOST_WORDS or _PRONOUN.fullmatch(name) or words[0].casefold() == "help":
        return None
    changed = bool(_CHANGE.search(text))
    return _described(name, f"{text[:struck_from]} {STRUCK} {text[end:]}", is_changed=changed)


def _described(name: str, text: str, *, is_changed: bool) -> Named | None:
    """The name without the words that describe: a feature, something that has degrees, a condition."""
    musts: list[str] = []
    matters: list[str] = []
    filters: list[str] = []
    rest = name
    while found := _DESCRIBING.match(rest):
        kind, said = found.lastgroup, found[0].strip()
        if kind == "feature":
            musts.append(said)
        elif kind == "graded":
            matters.append(said.casefold())
        elif kind == "price":
            matters.append("price")
        elif kind == "condition" or kind == "gearbox":
            filters.append(said.casefold())
        rest = rest[found.end() :]
    inner = _INNER_FEATURE.search(rest)
    if inner and rest[: inner.start()].strip() and rest[inner.end() :].strip():
        musts.append(inner[0].strip())
        rest = f"{rest[: inner.start()]} {rest[inner.end() :]}"
    rest = " ".join(rest.split())
    if not rest or not re.search(r"[^\W\d_]{2}", rest) or _PRONOUN.fullmatch(rest):
        return None
    if re.match(r"used\b", name, re.IGNORECASE) and category_of(rest) is category_of("car"):
        rest = f"used {rest}"
    shown = one_of(rest if any(letter.isupper() for letter in rest[1:]) else rest.casefold())
    return Named(
        name=shown, text=text, must_haves=tuple(musts), priorities=tuple(dict.fromkeys(matters)),
        specifications=tuple(filters), is_changed=is_changed,
    )  # fmt: skip


_BUY = r"(?: to (?:buy|get|find|purchase|order|replace|own|have|choose|pick))?"
_OPENER = re.compile(
    rf"\b(?:i|we)(?:'m|'re|'ve| am| are| have)?(?: (?:really|just|also|now|actually|still|currently|been|desperately|"
    rf"do))*"
    rf" (?:want|need|require|fancy|would like|would love|looking|searching|shopping|hunting|thinking of|thinking about"
    rf"|considering|after|trying){_BUY}(?: at| for| around for)?(?: buying| getting| replacing)?\b"
    rf"|\b(?:i|we)'d (?:like|love|need){_BUY}\b|\blooking (?:for|to (?:buy|get|find|replace))\b|\bin the market for\b"
    r"|\b(?:searching|shopping|hunting) for\b|\b(?:find|get|show|give|recommend|suggest)(?: to)? (?:me|us)\b"
    r"|(?:\b(?:can|could|would) you |^|\| |please )(?:recommend|suggest|find|compare)\b(?! me)"
    r"|\bhelp (?:me |us )?(?:to )?(?:find|choose|choosing|pick|picking|buy|buying|finding|decide on|select|get|with)\b"
    r"|\b(?:what'?s|what is|what are|which is|which are|what would be) (?:the |a )?(?:best|good)\b|\b(?:advice|"
    r"recommendations?|suggestions?|ideas|tips|options) (?:on|about|for)\b"
    r"|\b(?:switch|change|changed|move) (?:it |this |over )?to\b|\blet'?s (?:look at|do|find|get|talk about|try|"
    r"search for)\b"
    r"|\bmy \w+ (?:needs|wants)\b|\b(?:how|what) about\b|\bwhat (?=[\w -]{2,30} (?:would|do|should|can) (?:you|i|"
    r"we)\b)|\bmake (?:it|that) (?=an? )|\bactually,? (?=(?:an?|some) )|\binstead,? (?=(?:an?|some) )"
    r"|(?:^|[|.!?]\s|please )\s*(?:i )?(?:need|want|wanted|best|which|any good|buy|buying|looking for|after|"
    r"search for|thinking (?:of|about)(?: getting| buying)?|considering)\b",
    re.IGNORECASE,
)
_FIGURES = re.compile(r"^\s*(?:[a-z]{2,4} )?\d{2,}", re.IGNORECASE)
_SIZES = re.compile(r"\d+x\d+\w*")
_SEGMENT = re.compile(r"(?<=[.,;|!])\s+(?P<what>[^.,;|!]+)")
_BROKEN = re.compile(
    r"\bmy (?:old |current |trusty )?(?P<what>[\w -]{2,30}?) (?:just |has |have |finally |got |was |is |were )*"
    r"(?:broke|broken|died|dead|stolen|stopped working|gave up|packed in|is dying|needs replacing)\b",
    re.IGNORECASE,
)
_SMALL = re.compile(
    r"(?:[\s:,]|\b(?:an?|some|the|any|my|our|another|one of (?:those|these|the)|pair of|set of|me|us|new|for|to|"
    r"really|very|"
    r"quite|good|decent|nice|great|best|top|proper|buy|get|find|possible|probably|maybe|perhaps|kind of|sort of|"
    r"type of|which|"
    r"recommendations?|"
    r"suggestions?|options?|ideas?|couple of|few|out|pretty)\b(?!-))*",
    re.IGNORECASE,
)
_WORD = re.compile(r"\s*(?P<word>[^\W_](?:[\w'&/+\"”-]|\.(?=\d))*)")
_ENDS = (
    ENDS_A_NAME - frozenset("cover covers work works run use live list measure state support record fit".split())
) | (
    frozenset(
        """no ideally preferably max maximum budget please thanks thank should i i'd i'm it it's that's its costing
        because so instead now today to anything we my our he she they you they're there's around roughly prefer
        prefers but must need needs want wants then nothing never avoid avoiding don't doesn't can't also maybe
        perhaps recommendation recommendations something someone somebody available shipped suitable capable
        small-ish who's where's featuring able similar approx approximately about too well properly asap soon
        though actually rather""".split()
    )
)
_PRONOUN = re.compile(
    r"(?:it|one|ones|something|anything|them|that|this|those|these|thing|things|stuff|help|advice|more|less|all|"
    r"everything|"
    r"some|two|three|another|product|item|gift|present|idea|option|recommendation|suggestion|good|best|know|nice|great|"
    r"quality|yes|no|ok|okay|sure|search|go|same|me|us|both|either|neither|cheap|cheaper|decent|cool)s?"
    r"(?: (?:one|ones|thing|things|stuff|quality|product|item|else|special|useful))?",
    re.IGNORECASE,
)
_NO_NAME = re.compile(
    r"(?:who|whose|what|what's|when|where|why|how|is|are|was|were|do|does|did|can|could|will|would|should|which|tell|"
    r"i|i'd|"
    r"i'm|we|you|it|it's|my|your|he|she|they|there|if|because|yes|no|not|nothing|don't|maybe|just|let's|ok|okay|sure|"
    r"and|"
    r"but|or|with|without|under|over|below|above|about|around|at|for|from|in|on|as|to|of|up|max|budget|must|needs?|"
    r"prefer|"
    r"ideally|preferably|avoid|make|ignore|stop|thanks|please tell|definitely|hmm+|um+|lol|write|sing|say|drop|"
    r"remove)\b",
    re.IGNORECASE,
)
_CHANGE = re.compile(
    r"\b(?:actually|instead|forget (?:the|that|about|it)|changed my mind|change of plan|rather|scrap (?:that|the)|"
    r"never ?mind|"
    r"different (?:thing|product)|something else|on second thou?ghts?|switch to|change to|let's look at|start over)\b",
    re.IGNORECASE,
)
_PART = re.compile(
    r"\b(?:timer|lid|handle|screen|display|keyboard|case|light|lights|charger|battery|filter|warranty|guarantee|remote|"
    r"basket|stand|camera|cable|cord|lock|port|ports|basket|mirror|clock|scale|radio|thermometer|thermostat|drawer|"
    r"drawers|"
    r"button|mode|function|setting|settings|hood|pocket|pockets|wheels|brakes|frame|seat|base|motor|engine|roof|cover|"
    r"rating|size|colou?r|design|finish|material|brand|model|version|price|budget|speaker|speakers|microphone|mouse|"
    r"steel|glass|wood|leather|plastic|quality|capacity|speed|life|power|range|bag|spout|sleeve|tray|grill|grinder|"
    r"shelf|"
    r"jack|plug|switch|sensor|alarm|app|connection|support|delivery|one)s?$",
    re.IGNORECASE,
)
COLOUR = (
    r"(?:black|white|red|blue|green|grey|gray|silver|gold|yellow|orange|pink|purple|brown|beige|navy|turquoise|cream|"
    r"copper|chrome|rose gold|dark blue|light blue|dark green|burgundy)"
)
MATERIAL = (
    r"(?:stainless[ -]steel|brushed steel|steel|cast[ -]iron|wooden|wood|oak|bamboo|leather|faux leather|cotton|"
    r"linen|wool|"
    r"woollen|glass|ceramic|aluminium|aluminum|titanium|carbon(?: fib(?:re|er))?|brass|plastic|metal|memory foam|silk|"
    r"velvet|marble|enamel|down|merino)"
)
GRADED = (
    r"(?:quiet|silent|lightweight|light|small|large|big|compact|fast|quick|sturdy|durable|comfortable|comfy|powerful|"
    r"reliable|long-lasting|energy[- ]efficient|efficient|robust|safe|warm|slim|thin|bright|solid|easy[- ]to[- ]\w+|"
    r"well[- ](?:built|made)|eco-friendly|sustainable|simple|economical|spacious|roomy|accurate)"
)
CONDITION = r"(?:second[- ]?hand|pre-?owned|pre-?loved|refurbished|reconditioned|brand[- ]new|ex-?display|used|vintage)"
FUEL = r"(?:diesel|petrol|hybrid|plug-in hybrid|electric|gasoline|lpg)"
GEARBOX = r"(?:manual|automatic)"
_MEASURED = (
    r"\d+(?:[.,]\d+)?(?:[ -]?(?:inch(?:es)?|in|cm|mm|m|l|litres?|liters?|ml|kg|g|lbs?|w|watts?|kw|gb|tb|mah|hz|mp|"
    r"seat(?:er)?|"
    r"door|speed|person|man|slice|cup|bar|piece|litre|k)\b|\"|”)"
)
_FEATURE = (
    rf"{COLOUR}|{MATERIAL}|{_MEASURED}|variable[- ]temperature|temperature[- ]controlled|[a-z]+-(?:\w+ing|\w+ed|"
    rf"adjustable|"
    r"free|resistant|proof|safe|operated|friendly)|noise[- ]cancell?ing|height[- ]adjustable|wireless|waterproof|"
    r"water[- ]resistant|dimmable|rechargeable|adjustable|foldable|noise-isolating|4k|oled|dual[- ]sim|non-?stick|"
    r"fair ?trade|organic|vegan|automatic(?= (?:watch|umbrella))"
)
_DESCRIBING = re.compile(
    rf"(?:(?P<graded>{GRADED})|(?P<price>cheap|cheapest|affordable|inexpensive|budget|low[- ]cost|good value|"
    rf"reasonably priced)|(?P<condition>{CONDITION})|(?P<feature>{_FEATURE})|(?P<gearbox>{GEARBOX}|diesel|petrol|"
    r"plug-in hybrid)|(?P<filler>new|good|decent|nice|great|best|top|quality|high[- ]quality|proper|really|very|"
    r"perfect|"
    r"modern|old|an?))(?=\s)\s+(?!-)",
    re.IGNORECASE,
)
_INNER_FEATURE = re.compile(
    rf"(?<=\s)(?:variable[- ]temperature|noise[- ]cancell?ing|waterproof|wireless|{_MEASURED})(?=\s)", re.IGNORECASE
)
