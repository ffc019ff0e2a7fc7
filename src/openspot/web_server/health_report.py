"""The content of the console's health page: every service's checks and lags, and the last reconciliation."""

import asyncio
import json
import math
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import aiohttp
import msgspec
from prometheus_client.parser import text_string_to_metric_families

from openspot.kit.alone import Begun, under_way
from openspot.kit.backup_outcome import LOCK as BACKUP_LOCK
from openspot.kit.backup_outcome import backup_outcome
from openspot.kit.comparison_outcome import FAILURE, LOCK, REPORT, comparison_outcome
from openspot.kit.intervals import IntervalSettings, Outcome, Plan
from openspot.kit.process_ends import read_ends
from openspot.web_server.bounded_body import whole_body
from openspot.web_server.reconciliation import Reconciliation

REUSED_S = 1.0
"""A report is at most this old, so that several open pages share one."""
ENDS_SHOWN_MAX = 20
LAGS = {
    "openspot_engine_queue_depth": "Commands that wait for a commit",
    "openspot_router_translator_lag_events": "Engine events not published yet",
    "openspot_router_held_events": "Events that the bus has not taken",
    "openspot_router_row_queue_rows": "Order and trade rows not written yet",
    "openspot_market_data_lag_events": "Engine events not applied yet",
    "openspot_market_data_queue_trades": "Trades not recorded yet",
    "openspot_bus_consumer_lag_messages": "Messages not dealt with yet",
    "openspot_edge_transfers_pending": "Transfers whose outcome is not known",
    "openspot_subscription_transfers_pending": "Charges of plans whose outcome is not known",
    "openspot_audit_waiting": "Audit records not written yet",
    "openspot_venue_waiting_ticks": "Ticks that wait for the bus",
}
"""Metrics that count work still to be done, with the words for it."""


class Check(msgspec.Struct, frozen=True):
    """One check of a service. `message` is empty if it passed, and says what is wrong if it is down or degraded."""

    name: str
    message: str


class Lag(msgspec.Struct, frozen=True):
    """How much work of one kind is still to be done."""

    name: str
    value: int


class ServiceHealth(msgspec.Struct, frozen=True):
    """What a service says of itself. `state` is READY, NOT_READY, or SILENT if it does not respond."""

    title: str
    state: str
    checks: list[Check] = []
    lags: list[Lag] = []


class EndedProcess(msgspec.Struct, frozen=True, rename="camel"):
    """A process that ended and was started again, `at_ms` in milliseconds since 1970.

    `is_asked` says that somebody asked for that; otherwise it ended by itself.
    """

    process: str
    title: str
    at_ms: int
    cause: str
    is_asked: bool


class PlannedWork(msgspec.Struct, frozen=True, rename="camel"):
    """A work of the timetable, `comparison` or `backup`: what became of the newest runs, and when the next one is due.

    Times are in milliseconds since 1970. `made_at` is the last good run, `failed_at` an attempt after it and `reason`
    why it failed; `due_at` is None if the timetable does not run it. `begun` says who runs it now.
    """

    work: str
    made_at: int | None
    failed_at: int | None
    reason: str
    due_at: int | None
    is_late: bool
    begun: Begun | None
    differences: int | None = None


class HealthReport(msgspec.Struct, frozen=True):
    """Every service at the time `at`, in milliseconds since 1970, and the last reconciliation, if there was one.

    If nothing could be compared since then, `reconcile` has `error` and `failedAt`, too.

    `ends` are the newest ends of processes, newest first; their last lines are not for everybody.

    `reconciling` says whether one runs now. `failure` says why the last one that an operator started left no outcome.
    """

    at: int
    services: list[ServiceHealth]
    ends: list[EndedProcess] = []
    reconcile: Any = None
    reconciling: bool = False
    failure: str = ""
    works: list[PlannedWork] = []


class HealthReporter:
    """Asks the services. `watched` holds the address of each one by its title."""

    def __init__(
        self,
        session: aiohttp.ClientSession,
        watched: Mapping[str, str],
        data_dir: Path,
        timeout_s: float,
        reconciliation: Reconciliation | None = None,
        intervals: IntervalSettings | None = None,
    ) -> None:
        """A service counts as silent after `timeout_s`."""
        self._intervals = intervals
        self._watched_since = time.time()
        self._session = session
        self._timeout_s = timeout_s
        self._watched = watched
        self._reconciliation = reconciliation
        self._data_dir = data_dir
        self._asking = asyncio.Lock()
        self._newest: dict[bool, tuple[float, list[ServiceHealth]]] = {}
        """When what was known, with lags and without."""

    async def services(self, reused_s: float = REUSED_S, *, with_lags: bool = True) -> list[ServiceHealth]:
        """What every service says of itself. It is at most `reused_s` old.

        Without lags no service renders its metrics, which takes much longer than all else.
        """
        async with self._asking:
            at, services = self._newest.get(with_lags, (-math.inf, []))
            if time.monotonic() - at > reused_s:
                services = await asyncio.gather(*(self._ask(*each, with_lags) for each in self._watched.items()))
                self._newest[with_lags] = time.monotonic(), services
            return services

    async def report(self) -> bytes:
        """The report as JSON. It is at most REUSED_S old."""
        services = await self.services()
        asked = self._reconciliation
        # Read the flag before the file. If a comparison ends between the two, its outcome is shown early, never too
        # late.
        is_running = asked is not None and asked.is_running
        report = HealthReport(
            time.time_ns() // 1_000_000,
            services,
            [
                EndedProcess(end.process, end.title, end.at_ms, end.cause, end.is_asked)
                for end in reversed(read_ends(self._data_dir))
            ][:ENDS_SHOWN_MAX],
            last_reconcile(self._data_dir),
            is_running,
            asked.failure if asked is not None else "",
            [] if self._intervals is None else self._works(self._intervals),
        )
        return msgspec.json.encode(report)

    def _works(self, intervals: IntervalSettings) -> list[PlannedWork]:
        compared, backed_up = comparison_outcome(self._data_dir), backup_outcome(self._data_dir)
        return [
            self._planned("comparison", compared, intervals.reconcile_plan, LOCK, compared.differences),
            self._planned("backup", backed_up, intervals.backup_plan, BACKUP_LOCK),
        ]

    def _planned(
        self, work: str, outcome: Outcome, plan: Plan, lock: str, differences: int | None = None
    ) -> PlannedWork:
        now = time.time()
        return PlannedWork(
            work,
            _milliseconds(outcome.made_at),
            _milliseconds(outcome.failed_at),
            outcome.reason,
            _milliseconds(plan.due_at(outcome, now)) if plan.every_s else None,
            plan.is_late(outcome, self._watched_since, now),
            under_way(self._data_dir / lock),
            differences,
        )

    async def _ask(self, title: str, url: str, with_lags: bool) -> ServiceHealth:
        paths = ("ready", "metrics") if with_lags else ("ready",)
        try:
            async with asyncio.timeout(self._timeout_s):
                readiness, *metrics = await asyncio.gather(*(self._get(f"{url}/{path}") for path in paths))
            return ServiceHealth(title, *readiness_of(readiness), lags=lags_of("".join(metrics)))
        except TimeoutError:
            reason = f"no response from {url} within {self._timeout_s:g} s"
        except (aiohttp.ClientError, OSError, ValueError) as error:
            reason = f"no readable response from {url}: {error}"
        return ServiceHealth(title, "SILENT", [Check("response", reason)])

    async def _get(self, url: str) -> str:
        async with self._session.get(url, allow_redirects=False) as response:
            return (await whole_body(response)).decode()


def readiness_of(body: str) -> tuple[str, list[Check]]:
    """State and checks from the body of /ready. Raises ValueError for any other body."""
    content = json.loads(body)
    details = content.get("details") if isinstance(content, dict) else None
    if not isinstance(details, dict):
        raise ValueError("the readiness has no details")
    checks = [
        Check(name, "" if result["status"] == "up" else str(result.get("message") or "no reason given"))
        for name, result in details.items()
        if isinstance(result, dict) and "status" in result
    ]
    is_down = any(isinstance(result, dict) and result.get("status") == "down" for result in details.values())
    return ("NOT_READY" if is_down else "READY"), checks


def lags_of(text: str) -> list[Lag]:
    """The lags in the metrics of a service. Raises ValueError if they cannot be read."""
    found = []
    for family in text_string_to_metric_families(text):
        if name := LAGS.get(family.name):
            for sample in family.samples:
                labels = ", ".join(sample.labels.values())
                found.append(Lag(f"{name}: {labels}" if labels else name, int(sample.value)))
    return found


def last_reconcile(data_dir: Path) -> dict[str, Any] | None:
    """What the last reconciliation wrote, and why later ones failed; None if there is neither or it cannot be read."""
    outcome, failed = _read(data_dir / REPORT), _read(data_dir / FAILURE)
    if outcome is None or failed is None:
        return outcome or failed
    return outcome | {"error": failed.get("error"), "failedAt": failed.get("at")}


def _milliseconds(seconds: float | None) -> int | None:
    return None if seconds is None else round(seconds * 1000)


def _read(path: Path) -> dict[str, Any] | None:
    try:
        content = json.loads(path.read_bytes())
    except (OSError, ValueError):
        return None
    return content if isinstance(content, dict) else None
