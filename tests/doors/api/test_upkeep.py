"""Recheck, refresh and schedules over the wire; health, strategies, models."""

from __future__ import annotations

from tests.doors.api.using import FOUNDED, Api


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
    assert strategies["research"]["parameters"][0]["name"]
    assert api.get("/models")["model"] == "builtin"
