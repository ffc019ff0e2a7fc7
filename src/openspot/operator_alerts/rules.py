"""Which alerts an observation of the platform asks for. Pure, but for the counters that it remembers.

What could not be observed is not judged: an alert neither begins nor ends because a service is silent.
"""

import math
from collections import deque
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from openspot.http.operator_alerts import AlertKind
from openspot.kit.backup_outcome import BackupOutcome
from openspot.kit.clock import iso_from_ms
from openspot.kit.comparison_outcome import ComparisonOutcome
from openspot.kit.disk import MEBIBYTE, DiskSpace
from openspot.kit.intervals import Outcome, Plan
from openspot.kit.process_ends import ProcessEnd

DOCUMENTS_FILLED_FROM = 0.8
"""From this part of the place for documents on, operators are told."""
NAMED_MAX = 10
"""A message names at most this many subjects, and counts the others."""
RESTART_WINDOW_MS = 30 * 60_000
LOGIN_WINDOW_S = 600.0
BREAKER_WINDOW_S = 120.0
LAG, STUCK = "openspot_bus_consumer_lag_messages", "openspot_bus_consumer_stuck"
BREAKER = "openspot_bus_breaker_open_total"
DIFFERENCES = "openspot_reconcile_differences"
BELOW_LEVEL = "openspot_house_account_below_level"
PRICE_STATE = "openspot_market_data_fair_price_state"
LARGE_WITHDRAWALS = "openspot_custody_large_withdrawal_usd"
USER_LOGINS, ENGINE_LOGINS = "openspot_edge_failed_logins_total", "openspot_engine_logins_total"
DOCUMENTS_FILLED = "openspot_edge_documents_filled"
METRICS = frozenset(
    {
        LAG, STUCK, BREAKER, DIFFERENCES, BELOW_LEVEL, PRICE_STATE, LARGE_WITHDRAWALS, USER_LOGINS, ENGINE_LOGINS,
        DOCUMENTS_FILLED,
    }
)  # fmt: skip
"""The metrics that the rules read."""


class Sample(NamedTuple):
    """One value of a metric, with its labels."""

    metric: str
    labels: Mapping[str, str]
    value: float


@dataclass(frozen=True, slots=True)
class WatchedService:
    """What a service said of itself. `reason` is empty if it is ready. `metrics` names those that it has."""

    title: str
    reason: str = ""
    metrics: frozenset[str] = frozenset()
    samples: tuple[Sample, ...] = ()


@dataclass(frozen=True, slots=True)
class Observation:
    """The platform at one moment, `at` in seconds since 1970. None for what could not be observed."""

    at: float
    services: tuple[WatchedService, ...] = ()
    disk: DiskSpace | None = None
    ends: tuple[ProcessEnd, ...] = ()
    interrupted: frozenset[str] | None = None
    comparison: ComparisonOutcome | None = None
    backup: BackupOutcome | None = None


class Finding(NamedTuple):
    """Why an alert is asked for: in words, and the subjects, of which a new one is told at once."""

    text: str
    subjects: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Thresholds:
    """From where on something is an alert."""

    disk_free_bytes: int
    consumer_lag: int
    failed_logins: int
    comparisons: Plan
    backups: Plan


@dataclass(slots=True)
class CounterMemory:
    """How much counters grew lately, by subject. A counter that begins again counts from nothing."""

    window_s: float
    _last: dict[tuple[str, str], float] = field(default_factory=dict)
    _grown: deque[tuple[float, str, float]] = field(default_factory=deque)
    _seen: set[str] = field(default_factory=set)

    def take(self, at: float, service: str, series: Iterable[tuple[str, float]]) -> None:
        """Take the present values of a service. What it had before its first look is not counted."""
        is_known = service in self._seen
        self._seen.add(service)
        for subject, value in series:
            before = self._last.get((service, subject), 0.0 if is_known else value)
            self._last[service, subject] = value
            grown = value - before if value >= before else value
            if grown > 0:
                self._grown.append((at, subject, grown))

    def grown(self, at: float) -> dict[str, float]:
        """How much each subject grew within the window."""
        while self._grown and self._grown[0][0] <= at - self.window_s:
            self._grown.popleft()
        sums: dict[str, float] = {}
        for _, subject, amount in self._grown:
            sums[subject] = sums.get(subject, 0.0) + amount
        return sums


class Rules:
    """Judges observations, one after the other."""

    def __init__(self, thresholds: Thresholds, watched_since: float) -> None:
        """Where nothing was ever backed up or compared, it is late counted from `watched_since` on."""
        self._thresholds = thresholds
        self._watched_since = watched_since
        self._breakers = CounterMemory(BREAKER_WINDOW_S)
        self._logins = CounterMemory(LOGIN_WINDOW_S)

    def judge(self, seen: Observation) -> dict[AlertKind, Finding | None]:
        """What each alert has to say; None for one whose condition is not there. What is not judged is left out."""
        found: dict[AlertKind, Finding | None] = {
            AlertKind.SERVICE_DOWN: _named(
                {each.title: f"{each.title}: {each.reason}" for each in seen.services if each.reason}
            ),
            AlertKind.SERVICE_RESTARTED: self._restarts(seen),
        }
        if seen.disk is not None:
            found[AlertKind.DISK_LOW] = self._disk(seen.disk)
        if seen.interrupted is not None:
            found[AlertKind.MARKET_INTERRUPTED] = _named(
                {symbol: f"{symbol} is in an auction" for symbol in seen.interrupted}
            )
        if seen.comparison is not None:
            found[AlertKind.COMPARISON_FAILS] = _failure("comparison", seen.comparison)
            found[AlertKind.COMPARISON_LATE] = self._late(
                "comparison", seen.comparison, self._thresholds.comparisons, seen.at
            )
        if seen.backup is not None:
            found[AlertKind.BACKUP_FAILS] = _failure("backup", seen.backup)
            found[AlertKind.BACKUP_LATE] = self._late("backup", seen.backup, self._thresholds.backups, seen.at)
        judged = (
            (AlertKind.CONSUMER_LAGS, {LAG, STUCK}, self._lags),
            (AlertKind.BREAKER_OPEN, {BREAKER}, self._breaker),
            (AlertKind.BOOKS_DIFFER, {DIFFERENCES}, self._differences),
            (AlertKind.HOUSE_ACCOUNT_LOW, {BELOW_LEVEL}, self._house),
            (AlertKind.PRICE_DISPUTED, {PRICE_STATE}, lambda all_seen: self._prices(all_seen, "disputed")),
            (AlertKind.PRICE_STALE, {PRICE_STATE}, lambda all_seen: self._prices(all_seen, "stale")),
            (AlertKind.LOGINS_FAIL, {USER_LOGINS, ENGINE_LOGINS}, self._failed_logins),
            (AlertKind.LARGE_WITHDRAWAL, {LARGE_WITHDRAWALS}, self._withdrawals),
            (AlertKind.DOCUMENTS_FILL, {DOCUMENTS_FILLED}, self._documents),
        )
        for kind, metrics, rule in judged:
            if any(metrics & each.metrics for each in seen.services):
                found[kind] = rule(seen)
        if any(math.isnan(each.value) for each in _samples(seen, DIFFERENCES)):
            # Nothing was ever compared.
            del found[AlertKind.BOOKS_DIFFER]
        return found

    def _late(self, work: str, outcome: Outcome, plan: Plan, now: float) -> Finding | None:
        if not plan.is_late(outcome, self._watched_since, now):
            return None
        if outcome.made_at is None:
            return Finding(f"no {work} has ever succeeded")
        at = iso_from_ms(round(outcome.made_at * 1000))
        return Finding(f"the last good {work} is {(now - outcome.made_at) / 3600:.0f} hours old, of {at}")

    def _disk(self, disk: DiskSpace) -> Finding | None:
        if disk.message:
            return Finding(disk.message, frozenset({disk.state.value}))
        if disk.free < self._thresholds.disk_free_bytes:
            free = f"{disk.free // MEBIBYTE} MiB of {disk.total // MEBIBYTE} MiB are free"
            return Finding(f"the disk of the data directory has little space left: {free}", frozenset({"low"}))
        return None

    def _restarts(self, seen: Observation) -> Finding | None:
        newest = seen.at * 1000 - RESTART_WINDOW_MS
        return _named(
            {
                f"{end.process} {iso_from_ms(end.at_ms)}": end.text
                for end in seen.ends
                if end.at_ms > newest and not end.is_asked
            }
        )

    def _lags(self, seen: Observation) -> Finding | None:
        texts = {
            _who(each): f"{_who(each)} has {int(each.value)} messages before it"
            for each in _samples(seen, LAG)
            if each.value >= self._thresholds.consumer_lag
        }
        texts |= {
            _who(each): f"{_who(each)} does not deal with its messages" for each in _samples(seen, STUCK) if each.value
        }
        return _named(texts)

    def _breaker(self, seen: Observation) -> Finding | None:
        for service in seen.services:
            series = [(_who(each), each.value) for each in service.samples if each.metric == BREAKER]
            if BREAKER in service.metrics:
                self._breakers.take(seen.at, service.title, series)
        return _named({who: f"publishes to {who} are refused" for who in self._breakers.grown(seen.at)})

    def _differences(self, seen: Observation) -> Finding | None:
        count = max((each.value for each in _samples(seen, DIFFERENCES)), default=0.0)
        if not count > 0:
            return None
        return Finding(
            f"the newest comparison found {int(count)} differences", frozenset({f"{int(count)} differences"})
        )

    def _house(self, seen: Observation) -> Finding | None:
        names = {
            f"{each.labels['account']} {each.labels['asset']}" for each in _samples(seen, BELOW_LEVEL) if each.value
        }
        return _named({name: f"{name} is below its level" for name in names})

    def _prices(self, seen: Observation, state: str) -> Finding | None:
        symbols = {
            each.labels["symbol"]
            for each in _samples(seen, PRICE_STATE)
            if each.labels.get("state") == state and each.value
        }
        return _named({symbol: f"the fair price of {symbol} is {state}" for symbol in symbols})

    def _failed_logins(self, seen: Observation) -> Finding | None:
        for service in seen.services:
            failed = [
                ("logins", each.value)
                for each in service.samples
                if each.metric == USER_LOGINS
                or (each.metric == ENGINE_LOGINS and each.labels.get("outcome") == "failed")
            ]
            if {USER_LOGINS, ENGINE_LOGINS} & service.metrics:
                self._logins.take(seen.at, service.title, [("logins", sum(value for _, value in failed))])
        count = int(self._logins.grown(seen.at).get("logins", 0))
        if count < self._thresholds.failed_logins:
            return None
        return Finding(f"{count} logins failed within ten minutes")

    def _withdrawals(self, seen: Observation) -> Finding | None:
        # Each process of custody shows the same rows.
        worth = {each.labels["withdrawal"]: int(each.value) for each in _samples(seen, LARGE_WITHDRAWALS)}
        return _named({name: f"withdrawal {name} is worth {usd:,} USD" for name, usd in worth.items()})

    def _documents(self, seen: Observation) -> Finding | None:
        filled = max((each.value for each in _samples(seen, DOCUMENTS_FILLED)), default=0.0)
        if filled < DOCUMENTS_FILLED_FROM:
            return None
        return Finding(f"{filled:.0%} of the place for documents of verifications is taken")


def _failure(work: str, outcome: Outcome) -> Finding | None:
    return None if outcome.failed_at is None else Finding(f"the newest {work} failed: {outcome.reason}")


def _samples(seen: Observation, metric: str) -> list[Sample]:
    return [each for service in seen.services for each in service.samples if each.metric == metric]


def _who(sample: Sample) -> str:
    return " ".join(value for _, value in sorted(sample.labels.items())) or sample.metric


def _named(texts: Mapping[str, str]) -> Finding | None:
    """A finding about the subjects of `texts`; None if there are none."""
    if not texts:
        return None
    names = sorted(texts)
    text = "; ".join(texts[name] for name in names[:NAMED_MAX])
    if len(names) > NAMED_MAX:
        text += f"; and {len(names) - NAMED_MAX} more"
    return Finding(text, frozenset(names))
