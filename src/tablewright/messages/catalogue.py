"""The text that code shows in more than one language: English in the code, its translations in `LANGUAGE.po`.

    translate("ask", "{count} row can be exported.|{count} rows can be exported.", language, count=12)

The first argument is the context: which part of the product says it. The rest of a context tells apart equal texts that
are translated differently ("shortlist: sources"). Of "one|many" the `count` says which form is shown. A text without a
translation stays English. `scripts/texts` brings the .po files up to date with the code.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache
from gettext import c2py
from pathlib import Path
from typing import Annotated, Any, NamedTuple, TypeAlias, TypeVar

Shown = TypeVar("Shown")
AskText: TypeAlias = Annotated[Shown, "ask"]
PageText: TypeAlias = Annotated[Shown, "page"]
ReportText: TypeAlias = Annotated[Shown, "report"]
# Constants that are translated where they are shown, with their context: `STEPS: PageText[dict[str, str]]`. Of tables
# the values are translated, and of tuples in them the first.
ShortlistText: TypeAlias = Annotated[Shown, "shortlist"]

# Those that come with us, as their speakers call them.
LANGUAGES = {"en": "English", "de": "Deutsch"}
# Codes of languages have two or three letters, names have more.
MAX_CODE_LETTERS = 3


class Catalogue(NamedTuple):
    """The translations of a language by context and English text; `form` says which of the forms a count takes."""

    lines: dict[tuple[str, str], str]
    form: Callable[[int], int]


ENGLISH = Catalogue({}, lambda count: int(count != 1))
# Those in use: of the .po files, and of what was learnt since the process began.
CATALOGUES: dict[str, Catalogue] = {"en": ENGLISH}


def load_catalogue(code: str) -> Catalogue:
    """Return what is translated into a language; of one without a catalogue nothing."""
    if code in LANGUAGES and code not in CATALOGUES:
        CATALOGUES[code] = read_catalogue(code)
    return CATALOGUES.get(code, ENGLISH)


def read_catalogue(code: str) -> Catalogue:
    from babel.messages.pofile import read_po  # an English command line does without

    with Path(__file__).with_name(f"{code}.po").open("rb") as file:
        read = read_po(file)
    lines = {
        (str(each.context), join_plural_forms(each.id)): join_plural_forms(each.string)
        for each in read
        if each.id and each.string
    }
    return Catalogue(lines, c2py(read.plural_expr))


def join_plural_forms(forms: str | list[str] | tuple[str, ...]) -> str:
    """Return a text as it is written in the code: "one|many" if it has forms for counts."""
    return forms if isinstance(forms, str) else "|".join(forms)


def translate(context: str, text: str, language: str = "", /, **values: Any) -> str:
    """Return the text in the language, with its values. Whole numbers are written with the language's marks."""
    known = load_catalogue(primary_language_code(language))
    return complete_text(known.lines.get((context, text), text), language, values)


def translate_count(context: str, text: str, count: int, language: str = "", /, **values: Any) -> str:
    """Return the text for a count of one or several, or "" for none."""
    return translate(context, text, language, count=count, **values) if count else ""


def complete_text(text: str, language: str, values: Mapping[str, Any]) -> str:
    """Return a translated text with its values, in the form that its `count` takes."""
    forms, count = text.split("|"), values.get("count")
    form = load_catalogue(primary_language_code(language)).form(count if isinstance(count, int) else 2)
    said = {
        name: localize_figure(f"{each:,}", language) if isinstance(each, int) else each for name, each in values.items()
    }
    return forms[min(form, len(forms) - 1)].format(**said) if said else forms[min(form, len(forms) - 1)]


def list_context_texts(context: str) -> list[tuple[str, str]]:
    """Return all texts of a context, with their whole contexts. The order is kept, for it is that of prompts."""
    return [each for each in load_catalogue("de").lines if each[0].partition(":")[0] == context]


def add_translations(language: str, lines: Mapping[tuple[str, str], str]) -> None:
    """Add what a model translated; the rest stays English. The languages that come with us stay as they are."""
    if (code := primary_language_code(language)) not in LANGUAGES:
        CATALOGUES.setdefault(code, Catalogue({}, ENGLISH.form)).lines.update(lines)


def localize_figure(written: str, language: str = "") -> str:
    """A figure that is written as in English, "1,577.20", as the language writes it."""
    return written.translate(figure_marks(primary_language_code(language)))


@lru_cache
def figure_marks(code: str) -> dict[int, str]:
    """Return what the marks of English figures become: 1.577,20 or 1 577,20; nothing for an unknown language."""
    if code in ("", "en"):
        return {}
    from babel import Locale, UnknownLocaleError

    try:
        symbols = Locale(code).number_symbols["latn"]
    except (UnknownLocaleError, KeyError):
        return {}
    return str.maketrans({",": symbols["group"], ".": symbols["decimal"]})


@lru_cache
def primary_language_code(language: str) -> str:
    """ "es" of "es-MX", of "es_MX" and of "Spanish", whether there is a catalogue or not."""
    first = language.strip().lower().replace("-", " ").replace("_", " ").partition(" ")[0]
    # Languages as plans name them; Babel knows the English names of the others.
    return {"english": "en", "german": "de", "deutsch": "de"}.get(first) or (
        first if len(first) <= MAX_CODE_LETTERS else find_language_code(first)
    )


@lru_cache
def find_language_code(name: str) -> str:
    """Return the code of a language by its English name in small letters; the name where it is unknown."""
    from babel import Locale

    return next((code for code, each in Locale("en").languages.items() if each.lower() == name), name)
