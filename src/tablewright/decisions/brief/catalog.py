"""Whether a question asks for a list of things, how many, and which things."""

from __future__ import annotations

import re
from itertools import islice

from tablewright.decisions.brief.columns import MOST_CLAUSES, OF_THINGS, clause, is_offered, named_items
from tablewright.decisions.brief.phrases import tidy
from tablewright.decisions.question.words import is_plural
from tablewright.table.model import Noun
from tablewright.table.number_words import numbers_in_words
from tablewright.table.text import plural

MOST_ITEMS = 50
MOST_WORDS = 16

_NUMBER = (
    r"(?:\d{1,5}(?![\w.,]*\d|[%°\w])|(?:half )?a dozen|two dozen|dozen|one|two|three|four|five|six|seven|eight|nine|"
    r"ten|eleven|twelve|thirteen|fourteen|fifteen|sixteen|seventeen|eighteen|nineteen|twenty(?:[- ](?:one|two|three|"
    r"four|five))?|thirty|forty|fifty)"
)
_VERB = (
    r"(?:identify|find|list|name|give|suggest|recommend|shortlist|short-list|compare|show|provide|propose|pick|select|"
    r"research|collect|compile|gather|rank|get|enumerate|discover|look for|search for|need|want|present|review|"
    r"evaluate|mention|choose|make|create|build|prepare|produce|draw up|put together|tell|like|assemble|curate|"
    r"analy[sz]e|locate)"
)
_LISTING = (
    r"(?:short-?list|list|table|overview|comparison|catalog(?:ue)?|directory|ranking|selection|set|spreadsheet|matrix)"
)
_LISTED = rf"(?:(?:\w+\s+)?{_LISTING}\s+(?:of|comparing|listing|showing|with|for))"
_LEAD = (
    rf"(?:(?:{_LISTED}|an?|the|your|at least|at most|up to|about|around|approximately|roughly|exactly|some|any|me|us|"
    r"out|all|several|a few|a couple of|a number of|various|different|good|suitable|real|other|more|names? of|new|"
    r"possible|every|to see|to know|of)\s+){0,6}"
)
_ROUGH = r"(?:(?:different|good|suitable|real|other|more|great|promising|specific|concrete|notable|of the)\s+)*"
_SUPERLATIVE = (
    r"(?:(?:(?:top|best|leading|finest|(?:most|least) [\w-]+|(?!(?:forest|west|test|request|contest|interest|harvest|"
    r"guest|honest|invest|northwest|southwest|rest|quest|modest|protest|digest|latest)\b)[a-z]{3,}est|"
    r"latest)(?:[- ]rated)?\s+)(?:and (?:best|most [\w-]+|[a-z]{3,}est)\s+)?)"
)
_THINGS = r"(?P<things>[^\W\d_].*|\d\w*[^\W\d_].*|\".*)"

_COUNTED = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        rf"\b{_VERB}\s+{_LEAD}(?P<most>{_SUPERLATIVE})?(?P<count>{_NUMBER})\s+{_ROUGH}(?P<most2>{_SUPERLATIVE})?{_THINGS}",
        rf"\b(?P<most>{_SUPERLATIVE})(?P<count>{_NUMBER})\s+{_ROUGH}{_THINGS}",
        rf"\b(?P<count>{_NUMBER})\s+{_ROUGH}(?P<most>{_SUPERLATIVE}){_THINGS}",
        rf"^{_LEAD}(?P<count>{_NUMBER})\s+{_ROUGH}{_THINGS}",
        rf"^(?:what|which) (?:are|were)\s+{_LEAD}(?P<count>{_NUMBER})\s+{_ROUGH}{_THINGS}",
    )
)
_LIST_OF = re.compile(rf"(?:^|\b{_VERB}\s+{_LEAD})(?:an?\s+|the\s+)?{_LISTED}\s+{_LEAD}{_THINGS}", re.IGNORECASE)
_PLAIN = re.compile(
    r"^(?:please\s+|can you\s+|could you\s+|i (?:would like|want|need) (?:you )?to\s+|help me\s+|"
    r"let's\s+)*(?P<verb>identify|find|list|name|suggest|recommend|shortlist|short-list|show me|give me|provide|"
    r"enumerate|compile|collect|gather|look for|search for|i need|compare|rank|locate|"
    rf"discover)\s+{_LEAD}(?P<most>{_SUPERLATIVE})?{_THINGS}",
    re.IGNORECASE,
)
_BEST = re.compile(
    rf"^(?:(?:what|which)\s+(?:are|were)\s+)?{_LEAD}(?P<most>{_SUPERLATIVE})(?:available\s+)?{_THINGS}", re.IGNORECASE
)
_WHICH = re.compile(rf"^(?:what|which)(?:\s+are)?\s+{_LEAD}(?P<most>{_SUPERLATIVE})?{_THINGS}", re.IGNORECASE)
_FOR_EACH = re.compile(r"^for (?:each|every) (?:of the )?(?P<things>(?!of\b|one\b)[\w -]{3,60}?)\s*[,:]", re.IGNORECASE)
_OTHERS = re.compile(
    r"^(?:what are\s+|which are\s+)?(?:the\s+|some\s+|good\s+)*(?P<things>(?:alternatives|competitors)\s+(?:to|of|"
    r"for)\b.*)",
    re.IGNORECASE,
)
_THERE_ARE = re.compile(
    r"\s+(?:exist(?=\s+(?:for|in|to|that|with|on)\b|[?,.]|$)|are there|there are|are available|are on the market|"
    r"should i (?:consider|look at|use))\b(?:\s+there)?",
    re.IGNORECASE,
)
_DO = re.compile(
    r"\s+(?:offer|provide|sell|make|build|speciali[sz]e|support|can|help|manufacture|produce|deliver|operate|have|"
    r"work|use|are|run|serve|rent|ship|let)\b",
    re.IGNORECASE,
)
_SAYS_SO: tuple[tuple[re.Pattern[str], str], ...] = tuple(
    (re.compile(pattern, re.IGNORECASE), reason)
    for pattern, reason in (
        (r"\bfor (?:each|every)\b.*\b(?:include|list|give|provide|state|show|report|add|specify|mention|collect|"
         r"with)\b",
         "it says what to include for each"),
        (r"\b(?:required|requested|needed)\s+(?:details|fields|columns|information|attributes)\b",
         "it names the details it requires"),
        (r"\b(?:provide|give|make|create|build|produce|prepare|present|show|return|output|fill|compile|want|need|in|"
         r"as|put)\b.*(?<!periodic )(?<!water )(?<!round )(?<!multiplication )(?<!league )\btables?\b(?! tennis|"
         r" of contents| salt)",
         "it asks for a table"),
        (r"\bpric(?:ing|es?)\b.*\bcase.?stud|\bcase.?stud\w*\b.*\bpric(?:ing|es?)\b",
         "it asks for prices and case studies"),
        (r"\bproviders?\b.*\b(?:website|url|link)s?\b.*\b(?:url|link|pric\w*|website)s?\b|\bproviders?\b.*\burls?\b",
         "it asks for the providers' addresses"),
    )
)  # fmt: skip
_ASKS_A_FACT = re.compile(
    r"^(?:(?:as of|in|on|at|by|for|from|during|since|after|to)\b[^,?]{0,40},?\s+)?(?:who|whom|whose|when|where|how|why|"
    r"in (?:which|what)|(?:which|what)\s+(?!are\b|were\b)(?:\w+\s+){0,2}(?:is|was|did|does|has|had)\b|what's|is|was|"
    r"does|did)\b",
    re.IGNORECASE,
)
_NO_THINGS = frozenset(
    """percent years year months days hours minutes seconds weeks km kilometers kilometres miles meters metres feet kg
    pounds dollars euros degrees times words pages sentences paragraphs points and or to vs versus of""".split()
)
ABSTRACT = frozenset(
    """causes reasons effects consequences impacts implications advantages disadvantages benefits drawbacks pros cons
    risks challenges problems trends differences similarities factors ways steps facts details arguments lessons
    findings results points aspects issues developments dynamics origins uses symptoms strengths weaknesses
    opportunities threats costs prices costs principles limitations outcomes mechanisms perspectives views opinions
    criticisms controversies debates drivers barriers changes conditions rules laws regulations statistics figures
    numbers data information evidence things roles characteristics features properties requirements options chances
    prospects questions answers insights basics fundamentals kinds types sources studies methods approaches
    strategies best-practices practices techniques theories concepts ideas applications use-cases cases""".split()
)


class Listed(Noun, frozen=True):
    """`things` as a plural noun phrase; `number` is 0 where the question states none."""

    things: str
    reason: str
    number: int = 0


def listed(question: str) -> Listed | None:
    """What a question asks to be listed; None for one that wants an explanation or a fact."""
    text = OF_THINGS.sub("list ", tidy(question))
    asks_a_fact = bool(_ASKS_A_FACT.match(text))
    for pattern in _COUNTED if not asks_a_fact else _COUNTED[:1]:
        for match in pattern.finditer(text):
            number = _number(match["count"])
            if number and _first_word(match["things"]) not in _NO_THINGS:
                things = _things(match)
                return Listed(things=things, number=number, reason=f"it asks for {number} {head(things)}")
    if of := _LIST_OF.search(text):
        return Listed(things=_things(of), reason="it asks for a list")
    said = next((reason for pattern, reason in _SAYS_SO if pattern.search(text)), "")
    if said:
        return Listed(things=things_of(text), reason=said)
    return None if asks_a_fact else _unsaid(text)


def things_of(question: str) -> str:
    """What is listed, whether or not the question says that it wants a list."""
    text = OF_THINGS.sub("list ", tidy(question))
    if match := _FOR_EACH.match(text):
        return plural(trimmed(match["things"]), 2) if not is_plural(head(match["things"])) else trimmed(match["things"])
    for pattern in (*_COUNTED[:1], _LIST_OF, _PLAIN, _BEST, _WHICH):
        if match := pattern.search(text):
            return _things(match)
    return trimmed(re.sub(rf"^(?:please\s+)?(?:{_VERB}\s+)?{_LEAD}", "", text, flags=re.IGNORECASE)) or trimmed(text)


def _unsaid(text: str) -> Listed | None:
    """Lists that are asked for without a number: "Find CRM tools for dentists", "best e-bikes"."""
    for pattern in (_PLAIN, _BEST, _OTHERS):
        if match := pattern.match(text):
            things = _things(match)
            if is_countable(things) and not (
                match.groupdict().get("verb", "").casefold() == "compare" and _two(match["things"])
            ):
                return Listed(things=things, reason=f"it asks for {head(things)}")
    return _which(text) if re.match(r"which|what", text, re.IGNORECASE) else None


def _which(text: str) -> Listed | None:
    """ "Which companies make e-bikes?" asks for companies that make e-bikes."""
    match = _WHICH.match(text)
    verb = match and (_THERE_ARE.search(match["things"]) or _DO.search(match["things"]))
    if not match or not verb:
        return None
    noun, rest = match["things"][: verb.start()].strip(), match["things"][verb.end() :].strip()
    there_are = bool(_THERE_ARE.fullmatch(verb[0]))
    if not is_countable(noun) or not (there_are or is_offered(noun, named_items(text))):
        return None
    things = trimmed(f"{noun} {rest}" if there_are else f"{noun} that {verb[0].strip()} {rest}")
    return Listed(things=things, reason=f"it asks which {head(noun)} there are")


def is_countable(things: str) -> bool:
    """Whether its noun is a plural of things that have names: not "causes", not "information"."""
    last = head(things).casefold()
    return (
        is_plural(last)
        and last not in ABSTRACT
        and not re.match(r"(?:information|out|evidence|about|how|why)\b", things)
    )


def _two(things: str) -> bool:
    """ "electric cars and hybrid cars", "Stripe versus Adyen": two things against each other, no list of one kind."""
    return bool(_AGAINST.match(things))


_AGAINST = re.compile(
    r"[^,.?]{1,50}?\s(?:and|or|to|vs\.?|versus|against)\s+(?!their\b|its\b|for each\b)", re.IGNORECASE
)


def head(things: str) -> str:
    """The noun: "tools" of "CRM tools for dentists"."""
    before = re.split(
        r"\s+(?:for|in|of|with|that|which|who|whose|where|from|to|by|at|on|under|near|using|without|such|as|and|or|"
        r"based|offering|available|made|used|worth|like|about|across|within|over|below|above|than|you|i|we|are|is|can|"
        r"have)\b|[,(]",
        things,
        maxsplit=1,
        flags=re.IGNORECASE,
    )[0]
    return before.split()[-1].strip("\"'") if before.split() else ""


def _first_word(things: str) -> str:
    return re.split(r"\W", things, maxsplit=1)[0].casefold()


def _number(said: str) -> int:
    value = int(said) if said.isdecimal() else next((int(value) for value, _, _ in numbers_in_words(said, 1)), 0)
    if said.casefold() == "dozen":
        value = 12
    return 0 if 1800 <= value <= 2100 else min(value, MOST_ITEMS)


def _things(match: re.Match[str]) -> str:
    found = match.groupdict()
    most = (found.get("most") or found.get("most2") or "").strip()
    most = "" if re.match(r"(?:top|best|leading|finest|latest)\b", most, re.IGNORECASE) else most
    return f"{most} {trimmed(found['things'])}".strip()


_ENDS = re.compile(
    r"[.?!](?:\s|$)|[;:—–]|\s-\s|\s?\(|,?\s+(?:and\s+|&\s+)?for (?:each|every|all of them)\b|,?\s+(?:and|plus|"
    r"&)\s+(?:also\s+)?(?:their|its|list|give|include|compare|provide|state|show|explain|describe|rank|tell|what|how|"
    r"why|who|where|when|for each|note|report|summari[sz]e|add|say|present|put)\b|,\s*(?:their|its|please|all with|"
    r"each with|and how|ranked|sorted)\b|,?\s+(?:in|as|into) (?:an?|one|the) (?:\w+ )?table\b|\s+and (?:have|exist)\b|"
    r",?\s+(?:sorted|ranked|ordered) by\b|,?\s+(?:including|along with|together with|alongside)\b|\s+with their\b|"
    r"\s+each with\b|\s+with the following\b",
    re.IGNORECASE,
)
_MAY_END = re.compile(
    r"(?:,|,?\s+(?:with|by|on|in terms of|based on|regarding|and|plus|as well as|showing|listing))\s+", re.IGNORECASE
)
_LOOSE_END = re.compile(
    r"(?:\s+(?:and|or|with|of|for|in|on|by|to|the|a|an|that|which|are there|there are|exist|are available|please|"
    r"do you know|should i consider))+$|[\s,.;:!?]+$",
    re.IGNORECASE,
)


def trimmed(text: str) -> str:
    """The things alone, without the columns that are asked for them."""
    if end := _ENDS.search(text):
        text = text[: end.start()]
    said = next((place for place in islice(_MAY_END.finditer(text), MOST_CLAUSES) if clause(text, place.end())), None)
    text = text[: said.start()] if said else text
    text = " ".join(text.split()[:MOST_WORDS])
    while (shorter := _LOOSE_END.sub("", text)) != text:
        text = shorter
    return text.strip("\"' ") if text.count('"') < 2 else text
