"""`tablewright serve`, as people start it."""

from __future__ import annotations

import json
import re
import signal
import socket
import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import httpx2
import pytest

from tests.interfaces.conftest import TABLEWRIGHT, Forked, Shell
from tests.patience import PATIENCE

SHORT = "hush-hush"


class Installed(subprocess.Popen[str]):
    """The program as it is installed, which loads everything itself."""

    def __init__(self, shell: Shell, place: Path, arguments: Sequence[str]) -> None:
        with (place / "err").open("w") as stream:
            super().__init__([TABLEWRIGHT, *arguments], cwd=shell.folder, env=shell.environ, stderr=stream)


@contextmanager
def started(
    shell: Shell, begin: type[Installed] | type[Forked] = Forked
) -> Iterator[tuple[Installed | Forked, str, Path]]:
    """The process, its address, and what it says."""
    place = shell.folder / "serving"
    place.mkdir()
    shell.environ.pop("PYTEST_CURRENT_TEST", None)  # NiceGUI behaves differently where it sees it
    process, said = begin(shell, place, ["serve", "--port", "0"]), place / "err"
    try:
        until = time.monotonic() + PATIENCE
        while not (said.exists() and (found := re.search(r"http://\S+?:\d+", said.read_text()))):
            assert process.poll() is None, said.read_text()
            assert time.monotonic() < until
            time.sleep(0.05)
        yield process, found[0], said
    finally:
        process.kill()
        process.wait(PATIENCE)


def test_it_serves_the_page_and_the_api_warns_of_a_short_token_and_stops_when_told_to(shell: Shell) -> None:
    shell.environ["TABLEWRIGHT_TOKEN"] = SHORT
    with (
        started(shell, Installed) as (process, address, said),
        httpx2.Client(trust_env=False, timeout=PATIENCE) as client,
    ):
        assert "can be guessed" in said.read_text()
        assert client.get(f"{address}/api/v1/health").json() == {"status": "ok"}
        assert client.get(f"{address}/api/v1/tables?token={SHORT}").status_code == 401
        client.headers["Authorization"] = f"Bearer {SHORT}"
        assert client.get(f"{address}/api/v1/tables").status_code == 200
        page = client.get(address)
        assert (page.status_code, "text/html" in page.headers["content-type"]) == (200, True)
        assert "server" not in page.headers
        process.send_signal(signal.SIGTERM)
        assert process.wait(PATIENCE) == 0
    log = said.read_text()
    assert "GET /api/v1/tables 401" in log
    assert log.rstrip().endswith("Stopped.")
    assert SHORT not in log


@pytest.mark.parametrize("told", [signal.SIGTERM, signal.SIGINT])
def test_it_logs_lines_of_json_and_prometheus_reads_its_metrics(shell: Shell, told: signal.Signals) -> None:
    shell.environ |= {"TABLEWRIGHT_LOG_FORMAT": "json", "TABLEWRIGHT_TELEMETRY": "prometheus"}
    with started(shell) as (process, address, said), httpx2.Client(trust_env=False, timeout=PATIENCE) as client:
        assert "# TYPE tablewright_queue_depth gauge" in client.get(f"{address}/metrics").text
        process.send_signal(told)
        assert process.wait(PATIENCE) == 0
    lines = [json.loads(line) for line in said.read_text().splitlines()]
    assert all(line.keys() >= {"at", "level", "logger", "message"} for line in lines)
    messages = [line["message"] for line in lines]
    assert any("GET /metrics 200" in message for message in messages)
    assert messages[-1] == "Stopped."


@pytest.mark.parametrize("arguments", [("--host", "0.0.0.0"), ("--public-host", "tables.example")])
def test_where_others_reach_it_a_token_or_a_user_is_needed_before_anything_starts(
    shell: Shell, arguments: tuple[str, ...]
) -> None:
    refused = shell("serve", "--port", "0", *arguments, code=2)
    assert "TABLEWRIGHT_TOKEN" in refused.stderr
    assert "http://" not in refused.stderr


def test_a_port_that_is_taken_is_said(shell: Shell) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        refused = shell("serve", "--port", str(taken.getsockname()[1]), code=2)
    assert "Cannot listen on" in refused.stderr
    assert "--port" in refused.stderr
