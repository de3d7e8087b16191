"""Asking at the command line: one question, one that goes on, and a chat."""

from __future__ import annotations

import csv
import json
import os
import pty
import select
import shutil
import signal
import time
from pathlib import Path

import pytest

from tests.interfaces.conftest import TABLEWRIGHT, Shell
from tests.patience import PATIENCE

RECEIPTS = "all receipts that contain tires"
REPLY = {
    "question", "answer", "intent", "more", "citations", "columns", "rows", "count", "completeness", "reason", "ledger",
    "route", "route_reason", "fallbacks", "attempts", "relaxed", "result_id", "export", "clarification",
    "degraded", "conversation", "form", "not_understood", "outages", "is_listed",
    "contradictions", "language",
}  # fmt: skip


@pytest.fixture(scope="module")
def read_library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    shell = Shell(tmp_path_factory.mktemp("library"))
    folder = shell.folder / "papers"
    (folder / "receipts").mkdir(parents=True)
    for number in range(1, 56):
        item = "winter tire" if number <= 53 else "garden hose"
        date = f"{2024 if number <= 3 else 2023}-03-{number % 28 + 1:02}"
        (folder / "receipts" / f"r{number:02}.txt").write_text(
            f"RECEIPT No. {number}\nCorner Garage\nDate: {date}\n\n1 x {item}   {number}.00\n\nTotal: EUR {number}.00\n"
        )
    (folder / "broken.pdf").write_bytes(b"%PDF-1.7 and then nothing")
    (folder / "pump.md").write_text("# Pump P9\n\nThe pump of type P9 is bled through the upper valve.\n")
    shell("docs", "add", "papers/receipts", "--kind", "receipt")
    shell("docs", "add", "papers")
    return shell.folder


@pytest.fixture
def library(read_library: Path, shell: Shell) -> Shell:
    shutil.copytree(read_library / "home", shell.folder / "home", dirs_exist_ok=True)
    return shell


def test_without_documents_it_says_what_to_do(shell: Shell) -> None:
    assert "tablewright docs add" in shell("ask", RECEIPTS, code=2).stderr
    error = shell.json("ask", RECEIPTS, code=2)["error"]
    assert error["type"] == "UsageError"
    assert "docs add" in error["advice"]


def test_without_a_question_nobody_waits_for_one(library: Shell) -> None:
    assert "no question" in library("ask", code=2).stderr
    assert "no question" in library("ask", "  ", code=2).stderr
    assert library.json("ask", code=2)["error"]["type"] == "UsageError"


def test_a_model_that_never_answers_is_said_after_what_was_found_without_it(library: Shell) -> None:
    nobody = {"TABLEWRIGHT_MODEL_BASE_URL": "http://127.0.0.1:9/v1", "TABLEWRIGHT_MODEL_API_KEY": "k"}
    library.environ |= {"TABLEWRIGHT_MODEL": "openai:gpt-4o-mini", **nobody}
    done = library("ask", RECEIPTS, code=1)
    assert "53" in done.stdout
    assert "Error: The model failed" in done.stderr
    assert "gpt-4o-mini cannot be reached" in done.stderr
    assert library.json("ask", RECEIPTS, code=1)["count"] == 53, "one document, whatever is said beside it"
    assert "The model failed" not in library("ask", RECEIPTS, "--model", "builtin").stderr


def test_the_reply_as_json_has_everything(library: Shell) -> None:
    reply = library.json("ask", RECEIPTS)
    assert set(reply) == REPLY
    assert (reply["count"], len(reply["rows"]), reply["intent"], reply["more"]) == (53, 50, "enumeration", 3)
    assert set(reply["ledger"]) == {
        "things", "total", "matched", "no_match", "not_stated", "unreadable", "undecided",
    }  # fmt: skip
    ledger = reply["ledger"]
    assert (ledger["total"], ledger["matched"], ledger["no_match"], ledger["unreadable"]) == (56, 53, 2, 1)
    assert set(reply["rows"][0]) == {"document_id", "title", "values", "page", "source"}
    cited = {each["number"]: each for each in reply["citations"]}
    assert set(cited[1]) == {
        "number", "document_id", "title", "path", "quote", "page", "start", "end", "content_hash", "highlight",
    }  # fmt: skip
    for row in reply["rows"]:
        assert cited[row["source"]]["document_id"] == row["document_id"]
    assert set(reply["attempts"][0]) == {"tool", "asked", "matches", "threshold", "note", "seconds"}


def test_the_reply_for_people_says_what_is_missing(library: Shell) -> None:
    done = library("ask", RECEIPTS, "--trace")
    assert "53 receipts match" in done.stdout
    assert "r01" in done.stdout
    assert "r50" in done.stdout
    assert "Matched 53 of 55 receipts; 1 document could not be read" in done.stderr
    assert "3 more" in done.stderr
    assert "Route: " in done.stderr
    assert "annotations_search(" in done.stderr
    assert "--conversation c" in done.stderr


def test_a_question_is_shown_as_the_form_that_was_looked_up_or_with_what_was_not_understood(library: Shell) -> None:
    assert "Looked up: kind = receipt and Total > 50 EUR." in library("ask", "receipts with a total over 50 EUR").stderr
    done = library("ask", "which receipts are still unpaid?")
    assert "Not understood: “still”, “unpaid”." in done.stdout
    assert "Understood so far: kind = receipt." in done.stderr


def test_a_short_list_is_printed_once_with_its_sources(library: Shell) -> None:
    done = library("ask", "--where", "kind = receipt and Total > 53 EUR")
    assert done.stdout.count("r55: ") == 1
    assert "- r55: Total 55 EUR [source 2]" in done.stdout
    assert "“Total: EUR 55.00”" in done.stdout
    assert "┃" not in done.stdout


def test_a_passage_is_cited_with_its_file(library: Shell) -> None:
    done = library("ask", "How is the pump P9 bled?")
    assert "upper valve" in done.stdout
    assert "[source 1]" in done.stdout
    assert "pump.md" in done.stdout


def test_a_question_without_an_answer_is_no_error_and_cites_nothing(library: Shell) -> None:
    done = library("ask", "Who won the world cup final of 1966?")
    assert "cannot be answered" in done.stdout
    assert "[source" not in done.stdout + done.stderr


def test_a_conversation_goes_on_and_its_table_is_written_where_it_was_asked_for(library: Shell) -> None:
    first = library.json("ask", RECEIPTS)
    going_on = ("ask", "--conversation", first["conversation"])
    rest = library.json(*going_on, "show the rest")
    assert set(rest) == REPLY
    assert [row["title"] for row in rest["rows"]] == ["r51", "r52", "r53"]
    assert "Rows 51" not in library(*going_on, "show the rest").stdout
    done = library(*going_on, "export that table to tires.csv")
    assert "Wrote 53 rows to tires.csv" in done.stderr
    assert len(rows_of(library.folder / "tires.csv")) == 53
    assert library.json(*going_on, "--rest")["rows"] == []
    few = library.json(*going_on, "--where", "kind = receipt and text contains tires and date in 2024")
    assert (few["count"], few["conversation"]) == (3, first["conversation"])
    reply = json.loads(library(*going_on, "export that table to few.csv", "--json").stdout)
    assert reply["export"] == "few.csv"
    assert [Path(row["path"]).name for row in rows_of(library.folder / "few.csv")] == ["r01.txt", "r02.txt", "r03.txt"]
    assert "nobody" in library("ask", "--conversation", "nobody", RECEIPTS, code=2).stderr


def test_conversations_are_listed_and_reopened_in_a_chat(library: Shell) -> None:
    first = library.json("ask", "how many receipts are there?")
    (listed,) = library.json("conversations", "list")["conversations"]
    assert (listed["conversation"], listed["title"]) == (first["conversation"], "how many receipts are there?")
    screen, code = chatted(library, [""], "--conversation", first["conversation"])
    assert code == 0
    assert "55 receipts match." in screen


def rows_of(path: Path) -> list[dict[str, str]]:
    return list(csv.DictReader(path.read_text(encoding="utf-8-sig").splitlines()))


def test_all_rows_are_written_by_option_and_the_json_stays_whole(library: Shell) -> None:
    reply = json.loads(library("ask", RECEIPTS, "--export", "all.csv", "--json").stdout)
    assert reply["count"] == 53
    assert len(rows_of(library.folder / "all.csv")) == 53
    sheet = library("ask", RECEIPTS, "--export", "all.xlsx")
    assert "Wrote 53 rows" in sheet.stderr
    assert (library.folder / "all.xlsx").read_bytes().startswith(b"PK")


def test_what_cannot_be_written_is_said(library: Shell) -> None:
    done = library("ask", RECEIPTS, "--export", "all.docx", code=2)
    assert "all.docx" in done.stderr
    assert done.stdout == ""
    library("ask", RECEIPTS, "--export", "nowhere/all.csv", code=2)
    library("ask", "Who won the world cup final of 1966?", "--export", "none.csv", code=2)
    assert not (library.folder / "none.csv").exists()


def test_a_model_that_there_is_not_is_a_mistake(library: Shell) -> None:
    assert "altavista" in library("ask", RECEIPTS, "--model", "altavista:x", code=2).stderr


def test_in_a_chat_questions_go_on_and_a_mistake_does_not_end_it(library: Shell) -> None:
    screen, code = chatted(library, [RECEIPTS, 'export that table to "x.docx"', "how many receipts are there?", ""])
    assert code == 0
    assert "53 receipts match" in screen
    assert "Error: " in screen
    assert "55 receipts match" in screen.partition("Error: ")[2]


def chatted(shell: Shell, lines: list[str], *options: str) -> tuple[str, int]:
    """Types a line at each prompt, at a terminal."""
    pid, terminal = pty.fork()
    if pid == 0:
        os.chdir(shell.folder)
        os.execve(TABLEWRIGHT, [TABLEWRIGHT, "ask", *options], shell.environ)
    screen, seen, deadline = b"", 0, time.monotonic() + PATIENCE
    while True:
        if time.monotonic() > deadline:
            os.kill(pid, signal.SIGKILL)
        if not select.select([terminal], [], [], 0.5)[0]:
            continue
        try:
            screen += os.read(terminal, 65536)
        except OSError:
            break
        if lines and screen[seen:].endswith(b"> "):
            seen = len(screen)
            os.write(terminal, f"{lines.pop(0)}\n".encode())
    _, status = os.waitpid(pid, 0)
    os.close(terminal)
    return screen.decode(errors="replace"), os.waitstatus_to_exitcode(status)


def test_a_question_that_names_no_kind_says_so_and_looks_nothing_up(library: Shell) -> None:
    done = library("ask", "total over 130 EUR")
    assert "It names no kind of document, and no table, that is known." in done.stdout
    assert "Understood so far: Total > 130 EUR." in done.stderr
    assert "Looked up" not in done.stderr
