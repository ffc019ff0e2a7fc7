"""The report: what it says, and when the sides agree."""

from collections import Counter
from decimal import Decimal
from pathlib import Path

import pytest

from openspot.reconcile.records import Difference
from openspot.replay.report import ReplayReport, format_report
from openspot.replay.run import ReplayError, ReplayOptions, replay
from openspot.replay.source import VenueTotals
from openspot.replay.statistics import Statistics
from openspot.up.services import PlatformSettings


def report(**changes: object) -> ReplayReport:
    statistics = Statistics(
        orders_sent=10, orders_accepted=7, orders_rejected=Counter({"RISK_NSF": 1, "too small": 2}),
        cancels_sent=4, cancels_done=3, cancels_too_late=1, cancels_without_order=2, latencies_s=[0.001, 0.002],
    )  # fmt: skip
    fields: dict[str, object] = {
        "source": "day_orders.csv.gz", "symbol": "BTC-USD", "users": 16, "events": 1234, "statistics": statistics,
        "seconds": 2.0, "trades": 3, "volume": Decimal("1.50"), "venue": VenueTotals(5, Decimal("2.25")),
        "caught_up": True, "accounts_compared": 33, "orders_compared": 7, "trades_compared": 3, "differences": [],
    }  # fmt: skip
    return ReplayReport(**(fields | changes))  # type: ignore[arg-type]


def test_every_figure_is_told() -> None:
    assert format_report(report()).splitlines() == [
        "Replay of day_orders.csv.gz on BTC-USD, 16 users",
        "",
        "events                1,234",
        "orders sent           10",
        "  accepted            7",
        "  rejected            3",
        "                      2 × too small",
        "                      1 × RISK_NSF",
        "  without a decision  0",
        "cancels sent          4",
        "  done                3",
        "  too late            1",
        "  failed              0",
        "cancels not sent      2 (no order of this replay)",
        "time                  2.0 s, 5 orders/s",
        "placement latency     p50 1.00 ms, p99 2.00 ms",
        "",
        "trades, ours          3, 1.5 BTC",
        "trades, the venue's   5, 2.25 BTC",
        "",
        "engine, ledger and rows: 33 balances, 7 orders, 3 trades compared",
        "0 differences",
    ]
    assert report().agrees


def test_each_difference_is_told_and_then_the_sides_do_not_agree() -> None:
    differing = report(differences=[Difference("balance", "u1 USD", "total", "10", "9.5")])
    assert not differing.agrees
    text = format_report(differing)
    assert "1 differences" in text
    assert "  balance u1 USD: total is 10 in the engine, 9.5 in the mirror" in text


def test_mirrors_that_did_not_catch_up_are_no_agreement() -> None:
    late = report(caught_up=False)
    assert not late.agrees
    assert "did not catch up" in format_report(late)


def test_a_flow_without_answers_and_without_a_venue_is_told_too() -> None:
    text = format_report(report(statistics=Statistics(), venue=None, seconds=0.0))
    assert "placement latency     none" in text
    assert "venue" not in text


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"symbol": "BTC-ZZZ"}, "Market BTC-ZZZ not found"),
        ({"users": 0}, "users must be between 1 and 1000"),
        ({"users": 1001}, "users must be between 1 and 1000"),
        ({"events_max": 0}, "events must be at least 1"),
        ({"look_ahead": 0}, "look-ahead must be at least 1"),
        ({"path": Path("/nothing/here.csv")}, "cannot be read"),
    ],
)
async def test_what_cannot_be_replayed_is_refused_with_the_reason(changes: dict[str, object], words: str) -> None:
    with pytest.raises(ReplayError, match=words):
        await replay(ReplayOptions(PlatformSettings(), **changes))  # type: ignore[arg-type]


async def test_a_flow_without_an_order_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "empty.csv"
    path.write_text("id,timestamp,price,volume,action,direction\n1,2,3,4,deleted,bid\n")
    with pytest.raises(ReplayError, match="no order to place"):
        await replay(ReplayOptions(PlatformSettings(), path=path))
