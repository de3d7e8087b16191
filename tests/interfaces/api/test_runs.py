"""Runs and proposals over the wire: estimate, start, watch, stop, decide."""

from __future__ import annotations

import asyncio
import hashlib
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from itertools import islice
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import text

from tablewright.domain.access import INSTALLATION_OWNER
from tablewright.errors import UsageError
from tablewright.interfaces.api import events, idempotency
from tablewright.operations.ask import AskDocuments, ask_documents
from tablewright.operations.fill import FillTable
from tablewright.operations.operation import MAX_NUMBER
from tablewright.services import Services
from tablewright.settings import Settings
from tablewright.store.users import REQUEST_ABANDONED_AFTER
from tests.interfaces.api.using import FOUNDED, Api, served_api
from tests.interfaces.api.using import events as told_in
from tests.patience import PATIENCE
from tests.proposing import not_found, propose


def test_a_column_is_asked_watched_reviewed_and_shows_its_evidence(api: Api) -> None:
    table_id = api.bring_in()
    likely = api.post(f"/tables/{table_id}/estimate", {"fields": [FOUNDED]})
    assert (likely["rows"], likely["cells"]) == (3, 3)
    asked = {"name": "Founded", "type": "number", "question": "What year was {Company} founded?"}
    started = api.post(f"/tables/{table_id}/runs", {"fields": [asked]}, 202)
    told = api.watch(started["run_id"])
    assert [news["number"] for kind, news in told if kind == "progress"] == list(range(1, len(told)))
    kind, run = told[-1]
    assert (kind, run["status"], run["done"], run["found"]) == ("end", "done", 3, 3)
    assert "settings" not in run["spec"]
    assert "Founded" not in [field["name"] for field in api.get(f"/tables/{table_id}")["fields"]]

    proposal = api.get(f"/proposals/{run['proposal_id']}")
    assert (proposal["status"], proposal["counts"]["open"]) == ("open", 3)
    first = api.get(f"/proposals/{proposal['id']}/operations", limit=2)
    second = api.get(f"/proposals/{proposal['id']}/operations", limit=2, after=first["next"])
    assert [each["row_id"] for page in (first, second) for each in page["operations"]] == [1, 2, 3]
    at = [{"row_id": number, "field": "Founded"} for number in (1, 2, 3)]
    decided = api.post(
        f"/proposals/{proposal['id']}/decide",
        {"accepted": [at[0]], "refused": [at[1]], "edited": [at[2] | {"value": "1900"}]},
    )
    assert (decided["applied"]["cells"], decided["applied"]["refused"]) == (2, 1)
    assert decided["proposal"]["status"] == "applied"

    shown = api.get(f"/tables/{table_id}/rows/1/cells/Founded")
    assert shown["cell"]["value"] == 1987
    assert {step["type"] for step in shown["steps"]} >= {"search", "fetch"}
    for source in shown["sources"]:
        excerpt = source["excerpt"]
        assert excerpt["text"][excerpt["quote_start"] : excerpt["quote_end"]] == source["evidence"]["quote"]
    assert api.get(f"/tables/{table_id}/rows/3/cells/Founded")["cell"]["value"] == 1900
    api.post(f"/tables/{table_id}/undo", {"run": run["run_id"]})
    assert len(api.get(f"/tables/{table_id}")["fields"]) == 2


def test_only_what_is_sure_enough_is_applied(api: Api) -> None:
    run = api.run(api.bring_in(), FOUNDED)
    operations = api.get(f"/proposals/{run['proposal_id']}/operations")["operations"]
    bound = max(each["cell"]["confidence"] for each in operations)
    sure = [each["row_id"] for each in operations if each["cell"]["confidence"] >= bound]
    done = api.post(f"/proposals/{run['proposal_id']}/apply", {"min_confidence": bound})
    assert done["applied"]["cells"] == len(sure)
    assert api.post(f"/proposals/{run['proposal_id']}/reject")["refused"] == 3 - len(sure)


def test_who_watches_goes_on_where_they_stopped(api: Api) -> None:
    run = api.run(api.bring_in(), FOUNDED)
    numbers = [news["number"] for kind, news in api.watch(run["run_id"]) if kind == "progress"]
    later = api.watch(run["run_id"], **{"Last-Event-ID": str(numbers[1])})
    assert [news["number"] for kind, news in later if kind == "progress"] == numbers[2:]
    assert later[-1][0] == "end"


def test_who_says_that_they_saw_more_than_there_is_sees_the_end(api: Api) -> None:
    run = api.run(api.bring_in(), "Twice:number=1+1")
    (end,) = api.watch(run["run_id"], **{"Last-Event-ID": "9" * 20})
    assert (end[0], end[1]["status"]) == ("end", "done")


def worked_on(api: Api, owner: str) -> str:
    """A run of a process that can vanish."""
    table_id = api.bring_in()

    async def begin(services: Any) -> str:
        await services.store.workers.beat(owner, "command")
        return str(await services.store.runs.start(table_id, "recheck", {}, owner=owner, total=3))

    return api.server.do(begin)


def vanish(api: Api, owner: str) -> None:
    api.server.do(lambda services: services.store.workers.leave([owner]))


def test_a_run_that_nobody_works_on_any_more_ends_its_streams(api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(events, "HEARTBEAT_SECONDS", 0.1)
    run_id = worked_on(api, "somewhere-1")
    with api.client.stream("GET", f"/api/v1/runs/{run_id}/events", timeout=PATIENCE) as stream:
        lines = stream.iter_lines()
        assert [next(lines) for _ in range(4)] == [": still here", "", ": still here", ""]
        vanish(api, "somewhere-1")
        ((kind, told),) = told_in(islice(lines, 100))
    assert (kind, told["status"]) == ("end", "interrupted") == ("end", api.get(f"/runs/{run_id}")["status"])
    assert api.watch(run_id) == [(kind, told)]  # and whoever comes later is told at once


def test_whoever_has_seen_more_than_there_is_does_not_make_all_others_read_alone(api: Api) -> None:
    run_id = worked_on(api, "somewhere-1")
    watching = f"/api/v1/runs/{run_id}/events?after={MAX_NUMBER}"
    with api.client.stream("GET", watching) as ahead:
        lines = ahead.iter_lines()  # dropped, it would close the stream
        assert next(lines) == ": still here"
        until = time.monotonic() + PATIENCE
        while not (open_tails := dict(api.server.app.state.tails._open)):
            assert time.monotonic() < until
            time.sleep(0.01)
        assert open_tails[run_id].before == 0
        vanish(api, "somewhere-1")


def test_proposals_can_be_decided_while_their_list_is_read(api: Api) -> None:
    table_id = api.bring_in()
    ids = [api.run(table_id, f"Number{number}:number={number}+1")["proposal_id"] for number in (1, 2, 3)]
    seen: list[str] = []
    after: str | None = ""
    while after is not None:
        page = api.get("/proposals", limit=1, after=after)
        (proposal,) = page["proposals"]
        seen.append(proposal["id"])
        api.post(f"/proposals/{proposal['id']}/apply")
        after = page["next"]
    assert seen == ids[::-1]


def test_the_same_key_starts_a_run_once(api: Api) -> None:
    table_id = api.bring_in()
    asked = {"fields": ["Twice:number=1+1"]}
    path, key = f"/tables/{table_id}/runs", {"Idempotency-Key": "order-1"}
    first, again = (api.send("POST", path, json=asked, headers=key) for _ in range(2))
    assert (first.status_code, again.status_code, first.json()) == (202, 202, again.json())
    assert again.headers["idempotency-replayed"] == "true"
    assert len(api.get("/runs")["runs"]) == 1
    other = {"fields": ["Thrice:number=1+1+1"]}
    assert "another request" in api.refused(400, "POST", path, json=other, headers=key)["message"]
    assert api.of("bo", "admin").send("POST", path, json=other, headers=key).status_code == 202  # their own key


def test_a_request_that_is_still_under_way_is_not_begun_again(api: Api) -> None:
    table_id = api.bring_in()
    path, body = f"/tables/{table_id}/runs", b'{"fields": ["Twice:number=1+1"]}'
    route = f"POST /api/v1{path} {hashlib.sha256(body).hexdigest()}"
    api.server.do(lambda services: services.store.users.begin_request(INSTALLATION_OWNER.id, "order-3", route))
    headers = {"Idempotency-Key": "order-3", "Content-Type": "application/json"}
    assert "still being answered" in api.refused(409, "POST", path, content=body, headers=headers)["message"]
    assert api.get("/runs")["runs"] == []


def test_the_key_of_a_request_whose_server_died_is_free_again_after_a_while(api: Api) -> None:
    table_id = api.bring_in()
    path, body = f"/tables/{table_id}/runs", b'{"fields": ["Twice:number=1+1"]}'
    route = f"POST /api/v1{path} {hashlib.sha256(body).hexdigest()}"
    headers = {"Idempotency-Key": "order-4", "Content-Type": "application/json"}
    api.server.do(lambda services: services.store.users.begin_request(INSTALLATION_OWNER.id, "order-4", route))
    make_older(api, REQUEST_ABANDONED_AFTER - timedelta(minutes=1))
    assert api.refused(409, "POST", path, content=body, headers=headers)
    make_older(api, timedelta(minutes=2))
    assert [api.send("POST", path, content=body, headers=headers).status_code for _ in range(2)] == [202, 202]
    assert len(api.get("/runs")["runs"]) == 1
    make_older(api, REQUEST_ABANDONED_AFTER * 2)  # what was answered is remembered
    assert api.send("POST", path, content=body, headers=headers).headers["idempotency-replayed"] == "true"
    assert len(api.get("/runs")["runs"]) == 1


def make_older(api: Api, age: timedelta) -> None:
    """All requests with a key, as if they had begun so much earlier."""

    async def work(services: Any) -> None:
        def change(connection: Any) -> None:
            begun = datetime.fromisoformat(connection.execute(text("SELECT created_at FROM requests")).scalar_one())
            earlier = (begun - age).isoformat(timespec="microseconds").replace("+00:00", "Z")
            connection.execute(text("UPDATE requests SET created_at = :earlier"), {"earlier": earlier})

        await services.store.database.write(change)

    api.server.do(work)


def test_a_request_that_takes_long_keeps_its_key(api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(idempotency, "RENEW_SECONDS", 0.05)
    begun, go_on = threading.Event(), threading.Event()

    async def slowly(services: Services, request: AskDocuments, **how: Any) -> Any:
        begun.set()
        assert await asyncio.to_thread(go_on.wait, PATIENCE)
        raise UsageError("That was all.")

    monkeypatch.setattr(ask_documents, "function", slowly)
    asked: dict[str, Any] = {"json": {"question": "Who?"}, "headers": {"Idempotency-Key": "order-5"}}
    with ThreadPoolExecutor(1) as pool:
        first = pool.submit(api.send, "POST", "/ask", **asked)
        try:
            assert begun.wait(PATIENCE)
            make_older(api, REQUEST_ABANDONED_AFTER * 2)
            until = time.monotonic() + PATIENCE
            while age(api) > REQUEST_ABANDONED_AFTER:
                assert time.monotonic() < until
                time.sleep(0.05)
            assert "still being answered" in api.refused(409, "POST", "/ask", **asked)["message"]
        finally:
            go_on.set()
        assert first.result(PATIENCE).status_code == 400


def age(api: Api) -> timedelta:
    async def work(services: Any) -> timedelta:
        query = text("SELECT created_at FROM requests")
        begun = await services.store.database.read(lambda connection: connection.execute(query).scalar_one())
        return datetime.now(UTC) - datetime.fromisoformat(begun)

    return api.server.do(work)


def test_a_request_that_failed_may_be_repeated_with_its_key(api: Api) -> None:
    table_id = api.bring_in()
    asked, key = {"fields": ["Broken:number={Nothing}+1"]}, {"Idempotency-Key": "order-2"}
    for _ in range(2):
        assert api.refused(422, "POST", f"/tables/{table_id}/runs", json=asked, headers=key)["type"] == "BadField"


def test_what_can_never_work_is_refused_before_it_starts(api: Api) -> None:
    table_id = api.bring_in()
    nonsense: list[dict[str, Any]] = [
        {"fields": []},
        {"fields": [FOUNDED], "rows": [9]},
        {"fields": ["A"], "model": "x"},
    ]
    for asked in nonsense:
        assert api.send("POST", f"/tables/{table_id}/runs", json=asked).status_code in (404, 422)
    refused = api.refused(400, "POST", f"/tables/{table_id}/runs", json={"fields": [FOUNDED], "strategy": "magic"})
    assert "magic" in refused["message"]
    assert api.get("/runs")["runs"] == []


def test_a_budget_and_an_evidence_rule_of_its_own_hold_for_a_run(api: Api) -> None:
    table_id = api.bring_in()
    run = api.run(table_id, FOUNDED, budget=0.25, cascade=True, evidence="strict")

    async def recorded(services: Any) -> dict[str, str]:
        return dict((await services.jobs.get(run["run_id"])).spec["settings"])

    kept = api.server.do(recorded)
    assert (kept["budget"], kept["cascade"], kept["evidence"]) == ("0.25", "yes", "strict")


async def test_no_run_goes_beyond_what_the_server_allows(tmp_path: Path) -> None:
    settings = Settings(home=str(tmp_path), budget="0.10", offline="yes")
    async with Services.open(settings) as services:
        asked = [FillTable(table="any", fields=(FOUNDED,), budget=budget) for budget in (5, 0.05)]
        held = [each.settings(services.settings) for each in asked]
        assert [(each.budget, each.offline) for each in held] == [(0.1, True), (0.05, True)]


@pytest.fixture
def slow(tmp_path: Path) -> Iterator[Api]:
    """A server that works on runs itself, as a deployed one does."""
    with served_api(tmp_path / "home", works=True) as used:
        yield used


def test_a_run_is_stopped_keeps_what_it_found_and_goes_on(slow: Api) -> None:
    rows = "".join(f"{name} {number}\n" for number in range(300) for name in ("Brightwater Foods", "Kestrelworks"))
    table_id = slow.bring_in("Company\n" + rows)
    started = slow.post(f"/tables/{table_id}/runs", {"fields": [FOUNDED], "concurrency": 1}, 202)
    ended: list[Any] = []
    watching = threading.Thread(target=lambda: ended.extend(slow.watch(started["run_id"])))
    watching.start()
    slow.post(f"/runs/{started['run_id']}/cancel", {}, 202)
    watching.join(PATIENCE)
    assert ended[-1][0] == "end"
    assert ended[-1][1]["status"] == "cancelled"
    assert ended[-1][1]["done"] < 600
    slow.post(f"/runs/{started['run_id']}/resume", {}, 202)
    assert slow.get(f"/runs/{started['run_id']}")["status"] in ("running", "done")
    slow.post(f"/runs/{started['run_id']}/cancel", {}, 202)


def test_a_run_that_has_ended_can_be_neither_stopped_nor_resumed(api: Api) -> None:
    run = api.run(api.bring_in(), FOUNDED)
    for action in ("cancel", "resume"):
        error = api.refused(409, "POST", f"/runs/{run['run_id']}/{action}", json={})
        assert (error["type"], "done" in error["message"]) == ("RunEnded", True)
    assert api.get(f"/runs/{run['run_id']}")["status"] == "done"


def test_a_value_stays_where_nothing_was_found_unless_it_is_emptied_by_name(api: Api) -> None:
    table_id = api.bring_in()

    async def again(services: Any) -> list[str]:
        nothing = {(row, "Country"): not_found() for row in (1, 2)}
        return [await propose(services.store, table_id, nothing) for _ in range(2)]

    whole, single = api.server.do(again)
    applied = api.post(f"/proposals/{whole}/apply", {"force": True})
    assert (applied["applied"]["kept"], applied["applied"]["cells"], applied["applied"]["change"]) == (2, 0, None)
    assert applied["proposal"]["counts"]["kept"] == 2
    cells = [{"row_id": 1, "field": "Country"}, {"row_id": 2, "field": "Country"}]
    decided = api.post(f"/proposals/{single}/decide", {"accepted": cells[:1], "emptied": cells[1:]})
    assert (decided["applied"]["kept"], decided["applied"]["cells"]) == (1, 1)
    found = [api.get(f"/tables/{table_id}/rows/{row}/cells/Country")["cell"]["value"] for row in (1, 2)]
    assert found == ["United Kingdom", None]
