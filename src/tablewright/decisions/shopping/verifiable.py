"""Fields that can be verified: what is refused as a matter of opinion, and a field made of somebody's own words."""

from __future__ import annotations

import re

from tablewright.decisions.question.words import is_plural
from tablewright.decisions.shopping.known import usual_question
from tablewright.table.model import Field, FieldType, Role

MOST_WORDS = 6
LONGEST_NAME = 60

# ── what is refused ──────────────────────────────────────────────────────────────────────────────────────────────────

_MEASURED = re.compile(
    r"\b(?:energy|power|ip|ingress|water\w*|weight|load|noise|temperature|fire|efficiency|voltage|ncap|crash|season|"
    r"wind|fabric|uv|upf|spf|air|octane|hoist|grease|comfort temperature|star class)\b[\w\s-]*\b(?:rating|score|grade)",
    re.IGNORECASE,
)
_REASONS = (
    (
        r"\b(?:ratings?|scores?|stars?|out of (?:5|10|100|five|ten)|grades?|rank(?:ing)?s?|marks|votes?|popularity|"
        r"reviews?|sentiment|testimonials?|recommendations?|satisfaction|opinions?|verdict|awards?)\b",
        "is somebody's judgement, not something that a maker states and a page can prove",
    ),
    (
        r"\b(?:estimat\w+|expected|projected|predicted|approximate)\b.*\b(?:costs?|price|value|savings?|bills?"
        r"|spend)\b|"
        r"\b(?:costs?|price|value|savings?|bills?|spend)\b.*\b(?:estimat\w+|forecast|over (?:time|\d+ years))\b|"
        r"\b(?:maintenance|running|repair|ownership|operating|lifetime|servicing|insurance|total)\s+(?:costs?"
        r"|bills?)\b|"
        r"\bcosts? of ownership\b|\b(?:resale|residual|trade.?in) values?\b|\bdepreciation\b",
        "would be an estimate, and no page can prove an estimate",
    ),
    (
        r"\b(?:best|worst|nicest|coolest|prettiest|top|overall|ideal|perfect|amazing|worth|value for money|bang for)\b|"
        r"\bquality\b|\b(?:ease|simplicity) of\b|\b(?:user.?friendl\w+|usability|handling|comfort|looks?|beauty|style|"
        r"stylish\w*|aesthetics?|design|feel|appeal|elegance|reliab\w+|durab\w+|trustworth\w+|reputation|prestige|"
        r"likeab\w+|fun|performance|experience|pros|cons|advantages?|disadvantages?|strengths?|weaknesses)\b|"
        r"\b(?:vibes?|moods?|joy|delight|charm|soul|karma|luck|love|feelings?|emotions?|excitement|coolness|cuteness|"
        r"personality|sex appeal|wow factor|(?!heav|nois|greas|dri|bus|harn)\w+iness)\b",
        "is a matter of opinion; it can be compared only by what can be verified of it",
    ),
)
_REFUSED = tuple((re.compile(pattern, re.IGNORECASE), reason) for pattern, reason in _REASONS)


def refused(name: str) -> str:
    """Why a field of that name cannot be a column, or "". An energy rating is measured; a rating of handling is not."""
    name = name.replace("_", " ")
    if _MEASURED.search(name):
        return ""
    reason = next((reason for pattern, reason in _REFUSED if pattern.search(name)), "")
    return f'"{" ".join(name.split())}" {reason}.' if reason else ""


# ── a field of one's own words ───────────────────────────────────────────────────────────────────────────────────────

_HEADS: tuple[tuple[str, FieldType, str], ...] = (
    (r"(?:cord|cable|lead|hose|wire)\s+length|length of (?:the )?(?:cord|cable|lead|hose)", "number", "m"),
    (r"(?:length|height|width|depth|diameter|thickness|reach|clearance)", "number", "cm"),
    (r"(?:weight|load|mass)", "number", "kg"),
    (r"(?:capacity|volume)", "number", "l"),
    (r"(?:wattage|power)", "number", "W"),
    (r"(?:noise|loudness|sound level)", "number", "dB"),
    (r"(?:temperature)", "number", "°C"),
    (r"(?:voltage)", "number", "V"),
    (r"(?:pressure)", "number", "bar"),
    (r"(?:lumens|brightness)", "number", "lm"),
    (r"(?:area)", "number", "m²"),
    (r"(?:\w+ year|year)", "number", ""),
    (r"(?:\w+ date)", "date", ""),
    (r"(?:website|url|link|page)", "url", ""),
)
_COUNT = re.compile(r"^(?:the\s+)?(?:number|count|amount)\s+of\s+(?P<what>.+)|(?P<also>.+)\s+count$", re.IGNORECASE)
_IS = re.compile(
    r"(?:\b\w*(?:able|ible|proof|less|resistant|compatible|friendly|ed|safe|certified|free)|cordless|wireless|portable|"
    r"waterproof|automatic|manual|electric|organic|vegan|silent|recyclable|made in \w+)$",
    re.IGNORECASE,
)
_HAS = re.compile(r"(?:includes?|included|support|has|have|with|comes with|built.?in)\b", re.IGNORECASE)


def own_field(words: str, role: Role = "user", *, is_feature: bool = False) -> Field | None:
    """A field for words that no category knows, or None where they are no name of one. A feature is had or not."""
    name = " ".join(re.sub(r"[{}\[\]<>|\n\"“”]", " ", words).split()).strip(" .,;:!?")
    if not name or len(name) > LONGEST_NAME or len(name.split()) > MOST_WORDS or not re.search(r"[^\W\d]{2}", name):
        return None
    shown = name[:1].upper() + name[1:]
    small = name if name[:1].islower() or name[1:2].isupper() else name[:1].lower() + name[1:]
    if is_feature or _IS.search(name) or _HAS.match(name):
        return Field(name=shown, type="boolean", question=yes_or_no(small), role=role)
    if count := _COUNT.match(name):
        what = count["what"] or count["also"]
        return Field(name=shown, type="number", question=f"How many {what} does {{Product}} have?", role=role)
    found = next((head for head in _HEADS if re.search(rf"(?:^|\s){head[0]}$", name, re.IGNORECASE)), None)
    if found:
        return Field(name=shown, type=found[1], unit=found[2], question=usual_question(shown), role=role)
    if is_plural(name.split()[-1]):
        return Field(name=shown, type="list", question=f"Which {small} does {{Product}} have?", role=role)
    return Field(name=shown, question=usual_question(shown), role=role)


def yes_or_no(feature: str) -> str:
    if _IS.search(feature):
        return f"Is {{Product}} {feature}?"
    return f"Does {{Product}} have {_HAS.sub('', feature, count=1).strip() or feature}?"
