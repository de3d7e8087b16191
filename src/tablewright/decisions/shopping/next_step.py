"""What somebody wants next, read by rule: the plainest intents first."""

from __future__ import annotations

import re
from typing import Any

from msgspec import structs

from tablewright.decisions.question.marked import tidy
from tablewright.decisions.question.words import same, singular
from tablewright.decisions.shopping import phrasings as said
from tablewright.decisions.shopping.column_names import asked_names
from tablewright.decisions.shopping.known import category_of, field_named, field_with_value, head_noun
from tablewright.decisions.shopping.mentions import (
    as_name,
    columns_in,
    name_in,
    named_in,
    products_in,
    unknown_columns_in,
)
from tablewright.table.measures import read_measures
from tablewright.table.model import Noun
from tablewright.table.money_text import read_amounts
from tablewright.table.shortlist import Intent, Requirements
from tablewright.text.words import normal, stems

SURE = 0.9
LIKELY = 0.75
GUESSED = 0.5
KEY_COLUMN = "Product"
LONGEST = 600


class ClassifyIntent(Noun, frozen=True):
    """`products` are the names in the table, `fields` its columns, `shown` the top five in order; `history` is what was
    said before, the newest last."""

    message: str
    requirements: Requirements
    products: tuple[str, ...]
    fields: tuple[str, ...]
    shown: tuple[str, ...]
    history: tuple[str, ...] = ()


class IntentRead(Noun, frozen=True):
    """`fields` are columns of the table, `new_fields` words for columns that it lacks: in a question they say that the
    table cannot answer it yet. `like` is the product that others shall resemble, or one that is asked for by name and
    is not in the table. `changes` is the part of the message that changes the requirements. `path` is empty where no
    file was named. `question` is what to ask where it is unclear what is meant."""

    intent: Intent
    products: tuple[str, ...] = ()
    fields: tuple[str, ...] = ()
    new_fields: tuple[str, ...] = ()
    like: str = ""
    count: int = 0
    changes: str = ""
    path: str = ""
    confidence: float = 0.0
    question: str = ""


def read_next_step(asked: ClassifyIntent) -> IntentRead:
    return _Rule(asked).read()


def column_named(name: str, asked: ClassifyIntent) -> str:
    """The column that this is the name of, or "": also by what people call it."""
    known = field_named(name, asked.requirements.product_type)
    names = (name, known.name) if known else (name,)
    return next((column for column in asked.fields if any(same(column, each) for each in names)), "")


class _Rule:
    """One message, read step by step: the plainest intents first."""

    def __init__(self, asked: ClassifyIntent) -> None:
        self.asked = asked
        self.kind = asked.requirements.product_type
        self.text = tidy(asked.message)[:LONGEST]
        self.core = said.GREETING.sub("", self.text) or self.text
        self.plain = said.ADVERBS.sub("", self.core).strip() or self.core
        self.spans = named_in(self.text, asked.products, asked.shown, self.kind)
        self.products = products_in(self.text, asked.products, asked.shown, asked.history, self.kind)
        self.named = tuple(dict.fromkeys(name for span in self.spans for name in span.products))
        rest = self._without_names()
        self.columns = tuple(
            column for column in columns_in(rest, asked.fields, self.kind) if column.casefold() != KEY_COLUMN.casefold()
        )
        self.lacking = unknown_columns_in(rest, asked.fields, self.kind)

    def read(self) -> IntentRead:
        for step in (
            self._nothing_said,
            self._export,
            self._frustrated,
            self._flag,
            self._added_column,
            self._links,
            self._done,
            self._why_not,
            self._more,
            self._show_all,
            self._off_topic,
            self._compared,
            self._new_column,
            self._changed,
            self._asked,
            self._stated,
        ):
            if read := step():
                return read
        return self._otherwise()

    def _is(self, intent: Intent, confidence: float, **more: Any) -> IntentRead:
        products = self.products if intent in _OF_PRODUCTS else self.named
        found = IntentRead(intent=intent, confidence=confidence, products=products, fields=self.columns)
        return structs.replace(found, **more)

    def _says(self, pattern: re.Pattern[str]) -> bool:
        """With the small words that people put anywhere, or without them."""
        return bool(pattern.search(self.core) or pattern.search(self.plain))

    def _without_names(self) -> str:
        """A "Power Kettle" does not speak of power."""
        text = self.text
        for span in self.spans:
            text = text[: span.start] + " " * (span.end - span.start) + text[span.end :]
        return text

    def _nothing_said(self) -> IntentRead | None:
        if not re.search(r"\w", self.text) or said.HESITATES.match(self.text):
            return self._is("unclear", LIKELY, question=what_next(self.asked))
        if said.ENDS.match(self.text):
            return self._is("done", SURE)
        return None

    def _export(self) -> IntentRead | None:
        if not said.EXPORTS.search(self.core) or re.match(r"(?:does|do|is|has|which|what|how)\b", self.core.casefold()):
            return None
        file = said.FILE.search(self.text)
        path = next(filter(None, file.groups())) if file else ""
        if not path and re.search(r"\b(?:xlsx|xls|excel)\b", self.text, re.IGNORECASE):
            path = "shortlist.xlsx"
        elif not path and (format := said.FORMAT.search(self.text)):
            path = f"shortlist.{format[1].lower()}"
        return self._is("export", SURE, path=path)

    def _frustrated(self) -> IntentRead | None:
        if not self._says(said.FRUSTRATED):
            return None
        return self._is("unclear", LIKELY, question=f"I am sorry that this does not help yet. {what_next(self.asked)}")

    def _flag(self) -> IntentRead | None:
        if not self._says(said.FLAGS) or said.NOT_FLAGS.search(self.core) or said.WHY_NOT.search(self.core):
            return None
        again = re.search(r"check|\bverify\b|\blook\b", self.core, re.IGNORECASE)
        if again and re.search(r"\b(?:prices?|stock|availability)\b", self.core, re.IGNORECASE):
            return None
        if not (self.columns or self.products or self.lacking or re.search(r"\bthat\b|\bthis\b", self.core)):
            return None
        products = self.products or self._spoken_of()
        ask = "" if products and self.columns else _which_cell(self.asked)
        return self._is("flag", SURE if products or self.columns else LIKELY, products=products, question=ask)

    def _spoken_of(self) -> tuple[str, ...]:
        """ "That price" is the one of what was named last."""
        return products_in("it", self.asked.products, self.asked.shown, self.asked.history, self.kind)

    def _added_column(self) -> IntentRead | None:
        adds = said.ADDS.match(self.core)
        if not adds or said.OF_REQUIREMENTS.search(self.core) or self._more():
            return None
        what = adds["what"]
        if self.spans and not (self.columns or self.lacking):
            return None
        if (name := as_name(what)) and not field_named(name, self.kind) and not said.FOR_ALL.search(what):
            return self._is("more_options", LIKELY, like=name, count=1)
        return self._columns_asked(self.core, SURE)

    def _columns_asked(self, text: str, confidence: float) -> IntentRead | None:
        names = [name for name in asked_names(text) if re.search(r"[^\W\d]{2}", name)]
        there = {name: column_named(name, self.asked) for name in names}
        new = tuple(name for name in names if not there[name])
        fields = tuple(dict.fromkeys(column for column in there.values() if column))
        if not names:
            return None
        return self._is("new_fields", confidence, fields=fields, new_fields=new)

    def _links(self) -> IntentRead | None:
        if not self._says(said.LINKS) or re.search(r"\bwhy\b", self.core, re.IGNORECASE):
            return None
        return self._is("links", SURE, products=self.products or self._spoken_of())

    def _done(self) -> IntentRead | None:
        chooses = self._says(said.CHOOSES)
        if chooses and self.core.rstrip().endswith("?"):
            return None
        pointed = bool(self.products) or re.search(r"\b(?:it|that|this|them|one)\b", self.core, re.IGNORECASE)
        wants_more = said.more_options(self._things()).search(self.core) or said.COMPARATIVE.search(self.core)
        if chooses and pointed and not wants_more:
            return self._is("done", SURE)
        asks = self._asks() or said.ASKS.search(self.plain)
        if self.products and said.THANKS.search(self.text) and not asks and not wants_more:
            return self._is("done", LIKELY)
        if self._says(said.FINISHED) and not said.ASKS.search(self.core) and not wants_more:
            return self._is("done", SURE)
        return None

    def _why_not(self) -> IntentRead | None:
        found = said.WHY_NOT.search(self.core)
        if not found:
            return None
        about = re.match(r"(?:what|how) about", self.core, re.IGNORECASE)
        if about and (self.products or self.columns or self.lacking or not as_name(found["name"] or "")):
            return None
        name = "" if self.products else name_in(self.core)
        if not (self.products or name) and re.search(r"\bwhy (?:does|do|did|is|are)", self.core, re.IGNORECASE):
            return None
        products = self.named or self.products
        return self._is("why_not", SURE if products or name else LIKELY, products=products, like=name)

    def _things(self) -> str:
        """What the products are called, in the singular and the plural, as a pattern."""
        category = category_of(self.kind)
        names = {*(category.names if category else ()), " ".join(head_noun(self.kind)[-1:])} - {""}
        return rf"(?:{'|'.join(sorted(map(re.escape, map(singular, names))))})(?:e?s)?" if names else r"items?"

    def _more(self) -> IntentRead | None:
        found = said.more_options(self._things()).search(self.core)
        if not found or said.NEEDS.match(self.plain) or (said.NOT_MORE.search(self.core) and not self._count()):
            return None
        if re.match(r"(?:which|is it|does|are they|it must|it should|it has)\b", self.core, re.IGNORECASE):
            return None
        if re.search(r"\bbudget\b", self.core, re.IGNORECASE) and not self._count():
            return None
        count = self._count()
        return self._is("more_options", SURE, like=self._like(), count=count, changes=self._condition())

    def _count(self) -> int:
        found = said.COUNT.search(self.core)
        words = next(filter(None, found.groups())).casefold() if found else ""
        return int(words) if words.isdigit() else said.NUMBERS.get(words, 0)

    def _like(self) -> str:
        if self.products:
            return self.products[0] if len(self.products) == 1 else ""
        named = re.search(
            r"\b(?:like|similar to|alternatives? to)\s+(?:the\s+)?([A-Z0-9][\w&.'-]*(?: [A-Z0-9][\w&.'-]*)*)", self.core
        )
        return named[1] if named else ""

    def _condition(self) -> str:
        """What shall be different: "under £40" of "5 more like the Heron but under £40"."""
        place = self.text.rfind(self.core) if self.core in self.text else 0
        behind = max((span.end - place for span in self.spans), default=0)
        if behind <= 0 and (
            named := re.search(
                r"\b(?:more|others?|like|similar|alternatives?|something|anything|options?|ones)\b",
                self.core,
                re.IGNORECASE,
            )
        ):
            behind = named.end()
        found = said.CONDITION.search(self.core[max(behind, 0) :])
        text = re.sub(
            r"^(?:but|that (?:are|is)|which (?:are|is)|for)\s+", "", found[0] if found else "", flags=re.IGNORECASE
        )
        text = re.sub(r"^(?:only\s+)?(?:ones?|that (?:are|is))\s+", "", text, flags=re.IGNORECASE).strip(" .?!,")
        if re.fullmatch(
            r"(?:the )?(?:table|list|these|those|this|that|it|them|me|us|please|(?:you )?(?:have|found|can \w+).*)",
            text,
            re.IGNORECASE,
        ):
            text = ""
        comparative = said.COMPARATIVE.search(self.core)
        return text or (comparative[0] if comparative else "")

    def _show_all(self) -> IntentRead | None:
        found = re.sub("{things}", lambda _: self._things(), said.SHOWS_ALL.pattern)
        if not re.search(found, self.core, re.IGNORECASE):
            return None
        if said.NARROWS.search(self.core) or re.match(
            r"(?:which|why|is|are|do|does|compare)\b", self.core, re.IGNORECASE
        ):
            return None
        return self._is("show_all", SURE, products=())

    def _off_topic(self) -> IntentRead | None:
        if self._says(said.OFF_TOPIC) and not (self.spans or self.columns or self.lacking):
            return self._is("off_topic", SURE, products=())
        return None

    def _compared(self) -> IntentRead | None:
        compares = said.COMPARES.match(self.core)
        if not compares:
            return None
        if not self.products and not self.columns:
            return self._columns_asked(self.core, SURE)
        if self.lacking and said.FOR_ALL.search(self.core):
            return self._is("new_fields", SURE, new_fields=self.lacking)
        return self._is("question", SURE, new_fields=self.lacking)

    def _new_column(self) -> IntentRead | None:
        """ "What about energy use?", "noise matters too", "warranty?": of all products, and not a column yet."""
        if self.spans:
            return None
        for pattern in (said.WHAT_ABOUT, said.MATTERS):
            if found := pattern.match(self.core):
                what = next(filter(None, found.groupdict().values())).strip(" ?.!")
                return self._of_all(what, question=pattern is said.WHAT_ABOUT)
        if (wished := said.WISHED.search(self.core)) and not said.OF_REQUIREMENTS.search(self.core):
            return self._of_all(wished["what"], question=True)
        shown = said.ALSO_SHOW.match(self.plain)
        if shown and (said.FOR_ALL.search(self.core) or re.search(r"\balso\b", self.text, re.IGNORECASE)):
            return self._of_all(shown["what"], question=True)
        if (
            len(stems(self.core)) <= 3
            and self.lacking
            and not said.ASKS.search(self.core)
            and not self._says(said.CHANGES)
        ):
            return self._is("new_fields", LIKELY, new_fields=self.lacking)
        return None

    def _of_all(self, what: str, *, question: bool) -> IntentRead | None:
        if self.lacking:
            return self._is("new_fields", SURE, new_fields=self.lacking)
        if self.columns:
            return (
                self._is("question", SURE) if question else self._is("change_requirements", LIKELY, changes=self.core)
            )
        if re.search(r"\d|\b(?:under|below|less|if|only)\b", what):
            return self._is("change_requirements", LIKELY, changes=what)
        return self._columns_asked(what, LIKELY) if question and not self.products else None

    def _changed(self) -> IntentRead | None:
        asks = bool(said.ASKS.search(self.core)) and not said.ASKS_FOR_CHANGE.match(self.core)
        if asks or re.search(r"\bcolumns?\b", self.core, re.IGNORECASE):
            return None
        if self._says(said.CHANGES):
            return self._is("change_requirements", SURE, changes=self.core)
        if not self.spans and read_amounts(self.core) and re.search(r"[£$€]", self.core):
            return self._is("change_requirements", LIKELY, changes=self.core)
        return None

    def _asked(self) -> IntentRead | None:
        measured = any(measure.unit for measure in read_measures(self.core))
        anchored = bool(self.products or self.columns or self.lacking or measured) or self._speaks_of_things()
        if self._asks() and (anchored or said.SHOPPING.search(self.core)):
            return self._is("question", SURE if anchored else LIKELY, new_fields=self.lacking)
        if self._asks():
            foreign = said.FOREIGN.search(self.core) or name_in(self.core)
            return self._is("off_topic", LIKELY) if foreign else self._is("question", GUESSED)
        return None

    def _asks(self) -> bool:
        return self.core.rstrip().endswith("?") or bool(said.ASKS.search(self.core) or said.TELLS.search(self.core))

    def _stated(self) -> IntentRead | None:
        """Neither a command nor a question: what it names says what it is about."""
        if said.LOOKS_FOR.match(self.plain):
            return self._is("more_options", LIKELY, like=self._like(), changes=self._condition())
        if self.spans:
            return self._is("question", GUESSED, new_fields=self.lacking)
        measured = any(measure.unit for measure in read_measures(self.core))
        if measured or field_with_value(self.core, self.kind):
            return self._is("change_requirements", LIKELY, changes=self.core)
        if self.lacking:
            return self._is("new_fields", GUESSED, new_fields=self.lacking)
        return self._is("question", GUESSED) if self.products or self.columns else None

    def _speaks_of_things(self) -> bool:
        return bool(re.search(rf"\b{self._things()}\b", self.core, re.IGNORECASE))

    def _otherwise(self) -> IntentRead:
        if len(normal(self.core).split()) >= 4 and not said.SHOPPING.search(self.core) and not self._speaks_of_things():
            return self._is("off_topic", GUESSED)
        return self._is("unclear", GUESSED, question=what_next(self.asked))


_OF_PRODUCTS: frozenset[Intent] = frozenset(("done", "links", "question", "why_not", "flag", "more_options"))
"""In which "it" and "these" mean products: in "it must be glass" they do not."""


def what_next(asked: ClassifyIntent) -> str:
    first = f" (for example {asked.shown[0]})" if asked.shown else ""
    return (
        f"What would help: to look closer at one of them{first}, other options, a further column, another budget or "
        "other must-haves, or places to buy?"
    )


def _which_cell(asked: ClassifyIntent) -> str:
    column = next((column for column in asked.fields if column != KEY_COLUMN), "price")
    name = asked.shown[0] if asked.shown else "the first one"
    return f"Which value is wrong? For example: the {column.lower()} of {name} is wrong."
