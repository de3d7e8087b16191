"""Guess the kind of documents from their headings and folders if neither a model nor a person has set it.

Only form counts: a heading is split at numbers, dates and punctuation, and the part that heads the most other documents
is the kind, the first of equals. A folder with the name of a heading in it ("receipts") counts as a heading of all its
documents. Meaning is unknown, so this is a guess, and shown as one.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from tablewright.domain.documents import Annotation, Document
from tablewright.extraction.layout.draft import Parsed, find_title_heading
from tablewright.text import clean_one_line
from tablewright.values.dates import read_dates
from tablewright.values.vocabulary import split_tokens, stem_word


def find_document_heading(parsed: Parsed, annotations: Sequence[Annotation]) -> str:
    """Return a file's own title, the heading that names it, or its first line unless that is a field, a table or the
    heading of a section."""
    text = parsed.text
    first = len(text) - len(text.lstrip())
    line = (first, first + len(text[first:].partition("\n")[0]))
    tables = [(each.start, each.end) for each in parsed.grids]
    headings = sorted(parsed.headings)[:1]
    taken = [(line, [*tables, *headings, *((each.start, each.end) for each in annotations)])]
    if find_title_heading(text, parsed.headings):
        # "Survey: Elena" is no field there.
        taken = [*((each, tables) for each in headings), *taken]
    free = (text[start:end] for (start, end), others in taken if not any(a < end and start < b for a, b in others))
    return clean_one_line(parsed.title or next(free, ""))[:200]


def guess_kinds_from_titles(documents: Sequence[Document]) -> dict[str, str]:
    """Return the kinds of unsorted documents by id, "" if no part of the heading heads another document.

    If all documents sorted under a part are of one kind, the others get that kind."""
    parts = {each.id: split_heading_parts(each.heading) for each in documents}
    folders: dict[Path, list[str]] = {}
    for each in documents:
        folders.setdefault(Path(each.path).parent, []).extend(parts[each.id])
    named = {
        folder: [part for part in inside if have_same_stems(part, folder.name)] for folder, inside in folders.items()
    }
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


def split_heading_parts(heading: str) -> list[str]:
    """Return the parts of a heading: "lease agreement" and "mill lane" of "Lease agreement – 12 Mill Lane"."""
    for date in reversed([each for each in read_dates(heading) if len(each.iso) > len("2026")]):
        heading = f"{heading[: date.start]} | {heading[date.end :]}"
    words = heading.replace("_", " | ").casefold().split()
    parts: list[list[str]] = [[]]
    for at, word in enumerate(words):
        # The "No." before a number.
        numbers = word[-1] in ".°º" and has_digit("".join(words[at + 1 : at + 2]))
        if numbers or has_digit(word) or word in ("-", "/", "&"):
            parts.append([])
            continue
        # Punctuation, but not the hyphen of "follow-up".
        first, *others = re.split(r"[^\w&'’/-]+", word)
        parts[-1] += filter(None, [first])
        parts += ([each] if each else [] for each in others)
    return list(dict.fromkeys(each for each in map(" ".join, parts) if can_be_kind_name(each)))


def have_same_stems(one: str, other: str) -> bool:
    """Return True if the words have the same stems: "receipt" and "receipts"."""
    return list(map(stem_word, split_tokens(one))) == list(map(stem_word, split_tokens(other)))


def has_digit(word: str) -> bool:
    return any(map(str.isdigit, word))


def can_be_kind_name(part: str) -> bool:
    """Return True for a few words; a longer part is a sentence."""
    return 2 < len(part) <= 40 and len(part.split()) <= 4
