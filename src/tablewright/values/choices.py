"""Read booleans, one of several options, and lists.

Each reader returns a value, a label, a reason if the label is not "high", and the text that the value does not keep.

Lists are JSON, "a; b", lines, bullets, numbers, or commas; they read back what `text.format_list` writes. Their readers
pass over the text once and lose no letter. Reads text only.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Iterable, Sequence
from functools import lru_cache
from itertools import pairwise

from tablewright.domain.model import Label
from tablewright.values.answers import ReadValue, find_removed_around, keep_worded_parts

# ── yes or no ────────────────────────────────────────────────────────────────────────────────────────────────────────

# Words that say yes or no by themselves, each with True if it says nothing else: "on" and "available" only mean yes.
_TRUTH_WORDS: dict[str, tuple[bool, bool]] = {
    **dict.fromkeys("yes true 1 y t 1.0".split(), (True, True)),
    **dict.fromkeys("no false 0 n f 0.0".split(), (False, True)),
    **dict.fromkeys(
        """
        ✓ ✔ ☑ ✅ √ 👍 on ok okay yep yeah yup sure definitely certainly absolutely correct affirmative indeed positive
        present supported included available enabled active required possible allowed permitted standard si sí oui ja da
        tak sim hai
        vrai verdadero wahr vero verdadeiro はい 是 да да́ 예 네 evet igen áno ano kyllä confirmed yes! always
        """.split(),
        (True, False),
    ),
    **dict.fromkeys(
        """
        ✗ ✘ ✕ ✖ ☒ ❌ × 👎 off nope nah never negative incorrect absent unsupported excluded disabled inactive impossible
        forbidden prohibited without nein non nee nej nei não nie ne нет faux falso falsch
        いいえ 否 不是 아니요 hayır nem ei
        """.split(),
        (False, False),
    ),
}
# Small words that deny their neighbours. They only ever prevent a value from counting as proved.
NEGATIONS = frozenset(
    """
    not no non never none nor neither cannot without nicht kein keine keinen nie ohne ne pas jamais sans ni nunca sin
    niet geen nooit zonder ikke ingen inte não nem sem mai senza не нет без
    """.split()
)
_HAS = (
    r"(?:support(?:s|ed)?|includ(?:es?|ed)|available|enabled|present|required|possible|allowed|permitted|offer(?:s|ed)?"
    r"|provid(?:es?|ed)|active|certified|compatible|equipped|featured?|compliant|have|has|accept(?:s|ed)?|true)"
)
_HAS_NOT = re.compile(
    rf"\b(?:not|no longer|never)\b(?:\s+\w+){{0,2}}?\s+{_HAS}\b|\b\w+n't\b|\bcannot\b"
    r"|\b(?:lacks?|lacking|without|unsupported|unavailable|excluded|discontinued)\b"
    r"|\b(?:is|are|was|were|does|do|has|have|can|will) not\b",
    re.IGNORECASE,
)
_DOES = re.compile(
    rf"\b(?:is|are|was|has|have|does|do|it|they|fully|comes|also)\b(?:\s+\w+){{0,2}}?\s+{_HAS}\b"
    rf"|^\s*(?:\w+ly\s+)?{_HAS}\b"
    r"|^\s*(?:it|they|this)\s(?:is|are|does|do|has|have|can)\b",
    re.IGNORECASE,
)


def read_plain_boolean(text: str) -> bool | None:
    """Return a boolean that is written as such: alone, or before a separate remark ("Yes, in all sizes"). None for a
    sentence, whatever it says."""
    opening = re.match(r"\s*([^\W\d_]+)\s?[,;:.(–—-]", text)
    for word in (_strip_marks(text), opening[1].casefold() if opening else ""):
        if word in _TRUTH_WORDS:
            return _TRUTH_WORDS[word][0]
    return None


def _strip_marks(text: str) -> str:
    return text.strip().strip("*_`\"'“”.!()[] ").casefold()


def read_boolean(text: str) -> ReadValue[bool]:
    """Return yes or no. The label is high for a clear word, medium for a sentence or a synonym, low with
    reservations."""
    bare = _strip_marks(text)
    if bare in _TRUTH_WORDS:
        truth, is_plain = _TRUTH_WORDS[bare]
        return (
            ReadValue(truth) if is_plain else ReadValue(truth, "medium", f"{bare} read as {'yes' if truth else 'no'}")
        )
    removed = keep_worded_parts(text)
    text = text[:400].replace("’", "'")
    torn = re.search(
        r"\b(?:partial(?:ly)?|partly|depends?|depending|sometimes|maybe|perhaps|possibly|varies|mixed|both|limited"
        r"|optional(?:ly)?|it(?:'s| is) (?:complicated|unclear|possible)"
        r"|(?P<both>(?:yes|true)(?: and | or | ?/ ?)(?:no|false)|(?:no|false)(?: and | or | ?/ ?)(?:yes|true)|y/n|t/f)"
        r"|in some (?:cases|models|versions))\b",
        text[:120],
        re.IGNORECASE,
    )
    leaning = _infer_boolean(text)
    if torn and torn["both"]:
        return ReadValue(None, "none", "says both yes and no")
    if leaning is None:
        return ReadValue(None, "none", f"{torn[0].casefold()}: neither yes nor no" if torn else "neither yes nor no")
    if torn:
        return ReadValue(leaning, "low", f"only with reservations: {torn[0].casefold()}", removed)
    return ReadValue(leaning, "medium", f"{'yes' if leaning else 'no'}, read from a sentence", removed)


def _infer_boolean(text: str) -> bool | None:
    first = re.search(r"[\w✓✔☑✅√👍✗✘✕✖☒❌👎]+", text)
    if first and not text[: first.start()].strip(" *_`\"'"):
        word = first[0].casefold()
        means, is_plain = _TRUTH_WORDS.get(word, (None, False))
        if word in ("yes", "true", "y") or (means and not is_plain and not _HAS_NOT.search(text)):
            return True
        is_no = word in ("no", "false", "n", "nope", "nein", "non") and not text[len(word) :].lstrip().startswith(
            "doubt"
        )
        if is_no or (means is False and not is_plain):
            return False
    if _HAS_NOT.search(text):
        return False
    return True if _DOES.search(text) else None


# ── one of several options ───────────────────────────────────────────────────────────────────────────────────────────


def read_option(text: str, options: tuple[str, ...]) -> ReadValue[str]:
    """Return the option the text names: exactly (high), inside other words (medium), or one of several named (low)."""
    exact = find_exact_option(text.strip(" .!,;:"), options) or find_exact_option(text, options)
    if exact is not None:
        return ReadValue(exact)
    words = _option_words(text[:4000])
    spans = sorted(_find_option_spans(words, options), key=lambda span: (-(span[1] - span[0]), span[0]))
    kept: list[tuple[int, int, str]] = []
    for span in spans:
        if all(span[1] <= other[0] or other[1] <= span[0] for other in kept):
            kept.append(span)
    named = {option for _, _, option in kept}
    if len(named) == 1:
        (option,) = named
        return ReadValue(option, "medium", f"{option} is named in the text", find_removed_around(text, option))
    if named:
        first = min(kept)[2]
        reason = f"several options are named: {', '.join(sorted(named)[:4])}"
        return ReadValue(first, "low", reason, find_removed_around(text, first))
    shortened = [option for option in options if words and _abbreviates_option(words, _option_words(option))]
    if len(shortened) == 1:
        return ReadValue(shortened[0], "medium", f"{' '.join(text.split())} read as {shortened[0]}")
    # A short answer that is none of the options may still be a value; a sentence is not.
    if len(text) <= 40 and len(text.split()) <= 5 and "\n" not in text:
        return ReadValue(text, "low", "none of the options")
    return ReadValue(None, "none", "none of the options, and too long to be one")


def find_exact_option(text: str, options: tuple[str, ...]) -> str | None:
    """Return the option that equals the text, preferring the same case, or None."""
    if text in options and text:
        return text
    return _index_options(options).get(text.strip().casefold())


@lru_cache(maxsize=256)
def _index_options(options: tuple[str, ...]) -> dict[str, str]:
    return {option.strip().casefold(): option for option in reversed(options) if option.strip()}


@lru_cache(maxsize=4096)
def _option_words(text: str) -> tuple[str, ...]:
    """Return the words in lower case without accents and punctuation. + and # are kept, since C, C++ and C# differ."""
    flat = unicodedata.normalize("NFKD", text.casefold())
    flat = "".join(mark for mark in flat if not unicodedata.combining(mark)).replace("'", "").replace("&", " and ")
    return tuple(re.findall(r"[^\W_]+[+#]*", flat))


def _find_option_spans(words: tuple[str, ...], options: tuple[str, ...]) -> list[tuple[int, int, str]]:
    """Return where options occur in the text, by whole words: "Software" is not in "Softwares", nor "no" in "not"."""
    places: dict[str, list[int]] = {}
    for place, word in enumerate(words):
        if place == 0 or words[place - 1] not in {"not", "non", "never", "except", "isnt", "neither", "nor"}:
            places.setdefault(word, []).append(place)
    found = []
    for option in options:
        wanted = _option_words(option)
        for place in places.get(wanted[0], ()) if wanted else ():
            if words[place : place + len(wanted)] == wanted:
                found.append((place, place + len(wanted), option))
                break
    return found


def _abbreviates_option(words: tuple[str, ...], option: tuple[str, ...]) -> bool:
    """Return True for some words of a longer option ("Health" of "Health Care"), or the option up to a plural or a
    letter."""
    if "".join(words) == "".join(option):
        # "healthcare" is "Health Care".
        return True
    if len(words) < len(option):
        return any(option[place : place + len(words)] == words for place in range(len(option)))
    if len(words) != len(option):
        return False
    return all(_is_nearly_word(left, right) for left, right in zip(words, option, strict=True))


def _is_nearly_word(left: str, right: str) -> bool:
    if left == right:
        return True
    short, long = sorted((left, right), key=len)
    if len(short) < 4 or not short.isalpha() or not long.isalpha():
        return False
    return long in (f"{short}s", f"{short}es") or _differs_by_one_letter(short, long)


def _differs_by_one_letter(short: str, long: str) -> bool:
    """Return True if one letter is missing, added or exchanged, in words long enough to be hardly other words."""
    # Shorter words with one other letter are often different words, such as "house" and "mouse".
    if len(short) < 6 or len(long) - len(short) > 1:
        return False
    same = next((place for place, mark in enumerate(short) if mark != long[place]), len(short))
    return short[same + (len(short) == len(long)) :] == long[same + 1 :]


_BULLET = re.compile(r"\s{0,40}[-*•◦‣▪●·–—]\s+")
_COMMA = re.compile(r",(?!\d{3}(?!\d))\s*|，|、")


def read_list(text: str) -> ReadValue[tuple[str, ...]]:
    """Return the items of a text. Splitting at commas is a guess, so it is medium."""
    text = text.strip()
    if text.startswith("[") and text.endswith("]"):
        if (read := read_json_list(text)) is not None:
            return read
        parts = [part.strip().strip("'\"") for part in _COMMA.split(text[1:-1])]
        return normalize_items(parts, label="medium", reason="brackets that are not JSON")
    lines = [line for line in re.split(r"[\r\n]", text) if line.strip()]
    if len(lines) > 1:
        return _read_lines_as_list(lines)
    text = lines[0] if lines else ""
    if mark := next((mark for mark in ";；" if mark in text), ""):
        return normalize_items(text.split(mark))
    if " | " in text or " • " in text or " · " in text:
        return normalize_items(re.split(r"\s[|•·]\s", _strip_bullet(text)))
    if _COMMA.search(text):
        return _split_at_commas(text)
    return normalize_items([_strip_bullet(text)])


def normalize_items(
    items: Iterable[str], removed: Sequence[str] = (), *, label: Label = "high", reason: str = ""
) -> ReadValue[tuple[str, ...]]:
    """Return the items trimmed, without empty and repeated ones (ignoring case)."""
    kept: dict[str, str] = {}
    repeated: list[str] = []
    for item in items:
        if not (item := item.strip()):
            continue
        if (folded := item.casefold()) in kept:
            repeated.append(item)
        else:
            kept[folded] = item
    if not kept:
        return ReadValue(None, "none", "no items")
    return ReadValue(tuple(kept.values()), label, reason, keep_worded_parts(*removed, *repeated))


def read_json_list(text: str) -> ReadValue[tuple[str, ...]] | None:
    """Return the items of a JSON array of plain values, or None. Numbers keep their spelling."""
    text = text.strip()
    if not (text.startswith("[") and text.endswith("]")):
        return None
    try:
        found = json.loads(text, parse_int=str, parse_float=str, parse_constant=str)
    except (ValueError, RecursionError):
        return None
    if not isinstance(found, list) or any(isinstance(item, list | dict) for item in found):
        return None
    nulls = ["null"] * found.count(None)
    read = normalize_items(
        (item if isinstance(item, str) else json.dumps(item) for item in found if item is not None), nulls
    )
    return read if read.value else ReadValue((), removed=tuple(nulls))


def _strip_bullet(text: str) -> str:
    """Return the text without a leading bullet. A number or letter before a single item may be part of a name."""
    bullet = _BULLET.match(text)
    return text[bullet.end() :] if bullet else text


def _read_lines_as_list(lines: list[str]) -> ReadValue[tuple[str, ...]]:
    bullets = [_BULLET.match(line) for line in lines]
    numbers = [re.match(r"\s{0,40}\(?(?:(?P<number>\d{1,3})|(?P<letter>[a-z]))[.)]\s+", line) for line in lines]
    if not _is_numbered_in_order([number for number in numbers if number]):
        numbers = [None] * len(lines)
    marks = [bullet or number for bullet, number in zip(bullets, numbers, strict=True)]
    is_lead = re.fullmatch(r"[^\n;]{0,120}:\s*", lines[0]) is not None
    marked = [(line, mark) for line, mark in zip(lines, marks, strict=True) if mark]
    if marked:
        unmarked = [line for line, mark in zip(lines, marks, strict=True) if not mark]
        has_lead = is_lead or marks[0] is not None
        is_sure = has_lead and len(unmarked) <= 1
        return normalize_items(
            [line[mark.end() :] for line, mark in marked],
            label="high" if is_sure else "medium",
            reason="" if is_sure else "lines without a bullet left out",
            removed=[*unmarked, *(mark[0] for _, mark in marked)],
        )
    lead = lines[:1] if len(lines) > 2 and is_lead else []
    return normalize_items((line.strip().rstrip(",;") for line in lines[len(lead) :]), removed=lead)


def _is_numbered_in_order(marks: Sequence[re.Match[str]]) -> bool:
    """Return True if the lines are numbered 1, 2, 3 or a, b, c; else a number before a line belongs to it: "1. FC"."""
    # Places of letters are a thousand apart: they cannot be mistaken for numbers, which have at most three digits.
    places = [int(mark["number"]) if mark["number"] else 1_000 * ord(mark["letter"]) for mark in marks]
    steps = {after - before for before, after in pairwise(places)}
    return steps in ({1}, {1_000})


def _split_at_commas(text: str) -> ReadValue[tuple[str, ...]]:
    """Split "a, b and c". Brackets, thousands and suffixes such as ", Inc." are kept together."""
    parts: list[str] = []
    depth = start = 0
    # Words such as "Inc." after a comma do not begin another item.
    for mark in re.finditer(
        r"(?P<opens>[(\[{])|(?P<closes>[)\]}])"
        r"|(?P<comma>(?:(?<=\d),(?!\d{3}(?!\d))|(?<!\d),)"
        r"(?!\s{0,10}(?:inc|llc|ltd|corp|co|jr|sr|ph\.?d|m\.?d|gmbh|s\.a|plc|esq)\b\.?(?=\s*+(?:,|$)))|[，、])",
        text,
        re.IGNORECASE,
    ):
        if mark["opens"]:
            depth += 1
        elif mark["closes"]:
            depth = max(0, depth - 1)
        elif depth == 0:
            parts.append(text[start : mark.start()])
            start = mark.end()
    last = text[start:].strip()
    removed: list[str] = []
    if parts and (joint := re.match(r"(?:and|or|&|und|et|y|e|och|og|en)\s+", last, re.IGNORECASE)):
        removed.append(joint[0])
        parts.append(last[joint.end() :])
    elif parts and (joint := re.search(r"(?<=\S)\s++(?:and|or|&|und|et|y)\s++(?=\S)", last, re.IGNORECASE)):
        removed.append(joint[0])
        parts += [last[: joint.start()], last[joint.end() :]]
    else:
        parts.append(last)
    return normalize_items(parts, label="medium", reason="split at commas", removed=removed)
