"""Whether the process lives, and whether it can do its work."""

from __future__ import annotations

from pathlib import Path

from tablewright.errors import StoreError
from tests.doors.server.serving import TOKEN, error_of, served


def test_health_and_readiness_need_no_token_and_no_known_host(tmp_path: Path) -> None:
    with served(tmp_path, token=TOKEN) as server, server.client(Host="10.1.2.3:8000") as probe:
        assert probe.get("/health").json() == {"status": "ok"}
        assert probe.get("/api/v1/health").json() == {"status": "ok"}
        assert probe.get("/ready").json() == {"status": "ready"}
        assert probe.get("/api/v1/version").status_code == 421


def test_while_the_database_is_away_only_readiness_says_so(tmp_path: Path) -> None:
    """The database of this server is a file; here it is made to wait for ever, as one on a network may."""
    with served(tmp_path) as server, server.client() as probe:

        async def lose(tablewright: object) -> None:
            def gone(*_: object) -> None:
                raise StoreError("postgresql://me@10.0.0.7/tables cannot be reached.", public="")

            tablewright._store.database._transact = gone  # type: ignore[attr-defined]

        server.do(lose)
        answer = probe.get("/ready")
        assert (answer.status_code, error_of(answer)["message"]) == (503, "The database cannot be reached.")
        assert "10.0.0.7" not in answer.text
        assert probe.get("/health").json() == {"status": "ok"}
        assert probe.get("/api/v1/health").json() == {"status": "ok"}
