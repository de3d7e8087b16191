"""Bring the .po files up to date with the texts in the code; with `--check`, only say whether they are.

New texts are added without a translation, behind the others of their context, and texts that the code no longer has are
removed. All others keep their places: models are asked to translate them in that order, so a text that moves within the
code leaves the prompts, and the answers that are kept for them, as they are.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

from babel.messages.catalog import Catalog
from babel.messages.extract import extract_from_file
from babel.messages.pofile import read_po, write_po

from tablewright.domain.text import pluralize_noun
from tablewright.messages.catalogue import LANGUAGES, join_plural_forms

SOURCE = Path(__file__).parents[1] / "src" / "tablewright"
OBJECTS = {"asking": "ask", "state": "shortlist", "_state": "shortlist", "_say": "shortlist"}
WORDS = {"words": "report", "_words": "report"}
# What knows the language, with the context of the texts that it is handed: `asking.translate("…")`, `words("…")`.
BY_PACKAGE = {
    "reports": WORDS,
    "research": WORDS,
    "shortlist": {"say": "shortlist"},
    "page": {"t": "page", **WORDS},
    "table": {"t": "page"},
}
TYPES = {"AskText": "ask", "PageText": "page", "ReportText": "report", "ShortlistText": "shortlist"}
HEADER = """\
# The texts of Tablewright: {name}. English is in the code; scripts/texts.py brings this file up to date with it.
msgid ""
msgstr ""
"Language: {code}\\n"
"Plural-Forms: {plural}\\n"
"Content-Type: text/plain; charset=utf-8\\n"
"Content-Transfer-Encoding: 8bit\\n"

"""


def texts_in_code() -> Iterator[tuple[str, str]]:
    """Yield every text with its context, in the order of the code."""
    for path in sorted(SOURCE.rglob("*.py")):
        yield from texts_in_module(path)
    for path in sorted(SOURCE.rglob("reports/*.html")):
        found = extract_from_file("jinja2", path, keywords={"words": None})
        yield from (("report", join_plural_forms(text)) for _, text, *_ in found)
    for path in sorted(SOURCE.rglob("*.js")):
        found = extract_from_file("javascript", path, keywords={"t": None}, options={"parse_template_string": True})
        yield from (("page", str(text)) for _, text, *_ in found)


def texts_in_module(path: Path) -> Iterator[tuple[str, str]]:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    objects = OBJECTS | BY_PACKAGE.get(path.parent.name, {})
    for node in ast.walk(tree):
        if isinstance(node, ast.ClassDef) and (context := context_of_class(node)):
            for call in calls_in(node):
                if parts_of(call.func) in (["self"], ["self", "translate"]):
                    yield from ((context, text) for text in strings_in(call.args[0]))
        elif isinstance(node, ast.AnnAssign) and isinstance(node.annotation, ast.Subscript) and node.value is not None:
            if context := TYPES.get(parts_of(node.annotation.value)[-1], ""):
                yield from ((context, text) for text in strings_in(node.value))
        elif isinstance(node, ast.Call) and node.args:
            yield from texts_in_call(node, objects)


def calls_in(node: ast.AST) -> Iterator[ast.Call]:
    yield from (each for each in ast.walk(node) if isinstance(each, ast.Call) and each.args)


def texts_in_call(call: ast.Call, objects: dict[str, str]) -> Iterator[tuple[str, str]]:
    *owners, name = parts_of(call.func)
    if name in ("translate", "translate_count") and not owners:
        if isinstance(call.args[0], ast.Constant):
            yield from ((str(call.args[0].value), text) for text in strings_in(call.args[1]))
    elif name == "counted_text" and objects.get("t"):
        yield from (
            ("page", f"{{count}} {noun}|{{count}} {pluralize_noun(noun, 2)}") for noun in strings_in(call.args[1])
        )
    elif name == "declare_setting":
        yield from (("page", text) for each in call.keywords if each.arg == "label" for text in strings_in(each.value))
    elif context := objects.get(owners[-1] if name == "translate" else name, ""):
        yield from ((context, text) for text in strings_in(call.args[0]))


def context_of_class(node: ast.ClassDef) -> str:
    """Return the context of a class that translates in its own language, or ""."""
    for method in node.body:
        if isinstance(method, ast.FunctionDef) and method.name in ("translate", "__call__"):
            for call in calls_in(method):
                if parts_of(call.func) == ["translate"] and isinstance(call.args[0], ast.Constant):
                    return str(call.args[0].value)
    return ""


def parts_of(function: ast.expr) -> list[str]:
    """Return the names of `limits.words.lines`, or [""] if it is no name."""
    if isinstance(function, ast.Attribute):
        return [*parts_of(function.value), function.attr]
    return [function.id] if isinstance(function, ast.Name) else [""]


def strings_in(node: ast.expr) -> Iterator[str]:
    """Yield the texts that an expression may be: of a table its values, of tuples in a table or a tuple the first."""
    match node:
        case ast.Constant(value=str(text)) if text:
            yield text
        case ast.IfExp(body=one, orelse=other):
            yield from (*strings_in(one), *strings_in(other))
        case ast.Dict(values=values) | ast.Tuple(elts=values) | ast.Set(elts=values):
            for value in values:
                yield from strings_in(value.elts[0] if isinstance(value, ast.Tuple) else value)
        case ast.Starred(value=value):
            yield from strings_in(value)


def update(path: Path, *, only_check: bool) -> list[str]:
    """Return what differs, and write the file anew unless it is only checked."""
    with path.open("rb") as file:
        old = read_po(file)
    found = dict.fromkeys(texts_in_code())
    known = {(str(each.context), join_plural_forms(each.id)): each for each in old if each.id}
    told = [f"{path.name}: new: {context}: {text!r}" for context, text in found if (context, text) not in known]
    told += [f"{path.name}: unused: {context}: {text!r}" for context, text in known if (context, text) not in found]
    if not told or only_check:
        return told
    new = Catalog(locale=old.locale)
    contexts = dict.fromkeys(context.partition(":")[0] for context, _ in (*known, *found))
    for part in contexts:
        for context, text in dict.fromkeys((*known, *found)):
            if context.partition(":")[0] == part and (context, text) in found:
                before = known.get((context, text))
                forms = tuple(text.split("|"))
                new.add(forms if len(forms) > 1 else text, before.string if before else None, context=context)
    write(path, new)
    return told


def write(path: Path, catalogue: Catalog) -> None:
    code = path.stem
    with path.open("wb") as file:
        file.write(HEADER.format(name=LANGUAGES[code], code=code, plural=catalogue.plural_forms).encode())
        write_po(file, catalogue, width=120, omit_header=True)


if __name__ == "__main__":
    only_check = "--check" in sys.argv[1:]
    differing = [
        line for path in sorted((SOURCE / "messages").glob("*.po")) for line in update(path, only_check=only_check)
    ]
    print("\n".join(differing) or "The .po files are up to date.")
    sys.exit(bool(differing) and only_check)
