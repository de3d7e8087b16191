"""What is asked for: "solar panels", "receipts", "Monocrystalline modules". The words before the noun belong to its
name or say what the thing must be."""

from __future__ import annotations

import re

from tablewright.decisions.question.marked import Marked
from tablewright.decisions.question.words import ENDS_A_NAME, among, is_plural, same, singular, words
from tablewright.table.corpus import Condition, Quantity, Typed
from tablewright.table.model import Noun

LONGEST = 6

_SKIPPED = re.compile(
    r"\s*(?:(?:all|the|of|every|each|any|our|my|your|their|these|those|different|distinct|unique|me|us|out|up|single|"
    r"other|further|more|also|for|two|three|four|five|ten)\b\s*)*",
    re.IGNORECASE,
)
_NEXT = re.compile(r"\s*([^\W_](?:[\w'&/+-]|\.(?=\w))*)")
_OPTIONS = re.compile(r"\s*(?:,|;|/|\bor\b|\band\b)\s*(?:or\s+|and\s+)?", re.IGNORECASE)
_NOTE = re.compile(
    r"\b(?:same|ignoring|ignore|either|any|all|the|this|these|those|is|are|be|comes?|day|month|year|before|after|not|"
    r"both|only|inclusive|included|excluding|including|orientation|i|we|you|means?|than|to|by|if|in|on|at|of|with)\b|"
    r"[;:?]",
    re.IGNORECASE,
)
_EXAMPLES = re.compile(r"^\s*(?:e\.?g\.?|i\.?e\.?|for example|such as|like|that is|namely)[,:]?\s*", re.IGNORECASE)
_ADJECTIVE = re.compile(
    r"[\w-]+(?:ine|al|ic|ed|able|ible|ous|ive|ful|less|ish|ese|ian|proof|oid|ary|ent|ant|free|powered|phase|sided|"
    r"film)|"
    r"new|used|open|closed|late|paid|sold|sent|broken|lost|done|"
    r"wooden|golden|german|dutch|french|swiss|greek|red|blue|green|yellow|black|white|grey|"
    r"gray|"
    r"orange|purple|brown|pink|silver|cheap|draft|final|male|female|mono|poly|bare|hybrid|smart|steel|plastic|metal|"
    r"aluminium|aluminum|carbon|glass|diesel|petrol|gas",
    re.IGNORECASE,
)
_NAMES_KINDS = frozenset(
    """annual medical rental technical legal financial commercial personal digital general industrial electrical
    mechanical electronic public official original individual available relevant different various recent current
    respective important main entire whole certain specific matching listed following related available indexed stored
    possible additional total final relevant internal external equipment patient client student agent incident event
    department document parent component content accident present recipient payment employment investment shipment
    settlement agreement statement manual journal proposal terminal hospital animal material signal metal deal goal
    known used given named existing existent quarterly monthly weekly daily own real""".split()
)
_GENERIC = frozenset("purchase sales sale data product order customer company business own tax".split())
DOCUMENTS = frozenset(
    """document file record row entry item page receipt invoice contract agreement order bill report letter email e-mail
    mail message datasheet sheet manual quote offer statement certificate policy form slip note article paper""".split()
)
PARTIES = (
    "merchant", "vendor", "supplier", "seller", "company", "store", "shop", "customer", "client", "buyer",
    "manufacturer", "maker", "brand", "sender", "recipient", "author", "party", "employer", "landlord", "tenant",
    "bank", "department", "city", "country", "state", "category", "region", "team", "project", "person", "employee",
    "patient", "firm",
)  # fmt: skip


class Named(Noun, frozen=True):
    """A noun phrase at `start:end`: the name of the thing in the singular, and what the words before it demand."""

    name: str
    start: int
    end: int
    modifiers: tuple[str, ...] = ()
    plural: bool = False

    @property
    def head(self) -> str:
        return self.name.rpartition(" ")[2]


def named_at(text: str, place: int, kinds: tuple[str, ...]) -> Named | None:
    """The noun phrase that begins at `place`, articles aside."""
    skipped = _SKIPPED.match(text, place)
    start = end = skipped.end() if skipped else place
    said: list[str] = []
    while len(said) < LONGEST and (found := _NEXT.match(text, end)):
        word = found[1]
        if word.casefold() in ENDS_A_NAME or word.isdecimal() or (said and is_plural(said[-1]) and not is_plural(word)):
            break
        said.append(word)
        end = found.end()
        if is_plural(word) and among(singular(word), kinds):
            break
    if not said:
        return None
    name, modifiers = _parted(said, text[:start].strip() == "", kinds)
    return Named(name=name, start=start, end=end, modifiers=modifiers, plural=is_plural(said[-1]))


def _parted(said: list[str], opens: bool, kinds: tuple[str, ...]) -> tuple[str, tuple[str, ...]]:
    """The name and its modifiers; the first word of a sentence has a capital letter for no reason."""
    whole = " ".join(said)
    kind = next((kind for kind in sorted(kinds, key=len, reverse=True) if _ends_with(whole, kind)), "")
    before = said[: len(said) - len(words(kind))] if kind else said[:-1]
    modifiers = tuple(
        word for at, word in enumerate(before) if _is_demand(word, opens and at == 0, noun_is_known=bool(kind))
    )
    name = " ".join(word for word in said if word not in modifiers or word == said[-1])
    if kind:
        return kind.casefold(), modifiers
    return singular(name).casefold(), modifiers


def _ends_with(phrase: str, kind: str) -> bool:
    tail = " ".join(phrase.split()[-len(kind.split()) :])
    return same(tail, kind)


def _is_demand(word: str, first: bool, *, noun_is_known: bool) -> bool:
    small = word.casefold()
    if small in _NAMES_KINDS or small in _GENERIC:
        return False
    if noun_is_known or "-" in word[1:-1] or any(letter.isdigit() for letter in word):
        return True
    if any(letter.isupper() for letter in word[1:]):  # ACME, CdTe
        return True
    return bool(_ADJECTIVE.fullmatch(word)) or (word[0].isupper() and not first)


def is_known(name: str, kinds: tuple[str, ...]) -> bool:
    """Whether there are documents of that kind, or it is a kind of document that everybody has."""
    head = name.rpartition(" ")[2]
    return head in DOCUMENTS or any(same(name, kind) or head in kind.casefold().split() for kind in kinds)


def demanded(marked: Marked, thing: Named, labels: tuple[str, ...]) -> list[Condition]:
    """What the words before the noun and a list in parentheses behind it demand: "Thin-film modules (CdTe or CIGS)".

    The list explains the words before it, so that one of all of them is enough."""
    note = next((aside for aside in marked.asides if thing.start <= aside.start <= thing.end + 1), None)
    choices = options(note.text) if note else ()
    said = marked.said(thing.start, note.end if note else thing.end)
    if choices:
        texts = dict.fromkeys((*(word for word in thing.modifiers if not among(word, choices)), *choices))
        return [Condition(of=Quantity(), comparator="contains", values=tuple(map(_text, texts)), words=said)]
    return [is_so(word, labels, said) for word in thing.modifiers]


def options(note: str) -> tuple[str, ...]:
    """The alternatives that a note in parentheses lists; none where it explains something else."""
    note = _EXAMPLES.sub("", note)
    parts = tuple(part.strip() for part in _OPTIONS.split(note) if part.strip())
    plain = all(len(part.split()) <= 3 and not part.isdecimal() for part in parts)
    return parts if parts and plain and not _NOTE.search(note.replace(" or ", " ")) else ()


def is_so(word: str, labels: tuple[str, ...], said: str, *, wanted: bool = True) -> Condition:
    """A thing that is "bifacial": where the documents have such a label it must say yes, else the word must stand."""
    if (known := among(word, labels)) and (_ADJECTIVE.fullmatch(word) or not wanted):
        value = Typed(raw="yes" if wanted else "no", truth=wanted)
        return Condition(of=Quantity(label=known), comparator="=", values=(value,), words=said)
    return Condition(of=Quantity(), comparator="contains" if wanted else "!=", values=(_text(word),), words=said)


def _text(raw: str) -> Typed:
    return Typed(raw=raw)
