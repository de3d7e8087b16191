"""Characters, sentences and words of a text, as readers, searches and citations compare them.

Characters that no reader sees are how text is smuggled past a reader: none of them reaches the stored text.
"""

from __future__ import annotations

import codecs
import re
import threading
import unicodedata
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import cast

from Stemmer import Stemmer

from tablewright.domain.model import Struct
from tablewright.domain.rowkey import fold_text


class TextLimits(Struct, frozen=True):
    line_characters: int = 4_000
    # The part of a page that is split into sentences: it bounds time and memory.
    page_characters: int = 400_000


TEXT_LIMITS = TextLimits()

# A joiner belongs to the spelling between letters of the scripts that join or stack, and between emoji that are shown
# as one; elsewhere it is invisible.
_JOINING = "[\u0600-\u109f\u1780-\u17ff\u2600-\u27bf\U0001f300-\U0001faff]"
_UNSEEN = re.compile(
    "["
    r"\x00-\x08\x0e-\x1f\x7f-\x84\x86-\x9f"  # controls
    r"\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b\u200e\u200f"  # soft hyphen, fillers
    r"\u2060-\u206f\u3164"
    r"\u202a-\u202e"  # bidi embeddings and overrides
    r"\ud800-\udfff\ufeff\uffa0\ufff9-\ufffb\ufffe\uffff"
    r"\ue000-\uf8ff\U000f0000-\U0010ffff"  # private use: the glyphs of icon fonts
    r"\ufe00-\ufe0f\U000e0000-\U000e0fff"  # variation selectors and tags carry hidden bytes
    f"]+|(?<!{_JOINING})[\u200c\u200d]+|[\u200c\u200d]+(?!{_JOINING})"
)
_TO_SPACE = str.maketrans(
    dict.fromkeys(
        "\t\x0b\x0c\x85\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u202f\u205f\u3000",
        " ",
    )
    | {"\u2028": "\n", "\u2029": "\n"}
)


def remove_invisible(text: str) -> str:
    """Return the text without invisible characters, with plain spaces, composed (NFC)."""
    if text.isascii() and text.isprintable():
        return text
    text = _UNSEEN.sub("", text).translate(_TO_SPACE)
    return text if text.isascii() else unicodedata.normalize("NFC", text)


def clean_one_line(text: str) -> str:
    text = " ".join(text.split())
    return text if text.isascii() and text.isprintable() else " ".join(remove_invisible(text).split())


def normalize_lines(text: str) -> str:
    """Return the visible lines, with collapsed spaces and without empty ones."""
    collapsed = (
        " ".join(line.split()) for line in remove_invisible(text.replace("\r\n", "\n").replace("\r", "\n")).split("\n")
    )
    return "\n".join(part for line in collapsed if line for part in break_long_line(line))


def break_long_line(line: str) -> Iterator[str]:
    """Yield parts of bounded length, broken at spaces. Only programs write longer lines."""
    while len(line) > TEXT_LIMITS.line_characters:
        at = line.rfind(" ", 1, TEXT_LIMITS.line_characters)
        at = at if at > 0 else TEXT_LIMITS.line_characters
        yield line[:at]
        line = line[at:].lstrip(" ")
    yield line


# ── personal data ────────────────────────────────────────────────────────────────────────────────────────────────────


_PERSONAL_DATA = re.compile(
    r"[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63})+"
    r"|\b[A-Z]{2}\d{2}(?:\s?[A-Z0-9]{4}){3,7}(?:\s?[A-Z0-9]{1,3})?\b"  # IBAN
    r"|(?<![\w.,])\+?\(?\d(?:[\s()/-]{0,2}\d){8,18}(?![\w.,]\d)"  # telephone, card and account numbers
)
# A street with its number; goods are named alike ("12 Speed Road bike"), so the street must end its clause.
_POSTAL_ADDRESS = re.compile(
    r"\b\d{1,5}[a-zA-Z]?,? (?:[A-Z][\w'’.-]{0,30} ){1,4}"
    r"(?:Street|St|Road|Rd|Avenue|Ave|Lane|Ln|Boulevard|Blvd|Crescent)\b\.?(?=\s{0,5}(?:[,;.!?\n]|$))"
    r"(?:,? ?(?:[A-Z][\w'’-]{1,30},? ){0,4}(?:[A-Z]{1,2}\d[A-Z\d]? \d[A-Z]{2}|[A-Z]{2} \d{5}(?:-\d{4})?)\b)?"
    r"|\b[A-ZÀ-Þ][\w'’.-]{1,40} \d{1,4} ?[a-z]?, ?\d{4,5} [A-ZÀ-Þ][\w-]{1,40}"  # Lange Gasse 12, 12345 Ort
)


def remove_personal_data(text: str) -> str:
    return " ".join(_PERSONAL_DATA.sub(" ", text).split())


def hide_personal_data(text: str) -> str:
    """Return what a person typed with "…" for e-mail and postal addresses, telephone, card and account numbers."""
    return _POSTAL_ADDRESS.sub("…", _PERSONAL_DATA.sub("…", text))


# Between the cells of a row of a table.
CELL_SEPARATOR = " | "


class PageSentence(Struct, frozen=True):
    """A sentence at `start`; `number` counts from the beginning of the page."""

    text: str
    start: int
    number: int

    @property
    def end(self) -> int:
        return self.start + len(self.text)


# ── sentences ────────────────────────────────────────────────────────────────────────────────────────────────────────

_SENTENCE_END = re.compile(
    r"[.!?…。！？]['\"”’)\]]*(?:\[\d+\])*\s{1,20}(?=[\"“'‘(\[]{0,2}[A-ZÀ-ÞА-ЯΑ-Ω0-9\u0900-\uffff])"
    r"|(?<!\n)\n(?:[^\S\n]*+\n)++"  # an empty line
)
_ABBREVIATION = re.compile(
    r"(?:\b(?:Inc|Corp|Ltd|Co|Cos|Bros|St|Mt|Ft|Dr|Mr|Mrs|Ms|Jr|Sr|No|Nos|vs|v|Gov|Sen|Rep|Gen|Col|Capt|Lt|Prof|Rev|Hon"
    r"|approx|ca|c|est|b|d|fl|Vol|vol|pp|p|ed|eds|Ave|Blvd|Rd|Jan|Feb|Mar|Apr|Jun|Jul|Aug|Sept|Sep|Oct|Nov|Dec|e\.g"
    r"|i\.e|etc|U\.S|U\.K|D\.C|a\.m|p\.m)|\b[A-Z]|(?:\b[A-Z]\.){1,6}[A-Z])\.$"
)


def split_sentences(text: str) -> Iterator[tuple[int, int]]:
    """Yield where each sentence begins and ends, without the space around it. A line that is broken to fit goes on."""
    start = 0
    for end in (*_SENTENCE_END.finditer(text), None):
        if end is not None and _ABBREVIATION.search(text, max(start, end.start() - 12), end.start() + 1):
            continue
        stop = end.end() if end is not None else len(text)
        if piece := text[start:stop].strip():
            begin = text.index(piece[0], start)
            yield begin, begin + len(piece)
        start = stop


@lru_cache(maxsize=128)
def page_sentences(text: str) -> tuple[PageSentence, ...]:
    """Return the sentences of a page, on which none goes on in the next line, without the rows of its tables."""
    found = (
        (start, line, split_sentences(line))
        for line, start in _split_nonempty_lines(text)
        if CELL_SEPARATOR not in line
    )
    pieces = ((line[begin:end], at + begin) for at, line, spans in found for begin, end in spans)
    return tuple(PageSentence(text=said, start=start, number=number) for number, (said, start) in enumerate(pieces))


@lru_cache(maxsize=128)
def page_pieces(text: str) -> tuple[tuple[int, int], ...]:
    """Return where each sentence, then where each row of a table begins and ends."""
    rows = ((start, start + len(line)) for line, start in _split_nonempty_lines(text) if CELL_SEPARATOR in line)
    return (*((each.start, each.end) for each in page_sentences(text)), *rows)


def _split_nonempty_lines(text: str) -> Iterator[tuple[str, int]]:
    start = 0
    for line in text[: TEXT_LIMITS.page_characters].split("\n"):
        if stripped := line.strip():
            yield stripped, start + line.index(stripped[0])
        start += len(line) + 1


# ── words without their endings ──────────────────────────────────────────────────────────────────────────────────────

SMALL_WORDS = frozenset(
    """a an and any about also are as at be been being but by can could did do does for from had has have he her his how
    i if in into is it its many me much my not of on or our s she should so some such than that the their them then
    there these they this those to t us was we were what when where which who whom whose why will with would you your
    please find give list show tell explain describe""".split()
)
_ENDINGS = tuple(
    (ending, len(ending) + least)
    for ending, least in (
        ("ations", 4), ("ation", 4), ("ities", 4), ("ments", 4), ("ings", 4), ("ment", 4), ("ness", 4), ("ing", 4),
        ("ity", 4), ("age", 4), ("ies", 3), ("ied", 3), ("ion", 4), ("ers", 4), ("ed", 3), ("es", 3), ("er", 4),
        ("ly", 4), ("al", 4), ("s", 3), ("e", 3), ("y", 3),
    )
)  # fmt: skip
_FORMS = dict(
    form.split("=")
    for form in """began=begin begun=begin wrote=writ written=writ built=build made=mak led=lead held=hold won=win
    lost=los left=leav became=becom took=tak taken=tak gave=giv given=giv fought=fight grew=grow grown=grow knew=know
    known=know sold=sell told=tell said=say went=go gone=go came=com fell=fall fallen=fall died=di death=di dead=di
    chose=choos chosen=choos spoke=speak spoken=speak born=birth ran=run saw=see seen=see men=man women=woman
    children=child people=person paid=pay bought=buy kept=keep sent=send spent=spend meant=mean met=meet brought=bring
    taught=teach thought=think caught=catch drew=draw drawn=draw flew=fly broke=break broken=break rose=ris risen=ris
    stood=stand feet=foot""".split()
)


_LOCAL = threading.local()


@lru_cache(maxsize=200_000)
def porter_stem(word: str) -> str:
    """Return the Porter stem: "connect" for "connected" and "connections". Words of other alphabets are kept."""
    if len(word) < 3 or not (word.isascii() and word.isalpha()):
        return word
    # A stemmer is not safe to share between threads.
    if not hasattr(_LOCAL, "porter"):
        _LOCAL.porter = Stemmer("porter")
    return cast("str", _LOCAL.porter.stemWord(word))


def word_roots(text: str, *, telling: bool = False) -> list[str]:
    """Return the words of a text in order, without their endings; with `telling`, without small words."""
    return [
        word_root(word)
        for word in re.findall(r"[^\W_]+(?:['’][^\W_]+)?", fold_text(text))
        if not (telling and word in SMALL_WORDS)
    ]


@lru_cache(maxsize=65_536)
def word_root(word: str) -> str:
    """Return a word without its ending, so that its forms are equal: "founded", "founding" and "founder".

    A stemmer keeps "founder" apart, as a search should; a reader that matches "Founder" to "was founded by" must not.
    With `porter_stem` in its place the built-in reader finds a twentieth less of what is asked in other words.
    """
    word = re.sub(r"['’]s?$", "", word)
    if word in _FORMS:
        return _FORMS[word]
    return next(
        (word[: -len(ending)] for ending, least in _ENDINGS if word.endswith(ending) and len(word) >= least), word
    )


# ── words as the search of documents compares them ───────────────────────────────────────────────────────────────────

# Chinese and Japanese are written without spaces: each character is a word, and words that belong together a phrase.
_UNSPACED = "\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff"
_SEARCH_WORD = re.compile(rf"[{_UNSPACED}]|[^\W_{_UNSPACED}]+")
_QUOTED = re.compile(r'["“”„«»]([^"“”„«»]+)["“”„«»]')

FUNCTION_WORDS = frozenset(
    """a about above after again all also am an and any are as at be because been before being below between both but
    by can could did do does doing down during each few for from further had has have having he her here hers him his
    how i if in into is it its itself just me more most my myself no nor not of off on once only or other our ours out
    over own same she should so some such than that the their theirs them then there these they this those through to
    too under until up very was we were what when where which while who whom why will with would you your
    yours""".split()
)


def stem_words(text: str) -> list[str]:
    """Return the stems of all words, in order."""
    return [porter_stem(word) for word in _SEARCH_WORD.findall(fold_accents(text))]


def fold_accents(text: str) -> str:
    if text.isascii():
        return text.lower()
    return unicodedata.normalize("NFC", re.sub("[\u0300-\u036f]", "", unicodedata.normalize("NFKD", text))).casefold()


def content_stems(text: str) -> list[str]:
    """Return the stems of all words except function words, unless there are no others."""
    plain = _SEARCH_WORD.findall(fold_accents(text))
    return [porter_stem(word) for word in plain if word not in FUNCTION_WORDS] or [porter_stem(word) for word in plain]


def count_common_words(texts: Sequence[str]) -> list[Counter[str]]:
    """Return how often each text has the stems of the words that another of them has too. What is only in one is passed
    over before it costs a stem."""
    plain = [Counter(_SEARCH_WORD.findall(fold_accents(text))) for text in texts]
    shared = {word for word, count in Counter(word for each in plain for word in each).items() if count > 1}
    found = []
    for each in plain:
        stems: Counter[str] = Counter()
        for word in each.keys() & shared:
            stems[porter_stem(word)] += each[word]
        found.append(stems)
    return found


def split_phrases(words: str) -> list[list[str]]:
    """Return what a text must hold, each a run of words: what is quoted; and every other word, for "SRP-375" is two."""
    quoted = [stem_words(match) for match in _QUOTED.findall(words)]
    return [phrase for phrase in (*quoted, *map(stem_words, _QUOTED.sub(" ", words).split())) if phrase]


def contains_word_run(text: Sequence[str], phrase: Sequence[str]) -> bool:
    """Return True if the words of the phrase are in the text one after the other; a phrase has a word at least."""
    if len(phrase) == 1:
        return phrase[0] in text
    first, length = phrase[0], len(phrase)
    return any(word == first and text[at : at + length] == phrase for at, word in enumerate(text))


# ── bytes that may be text ──────────────────────────────────────────────────────────────────────────────────────────


def find_byte_order_mark(head: bytes) -> tuple[bytes, str]:
    """Return the byte-order mark and its codec, both empty if there is none."""
    # UTF-32 first: its little-endian mark begins with that of UTF-16.
    marks = (
        (codecs.BOM_UTF32_LE, "utf-32-le"),
        (codecs.BOM_UTF32_BE, "utf-32-be"),
        (codecs.BOM_UTF8, "utf-8"),
        (codecs.BOM_UTF16_LE, "utf-16-le"),
        (codecs.BOM_UTF16_BE, "utf-16-be"),
    )
    return next(((mark, codec) for mark, codec in marks if head.startswith(mark)), (b"", ""))


def is_utf8(head: bytes) -> bool:
    """Return True if these bytes are the beginning of UTF-8 text."""
    try:
        codecs.getincrementaldecoder("utf-8")().decode(head)
    except UnicodeDecodeError:
        return False
    return True


def detect_unmarked_utf16(head: bytes) -> str | None:
    """Return the codec of UTF-16 without a byte-order mark, or None. Its ASCII characters, at least separators and line
    ends, put a NUL into every second byte. UTF-8 with a few NULs is damaged, not UTF-16."""
    even, odd = head[0::2].count(0), head[1::2].count(0)
    codec = "utf-16-le" if odd > even else "utf-16-be"
    many, few = max(even, odd), min(even, odd)
    # Bytes that text never holds; NUL is judged apart, as UTF-16 is full of it.
    plain = is_utf8(head) and not re.search(rb"[\x01-\x08\x0e-\x1f\x7f]", head)
    # A quarter of NULs where the rest is clean ASCII, 2 % where other letters stand between; UTF-16 has them on one
    # side only, so more than a fifth as many on the other side mean binary data.
    if many * (4 if plain else 50) < len(head) or few * 5 > many:
        return None
    sample = head[: len(head) // 2 * 2].decode(codec, "replace")
    odd_ones = sum(1 for char in sample if char == "\ufffd" or (char < " " and char not in "\t\r\n\x0b\x0c"))
    # Up to 2 % of odd characters is damage in a text; more means that it was none.
    return codec if odd_ones * 50 <= len(sample) else None
