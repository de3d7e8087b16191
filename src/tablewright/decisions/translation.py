"""Our own lines in a language that has no catalogue: translated by the model, once for a language.

What a line is filled with is proved: a translation has the same places for values as the English line, and no others.
"""

from __future__ import annotations

from collections.abc import Mapping
from string import Formatter
from typing import Any

from pydantic import BaseModel

from tablewright.decisions.decision import Prompt, Unusable
from tablewright.table.model import Noun

FORM = """\
Words in braces, such as {count}, are filled \
in by the program: keep every one of them as it is, and add none. Where a line has two forms with "|" between them, \
for one and for several, give both forms the same way."""
ADVISER = f"""\
You translate lines that a buying adviser's program says beside its own sentences: buttons, headings, notes. \
`lines`: each line in the language that is asked for, in the order of the list, short and natural, as a native \
adviser would say it; the polite form of address where there are two. {FORM} \
Words after a slash, such as /drop, stay as they are. Single \
words such as "lowest" and "contains" stand behind the name of a column ("Weight lowest")."""
REPORT = f"""\
You translate lines that a program prints in a research report beside the sentences of its writer: headings, marks \
behind values, what was searched and what it cost. `lines`: each line in the language that is asked for, in the order \
of the list, short and natural, as a native writer of reports would say it. {FORM} The names of the months are twelve \
words with single spaces between them."""


class LinesToTranslate(Noun, frozen=True):
    """`lines` by their keys, in English; `of` says whose they are."""

    language: str
    lines: Mapping[str, str]
    of: str = ADVISER


class TranslatedLines(BaseModel):
    lines: list[str]


class TranslateLines:
    name = "translation"

    def prompt(self, asked: LinesToTranslate) -> Prompt:
        listed = "\n".join(f"{number}. {line}" for number, line in enumerate(asked.lines.values(), start=1))
        language = "The language, as a code" if asked.of == ADVISER else "The language"
        return Prompt(
            instructions=asked.of,
            text=f"{language}: {asked.language}\n\n{listed}",
            reply=TranslatedLines,
            max_tokens=40 * len(asked.lines),
        )

    def check(self, asked: LinesToTranslate, reply: Any) -> dict[str, str]:
        if len(reply.lines) != len(asked.lines):
            raise Unusable(f"there are {len(reply.lines)} lines, and {len(asked.lines)} were asked for.", usable={})
        translated: dict[str, str] = {}
        wrong: list[str] = []
        for (key, english), line in zip(asked.lines.items(), reply.lines, strict=True):
            if line.strip() and places(line) == places(english):
                before, _, after = english.partition(english.strip())  # " and " stands within a sentence
                translated[key] = f"{before}{line.strip()}{after}"
            else:
                wrong.append(repr(english))
        if wrong:
            raise Unusable(f"the words in braces are not the same in: {', '.join(wrong)}.", usable=translated)
        return translated

    def fallback(self, asked: LinesToTranslate) -> dict[str, str]:
        return {}


def places(line: str) -> list[set[str]] | None:
    """What each form of a line is filled with; None where the program could not fill it."""
    try:
        return [{name for _, name, _, _ in Formatter().parse(form) if name is not None} for form in line.split("|")]
    except ValueError:
        return None
