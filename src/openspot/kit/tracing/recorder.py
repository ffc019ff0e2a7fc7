"""Records spans in this process, and hands them to an exporter in a thread of OpenTelemetry's own.

The queue of that thread is bounded, and a full one drops spans: an order never waits for its trace.
"""

import threading
import time
from typing import TYPE_CHECKING

from openspot.kit.settings import Settings
from openspot.kit.tracing.steps import PLACES, Step, chance_of, root_of, span_id_of, trace_id_of

if TYPE_CHECKING:
    pass

TO_FILES = "file"
"""The value of the setting that writes spans into files of the data directory."""
EXPORT_S_MAX = 5
"""Seconds that one batch may take on its way to the collector, its retries included."""
GOODBYE_S_MAX = 2.0
"""Seconds that the end of a process waits for a collector. What it does not take by then is dropped."""
INTERVAL_MS = 500


class _Recorder:
    """The exporter of a process, and what it needs for each span."""

    def __init__(self, settings: Settings, name: str) -> None:
        from opentelemetry.sdk.resources import Resource
        from opentelemetry.sdk.trace.export import BatchSpanProcessor, SpanExporter

        exporter: SpanExporter
        if settings.tracing_endpoint == TO_FILES:
            from openspot.kit.tracing.files import FileExporter

            exporter = FileExporter(settings.data_dir, name)
        else:
            from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter

            exporter = OTLPSpanExporter(endpoint=settings.tracing_endpoint, timeout=EXPORT_S_MAX)
        self.share = settings.tracing_share
        self.users = 0
        self.resources: dict[str, Resource] = {
            place.service: Resource({"service.name": f"openspot-{place.service}", "service.namespace": "openspot"})
            for place in PLACES.values()
        }
        self.exporter = exporter
        self.processor: BatchSpanProcessor = BatchSpanProcessor(exporter, schedule_delay_millis=INTERVAL_MS)


_recorder: _Recorder | None = None


def start(settings: Settings, name: str) -> None:
    """Record the spans of this process from now on, if the settings say where they go; `name` names the process.

    Services that share a process call it once each.
    """
    global _recorder
    if not settings.tracing_endpoint:
        return
    if _recorder is None:
        _recorder = _Recorder(settings, name)
    _recorder.users += 1


def stop() -> None:
    """End what `start` began: the last one to call it waits until the recorded spans are on their way."""
    global _recorder
    if _recorder is None:
        return
    _recorder.users -= 1
    if not _recorder.users:
        ended, _recorder = _recorder, None
        # The end of the exporter ends the retries for a collector that is away.
        threading.Timer(GOODBYE_S_MAX, ended.exporter.shutdown).start()
        ended.processor.shutdown()  # type: ignore[no-untyped-call]


def is_traced(order_id: str) -> bool:
    """Whether spans of this order are recorded."""
    return _recorder is not None and chance_of(trace_id_of(order_id)) < _recorder.share


def begin() -> int:
    """The time at which a step begins, in ns since 1970; 0 while nothing is recorded."""
    return 0 if _recorder is None else time.time_ns()


def end(order_id: str, step: Step, began: int, *, key: str = "", **attributes: str | int) -> None:
    """Record a step that began at `began` and ends now, if its order is traced and `began` is not 0."""
    if began and is_traced(order_id):
        record(order_id, step, began, time.time_ns(), key=key, **attributes)


def record(order_id: str, step: Step, began: int, ended: int, *, key: str = "", **attributes: str | int) -> None:
    """Record a step of a traced order, from `began` to `ended` in ns since 1970.

    `key` tells several spans of one step apart, or several amendments with all their steps. Attributes must not say who
    the user is, nor of how much.
    """
    if _recorder is None:
        return
    from opentelemetry.sdk.trace import ReadableSpan
    from opentelemetry.trace import SpanContext, TraceFlags

    root = root_of(step)
    trace_id = trace_id_of(order_id, root, key)
    key_of_parent = "" if root is Step.ORDER else key

    def context(of: Step, key: str = "") -> SpanContext:
        flags = TraceFlags(TraceFlags.SAMPLED)
        return SpanContext(trace_id, span_id_of(order_id, of, key), is_remote=False, trace_flags=flags)

    place = PLACES[step]
    span = ReadableSpan(
        step.value,
        context=context(step, key),
        parent=None if place.parent is None else context(place.parent, key_of_parent),
        resource=_recorder.resources[place.service],
        attributes={"order.id": order_id, **attributes},
        start_time=began,
        end_time=ended,
    )
    _recorder.processor.on_end(span)
