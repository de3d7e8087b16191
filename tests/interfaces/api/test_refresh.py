"""Recheck, refresh and schedules over the wire; health, strategies, models."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from sqlalchemy import text

from tests.interfaces.api.using import FOUNDED, Api, served_api
from tests.patience import PATIENCE


def test_sources_are_asked_again(api: Api) -> None:
    table_id = api.bring_in()
    run = api.run(table_id, FOUNDED)
    api.post(f"/proposals/{run['proposal_id']}/apply")
    started = api.post(f"/tables/{table_id}/recheck", {"fields": ["founded"]}, 202)
    assert api.watch(started["run_id"])[-1][1]["status"] == "done"
    assert api.refused(404, "POST", f"/tables/{table_id}/recheck", json={"fields": ["Nothing"]})


def test_what_became_stale_is_priced_and_filled_again(api: Api) -> None:
    table_id = api.bring_in("Name,Price\nKettle,12\n")
    run = api.run(table_id, "Double:number={Price}*2")
    api.post(f"/proposals/{run['proposal_id']}/apply")
    assert api.put(f"/tables/{table_id}/rows/1/cells/Price", {"value": "20"})["stale"] == ["Double"]
    assert [cell["field"] for cell in api.get(f"/tables/{table_id}/stale")["cells"]] == ["Double"]
    (likely,) = api.post(f"/tables/{table_id}/refresh/estimate")["rounds"]
    assert (likely["cells"], likely["estimate"]["rows"]) == (1, 1)
    (again,) = api.post(f"/tables/{table_id}/refresh", {}, 202)["runs"]
    found = api.watch(again["run_id"])[-1][1]
    api.post(f"/proposals/{found['proposal_id']}/apply")
    assert api.get(f"/tables/{table_id}/rows/1/cells/Double")["cell"]["value"] == 40
    assert api.get(f"/tables/{table_id}/stale")["cells"] == []


def test_what_is_stale_comes_in_pages_while_it_is_filled_again(api: Api) -> None:
    table_id = api.bring_in("Name,Price\nKettle,12\nLamp,30\nRug,80\n")
    run = api.run(table_id, "Double:number={Price}*2")
    api.post(f"/proposals/{run['proposal_id']}/apply")
    for row_id in (1, 2, 3):
        api.put(f"/tables/{table_id}/rows/{row_id}/cells/Price", {"value": "20"})
    first = api.get(f"/tables/{table_id}/stale", limit=2)
    assert ([cell["row_id"] for cell in first["cells"]], first["total"]) == ([1, 2], 3)
    api.put(f"/tables/{table_id}/rows/2/cells/Double", {"value": "40"})
    second = api.get(f"/tables/{table_id}/stale", limit=2, after=first["next"])
    assert ([cell["row_id"] for cell in second["cells"]], second["total"], second["next"]) == ([3], 2, None)
    assert api.refused(400, "GET", f"/tables/{table_id}/stale?after=Double")


def test_a_table_is_rechecked_every_day_until_it_is_not(api: Api) -> None:
    table_id = api.bring_in()
    (made,) = api.put(f"/tables/{table_id}/schedules", {"every": "day"})["schedules"]
    assert (made["routine"], made["cron"], made["apply"]) == ("recheck", "0 3 * * *", False)
    assert (
        "is no time" in api.refused(400, "PUT", f"/tables/{table_id}/schedules", json={"every": "sometimes"})["message"]
    )
    assert api.delete(f"/tables/{table_id}/schedules") == {"removed": 1}
    assert api.get(f"/tables/{table_id}/schedules") == {"schedules": []}


def test_health_is_open_to_all_and_says_nothing_else(api: Api) -> None:
    with api.server.client() as stranger:
        assert stranger.get("/api/v1/health").json() == {"status": "ok"}
        assert stranger.get("/api/v1/doctor").status_code == 401


def test_what_is_configured_is_told(api: Api) -> None:
    checks = {check["name"]: check["ok"] for check in api.get("/doctor")["checks"]}
    assert checks["Database"]
    strategies = {each["name"]: each for each in api.get("/strategies")["strategies"]}
    assert {each["name"] for each in api.get("/strategies", kind="enrichment")["strategies"]} == strategies.keys()
    assert api.get("/strategies", kind="action")["strategies"] == []
    assert strategies["research"]["parameters"][0]["name"]
    assert api.get("/models")["model"] == "builtin"


def test_which_tables_have_a_problem_is_told_to_admins_only(api: Api) -> None:
    table_id = api.bring_in(name="hush.csv")
    api.put(f"/tables/{table_id}/rows/1/cells/Country", {"value": "Sweden"})

    async def damage(services: Any) -> None:
        await services.store.database.write(lambda connection: connection.execute(text("DELETE FROM cells")))

    api.server.do(damage)
    found = {who: database(seen.get("/doctor")) for who, seen in (("owner", api), ("ann", api.of("ann", "editor")))}
    assert not any(check["ok"] for check in found.values())
    assert "hush" in found["owner"]["detail"]
    assert "hush" not in str(found["ann"])


def database(checks: Any) -> Any:
    (found,) = [check for check in checks["checks"] if check["name"] == "Database"]
    return found


EVERY_SECOND = "* * * * * *"


def test_the_scheduler_pauses_what_a_viewer_set_as_an_editor_and_tells_the_editors(tmp_path: Path) -> None:
    with served_api(tmp_path / "home", works=True) as owner:
        ann, bob = owner.of("ann", "editor"), owner.of("bob", "editor")
        table_id = ann.bring_in("Name,Price\nKettle,12\n")
        run = ann.run(table_id, "Double:number={Price}*2")
        ann.post(f"/proposals/{run['proposal_id']}/apply")
        owner.put(f"/shares/table/{table_id}", {"people": ["bob"]})

        def set_by(api: Api) -> Any:
            asked = {"routine": "refresh", "every": EVERY_SECOND, "apply": True}
            return api.put(f"/tables/{table_id}/schedules", asked)["schedules"][0]

        assert set_by(ann)["paused"] == ""
        owner.put("/users/ann", {"role": "viewer"})
        double = f"/tables/{table_id}/rows/1/cells/Double"
        wait_until(lambda: paused(bob, table_id))
        ann_said = "ann, in whose name it runs, is only a viewer now"
        assert ann_said in paused(bob, table_id)[0]["error"]
        (shown,) = bob.get(f"/tables/{table_id}/schedules")["schedules"]
        assert (shown["author"], ann_said in shown["paused"]) == ("ann", True)
        bob.put(f"/tables/{table_id}/rows/1/cells/Price", {"value": "50"})
        assert owner.get(double)["cell"]["value"] == 24
        assert set_by(bob) | {"last_at": None} == {
            "table_id": table_id,
            "routine": "refresh",
            "cron": EVERY_SECOND,
            "fields": [],
            "apply": True,
            "last_at": None,
            "author": "bob",
            "paused": "",
        }
        wait_until(lambda: owner.get(double)["cell"]["value"] == 100)
        assert len(paused(bob, table_id)) == 1, "said once, however often it was time"


def test_a_token_that_may_only_run_schedules_nothing_that_changes_the_table(api: Api) -> None:
    table_id = api.bring_in()
    api.server.add_user("ann", "editor")
    api.put(f"/shares/table/{table_id}", {"people": ["ann"]})
    secret = api.post("/tokens", {"user": "ann", "scopes": ["run"]}, 201)["secret"]
    with api.server.client(secret) as ann:
        path = f"/api/v1/tables/{table_id}/schedules"
        assert ann.put(path, json={"every": "day"}).status_code == 200
        assert ann.put(path, json={"every": "day", "routine": "refresh", "apply": True}).status_code == 403


def paused(api: Api, table_id: str) -> list[Any]:
    runs = api.get("/runs", table=table_id)["runs"]
    return [run for run in runs if run["kind"] == "refresh" and run["status"] == "paused"]


def wait_until(is_so: Callable[[], object]) -> None:
    until = time.monotonic() + PATIENCE
    while not is_so():
        assert time.monotonic() < until
        time.sleep(0.1)
