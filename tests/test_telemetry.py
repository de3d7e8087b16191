"""Metrics and traces, with OpenTelemetry's own readers and exporters."""

from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import ExitStack
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, ClassVar

import httpx2
import pytest
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from tablewright.errors import BadSetting
from tablewright.extras import install_command
from tablewright.observe import count_event, register_listener, trace_span
from tablewright.settings import Settings
from tablewright.telemetry import Telemetry, run_telemetry, start_telemetry
from tests.interfaces.server.serving import TOKEN, served
from tests.recorded import Recording, replayed
from tests.scenarios import SCENARIOS
from tests.stage import Stage


async def three() -> int:
    return 3


def points(reader: InMemoryMetricReader) -> dict[str, dict[tuple[tuple[str, Any], ...], float]]:
    """By name and labels, what was counted."""
    found: dict[str, dict[tuple[tuple[str, Any], ...], float]] = {}
    data = reader.get_metrics_data()
    assert data is not None
    for resource in data.resource_metrics:
        for scope in resource.scope_metrics:
            for metric in scope.metrics:
                for point in metric.data.data_points:
                    labels = tuple(sorted((point.attributes or {}).items()))
                    found.setdefault(metric.name, {})[labels] = point.value  # type: ignore[union-attr]
    return found


async def test_a_run_is_counted_and_traced(tmp_path: Path) -> None:
    reader, spans = InMemoryMetricReader(), InMemorySpanExporter()
    meters, tracers = MeterProvider([reader]), TracerProvider()
    tracers.add_span_processor(SimpleSpanProcessor(spans))
    found = Telemetry(meters.get_meter("test"), tracers.get_tracer("test"))
    await found.read_queue_depth(three)
    recording = Recording.load("lookup")
    with register_listener(found):
        async with replayed(recording) as endpoint:
            await SCENARIOS["lookup"](Stage(endpoint.url, tmp_path))
    counted = points(reader)
    provider = ("provider", "openai-compatible:recorded")
    asked = len(endpoint.asked)
    assert counted["tablewright.rows"] == {(("outcome", "done"),): 2}
    assert counted["tablewright.cells"] == {(("outcome", "found"),): 3, (("outcome", "empty"),): 1}
    assert counted["tablewright.model_calls"] == {(provider,): asked}
    assert counted["tablewright.tokens"][("direction", "input"), provider] > 1_000
    assert counted["tablewright.tokens"][("direction", "output"), provider] > 10
    assert (("provider", "searxng"),) in counted["tablewright.searches"]
    assert counted["tablewright.queue_depth"] == {(): 3}
    finished = spans.get_finished_spans()
    names = [span.name for span in finished]
    assert names.count("tablewright row") == 2
    assert names.count("tablewright model call") == asked
    (run,) = (span for span in finished if span.name == "tablewright run")
    assert run.attributes is not None
    assert str(run.attributes["tablewright.run"]).startswith("r")
    rows = [span for span in finished if span.name == "tablewright row"]
    assert all(span.context and span.parent and span.parent.trace_id == run.context.trace_id for span in rows)
    meters.shutdown()
    tracers.shutdown()


@pytest.fixture
def prometheus() -> Iterator[Telemetry]:
    with ExitStack() as stack:
        yield start_telemetry({"prometheus"}, stack)


def test_prometheus_reads_metrics_with_an_admin_s_token_and_with_no_other(
    tmp_path: Path, prometheus: Telemetry
) -> None:
    def keep(app: Any) -> None:
        app.state.telemetry = prometheus

    with served(tmp_path, token=TOKEN, more=keep) as server, register_listener(prometheus):
        count_event("failures", kind="model", provider="a:b")
        count_event("failures", kind="model", provider="a:b")
        editor = server.add_user("Ed", "editor")
        with server.client() as client:
            assert client.get("/metrics").status_code == 401
        with server.client(editor) as client:
            assert client.get("/metrics").status_code == 403
        with server.client(TOKEN) as client:
            scraped = client.get("/metrics")
    assert scraped.headers["content-type"].startswith("text/plain")
    (line,) = (line for line in scraped.text.splitlines() if line.startswith("tablewright_failures_total{"))
    assert 'provider="a:b"' in line
    assert line.endswith(" 2.0")


def test_a_server_without_metrics_says_how_to_have_them(tmp_path: Path) -> None:
    with served(tmp_path, token=TOKEN) as server, server.client(TOKEN) as client:
        refused = client.get("/metrics")
    assert refused.status_code == 404
    assert "TABLEWRIGHT_TELEMETRY=prometheus" in refused.text


async def test_a_worker_s_metrics_are_read_at_a_port_of_their_own() -> None:
    async with run_telemetry(Settings(telemetry="prometheus"), three, port=0) as found:
        assert found is not None
        count_event("rows", 5, outcome="done")
        async with httpx2.AsyncClient(trust_env=False) as client:
            text = (await client.get(found.address)).text
    assert 'outcome="done"} 5.0' in text.partition("tablewright_rows_total")[2]
    assert "tablewright_queue_depth" in text


class Collector(BaseHTTPRequestHandler):
    """Takes what OTLP sends."""

    received: ClassVar[list[str]] = []

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        self.received.append(self.path)
        self.send_response(200)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, format: str, *args: Any) -> None:
        """Says nothing."""


async def test_otlp_is_sent_to_where_the_usual_variable_says_at_the_latest_at_the_end(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with ThreadingHTTPServer(("127.0.0.1", 0), Collector) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
        thread.start()
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", f"http://127.0.0.1:{server.server_port}")
        try:
            async with run_telemetry(Settings(telemetry="otlp"), three):
                count_event("rows", outcome="done")
                with trace_span("row", row=1):
                    pass
        finally:
            server.shutdown()
            thread.join()
    assert set(Collector.received) == {"/v1/metrics", "/v1/traces"}


async def test_without_the_extra_the_error_says_how_to_install_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "opentelemetry.exporter.prometheus", None)
    with pytest.raises(BadSetting, match="is not installed") as missing:
        async with run_telemetry(Settings(telemetry="prometheus"), three):
            pass
    assert install_command("telemetry") in missing.value.advice


async def test_a_port_without_metrics_is_refused() -> None:
    with pytest.raises(BadSetting, match="There are no metrics to read"):
        async with run_telemetry(Settings(), three, port=0):
            pass


def test_without_the_setting_nothing_of_it_is_imported() -> None:
    program = (
        "import asyncio, sys\n"
        "from tablewright.services import Services\n"
        "from tablewright.settings import Settings\n"
        "from tablewright.telemetry import run_telemetry\n"
        "async def main():\n"
        "    async with run_telemetry(Settings(), None) as found:\n"
        "        assert found is None\n"
        "asyncio.run(main())\n"
        "print([name for name in sys.modules if name.startswith(('opentelemetry.sdk', 'opentelemetry.exporter', "
        "'prometheus_client'))])\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
