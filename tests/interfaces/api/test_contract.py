"""Whatever anybody sends, the API answers as its OpenAPI document says, and never with an error of the server."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from tests.google import running_google
from tests.interfaces.api.using import FOUNDED, Api, served_api
from tests.interfaces.server.serving import TOKEN
from tests.patience import PATIENCE

EXAMPLES = 4
FEW = 2
# Each starts the processes that read files.
SLOW = {"POST /api/v1/documents"}
OWN = {"Authorization": f"Bearer {TOKEN}"}


def test_no_request_breaks_the_server_and_every_answer_is_as_described(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Without a key for Google Sheets, sending a table there is refused before anything is read of the request.
    with (
        running_google(monkeypatch) as google,
        served_api(tmp_path / "home", google_sheets_key=google.key) as api,
    ):
        known = seeded(api)
        operations, checks = described(f"{api.server.url}/api/v1/openapi.json")
        assert len(operations) > 60
        operations.sort(key=turn)
        answers = {operation.label: tried(operation, known, checks) for operation in operations}
    fulfilled = [label for label, codes in answers.items() if any(code < 300 for code in codes)]
    assert len(fulfilled) > 0.8 * len(answers)  # or what is tried is refused before it could break anything


def turn(operation: Any) -> tuple[int, int]:
    """What is there is there for all others: a column keeps its name until its cells were asked for, and a table goes
    after its rows."""
    if operation.method == "delete":
        return 2, -operation.path.count("/")
    return int(operation.method == "put" and operation.path.endswith("/fields/{field}")), 0


def described(address: str) -> tuple[list[Any], list[Any]]:
    """All operations, and what every answer of theirs must fulfil."""
    import schemathesis  # here, not above: every process of tests would load it, and one has use for it
    from schemathesis.checks import load_all_checks, not_a_server_error
    from schemathesis.specs.openapi import checks

    load_all_checks()
    schema = schemathesis.openapi.from_url(address, headers=OWN)
    conformance = [
        checks.status_code_conformance,
        checks.content_type_conformance,
        checks.response_schema_conformance,
    ]
    return [each.ok() for each in schema.get_all_operations()], [not_a_server_error, *conformance]  # type: ignore[union-attr]


def seeded(api: Api) -> dict[str, Any]:
    """Things to ask about: a random id would meet a 404 and nothing else."""
    table_id = api.bring_in()
    run = api.run(table_id, FOUNDED, max_rows=1)
    answered = api.send("POST", "/documents", files=[("files", ("a.txt", b"Receipt\nTotal: 12.50 EUR\nItem: tires\n"))])
    reply = api.post("/ask", {"question": "all receipts that contain tires"})
    api.post("/users", {"name": "ann"}, 201)
    return {
        "table": table_id,
        "table_id": table_id,
        "run_id": run["run_id"],
        "proposal_id": run["proposal_id"],
        "row_id": 1,
        "field": "Country",
        "document": answered.json()["documents"][0]["id"],
        "result": reply["result_id"],
        "research": researched(api),
        "shortlist": api.post("/shortlists", {}, 201)["id"],
        "user": "ann",
        "token": api.post("/tokens", {"user": "ann"}, 201)["token"]["id"],
        "conversation": reply["conversation"],
        "kind": "table",
        "id": table_id,
    }


def researched(api: Api) -> str:
    started = api.post("/research", {"question": "Who founded Brightwater Foods?", "max_searches": 2}, 202)
    api.watch(started["run_id"])
    return str(started["research_id"])


def tried(operation: Any, known: dict[str, Any], checks: list[Any]) -> set[int]:
    """The statuses that were answered."""
    codes: set[int] = set()

    @settings(
        max_examples=FEW if operation.label in SLOW else EXAMPLES,
        deadline=None,
        phases=[Phase.explicit, Phase.generate],
        suppress_health_check=list(HealthCheck),
        database=None,
    )
    @given(case=operation.as_strategy(), real=st.sampled_from([True] * 5 + [False]))
    def try_one(case: Any, real: bool) -> None:
        if real and case.path_parameters:
            case.path_parameters |= {name: known[name] for name in case.path_parameters if name in known}
        codes.add(case.call_and_validate(checks=checks, timeout=PATIENCE, headers=OWN).status_code)

    try_one()
    return codes
