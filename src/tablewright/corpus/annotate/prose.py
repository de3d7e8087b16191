"""Measured quantities in sentences, with the words that say what they are.

"The PTC rating is 191.8 W" gives the PTC rating; "it delivers 214.8 W" a power, in the context of its clause.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from tablewright.corpus.annotate.facts import SIDE_NAMES, sides_of
from tablewright.corpus.annotate.lines import Cell
from tablewright.table.corpus import Property, Typed
from tablewright.table.measures import Measure, read_measures
from tablewright.table.typed import in_base
from tablewright.table.units import parse_unit

LONGEST_SENTENCE = 600
SHORT_TEXT = 6_000
"""Characters; in a longer text only sentences that are dense in measures are read."""
DENSE = 2
WORDS_A_MEASURE = 25
"""Where a short text has a measure in so many words, it describes a thing: its counts and traits are kept too."""
LONGEST_LABEL = 60

_SENTENCE_END = re.compile(
    r"(?<![A-Z]\.)(?<!\b(?:Co|Mr|Dr|No|St|vs|ca))(?<!\b(?:Inc|Ltd|Mrs|Fig))[.!?]\s+(?=[A-Z\d(])|\n\s*\n"
)
_QUANTITY = re.compile(
    r"\d\s?(?:%|°|℃|[kMGmcµun]?(?:W(?:p|h)?|V|A|Ah|m|g|s|Hz|Pa|bar|L|l|N|J|B|Ω|t|lb|lbs|ft|in|mi|mm²?|C|F|K|h|"
    r"hp|min|dB|psi|"
    r"rpm|kn|kt|mph|oz|gal|yd)(?:[²³]|/[A-Za-z]\S*)?\b"
    r"|(?:metres?|meters?|kilometers?|kilometres?|miles?|feet|foot|inch(?:es)?|kilograms?|grams?|pounds?|tons?|tonnes?|"
    r"watts?|volts?|amps?|amperes?|hours?|minutes?|seconds?|days?|weeks?|months?|years?|degrees?|percent|"
    r"per cent|litres?|"
    r"liters?|gallons?|knots|horsepower)\b)"
)
_HAS = re.compile(
    r"\b(?:has|have|with|contains?|includes?|comprises|consists of|features?)\s+(?P<number>\d{1,6})\s+"
    r"(?P<what>[a-z]{3,}(?:\s(?!and\b|with\b|that\b|which\b|measur|weigh)[a-z]{2,}){0,3})"
)
_TRUTH = re.compile(
    r"(?:^|[;,]\s)(?:the|this|it|each)\b(?:\s[\w-]+){0,3}?\s(?:is|are)\s"
    r"(?P<raw>(?P<no>not\s|non-)?(?P<what>[a-z-]{3,16}(?:al|ed|able|ible|proof|less|ive|ous|ic|free|resistant|ent)))"
    r"(?=\s*(?:[.;,]|$))",
    re.IGNORECASE,
)


def prose_properties(text: str, start: int, end: int, *, short: bool) -> Iterator[Property]:
    """The facts of `text[start:end]`. `short`: the text is a short one, where a single measure is worth keeping."""
    passage = text[start:end]
    dense = short and len(_QUANTITY.findall(passage)) * WORDS_A_MEASURE >= passage.count(" ")
    for first, last in _sentences(text, start, end):
        sentence = text[first:last]
        if len(_QUANTITY.findall(sentence)) >= (1 if short else DENSE):
            yield from _measured(sentence, first)
        if dense:
            yield from _counted(sentence, first)
            yield from _truths(sentence, first)


def _sentences(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    place = start
    for stop in _SENTENCE_END.finditer(text, start, end):
        if 0 < stop.start() - place <= LONGEST_SENTENCE:
            yield place, stop.start()
        place = stop.end()
    if 0 < end - place <= LONGEST_SENTENCE:
        yield place, end


# ── what a measure is of ─────────────────────────────────────────────────────────────────────────────────────────────

_CLAUSE = re.compile(r"[;:()]|,\s|\bwhile\b|\bwhereas\b|\band\s(?=(?:the|its|a|an|weighs|measures|delivers|has)\b)")
_VERB = re.compile(
    r"^(?P<noun>.*?)\s*(?:\b(?:is|are|was|were|equals?|reach(?:es)?|amounts? to|measures?|totals?|stands? at|"
    r"being|=|of)\b)"
    r"\s*(?:about|around|approximately|only|rated at|up to|at least|at most|typically|from|between|set at|"
    r"given as|just|a|an)?\s*$",
    re.IGNORECASE,
)
_RATE_VERB = re.compile(
    r"^(?P<noun>.*?)\s*\b(?P<verb>falls?|drops?|decreases?|declines?|sinks?|loses?|rises?|increases?|grows?|"
    r"gains?|changes?)"
    r"\s*(?:by)?\s*(?:about|around|approximately)?\s*$",
    re.IGNORECASE,
)
_FALLS = re.compile(r"^(?:fall|drop|decrease|decline|sink|lose)", re.IGNORECASE)
_PER = re.compile(
    r"\s*(?:for (?:each|every)|per|with (?:each|every)|(?:a|each|every))\s+(?:additional\s|"
    r"further\s)?(?P<unit>degrees?\s?(?:C|Celsius|F|Fahrenheit)?\b|"
    r"°\s?[CF]\b|kelvin\b|K\b|[a-z]+\b)",
    re.IGNORECASE,
)
_SIDE_AFTER = re.compile(
    r"\s*(?:in\s+(?P<in>length|width|height|depth|diameter|thickness|weight|area|volume)\b|(?P<adj>long|wide|"
    r"high|tall|deep|thick)\b)",
    re.IGNORECASE,
)
_SIDE_WORD = re.compile(r"\b(?:length|width|height|depth|thickness|long|wide|high|deep|thick)\b", re.IGNORECASE)
_OWN_VERBS: tuple[tuple[re.Pattern[str], str], ...] = tuple(
    (re.compile(rf"\b(?:{verb})\s*(?:about|around|approximately|only|just|up to)?\s*$", re.IGNORECASE), name)
    for verb, name in (
        ("weighs?|weighing", "Weight"),
        ("costs?|costing|priced at", "Price"),
        ("lasts?|lasting", "Duration"),
        ("spans?|stretch(?:es)?|extends?", "Length"),
    )
)
_LEADING = re.compile(
    r"^(?:(?:and|but|or|the|a|an|its|their|this|that|with|has|have|having|at|of|to|it|where|when|both)\b\s*)+",
    re.IGNORECASE,
)
_NO_NOUN = re.compile(r"^(?:it|they|this|that|which|there|he|she|we)$", re.IGNORECASE)
_KIND_NAMES = {
    "temperature": "Temperature", "power": "Power", "voltage": "Voltage", "current": "Current", "length": "Length",
    "mass": "Weight", "area": "Area", "volume": "Volume", "time": "Duration", "speed": "Speed", "energy": "Energy",
    "pressure": "Pressure", "force": "Force", "torque": "Torque", "frequency": "Frequency", "ratio": "Share",
    "data": "Data size", "resistance": "Resistance", "charge": "Charge", "sound": "Sound level", "angle": "Angle",
}  # fmt: skip


_GIVES = re.compile(
    r"\b(?:delivers?|produces?|provides?|generates?|outputs?|supplies|consumes?|draws?|operates? at|runs? at|rated at|"
    r"requires?|holds?|carries|lifts?)\s*(?:about|around|approximately|up to|only|just)?\s*$",
    re.IGNORECASE,
)
_SECTION = re.compile(r"\d+[A-Zshdt]")  # Section 409A, the 1990s


def _measured(sentence: str, start: int) -> Iterator[Property]:
    done = 0
    for measure in read_measures(sentence, "m"):
        if measure.unit and not _SECTION.fullmatch(sentence, measure.start, measure.end):
            yield from _of(sentence, measure, done, start)
        done = measure.end


def _of(sentence: str, measure: Measure, done: int, start: int) -> Iterator[Property]:
    unit = parse_unit(measure.unit)
    if unit is None:
        return
    breaks = [stop.end() for stop in _CLAUSE.finditer(sentence, 0, measure.start)]
    before = sentence[max(done, breaks[-1] if breaks else 0) : measure.start]
    clause = _context(sentence, measure, breaks)
    rate = _RATE_VERB.match(before)
    if rate and (per := _per(sentence, measure)):
        yield from _rate(sentence, measure, rate, per, start, clause)
        return
    if measure.sizes:
        yield from _sides(sentence, measure, start, clause)
        return
    label = _label(sentence, measure, before) or (_KIND_NAMES.get(unit.kind, "") if _GIVES.search(before) else "")
    if not label:
        return
    si, si_high, base = in_base(measure.value, measure.high, unit)
    raw = sentence[measure.start : measure.end]
    value = Typed(
        raw=raw, number=measure.value, high=measure.high, unit=unit.symbol, si=si, si_high=si_high, base=base,
        ambiguity=measure.note,
    )  # fmt: skip
    yield Property(label=label, value=value, start=start + measure.start, end=start + measure.end, context=clause)


def _sides(sentence: str, measure: Measure, start: int, context: str) -> Iterator[Property]:
    """ "1.575 m in length by 1.082 m in width", where every side is named."""
    tail = _SIDE_AFTER.match(sentence, measure.end)
    words = _SIDE_WORD.findall(sentence[measure.start : tail.end() if tail else measure.end])
    names = [SIDE_NAMES[word.casefold()] for word in words]
    if len(set(names)) == len(names):
        yield from sides_of(Cell(text=sentence, start=start), measure, names, measure.unit, context)


def _label(sentence: str, measure: Measure, before: str) -> str:
    """The words that name the measure: behind it, by the verb, before the verb, or right before the number."""
    if side := _SIDE_AFTER.match(sentence, measure.end):
        return SIDE_NAMES[side["adj"].casefold()] if side["adj"] else side["in"].capitalize()
    for pattern, name in _OWN_VERBS:
        if pattern.search(before):
            return name
    verb = _VERB.match(before)
    noun = _noun(verb["noun"] if verb else before)
    if verb:
        return "" if _SENTENCE_VERB.search(noun) else noun
    return noun if _SYMBOL.fullmatch(noun) else ""


_SYMBOL = re.compile(r"[A-Z][\w.]{0,11}(?:\s(?!of\b|in\b|to\b|by\b|than\b|and\b)[\w.]+)?")  # "Vmp 46.6 V"
_SENTENCE_VERB = re.compile(
    r"\b(?:delivers?|produces?|provides?|gives?|takes?|has|have|had|than|which|who|because|began|after|before|"
    r"while|if)\b",
    re.IGNORECASE,
)


def _noun(words: str) -> str:
    noun = _LEADING.sub("", words.strip(" ,;:()\"'")).strip()
    if not noun or len(noun) > LONGEST_LABEL or _NO_NOUN.match(noun) or not any(letter.isalpha() for letter in noun):
        return ""
    return noun


def _context(sentence: str, measure: Measure, breaks: list[int]) -> str:
    """The sentence around a measure, cut where it is long."""
    first = (
        0 if measure.start < 160 else next((place for place in breaks if measure.start - place < 160), measure.start)
    )
    return " ".join(sentence[first : measure.end + 40].split())[:240]


def _per(sentence: str, measure: Measure) -> tuple[str, str, int] | None:
    """What changes and for each of what, as units, and where that ends: ("%", "°C", 42)."""
    unit, _, each = measure.unit.partition("/")
    end = measure.end
    if not each and (per := _PER.match(sentence, measure.end)):
        each, end = re.sub(r"^degrees?\s?", "°", per["unit"], flags=re.IGNORECASE), per.end()
    elif each == "°" and (scale := _SCALE.match(sentence, measure.end)):
        end = scale.end()
        each += scale[1]
    if not each:
        return None
    return unit, "°F" if each[:2] == "°F" else "°C" if each.startswith("°") else each, end


_SCALE = re.compile(r"\s?(C|F|Celsius|Fahrenheit)\b")


def _rate(
    sentence: str, measure: Measure, rate: re.Match[str], per: tuple[str, str, int], start: int, clause: str
) -> Iterator[Property]:
    """ "Power falls by 0.509 % for each degree C" is a temperature coefficient of power of -0.509 %/°C."""
    changed, each, end = per
    unit = parse_unit(f"{changed}/{each}")
    noun = _noun(rate["noun"])
    if unit is None or not noun:
        return
    number = -measure.value if _FALLS.match(rate["verb"]) else measure.value
    si, _, base = in_base(number, None, unit)
    value = Typed(raw=sentence[measure.start : end], number=number, unit=unit.symbol, si=si, base=base)
    of_degrees = each.startswith("°") or each.casefold() in ("k", "kelvin")
    label = f"Temperature coefficient of {noun[0].lower() + noun[1:]}" if of_degrees else f"{noun} per {each}"
    yield Property(label=label, value=value, start=start + measure.start, end=start + end, context=clause)


# ── counts and truths ────────────────────────────────────────────────────────────────────────────────────────────────


def _counted(sentence: str, start: int) -> Iterator[Property]:
    """ "has 96 cells in series"."""
    for found in _HAS.finditer(sentence):
        if parse_unit(found["what"].split()[0]):
            continue
        place = start + found.start("number")
        value = Typed(raw=found["number"], number=float(found["number"]))
        what = _LAST_PREPOSITION.sub("", found["what"])
        label = what[0].upper() + what[1:]
        yield Property(label=label, value=value, start=place, end=place + len(value.raw), context=sentence[:240])


_LAST_PREPOSITION = re.compile(r"(?:\s(?:in|on|at|of|to|by|for|from|under|over|per|the|an|are|is))+$")


def _truths(sentence: str, start: int) -> Iterator[Property]:
    """ "The module is not bifacial": bifacial is false."""
    for found in _TRUTH.finditer(sentence):
        value = Typed(raw=found["raw"], truth=not found["no"])
        what = found["what"]
        label = what[0].upper() + what[1:]
        place = start + found.start("raw")
        yield Property(label=label, value=value, start=place, end=place + len(value.raw), context=sentence[:240])
