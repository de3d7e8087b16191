"""Metrics and traces by OpenTelemetry, for the setting `telemetry`: `prometheus` (read at /metrics), `otlp` (sent to
where the usual OTEL_ variables say), or both. It needs the extra `telemetry`; without the setting nothing of it is
imported."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from contextlib import ExitStack, asynccontextmanager, contextmanager, suppress
from typing import TYPE_CHECKING

from tablewright.errors import BadSetting, TablewrightError
from tablewright.extras import need
from tablewright.observe import Count, listening

if TYPE_CHECKING:
    from opentelemetry.metrics import CallbackOptions, Meter, Observation
    from opentelemetry.trace import Tracer
    from prometheus_client import CollectorRegistry

    from tablewright.settings import Settings

NAME = "tablewright"
KINDS = frozenset({"prometheus", "otlp"})
LOOPBACK = "127.0.0.1"
EVERY = 15.0
"""Seconds between two looks at the queue."""
COUNTERS: Mapping[Count, tuple[str, str]] = {
    "rows": ("{row}", "Rows that were worked on"),
    "cells": ("{cell}", "Cells that were worked on, by outcome"),
    "model_calls": ("{call}", "Answers of models, by provider"),
    "tokens": ("{token}", "Tokens, by provider and direction"),
    "dollars": ("{USD}", "Dollars spent on models and searches, by provider"),
    "searches": ("{search}", "Searches sent, by provider"),
    "pages": ("{page}", "Pages fetched"),
    "cache_hits": ("{hit}", "Answers, searches and pages that were kept from before"),
    "failures": ("{failure}", "Requests that failed after all tries, by provider"),
}


class Telemetry:
    """Passes on what `observe` is told. `prometheus` is what /metrics reads, if it is asked for."""

    def __init__(self, meter: Meter, tracer: Tracer, prometheus: CollectorRegistry | None = None) -> None:
        self._tracer = tracer
        self._prometheus = prometheus
        self.address = ""
        self._counters = {
            name: meter.create_counter(f"{NAME}.{name}", unit=unit, description=about)
            for name, (unit, about) in COUNTERS.items()
        }
        self._queue_depth: int | None = None
        about = "Runs that wait or are under way, over all processes on the database"
        meter.create_observable_gauge(f"{NAME}.queue_depth", [self._observe_queue], unit="{run}", description=about)

    def count(self, name: Count, amount: float, labels: Mapping[str, str]) -> None:
        self._counters[name].add(amount, labels)

    @contextmanager
    def span(self, name: str, attributes: Mapping[str, str | int]) -> Iterator[None]:
        named = {f"{NAME}.{key}": value for key, value in attributes.items()}
        with self._tracer.start_as_current_span(f"{NAME} {name}", attributes=named):
            yield

    def _observe_queue(self, _: CallbackOptions) -> list[Observation]:
        from opentelemetry.metrics import Observation

        return [] if self._queue_depth is None else [Observation(self._queue_depth)]

    async def look(self, queue_depth: Callable[[], Awaitable[int]]) -> None:
        with suppress(TablewrightError):  # then it is what it was when somebody last saw it
            self._queue_depth = await queue_depth()

    async def keep_looking(self, queue_depth: Callable[[], Awaitable[int]]) -> None:
        while True:
            await self.look(queue_depth)
            await asyncio.sleep(EVERY)

    @property
    def is_read(self) -> bool:
        """Whether it is asked for by Prometheus."""
        return self._prometheus is not None

    @contextmanager
    def served(self, port: int) -> Iterator[None]:
        """Over HTTP on this machine, for a process that serves nothing else."""
        from prometheus_client import start_http_server

        assert self._prometheus is not None
        try:
            server, thread = start_http_server(port, addr=LOOPBACK, registry=self._prometheus)
        except OSError as error:
            raise BadSetting(
                f"{LOOPBACK}, port {port}, cannot be used: {error.strerror}.", advice="Choose another port."
            ) from None
        self.address = f"http://{LOOPBACK}:{server.server_port}/metrics"
        try:
            yield
        finally:
            server.shutdown()
            server.server_close()
            thread.join()

    def exposition(self) -> tuple[bytes, str]:
        """What Prometheus reads, and its content type."""
        from prometheus_client.exposition import CONTENT_TYPE_LATEST, generate_latest

        assert self._prometheus is not None
        return generate_latest(self._prometheus), CONTENT_TYPE_LATEST


@asynccontextmanager
async def telemetry(
    settings: Settings, queue_depth: Callable[[], Awaitable[int]], *, port: int | None = None
) -> AsyncIterator[Telemetry | None]:
    """None where none is asked for. With a `port` Prometheus reads it there, on this machine alone. What was counted
    last is sent at the end."""
    kinds = set(filter(None, settings.telemetry.split(",")))
    if port is not None and "prometheus" not in kinds:
        raise BadSetting(
            "There are no metrics to read at a port.", advice="Set TABLEWRIGHT_TELEMETRY=prometheus, or leave it out."
        )
    if not kinds:
        yield None
        return
    with ExitStack() as stack:
        found = start(kinds, stack)
        if port is not None:
            stack.enter_context(found.served(port))
        stack.enter_context(listening(found))
        looking = asyncio.create_task(found.keep_looking(queue_depth))
        try:
            yield found
        finally:
            looking.cancel()
            await asyncio.gather(looking, return_exceptions=True)
            await asyncio.to_thread(stack.close)


def start(kinds: set[str], stack: ExitStack) -> Telemetry:
    """Providers of this process alone: OpenTelemetry's global ones are left to programs that embed us."""
    need("telemetry", "The setting telemetry")
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
    resource = Resource({"service.name": NAME}).merge(OTELResourceDetector().detect())
    meters = MeterProvider(readers, resource=resource, shutdown_on_exit=False)
    stack.callback(meters.shutdown)
    if "otlp" not in kinds:
        return Telemetry(meters.get_meter(NAME), NoOpTracer(), registry)
    tracers = TracerProvider(resource=resource, shutdown_on_exit=False)
    stack.callback(tracers.shutdown)
    tracers.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
    return Telemetry(meters.get_meter(NAME), tracers.get_tracer(NAME), registry)
