"""Strip what language models write around an answer, and recognize their many ways to say that there is none.

First step of `coerce_value`. Reads text only; every pattern runs in time proportional to the text.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Generic, NamedTuple, TypeVar

from tablewright.domain.model import Label

Item = TypeVar("Item")


class ReadValue(NamedTuple, Generic[Item]):
    """A text read as a value; `value` is None exactly if `label` is "none". `reason` says why the label is not "high";
    `removed` are the parts of the text that the value does not keep."""

    value: Item | None
    label: Label = "high"
    reason: str = ""
    removed: tuple[str, ...] = ()
    start: int = 0
    end: int = 0
    """The place of a quantity in the text; then `removed` refers to that place only."""


# A preamble is short, and so is a "not found": longer texts are answers.
_MAX_CHARACTERS = 400

# ── preambles ────────────────────────────────────────────────────────────────────────────────────────────────────────


def _compile_preambles() -> dict[str, list[re.Pattern[str]]]:
    """Return the preambles by their first word: a text is only matched against those that begin like it."""
    sources = (
        "research search searches analysis knowledge finding findings review reading understanding information info"
        " data"
        " details source sources evidence context document documents documentation text passage page pages webpage"
        " website websites site article articles report reports filing filings result results snippet snippets record"
        " records listing description content specification specifications specs datasheet manual release table"
        " wikipedia google linkedin crunchbase"
    )
    domain = r"[\w-]+\.(?:com|org|net|io|gov|edu|co|de|uk)"
    source = rf"\b(?:{'|'.join(sources.split())}|what i (?:found|know|could find)|{domain})\b"
    answers = "answer value result response output solution conclusion reply"
    answer = rf"(?:{'|'.join(answers.split())})"
    adjectives = "final correct short best exact direct likely extracted requested"
    verb = r"(?:is|are|was|were|would be|should be|appears? to be|seems? to be)"
    says = r"(?:state|say|show|indicate|suggest|mention|report|list|note|confirm|reveal|give|specifie)s?"
    # The text before the comma or colon that closes a preamble.
    phrase = r"(?:[^\n,:]|,\d|:/)"
    preambles = (
        (
            "sure certainly of absolutely okay ok great good no got thanks thank happy",
            r"(?:sure(?: thing)?|certainly|of course|absolutely|okay|ok|great(?: question)?|good question|no problem"
            r"|got it"
            r"|thanks|thank you|happy to help)\s*"
            r"(?:[!.:]+|[,—–-](?=\s*(?:here|the|based|according|i|this|that|so|let)\b))\s+",
        ),
        ("here", rf"here(?:['’]s| is| are)\s+(?:{phrase}{{0,80}}:\s+|(?:the |your |my )?{answer}\s*:?\s+)"),
        ("according", rf"according to (?!(?:and|or)\b){phrase}{{1,120}}[,:]\s*(?:that\s+)?"),
        (
            "based as per from judging looking given using drawing going after upon in on",
            r"(?:based (?:up)?on|as per|per|from|judging (?:by|from)|looking at|given|using|drawing on|going by|in"
            r"|on|upon"
            r"|after (?:reviewing|reading|searching|checking|analy[sz]ing|looking (?:at|through|into))"
            r"|as (?:stated|mentioned|noted|listed|shown|reported|indicated|given|described|specified) (?:in|on|by|at))"
            rf"\s{phrase}{{0,100}}?{source}{phrase}{{0,60}}?(?:,(?!\d)|:)\s*",
        ),
        ("as", rf"as of {phrase}{{1,40}}?,(?!\d)\s*"),
        (
            f"so thus therefore hence the my your a {adjectives} most {answers}",
            r"(?:(?:so|thus|therefore|hence),?\s+)?(?:(?:the|my|your|a)\s+)?"
            rf"(?:(?:most\s+)?(?:{'|'.join(adjectives.split())})\s+)*{answer}"
            rf"(?:\s+(?:to|for|of) [^\n:]{{1,80}}?|\s+i found)?\s*(?:{verb}\s*:?\s+|:\s*|=\s*|\s[-–—]\s)(?:that\s+)?",
        ),
        (
            f"the this these my our available official provided company {sources}",
            rf"(?:(?:the|this|these|my|our|available|official|provided|company(?:'s)?)\s+)*{source}\s+{says}"
            r"\s*(?:that\b\s*|:\s+)",
        ),
        (
            "i we",
            r"(?:i|we)\s+(?:found|believe|think|can (?:confirm|see|say|tell you)|have (?:found|determined)|determined"
            r"|conclude|would say)\s+(?:out\s+)?that\s+",
        ),
        (
            "it this",
            r"(?:it|this)\s+(?:appears|seems|is (?:likely|clear|believed|reported|stated|known|estimated))\s+that\s+",
        ),
        (
            "in to therefore thus hence so overall finally specifically as note from",
            r"(?:in (?:summary|short|conclusion|brief|other words)|to summari[sz]e|to answer your question|to conclude"
            r"|therefore|thus|hence|so|overall|finally|specifically|as requested|note that"
            r"|from what i (?:can tell|know|found))\s*[,:]\s+",
        ),
        ("a ans", r"(?:a|ans)\s*:\s+"),
    )
    by_first_word: dict[str, list[re.Pattern[str]]] = {}
    for openers, pattern in preambles:
        compiled = re.compile(rf"\A(?:{pattern})", re.IGNORECASE)
        for opener in openers.split():
            by_first_word.setdefault(opener, []).append(compiled)
    return by_first_word


_PREAMBLES = _compile_preambles()
_FIRST_WORD = re.compile(r"[^\W\d_]+")

_PAIRS: dict[str, str] = {
    '"': '"', "'": "'", "“": "”", "‘": "’", "«": "»", "»": "«", "„": "“”", "‚": "‘’", "‹": "›", "「": "」", "『": "』",
    "”": "”", "’": "’", "`": "`", "*": "*", "_": "_", "〝": "〞",
}  # fmt: skip


def strip_preamble(text: str) -> str:
    """Return the answer without polite openings, sources, labels, quotes and Markdown around it.

    Repeated until nothing changes. A preamble without text after it is kept: "According to Jim" is a title.
    """
    text = text.strip()
    while (shorter := _strip_one_preamble(text)) != text:
        text = shorter
    return text


def _strip_one_preamble(text: str) -> str:
    text = _unwrap_answer(text)
    for preamble in _find_preambles(text):
        found = preamble.match(text, 0, _MAX_CHARACTERS)
        if found and _has_word(rest := text[found.end() :].strip()):
            return rest
    return text


def _find_preambles(text: str) -> Sequence[re.Pattern[str]]:
    first = _FIRST_WORD.match(text)
    return _PREAMBLES.get(first[0].casefold(), ()) if first else ()


def _has_word(text: str) -> bool:
    return any(map(str.isalnum, text[:_MAX_CHARACTERS]))


def _unwrap_answer(text: str) -> str:
    """Return the text without quotes, stars, backticks, a code fence or a tag around the whole."""
    while len(text) > 2:
        inner = text
        closing = _PAIRS.get(text[0])
        if closing and text[-1] in closing and not _has_inner_quote(text, closing):
            inner = text[1:-1].strip()
        elif text[0] in "*_`<$\\":
            inner = _strip_markup(text)
        if inner == text or not _has_word(inner):
            return text
        text = inner
    return text


def _has_inner_quote(text: str, closing: str) -> bool:
    """Return True if there is a closing mark inside: "A" and "B" are two quotations, 'it's' is one."""
    opening = text[0]
    if opening in "'‘’":
        return bool(re.search(r"(?:^|\s)['‘]|['’](?:\s|$)", text[1:-1]))
    return any(mark in text[1:-1] for mark in closing)


def _strip_markup(text: str) -> str:
    if label := re.match(r"(\*\*|__)([^*_\n]{1,60}:)\s*\1\s*", text):
        return f"{label[2]} {text[label.end() :]}".strip()
    if whole := re.match(r"(\*\*|__)((?:(?!\1)[^\n])+?)\1\s*[.!]?$", text):
        return whole[2].strip()
    if boxed := re.match(r"\$?\\boxed\{([^{}]*)\}\$?\s*\.?$", text):
        return boxed[1].strip()
    if (fence := re.match(r"```[\w-]{0,16}", text)) and text.endswith("```") and len(text) >= fence.end() + 3:
        return text[fence.end() : -3].strip()
    tag = re.match(r"<(answer|value|result|output|final)>", text, re.IGNORECASE)
    if tag and text.lower().endswith(f"</{tag[1].lower()}>"):
        return text[tag.end() : -len(tag[0]) - 1].strip()
    return text


# ── "not found" ──────────────────────────────────────────────────────────────────────────────────────────────────────

_SENTINELS: frozenset[str] = frozenset(
    name.strip()
    for line in """
    n/a | na | n.a | #n/a | n / a | n\\a | null | nil | none | nan | undefined | empty | blank | missing | unknown
    unavailable | undisclosed | unspecified | undetermined | unclear | unsure | uncertain | indeterminate | tbd
    tba | tbc | to be determined | to be announced | to be confirmed | to be decided | nothing | nothing found
    no idea | idk | i don't know | i do not know | don't know | not sure | no one knows | no answer | no data
    no info | no information | no result | no results | no match | no matches | no value | no mention | no evidence
    no response | no record | no records | no details | no entry | none found | none available | none listed
    none specified | none provided | none mentioned | none given | none known | none stated | none disclosed
    none reported | none identified | k.a | keine angabe | keine angaben | unbekannt | nicht verfügbar
    nicht bekannt | nicht angegeben | inconnu | inconnue | non disponible | non précisé | non communiqué
    desconocido | desconocida | no disponible | sconosciuto | desconhecido | não disponível | onbekend
    niet beschikbaar | okänd | ukjent | ukendt | nieznany | brak danych | неизвестно | нет данных | 不明 | 未知 | 不详
    없음 | 該当なし | 无
    """.strip().splitlines()
    for name in line.split("|")
)


def _compile_absences() -> tuple[tuple[re.Pattern[str], ...], re.Pattern[str]]:
    """Return the patterns of phrases that say nothing was found; the last says it of a thing that may also be lacking:
    "the warranty is not available"."""
    done = (
        r"(?:available|found|known|specified|stated|disclosed|mentioned|provided|given|listed|reported|published"
        r"|public|clear"
        r"|indicated|determined|determinable|identified|identifiable|applicable|released|announced|documented|present"
        r"|defined|located|verified|confirmed|shown|sure|certain|visible|accessible|recorded|covered|detailed)"
    )
    how = (
        r"(?:(?:publicly|explicitly|currently|clearly|directly|readily|specifically|officially|yet|been|be|widely"
        r"|immediately"
        r"|reliably|easily|otherwise|made|definitively|conclusively|generally|formally|exactly)\s)*"
    )
    where = (
        r"(?:\s(?:in|on|from|by|at|for|to|within|as|yet|here|anywhere|due|because|with|among|online|through)\b.*"
        r"|[.;:,(–—-].*|\s[(–—-].*)?"
    )
    thing = (
        r"(?:information|info|data|answers?|results?|mention|evidence|records?|details?|value|match(?:es)?|indication"
        r"|figures?)"
    )
    texts = (
        r"(?:text|document|context|page|web ?page|website|site|article|source|material|content|passage|snippet|report"
        r"|filing|information|data|result|excerpt|record|description|listing|table|evidence)s?"
    )
    cannot = (
        r"(?:could not|couldn't|can ?not|can't|(?:was|were|am|are)(?: not able|n't able| unable) to|did not|didn't"
        r"|do not|don't|have not|haven't|unable to|not able to|failed to)"
    )
    find = (
        r"(?:find|found|determine|locate|identify|verify|confirm|have|see|access|know|establish|provide|answer|tell|say"
        r"|retrieve|obtain|extract|ascertain|be (?:determined|found|located|verified|identified|confirmed|established))"
    )
    does_not = r"(?:do(?:es)? not|did not|doesn't|don't|didn't|can ?not|can't|fails? to|failed to)"
    tell = (
        r"(?:mention|specify|state|provide|contain|include|say|list|give|disclose|indicate|have|show|reveal|report"
        r"|offer"
        r"|answer|address|describe|discuss|publish|cover|name|identify|seem|appear)"
    )
    is_not = r"(?:is|are|was|were|has|have|could|can|may|might)(?: not|n't)"
    absences = tuple(
        re.compile(rf"\A(?:{pattern})", re.DOTALL)
        for pattern in (
            # n/a (private company), unknown - not stated
            r"(?:n/a|not applicable|unknown|unavailable|undisclosed|unspecified|tbd|none)"
            r"\s?(?:\(.*\)|\[.*\]|[-–—:;,.]\s?(?:not?|the|this|i|unknown|it|there)\b.*)",
            # n/a - private company: nothing that begins so is a value
            r"n/a\s?[-–—:;,.].*",
            # I'm not sure about that; as an AI language model, I cannot browse
            r"(?:i'm|i am|we're|we are) (?:not (?:sure|certain|aware)|unsure|uncertain|unaware)\b.*",
            rf"as an? (?:ai|artificial intelligence|(?:large )?language model)\b[^.]*?\bi (?:{cannot}|have no"
            r"|lack)\b.*",
            # not publicly disclosed by the company
            rf"(?:{thing} )?not {how}{done}{where}",
            # I could not find any information about it; could not determine an answer
            rf"(?:(?:i|we) )?{cannot} (?:\w+ly )?{find}\b.*",
            rf"{cannot} be {done}\b.*",
            # there is no relevant information about it
            r"(?:there (?:is|was|are|were|seems? to be|appears? to be) )?(?:no|not? enough|not any|insufficient"
            r"|limited) "
            rf"(?:\w+ ){{0,2}}{thing}(?: (?:was|were|is|are|could|can|has|have|had|found|available|provided|given|about"
            r"|regarding|on|for|in|of|to|that|which|mentioned|specified|disclosed|concerning|exists?|returned|here"
            r"|at)\b.*)?",
            rf"{thing} (?:un(?:available|known|clear|disclosed)|missing){where}",
            # the provided text does not mention the price
            rf"(?:the |this |these |any "
            rf"|my )?(?:[\w-]+ ){{0,3}}?{texts} (?:\w+ ){{0,4}}?{does_not} (?:\w+ly )?{tell}\b.*",
            # this information is not available
            rf"(?:the |this |that |such |more )?(?:\w+ ){{0,2}}(?:{thing}|it|this|that)(?: \w+){{0,4}}? {is_not} {how}"
            rf"{done}{where}",
            # the date of foundation is not specified; the price remains unknown
            rf"[^.!?\d]{{1,80}}? {is_not} {how}(?:specified|stated|disclosed|mentioned|known|reported|published|public"
            rf"|indicated|determined|identified|documented|listed)\b{where}",
            rf"[^.!?\d]{{1,80}}? (?:is|are|was|were|remains?) (?:unknown|undisclosed|unspecified|unclear|undetermined)"
            rf"{where}",
            r"(?:it|this) (?:is|was) (?:unclear|unknown|not clear|not possible|impossible)\b.*",
        )
    )
    absent_thing = re.compile(
        rf"[^.!?\d]{{1,60}}? (?:is|are|was|were)(?: not|n't) {how}(?:available|provided|given|found){where}"
    )
    return absences, absent_thing


_ABSENCES, _ABSENT_THING = _compile_absences()
# These are tried on every text that is read.
_NEGATION = re.compile(
    r"\b(?:no|not|un\w+|can ?not|failed|fails|n/a|none|limited|insufficient|tbd|impossible|missing)\b|n't\b"
)
_ONLY_MARKS = re.compile(r"[\s!-/:-@\[-`{-~‐-―−…•·]*")


def is_not_found(text: str) -> bool:
    """Return True if the text says that there is no answer: "n/a", "—", "Not disclosed.", "I could not find …"."""
    return says_nothing_was_found(text) or (len(text) <= _MAX_CHARACTERS and _states_absence(text, (_ABSENT_THING,)))


_PLAIN = re.compile(r"[^\W_]\w*(?:[ ,.&/-]{1,3}\w+){0,20}[.)]?")
_SUSPECT = re.compile(
    r"\b(?:is|are|was|were|be|that|no|not|un\w+|can|cannot|could|failed|fails|na|n\.?a|null|nil|none|nan|missing"
    r"|blank|empty"
    r"|tb[adc]|idk|nothing|limited|insufficient|impossible|indeterminate|to be|non|nicht|keine|k\.a|brak|niet)\b|/a\b",
    re.IGNORECASE,
)


def is_plain_answer(text: str) -> bool:
    """Return True for a short text that surely is an answer without preamble. A quick test: False means unknown."""
    if len(text) > 120 or not _PLAIN.fullmatch(text) or _SUSPECT.search(text):
        return False
    if ("," in text or "." in text) and _find_preambles(text):
        return False
    return text.rstrip(".").casefold() not in _SENTINELS


def says_nothing_was_found(text: str) -> bool:
    """Return True for a subset of `is_not_found`, for yes-or-no questions, which "the warranty is not available"
    answers."""
    if len(text) > _MAX_CHARACTERS:
        text = text.strip()
        if len(text) > _MAX_CHARACTERS:
            return False
    bare = _bare_phrase(text)
    if bare in _SENTINELS or _ONLY_MARKS.fullmatch(bare):
        return True
    return _states_absence(text, _ABSENCES)


def _states_absence(text: str, absences: tuple[re.Pattern[str], ...]) -> bool:
    bare = _bare_phrase(text)
    if not _NEGATION.search(bare) or _is_capitalised_title(text):
        return False
    bare = re.sub(
        r"\A(?:(?:i'm |i am )?sorry,? (?:but )?|unfortunately,? |apologies,? (?:but )?|regrettably,? |however,? )+",
        "",
        bare,
    )
    if " but " in bare or " however" in bare:
        # "not stated, but about 500" contains an answer.
        return False
    return any(absence.fullmatch(bare) for absence in absences)


def _is_capitalised_title(text: str) -> bool:
    """Return True for a name in capitals of more than two words, which is no sentence: "None of the Above"."""
    words = text.split()
    return len(words) > 2 and words[-1][:1].isupper() and all(word[:1].isupper() for word in words if len(word) > 3)


def _bare_phrase(text: str) -> str:
    text = " ".join(text.replace("’", "'").split()).strip("*_`\"'“”‘«» ")
    if text[:1] in ("(", "[", "{", "<") and text[-1:] in (")", "]", "}", ">"):
        text = text[1:-1].strip()
    return text.rstrip(".!… ").casefold()


def find_removed_around(text: str, kept: str) -> tuple[str, ...]:
    """Return the parts of `text` before and after `kept`, which may lack some of its marks or differ in case."""
    if kept == text:
        return ()
    # The last place: a preamble comes before the answer and may name it too.
    start = text.rfind(kept)
    if start >= 0:
        return keep_worded_parts(text[:start], text[start + len(kept) :])
    places = [(place, letter) for place, mark in enumerate(text) if mark.isalnum() for letter in mark.casefold()]
    wanted = "".join(mark.casefold() for mark in kept if mark.isalnum())
    start = "".join(letter for _, letter in places).rfind(wanted)
    if start < 0 or not wanted:
        return keep_worded_parts(text)
    return keep_worded_parts(text[: places[start][0]], text[places[start + len(wanted) - 1][0] + 1 :])


def find_removed_outside(text: str, start: int, end: int) -> tuple[str, ...]:
    """Return the parts of `text` before `start` and after `end`."""
    return keep_worded_parts(text[:start], text[end:])


def keep_worded_parts(*parts: str) -> tuple[str, ...]:
    """Return the parts that have a letter or a digit, without outer space."""
    return tuple(part.strip() for part in parts if any(map(str.isalnum, part)))
