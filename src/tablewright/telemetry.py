"""Metrics and traces by OpenTelemetry, for the setting `telemetry`: `prometheus` (read at /metrics), `otlp` (sent to
the address in the usual OTEL_ variables), or both. It needs the extra `telemetry`; without the setting nothing of it is
imported."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from contextlib import ExitStack, asynccontextmanager, contextmanager, suppress
from typing import TYPE_CHECKING

from tablewright.errors import BadSetting, TablewrightError
from tablewright.extras import require_extra
from tablewright.observe import EventName, register_listener

if TYPE_CHECKING:
    from opentelemetry.metrics import CallbackOptions, Meter, Observation
    from opentelemetry.trace import Tracer
    from prometheus_client import CollectorRegistry

    from tablewright.settings import Settings

METRIC_PREFIX = "tablewright"
# The unit of each, in the notation of UCUM, and its description.
COUNTERS: Mapping[EventName, tuple[str, str]] = {
    "rows": ("{row}", "Rows processed"),
    "cells": ("{cell}", "Cells processed, by outcome"),
    "model_calls": ("{call}", "Answers of models, by provider"),
    "tokens": ("{token}", "Tokens, by provider and direction"),
    "dollars": ("{USD}", "Dollars spent on models and searches, by provider"),
    "searches": ("{search}", "Searches sent, by provider"),
    "pages": ("{page}", "Pages fetched"),
    "cache_hits": ("{hit}", "Answers, searches and pages taken from the cache"),
    "failures": ("{failure}", "Requests that failed after all tries, by provider"),
}


class Telemetry:
    """Exports what `observe` reports. `prometheus` is what /metrics reads, if it is enabled."""

    def __init__(self, meter: Meter, tracer: Tracer, prometheus: CollectorRegistry | None = None) -> None:
        self._tracer = tracer
        self._prometheus = prometheus
        self.address = ""
        self._counters = {
            name: meter.create_counter(f"{METRIC_PREFIX}.{name}", unit=unit, description=about)
            for name, (unit, about) in COUNTERS.items()
        }
        self._queue_depth: int | None = None
        about = "Runs that are queued or in progress, over all processes on the database"
        meter.create_observable_gauge(
            f"{METRIC_PREFIX}.queue_depth", [self._observe_queue], unit="{run}", description=about
        )

    def count(self, name: EventName, amount: float, labels: Mapping[str, str]) -> None:
        self._counters[name].add(amount, labels)

    @contextmanager
    def span(self, name: str, attributes: Mapping[str, str | int]) -> Iterator[None]:
        named = {f"{METRIC_PREFIX}.{key}": value for key, value in attributes.items()}
        with self._tracer.start_as_current_span(f"{METRIC_PREFIX} {name}", attributes=named):
            yield

    def _observe_queue(self, _: CallbackOptions) -> list[Observation]:
        from opentelemetry.metrics import Observation

        # OpenTelemetry asks from a thread of its own, which cannot await the database: it gets the depth of the last
        # look.
        return [] if self._queue_depth is None else [Observation(self._queue_depth)]

    async def read_queue_depth(self, queue_depth: Callable[[], Awaitable[int]]) -> None:
        # Keep the last known depth.
        with suppress(TablewrightError):
            self._queue_depth = await queue_depth()

    async def poll_queue_depth(self, queue_depth: Callable[[], Awaitable[int]]) -> None:
        while True:
            await self.read_queue_depth(queue_depth)
            # Prometheus usually reads once in 15 seconds.
            await asyncio.sleep(15.0)

    @property
    def is_read(self) -> bool:
        """True if Prometheus reads it."""
        return self._prometheus is not None

    @contextmanager
    def served(self, port: int) -> Iterator[None]:
        """Serve metrics over HTTP on this machine, for a process that has no other server."""
        from prometheus_client import start_http_server

        assert self._prometheus is not None
        try:
            # Metrics have no login, so they are served to this machine alone.
            server, thread = start_http_server(port, addr="127.0.0.1", registry=self._prometheus)
        except OSError as error:
            raise BadSetting(
                f"127.0.0.1, port {port}, cannot be used: {error.strerror}.", advice="Choose another port."
            ) from None
        self.address = f"http://127.0.0.1:{server.server_port}/metrics"
        try:
            yield
        finally:
            server.shutdown()
            server.server_close()
            thread.join()

    def exposition(self) -> tuple[bytes, str]:
        """Return the text that Prometheus reads, and its content type."""
        from prometheus_client.exposition import CONTENT_TYPE_LATEST, generate_latest

        assert self._prometheus is not None
        return generate_latest(self._prometheus), CONTENT_TYPE_LATEST


@asynccontextmanager
async def run_telemetry(
    settings: Settings, queue_depth: Callable[[], Awaitable[int]], *, port: int | None = None
) -> AsyncIterator[Telemetry | None]:
    """Yield the telemetry, or None if it is off. With a `port` Prometheus reads it there, on this machine alone. The
    last counts are sent at the end."""
    kinds = set(filter(None, settings.telemetry.split(",")))
    if port is not None and "prometheus" not in kinds:
        raise BadSetting(
            "There are no metrics to read at a port.", advice="Set TABLEWRIGHT_TELEMETRY=prometheus, or leave it out."
        )
    if not kinds:
        yield None
        return
    with ExitStack() as stack:
        found = start_telemetry(kinds, stack)
        if port is not None:
            stack.enter_context(found.served(port))
        stack.enter_context(register_listener(found))
        looking = asyncio.create_task(found.poll_queue_depth(queue_depth))
        try:
            yield found
        finally:
            looking.cancel()
            await asyncio.gather(looking, return_exceptions=True)
            # The last export may wait for the network.
            await asyncio.to_thread(stack.close)


def start_telemetry(kinds: set[str], stack: ExitStack) -> Telemetry:
    """Return telemetry with providers of its own: OpenTelemetry's global ones are left to programs that embed
    Tablewright."""
    require_extra("telemetry", "The setting telemetry")
    from opentelemetry.exporter.otlp.proto.http.metric_exporter import OTLPMetricExporter
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
    from opentelemetry.exporter.prometheus import PrometheusMetricReader
    from opentelemetry.sdk.metrics import MeterProvider
    from opentelemetry.sdk.metrics.export import MetricReader, PeriodicExportingMetricReader
    from opentelemetry.sdk.resources import OTELResourceDetector, Resource
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import BatchSpanProcessor
    from opentelemetry.trace import NoOpTracer
    from prometheus_client import CollectorRegistry

    readers: list[MetricReader] = []
    registry = None
    if "prometheus" in kinds:
        registry = CollectorRegistry()
        readers.append(PrometheusMetricReader(registry=registry, scope_info_enabled=False))
    if "otlp" in kinds:
        readers.append(PeriodicExportingMetricReader(OTLPMetricExporter()))
    resource = Resource({"service.name": METRIC_PREFIX}).merge(OTELResourceDetector().detect())
    # Not at exit, when the loop is gone: the stack shuts them down with the server.
    meters = MeterProvider(readers, resource=resource, shutdown_on_exit=False)
    stack.callback(meters.shutdown)
    if "otlp" not in kinds:
        return Telemetry(meters.get_meter(METRIC_PREFIX), NoOpTracer(), registry)
    tracers = TracerProvider(resource=resource, shutdown_on_exit=False)
    stack.callback(tracers.shutdown)
    tracers.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
    return Telemetry(meters.get_meter(METRIC_PREFIX), tracers.get_tracer(METRIC_PREFIX), registry)
