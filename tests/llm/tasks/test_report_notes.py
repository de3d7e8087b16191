"""A report is written from all notes at once where they can be shown whole."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as some

from tablewright.domain.model import Evidence
from tablewright.domain.research import SourceNote
from tablewright.llm.tasks.write_report import all_notes_fit, notes_in_full

STATEMENTS = some.lists(some.text("ab ", min_size=1, max_size=200), min_size=1, max_size=6)


@given(statements=STATEMENTS, room=some.integers(100, 2_000))
def test_notes_that_fit_are_shown_whole(statements: list[str], room: int) -> None:
    cited = Evidence(origin="https://a.example/", title="A", quote="b " * 60)
    notes = [SourceNote(number=n, statement=text, evidence=cited) for n, text in enumerate(statements, start=1)]
    whole = notes_in_full(notes, 1_000_000)
    assert (notes_in_full(notes, room) == whole) is all_notes_fit(notes, room)
