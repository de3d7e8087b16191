from __future__ import annotations

from pathlib import Path

import pytest

from tablewright.domain.edits import SetCell
from tablewright.domain.files import FileOptions
from tablewright.domain.model import Cell, Evidence, Field
from tablewright.errors import BadField, BadFile, RunError
from tablewright.store.store import Store
from tablewright.workflows.files import create_table_from_file, write_table_file

FOUND = Cell(
    value=37.5,
    raw_value="37.50",
    status="ENRICHED",
    confidence=0.9,
    run_id="r1",
    attempt=1,
    updated_at="2026-01-01T00:00:00Z",
    evidence=(Evidence(origin="https://shop.example/tea", quote="Tea costs 37.50", start=3, end=18),),
)


async def import_text(store: Store, folder: Path, text: str, **options: str) -> str:
    path = folder / "sales.csv"
    path.write_text(text)
    return (await create_table_from_file(store, path, FileOptions(**options))).table.id  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("text", "asked", "key_field", "keys"),
    [
        ("Id,Name\n1,Acme Inc.\n2,Bolt\n", "", "Name", ["acme", "bolt"]),
        ("Id,Name\n1,Acme\n2,Bolt\n", "id", "Id", ["1", "2"]),
        ("A,B\n1,2\n3,4\n", "", "A", ["1", "3"]),
    ],
)
async def test_the_column_that_names_the_rows(
    store: Store, tmp_path: Path, text: str, asked: str, key_field: str, keys: list[str]
) -> None:
    table = await store.tables.load(await import_text(store, tmp_path, text, key_field=asked))
    assert (table.key_field, [row.key for row in table.rows]) == (key_field, keys)


async def test_an_unknown_naming_column_is_said_and_nothing_is_imported(store: Store, tmp_path: Path) -> None:
    with pytest.raises(BadField, match="no column 'Firm'"):
        await import_text(store, tmp_path, "Id,Name\n1,Acme\n", key_field="Firm")
    assert await store.tables.all() == []


async def test_every_row_is_kept_also_doubled_ones(store: Store, tmp_path: Path) -> None:
    table_id = await import_text(store, tmp_path, "Name,N\nAcme,1\nACME,2\nAcme Inc,3\n")
    assert await store.tables.count(table_id) == 3


async def test_a_json_export_comes_back_with_its_evidence_marked_as_imported(store: Store, tmp_path: Path) -> None:
    table_id = await import_text(store, tmp_path, "Name,Price\nTea,12.50\nMilk,\n")
    await store.log.commit(table_id, [SetCell(row_id=2, field="Price", cell=FOUND)])
    before = await store.tables.load(table_id)
    await write_table_file(store, table_id, tmp_path / "copy.json")
    imported = await create_table_from_file(store, tmp_path / "copy.json", FileOptions())
    after = await store.tables.load(imported.table.id)
    assert (after.fields, after.rows[0], after.key_field) == (before.fields, before.rows[0], before.key_field)
    cell = after.rows[1].cell("Price")
    assert (cell.imported, cell.run_id, cell.attempt, cell.cost) == (True, None, 0, 0.0)
    assert (cell.value, cell.confidence, cell.updated_at) == (FOUND.value, FOUND.confidence, FOUND.updated_at)
    assert [(each.origin, each.quote, each.start) for each in cell.evidence] == [
        ("https://shop.example/tea", "Tea costs 37.50", None)
    ]


async def test_the_evidence_columns_of_a_csv(store: Store, tmp_path: Path) -> None:
    fields = (Field(name="Name"), Field(name="Price", type="number", question="What does {Name} cost?"))
    table = await store.tables.create("t", fields, [(Cell(value="Tea", status="ENRICHED", confidence=1.0), FOUND)])
    await write_table_file(store, table.id, tmp_path / "out.csv", evidence=True)
    assert (tmp_path / "out.csv").read_text().splitlines() == [
        "Name,Price,Price source,Price quote,Price confidence,Price basis,"
        "Price status,Price reason,Price stale,Price note",
        "Tea,37.5,https://shop.example/tea,Tea costs 37.50,0.9,,ENRICHED,,,",
    ]


async def test_whoever_exports_stale_or_flagged_values_is_told(store: Store, tmp_path: Path) -> None:
    doubted, old = Cell(value="a", status="FLAGGED"), Cell(value="b", status="ENRICHED", stale=True)
    table = await store.tables.create("t", [Field(name="Name")], [(doubted,), (old,), (old,)])
    written = await write_table_file(store, table.id, tmp_path / "out.csv")
    assert (written.row_count, written.stale, written.flagged) == (3, 2, 1)
    assert written.warnings == [
        "2 exported values are stale: the inputs have changed.",
        "1 exported value is flagged as doubtful.",
    ]


async def test_a_failed_export_leaves_what_was_there_and_no_rubbish(store: Store, tmp_path: Path) -> None:
    table_id = await import_text(store, tmp_path, "Name\nTea\n")
    target = tmp_path / "out.csv"
    target.mkdir()
    (target / "kept.txt").write_text("old")
    with pytest.raises(RunError, match="could not be written"):
        await write_table_file(store, table_id, target)
    assert (target / "kept.txt").read_text() == "old"
    assert sorted(path.name for path in tmp_path.iterdir() if "tablewright.db" not in path.name) == [
        "out.csv",
        "sales.csv",
    ]


async def test_an_export_needs_a_known_format_and_a_folder(store: Store, tmp_path: Path) -> None:
    table_id = await import_text(store, tmp_path, "Name\nTea\n")
    with pytest.raises(BadFile):
        await write_table_file(store, table_id, tmp_path / "out.doc")
    with pytest.raises(BadFile, match="does not exist"):
        await write_table_file(store, table_id, tmp_path / "nowhere" / "out.csv")
