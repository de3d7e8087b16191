"""Group the values of a column that mean the same thing, or the thing that a question names."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel

from tablewright.citations.quotes import RETRIEVED_WARNING, mark_question, mark_text
from tablewright.conditions.compare import has_only_text
from tablewright.conditions.evaluate import NameSpellings, value_on_one_line
from tablewright.domain.documents import ComparableValue
from tablewright.domain.model import Struct
from tablewright.domain.rowkey import row_key
from tablewright.llm.tasks.decision import InvalidReply, Prompt, Tell, decide, join_parts, number_lines

if TYPE_CHECKING:
    from tablewright.llm.model import LanguageModel

# With more values, only their spelling is compared.
MAX_COMPARED_VALUES = 300


class ValuesToGroup(Struct, frozen=True, gc=True):
    column: str
    values: tuple[str, ...]
    wanted: tuple[str, ...] = ()
    question: str = ""


class ValueGroup(BaseModel):
    name: str
    numbers: list[int]


class ValueGroups(BaseModel):
    groups: list[ValueGroup]


class GroupSameValues:
    """Decides which values mean each name, whether the question asks about it or not."""

    name = "same values"
    instructions = f"""\
You compare values of one column of a table. Put the numbers of all values that mean the very same thing (the same \
firm, person, place or category; other spellings, abbreviations, legal forms, languages and typing errors of one name) \
into one group; a value that stands alone needs none. `name` is the fullest form among them.

Where names are asked about, there is a group for each of them, under exactly that name, with the values that a person \
who says that name would count as it; empty if there is none. "Nordwind" may mean "Nordwind Logistik GmbH"; two \
firms that merely share a word are two.

{RETRIEVED_WARNING}"""

    def prompt(self, asked: ValuesToGroup) -> Prompt:
        values = number_lines(" ".join(value.split()) for value in asked.values)
        names = f"Names asked about: {' · '.join(asked.wanted)}" if asked.wanted else ""
        said = join_parts(asked.question, names, by="\n")
        return Prompt(
            instructions=self.instructions,
            text=join_parts(
                f"Column: {asked.column}\n{mark_text(0, values, 'values')}", mark_question(said) if said else ""
            ),
            reply=ValueGroups,
            # A number for each value, and the names of the groups.
            max_tokens=300 + 12 * len(asked.values),
        )

    def check(self, asked: ValuesToGroup, reply: Any) -> Mapping[str, tuple[str, ...]]:
        groups = {
            " ".join(group.name.split()): tuple(
                asked.values[number - 1] for number in group.numbers if 1 <= number <= len(asked.values)
            )
            for group in reply.groups
        }
        known = {row_key(name) for name in groups}
        if missing := [name for name in asked.wanted if row_key(name) not in known]:
            # `usable` has an empty group, or one by spelling alone, for the names that are missing.
            raise InvalidReply(f"there is no group named {missing[0]!r}.", usable={**groups, **self.fallback(asked)})
        return groups

    def fallback(self, asked: ValuesToGroup) -> Mapping[str, tuple[str, ...]]:
        """Return the values that equal a name but for case, accents and punctuation."""
        return {name: tuple(each for each in asked.values if row_key(each) == row_key(name)) for name in asked.wanted}


async def learn_spellings(
    spellings: NameSpellings, key: str, asked: ValuesToGroup, model: LanguageModel, tell: Tell
) -> None:
    """Ask the model once which values of a column mean the same. If it cannot answer, only their spelling counts."""
    if len(asked.values) > MAX_COMPARED_VALUES:
        spellings.by_spelling.add(asked.column)
        return
    outcome = await decide(GroupSameValues(), asked, model, tell)
    if outcome.degraded:
        spellings.by_spelling.add(asked.column)
        return
    spellings.meant[key] = {row_key(name): frozenset(each) for name, each in outcome.decided.items()}
    spellings.named[key] = {value: name for name, each in outcome.decided.items() for value in each}


def list_text_values(values: Sequence[ComparableValue]) -> tuple[str, ...]:
    """Return the distinct texts among the values of a column."""
    return tuple(dict.fromkeys(value_on_one_line(value) for value in values if has_only_text(value)))
