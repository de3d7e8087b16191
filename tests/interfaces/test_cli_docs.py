"""Documents at the command line: add, list, show, remove, table, and filling from them."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tablewright.sample.documents import sample_files
from tablewright.sample.pdf import write_pdf
from tests.interfaces.conftest import Shell

RECEIPT = "RECEIPT No. 7\nCorner Garage\nDate: 2024-03-02\n\n1 x winter tire   81.00\n\nTotal: EUR 81.00\n"
SHEET = write_pdf("Helio 300 data sheet", [["Helio 300", "Cells: 120"], ["Dimensions", "", "Width: 951 mm"]])
DOCUMENT = {
    "id", "path", "name", "title", "media", "kind", "kind_by", "categories", "size", "pages", "characters", "added_at",
    "problem",
}  # fmt: skip


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Shell:
    """Read once; the tests that use it change nothing."""
    shell = Shell(tmp_path_factory.mktemp("library"))
    papers(shell)
    shell("docs", "add", "papers/r7.txt", "--kind", "Receipt")
    shell("docs", "add", "papers")
    return shell


def papers(shell: Shell) -> None:
    folder = shell.folder / "papers"
    folder.mkdir()
    (folder / "r7.txt").write_text(RECEIPT)
    (folder / "helio-300.pdf").write_bytes(SHEET)
    (folder / "broken.pdf").write_bytes(b"%PDF-1.7 and then nothing")
    (folder / ".hidden.txt").write_text("a secret")


def test_what_was_added_is_told_as_json_and_not_read_twice(shell: Shell) -> None:
    papers(shell)
    first = shell.json("docs", "add", "papers", "--workers", "1")
    assert set(first) == {
        "added", "changed", "unchanged", "same", "unreadable", "pages", "segments", "facts", "classified",
        "from_titles", "outage", "seconds", "documents",
    }  # fmt: skip
    assert (first["added"], first["changed"], first["unchanged"], first["pages"]) == (2, 0, 0, 3)
    (unread,) = first["unreadable"]
    assert Path(unread["name"]).name == "broken.pdf"
    assert "broken" in unread["reason"]
    again = shell.json("docs", "add", "papers")
    assert (again["added"], again["unchanged"], len(again["unreadable"])) == (0, 2, 1)
    (shell.folder / "papers" / "r7.txt").write_text(RECEIPT.replace("81", "82"))
    (shell.folder / "papers" / "copy.pdf").write_bytes(SHEET)
    done = shell("docs", "add", "papers")
    said = " ".join((done.stdout + done.stderr).split())
    assert "1 read again" in said
    assert "1 the same as others" in said
    assert "broken.pdf" in said


def test_a_path_that_is_not_there_is_a_mistake_and_an_unreadable_file_is_none(shell: Shell) -> None:
    done = shell("docs", "add", "nowhere", code=2)
    assert "nowhere" in done.stderr
    assert shell.json("docs", "add", "nowhere", code=2)["error"]["type"] == "NotFound"
    shell.write("empty.txt", "")
    done = shell("docs", "add", "empty.txt")
    assert "empty" in done.stdout + done.stderr
    shell("docs", "add", code=2)


def test_documents_are_sorted_by_their_own_words_without_a_model(shell: Shell) -> None:
    papers(shell)
    shell("docs", "add", "papers", "--workers", "1")
    done = shell("docs", "kind", "data sheet", "--where", "title contains data sheet")
    assert "1 document: data sheet." in done.stdout + done.stderr
    assert [each["name"] for each in shell.json("docs", "list", "--kind", "data sheet")["documents"]] == [
        "helio-300.pdf"
    ]
    answer = shell.json("docs", "kind", "receipt", "--where", "text contains winter tire")
    assert answer == {"kind": "receipt", "documents": 1}
    reply = shell.json("ask", "--where", "kind = receipt and total > 80 EUR")
    assert (reply["count"], reply["ledger"]["total"]) == (1, 2)
    assert "No document meets" in shell("docs", "kind", "poem", "--where", "title contains poem", code=2).stderr
    assert "Name documents" in shell("docs", "kind", "poem", code=2).stderr
    assert "Name documents" in shell("docs", "kind", "poem", "r7.txt", "--where", "title contains r7", code=2).stderr


def test_what_there_is_can_be_listed(library: Shell, shell: Shell) -> None:
    listed = library.json("docs", "list")["documents"]
    assert {each["name"] for each in listed} == {"r7.txt", "broken.pdf", "helio-300.pdf"}
    assert [each["added_at"] for each in listed] == sorted(each["added_at"] for each in listed)
    assert set(listed[0]) == DOCUMENT
    assert [each["name"] for each in library.json("docs", "list", "--unreadable")["documents"]] == ["broken.pdf"]
    assert [each["name"] for each in library.json("docs", "list", "--kind", "receipt")["documents"]] == ["r7.txt"]
    assert "helio-300.pdf" in library("docs", "list").stdout
    assert shell.json("docs", "list") == {"documents": [], "next": None}
    assert "docs add" in shell("docs", "list").stderr


def test_one_document_is_shown_with_its_facts_and_where_they_stand(library: Shell) -> None:
    report = library.json("docs", "show", "helio-300.pdf")
    assert set(report) == {"document", "facts", "summaries"}
    assert set(report["document"]) == DOCUMENT
    facts = library.json("docs", "facts", "helio-300.pdf")["facts"]
    assert report["facts"] == len(facts)
    (width,) = [fact for fact in facts if fact["label"].endswith("Width")]
    assert set(width) == {
        "label", "value", "page", "by", "quote", "row", "si", "base", "date", "currency", "ambiguity",
    }  # fmt: skip
    assert (width["value"], width["page"], width["base"]) == ("951 mm", 2, "m")
    assert width["si"] == pytest.approx(0.951)
    assert "951 mm" in width["quote"]
    for name in (report["document"]["id"], report["document"]["path"], "papers/helio-300.pdf"):
        assert library.json("docs", "show", name)["document"] == report["document"]
    assert "951 mm" in library("docs", "show", "helio-300.pdf").stdout
    broken = library("docs", "show", "broken.pdf")
    assert "broken PDF" in broken.stdout + broken.stderr


def test_a_document_that_there_is_not_is_said_with_those_like_it(library: Shell) -> None:
    assert "helio-300.pdf" in library("docs", "show", "helio-30.pdf", code=2).stderr
    assert library.json("docs", "show", "helio-30.pdf", code=2)["error"]["type"] == "NotFound"


def test_what_is_removed_is_gone_and_the_file_stays(shell: Shell) -> None:
    papers(shell)
    shell("docs", "add", "papers")
    shell("docs", "remove", "r7.txt", "nobody.txt", code=2)
    assert len(shell.json("docs", "list")["documents"]) == 3
    gone = shell.json("docs", "remove", "r7.txt", "papers/r7.txt")
    assert [each["name"] for each in gone["removed"]] == ["r7.txt"]
    assert set(gone["removed"][0]) == DOCUMENT
    assert (shell.folder / "papers" / "r7.txt").exists()
    assert shell.json("ask", "all receipts that contain tires")["count"] in (0, None)
    shell("docs", "remove", "r7.txt", code=2)


def test_a_name_cannot_command_the_terminal_nor_break_the_json(shell: Shell) -> None:
    folder = shell.folder / "papers"
    folder.mkdir()
    (folder / "[bold]\x1b[31mred.txt").write_text(RECEIPT)
    (folder / os.fsdecode(b"caf\xe9.txt")).write_text(RECEIPT.replace("7", "8"))
    assert shell.json("docs", "add", "papers")["added"] >= 1
    shown = shell("docs", "list").stdout
    assert "\x1b" not in shown
    assert "[bold]" in shown
    assert len(shell.json("docs", "list")["documents"]) == 2


def test_annotating_without_a_model_says_what_is_needed(library: Shell) -> None:
    assert "TABLEWRIGHT_MODEL" in library("docs", "annotate", code=2).stderr


def test_a_table_of_documents_is_filled_from_them_with_page_and_quote(shell: Shell) -> None:
    papers(shell)
    shell("docs", "add", "papers/helio-300.pdf", "--kind", "data sheet")
    made = shell.json("docs", "table", "sheets", "--kind", "data sheet")
    assert set(made) == {"table_id", "name", "key_field", "row_count", "fields", "warnings"}
    assert made["row_count"] == 1
    report = shell.json("enrich", "sheets", "--strategy", "documents", "--field", "Width:number(mm)", "--yes")
    cell = report["rows"][0]["cells"]["Width"]
    assert cell["value"] == 951
    evidence = cell["evidence"][0]
    assert evidence["page"] == 2
    assert "951 mm" in evidence["quote"]
    shell("docs", "table", "poems", "--kind", "poem", code=2)


def test_a_file_is_filled_from_documents_by_option(shell: Shell) -> None:
    sample = next(each for each in sample_files() if each.name.endswith("hc-terra-500.pdf"))
    (shell.folder / "terra.pdf").write_bytes(sample.content)
    shell("docs", "add", "terra.pdf")
    shell.write("panels.csv", "Panel\nHelioscrest HC-Terra 500\n")
    asked = ("enrich", "panels.csv", "--field", "Width:number(m)", "--yes", "--sources")
    report = shell.json(*asked, "docs")
    cell = report["rows"][0]["cells"]["Width"]
    assert cell["value"] == pytest.approx(1.303)
    assert cell["evidence"][0]["page"] == 1
    assert report["usage"]["fetches"] == 0
    assert "docs,web" in shell(*asked, "moon", code=2).stderr
