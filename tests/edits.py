"""Random tables and edits that fit them, for the property tests."""

from __future__ import annotations

from hypothesis import strategies as st

from tablewright.domain.edits import AddField, AddRow, ChangeField, Edit, FlagCell, RemoveField, RemoveRow, SetCell
from tablewright.domain.model import Cell, Conflict, Evidence, Field, Money, Row, Table, Value, make_given_cell

texts = st.text(st.characters(codec="utf-8"), max_size=12)
names = st.sampled_from(["Name", "Price", "Ünit", "a b", "Total", "=x", "Quote 'n' \"more\""])
values: st.SearchStrategy[Value] = st.one_of(
    texts,
    st.integers(-(10**12), 10**12),
    st.floats(allow_nan=False, allow_infinity=False),
    st.booleans(),
    st.lists(texts, max_size=3).map(tuple),
    st.builds(Money, amount=st.integers(-1000, 1000), currency=st.sampled_from(["", "EUR", "USD"])),
)
evidence = st.builds(
    Evidence, origin=texts, quote=texts, start=st.none() | st.integers(0, 99), page=st.none() | st.just(3)
)
written_cells = st.builds(
    Cell,
    value=values | st.none(),
    raw_value=st.none() | texts,
    status=st.sampled_from(["PENDING", "ENRICHED", "FAILED", "FLAGGED"]),
    reason=st.none() | st.sampled_from(["not_found", "blocked", "error"]),
    confidence=st.none() | st.floats(0, 1),
    evidence=st.lists(evidence, max_size=2).map(tuple),
    conflict=st.lists(st.builds(Conflict, value=values, evidence=st.just(())), max_size=1).map(tuple),
    attempt=st.integers(0, 3),
    run_id=st.none() | st.just("r1"),
    updated_at=st.none() | st.just("2026-01-01T00:00:00Z"),
    error=st.none() | texts,
)
given_cells = st.builds(make_given_cell, values, st.none() | texts)
cells = st.one_of(given_cells, written_cells)
fields = st.builds(
    Field, name=names, type=st.sampled_from(["text", "number"]), question=texts, unit=st.sampled_from(["", "kg"])
)


@st.composite
def tables(draw: st.DrawFn) -> Table:
    own = draw(st.lists(fields, max_size=4, unique_by=lambda field: field.name))
    rows = [
        Row(id=row_id, key=draw(texts.filter(lambda key: "\0" not in key)), cells=draw(cells_of(own)))
        for row_id in range(1, draw(st.integers(0, 4)) + 1)
    ]
    return Table(id="t", name="t", fields=tuple(own), rows=tuple(rows))


def cells_of(own: list[Field]) -> st.SearchStrategy[dict[str, Cell]]:
    filled = cells.filter(lambda cell: cell != Cell())
    if not own:
        return st.just({})
    return st.dictionaries(st.sampled_from([field.name for field in own]), filled, max_size=len(own))


def edits_for(table: Table) -> st.SearchStrategy[Edit]:
    """An edit that fits the table as it is now."""
    taken = {field.name for field in table.fields}
    choices: list[st.SearchStrategy[Edit]] = [
        st.builds(AddRow, key=st.just("k"), cells=cells_of(list(table.fields))),
    ]
    new_fields = fields.filter(lambda field: field.name not in taken)
    if len(taken) < 7:
        choices.append(st.builds(AddField, field=new_fields, position=st.none() | st.integers(0, len(taken))))
    if taken:
        choices.append(st.builds(RemoveField, name=st.sampled_from(sorted(taken))))
        if len(taken) < 7:
            choices.append(st.builds(ChangeField, name=st.sampled_from(sorted(taken)), field=new_fields))
    if table.rows:
        row_ids = st.sampled_from([row.id for row in table.rows])
        choices.append(st.builds(RemoveRow, row_id=row_ids))
        if taken:
            field = st.sampled_from(sorted(taken))
            choices.append(st.builds(SetCell, row_id=row_ids, field=field, cell=cells))
            choices.append(st.builds(SetCell, row_id=row_ids, field=field, cell=cells))
            choices.append(st.builds(FlagCell, row_id=row_ids, field=field, note=texts))
    return st.one_of(choices)
