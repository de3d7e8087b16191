"""Our own lines in a language that has no catalogue: translated by the model, once for a language.

What a line is filled with is proved: a translation has the same places for values as the English line, and no others.
"""

from __future__ import annotations

from collections.abc import Sequence
from string import Formatter
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel

from tablewright.decisions.decision import Prompt, Tell, Unusable, decide
from tablewright.domain.model import Noun
from tablewright.messages.catalogue import LANGUAGES, LONGEST_CODE, catalogue, learn, primary_code, texts_of

if TYPE_CHECKING:
    from tablewright.models.model import LanguageModel

FORM = """\
Words in braces, such as {count}, are filled \
in by the program: keep every one of them as it is, and add none. Where a line has two forms with "|" between them, \
for one and for several, give both forms the same way."""
CONVERSATION = f"""\
You translate lines that PROGRAM says beside its own sentences: buttons, headings, notes. \
`lines`: each line in the language that is asked for, in the order of the list, short and natural, as a native \
adviser would say it; the polite form of address where there are two. {FORM} Words after a slash, such as /drop, stay \
as they are. Single words such as "lowest" and "contains" stand behind the name of a column ("Weight lowest")."""
ADVISER = CONVERSATION.replace("PROGRAM", "a buying adviser's program")
READER = CONVERSATION.replace("PROGRAM", "a program that answers questions about somebody's documents")
REPORT = f"""\
You translate lines that a program prints in a research report beside the sentences of its writer: headings, marks \
behind values, what was searched and what it cost. `lines`: each line in the language that is asked for, in the order \
of the list, short and natural, as a native writer of reports would say it. {FORM} The names of the months are twelve \
words with single spaces between them."""
INSTRUCTIONS = {"ask": READER, "report": REPORT, "shortlist": ADVISER}
"""By the context of the texts."""
ASKED: set[tuple[str, str]] = set()
"""Languages with the contexts for which a model was asked: one that cannot translate is not asked again."""


async def translated_lines(
    context: str, language: str, model: LanguageModel | None, tell: Tell
) -> dict[tuple[str, str], str]:
    """Return our own texts of a context in a language that has no catalogue, by their contexts and English texts.
    `translate` knows them from then on; the model is asked once for a language."""
    code = primary_code(language)
    if model is None or code in LANGUAGES or not code.isalpha():
        return {}
    texts = texts_of(context)
    if (code, context) not in ASKED:
        asked = LinesToTranslate(language=language.strip(), lines=texts, instructions=INSTRUCTIONS[context])
        outcome = await decide(TranslateLines(), asked, model, tell)
        if not outcome.degraded:  # the next turn asks a model that could not be reached again
            ASKED.add((code, context))
            learn(code, outcome.decided)
    known = catalogue(code).lines
    return {text: known[text] for text in texts if text in known}


class LinesToTranslate(Noun, frozen=True):
    """`lines` in English with their contexts; the `instructions` say whose they are."""

    language: str
    lines: Sequence[tuple[str, str]]
    instructions: str


class TranslatedLines(BaseModel):
    lines: list[str]


class TranslateLines:
    name = "translation"

    def prompt(self, asked: LinesToTranslate) -> Prompt:
        listed = "\n".join(
            f"{number}. {line}" for number, line in enumerate((text for _, text in asked.lines), start=1)
        )
        language = "The language, as a code" if len(asked.language) <= LONGEST_CODE else "The language"
        return Prompt(
            instructions=asked.instructions,
            text=f"{language}: {asked.language}\n\n{listed}",
            reply=TranslatedLines,
            max_tokens=40 * len(asked.lines),
        )

    def check(self, asked: LinesToTranslate, reply: Any) -> dict[tuple[str, str], str]:
        if len(reply.lines) != len(asked.lines):
            raise Unusable(f"there are {len(reply.lines)} lines, and {len(asked.lines)} were asked for.", usable={})
        translated: dict[tuple[str, str], str] = {}
        wrong: list[str] = []
        for (context, english), line in zip(asked.lines, reply.lines, strict=True):
            if line.strip() and placeholders_of(line) == placeholders_of(english):
                before, _, after = english.partition(english.strip())  # " and " stands within a sentence
                translated[context, english] = f"{before}{line.strip()}{after}"
            else:
                wrong.append(repr(english))
        if wrong:
            raise Unusable(f"the words in braces are not the same in: {', '.join(wrong)}.", usable=translated)
        return translated

    def fallback(self, asked: LinesToTranslate) -> dict[tuple[str, str], str]:
        return {}


def placeholders_of(line: str) -> list[set[str]] | None:
    """Return the places for values in each form of a line; None if the program could not fill it."""
    try:
        return [{name for _, name, _, _ in Formatter().parse(form) if name is not None} for form in line.split("|")]
    except ValueError:
        return None
