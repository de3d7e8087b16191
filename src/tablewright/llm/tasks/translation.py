"""Translate our own texts into a language that has no catalogue, by the model, once for each language.

Code proves that a translation has the same placeholders for values as the English line, and no others.
"""

from __future__ import annotations

from collections.abc import Sequence
from string import Formatter
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel

from tablewright.domain.model import Struct
from tablewright.llm.tasks.decision import InvalidReply, Prompt, Tell, decide
from tablewright.messages.catalogue import (
    LANGUAGES,
    MAX_CODE_LETTERS,
    add_translations,
    list_context_texts,
    load_catalogue,
    primary_language_code,
)

if TYPE_CHECKING:
    from tablewright.llm.model import LanguageModel

FORM = """\
Words in braces, such as {count}, are filled \
in by the program: keep every one of them as it is, and add none. Where a line has two forms with "|" between them, \
for one and for several, give both forms the same way."""
CONVERSATION = f"""\
You translate lines that PROGRAM shows besides its own sentences: buttons, headings, notes. \
`lines`: each line in the language that is asked for, in the order of the list, short and natural, as a native \
adviser would say it; the polite form of address where there are two. {FORM} Words after a slash, such as /drop, stay \
as they are. Single words such as "lowest" and "contains" stand behind the name of a column ("Weight lowest")."""
# The instructions by the context of the texts.
INSTRUCTIONS = {
    "ask": CONVERSATION.replace("PROGRAM", "a program that answers questions about a user's documents"),
    "report": (
        f"""\
You translate lines that a program prints in a research report besides the sentences of its writer: headings, marks \
behind values, what was searched and what it cost. `lines`: each line in the language that is asked for, in the order \
of the list, short and natural, as a native writer of reports would say it. {FORM} The names of the months are twelve \
words with single spaces between them."""
    ),
    "shortlist": CONVERSATION.replace("PROGRAM", "a buying adviser's program"),
}
# Languages and contexts that a model was asked for, so that a model that cannot translate is not asked again.
ASKED_LANGUAGES: set[tuple[str, str]] = set()


async def translate_lines(
    context: str, language: str, model: LanguageModel | None, tell: Tell
) -> dict[tuple[str, str], str]:
    """Return the texts of a context in a language that has no catalogue, by their contexts and English texts.

    `translate` finds them from then on; the model is asked once for each language.
    """
    code = primary_language_code(language)
    if model is None or code in LANGUAGES or not code.isalpha():
        return {}
    texts = list_context_texts(context)
    if (code, context) not in ASKED_LANGUAGES:
        asked = LinesToTranslate(language=language.strip(), lines=texts, instructions=INSTRUCTIONS[context])
        outcome = await decide(TranslateLines(), asked, model, tell)
        # An unavailable model is asked again in the next turn.
        if not outcome.degraded:
            ASKED_LANGUAGES.add((code, context))
            add_translations(code, outcome.decided)
    known = load_catalogue(code).lines
    return {text: known[text] for text in texts if text in known}


class LinesToTranslate(Struct, frozen=True):
    """English lines with their contexts; the `instructions` say who speaks in them."""

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
        language = "The language, as a code" if len(asked.language) <= MAX_CODE_LETTERS else "The language"
        return Prompt(
            instructions=asked.instructions,
            text=f"{language}: {asked.language}\n\n{listed}",
            reply=TranslatedLines,
            # Lines are buttons and headings of a few words.
            max_tokens=40 * len(asked.lines),
        )

    def check(self, asked: LinesToTranslate, reply: Any) -> dict[tuple[str, str], str]:
        if len(reply.lines) != len(asked.lines):
            raise InvalidReply(f"there are {len(reply.lines)} lines, and {len(asked.lines)} were asked for.", usable={})
        translated: dict[tuple[str, str], str] = {}
        wrong: list[str] = []
        for (context, english), line in zip(asked.lines, reply.lines, strict=True):
            if line.strip() and placeholders_of(line) == placeholders_of(english):
                # Keep the spaces of " and ".
                before, _, after = english.partition(english.strip())
                translated[context, english] = f"{before}{line.strip()}{after}"
            else:
                wrong.append(repr(english))
        if wrong:
            raise InvalidReply(f"the words in braces are not the same in: {', '.join(wrong)}.", usable=translated)
        return translated

    def fallback(self, asked: LinesToTranslate) -> dict[tuple[str, str], str]:
        return {}


def placeholders_of(line: str) -> list[set[str]] | None:
    """Return the placeholders in each form of a line, or None if the program could not fill them."""
    try:
        return [{name for _, name, _, _ in Formatter().parse(form) if name is not None} for form in line.split("|")]
    except ValueError:
        return None
