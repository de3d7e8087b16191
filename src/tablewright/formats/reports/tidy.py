"""A report made fit to be shown: visible characters only, no empty parts, no number that leads nowhere.

Most of its words were retrieved, so nothing is taken on trust; who renders a tidy report has only to escape it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeVar, cast

import msgspec

from tablewright.domain.research import (
    Report,
    ReportCell,
    ReportTable,
    Sentence,
)
from tablewright.text import one_line

_T = TypeVar("_T")


def tidy(report: Report) -> Report:
    report = rewritten(report, one_line)
    known = frozenset(reference.number for reference in report.references)
    sections = (msgspec.structs.replace(each, sentences=_sentences(each.sentences, known)) for each in report.sections)
    answer = report.answer and _sentence(report.answer, known)
    title = report.title or report.question or "Report"
    return msgspec.structs.replace(
        report,
        title=title,
        question=report.question if report.question != title else "",
        answer=answer if answer and answer.text else None,
        summary=_sentences(report.summary, known),
        sections=tuple(section for section in sections if section.sentences),
        disagreements=_sentences(report.disagreements, known),
        next_steps=tuple(filter(None, report.next_steps)),
        table=report.table and _table(report.table, known),
        references=tuple(
            msgspec.structs.replace(each, quotes=tuple(filter(None, each.quotes))) for each in report.references
        ),
        claims=tuple(checked for checked in report.claims if checked.claim.claim_text),
        unfound=tuple(each for each in report.unfound if each.what or each.where),
        notes=tuple(filter(None, report.notes)),
    )


def rewritten(value: _T, change: Callable[[str], str]) -> _T:
    """The same value with each text in it changed, however deep it lies."""
    return cast("_T", _rewritten(value, change))


def found_nothing(report: Report) -> bool:
    has_table = report.table is not None and any(cell.text for row in report.table.rows for cell in row)
    return report.answer is None and not report.summary and not report.sections and not has_table


def _rewritten(value: object, change: Callable[[str], str]) -> object:
    if isinstance(value, str):
        return change(value)
    if isinstance(value, msgspec.Struct):
        return type(value)(**{name: _rewritten(getattr(value, name), change) for name in value.__struct_fields__})
    if isinstance(value, tuple):
        return tuple(_rewritten(item, change) for item in value)
    if isinstance(value, Mapping):
        return {_rewritten(key, change): _rewritten(item, change) for key, item in value.items()}
    return value


def _sentences(sentences: tuple[Sentence, ...], known: frozenset[int]) -> tuple[Sentence, ...]:
    return tuple(_sentence(sentence, known) for sentence in sentences if sentence.text)


def _sentence(sentence: Sentence, known: frozenset[int]) -> Sentence:
    return msgspec.structs.replace(sentence, citations=_numbers(sentence.citations, known))


def _table(table: ReportTable, known: frozenset[int]) -> ReportTable | None:
    """As wide as its widest row; None where it has neither rows nor candidates."""
    width = max([len(table.columns), *map(len, table.rows)])
    names = (*table.columns, *("" for _ in range(width - len(table.columns))))
    rows = tuple(
        (*(_cell(cell, known) for cell in row), *(ReportCell() for _ in range(width - len(row))))
        for row in table.rows
        if width
    )
    others = tuple(filter(None, table.others))
    if not rows and not others:
        return None
    columns = tuple(name or f"Column {place}" for place, name in enumerate(names, 1))
    return ReportTable(columns=columns, rows=rows, others=others)


def _cell(cell: ReportCell, known: frozenset[int]) -> ReportCell:
    return msgspec.structs.replace(cell, citations=_numbers(cell.citations, known))


def _numbers(citations: tuple[int, ...], known: frozenset[int]) -> tuple[int, ...]:
    return tuple(number for number in dict.fromkeys(citations) if number in known)
