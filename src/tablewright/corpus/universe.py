"""Which things a question is about: the documents of a kind, or those that speak of what is asked."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import NamedTuple

from tablewright.corpus.needs import called_of, stems
from tablewright.corpus.shelf import Shelf
from tablewright.table.corpus import Document, Question

SHEETS = frozenset(("csv", "tsv", "xlsx", "xls", "ods"))
OFTEN = 0.3
"""The share of the documents of a kind that hold a word, from which all of them are taken for what it means."""
SEVERAL = 3
"""Documents of a kind that must hold the word for it to be typical of the kind."""
MOSTLY = 0.9
"""The share of a folder that is of one kind, from which the few of a sibling kind are taken for the same."""
SIBLINGS: tuple[frozenset[str], ...] = (
    frozenset(("receipt", "invoice", "bill", "credit note")),
    frozenset(("contract", "agreement")),
    frozenset(("data sheet", "specification", "product sheet")),
    frozenset(("letter", "e-mail", "memo")),
)


class Members(NamedTuple):
    """The documents that the question is about and, in words, why; the `odd` ones are taken for it by a guess."""

    documents: Sequence[Document]
    because: str
    odd: frozenset[str] = frozenset()
    guess: str = ""
    vague: bool = False
    """Whether only a word in their texts made them members: a text may well speak of things that it is none of."""


def universe(members: Members, shelves: Mapping[str, Shelf]) -> Iterable[tuple[Document, int]]:
    """The things: of a spreadsheet its rows, and not itself."""
    for document in members.documents:
        if document.media not in SHEETS:
            yield document, 0
        elif document.id in shelves:
            for row in shelves[document.id].cells:
                yield document, row


def members_of(
    question: Question, documents: Iterable[Document], shelves: Mapping[str, Shelf], named: Collection[str]
) -> Members:
    """Documents of the asked kind; if there is no such kind, those that state something of what is asked, those that
    hold the word (`named`), and those of a kind that often does."""
    readable = [document for document in documents if not document.problem]
    called = called_of(question)
    labelled = any(label for condition in question.conditions for label in condition.of.labels) or question.of
    if not called and not labelled:
        return Members(readable, "all documents")
    if called and any(called <= stems(each.kind) or called <= stems(_folder_name(each)) for each in readable):
        return _of_kind(question.things, called, readable, named)
    holding = {each.id for each in readable if _holds(each, called, named)}
    kinds = Counter(each.kind for each in readable if each.kind)
    held = Counter(each.kind for each in readable if each.kind and each.id in holding)
    typical = {kind for kind, times in held.items() if times >= max(SEVERAL, OFTEN * kinds[kind])}
    stating = {id for id, shelf in shelves.items() if shelf.facts or shelf.rows}
    chosen = [each for each in readable if each.id in stating or each.id in holding or each.kind in typical]
    parts = ["that state something of what is asked"] if stating else []
    parts += [f'that hold the word "{question.things}"'] if holding else []
    parts += [f"of the kind {kind}" for kind in sorted(typical)]
    is_vague = bool(called) and not stating and not typical
    return Members(chosen, f"documents {', or '.join(parts)}" if parts else "", vague=is_vague)


def _of_kind(things: str, called: frozenset[str], readable: Sequence[Document], named: Collection[str]) -> Members:
    """Kinds are read from texts, and a till may print "tax invoice" on what all others call a receipt: what its owner
    filed in a folder of that name is one; the odd one among many is taken for one, and that is said."""
    kinds = {each.kind for each in readable if called <= stems(each.kind)} or {things}
    family = frozenset().union(*(each for each in SIBLINGS if each & kinds))
    folders: dict[str, Counter[bool]] = {}
    for each in readable:
        if each.kind in kinds or each.kind in family:
            folders.setdefault(_folder(each), Counter())[each.kind in kinds] += 1
    mostly = {folder for folder, count in folders.items() if count[True] >= MOSTLY * count.total()}
    chosen: list[Document] = []
    odd: dict[str, str] = {}
    for each in readable:
        is_filed = called <= stems(_folder_name(each)) and (not each.kind or each.kind in family)
        is_meant = not each.kind and _holds(each, called, named)
        if each.kind in kinds or is_filed or is_meant or _is_sheet_of(each, called):
            chosen.append(each)
        elif each.kind in family and _folder(each) in mostly:
            chosen.append(each)
            odd[each.id] = each.kind
    guess = f"what looks like {' or '.join(sorted(set(odd.values())))} was counted as {things}"
    return Members(chosen, f"documents of the kind {' or '.join(sorted(kinds))}", frozenset(odd), guess)


def _folder(document: Document) -> str:
    return document.path.rpartition("/")[0]


def _folder_name(document: Document) -> str:
    return _folder(document).rpartition("/")[2]


def _is_sheet_of(document: Document, called: frozenset[str]) -> bool:
    return document.media in SHEETS and called <= stems(f"{document.title} {document.name}")


def _holds(document: Document, called: frozenset[str], named: Collection[str]) -> bool:
    """A long text holds many words without being what they mean."""
    if not called:
        return False
    if document.id in named and "long" not in document.categories:
        return True
    title = document.title.casefold()
    return all(word[:2] in title for word in called) and called <= stems(title)
