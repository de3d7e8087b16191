"""The command line as a person or a program uses it: real processes, real files, both databases."""

from __future__ import annotations

import csv
import json
import os
import pty
import re
import select
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
import typer
from typer.core import TyperCommand, TyperGroup
from typer.testing import CliRunner

from tablewright.interfaces.cli.main import app
from tablewright.operations.runs import RunShown
from tests.interfaces.conftest import TABLEWRIGHT, Shell
from tests.patience import PATIENCE

SALES = "First,Last,Price,Quantity\nAnn,Lee,12.50,3\nBob,O'Neil,4,2\nCy,Ng,,4\n"
TOTAL = "Total:number=round({Price} * {Quantity}, 2)"


def test_the_whole_path_import_compute_review_apply_history_undo_export(any_shell: Shell) -> None:
    shell = any_shell
    shell.write("sales.csv", SALES)
    shell("tables", "import", "sales.csv")
    shell("enrich", "sales", "--strategy", "computation", "--field", TOTAL, "--review")
    (proposal,) = shell.json("proposals", "list")["proposals"]
    assert "Total" not in shell("tables", "show", "sales").stdout
    assert "37.5" in shell("proposals", "show", proposal["id"]).stdout
    shell("proposals", "apply", proposal["id"])
    assert "37.5" in shell("tables", "show", "sales").stdout
    newest = shell.json("tables", "history", "sales")["changes"][0]
    assert (newest["kind"], newest["run_id"]) == ("apply", proposal["run_id"])
    shell("tables", "undo", "sales", "--run", proposal["run_id"])
    assert "Total" not in shell("tables", "show", "sales").stdout
    shell("tables", "undo", "sales")
    shell("tables", "export", "sales", "out.csv")
    with (shell.folder / "out.csv").open(newline="") as stream:
        assert list(csv.reader(stream)) == [
            ["First", "Last", "Price", "Quantity", "Total"],
            ["Ann", "Lee", "12.50", "3", "37.5"],
            ["Bob", "O'Neil", "4", "2", "8"],
            ["Cy", "Ng", "", "4", ""],
        ]


def test_enrich_a_file_in_one_command(shell: Shell) -> None:
    shell.write("sales.csv", SALES)
    fields = ("--field", TOTAL, "--field", "Name={First} + ' ' + {Last}")
    shell("enrich", "sales.csv", "--strategy", "computation", *fields, "--out", "out.csv", "--yes")
    assert (shell.folder / "out.csv").read_text().splitlines()[1] == "Ann,Lee,12.50,3,37.5,Ann Lee"


def test_enrich_prints_one_json_document_in_the_promised_shape(shell: Shell) -> None:
    shell.write("sales.csv", SALES)
    document = shell.json("enrich", "sales.csv", "--field", TOTAL, "--yes")
    assert {"table_id", "run_id", "proposal_id", "fields", "rows", "usage"} <= document.keys()
    assert document["usage"].keys() == {
        "llm_calls",
        "input_tokens",
        "cached_tokens",
        "output_tokens",
        "searches",
        "fetches",
        "cache_hits",
        "cost_usd",
        "seconds",
    }
    first, _, third = document["rows"]
    cell = first["cells"]["Total"]
    assert (first["row_id"], first["key"]) == (1, "ann")
    assert (cell["value"], cell["status"], cell["confidence_label"], cell["attempt"]) == (37.5, "ENRICHED", "high", 1)
    assert cell["evidence"][0]["quote"] == "round(12.5 * 3, 2) = 37.5"
    assert [step["type"] for step in cell["steps"]] == ["compute", "answer"]
    empty = third["cells"]["Total"]
    assert (empty["value"], empty["status"], empty["reason"]) == (None, "FAILED", "not_applicable")
    assert document["proposal_status"] == "applied"


def test_a_proposal_as_json_has_its_reasoning_and_every_operation_with_its_steps(shell: Shell) -> None:
    shell.write("sales.csv", SALES)
    made = shell.json("enrich", "sales.csv", "--field", TOTAL)
    document = shell.json("proposals", "show", made["proposal_id"])
    assert document["proposal"]["reasoning"] == "Computation: Total — found 2 of 3 rows"
    assert [(each["row_id"], each["field"], each["cell"]["value"]) for each in document["operations"]] == [
        (1, "Total", 37.5),
        (2, "Total", 8),
        (3, "Total", None),
    ]
    assert all(each["steps"] for each in document["operations"])


def test_without_yes_and_without_a_person_nothing_is_applied(shell: Shell) -> None:
    shell.write("sales.csv", SALES)
    done = shell("enrich", "sales.csv", "--field", TOTAL, "--out", "out.csv")
    assert "Nothing was applied" in done.stderr
    assert not (shell.folder / "out.csv").exists()
    assert "Total" not in shell("tables", "show", "sales").stdout


def test_single_cells_of_a_proposal_are_applied_and_rejected(shell: Shell) -> None:
    shell.write("sales.csv", SALES)
    made = shell.json("enrich", "sales.csv", "--field", TOTAL)["proposal_id"]
    assert shell.json("proposals", "apply", made, "--row", "2", "--field", "total")["applied"]["cells"] == 1
    assert shell.json("proposals", "reject", made, "--row", "1")["refused"] == 1
    rows = shell.json("tables", "show", "sales")["rows"]
    assert [row["cells"]["Total"]["value"] for row in rows] == [None, 8, None]
    assert shell.json("proposals", "apply", made)["proposal"]["status"] == "applied"


def test_a_flagged_cell_is_worked_on_again_and_its_history_is_kept(shell: Shell) -> None:
    shell.write("sales.csv", SALES)
    shell("enrich", "sales.csv", "--field", TOTAL, "--yes")
    shell("tables", "flag", "sales", "--row", "1", "--field", "Total", "--note", "looks odd")
    again = shell.json("enrich", "sales", "--field", TOTAL, "--yes")
    assert [row["row_id"] for row in again["rows"]] == [1]
    versions = shell.json("tables", "history", "sales", "--row", "1", "--field", "Total")["versions"]
    assert [version["cell"]["status"] for version in versions] == ["ENRICHED", "FLAGGED", "ENRICHED", "PENDING"]
    assert "looks odd" in versions[1]["cell"]["error"]


@pytest.mark.parametrize(
    "formula", ["__import__('os').remove('sales.csv')", "{Price}.__class__", "[x for x in {First}]", "len("]
)
def test_a_formula_outside_the_language_is_refused_before_the_run(shell: Shell, formula: str) -> None:
    shell.write("sales.csv", SALES)
    asked = ("enrich", "sales.csv", "--strategy", "computation", "--field", f"Evil={formula}", "--yes")
    assert shell.json(*asked, code=2)["error"]["type"] == "BadFormula"
    assert (shell.folder / "sales.csv").exists()


def test_a_formula_that_fails_gives_failed_cells(shell: Shell) -> None:
    shell.write("sales.csv", SALES)
    document = shell.json("enrich", "sales.csv", "--field", "Huge=10**10**10", "--yes")
    cells = [row["cells"]["Huge"] for row in document["rows"]]
    assert {(cell["status"], cell["error"]) for cell in cells} == {("FAILED", "the result is too large")}
    run = shell.json("runs", "list")["runs"][0]
    assert (run["done"], run["total"], run["found"]) == (len(cells), len(cells), 0)


BAD_FILES = {
    "picture.csv": b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 20,
    "half.csv": "Name,Price\nTea,2\n".encode("utf-16")[:-1],
    "bomb.xlsx": None,
    "empty.csv": b"",
    "data.csv": b"1.5,2021-03-04,7\n2.5,2021-03-05,8\n3.5,2021-03-06,9\n",
    "wide.csv": (",".join(f"c{number}" for number in range(50_000)) + "\n").encode(),
    "quote.csv": b'Name,Note\nTea,"never closed\nMilk,2\nRum,3\n',
    "missing.csv": None,
}


@pytest.mark.parametrize("name", list(BAD_FILES))
def test_a_bad_file_gives_one_clear_sentence_and_changes_nothing(shell: Shell, name: str) -> None:
    content = BAD_FILES[name]
    if name == "bomb.xlsx":
        content = zip_bomb(shell.folder)
    if content is not None:
        shell.write(name, content)
    shell.write("good.csv", SALES)
    shell("tables", "import", "good.csv")
    for command in (("tables", "import", name), ("enrich", name, "--field", TOTAL)):
        done = shell(*command, code=2)
        assert done.stderr.startswith("Error: ")
        assert "Traceback" not in done.stderr
        assert done.stdout == ""
    assert [table["id"] for table in shell.json("tables", "list")["tables"]] == ["good"]
    assert shell.json("proposals", "list", "--all")["proposals"] == []


def zip_bomb(folder: Path) -> bytes:
    """A workbook of about a megabyte that would unpack to gigabytes."""
    import zipfile

    path = folder / "made.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("[Content_Types].xml", "<Types/>")
        with archive.open("xl/worksheets/sheet1.xml", "w", force_zip64=True) as member:
            for _ in range(1_000):
                member.write(b"\0" * 1_000_000)
    content = path.read_bytes()
    path.unlink()
    return content


def test_a_question_about_a_missing_column_leaves_no_table_behind(shell: Shell) -> None:
    shell.write("sales.csv", SALES)
    done = shell("enrich", "sales.csv", "--field", "X={Pirce} * 2", code=2)
    assert "{Pirce} is not a column of this table." in done.stderr
    assert shell.json("tables", "list")["tables"] == []


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("tables", "show", "nothing"), "There is no table 'nothing'"),
        (("tables", "undo", "sales", "--to", "yesterday"), "neither a change's number nor a time"),
        (("tables", "undo", "sales", "--run", "r1", "--to", "2"), "exclude each other"),
        (("tables", "undo", "sales"), "where the table begins"),
        (("tables", "export", "sales", "out.pdf"), "does not say in which format"),
        (("tables", "export", "sales", "nowhere/out.csv"), "nowhere does not exist"),
        (("tables", "flag", "sales", "--row", "9", "--field", "Price"), "has no row 9"),
        (("tables", "history", "sales", "--row", "1"), "--row and --field go together"),
        (("proposals", "show", "p1"), "There is no proposal 'p1'"),
        (("enrich", "sales", "--field", "X:colour=1"), "'colour' in the field"),
        (("enrich", "sales", "--field", "X=1", "--strategy", "guess"), "There is no strategy 'guess'"),
        (("enrich", "sales", "--field", "Price:text=1", "--field", "PRICE=2"), "The column Price was asked for twice"),
    ],
)
def test_wrong_use_is_exit_code_2_with_a_sentence_in_words_and_in_json(
    shell: Shell, arguments: tuple[str, ...], sentence: str
) -> None:
    shell.write("sales.csv", SALES)
    shell("tables", "import", "sales.csv")
    assert sentence in shell(*arguments, code=2).stderr
    assert sentence in shell.json(*arguments, code=2)["error"]["message"]


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("tabels", "list"), "Did you mean 'tables'"),
        (("tables", "show"), "Missing argument 'TABLE'"),
        (("enrich", "sales.csv", "--fild", "X"), "No such option: --fild"),
        (("enrich", "sales.csv", "--field", "X", "--attempts", "99"), "Invalid value for '--attempts'"),
        (("tables", "export", "sales", "-"), "would both write to standard output"),
    ],
)
def test_what_the_command_line_itself_refuses_is_json_too(
    shell: Shell, arguments: tuple[str, ...], sentence: str
) -> None:
    assert sentence in shell.json(*arguments, code=2)["error"]["message"]


def commands(group: TyperGroup, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], TyperCommand]]:
    for name, child in group.commands.items():
        if isinstance(child, TyperGroup):
            yield from commands(child, (*path, name))
        else:
            yield (*path, name), child


def test_every_command_that_ends_by_itself_takes_json_and_no_flag_shows_a_type() -> None:
    tree = typer.main.get_command(app)
    assert isinstance(tree, TyperGroup)
    found = dict(commands(tree))
    without = {name for name, each in found.items() if all("--json" not in option.opts for option in each.params)}
    assert without == {("mcp",), ("serve",), ("worker",)}
    shown = CliRunner().invoke(app, ["enrich", "--help"], env={"COLUMNS": "100", "TERM": "dumb"}).output
    assert "<bool>" not in CliRunner().invoke(app, ["--help"]).output + shown
    assert "<list[str]>" not in shown
    assert "(default: judged)" in " ".join(shown.replace("│", " ").split())


def test_a_table_comes_through_standard_input_and_goes_to_standard_output(shell: Shell) -> None:
    total = ("--field", "Total:number={Price} * {Quantity}", "--yes", "--out", "-")
    done = shell("enrich", "-", *total, stdin="Item,Price,Quantity\nPen,2,3\n")
    assert done.stdout.splitlines() == ["Item,Price,Quantity,Total", "Pen,2,3,6"]
    assert "Pass --yes" in shell("enrich", "-", *total[:2], stdin="A\n1\n", code=2).stderr
    assert "Nothing came" in shell("tables", "import", "-", code=2).stderr
    shell("tables", "import", "-", "--name", "more", stdin='[{"Item": "Ink"}]')
    assert shell("tables", "export", "more", "-").stdout == "Item\nInk\n"
    assert "Did you mean more?" in shell("tables", "show", "mor", code=2).stderr


def test_the_file_that_is_read_is_written_over_only_by_force(shell: Shell) -> None:
    shell.write("sales.csv", SALES)
    asked = ("enrich", "sales.csv", "--field", "Twice:number={Price} * 2", "--yes", "--out", "./sales.csv")
    assert "is the input file" in shell(*asked, code=2).stderr
    assert (shell.folder / "sales.csv").read_text() == SALES
    shell(*asked, "--force")
    assert "Twice" in (shell.folder / "sales.csv").read_text()
    assert "use --force" in shell("tables", "export", "sales", "sales.csv", code=2).stderr
    shell("tables", "export", "sales", "sales.csv", "--force")


def test_python_runs_the_package_as_the_command(tmp_path: Path) -> None:
    told = subprocess.run(
        [sys.executable, "-m", "tablewright", "--version"], capture_output=True, text=True, check=True
    )
    assert told.stdout.startswith("tablewright ")


def test_hostile_text_reaches_the_terminal_as_text(shell: Shell) -> None:
    hostile = "\x1b]0;owned\x07\x1b[2J\u202egnp.exe [bold]x[/bold]"
    shell.write("hostile.csv", f"Name,N\n{hostile},1\n")
    shown = shell("tables", "import", "hostile.csv").stderr + shell("tables", "show", "hostile").stdout
    assert not {"\x1b", "\x07", "\u202e"} & set(shown)
    assert "[bold]x[/bold]" in shown


def test_json_escapes_what_a_terminal_would_obey_and_still_says_the_same(shell: Shell) -> None:
    hostile = "\x9b2J\x7f\u202egnp.exe\u2066\U000e0041 Ä"
    shell.write("hostile.csv", f"Name,N\n{hostile},1\n")
    shell("tables", "import", "hostile.csv")
    printed = shell("tables", "show", "hostile", "--json").stdout
    assert not set("\x9b\x7f\u202e\u2066\U000e0041") & set(printed)
    assert "Ä" in printed
    assert json.loads(printed)["rows"][0]["cells"]["Name"]["value"] == hostile


def test_a_folder_cannot_have_the_user_s_key_sent_to_its_own_address(tmp_path: Path) -> None:
    shell = Shell(tmp_path, TABLEWRIGHT_SEARCH_API_KEY="k")
    shell.write("tablewright.toml", 'search = "brave:https://other.example"\n')
    assert "your search key would be sent there" in shell("tables", "list", code=2).stderr
    trusting = Shell(tmp_path, TABLEWRIGHT_SEARCH_API_KEY="k", TABLEWRIGHT_TRUSTED_HOSTS="other.example")
    trusting("tables", "list")


def test_a_folder_says_where_data_is_kept_only_after_a_yes_which_is_remembered(tmp_path: Path) -> None:
    shell = Shell(tmp_path, TABLEWRIGHT_SEARCH_API_KEY="k", HOME=str(tmp_path), XDG_CONFIG_HOME=str(tmp_path / "own"))
    del shell.environ["TABLEWRIGHT_HOME"]
    shell.write("tablewright.toml", 'home = "data"\n')
    assert "search_api_key" in shell("tables", "list", code=2).stderr
    screen, code = at_a_terminal(shell, ["tables", "list"], answer="n\n")
    assert (code, "Do you trust this folder" in screen) == (2, True)
    assert not (tmp_path / "data").exists()
    screen, code = at_a_terminal(shell, ["tables", "list"], answer="y\n")
    assert (code, "Do you trust this folder" in screen) == (0, True)
    assert (tmp_path / "own" / "tablewright" / "trusted_folders.json").exists()
    shell("tables", "list")
    assert (tmp_path / "data" / "tablewright.db").exists()
    shell.write("tablewright.toml", 'home = "other"\n')
    assert "other" in shell("tables", "list", code=2).stderr, "another home is another question"
    shell.environ["TABLEWRIGHT_TRUSTED_FOLDERS"] = str(tmp_path)
    shell("tables", "list")


def test_a_folder_s_home_is_used_without_a_question_where_no_key_comes_from_outside(tmp_path: Path) -> None:
    shell = Shell(tmp_path, HOME=str(tmp_path))
    del shell.environ["TABLEWRIGHT_HOME"]
    shell.write("tablewright.toml", 'home = "data"\nsearch = "brave"\nsearch_api_key = "of-the-folder"\n')
    assert shell.json("doctor")["ok"]
    assert (tmp_path / "data" / "tablewright.db").exists()


def test_an_unreachable_database_is_said_with_exit_code_1(tmp_path: Path) -> None:
    shell = Shell(tmp_path, TABLEWRIGHT_DATABASE_URL="postgresql://u:s3cret@127.0.0.1:1/x")
    done = shell("tables", "list", code=1)
    assert "cannot be reached" in done.stderr
    assert "s3cret" not in done.stderr
    assert "s3cret" not in shell("doctor", code=1).stdout


def test_doctor_says_what_works(any_shell: Shell) -> None:
    document = any_shell.json("doctor")
    assert document["ok"]
    assert {"Tablewright", "Home", "Database", "Strategies"} <= {check["name"] for check in document["checks"]}


def test_the_report_of_a_run_has_the_keys_of_the_run_in_every_interface(shell: Shell) -> None:
    shell.write("sales.csv", SALES)
    report = shell.json("enrich", "sales.csv", "--field", TOTAL, "--yes")
    run = shell.json("runs", "show", report["run_id"])
    assert set(RunShown.__struct_fields__) == set(run) <= set(report)
    assert {name: report[name] for name in run if name != "usage"} == {
        name: value for name, value in run.items() if name != "usage"
    }
    table = shell.json("tables", "show", "sales")
    assert {"row_id", "key", "cells"} == set(table["rows"][0]) <= set(report["rows"][0])


def test_doctor_lists_invalid_settings_and_checks_the_rest(shell: Shell) -> None:
    (shell.folder / "tablewright.toml").write_text('budget = "lots"\n')
    shell.environ["TABLEWRIGHT_SOURCES"] = "books"
    checks = shell.json("doctor", code=1)["checks"]
    invalid = [check["detail"] for check in checks if check["name"] == "Settings"]
    assert len(invalid) == 2
    assert any("budget" in each and "'lots'" in each for each in invalid)
    assert any(each.startswith("TABLEWRIGHT_SOURCES must be one of web,") for each in invalid)
    assert {"Home", "Database"} <= {check["name"] for check in checks if check["ok"]}


def test_a_wrong_choice_is_refused_in_our_own_words(shell: Shell) -> None:
    for place in (("ask", "x", "--figure", "--yes"), ("enrich", "t.csv", "--field", "A", "--sources", "--yes")):
        refused = shell(*place, code=2).stderr
        assert "'--yes' is not one of" in " ".join(refused.split())
        assert "Value error" not in refused


def test_doctor_says_which_table_does_not_agree_with_its_log(shell: Shell) -> None:
    shell.write("sales.csv", SALES)
    shell("enrich", "sales.csv", "--field", TOTAL, "--yes")
    database = sqlite3.connect(next(shell.folder.rglob("tablewright.db")))
    with database:
        assert database.execute("UPDATE cells SET cell = replace(cell, '1', '2')").rowcount
    database.close()
    document = shell.json("doctor", code=1)
    assert not document["ok"]
    (check,) = [check for check in document["checks"] if check["name"] == "Database"]
    assert "log" in check["detail"]
    assert check["advice"] == "Restore it from a backup."


def test_a_removed_table_is_gone_only_after_a_yes(shell: Shell) -> None:
    shell.write("sales.csv", SALES)
    shell("tables", "import", "sales.csv")
    shell("tables", "remove", "sales", code=2, stdin="y\n")
    shell("tables", "remove", "sales", "--yes")
    assert shell.json("tables", "list")["tables"] == []


def test_the_help_comes_without_loading_the_database_layer() -> None:
    done = subprocess.run(
        [sys.executable, "-X", "importtime", TABLEWRIGHT, "--help"], capture_output=True, text=True, check=True
    )
    assert "Fills tables with facts" in done.stdout
    assert not {"sqlalchemy", "pint", "dateparser", "xlsxwriter"} & set(done.stderr.replace("|", " ").split())


def test_a_person_sees_a_preview_and_is_asked(shell: Shell) -> None:
    shell.write("sales.csv", SALES)
    screen, code = at_a_terminal(shell, ["enrich", "sales.csv", "--field", TOTAL, "--out", "out.csv"], answer="y\n")
    assert code == 0
    assert "37.5" in screen
    assert "Apply 2 values to table sales? [y]es, [r]eview one by one, [N]o" in screen
    assert (shell.folder / "out.csv").exists()
    screen, code = at_a_terminal(shell, ["enrich", "sales.csv", "--new", "--field", TOTAL], answer="\n")
    assert "Nothing was applied" in screen


def test_the_same_file_again_goes_on_with_its_table(shell: Shell) -> None:
    shell.write("sales.csv", SALES)
    shell("enrich", "sales.csv", "--field", TOTAL, "--yes")
    done = shell("enrich", "sales.csv", "--field", TOTAL, "--yes")
    assert "sales.csv is table sales, imported before; --new makes a new table." in done.stderr
    shell.write(
        "sales.csv", SALES + SALES.splitlines()[1].replace(SALES.splitlines()[1].split(",")[0], "Zither") + "\n"
    )
    done = shell("enrich", "sales.csv", "--field", TOTAL, "--yes")
    assert "1 new row added" in done.stderr
    assert [table["id"] for table in shell.json("tables", "list")["tables"]] == ["sales"]
    shell("enrich", "sales.csv", "--field", TOTAL, "--new", "--yes")
    assert len(shell.json("tables", "list")["tables"]) == 2


def test_a_person_may_review_one_by_one_at_the_end_of_a_run(shell: Shell) -> None:
    shell.write("sales.csv", SALES)
    screen, code = at_a_terminal(shell, ["enrich", "sales.csv", "--field", TOTAL], answer="r\na\nr\ns\nq\n")
    assert code == 0, screen
    (proposal,) = shell.json("proposals", "list", "--all")["proposals"]
    report = shell.json("proposals", "show", proposal["id"])
    assert [each["decision"] for each in report["operations"]] == ["applied", "refused", "open"]


def test_a_person_sees_a_progress_bar_and_ctrl_c_leaves_nothing_half_imported(shell: Shell) -> None:
    lines = "".join(f"row {number},{number},{number * 2}.50\n" for number in range(150_000))
    shell.write("big.csv", "Name,A,B\n" + lines)
    screen, code = at_a_terminal(shell, ["tables", "import", "big.csv"], interrupt_at="/150000")
    assert code == 130
    assert "Importing big.csv" in screen
    assert "Stopped." in screen
    assert shell.json("tables", "list")["tables"] == []


def test_ctrl_c_in_a_run_keeps_what_was_found_as_a_proposal_and_applies_nothing(shell: Shell) -> None:
    lines = "".join(f"row {number},{number}\n" for number in range(60_000))
    shell.write("big.csv", "Name,A\n" + lines)
    screen, code = at_a_terminal(
        shell, ["enrich", "big.csv", "--field", "B={A} * 2", "--yes"], interrupt_at=r"Filling[^\r]*[1-9]\d*/60000"
    )
    assert code == 130
    assert "Stopped. Kept in proposal" in screen
    (proposal,) = shell.json("proposals", "list")["proposals"]
    assert proposal["counts"].get("open", 0) < 60_000
    assert [field["name"] for field in shell.json("tables", "show", "big", "--rows", "0")["fields"]] == ["Name", "A"]


def at_a_terminal(shell: Shell, arguments: list[str], *, answer: str = "", interrupt_at: str = "") -> tuple[str, int]:
    """Runs the command on a pseudo-terminal; types `answer` when asked, presses Ctrl-C when the pattern appears."""
    pid, terminal = pty.fork()
    if pid == 0:
        os.chdir(shell.folder)
        signal.signal(
            signal.SIGINT, signal.SIG_DFL
        )  # tests that a shell runs in the background inherit that it is ignored
        os.execve(TABLEWRIGHT, [TABLEWRIGHT, *arguments], shell.environ)
    screen = b""
    deadline = time.monotonic() + PATIENCE
    while True:
        if time.monotonic() > deadline:
            os.kill(pid, signal.SIGKILL)
        ready, _, _ = select.select([terminal], [], [], 0.5)
        if not ready:
            continue
        try:
            data = os.read(terminal, 65536)
        except OSError:
            break
        if not data:
            break
        screen += data
        if answer and (b"[N]o" in screen or b"[y/N]" in screen):
            os.write(terminal, answer.encode())
            answer = ""
        if interrupt_at and re.search(interrupt_at.encode(), screen):
            os.kill(pid, signal.SIGINT)
            interrupt_at = ""
    _, status = os.waitpid(pid, 0)
    os.close(terminal)
    return screen.decode(errors="replace"), os.waitstatus_to_exitcode(status)
