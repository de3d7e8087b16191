"""What language models put around an answer, and the many ways in which they say that there is none."""

from __future__ import annotations

import re

_LOOKED_AT = 400  # a preamble is short; so is a "not found"

# ── preambles ────────────────────────────────────────────────────────────────────────────────────────────────────────

_SOURCE = (
    r"(?:research|search(?:es)?|analysis|knowledge|findings?|review|reading|understanding|information|info|data|details"
    r"|sources?|evidence|context|documents?|documentation|text|passages?|pages?|web\s?pages?|web\s?sites?|sites?|articles?"
    r"|reports?|filings?|results?|snippets?|records?|listings?|descriptions?|contents?|specifications?|specs?|datasheets?"
    r"|data sheets?|manuals?|press releases?|tables?|wikipedia|google|linkedin|crunchbase|what i (?:found|know|could find)"
    r"|\w[\w-]*\.(?:com|org|net|io|gov|edu|co|de|uk))"
)
_IS = r"(?:is|are|was|were|would be|should be|appears? to be|seems? to be|will be)"
_ANSWER = r"(?:answer|value|result|response|output|solution|conclusion|reply|final answer|extracted value)"
_SAYS = r"(?:states?|says?|shows?|indicates?|suggests?|mentions?|reports?|lists?|notes?|confirms?|reveals?|gives?|specif(?:ies|y))"
_REST = r"(?=\s*\S)"

_PREAMBLES: tuple[re.Pattern[str], ...] = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        # Sure! Certainly. Of course, here ...
        r"(?:sure(?: thing)?|certainly|of course|absolutely|okay|ok|great(?: question)?|good question|no problem|got it|thanks?"
        r"(?: you)?|happy to help|i can help with that|i(?:'d| would) be happy to help)\s*(?:[!.:]+|[,—–-](?=\s*(?:here|the"
        r"|based|according|i|this|that|so|let)\b))\s+",
        # Here is the answer: ... / Here are the results you asked for:
        rf"here(?:'s|’s| is| are)\s+(?:the |your |my |a |an |what )?[^:\n]{{0,80}}:\s+",
        rf"here(?:'s|’s| is| are)\s+(?:the |your |my )?{_ANSWER}\s*:?\s+",
        # According to the website, ... / Based on my research: ...
        r"according to (?!(?:and|or)\b)[^\n]{1,120}?(?:,(?!\d)|:(?!//))\s*(?:that\s+)?",
        rf"(?:based (?:up)?on|as per|per|from|judging (?:by|from)|looking at|given|using|drawing on|going by|in line with"
        rf"|after (?:reviewing|reading|searching|checking|analy[sz]ing|looking (?:at|through|into))|upon (?:review|reviewing)"
        rf"|as (?:stated|mentioned|noted|listed|shown|reported|indicated|given|described|specified) (?:in|on|by|at)|in|on)"
        rf"\s(?=[^\n]{{0,100}}?\b{_SOURCE}\b)[^\n]{{1,140}}?(?:,(?!\d)|:(?!//))\s*",
        r"as of (?:(?:the )?(?:end of|latest|my|this|now|today|early|mid|late)?[\s-]?)?[^\n,:]{0,40},(?!\d)\s*",
        # The answer is: ... / Final answer: ... / **Answer:** ...
        rf"(?:so|thus|therefore|hence)?,?\s*(?:the|my|your|a)?\s*(?:(?:final|correct|short|best|most likely|exact|direct|likely"
        rf"|extracted|requested)\s+)*{_ANSWER}(?:\s+(?:to|for|of) [^\n:]{{1,80}}?|\s+i found)?\s*(?:{_IS}\s*:?\s+|:\s*|=\s*|\s[-–—]\s)"
        r"(?:that\s+)?",
        # The website states that ... / Research shows that ... / I found that ...
        rf"(?:the |this |these |my |our |available |official |provided |company(?:'s)? )*{_SOURCE}\s+{_SAYS}\s*(?:that\b\s*|:\s+)",
        r"(?:i|we)\s+(?:found|believe|think|can (?:confirm|see|say)|have (?:found|determined)|determined|conclude|would say"
        r"|can tell you)\s+(?:out\s+)?that\s+",
        r"(?:it|this)\s+(?:appears|seems|looks like|is (?:likely|clear|believed|reported|stated|known|estimated))\s+that\s+",
        # In summary, ... / Therefore, ...
        r"(?:in (?:summary|short|conclusion|brief)|to summari[sz]e|to answer your question|to conclude|therefore|thus|hence|so"
        r"|overall|finally|specifically|in other words|as requested|note that|from what i (?:can tell|know|found))\s*[,:]\s+",
        r"(?:a|ans)\s*:\s+",
    )
)

_PAIRS: dict[str, str] = {
    '"': '"', "'": "'", "“": "”", "‘": "’", "«": "»", "»": "«", "„": "“”", "‚": "‘’", "‹": "›", "「": "」", "『": "』",
    "”": "”", "’": "’", "`": "`", "*": "*", "_": "_", "〝": "〞",
}  # fmt: skip
_FENCE = re.compile(r"```[\w-]{0,16}\s*\n?(.*?)\n?\s*```\s*$", re.DOTALL)
_TAGGED = re.compile(r"<(answer|value|result|output|final)>\s*(.*?)\s*</\1>\s*$", re.DOTALL | re.IGNORECASE)
_BOXED = re.compile(r"\$?\\boxed\{([^{}]*)\}\$?\s*\.?$")
_MARKED_LABEL = re.compile(r"(\*\*|__)([^*_\n]{1,60}:)\s*\1\s*")
_MARKED_WHOLE = re.compile(r"(\*\*|__)((?:(?!\1)[^\n])+?)\1\s*[.!]?$")


def strip_preamble(text: str) -> str:
    """The answer without what stands around it: polite openings, sources, labels, quotes, Markdown.

    Repeated until nothing changes. What would leave nothing is kept: "According to Jim" is a title.
    """
    text = text.strip()
    while (shorter := _once(text)) != text:
        text = shorter
    return text


def _once(text: str) -> str:
    text = _unwrapped(text)
    head = text[:_LOOKED_AT]
    for preamble in _PREAMBLES:
        found = preamble.match(head)
        if found and (rest := text[found.end() :].strip()) and any(mark.isalnum() for mark in rest):
            return rest
    return text


def _unwrapped(text: str) -> str:
    """Without the quotes, stars, backticks, fence or tag around the whole."""
    while len(text) > 2:
        inner = text
        closing = _PAIRS.get(text[0])
        if closing and text[-1] in closing and not _holds(text, closing):
            inner = text[1:-1].strip()
        elif text[0] in "*_`<$\\":
            inner = _unmarked(text)
        if inner == text or not any(mark.isalnum() for mark in inner[:_LOOKED_AT]):
            return text
        text = inner
    return text


def _holds(text: str, closing: str) -> bool:
    """Whether a closing mark stands inside as well: "A" and "B" are two quotations, 'it's' is one."""
    opening = text[0]
    if opening in "'‘’":
        return bool(re.search(r"(?:^|\s)['‘]|['’](?:\s|$)", text[1:-1]))
    return any(mark in text[1:-1] for mark in closing)


def _unmarked(text: str) -> str:
    if label := _MARKED_LABEL.match(text):
        return f"{label[2]} {text[label.end() :]}".strip()
    for pattern, group in ((_MARKED_WHOLE, 2), (_FENCE, 1), (_TAGGED, 2), (_BOXED, 1)):
        if found := pattern.match(text):
            return found[group].strip()
    return text


# ── "not found" ──────────────────────────────────────────────────────────────────────────────────────────────────────

_SENTINELS: frozenset[str] = frozenset(
    name.strip()
    for name in """
    n/a | na | n.a | n/a. | #n/a | n / a | n\\a | null | nil | none | nan | undefined | void | empty | blank | missing
    unknown | unavailable | undisclosed | unspecified | undetermined | unclear | unsure | uncertain | indeterminate
    tbd | tba | tbc | to be determined | to be announced | to be confirmed | to be decided | ? | ?? | ???
    no | nothing | nothing found | no idea | idk | i don't know | i do not know | don't know | not sure | no one knows
    no answer | no data | no info | no information | no result | no results | no match | no matches | no value | no mention
    no evidence | no response | no record | no records | no details | no entry | none found | none available | none listed
    none specified | none provided | none mentioned | none given | none known | none stated | none disclosed | not known
    not a number | error | failed | k.a | keine angabe | keine angaben | unbekannt | nicht verfügbar | nicht bekannt
    nicht angegeben | inconnu | inconnue | non disponible | non précisé | non communiqué | desconocido | no disponible
    desconocida | sconosciuto | desconhecido | não disponível | onbekend | niet beschikbaar | okänd | ukjent | ukendt
    nieznany | brak danych | неизвестно | нет данных | 不明 | 未知 | 不详 | 없음 | 該当なし | 无
    """.replace("\n", "|").split("|")
    if name.strip()
) - {"no", "void", "error", "failed"}

_DONE = (
    r"(?:available|found|known|specified|stated|disclosed|mentioned|provided|given|listed|reported|published|public|clear"
    r"|indicated|determined|determinable|identified|identifiable|applicable|released|announced|documented|included in the"
    r"|present|defined|located|verified|confirmed|shown|sure|certain|visible|accessible|recorded|covered|detailed|set)"
)
_HOW = (
    r"(?:(?:publicly|explicitly|currently|clearly|directly|readily|specifically|officially|yet|been|be|widely|immediately"
    r"|reliably|easily|further|otherwise|made|definitively|conclusively|always|generally|formally|exactly)\s+)*"
)
_WHERE = r"(?:\s+(?:in|on|from|by|at|for|to|within|as|yet|here|anywhere|due|because|with|among|online|publicly|through)\b.*)?"
_TEXT_NOUN = (
    r"(?:text|document|context|page|web\s?page|website|site|article|source|material|content|passage|snippet|report|filing"
    r"|information|data|result|search result|search|excerpt|record|description|listing|table|evidence|company|it|this|they)"
)
_NOT = r"(?:do(?:es)? not|did not|doesn't|don't|didn't|doesn’t|don’t|didn’t|cannot|can't|fails? to|failed to|never)"
_TELL = (
    r"(?:mention|specif(?:y|ies)|state|provide|contain|include|say|list|give|disclose|indicate|have|show|reveal|report|offer"
    r"|answer|address|describe|discuss|publish|cover|name|identify|explicitly|directly|clearly|seem|appear)"
)
_CANNOT = (
    r"(?:could not|couldn't|couldn’t|can not|cannot|can't|can’t|was not able to|were not able to|was unable to"
    r"|were unable to|am unable to|am not able to|did not|didn't|didn’t|do not|don't|don’t|have not|haven't|unable to|not able to"
    r"|failed to)"
)
_FIND = (
    r"(?:find|found|determine|locate|located|identify|verify|confirm|have|see|access|know|establish|provide|answer|tell|say"
    r"|retrieve|obtain|extract|ascertain|be (?:determined|found|located|verified|identified|confirmed|answered|established))"
)
_SORRY = r"(?:(?:i'm |i am |i’m )?sorry,?\s+(?:but\s+)?|unfortunately,?\s+|apologies,?\s+(?:but\s+)?|regrettably,?\s+|however,?\s+)*"

_ABSENCE = re.compile(
    rf"""{_SORRY}(?:
      (?:n/a|not\s+applicable|unknown|unavailable|undisclosed|unspecified|tbd|none)\s*(?:\(.*\)|\[.*\]|[-–—:;,]\s*(?:not?\b|the\b|this\b|i\b|unknown|it\b).*)?
      | not\s+{_HOW}{_DONE}{_WHERE}
      | (?:(?:i|we)\s+)?{_CANNOT}\s+(?:\w+ly\s+)?{_FIND}\b.*
      | (?:there\s+(?:is|was|are|were|seems?\s+to\s+be|appears?\s+to\s+be)\s+)?(?:no|not?\s+enough|not\s+any|insufficient|not\s+sufficient|limited)
        \s+(?:\w+\s+){{0,2}}(?:information|info|data|answers?|results?|mention|evidence|records?|details?|value|match(?:es)?|context|indication|reference|sources?|figures?)
        (?:\s+(?:was|were|is|are|could|can|has|have|had|found|available|provided|given|about|regarding|on|for|in|of|to|that|which|mentioned|specified|disclosed|concerning|exists?|returned|here|at)\b.*)?
      | (?:the\s+|this\s+|these\s+|any\s+|my\s+)?(?:\w+\s+){{0,3}}{_TEXT_NOUN}s?\s+(?:\w+\s+){{0,4}}?{_NOT}\s+(?:\w+ly\s+)?{_TELL}\b.*
      | (?:the\s+|this\s+|that\s+|such\s+|more\s+)?(?:\w+\s+){{0,2}}(?:information|info|data|answer|value|details?|it|this|that)\s+
        (?:is|are|was|were|has|have|could|can|may|might)\s*(?:not|n't|n’t)\s+{_HOW}(?:be\s+)?{_DONE}{_WHERE}
      | [^.!?]{{1,80}}?\s(?:is|are|was|were|has|have|could|can)\s*(?:not|n't|n’t)\s+{_HOW}(?:specified|stated|disclosed|mentioned|known|reported|published|public|indicated|determined|identified|documented|listed)\b{_WHERE}
      | [^.!?]{{1,80}}?\s(?:is|are|was|were|remains?)\s+(?:unknown|undisclosed|unspecified|unclear|undetermined)\b{_WHERE}
      | (?:it|this)\s+(?:is|was)\s+(?:unclear|unknown|not\s+clear|not\s+possible|impossible|unspecified)\b.*
      | cannot\s+be\s+{_DONE}\b.*
    )""",
    re.IGNORECASE | re.VERBOSE | re.DOTALL,
)
_ABSENT_THING = re.compile(
    rf"[^.!?]{{1,80}}?\s(?:is|are|was|were)\s*(?:not|n't|n’t)\s+{_HOW}(?:available|provided|given|found|included|applicable)\b{_WHERE}",
    re.IGNORECASE | re.DOTALL,
)
_ONLY_MARKS = re.compile(r"[\s\-‐-―−–—.…?!*_/\\|~•·,:;()\[\]{}]*")


def is_not_found(text: str) -> bool:
    """Whether the text says that there is no answer: "n/a", "—", "Not disclosed.", "I could not find …"."""
    return says_nothing_was_found(text) or bool(len(text) <= _LOOKED_AT and _ABSENT_THING.fullmatch(_bare(text)))


def says_nothing_was_found(text: str) -> bool:
    """As `is_not_found`, but "the warranty is not included" is an answer, as it is to a yes-or-no question."""
    if len(text) > _LOOKED_AT:
        text = text.strip()
        if len(text) > _LOOKED_AT:
            return False
    bare = _bare(text)
    return bare in _SENTINELS or bool(_ONLY_MARKS.fullmatch(bare)) or bool(_ABSENCE.fullmatch(bare))


def _bare(text: str) -> str:
    text = text.strip().strip("*_`\"'“”‘’«»").strip()
    if text[:1] in "([{<" and text[-1:] in ")]}>":
        text = text[1:-1].strip()
    return text.rstrip(".!… ").casefold() or text[:1]
