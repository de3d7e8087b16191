"""Propose fields: by which columns the products are compared.

Standard ones always, then what the person cares about, then what is usual for such things and what the makers' pages
really state. Only what a page can prove: no ratings, no estimates, no opinions.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any

from msgspec import structs
from pydantic import BaseModel
from pydantic import Field as Key

from tablewright.decisions.decision import Prompt, Unusable
from tablewright.decisions.question.words import same
from tablewright.decisions.shopping.column_names import ADD, BEHIND, CLAUSES, DROP, ONLY, SWAP, asked_names
from tablewright.decisions.shopping.known import KnownField, field_named, fields_behind, fields_for
from tablewright.decisions.shopping.labels import Label, labels_of, pages_with, shared_fields
from tablewright.decisions.shopping.verifiable import own_field, refused
from tablewright.decisions.shopping.wishes import avoided_fields, wanted_fields
from tablewright.table.model import Field, FieldType, Noun, Role
from tablewright.table.retrieved import Retrieved
from tablewright.table.shortlist import Requirements
from tablewright.table.units import parse_unit
from tablewright.table.untrusted import WARNING, block, clean, gives_orders, question_block
from tablewright.text.words import stems

__all__ = [
    "MEETS",
    "Propose",
    "ProposeFields",
    "field_from",
    "fields_from",
    "lacking",
    "modified",
    "refusals",
    "refused",
]

MOST = 10
FEWEST_OF_CATEGORY = 3
ENOUGH_PAGES = 3
"""So many pages that a field which none of them states would stay empty."""
MOST_LABELS = 30

PRODUCT = Field(name="Product", required=True)
PRICE = Field(name="Price", type="money", question="What is the price of {Product}?", required=True)
OFFICIAL_PAGE = Field(
    name="Official page", type="url", question="What is the address of the maker's page about {Product}?", required=True
)
STANDARD = (PRODUCT, PRICE, OFFICIAL_PAGE)
MEETS = Field(
    name="Meets requirements",
    type="boolean",
    description="Whether it meets every must-have and no constraint, as far as its cells say.",
    role="qualification",
)

INSTRUCTIONS = (
    "You choose the columns of a table that compares products for a buyer. Only objective specifications that a "
    "maker's page states: no ratings, scores, reviews, opinions, estimates. Prefer what the buyer cares about, then "
    "what the pages state, then what is usual. For each give `name` (one to four words), `type` (text, number, "
    "boolean, date, list), `unit` for numbers, and `role`: user for what the buyer asked for, category for the rest. "
    "Leave out name, price and official page: they are there already. " + WARNING
)


class ProposeFields(Noun, frozen=True):
    """`sources` are pages of some candidates. At most `most` fields are shown, the standard ones among them."""

    requirements: Requirements
    sources: tuple[Retrieved, ...] = ()
    most: int = MOST


class ProposedField(BaseModel):
    name: str = Key(max_length=60)
    type: FieldType = "text"
    unit: str = Key(default="", max_length=16)
    role: Role = "category"


class Proposed(BaseModel):
    fields: list[ProposedField] = Key(max_length=24)


class Propose:
    name = "propose fields"

    def prompt(self, asked: ProposeFields) -> Prompt:
        wants = asked.requirements
        lines = [f"Product: {wants.product_type}"]
        for title, said in (
            ("Must have", wants.must_haves),
            ("Nice to have", wants.nice_to_haves),
            ("Priorities", wants.priorities),
            ("Specifications", wants.specifications),
            ("Avoid", wants.constraints),
        ):
            if said:
                lines.append(f"{title}: {'; '.join(said)}")
        usual = ", ".join(field.name for field in fields_for(wants.product_type) if field.usual)
        stated = "\n".join(
            f"{label.name}: {label.values[0]} ({len(label.pages)} pages)"
            for label in labels_of(asked.sources)[:MOST_LABELS]
        )
        text = question_block("\n".join(lines)) + (f"\nUsual: {usual}" if usual else "")
        text += f"\nStated on pages of products:\n{block(1, stated)}" if stated else ""
        text += f"\nAt most {max(asked.most - len(STANDARD), 1)} columns."
        return Prompt(instructions=INSTRUCTIONS, text=text, reply=Proposed, max_tokens=500)

    def check(self, asked: ProposeFields, reply: Any) -> tuple[Field, ...]:
        """Its fields beside those that the requirements need in any case; known ones as we know them. With enough
        pages, what neither they nor the buyer speak of is left out: it would stay empty."""
        problems = [problem for each in reply.fields if (problem := refused(each.name))]
        taken = [field for each in reply.fields if (field := _taken(each, asked.requirements.product_type))]
        labels = labels_of(asked.sources)
        judged = [_as_judged(field, asked, labels) if _is_spoken_of(field, asked) else [] for field in taken]
        chosen = [each for fields in judged for each in fields]
        if not chosen:
            said = problems[0] if problems else "No field was proposed."
            raise Unusable(f"{said} Name specifications that makers state.", usable=self.fallback(asked))
        users, hidden = _of_requirements(asked)
        wanted = [*users, *sorted(chosen, key=lambda field: field.role != "user")]
        if judged != [[field] for field in taken]:  # some were left out, or gave way to another column
            wanted += _of_category(asked)
        fields = _composed(wanted, hidden, asked.most)
        if problems:
            raise Unusable(problems[0], usable=fields)
        return fields

    def fallback(self, asked: ProposeFields) -> tuple[Field, ...]:
        users, hidden = _of_requirements(asked)
        return _composed([*users, *_of_category(asked)], hidden, asked.most)


def _taken(each: ProposedField, product_type: str) -> Field | None:
    name = " ".join(clean(each.name).replace("_", " ").split())
    if not name or refused(name) or gives_orders(name):
        return None
    role: Role = "user" if each.role == "user" else "category"
    if known := field_named(name, product_type):
        return known.as_field(role)
    field = own_field(name, role, is_feature=each.type == "boolean")
    if field is None or each.type in ("boolean", "money", "url", "select"):
        return field
    unit = each.unit if parse_unit(each.unit) else field.unit
    return structs.replace(field, type=each.type, unit=unit if each.type == "number" else "")


def _is_spoken_of(field: Field, asked: ProposeFields) -> bool:
    wants = asked.requirements
    labels = labels_of(source for source in asked.sources if source.kind != "snippet")
    pages = len({page for label in labels for page in label.pages})
    if pages < ENOUGH_PAGES or field_named(field.name, wants.product_type):
        return True
    wishes = (*wants.must_haves, *wants.priorities, *wants.nice_to_haves, *wants.specifications)
    own = set(stems(field.name))
    return any(
        own <= set(stems(said)) or set(stems(said)) <= own for said in (*(label.name for label in labels), *wishes)
    )


def _of_requirements(asked: ProposeFields) -> tuple[list[Field], list[Field]]:
    """What the person's wishes are judged by, the must-haves first; and must-haves that are no matter of a field."""
    wants = asked.requirements
    fields: list[Field] = []
    hidden: list[Field] = []
    for wish in wants.must_haves:
        found = wanted_fields(wish, wants.product_type)
        fields.extend(found)
        if not found and (own := _qualification(wish)):
            hidden.append(own)
    for wish in (*wants.priorities, *wants.nice_to_haves):
        fields.extend(wanted_fields(wish, wants.product_type))
    for wish in wants.specifications:
        found = wanted_fields(wish, wants.product_type)
        fields.extend(field for field in found if field_named(field.name, wants.product_type))
    for constraint in wants.constraints:
        fields.extend(avoided_fields(constraint, wants.product_type))
    labels = labels_of(asked.sources)
    return [_as_stated(field, wants.product_type, labels) for field in fields], hidden


def _as_stated(field: Field, product_type: str, labels: Sequence[Label]) -> Field:
    """The field itself, or the one that shows it where the pages state that one instead: "Temperature settings: 5" is
    what they say of a variable temperature."""
    known = {each.name: each for each in fields_for(product_type)}
    own = known.get(field.name)
    shows = known.get(own.seen_in) if own else None
    if own and shows and pages_with(shows, labels) > pages_with(own, labels):
        return shows.as_field("user")
    return field


def _as_judged(field: Field, asked: ProposeFields, labels: Sequence[Label]) -> list[Field]:
    """A wish is compared by the column that shows it, "stainless steel" by the material, not by a second of its own."""
    kind, wants = asked.requirements.product_type, asked.requirements
    wishes = (*wants.must_haves, *wants.nice_to_haves, *wants.priorities)
    if field_named(field.name, kind) is None and any(same(field.name, wish) for wish in wishes):
        shown_by = [each for each in wanted_fields(field.name, kind) if field_named(each.name, kind)]
        return shown_by or [field]
    return [_as_stated(field, kind, labels)]


def _qualification(wish: str) -> Field | None:
    """Asked of every product, and not shown."""
    name = re.sub(r"[{}\n]", " ", " ".join(wish.split()))[:60].strip(" .,;:!?")
    if not name:
        return None
    question = f"Does {{Product}} meet this demand: {name}?"
    return Field(name=name[:1].upper() + name[1:], type="boolean", question=question, role="qualification")


def _of_category(asked: ProposeFields) -> list[Field]:
    """What is usual and stated first, then what else the pages share, then what is usual. With enough pages, what none
    of them states is left out: it would stay empty."""
    product_type = asked.requirements.product_type
    known = fields_for(product_type)
    labels = labels_of(source for source in asked.sources if source.kind != "snippet")
    pages = len({page for label in labels for page in label.pages})
    counts = {field.name: pages_with(field, labels) for field in known}
    usual = [field for field in known if field.usual] or [field for field in known if field.name in _USUAL_OF_ANY]
    stated = sorted((field for field in usual if counts[field.name]), key=lambda field: -counts[field.name])
    also_stated = [field for field in known if field not in usual and 2 * counts[field.name] > pages > 1]
    others = shared_fields(labels, known)
    unstated = [field for field in usual if not counts[field.name]]
    if pages >= ENOUGH_PAGES:
        unstated = unstated[: max(FEWEST_OF_CATEGORY - len(stated) - len(also_stated) - len(others), 0)]
    return [*_fields(stated), *_fields(also_stated), *others, *_fields(unstated)]


_USUAL_OF_ANY = frozenset(("Weight", "Dimensions", "Material", "Warranty"))


def _fields(known: Iterable[KnownField]) -> list[Field]:
    return [field.as_field("category") for field in known]


def _composed(wanted: Sequence[Field], hidden: Sequence[Field], most: int) -> tuple[Field, ...]:
    """Each name once. A field of the requirements for which there is no room is filled all the same, and not shown."""
    shown = list(STANDARD)
    beyond: list[Field] = []
    for field in wanted:
        if any(same(field.name, other.name) for other in (*shown, *beyond)):
            continue
        if len(shown) < max(most, len(STANDARD) + 1):
            shown.append(field)
        elif field.role == "user":
            beyond.append(structs.replace(field, role="qualification"))
    for field in hidden:
        if not any(same(field.name, other.name) for other in (*shown, *beyond)):
            beyond.append(field)
    return (*shown, *beyond, MEETS)


# ── changing them ────────────────────────────────────────────────────────────────────────────────────────────────────


def fields_from(words: str, product_type: str) -> tuple[Field, ...]:
    """The columns that "add warranty and energy use to the comparison" asks for. Of "build quality" what can be
    verified of it; what cannot be verified gives none (`refused` says why)."""
    found: list[Field] = []
    for part in asked_names(words):
        if known := field_named(part, product_type):
            found.append(known.as_field("user"))
        elif behind := fields_behind(part, product_type):
            found.extend(field.as_field("user") for field in behind)
        elif not refused(part) and (own := own_field(part)):
            found.append(own)
    return tuple({field.name.casefold(): field for field in found}.values())


def refusals(message: str, product_type: str) -> tuple[str, ...]:
    """Why what a message wants to add cannot be a column, each in a sentence."""
    clauses = CLAUSES.split(" ".join(message.split()).strip(" .!?"))
    asked = [name for clause in clauses if ADD.match(clause) for name in asked_names(clause)]
    return tuple(reason for name in asked if not fields_from(name, product_type) and (reason := refused(name)))


def lacking(wanted: Requirements, before: Requirements, fields: Sequence[Field]) -> tuple[Field, ...]:
    """The columns by which must-haves that came later are judged, and which are not among the fields."""
    shown_by = {each.name: each.seen_in for each in fields_for(wanted.product_type)}
    found: list[Field] = []
    for wish in wanted.must_haves:
        if wish in before.must_haves:
            continue
        own = wanted_fields(wish, wanted.product_type) or filter(None, (_qualification(wish),))
        found += [
            field
            for field in own
            if not _is_among(field.name, (*fields, *found)) and not _is_among(shown_by.get(field.name, ""), fields)
        ]
    return tuple(found)


def field_from(words: str, product_type: str) -> Field | None:
    return next(iter(fields_from(words, product_type)), None)


def modified(fields: Sequence[Field], message: str, product_type: str = "") -> tuple[Field, ...]:
    """The fields as a message wants them: "drop weight", "add cord length", "only price and capacity". The standard
    ones are always there, and those that are not shown stay. What asks for nothing that we know changes nothing."""
    changed = list(fields)
    for clause in CLAUSES.split(" ".join(message.split()).strip(" .!?")):
        if swap := SWAP.match(clause):
            changed = _without(changed, swap["old"] or swap["old2"], product_type)
            changed = _with(changed, swap["new"] or swap["new2"], product_type)
        elif drop := DROP.match(clause):
            changed = _without(changed, clause[drop.end() :], product_type)
        elif only := ONLY.match(clause):
            changed = _only(changed, clause[only.end() :], product_type)
        elif ADD.match(clause) or BEHIND.search(clause) or field_named(clause, product_type):
            changed = _with(changed, clause, product_type)
    return tuple(changed)


def _with(fields: list[Field], words: str, product_type: str) -> list[Field]:
    new = (field for field in fields_from(words, product_type) if not _is_among(field.name, fields))
    shown = [field for field in fields if field.role != "qualification"]
    return [*shown, *new, *(field for field in fields if field.role == "qualification")]


def _without(fields: list[Field], words: str, product_type: str) -> list[Field]:
    meant = {field.name for field in _meant(fields, words, product_type)}
    return [field for field in fields if field.name not in meant or field.role == "standard"]


def _only(fields: list[Field], words: str, product_type: str) -> list[Field]:
    meant = _meant(fields, words, product_type)
    new = [field for field in fields_from(words, product_type) if not _is_among(field.name, fields)]
    if not meant and not new:
        return fields
    kept = [field for field in fields if field in meant or field.role == "standard"]
    return [*kept, *new, *(field for field in fields if field.role == "qualification" and field not in meant)]


def _meant(fields: Sequence[Field], words: str, product_type: str) -> list[Field]:
    """The columns that are named, by their names or by what people call them."""
    names = []
    for part in asked_names(words):
        known = field_named(part, product_type)
        names += [part, *([known.name] if known else [])]
    return [field for field in fields if any(same(field.name, name) for name in names)]


def _is_among(name: str, fields: Sequence[Field]) -> bool:
    return any(same(name, field.name) for field in fields)
