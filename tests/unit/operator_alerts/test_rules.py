"""What an observation asks for: each alert at its edge, and nothing where nothing was seen."""

import math
from pathlib import Path

import pytest

from openspot.http.operator_alerts import AlertKind
from openspot.kit.backup_outcome import BackupOutcome
from openspot.kit.clock import iso_from_ms
from openspot.kit.comparison_outcome import ComparisonOutcome
from openspot.kit.disk import MEBIBYTE, DiskSpace
from openspot.kit.intervals import Plan
from openspot.kit.process_ends import ProcessEnd
from openspot.operator_alerts.kinds import ABOUT
from openspot.operator_alerts.rules import Finding, Observation, Rules, Sample, Thresholds, WatchedService

MINUTE_MS = 60_000
NOW = 1_800_000_000.0


def rules() -> Rules:
    thresholds = Thresholds(100 * MEBIBYTE, 10, 5, comparisons=Plan(86_400, 2), backups=Plan(7200, 3))
    return Rules(thresholds, watched_since=NOW)


def service(title: str, *samples: tuple[str, dict[str, str], float], reason: str = "") -> WatchedService:
    found = tuple(Sample(*sample) for sample in samples)
    return WatchedService(title, reason, frozenset(sample.metric for sample in found), found)


def judged(kind: AlertKind, *services: WatchedService, at: float = NOW, by: Rules | None = None) -> Finding | None:
    return (by or rules()).judge(Observation(at, services))[kind]


def disk(free_mib: int) -> DiskSpace:
    return DiskSpace(Path("/data"), free_mib * MEBIBYTE, 500 * MEBIBYTE, 10 * MEBIBYTE)


def test_every_kind_says_what_it_means_and_what_to_do() -> None:
    assert ABOUT.keys() == set(AlertKind)


def test_what_nobody_shows_is_not_judged() -> None:
    silent = WatchedService("Ledger", "no response within 3 s")
    assert rules().judge(Observation(NOW, (silent,))) == {
        AlertKind.SERVICE_DOWN: Finding("Ledger: no response within 3 s", frozenset({"Ledger"})),
        AlertKind.SERVICE_RESTARTED: None,
    }
    never = service("Web server", ("openspot_reconcile_differences", {}, math.nan))
    assert AlertKind.BOOKS_DIFFER not in rules().judge(Observation(NOW, (never,)))


def test_the_disk_is_low_below_the_bound() -> None:
    assert rules().judge(Observation(NOW, disk=disk(100)))[AlertKind.DISK_LOW] is None
    low = rules().judge(Observation(NOW, disk=disk(99)))[AlertKind.DISK_LOW]
    assert low is not None and low.text.endswith("99 MiB of 500 MiB are free")
    full = rules().judge(Observation(NOW, disk=disk(9)))[AlertKind.DISK_LOW]
    assert full is not None and "no commands are taken" in full.text and full.subjects == {"full"}


def test_an_end_of_a_process_is_told_for_half_an_hour_with_its_cause() -> None:
    def end(minutes: float, *, is_asked: bool = False) -> ProcessEnd:
        at_ms = round(NOW * 1000 - minutes * MINUTE_MS)
        return ProcessEnd("ledger", "Ledger", at_ms, "signal SIGKILL", is_asked=is_asked)

    # Whoever asked for a restart need not be told of it.
    seen = Observation(NOW, ends=(end(30), end(29.9), end(1, is_asked=True)))
    found = rules().judge(seen)[AlertKind.SERVICE_RESTARTED]
    assert found == Finding(
        "Ledger ended at 2027-01-15 07:30:06 UTC: signal SIGKILL", frozenset({f"ledger {iso_from_ms(end(29.9).at_ms)}"})
    )


LAG, STUCK = "openspot_bus_consumer_lag_messages", "openspot_bus_consumer_stuck"
STATE = "openspot_market_data_fair_price_state"


@pytest.mark.parametrize(
    ("kind", "sample", "expected"),
    [
        (AlertKind.CONSUMER_LAGS, (LAG, {"durable": "x"}, 9), None),
        (AlertKind.CONSUMER_LAGS, (LAG, {"durable": "x"}, 10), "x has 10 messages before it"),
        (AlertKind.CONSUMER_LAGS, (STUCK, {"durable": "x"}, 1), "x does not deal with its messages"),
        (AlertKind.BOOKS_DIFFER, ("openspot_reconcile_differences", {}, 0), None),
        (
            AlertKind.BOOKS_DIFFER,
            ("openspot_reconcile_differences", {}, 2),
            "the newest comparison found 2 differences",
        ),
        (
            AlertKind.HOUSE_ACCOUNT_LOW,
            ("openspot_house_account_below_level", {"account": "house:fees", "asset": "USD"}, 1),
            "house:fees USD is below its level",
        ),
        (
            AlertKind.HOUSE_ACCOUNT_LOW,
            ("openspot_house_account_below_level", {"account": "house:fees", "asset": "USD"}, 0),
            None,
        ),
        (
            AlertKind.PRICE_DISPUTED,
            (STATE, {"symbol": "BTC-USD", "state": "disputed"}, 1),
            "the fair price of BTC-USD is disputed",
        ),
        (AlertKind.PRICE_DISPUTED, (STATE, {"symbol": "BTC-USD", "state": "stale"}, 1), None),
        (
            AlertKind.PRICE_STALE,
            (STATE, {"symbol": "BTC-USD", "state": "stale"}, 1),
            "the fair price of BTC-USD is stale",
        ),
        (
            AlertKind.LARGE_WITHDRAWAL,
            ("openspot_custody_large_withdrawal_usd", {"withdrawal": "w-1"}, 250_000),
            "withdrawal w-1 is worth 250,000 USD",
        ),
    ],
)
def test_a_metric_asks_for_its_alert(
    kind: AlertKind, sample: tuple[str, dict[str, str], float], expected: str | None
) -> None:
    found = judged(kind, service("Some service", sample))
    assert (None if found is None else found.text) == expected


def test_interrupted_markets_are_named_and_an_edge_that_is_silent_ends_nothing() -> None:
    assert AlertKind.MARKET_INTERRUPTED not in rules().judge(Observation(NOW, interrupted=None))
    assert rules().judge(Observation(NOW, interrupted=frozenset()))[AlertKind.MARKET_INTERRUPTED] is None
    found = rules().judge(Observation(NOW, interrupted=frozenset({"BTC-USD"})))[AlertKind.MARKET_INTERRUPTED]
    assert found == Finding("BTC-USD is in an auction", frozenset({"BTC-USD"}))


def test_a_failed_comparison_or_backup_is_told_with_its_reason_until_one_succeeds() -> None:
    failed = Observation(
        NOW,
        comparison=ComparisonOutcome(NOW - 60, NOW - 1, "the engine does not answer", 0),
        backup=BackupOutcome(failed_at=NOW - 1, reason="no space"),
    )
    found = rules().judge(failed)
    assert found[AlertKind.COMPARISON_FAILS] == Finding("the newest comparison failed: the engine does not answer")
    assert found[AlertKind.BACKUP_FAILS] == Finding("the newest backup failed: no space")
    assert (found[AlertKind.COMPARISON_LATE], found[AlertKind.BACKUP_LATE]) == (None, None)
    mended = rules().judge(Observation(NOW, comparison=ComparisonOutcome(NOW), backup=BackupOutcome(NOW)))
    assert (mended[AlertKind.COMPARISON_FAILS], mended[AlertKind.BACKUP_FAILS]) == (None, None)


def test_a_comparison_and_a_backup_are_late_after_the_intervals_of_the_settings() -> None:
    def late(age_s: float) -> tuple[Finding | None, Finding | None]:
        outcomes = ComparisonOutcome(NOW - age_s), BackupOutcome(NOW - age_s)
        found = rules().judge(Observation(NOW, comparison=outcomes[0], backup=outcomes[1]))
        return found[AlertKind.COMPARISON_LATE], found[AlertKind.BACKUP_LATE]

    assert late(3 * 7200) == (None, None)
    assert late(3 * 7200 + 1) == (None, Finding("the last good backup is 6 hours old, of 2027-01-15T01:59:59.000Z"))
    assert late(2 * 86_400)[0] is None
    assert late(2 * 86_400 + 1)[0] == Finding("the last good comparison is 48 hours old, of 2027-01-13T07:59:59.000Z")


def test_what_has_never_succeeded_is_late_counted_from_the_first_look_on() -> None:
    by = rules()

    def late(after_s: float) -> Finding | None:
        return by.judge(Observation(NOW + after_s, backup=BackupOutcome()))[AlertKind.BACKUP_LATE]

    assert late(3 * 7200) is None
    assert late(3 * 7200 + 1) == Finding("no backup has ever succeeded")


def test_the_place_for_documents_fills_from_four_fifths_on() -> None:
    def seen(*filled: float) -> Finding | None:
        services = [service("REST edge", ("openspot_edge_documents_filled", {}, value)) for value in filled]
        return judged(AlertKind.DOCUMENTS_FILL, *services)

    assert seen(0.79) is None
    # Each edge shows the same place.
    assert seen(0.5, 0.8) == Finding("80% of the place for documents of verifications is taken")


def test_failed_logins_count_within_ten_minutes_whichever_service_saw_them_and_through_its_restart() -> None:
    by = rules()

    def seen(at: float, users: float, engine: float) -> Finding | None:
        return judged(
            AlertKind.LOGINS_FAIL,
            service("REST edge", ("openspot_edge_failed_logins_total", {"reason": "password"}, users)),
            service(
                "Matching engine",
                ("openspot_engine_logins_total", {"outcome": "failed"}, engine),
                ("openspot_engine_logins_total", {"outcome": "succeeded"}, 1000),
            ),
            at=at,
            by=by,
        )

    assert seen(NOW, 100, 0) is None, "what was before the first look is old"
    assert seen(NOW + 10, 102, 2) is None
    assert seen(NOW + 20, 1, 2) == Finding("5 logins failed within ten minutes"), "the edge began again with one"
    assert seen(NOW + 609.9, 1, 2) is not None
    assert seen(NOW + 610, 1, 2) is None


def test_a_breaker_is_open_for_two_minutes_after_a_refusal() -> None:
    by = rules()

    def seen(at: float, value: float) -> Finding | None:
        sample = ("openspot_bus_breaker_open_total", {"subject": "trades.executed"}, value)
        return judged(AlertKind.BREAKER_OPEN, service("Order router", sample), at=at, by=by)

    assert seen(NOW, 7) is None
    assert seen(NOW + 10, 8) == Finding("publishes to trades.executed are refused", frozenset({"trades.executed"}))
    assert seen(NOW + 129, 8) is not None
    assert seen(NOW + 130, 8) is None


def test_a_message_names_ten_subjects_and_counts_the_others() -> None:
    samples = [(STATE, {"symbol": f"A{number:02}-USD", "state": "stale"}, 1.0) for number in range(12)]
    found = judged(AlertKind.PRICE_STALE, service("Market data", *samples))
    assert found is not None and found.text.endswith("the fair price of A09-USD is stale; and 2 more")
    assert len(found.subjects) == 12
