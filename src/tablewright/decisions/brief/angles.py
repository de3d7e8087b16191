"""The sides of a question that wants an explanation."""

from __future__ import annotations

import re

from tablewright.decisions.brief.catalog import ABSTRACT
from tablewright.decisions.brief.facts import clauses
from tablewright.decisions.brief.phrases import as_query, items, sentence_case, short_query, tidy
from tablewright.decisions.question.words import is_plural
from tablewright.table.research import Angle

MOST_ANGLES = 8
_MOST_ASPECT_WORDS = 6

# ── the sides that a question names ──────────────────────────────────────────────────────────────────────────────────

_OPENING = re.compile(
    r"^(?:(?:please|can you|could you|would you|i (?:want|need|would like) to (?:know|understand|learn)(?: about|"
    r" more about)?|help me understand|let's)\s+)*(?:(?:explain|describe|discuss|analy[sz]e|summari[sz]e|outline|"
    r"investigate|examine|evaluate|assess|explore|research|study|review|cover|tell me(?: about| everything about|"
    r" more about)?|(?:write|give|provide|prepare|create|make|produce|do)(?: me| us)? (?:an?|the|"
    r"some)?\s*(?:[\w-]+ ){0,3}?(?:report|overview|analysis|summary|essay|article|briefing|brief|paper|introduction|"
    r"explanation|deep dive|study|guide|background|research|information|comparison)(?: on| about| of| to| into| for|"
    r" covering)?|an? (?:[\w-]+ )?(?:overview|analysis|summary|report|introduction)(?: of| on| to| about)|"
    r"find (?:out )?(?:information |everything |more )?(?:on|about)|identify|list|find|what(?: is|'s| are| was|"
    r" were)?(?: known about)?|how about|deep dive into|overview of|introduction to)\s+)?(?:the\s+|some\s+|an?\s+)?",
    re.IGNORECASE,
)
_ASPECTS = ABSTRACT | frozenset(
    """cause reason effect consequence impact implication advantage disadvantage benefit drawback risk challenge
    problem trend difference factor history future status state cost price pricing development evolution origin use
    significance importance role influence background economics ethics safety regulation law science technology
    market growth adoption structure function symptoms treatment treatments diagnosis prevention prognosis
    performance efficiency sustainability politics culture outlook success failure timeline legacy feasibility
    security privacy competition demand supply emissions environment definition overview architecture criticism
    reception career life biography plot work side-effects prevalence methodology governance policy policies
    funding""".split()
)  # fmt: skip
_LINK = r"(?:of|in|for|behind|on|to|with|about|associated with|related to|from|facing|around|between|when)"
_NAMED = re.compile(rf"^(?P<list>(?:(?!\s{_LINK}\s).){{3,120}}?)\s+(?P<link>{_LINK})\s+(?P<topic>.+)$", re.IGNORECASE)
_AFTER_COLON = re.compile(r"^(?P<topic>[^:?]{3,100}):\s*(?P<list>.+)$")
_COVERING = re.compile(
    r"^(?P<topic>.+?)(?:[.;,?]\s*|\s+)(?:including|covering|with (?:an? |particular |special )?(?:focus|emphasis) on|"
    r"focus(?:ing|ed)?(?: \w+)? on|in terms of|with respect to|with regard to|from the perspectives? of|"
    r"(?:please )?(?:cover|address|include|discuss|consider|describe|look at|compare)(?: its| their|"
    r" the)?(?: following)?(?: aspects?| topics?| points?| angles?)?\s*:?|in particular|especially|"
    r"namely)\s+(?P<list>.+)$",
    re.IGNORECASE,
)
_ON_EACH = re.compile(
    r"^(?P<what>(?:[\w-]+ ){0,3}(?:impacts?|effects?|influence|consequences|implications)) of (?P<by>.+?) (?:on|"
    r"for) (?P<list>.+)$",
    re.IGNORECASE,
)
_COMPARED = re.compile(
    r"^(?:(?:please\s+)?compare|(?:a )?comparison (?:of|between)|(?:what (?:is|are) )?(?:the )?(?:main |"
    r"key )?differences? between|"
    r"how (?:do|does))?\s*+(?:the\s++)?(?P<one>.{2,60}?)(?<!\s)\s+(?P<link>and|with|to|vs\.?|versus|or|"
    r"against)\s++(?P<other>.{2,60}?)"
    r"(?:\s+(?:on|in terms of|regarding|with respect to|by|based on|for|compare (?:on|"
    r"in))\s+(?P<list>.+?))?(?:\s+(?:compare|differ))?[?.]*$",
    re.IGNORECASE,
)
_COMPARES = re.compile(r"\b(?:compare|comparison|differences? between|versus|vs\.?|differ)(?:\s|$|\?)", re.IGNORECASE)
_YES_NO = re.compile(r"^(?:is|are|was|were|does|do|did|can|could|should|will|would|has|have)\s", re.IGNORECASE)


def angles_of(question: str) -> tuple[tuple[Angle, ...], bool]:
    """The sides of a question, and whether it names them itself."""
    text = tidy(question)
    text = _AND_WHY.sub("?", text)
    bare = text.rstrip("?!. ")
    topic = topic_of(text)
    if not re.search(r"[^\W_]", text):
        return (), False
    if not is_english(text):
        return (Angle(name=_short(bare), question=text, query=short_query(text)),), False
    if named := _compared(bare) or _covering(bare) or _aspects(topic) or _parts(text):
        return named[:MOST_ANGLES], True
    if (aspect := _NAMED.match(topic)) and _is_aspect(aspect["list"]):
        return _around(_of(aspect["list"], aspect["link"], aspect["topic"]), aspect["topic"]), False
    if _YES_NO.match(text):
        return _for_and_against(text, as_query(text)), False
    if re.match(r"(?:why|how|when|where|who|which)\b|what\s+(?!is\b|are\b)", text, re.IGNORECASE):
        return _around(Angle(name=_short(bare), question=sentence_case(bare) + "?", query=as_query(text))), False
    return (_of_a_name(topic) if _NAME.fullmatch(topic) else _usual(topic)), False


_AND_WHY = re.compile(r",?\s+and (?:why|how|how so|why not)\s*[?.]*$", re.IGNORECASE)
"""Asks for the reasons that belong to any answer."""


def topic_of(question: str) -> str:
    """What a question is about: "Write a report on the history of tea" → "history of tea"."""
    bare = tidy(question).rstrip("?!. ")
    return _OPENING.sub("", bare, count=1).strip() or bare


def is_english(text: str) -> bool:
    """Whether our words fit beside it: it has English small words, or it is a short name in Latin letters."""
    return bool(_ENGLISH.search(text)) or (text.isascii() and len(text.split()) <= 5)


_ENGLISH = re.compile(
    r"\b(?:the|of|and|what|which|who|how|why|when|where|is|are|does|did|do|for|with|explain|describe|about|to|"
    r"between|on|it)\b",
    re.IGNORECASE,
)


def _compared(bare: str) -> tuple[Angle, ...]:
    match = _COMPARED.match(bare) if _COMPARES.search(bare) else None
    if not match:
        return ()
    one, other = match["one"].strip(" ,"), match["other"].strip(" ,")
    if whose := _THEIR_KIN.fullmatch(other):
        other = f"{whose['kin']} of {one}"
    if match["list"] and (criteria := items(match["list"])):
        return tuple(
            Angle(
                name=f"{sentence_case(each)}: {thing}",
                question=f"What {_are(each)} the {each} of {thing}?",
                query=short_query(f"{thing} {each}"),
            )
            for each in criteria
            for thing in (one, other)
        )
    return (
        Angle(
            name=sentence_case(one),
            question=f"What is {one}, and what is it good at?",
            query=short_query(f"{one} strengths weaknesses"),
        ),
        Angle(
            name=sentence_case(other),
            question=f"What is {other}, and what is it good at?",
            query=short_query(f"{other} strengths weaknesses"),
        ),
        Angle(
            name="Differences",
            question=f"How do {one} and {other} differ?",
            query=short_query(f"{one} vs {other} differences"),
        ),
        Angle(
            name="When to choose which",
            question=f"When is {one} the better choice, and when {other}?",
            query=short_query(f"when to choose {one} or {other}"),
        ),
    )


_THEIR_KIN = re.compile(r"(?:its|their|his|her)\s+(?:(?:main|closest|biggest|key)\s+)?(?P<kin>\w+)", re.IGNORECASE)


def _covering(bare: str) -> tuple[Angle, ...]:
    for pattern in (_AFTER_COLON, _COVERING):
        if (match := pattern.match(bare)) and len(named := items(match["list"])) > 1 and all(map(_is_short, named)):
            topic = topic_of(match["topic"])
            aspect = _NAMED.match(topic)
            topic = (
                aspect["topic"]
                if aspect
                and re.search(r"\b(?:overview|report|analysis|state|status|future|role|situation)$", aspect["list"])
                else topic
            )
            return tuple(_of(each, "of", topic) for each in named)
    return ()


def _aspects(topic: str) -> tuple[Angle, ...]:
    """ "causes and effects of deforestation"; "the impact of AI on jobs, wages and schools"."""
    if (each := _ON_EACH.match(topic)) and len(fields := items(each["list"])) > 1 and all(map(_is_short, fields)):
        return tuple(
            Angle(
                name=f"{sentence_case(each['what'])} on {field}",
                question=f"What {_are(each['what'])} the {each['what'].lower()} of {each['by']} on {field}?",
                query=short_query(f"{each['by']} {each['what']} on {field}"),
            )
            for field in fields
        )
    match = _NAMED.match(re.sub(r"\bpros and cons\b", "advantages and disadvantages", topic, flags=re.IGNORECASE))
    if not match or len(named := items(match["list"])) < 2 or not all(map(_is_short, named)):
        return ()
    if not any(map(_is_aspect, named)):
        return ()
    return tuple(_of(each, match["link"], match["topic"]) for each in named)


def _parts(text: str) -> tuple[Angle, ...]:
    """Several questions in one, each with its topic."""
    parts = clauses(text)
    if not 1 < len(parts) <= MOST_ANGLES or not re.match(
        r"(?:what|how|why|who|when|where|which|explain|describe)\b", text, re.IGNORECASE
    ):
        return ()
    topic = topic_of(parts[0])
    angles = [Angle(name=_short(parts[0]), question=f"{sentence_case(parts[0])}?", query=as_query(parts[0]))]
    if topic != parts[0] and (aspect := _NAMED.match(topic)) and _is_aspect(aspect["list"]):
        topic = aspect["topic"]
        angles = [_of(aspect["list"], aspect["link"], topic)]
    is_named = len(topic.split()) <= _MOST_ASPECT_WORDS and topic != parts[0]
    for part in parts[1:]:
        whole = _PRONOUN.sub(topic, part, count=1) if is_named else f"{part} ({parts[0]})"
        query = as_query(whole if whole != part and is_named else f"{topic} {part}")
        angles.append(Angle(name=_short(whole if is_named else part), question=f"{sentence_case(whole)}?", query=query))
    return tuple(angles)


_PRONOUN = re.compile(r"\b(?:it|they|them|this|these)\b", re.IGNORECASE)


def _is_short(item: str) -> bool:
    return len(item.split()) <= _MOST_ASPECT_WORDS


def _is_aspect(item: str) -> bool:
    last = item.casefold().split()[-1]
    return _is_short(item) and (last in _ASPECTS or last.removesuffix("s") in _ASPECTS)


def _are(noun: str) -> str:
    return "are" if is_plural(noun.split()[-1]) else "is"


def _short(text: str) -> str:
    words = text.split()
    return sentence_case(" ".join(words[:12]) + ("…" if len(words) > 12 else ""))


def _of(aspect: str, link: str, topic: str) -> Angle:
    aspect = re.sub(r"^(?:the|its|their)\s+", "", aspect, flags=re.IGNORECASE)
    if re.match(r"(?:how|why|what|who|when|where|which)\b", aspect, re.IGNORECASE):
        return Angle(
            name=sentence_case(aspect),
            question=f"{sentence_case(aspect)} ({topic})?",
            query=as_query(f"{topic} {aspect}"),
        )
    said = aspect if re.match(r"[A-Z]{2}|\w+[A-Z]", aspect) else aspect[:1].lower() + aspect[1:]
    return Angle(
        name=sentence_case(aspect),
        question=f"What {_are(aspect)} the {said} {link} {topic}?",
        query=as_query(f"{topic} {said}"),
    )


# ── the sides that every question has ────────────────────────────────────────────────────────────────────────────────


def _usual(topic: str) -> tuple[Angle, ...]:
    about = as_query(topic)
    return (
        Angle(name="Definition", question=f"What is {topic}?", query=short_query(f"{about} definition overview")),
        Angle(
            name="Use cases",
            question=f"What is {topic} used for, and by whom?",
            query=short_query(f"{about} use cases examples"),
        ),
        Angle(
            name="Challenges",
            question=f"What are the challenges and risks of {topic}?",
            query=short_query(f"{about} challenges risks"),
        ),
        Angle(
            name="Trends",
            question=f"What are the trends and the outlook for {topic}?",
            query=short_query(f"{about} trends outlook"),
        ),
    )


_NAME = re.compile(
    r"(?:the )?[A-ZÀ-Þ][\w'’.&-]*[a-zß-ÿ.][\w'’.-]*(?: (?:(?:&|and|of|the|de|von|van) )?[A-ZÀ-Þ\d][\w'’.&-]*){0,5}"
)


def _of_a_name(topic: str) -> tuple[Angle, ...]:
    """A company, a person or a place has a history, and nobody asks what it is used for."""
    return (
        Angle(name="Overview", question=f"What is {topic}?", query=short_query(f"{topic} overview")),
        _of("history", "of", topic),
        Angle(name="Known for", question=f"What is {topic} known for?", query=short_query(f"{topic} known for")),
        _of("challenges", "of", topic),
    )


def _around(first: Angle, topic: str = "") -> tuple[Angle, ...]:
    """One side is asked about: it comes first, then what is needed to understand and to trust the answer."""
    about = first.query
    background = Angle(name="Background", question=f"What is {topic}?", query=short_query(f"{topic} overview"))
    return (
        first,
        *([background] if topic else []),
        Angle(
            name="Evidence",
            question=f"What do studies and figures say about {about}?",
            query=short_query(f"{about} study statistics"),
        ),
        Angle(
            name="Open questions",
            question=f"What is disputed or unknown about {about}?",
            query=short_query(f"{about} debate criticism"),
        ),
    )


def _for_and_against(question: str, about: str) -> tuple[Angle, ...]:
    said = question.rstrip("?")
    return (
        Angle(
            name="Evidence for", question=f"What speaks for a yes: {said}?", query=short_query(f"{about} evidence for")
        ),
        Angle(
            name="Evidence against",
            question=f"What speaks for a no: {said}?",
            query=short_query(f"{about} evidence against criticism"),
        ),
        Angle(
            name="Background",
            question=f"What is known about {about}?",
            query=short_query(f"{about} background overview"),
        ),
    )
