"""Tidy a report for display: visible characters only, no empty parts, no number without a reference.

Most of its words were retrieved, so nothing is trusted; a renderer only has to escape a tidy report. Pure functions.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import msgspec

from tablewright.domain.research import Report, ReportCell, ReportTable, Sentence
from tablewright.text import clean_one_line


def tidy_report(report: Report) -> Report:
    # First, because a text of invisible characters alone is empty only afterwards.
    report = map_texts(report, clean_one_line)
    known = frozenset(reference.number for reference in report.references)
    sections = (
        msgspec.structs.replace(each, sentences=_tidy_sentences(each.sentences, known)) for each in report.sections
    )
    answer = report.answer and _tidy_sentence(report.answer, known)
    title = report.title or report.question or "Report"
    return msgspec.structs.replace(
        report,
        title=title,
        question=report.question if report.question != title else "",
        answer=answer if answer and answer.text else None,
        summary=_tidy_sentences(report.summary, known),
        sections=tuple(section for section in sections if section.sentences),
        disagreements=_tidy_sentences(report.disagreements, known),
        next_steps=tuple(filter(None, report.next_steps)),
        table=report.table and _tidy_table(report.table, known),
        references=tuple(
            msgspec.structs.replace(each, quotes=tuple(filter(None, each.quotes))) for each in report.references
        ),
        claims=tuple(checked for checked in report.claims if checked.claim.claim_text),
        unfound=tuple(each for each in report.unfound if each.what or each.where),
        notes=tuple(filter(None, report.notes)),
    )


def found_nothing(report: Report) -> bool:
    has_table = report.table is not None and any(cell.text for row in report.table.rows for cell in row)
    return report.answer is None and not report.summary and not report.sections and not has_table


def map_texts(value: Any, change: Callable[[str], str]) -> Any:
    """Return the value with `change` applied to every text in it, at any depth."""
    if isinstance(value, str):
        return change(value)
    if isinstance(value, msgspec.Struct):
        return type(value)(**{name: map_texts(getattr(value, name), change) for name in value.__struct_fields__})
    if isinstance(value, tuple):
        return tuple(map_texts(item, change) for item in value)
    if isinstance(value, Mapping):
        return {map_texts(key, change): map_texts(item, change) for key, item in value.items()}
    return value


def _tidy_sentences(sentences: tuple[Sentence, ...], known: frozenset[int]) -> tuple[Sentence, ...]:
    return tuple(_tidy_sentence(sentence, known) for sentence in sentences if sentence.text)


def _tidy_sentence(sentence: Sentence, known: frozenset[int]) -> Sentence:
    return msgspec.structs.replace(sentence, citations=_known_numbers(sentence.citations, known))


def _tidy_table(table: ReportTable, known: frozenset[int]) -> ReportTable | None:
    """Return the table as wide as its widest row, or None if it has neither rows nor candidates."""
    width = max([len(table.columns), *map(len, table.rows)])
    names = (*table.columns, *("" for _ in range(width - len(table.columns))))
    rows = tuple(
        (
            *(msgspec.structs.replace(cell, citations=_known_numbers(cell.citations, known)) for cell in row),
            *(ReportCell() for _ in range(width - len(row))),
        )
        for row in table.rows
        if width
    )
    others = tuple(filter(None, table.others))
    if not rows and not others:
        return None
    columns = tuple(name or f"Column {place}" for place, name in enumerate(names, 1))
    return ReportTable(columns=columns, rows=rows, others=others)


def _known_numbers(citations: tuple[int, ...], known: frozenset[int]) -> tuple[int, ...]:
    return tuple(number for number in dict.fromkeys(citations) if number in known)
