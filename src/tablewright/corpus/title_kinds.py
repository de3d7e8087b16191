"""Guess the kind of documents from their headings and folders, where neither a model nor a person has said it.

Only form counts: a heading falls into parts at numbers, dates and punctuation marks, and the part that heads the most
other documents is the kind, the first of equals. A folder that is called like a heading in it ("receipts") counts as a
heading of all its documents. What the words mean is not known, so this is a guess, and called one.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from tablewright.domain.corpus import Annotation, Document
from tablewright.extraction.layout.draft import Parsed
from tablewright.text import one_line
from tablewright.values.dates import read_dates
from tablewright.values.vocabulary import stem, tokens

LONGEST_HEADING = 200
LONGEST_KIND = 40
MOST_WORDS = 4
_MARKS = re.compile(r"[^\w&'’/-]+")
"""Punctuation, but not that of "follow-up"."""


def heading_of(parsed: Parsed, annotations: Sequence[Annotation]) -> str:
    """The title that a file gives itself, its first heading, or its first line, unless that is a field or a table."""
    text = parsed.text
    first = len(text) - len(text.lstrip())
    line = (first, first + len(text[first:].partition("\n")[0]))
    tables = [(each.start, each.end) for each in parsed.grids]
    taken = [(line, [*tables, *((each.start, each.end) for each in annotations)])]
    taken = [*((each, tables) for each in sorted(parsed.headings)[:1]), *taken]  # "Survey: Elena" is no field there
    free = (text[start:end] for (start, end), others in taken if not any(a < end and start < b for a, b in others))
    return one_line(parsed.title or next(free, ""))[:LONGEST_HEADING]


def title_kinds(documents: Sequence[Document]) -> dict[str, str]:
    """Return by id, for unsorted documents, a kind, or "" if no part of the heading heads another document.

    If all documents that were sorted under a part are of one kind, so are the others."""
    parts = {each.id: parts_of(each.heading) for each in documents}
    folders: dict[Path, list[str]] = {}
    for each in documents:
        folders.setdefault(Path(each.path).parent, []).extend(parts[each.id])
    named = {folder: [part for part in inside if same_words(part, folder.name)] for folder, inside in folders.items()}
    for each in documents:
        parts[each.id] = list(dict.fromkeys((*parts[each.id], *named[Path(each.path).parent])))
    shared = Counter(part for each in parts.values() for part in each)
    said: dict[str, set[str]] = {}
    for each in documents:
        for part in parts[each.id] if each.is_sorted else ():
            said.setdefault(part, set()).add(each.kind)
    kinds = {}
    for each in documents:
        if not each.is_sorted and (not each.kind or each.kind_by == "title"):
            kind = max((part for part in parts[each.id] if shared[part] > 1), key=lambda part: shared[part], default="")
            agreed = said.get(kind, set())
            kinds[each.id] = next(iter(agreed)) if len(agreed) == 1 else kind
    return kinds


def parts_of(heading: str) -> list[str]:
    """ "Lease agreement – 12 Mill Lane": "lease agreement", "mill lane"."""
    for date in reversed([each for each in read_dates(heading) if len(each.iso) > len("2026")]):
        heading = f"{heading[: date.start]} | {heading[date.end :]}"
    words = heading.replace("_", " | ").casefold().split()
    parts: list[list[str]] = [[]]
    for at, word in enumerate(words):
        numbers = word[-1] in ".°º" and has_digit("".join(words[at + 1 : at + 2]))  # the "No." before a number
        if numbers or has_digit(word) or word in ("-", "/", "&"):
            parts.append([])
            continue
        first, *others = _MARKS.split(word)
        parts[-1] += filter(None, [first])
        parts += ([each] if each else [] for each in others)
    return list(dict.fromkeys(each for each in map(" ".join, parts) if is_nameable(each)))


def same_words(one: str, other: str) -> bool:
    """Return True if the words have the same stems: "receipt" and "receipts"."""
    return list(map(stem, tokens(one))) == list(map(stem, tokens(other)))


def has_digit(word: str) -> bool:
    return any(map(str.isdigit, word))


def is_nameable(part: str) -> bool:
    return 2 < len(part) <= LONGEST_KIND and len(part.split()) <= MOST_WORDS
