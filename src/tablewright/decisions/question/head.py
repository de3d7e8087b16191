"""How a question begins decides what kind of answer it wants: all of something, one number, or an explanation."""

from __future__ import annotations

import re

from msgspec import structs

from tablewright.decisions.question.marked import QUOTE, STRUCK, Marked
from tablewright.decisions.question.quantity import (
    OF_ADJECTIVE,
    OF_SUPERLATIVE,
    OF_UNIT_KIND,
    OF_VERB,
    PAPERS_WITH_A_TOTAL,
    of_money,
    quantity,
)
from tablewright.decisions.question.things import Named, is_known, named_at
from tablewright.decisions.question.words import among, is_plural, label, singular, words
from tablewright.table.corpus import Aggregate, Intent, Quantity
from tablewright.table.model import Noun


class Head(Noun, frozen=True):
    """`sure`: the opening alone says what is wanted. Else it is an enumeration only if something is demanded, too."""

    intent: Intent
    thing: Named | None = None
    aggregate: Aggregate = ""
    of: Quantity | None = None
    group_by: str = ""
    subject: str = ""
    sure: bool = True


CONCEPTUAL = Head(intent="conceptual")


def read_head(marked: Marked, kinds: tuple[str, ...], labels: tuple[str, ...]) -> Head:
    """What the question wants. The words that say so are struck out; an explanation is left whole."""
    reader = _Reader(marked, kinds, labels)
    for read in (
        reader.most_of, reader.spent, reader.lookup, reader.count, reader.superlative, reader.sum, reader.listing,
        reader.bare,
    ):  # fmt: skip
        head = read()
        if head:
            return _grouped(marked, head, labels)
    return CONCEPTUAL


_POLITE = re.compile(
    r"\s*(?:(?:please|hi|hello|hey|and|so|ok(?:ay)?|now|then|can you|could you|would you|i want to know|i'd like to "
    r"know|"
    r"tell me|do you know|let me know|i want you to)\b[\s,]*)*",
    re.IGNORECASE,
)
_COUNT = re.compile(r"(?:(?:what(?:'s| is| was)|give(?: me)?|show(?: me)?)\s+)?(?:the\s+)?(?:how many|count(?: of)?|"
    r"number of|"
                    r"total number of|amount of)\b", re.IGNORECASE)  # fmt: skip
_DISTINCT = re.compile(r"\s+(?:different|distinct|unique)\s+", re.IGNORECASE)
_LIST = re.compile(
    r"(?:which|list|show|find|give|get|enumerate|display|name|return|search for|look for|select|filter|i want|i need|"
    r"i am looking for|i'm looking for|looking for|are there(?= any)|do we have(?= any)|is there(?= any)|any|all|every|"
    r"each|what(?!\s*(?:is|are|was|were|'s|does|do|did|if|about|happens|can|should|would|will|kind|"
    r"to)\b))\b(?:\s+me\b)?",
    re.IGNORECASE,
)
_WHAT_ARE = re.compile(r"(?:what|which) (?:are|were)\s+(?:all\s+)?(?:the|our|my|all)\b", re.IGNORECASE)
_EXPLAINS = re.compile(
    r"(?:how (?!many|much|wide|long|tall|high|deep|thick|heavy|old|big|large|fast|expensive|powerful)|why|explain|"
    r"describe|"
    r"what (?:does|do|did|happens?|if|kind|should|can|to|would|will)\b|who\b|where\b|summari[sz]e|compare|"
    r"(?:can|could|should|may|must|do|does|is|are|will|would) (?:i|you|it|we|one|there a)\b)",
    re.IGNORECASE,
)
_CLAUSE = re.compile(
    r"\s*(?:from|with|without|that|which|whose|where|dated|over|above|under|below|between|containing|mentioning|since|"
    r"before|after|at (?:least|most)|in \d|not|who|made|having|costing|weighing|[<>]|\w+er than|more|less|fewer|issued|"
    r"due|signed|paid|for|by|about|including|exceeding|taken|\w{2,}ed|\w{3,}ing)\b",
    re.IGNORECASE,
)


_IN_A_PLACE = re.compile(rf"\s*(?:(?i:in|on|at|of|by|for)\s+(?:the\s+)?(?:[A-Z]|{QUOTE})|\d)")


class _Reader:
    def __init__(self, marked: Marked, kinds: tuple[str, ...], labels: tuple[str, ...]) -> None:
        self.marked, self.kinds, self.labels = marked, kinds, labels
        polite = _POLITE.match(marked.text)
        self.start = polite.end() if polite else 0

    @property
    def text(self) -> str:
        return self.marked.text

    # ── counting and listing ─────────────────────────────────────────────────────────────────────────────────────────

    def count(self) -> Head | None:
        opening = _COUNT.match(self.text, self.start)
        thing = self._thing_at(opening.end()) if opening else None
        if opening is None or thing is None:
            return None
        different = _DISTINCT.match(self.text, opening.end()) is not None
        self.marked.strike(opening.start(), thing.end)
        return Head(intent="enumeration", thing=thing, aggregate="count", group_by=thing.name if different else "")

    def listing(self) -> Head | None:
        opening = _LIST.match(self.text, self.start)
        if opening is None:
            opening = _WHAT_ARE.match(self.text, self.start)
            thing = named_at(self.text, opening.end(), self.kinds) if opening else None
            wanted = thing and (among(thing.name, self.kinds) or (thing.plural and _CLAUSE.match(self.text, thing.end)))
            if not wanted:
                return None
        else:
            thing = self._thing_at(opening.end())
        if opening is None or thing is None:
            return None
        if thing.name in _NOTHING_IN_PARTICULAR:
            return None
        if not thing.plural and not is_known(thing.name, self.kinds) and not _ALL.match(self.text, self.start):
            return None
        self.marked.strike(opening.start(), thing.end)
        return Head(intent="enumeration", thing=thing, sure=is_known(thing.name, self.kinds))

    def _thing_at(self, place: int) -> Named | None:
        """The thing that is named there, or pointed at: "of those"."""
        if those := _OF_THOSE.match(self.text, place):
            return Named(name="those", start=those.start(), end=those.end(), plural=True)
        return named_at(self.text, place, self.kinds)

    def bare(self) -> Head | None:
        """A question of a noun and what it must be: "Modules wider than 1.05 m"."""
        if (
            _EXPLAINS.match(self.text, self.start)
            or re.match(r"(?:what|when|how|who)\b", self.text[self.start :], re.I)
            or _ASKS_LAST.search(self.text, self.start)
        ):
            return None
        thing = named_at(self.text, self.start, self.kinds)
        if thing is None or not (thing.plural or among(thing.name, self.kinds)):
            return None
        known = is_known(thing.name, self.kinds)
        rest = self.text[thing.end :].strip(" .?!")
        if not (known or not rest or _CLAUSE.match(self.text, thing.end) or _IN_A_PLACE.match(self.text, thing.end)):
            return None
        if not known and not rest and all(word.isupper() for word in thing.modifiers) and not self.marked.asides:
            return None  # "DNS settings" are words to search for
        self.marked.strike(self.start, thing.end)
        return Head(intent="enumeration", thing=thing, sure=known)

    # ── aggregates ───────────────────────────────────────────────────────────────────────────────────────────────────

    def sum(self) -> Head | None:
        """ "The sum of the totals of all receipts", "average salary of employees", "the total of all invoices"."""
        found = _SUM.search(self.text, self.start)
        if found is None or found.start() > self.start + 30 or _EXPLAINS.match(self.text, self.start):
            return None
        aggregate: Aggregate = "average" if found["how"].casefold() in ("average", "mean", "avg") else "sum"
        whole = found["how"].casefold() == "total" and found["of"] is not None
        of = named_at(self.text, found.end(), self.kinds)
        if of is None:
            return None
        joint = _OF_THINGS.match(self.text, of.end)
        thing = named_at(self.text, joint.end(), self.kinds) if joint else None
        known = is_known(of.name, self.kinds) or whole
        if of.plural and (among(of.name, self.kinds) or (known and not among(of.name, self.labels))):
            self.marked.strike(self.start, of.end)
            return Head(intent="enumeration", thing=of, aggregate=aggregate, of=self._of("", of.name))
        if thing is not None and thing.plural:
            self.marked.strike(self.start, thing.end)
            return Head(
                intent="enumeration",
                thing=thing,
                aggregate=aggregate,
                of=self._of(self.marked.said(of.start, of.end), thing.name),
            )
        if thing is not None and joint is not None and joint["of"].casefold() != "in":
            return None  # the total of one invoice is a number to look up
        self.marked.strike(self.start, of.end)
        return Head(intent="enumeration", aggregate=aggregate, of=self._of(self.marked.said(of.start, of.end), ""))

    def spent(self) -> Head | None:
        found = _SPENT.match(self.text, self.start)
        if found is None:
            return None
        self.marked.strike(self.start, found.end())
        papers = [kind for kind in self.kinds if kind in PAPERS_WITH_A_TOTAL]
        thing = Named(name=papers[0], start=0, end=0) if len(papers) == 1 else None
        money = Quantity(label=of_money(thing.name if thing else "", self.labels))
        return Head(intent="enumeration", thing=thing, aggregate="sum", of=money)

    def most_of(self) -> Head | None:
        """ "Which merchant has the most receipts?" counts for each merchant."""
        found = _MOST_OF.match(self.text, self.start)
        thing = named_at(self.text, found.end(), self.kinds) if found else None
        if found is None or thing is None or not among(thing.name, self.kinds):
            return None
        self.marked.strike(self.start, thing.end)
        by = singular(label(found["by"]))
        return Head(intent="enumeration", thing=thing, aggregate="count", group_by=by)

    def superlative(self) -> Head | None:
        if _EXPLAINS.match(self.text, self.start) and not self.text[self.start :].casefold().startswith("who"):
            return None
        if not _OPENS.match(self.text, self.start) and not self._begins_with_a_kind():
            return None
        for found in _SUPERLATIVE.finditer(self.text, self.start, self.start + 120):
            of = named_at(self.text, found.end(), self.kinds)
            end = of.end if of else found.end()
            if _COMPARED.match(self.text, end) or (found["how"].casefold() in _NEED_THE and not found["the"]):
                continue
            return self._most(found, of)
        return None

    def _most(self, found: re.Match[str], of: Named | None) -> Head:
        how = " ".join(found["how"].casefold().split())
        extreme, implied = OF_SUPERLATIVE[how]
        thing = self._thing_before(found.start())
        end = of.end if of else found.end()
        name = self.marked.said(of.start, of.end) if of else ""
        if of and implied and (rest := _without(name, implied)) is not None:
            if rest and is_known(singular(rest).casefold(), self.kinds):
                thing = structs.replace(of, name=singular(rest).casefold(), modifiers=())
                name = implied
            elif not rest:
                name = implied
        elif of is None:
            name = implied
        elif implied or self._is_a_thing(of, thing):
            thing, name = of, implied
        if how in ("oldest", "youngest") and thing and thing.head in _PEOPLE:
            extreme, name = ("max" if how == "oldest" else "min"), "age"
        joint = _OF_THINGS.match(self.text, end)
        if joint and thing is None and (among_all := named_at(self.text, joint.end(), self.kinds)) and among_all.plural:
            thing, end = among_all, among_all.end
        self.marked.strike(self.start if found.start() - self.start < 80 else found.start(), end)
        aggregate: Aggregate = "max" if extreme == "max" else "min"
        return Head(
            intent="enumeration", thing=thing, aggregate=aggregate, of=self._of(name, thing.name if thing else "")
        )

    def _begins_with_a_kind(self) -> bool:
        """ "Receipt with the largest total"."""
        thing = named_at(self.text, self.start, self.kinds)
        return thing is not None and is_known(thing.name, self.kinds)

    def _thing_before(self, end: int) -> Named | None:
        opening = _LIST.match(self.text, self.start) or _WHO.match(self.text, self.start)
        place = opening.end() if opening else self.start
        thing = named_at(self.text[:end], place, self.kinds) if place < end else None
        return thing if thing and thing.name not in ("what", "who") else None

    def _is_a_thing(self, of: Named, thing: Named | None) -> bool:
        if thing is not None or (among(of.name, self.labels) and not among(of.name, self.kinds)):
            return False
        return is_known(of.name, self.kinds)

    def _of(self, name: str, things: str) -> Quantity:
        if not name or name.casefold() in ("amount", "value", "sum"):
            name = of_money(things, self.labels) if things in PAPERS_WITH_A_TOTAL or not things else name or "size"
        return quantity(singular(name), self.labels)

    # ── one number ───────────────────────────────────────────────────────────────────────────────────────────────────

    def lookup(self) -> Head | None:
        for pattern in _LOOKUPS:
            found = pattern.match(self.text, self.start)
            if found is None:
                continue
            name, subject = self._asked(found), found["subject"].strip(" ?.!")
            if longer := _LONGER_LABEL.fullmatch(subject):
                name, subject = (f"{name} of {longer['more']}" if name else ""), longer["subject"]
            if (
                not name
                or not subject
                or _MANY.match(subject)
                or is_plural(words(subject)[0] if words(subject) else "")
            ):
                continue
            return Head(intent="numeric", of=quantity(singular(name), self.labels), subject=self._name_in(subject))
        return None

    def _asked(self, found: re.Match[str]) -> str:
        """The label that is looked up: one of the documents', or one that every document might have."""
        parts = found.groupdict()
        if parts.get("how"):
            how = parts["how"].casefold()
            return OF_ADJECTIVE.get(how) or _OF_HOW.get(how, "")
        if parts.get("verb"):
            return OF_VERB.get(parts["verb"].casefold(), "")
        name = label(_WHEN_ASKED.split(parts.get("label") or "")[0])
        if OF_SUPERLATIVE.get(name.split(" ", 1)[0].casefold()) and not among(name, self.labels):
            return ""
        known = among(name, self.labels)
        counted = (parts.get("many") or "").casefold() == "how many"
        return known or (name if counted or _is_measurable(name) else "")

    def _name_in(self, subject: str) -> str:
        """The part of the words that is a name: quoted, with a capital letter or a digit in it."""
        if quoted := re.search(QUOTE, subject):
            return self.marked.phrase(quoted[0])
        found = _NAME.search(subject)
        return found[0].strip() if found else ""


_ASKS_LAST = re.compile(r"\b(?:what|whom)(?:\s+[\w-]+){0,3}\s*\?\s*$", re.IGNORECASE)
"""The edict protected Catholics by discouraging what?"""
_NOTHING_IN_PARTICULAR = frozenset("everything anything something information info details detail".split())
_OF_THOSE = re.compile(r"\s+(?:of\s+)?(?:those|these|them)\b(?!\s+[a-z]+s\b)", re.IGNORECASE)
_ALL = re.compile(r"(?:all|every|each|list|find|show|enumerate)\b", re.IGNORECASE)
_SUM = re.compile(
    r"\b(?P<how>sum|total|combined|overall|average|mean|avg|add up|altogether)\b(?P<of>\s+(?:value\s+)?(?:of|for)\b)?"
    r"(?:\s+(?:the|all|our))*",
    re.IGNORECASE,
)
_OF_THINGS = re.compile(r"\s+(?P<of>of|for|over|across|on|in|from|among|amongst|between)\b", re.IGNORECASE)
_SPENT = re.compile(
    r"(?:how much(?: money)?|what)\s+(?:did|do|have|has|had|was|were)\s+(?:(?:we|i|they|you|the "
    r"company)\s+)?(?:\w+ly\s+|been\s+)?"
    r"(?:spend|spent|pay|paid|invoiced?|charged?|billed?)\b(?:\s+in total)?|(?:the\s+)?total (?:spend|spending|"
    r"expenses?)\b",
    re.IGNORECASE,
)
_MOST_OF = re.compile(
    r"which\s++(?P<by>[\w -]+?)(?<!\s)\s+(?:has|have|had|issued|sent|got)\s+the\s+(?:most|fewest)\s+", re.IGNORECASE
)
_SUPERLATIVE = re.compile(
    rf"(?P<the>\b(?:the|which)\s+)?(?<!at )\b(?P<how>{'|'.join(sorted(OF_SUPERLATIVE, key=len, reverse=True))})"
    r"\b(?!\s+(?:of\b|\d))",
    re.IGNORECASE,
)
_OPENS = re.compile(
    rf"(?:which|what|who|find|list|show|give|name|the|get|tell|{'|'.join(OF_SUPERLATIVE)}|\d+|top)\b", re.IGNORECASE
)
_NEED_THE = frozenset(("most", "least", "max", "min", "maximum", "minimum", "latest", "fewest"))
_COMPARED = re.compile(
    r"\s*(?:above|below|over|under|at (?:least|most)|more than|less than|of (?:at|more|less|over|under|\d)|exceed|"
    r"[<>=≤≥]"
    r"|between \d|(?:is|are|was|were) (?:above|below|at|over|under|more|less|between|\d)|\d)",
    re.IGNORECASE,
)
_WHO = re.compile(r"(?:who|what)(?: (?:is|was|are|has|have))?\b", re.IGNORECASE)
_PEOPLE = frozenset("employee person patient customer member student player worker".split())
_MANY = re.compile(r"(?:(?:the|all|our|my|these|those|every|each)\s+)*(?:all|every|each)\b", re.IGNORECASE)
_NAME = re.compile(
    r"(?:(?:[A-Z][\w&'.+/-]*|[\w-]*\d[\w.+/-]*)(?:\s+(?:of|and|the|&|de|la|von|van)(?=\s+[A-Z]))?\s*)+",
)
_IS = r"(?:is|are|was|were|'s)"
_LOOKUPS = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        rf"(?:what(?:\s*{_IS})|how (?:much|high|large|big|long) {_IS}|give(?: me)?|tell "
        rf"me)\s+(?:the\s+)(?P<label>[^,;?]+?)\s+"
        r"(?:of|for|on|in)\s+(?:the\s+)?(?P<subject>[^,;?]+)",
        rf"what(?:\s*{_IS})\s+(?P<subject>[^,;?]+?)'s\s+(?P<label>[^,;?]+)",
        rf"how (?P<how>wide|long|tall|high|deep|thick|heavy|old|fast|expensive|powerful|large|"
        rf"big)\s+{_IS}\s+(?:the\s+)?"
        r"(?P<subject>[^,;?]+)",
        r"how (?:much|long) (?:does|do|did)\s+(?:the\s+)?(?P<subject>[^,;?]+?)\s+(?P<verb>cost|weigh|earn|last|"
        r"measure)\s*[?.!]*$",
        r"(?P<many>how many|what)\s+(?P<label>[\w -]+?)\s+(?:does|did|has|have|do)\s+(?!we\b|i\b|you\b|they\b|"
        r"there\b)(?:the\s+)?"
        r"(?P<subject>[^,;?]*?(?-i:[A-Z\d])[^,;?]*?)\s+(?:have|has|contain|use|need|offer|provide|deliver|get)\b",
        r"when\s+(?:is|was|does|did|will)\s+(?:the\s+)?(?P<subject>[^,;?]*\d[^,;?]*?)\s+(?P<label>due|issued|signed|"
        r"dated)\b",
    )
)
_LONGER_LABEL = re.compile(r"(?P<more>[\w-]+) (?:of|for) (?:the )?(?P<subject>\S.*)")
_WHEN_ASKED = re.compile(r"\s+(?:in|for|during|as of|at the end of)\s+(?=\S*\d)")
_OF_HOW = {"fast": "speed", "expensive": "price", "powerful": "power", "large": "size", "big": "size"}
_MEASURABLE = frozenset(
    """price cost total amount weight mass width height length depth thickness diameter size area volume power voltage
    current temperature speed pressure energy capacity frequency torque force resistance salary age quantity number
    count rate ratio efficiency range distance duration term balance revenue profit income rent fee tax vat discount
    score percentage share date year rating coefficient density limit load payload subtotal turnover budget wage bonus
    margin expenditure expenses sales assets liabilities debt dose level concentration""".split()
    + list(OF_UNIT_KIND.values())
)


def _is_measurable(name: str) -> bool:
    last = singular(name.casefold()).rpartition(" ")[2]
    first = re.split(r"\s+(?:of|in|at|per|to)\s+", name.casefold())[0].rpartition(" ")[2]
    return last in _MEASURABLE or singular(first) in _MEASURABLE


def _without(name: str, implied: str) -> str | None:
    """What stands before the implied label: "receipt" of "receipt date"; None where it is not named at all."""
    said = name.casefold().split()
    return " ".join(said[:-1]) if said and singular(said[-1]) == implied else None


_GROUPED = re.compile(
    r"(?:,\s*)?\b(?:per|by|for each|for every|grouped by|group by|broken down by|in each|of each)\s+(?:the\s+)?"
    rf"(?P<by>[^\W\d_][\w-]*(?:\s[^\W\d_][\w-]*)?)(?=\s*(?:[?.,;!{STRUCK}]|$|\s(?:in|for|from|since|during|with|that|"
    rf"and)\b))",
)


_DONE_BY = re.compile(r"\b(?:\w+ed|paid|made|sent|written|bought|sold|built|\d\S*\s*\S*)\s*$", re.IGNORECASE)


def _grouped(marked: Marked, head: Head, labels: tuple[str, ...]) -> Head:
    """ "per merchant", "by month"."""
    if not head.aggregate:
        return head
    found = _GROUPED.search(marked.text)
    if found is None or found["by"][0].isupper() or _DONE_BY.search(marked.text, 0, found.start()):
        return head
    marked.strike(found.start(), found.end())
    by = singular(found["by"])
    return structs.replace(head, group_by=among(by, labels) or by.casefold())
