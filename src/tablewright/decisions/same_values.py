"""Same values: which of the values of a column mean the same thing, or the thing that a question names."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel

from tablewright.citations.quotes import WARNING, block, question_block
from tablewright.conditions.compare import is_text
from tablewright.conditions.evaluate import Spellings, one_line
from tablewright.decisions.decision import Prompt, Tell, Unusable, decide, join_parts, number_lines
from tablewright.domain.corpus import Typed
from tablewright.domain.model import Noun
from tablewright.domain.rowkey import row_key

if TYPE_CHECKING:
    from tablewright.models.model import LanguageModel

MOST_VALUES = 300
"""Values of a column that are compared in meaning; of more, only spelling counts."""

INSTRUCTIONS = f"""\
You compare values of one column of a table. Put the numbers of all values that mean the very same thing (the same \
firm, person, place or category; other spellings, abbreviations, legal forms, languages and typing errors of one name) \
into one group; a value that stands alone needs none. `name` is the fullest form among them.

Where names are asked about, there is a group for each of them, under exactly that name, with the values that a person \
who says that name would count as it; empty if there is none. "Nordwind" may mean "Nordwind Logistik GmbH"; two \
firms that merely share a word are two.

{WARNING}"""


class ToGroup(Noun, frozen=True, gc=True):
    column: str
    values: tuple[str, ...]
    wanted: tuple[str, ...] = ()
    question: str = ""


class ValueGroup(BaseModel):
    name: str
    numbers: list[int]


class ValueGroups(BaseModel):
    groups: list[ValueGroup]


class SameValues:
    """Decides by name, wanted or not, the values that mean it."""

    name = "same values"

    def prompt(self, asked: ToGroup) -> Prompt:
        values = number_lines(" ".join(value.split()) for value in asked.values)
        names = f"Names asked about: {' · '.join(asked.wanted)}" if asked.wanted else ""
        said = join_parts(asked.question, names, by="\n")
        return Prompt(
            instructions=INSTRUCTIONS,
            text=join_parts(
                f"Column: {asked.column}\n{block(0, values, 'values')}", question_block(said) if said else ""
            ),
            reply=ValueGroups,
            max_tokens=300 + 12 * len(asked.values),
        )

    def check(self, asked: ToGroup, reply: Any) -> Mapping[str, tuple[str, ...]]:
        groups = {
            " ".join(group.name.split()): tuple(
                asked.values[number - 1] for number in group.numbers if 1 <= number <= len(asked.values)
            )
            for group in reply.groups
        }
        known = {row_key(name) for name in groups}
        if missing := [name for name in asked.wanted if row_key(name) not in known]:
            raise Unusable(f"there is no group named {missing[0]!r}.", usable={**groups, **self.fallback(asked)})
        return groups

    def fallback(self, asked: ToGroup) -> Mapping[str, tuple[str, ...]]:
        """Return what is written alike but for case, accents and punctuation."""
        return {name: tuple(each for each in asked.values if row_key(each) == row_key(name)) for name in asked.wanted}


async def learn_spellings(spellings: Spellings, key: str, asked: ToGroup, model: LanguageModel, tell: Tell) -> None:
    """Ask the model once which values of a column mean the same; where it cannot, their spelling alone counts."""
    if len(asked.values) > MOST_VALUES:
        spellings.by_spelling.add(asked.column)
        return
    outcome = await decide(SameValues(), asked, model, tell)
    if outcome.degraded:
        spellings.by_spelling.add(asked.column)
        return
    spellings.meant[key] = {row_key(name): frozenset(each) for name, each in outcome.decided.items()}
    spellings.named[key] = {value: name for name, each in outcome.decided.items() for value in each}


def values_to_group(values: Sequence[Typed]) -> tuple[str, ...]:
    """Return the different texts among the values of a column."""
    return tuple(dict.fromkeys(one_line(value) for value in values if is_text(value)))
