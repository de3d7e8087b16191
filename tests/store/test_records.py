from __future__ import annotations

from typing import Any

import msgspec
import pytest
from sqlalchemy import Connection, insert, select

from tablewright.domain.documents import Annotation, ComparableValue, Property
from tablewright.domain.research import Angle, Brief, Research
from tablewright.domain.run import Run, RunTally, Usage
from tablewright.store import schema
from tablewright.store.conversations import research_records
from tablewright.store.records import RecordMapper
from tablewright.store.runs import Slice, SliceWork, run_records, slice_records
from tablewright.store.snapshot import annotation_records, property_records, value_records
from tablewright.store.store import Store

BRIEF = Brief(question="Why?", report_type="narrative", angles=(Angle(name="a", question="How?"),))
TYPED = ComparableValue(raw="3 to 4 kg", number=3.0, high=4.0, unit="kg", si=3.0, si_high=4.0, base="kg", truth=None)
STATED = Property(label="weight", context="Box", start=3, end=12, value=TYPED)
RUN = Run(id="r1", table_id="", kind="enrich", status="running", spec={"a": [1, None]}, started_at="2026", owner="x")
CASES: tuple[tuple[RecordMapper[Any], Any, dict[str, Any], dict[str, Any]], ...] = (
    (run_records, RUN, {"table_no": 0}, {"table_id": ""}),
    (run_records, msgspec.structs.replace(RUN, error="e", usage=Usage(llm_calls=2)), {"table_no": 0}, {"table_id": ""}),
    (
        slice_records,
        Slice(
            run_id="r1", number=2, todo=SliceWork(row_ids=(1, 2), only=((1, "A"),)), done=(1,), tally=RunTally(rows=1)
        ),
        {},
        {},
    ),
    (
        research_records,
        Research(id="d1", brief=BRIEF, table_id="t", max_tasks=3, created_at="2026", updated_at="2026"),
        {"question": "Why?"},
        {},
    ),
    (value_records, TYPED, property_records.write(STATED, annotation_id=1, position=0), {}),
    (property_records, STATED, value_records.write(TYPED, annotation_id=1, position=0), {"value": TYPED}),
    (
        annotation_records,
        Annotation(shape="row", properties=(STATED,), start=1, end=20, page=None, by="table", table=2),
        {"id": 1},
        {"properties": (STATED,)},
    ),
)


@pytest.mark.parametrize("case", CASES, ids=lambda case: type(case[1]).__name__)
async def test_a_struct_that_is_written_to_a_table_is_read_back_as_it_was(
    store: Store, case: tuple[RecordMapper[Any], Any, dict[str, Any], dict[str, Any]]
) -> None:
    mapper, struct, columns, fields = case
    table = mapper.table

    def write_and_read(connection: Connection) -> Any:
        connection.execute(insert(table).values(mapper.write(struct, **columns)))
        return mapper.read(connection.execute(select(table)).one(), **fields)

    assert await store.database.write(write_and_read) == struct


def test_a_field_may_stand_in_a_column_of_another_name_or_in_none() -> None:
    class Kept(msgspec.Struct):
        number: int
        tags: tuple[str, ...] = ()
        name: str = "as it is by default"

    mapper = RecordMapper(Kept, schema.tables, number="no", name="")
    assert mapper.write(Kept(number=3, tags=("a",))) == {"no": 3, "tags": '["a"]'}

    class Found:
        no, tags, name = 3, '["a"]', "the name of the table"

    assert mapper.read(Found) == Kept(number=3, tags=("a",))
    assert mapper.read(Found, name="b") == Kept(number=3, tags=("a",), name="b")
