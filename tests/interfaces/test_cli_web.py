"""Filling from the web, models and health, as a user at a terminal has them."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from tablewright.services import Services
from tablewright.settings import Settings
from tests.interfaces.conftest import Shell
from tests.interfaces.test_cli import at_a_terminal
from tests.replaying import essence

COMPANIES = "Company,Country\nKestrelworks,United Kingdom\nQuillon Robotics,Canada\nThistledown Aeronautics,UK\n"
FOUNDED = "Founded:number=What year was {Company} founded?"
COMPREHENSIVE = ["--thoroughness", "comprehensive"]
EMPLOYEES = "Employees:number=How many people does {Company} employ?"


def test_enrich_fills_a_file_from_the_web_and_every_value_has_its_quote(shell: Shell) -> None:
    shell.write("companies.csv", COMPANIES)
    report = shell.json(
        "enrich", "companies.csv", "--search", "sample", "--field", FOUNDED, "--field", EMPLOYEES, "--yes"
    )
    cells = {row["row_id"]: row["cells"] for row in report["rows"]}
    assert (cells[1]["Founded"]["value"], cells[1]["Employees"]["value"]) == (2009, 210)
    evidence = cells[1]["Employees"]["evidence"][0]
    assert evidence["domain"] == "kestrelworks.example"
    assert "210" in evidence["quote"]
    assert evidence["end"] - evidence["start"] == len(evidence["quote"])
    assert {cell["reason"] for cell in cells[3].values()} == {"not_found"}
    assert cells[2]["Employees"]["value"] is None
    assert {"search", "fetch", "answer"} <= {step["type"] for step in cells[1]["Founded"]["steps"]}
    usage = report["usage"]
    assert usage["llm_calls"] == 0
    assert usage["searches"] > 0
    assert usage["fetches"] > 0
    shown = shell("tables", "show", "companies", "--row", "1", "--field", "Founded").stdout
    assert "2009" in shown
    assert "http://www." in shown


def test_the_source_and_quote_go_out_with_the_file(shell: Shell) -> None:
    shell.write("companies.csv", COMPANIES)
    shell(
        "enrich",
        "companies.csv",
        "--search",
        "sample",
        "--field",
        FOUNDED,
        "--yes",
        "--out",
        "out.csv",
        "--with-evidence",
    )
    written = (shell.folder / "out.csv").read_text(encoding="utf-8")
    assert "2009" in written
    assert ".example/" in written


def test_a_run_keeps_how_strict_it_was_asked_to_be(shell: Shell) -> None:
    shell.write("companies.csv", COMPANIES)
    report = shell.json("enrich", "companies.csv", "--search", "sample", "--field", FOUNDED, "--evidence", "strict")

    async def kept() -> str:
        async with Services.open(Settings(home=str(shell.folder / "home"))) as services:
            return str((await services.jobs.get(report["run_id"])).spec["settings"]["evidence"])

    assert asyncio.run(kept()) == "strict"
    refused = shell("enrich", "companies.csv", "--field", FOUNDED, "--evidence", "--yes", code=2)
    assert "--with-evidence adds the sources" in refused.stderr


def test_columns_are_found_however_they_are_spelled(shell: Shell) -> None:
    shell.write("sizes.csv", "Name,Gro\u0308\u00dfe,A  B\nx,2,3\n")
    shell("enrich", "sizes.csv", "--field", "Both:number={Gr\u00f6\u00dfe} * {A B}", "--yes")
    assert shell.json("tables", "show", "sizes", "--row", "1", "--field", "both")["cell"]["value"] == 6
    assert shell.json("tables", "show", "sizes", "--row", "1", "--field", "Gr\u00f6\u00dfe")["cell"]["value"] == 2


def test_the_advice_on_an_unknown_column_does_not_offer_the_one_that_is_made(shell: Shell) -> None:
    shell.write("companies.csv", COMPANIES)
    refused = shell("enrich", "companies.csv", "--field", "Founded:number=When was {Firm} founded?", code=2)
    assert "It has: Company, Country." in refused.stderr


def test_without_a_model_a_command_that_would_ask_one_says_once_how_to_add_it(shell: Shell) -> None:
    shell.write("companies.csv", "Company\nKestrelworks\n")
    hint = "No model is configured"
    asking = ("enrich", "companies.csv", "--search", "sample", "--field", FOUNDED, "--yes")
    said = [line for line in shell(*asking).stderr.splitlines() if hint in line]
    assert len(said) == 1
    assert "TABLEWRIGHT_MODEL" in said[0]
    assert hint not in shell(*asking, "--json").stderr
    assert hint not in shell("enrich", "companies", "--field", "Shout={Company} + '!'", "--yes").stderr
    assert hint not in shell("tables", "show", "companies").stderr


def test_questions_and_formulas_in_one_run_are_refused(shell: Shell) -> None:
    shell.write("companies.csv", COMPANIES)
    done = shell("enrich", "companies.csv", "--field", FOUNDED, "--field", "Twice={Company} * 2", code=2)
    assert "two runs" in done.stderr


def test_an_unknown_search_engine_is_said_before_anything_is_done(shell: Shell) -> None:
    shell.write("companies.csv", COMPANIES)
    done = shell("enrich", "companies.csv", "--search", "altavista", "--field", FOUNDED, code=2)
    assert "altavista" in done.stderr
    assert shell.json("tables", "list")["tables"] == []


def test_the_demo_tells_where_everything_came_from(shell: Shell) -> None:
    done = shell("demo")
    shown = done.stdout + done.stderr
    assert "quotes are found, word for word" in shown
    assert "not found" in shown
    assert "blocked" in shown
    assert "is about another Marlow Instruments" in shown
    report = shell.json("demo")
    judged = [cell for row in report["judged"]["rows"] for cell in row["cells"].values()]
    assert "judged" in {cell.get("basis") for cell in judged}, "its recorded answers no longer fit what is asked"
    assert not any(step["data"].get("degraded") for cell in judged for step in cell["steps"] if "data" in step)
    cells = [cell for row in report["rows"] for cell in row["cells"].values()]
    assert sum(cell["value"] is not None for cell in cells) >= 24
    assert all(cell["evidence"] for cell in cells if cell["value"] is not None)
    assert "1066" not in json.dumps([cell["value"] for cell in cells])


# ── models ───────────────────────────────────────────────────────────────────────────────────────────────────────────


class Handler(BaseHTTPRequestHandler):
    year = 2019

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        message = {"role": "assistant", "content": json.dumps({"year": self.year})}
        reply: dict[str, Any] = {
            "id": "1",
            "object": "chat.completion",
            "created": 1,
            "model": "m",
            "choices": [{"index": 0, "finish_reason": "stop", "message": message}],
            "usage": {"prompt_tokens": 40, "completion_tokens": 6, "total_tokens": 46},
        }
        body = json.dumps(reply).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args: object) -> None: ...


@pytest.fixture
def endpoint() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}/v1"
    server.shutdown()
    thread.join()
    server.server_close()


def test_a_model_is_tried_with_one_question(shell: Shell, endpoint: str) -> None:
    shell.environ |= {"TABLEWRIGHT_MODEL": "openai:m", "TABLEWRIGHT_MODEL_BASE_URL": endpoint}
    shell.environ["TABLEWRIGHT_MODEL_API_KEY"] = "k"
    trial = shell.json("models", "test")
    assert (trial["model"], trial["answer"], trial["right"]) == ("openai:m", 2019, True)
    assert trial["usage"]["input_tokens"] == 40


def test_a_model_that_answers_wrongly_fails_the_trial(
    shell: Shell, endpoint: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Handler, "year", 1066)
    shell.environ |= {"TABLEWRIGHT_MODEL": "openai:m", "TABLEWRIGHT_MODEL_BASE_URL": endpoint}
    shell.environ["TABLEWRIGHT_MODEL_API_KEY"] = "k"
    assert "wrong" in shell("models", "test", code=1).stderr


def test_testing_without_a_model_says_how_to_set_one(shell: Shell) -> None:
    assert "TABLEWRIGHT_MODEL" in shell("models", "test", code=2).stderr


def test_the_catalog_is_listed_and_an_unknown_model_is_not_pulled(shell: Shell) -> None:
    model, *_ = shell.json("models", "list")["catalog"]
    assert model["licence"] == "Apache-2.0"
    assert model["pulled"] is False
    assert model["name"] in shell("models", "list").stdout
    assert "nothing-like-it" in shell("models", "pull", "nothing-like-it", code=2).stderr


def test_doctor_says_who_thinks_and_where_is_searched(shell: Shell) -> None:
    shell.environ |= {"TABLEWRIGHT_SEARCH": "sample"}
    checks = {check["name"]: check for check in shell.json("doctor")["checks"]}
    assert "no model" in checks["Model"]["detail"]
    assert "sample" in checks["Search"]["detail"]
    shell.environ |= {"TABLEWRIGHT_MODEL": "local:missing.gguf", "TABLEWRIGHT_SEARCH": "brave"}
    broken = {check["name"]: check for check in shell.json("doctor", code=1)["checks"]}
    assert not broken["Model"]["ok"]
    assert not broken["Search"]["ok"]
    assert "KEY" in broken["Search"]["advice"]


@pytest.mark.parametrize(
    ("how", "searches", "pages"),
    [(["lookup"], (1, 2), (0, 0)), (["research"], (1, 3), (1, 3)), (["research", *COMPREHENSIVE], (3, 6), (2, 8))],
)
def test_each_strategy_answers_from_the_command_line(
    shell: Shell, how: list[str], searches: tuple[int, int], pages: tuple[int, int]
) -> None:
    shell.write("companies.csv", "Company,Country\nKestrelworks,United Kingdom\n")
    asked = ["enrich", "companies.csv", "--search", "sample", "--field", FOUNDED, "--attempts", "1"]
    report = shell.json(*asked, "--strategy", *how)
    cell = report["rows"][0]["cells"]["Founded"]
    assert cell["status"] == "ENRICHED"
    assert str(cell["value"]) in cell["evidence"][0]["quote"]
    assert searches[0] <= report["usage"]["searches"] <= searches[1]
    assert pages[0] <= report["usage"]["fetches"] <= pages[1]
    kinds = [step["type"] for step in cell["steps"]]
    assert kinds[0] == "search"
    assert kinds[-1] == "answer"
    assert ("coverage" in kinds) == (len(how) > 1)


def test_a_second_run_buys_nothing_and_offline_it_is_played_again(shell: Shell) -> None:
    shell.write("companies.csv", COMPANIES)
    command = ["enrich", "companies.csv", "--search", "sample", "--field", FOUNDED]
    first, second, third = (shell.json(*command, *how) for how in ([], [], ["--offline"]))
    for again in (second, third):
        assert (again["usage"]["searches"], again["usage"]["fetches"]) == (0, 0)
        assert essence(again) == essence(first)
    other = shell.json("enrich", "companies.csv", "--search", "sample", "--field", EMPLOYEES, "--offline")
    assert (other["rows"], other["unasked"]) == ([], 3)
    assert "offline nothing is searched" in other["cause"]


def test_only_the_named_rows_are_filled(shell: Shell) -> None:
    shell.write("companies.csv", "Company\nQuillon Robotics\nKestrelworks\nHalden & Rourke\n")
    report = shell.json(
        "enrich", "companies.csv", "--search", "sample", "--field", FOUNDED, "--strategy", "lookup", "--row", "2"
    )
    assert [row["row_id"] for row in report["rows"]] == [2]


def test_ctrl_c_in_the_middle_of_a_search_stops_at_once_and_keeps_the_finished_rows(shell: Shell) -> None:
    names = ["Quillon Robotics", "Kestrelworks", "Halden & Rourke", "Brightwater Foods"]
    shell.write("companies.csv", "Company\n" + "\n".join(names * 50) + "\n")
    command = ["enrich", "companies.csv", "--search", "sample", "--strategy", "research", *COMPREHENSIVE, "--yes"]
    screen, code = at_a_terminal(shell, [*command, "--field", FOUNDED], interrupt_at=r"[1-9]\d?/200")
    assert code == 130
    assert "Stopped. Kept in proposal" in screen
    (proposal,) = shell.json("proposals", "list")["proposals"]
    assert 0 < sum(proposal["counts"].get(kind, 0) for kind in ("with_value", "without_value")) < 200
    assert shell.json("tables", "show", "companies", "--rows", "0")["fields"][-1]["name"] == "Company"
