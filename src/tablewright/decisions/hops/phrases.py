"""The phrases of a sentence that may be the short answer to a question: of the kind that is asked for, or, where any
phrase may be, those that stand where the asking words lead: "uses [a toy shark] as a card protector"."""

from __future__ import annotations

import re
from collections.abc import Iterator

from tablewright.decisions.hops.asking import Asking, telling
from tablewright.extraction.spans import Span, spans
from tablewright.extraction.wanted import Kind

LIKELY, MAYBE, HARDLY = 1.0, 0.75, 0.5
"""How well a phrase fits what is asked for: by its kind or beside the noun, by where it stands, or only as a name."""
LONGEST = 8
"""Words of a phrase that is no name."""
_MONTH = re.compile(
    r"\b(?:January|February|March|April|May|June|July|August|September|October|November|December)\b(?=[ ,.)]|$)"
)
_SPELT = re.compile(
    r"\b(?:two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|thirteen|fourteen|fifteen|sixteen|seventeen|eighteen|"
    r"nineteen|twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety)(?:[- ](?:one|two|three|four|five|six|seven|eight|"
    r"nine|hundred|thousand|million|billion))*\b",
    re.IGNORECASE,
)
_PERIOD = re.compile(
    r"(?:from |between )?(?P<value>\d{1,2} [A-Z][a-z]+(?: \d{4})? (?:to|until|-|–) \d{1,2} [A-Z][a-z]+(?: \d{4})?|"
    r"[A-Z][a-z]+ \d{1,2}(?:, \d{4})? (?:to|until|-|–) [A-Z][a-z]+ \d{1,2}(?:, \d{4})?)"
)


def phrases(asked: Asking, sentence: str, known: frozenset[str], leads: frozenset[str] = frozenset()) -> Iterator[Span]:
    """`known` are the roots that the question has already: a phrase of nothing else is no answer. `leads`
    are those of verbs whose object is asked for."""
    for found in _all(asked, sentence, known, leads):
        span = _unowned(found)
        if not set(telling(span.value)) <= known:
            yield span


def _unowned(span: Span) -> Span:
    """ "Robert Louis Stevenson" of "Robert Louis Stevenson's classic novel"."""
    value = re.sub(r"['’]s$", "", span.value).rstrip(".,;: ") or span.value
    return Span(value=value, start=span.start, end=span.start + len(value), sure=span.sure)


def _all(asked: Asking, sentence: str, known: frozenset[str], leads: frozenset[str]) -> Iterator[Span]:
    if asked.life:
        yield from _of_a_life(asked, sentence)
        return
    if asked.occupation or asked.translated:
        form = _OCCUPATION if asked.occupation else _TRANSLATION
        yield from (
            Span(value=each["value"].strip(), start=each.start("value"), end=each.end("value"))
            for each in form.finditer(sentence)
        )
        return
    if asked.month or asked.colour:
        listed = _MONTH if asked.month else _COLOUR
        yield from (Span(value=each[0], start=each.start(), end=each.end()) for each in listed.finditer(sentence))
        return
    if "date" in asked.kinds and "measure" in asked.kinds:
        for period in _PERIOD.finditer(sentence):
            yield Span(value=period["value"], start=period.start("value"), end=period.end("value"))
    if asked.kinds and asked.kinds[0] in ("number", "count"):
        for spelt in _SPELT.finditer(sentence):
            yield Span(value=spelt[0], start=spelt.start(), end=spelt.end(), sure=MAYBE)
    for place, kind in enumerate(asked.kinds):
        found = [span for span in spans(kind, sentence) if span.sure >= 0.5 and _may_be(kind, span, sentence)]
        for span in found:
            yield _joined(span, found, sentence) if asked.several else _weighed(span, LIKELY if not place else MAYBE)
        if found and kind in ("person", "year", "measure", "money", "country", "state", "city"):
            return
    if not asked.kinds:
        yield from _beside_noun(asked, sentence)
        yield from _after_words(sentence, known, leads)
        yield from (_weighed(span, HARDLY) for span in spans("name", sentence))


_NOBODY = re.compile(
    r"\b(?:Tour|County|Network|University|College|Championships?|Cup|League|School|Church|Records?|Republic|Islands?|City|"
    r"Games|Awards?|Prize|Series|Street|Avenue|River|Lake|Mountains?|State|States|Kingdom|North|South|East|West|War|Hills|"
    r"Park|Stadium|Arena|Festival|Show|Band|Album|Club|Association|Federation|District|Province|Region|Museum|Theatre|"
    r"Hall|House|Open|Olympics?|Medal|Army|Navy|Force|Party|Union|Act|Conference|Division|Airport|Station|Center|Centre|"
    r"Company|Corporation|Pictures|Films|Entertainment|Studios?|Television|Radio|Magazine|Times|Post|News|Day|Night|World|"
    r"National|International|American|British|Academy|Institute|Society|Foundation|Council|Committee|Department|Zealand|"
    r"Africa|America|Europe|Asia|Australia)\b"
)


_A_WORK = re.compile(
    r"\b(?:novels?|films?|books?|songs?|albums?|singles?|series|play|opera|game|magazine|newspaper|show|movie|story|poem|"
    r"novella|musical|track|painting|ship|team|club) $"
)


def _may_be(kind: Kind, span: Span, sentence: str) -> bool:
    if kind == "person":
        return not _NOBODY.search(span.value) and not _A_WORK.search(sentence, 0, span.start)
    return kind != "city" or not re.search(r"\b(?:Province|County|District|Region|Cathedral|Republic)\b", span.value)


# ── where and when a life began and ended ────────────────────────────────────────────────────────────────────────────

_DATE = r"(?:\d{1,2} [A-Z][a-z]+ \d{3,4}|[A-Z][a-z]+ \d{1,2}, \d{3,4}|[A-Z][a-z]+ \d{4}|\d{4})"
_LIFE = re.compile(
    rf"\((?:[^()]*?[;,:\]] ?)?(?:born |b\. )?(?P<born>[^()]*?{_DATE}[^()]*?) ?(?:-|–|—|to) ?(?:died |d\. )?"
    rf"(?P<died>[^()]*?{_DATE}[^()]*?)\)"
)
_BORN = re.compile(r"\b(?:born|birth)\b(?P<born>[^.;()]*)", re.IGNORECASE)
_DIED = re.compile(r"\b(?:died|death|killed|passed away)\b(?P<died>[^.;()]*)", re.IGNORECASE)


def _of_a_life(asked: Asking, sentence: str) -> Iterator[Span]:
    """In the dates behind a name, "(6 August 1904 - 20 June 1944)", or beside "born" and "died"."""
    group = "born" if asked.life == "birth" else "died"
    for form in (_LIFE, _BORN if group == "born" else _DIED):
        found = form.search(sentence)
        if found is None:
            continue
        part, at = found[group], found.start(group)
        kinds: tuple[Kind, ...] = asked.kinds or ("date",)
        inside = _MONTH.finditer(part) if asked.month else ()
        spanned = [Span(value=each[0], start=each.start(), end=each.end()) for each in inside]
        spanned = spanned or [span for kind in kinds for span in spans(kind, part) if not asked.month]
        if spanned:
            best = max(spanned, key=lambda span: (span.sure, -span.start))
            yield Span(value=best.value, start=at + best.start, end=at + best.end)
            return


_OCCUPATION = re.compile(
    r"\b(?:is|was|worked as|works as|became) an? (?P<value>[^,.;()]+?)"
    r"(?= (?:who|from|in|of|for|at|and|best|known)\b|[,.;()]|$)"
)
_TRANSLATION = re.compile(
    r"\b(?:transl\.|lit\.|English:|translation:|translated as|meaning|means) ?(?P<value>[^();,]+)"
)
_COLOUR = re.compile(
    r"\b(?:black|white|red|green|blue|yellow|orange|purple|violet|pink|brown|gr[ae]y|gold|golden|silver|maroon|navy|cyan|"
    r"magenta|turquoise|crimson|scarlet|beige|amber|tan|teal|burgundy|sky blue|dark blue|light blue)\b",
    re.IGNORECASE,
)


def _weighed(span: Span, fit: float) -> Span:
    return Span(value=span.value, start=span.start, end=span.end, sure=span.sure * fit)


def _joined(span: Span, found: list[Span], sentence: str) -> Span:
    """All names of "Jennifer Aniston and Paul Rudd"."""
    end = span.end
    for other in found:
        if other.start > end and re.fullmatch(r",? (?:and |& )?|, ", sentence[end : other.start]):
            end = other.end
    return Span(value=sentence[span.start : end], start=span.start, end=end, sure=span.sure)


def _beside_noun(asked: Asking, sentence: str) -> Iterator[Span]:
    """ "the Union Army" for an army, "the coastal Banadir region" for a region, "Mount Seymour" for a mountain."""
    if not asked.head:
        return
    stem = asked.head[:5]
    stems = tuple(word[:5] for word in telling(asked.noun) if len(word) > 2 and not word.isdigit())
    for span in spans("name", sentence):
        words = telling(span.value)
        if len(words) > 1 and any(word.startswith(stems) for word in words):
            yield _weighed(span, LIKELY)
    noun = re.compile(
        rf"(?P<value>(?:\b(?!(?:{_SMALL})\b)[\w’'-]+ ){{1,2}}{re.escape(stem)}\w*)|"
        rf"\b{re.escape(stem)}\w*,? (?:is|are|was|were|of|as|named|called|known as) (?:the |an? )?(?P<after>[^,;.()]+)",
        re.IGNORECASE,
    )
    for found in noun.finditer(sentence):
        group = "value" if found["value"] else "after"
        if len(found[group].split()) <= LONGEST:
            sure = LIKELY if group == "value" else MAYBE
            yield Span(value=found[group], start=found.start(group), end=found.end(group), sure=sure)


_SMALL = (
    r"the|an?|of|in|on|at|by|for|from|to|with|as|and|or|is|are|was|were|be|been|has|have|had|his|her|its|their|this|that|"
    r"which|who|it|he|she|they|also|into|about|after|before|during|than|but|not|one"
)
_LEADS = re.compile(
    r"\s+(?:(?:the|an?|as|by|in|of|at|for|to|with|on|is|was|were|are|after|from|into|about) )*", re.IGNORECASE
)
_STOPS = re.compile(
    r"[,;.()\[\]:]|\s[-–]\s|\s(?:and|but|which|who|that|where|when|while|as|is|are|was|were|has|had|have|by|from|in|on|at|"
    r"for|to|with|before|after|until|during|because|since|he|she|it|they)\s",
    re.IGNORECASE,
)


_NO_THING = re.compile(r"(?:and|or|that|be|have|has|had|can|could|will|would|not) .*|\w+(?:ed|ly|ing)", re.IGNORECASE)


def _after_words(sentence: str, known: frozenset[str], leads: frozenset[str]) -> Iterator[Span]:
    """What follows a verb of the question, as far as it goes."""
    for word in re.finditer(r"[^\W_]+", sentence):
        root = telling(word[0])
        if not root or not set(root) <= leads:
            continue
        lead = _LEADS.match(sentence, word.end())
        if lead is None:
            continue
        stop = _STOPS.search(sentence, lead.end())
        end = stop.start() if stop else len(sentence)
        value = sentence[lead.end() : end].strip()
        first = telling(value.split(" ")[0]) if value else ()
        if (
            value
            and len(value.split()) <= LONGEST
            and not (first and set(first) <= known)
            and not _NO_THING.fullmatch(value)
        ):
            yield Span(value=value, start=lead.end(), end=lead.end() + len(value), sure=MAYBE)
