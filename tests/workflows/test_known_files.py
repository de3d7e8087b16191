"""A file that comes again goes on with its table."""

from __future__ import annotations

from pathlib import Path

from tablewright.domain.edits import RemoveRow
from tablewright.domain.files import FileOptions
from tablewright.operations.files import add_new_file_rows, import_table_file, import_table_rows, recognise_file
from tablewright.operations.operation import TableRequest
from tablewright.operations.tables import remove_table
from tablewright.services import Services
from tablewright.settings import Settings

PRICES = "Item,Price\nLamp,12\nDesk,230\n"


async def test_the_same_file_is_its_table_and_read_in_another_way_it_is_not(tmp_path: Path) -> None:
    path = tmp_path / "prices.csv"
    path.write_text(PRICES, encoding="utf-8")
    async with Services.open(Settings(home=str(tmp_path / "home"))) as services:
        assert await recognise_file(services, path) is None
        table = (await import_table_file(services, path)).table
        known = await recognise_file(services, path)
        assert known is not None
        assert (known.table.id, known.changed, known.new_rows) == (table.id, False, ())
        assert await recognise_file(services, path, FileOptions(key_field="Price")) is None
        other = tmp_path / "copy.csv"
        other.write_text(PRICES, encoding="utf-8")
        assert await recognise_file(services, other) is None
        await remove_table(services, TableRequest(table=table.id))
        assert await recognise_file(services, path) is None


async def test_of_a_changed_file_only_new_rows_are_added_and_what_people_did_stays(tmp_path: Path) -> None:
    path = tmp_path / "prices.csv"
    path.write_text(PRICES, encoding="utf-8")
    async with Services.open(Settings(home=str(tmp_path / "home"))) as services:
        table = (await import_table_file(services, path)).table
        await services.changes.set_value(table.id, 1, "Price", "15")
        await services.changes.edit(table.id, [RemoveRow(row_id=2)])
        path.write_text(PRICES.replace("12", "99") + "Chair,about 45\nlamp,1\n", encoding="utf-8")
        known = await recognise_file(services, path)
        assert known is not None
        assert known.changed
        assert [row["Item"].value for row in known.new_rows] == ["Chair"]
        await add_new_file_rows(services, known)
        rows = (await services.load(table.id)).rows
        assert [(row.cell("Item").value, row.cell("Price").value) for row in rows] == [("Lamp", 15), ("Chair", 45)]
        again = await recognise_file(services, path)
        assert again is not None
        assert not again.changed


async def test_what_a_changed_file_does_not_add_is_said(tmp_path: Path) -> None:
    path = tmp_path / "prices.csv"
    path.write_text(PRICES, encoding="utf-8")
    async with Services.open(Settings(home=str(tmp_path / "home"))) as services:
        await import_table_file(services, path)
        path.write_text(PRICES + "Chair,on request\n,5\nchair,7\nLamp,1\n", encoding="utf-8")
        known = await recognise_file(services, path)
        assert known is not None
        assert [row["Item"].value for row in known.new_rows] == ["Chair"]
        assert known.warnings == (
            "Not added: 1 row without a value in 'Item'.",
            "Not added: 1 row with the same 'Item' as another new row.",
            "Left empty: 1 value of another type than the column, in 'Price'.",
        )


async def test_a_file_with_other_columns_is_a_new_table(tmp_path: Path) -> None:
    path = tmp_path / "prices.csv"
    path.write_text(PRICES, encoding="utf-8")
    async with Services.open(Settings(home=str(tmp_path / "home"))) as services:
        await import_table_file(services, path)
        path.write_text("Item,Weight\nLamp,3\n", encoding="utf-8")
        assert await recognise_file(services, path) is None


async def test_an_uploaded_file_is_known_by_its_origin_and_read_as_it_was_then(tmp_path: Path) -> None:
    first, second = tmp_path / "1" / "prices.csv", tmp_path / "2" / "prices.csv"
    for path, content in ((first, PRICES), (second, f"{PRICES}Chair,45\n")):
        path.parent.mkdir()
        path.write_text(content, encoding="utf-8")
    upload = FileOptions(origin="upload:ann:prices.csv")
    async with Services.open(Settings(home=str(tmp_path / "home"))) as services:
        as_data = FileOptions(origin=upload.origin, header=False)
        table = (await import_table_file(services, first, as_data)).table
        known = await recognise_file(services, second, upload)
        assert known is not None
        assert known.table.id == table.id
        assert [row["Column 1"].value for row in known.new_rows] == ["Chair"]
        assert await recognise_file(services, second, FileOptions(origin="upload:bob:prices.csv")) is None


async def test_the_command_and_the_library_know_the_same_rows_again(tmp_path: Path) -> None:
    """A name in other letters, with another legal form, and as it was before somebody corrected it."""
    path = tmp_path / "makers.csv"
    path.write_text("Maker,Town\nQuarrow,Ely\nTindle Inc,Rye\nBrandt,Deal\n", encoding="utf-8")
    names: list[list[object]] = []
    for way in ("command", "library"):
        async with Services.open(Settings(home=str(tmp_path / way))) as services:
            path.write_text("Maker,Town\nQuarrow,Ely\nTindle Inc,Rye\nBrandt,Deal\n", encoding="utf-8")
            table = (await import_table_file(services, path)).table
            await services.changes.set_value(table.id, 3, "Maker", "Brant")
            path.write_text("Maker,Town\nOxley,Ware\nquarrow,Ely\nTindle GmbH,Rye\nBrandt,Deal\n", encoding="utf-8")
            if way == "library":
                assert (await import_table_file(services, path, update=True)).row_ids == (4, 1, 2, 3)
            else:
                known = await recognise_file(services, path)
                assert known is not None
                await add_new_file_rows(services, known)
            rows = (await services.load(table.id)).rows
            names.append([(row.id, row.cell("Town").value) for row in rows])
    assert names[0] == names[1] == [(1, "Ely"), (2, "Rye"), (3, "Deal"), (4, "Ware")]


async def test_two_names_with_one_key_are_two_rows_when_they_come_again(tmp_path: Path) -> None:
    rows = [{"Maker": "Tindle Inc", "Town": "Rye"}, {"Maker": "Tindle GmbH", "Town": "Ulm"}]
    async with Services.open(Settings(home=str(tmp_path))) as services:
        table = (await import_table_rows(services, rows, update=True)).table
        rows[1]["Town"] = "Bonn"
        again = await import_table_rows(services, rows, update=True)
        assert (again.table.id, again.row_ids) == (table.id, (1, 2))
        assert [row.cell("Town").value for row in again.table.rows] == ["Rye", "Bonn"]
