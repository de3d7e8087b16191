"""`tablewright research` as a person and a script use it."""

from __future__ import annotations

import json
import zipfile

from tests.interfaces.conftest import Shell

EXAMPLE = "What does the Lagoon plan of Parrotfish Cloud cost?"
SAMPLE = {"TABLEWRIGHT_SEARCH": "sample", "TABLEWRIGHT_MODEL": "builtin", "TABLEWRIGHT_FETCH_DELAY": "0"}


def sampled(shell: Shell) -> Shell:
    shell.environ |= SAMPLE
    return shell


def test_the_plan_and_the_rounds_are_told_on_stderr_and_the_report_on_stdout(shell: Shell) -> None:
    done = sampled(shell)("research", EXAMPLE)
    assert "First searches: What does the Lagoon plan" in done.stderr
    assert "About 1 search" in done.stderr
    assert "Round 1, discovery: 1 search" in done.stderr
    assert done.stdout.startswith("# What does the Lagoon plan")
    assert "## Excerpts" in done.stdout
    assert "$59 per month" in done.stdout
    assert "## References" in done.stdout


def test_json_is_one_document_with_memos_notes_and_report(shell: Shell) -> None:
    found = sampled(shell).json("research", EXAMPLE)
    assert [round["memo"]["round_index"] for round in found["rounds"]] == [1, 2, 3]
    assert found["status"] == "done"
    assert found["rounds"][0]["source_notes"][0]["evidence"]["quote"]
    assert found["report"]["references"]
    assert found["usage"]["searches"] == found["rounds"][-1]["memo"]["tasks_completed"]
    shell("tables", "show", found["table_id"])


def test_a_catalog_without_a_model_is_a_table_whose_headers_are_the_columns(shell: Shell) -> None:
    asked = ("AI providers", "--field", "Provider", "--field", "What we paid", "--items", "3")
    found = sampled(shell).json("research", *asked)
    assert found["table"]["columns"] == ["Provider", "What we paid"]
    assert len(found["table"]["rows"]) == 3
    assert all(cell["citations"] for row in found["table"]["rows"] for cell in row)
    assert found["table"]["others"]
    assert found["report"]["completeness"]


def test_a_report_is_written_in_four_formats(shell: Shell) -> None:
    found = sampled(shell).json("research", EXAMPLE, "--out", "report.html")
    for name in ("report.md", "report.docx", "report.json"):
        shell("research", "--show", found["research_id"], "--out", name)
    folder = shell.folder
    assert (folder / "report.html").read_text().lower().startswith("<!doctype html>")
    assert (folder / "report.md").read_text().startswith("# What does the Lagoon")
    assert "word/document.xml" in zipfile.ZipFile(folder / "report.docx").namelist()
    written = json.loads((folder / "report.json").read_text())
    assert written["title"] == found["report"]["title"]


def test_a_finished_one_can_be_listed_shown_and_asked_further(shell: Shell) -> None:
    found = sampled(shell).json("research", EXAMPLE)
    (listed,) = shell.json("research", "--list")["researches"]
    assert (listed["research_id"], listed["status"]) == (found["research_id"], "done")
    assert shell("research", "--resume", found["research_id"]).stdout.startswith("# What does the Lagoon")
    answered = shell.json("research", "--refine", found["research_id"], "Did Parrotfish Cloud answer the letter?")
    assert answered["sentences"][0]["citations"] == [1]
    assert "did not answer our letter" in shell("research", "--show", found["research_id"]).stdout


def test_wrong_use_is_said_before_anything_is_spent(shell: Shell) -> None:
    wrong = (
        (),
        ("What is amber?", "--report-type", "poem"),
        ("What is amber?", "--out", "amber.odt"),
        ("--resume", "d1", "--show", "d2"),
        ("--refine", "d1"),
        ("--resume", "nowhere"),
        ("What is amber?", "--sources", "moon"),
        ("What is amber?", "--budget-tokens", "many"),
    )
    for arguments in wrong:
        done = sampled(shell)("research", *arguments, code=2)
        assert done.stderr.startswith("Error: "), arguments
    assert shell.json("research", "--list")["researches"] == []
    assert shell.json("tables", "list")["tables"] == []


def test_nothing_found_is_no_failure(shell: Shell) -> None:
    done = sampled(shell)("research", "What are the challenges of growing lemons on Mars?", "--max-searches", "3")
    assert "No sentence was found that has the words of the question. No model read the pages" in done.stdout
    assert "Searched “What are the challenges of growing lemons on Mars?”. Read: " in done.stdout


def test_a_partial_report_says_how_it_is_continued(shell: Shell) -> None:
    done = sampled(shell)("research", EXAMPLE, "--minutes", "0.0001")
    assert "This report is partial" in done.stdout
    (line,) = [line for line in done.stderr.splitlines() if "--resume" in line]
    command = line.partition("`tablewright ")[2].partition("`")[0]
    again = shell(*command.split())
    assert "This report is partial" not in again.stdout
    assert "$59 per month" in again.stdout


def test_a_search_that_fails_is_not_told_as_made(shell: Shell) -> None:
    shell.environ |= SAMPLE | {"TABLEWRIGHT_SEARCH": "searxng:http://127.0.0.1:9"}
    done = shell("research", EXAMPLE, code=1)
    assert "Every search of round 1 failed" in done.stderr
    assert "searched “" not in done.stderr
    listed = shell.json("research", "--list")
    assert "failed" in str(listed)
