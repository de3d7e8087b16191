"""Asks the reader about one page, and gives what it would put into the cell."""

from __future__ import annotations

from collections.abc import Mapping

from tablewright.domain.model import Field
from tablewright.domain.retrieved import Retrieved
from tablewright.extraction import reader
from tablewright.extraction.reader import Candidate
from tablewright.extraction.subject import Subject


def candidates(
    field: Field, text: str, *, name: str = "", title: str = "", context: Mapping[str, str] | None = None
) -> list[Candidate]:
    page = Retrieved(origin="https://pages.example/one", title=title, text=text)
    return reader.read_candidates(Subject(name=name, context=context or {}), [field], [page])[field.name]


def answer(
    field: Field, text: str, *, name: str = "", title: str = "", context: Mapping[str, str] | None = None
) -> str | None:
    found = candidates(field, text, name=name, title=title, context=context)
    return found[0].value if found and found[0].score >= reader.MIN_SURE else None
