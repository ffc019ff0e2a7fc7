"""Aggregate trades: what belongs together, in either order of time, and after a restart."""

from dataclasses import replace

import pytest

from openspot.contracts.engine_events import AcceptedEvent, EngineEvent, TradeEvent
from openspot.contracts.messages import AggregateTrade, AggregateTradeEvent
from openspot.domain.money import AMOUNT_SCALE
from openspot.market_data.aggregates import Fill, Gathering, Run, run_of
from openspot.market_data.book import BookBase
from openspot.market_data.day import RollingDay
from openspot.market_data.markets import MarketHistory, Markets

SYMBOL = "BTC-USD"
NOW_MS = 1_700_000_000_000


def fill(sequence: int, price: int = 100, quantity: int = 1, taker: str | None = "t", **changed: object) -> Fill:
    made = Fill(
        f"e-{sequence}", sequence, price * AMOUNT_SCALE, quantity * AMOUNT_SCALE, "buy", NOW_MS, taker,
    )  # fmt: skip
    return replace(made, **changed)  # type: ignore[arg-type]


FILLS = [
    fill(3), fill(4, quantity=2), fill(6),  # An own order in between was cancelled by self-trade prevention.
    fill(7, price=101), fill(8, price=101, quantity=5),
    fill(11, price=101, taker="u"),
    fill(12, price=101, taker="u", timestamp_ms=NOW_MS + 1),
    fill(13, price=101, taker="u", timestamp_ms=NOW_MS + 1, side="sell"),
    fill(14, price=101, taker="t", timestamp_ms=NOW_MS + 1),
    fill(15, price=101, taker="u", timestamp_ms=NOW_MS + 1, side="sell"),
]  # fmt: skip
RUNS = [(3, 6, 3, 4), (7, 8, 2, 6), (11, 11, 1, 1), (12, 12, 1, 1), (13, 13, 1, 1), (14, 14, 1, 1), (15, 15, 1, 1)]
"""First and last sequence, number of trades and quantity of the runs among FILLS."""


def seen(runs: list[Run]) -> list[tuple[int, int, int, int]]:
    return [(run.first.sequence, run.last.sequence, run.trades, run.quantity // AMOUNT_SCALE) for run in runs]


@pytest.mark.parametrize("is_rising", [True, False])
def test_trades_of_one_taker_at_one_price_and_time_belong_together(is_rising: bool) -> None:
    gathering = Gathering(is_rising=is_rising)
    ordered, expected = (FILLS, RUNS) if is_rising else (FILLS[::-1], RUNS[::-1])
    gathering.add(ordered[:5])
    gathering.add(ordered[5:])
    # The last one may go on.
    assert seen(gathering.complete) == expected[:-1]
    gathering.end()
    gathering.end()
    assert seen(gathering.complete) == expected


def test_an_aggregate_says_all_of_its_trades() -> None:
    run = run_of(fill(3), previous=1)
    run.add_younger(fill(4, quantity=2))
    one = AggregateTrade("e-3", "e-4", SYMBOL, "100", "3", "buy", 2, NOW_MS, 3, 4)
    assert run.aggregate(SYMBOL) == one
    assert run.event(SYMBOL) == AggregateTradeEvent("e-3", "e-4", SYMBOL, "100", "3", "buy", 2, NOW_MS, 3, 4, 4, 1)


# As the events of the engine make them


def trade(sequence: int, taker: str, price: str = "100", quantity: str = "1", limit: str = "") -> TradeEvent:
    return TradeEvent(
        seq=sequence, timestamp=NOW_MS, symbol=SYMBOL, trade_id=f"e-{sequence}", taker_engine_order_id=taker,
        maker_engine_order_id="m", taker_order_id="", maker_order_id="", taker_participant_id="bob",
        maker_participant_id="alice", taker_side="buy", price=price, quantity=quantity, is_taker_completed=False,
        is_maker_completed=True, taker_remaining="1", maker_remaining="0", taker_fee_amount="0", taker_fee_bps=0,
        maker_fee_amount="0", maker_fee_bps=0, maker_is_rebate=False, fee_currency="USD", taker_limit=limit,
    )  # fmt: skip


def accepted(sequence: int, order_id: str) -> AcceptedEvent:
    return AcceptedEvent(sequence, NOW_MS, SYMBOL, order_id, "", "bob", "buy", "GTC", "100", "9", "")


def markets(run: Run | None = None, last_trade: int = 0) -> Markets:
    made = Markets(10)
    made.begin({SYMBOL: MarketHistory(RollingDay(), last_trade, run)})
    made.set_base(SYMBOL, BookBase(1, NOW_MS, [], [("100", "50"), ("101", "50")]))
    return made


def published(made: Markets, *events: EngineEvent) -> list[tuple[str, int, str, int, int]]:
    """First trade, number of trades, quantity, sequence and the sequence before, of each event's aggregate."""
    outcomes = [made.apply(event) for event in events]
    aggregates = [outcome.aggregate for outcome in outcomes if outcome is not None and outcome.aggregate is not None]
    return [(one.first_trade_id, one.trades, one.quantity, one.seq, one.prev_seq) for one in aggregates]


def test_an_aggregate_grows_with_each_trade_of_its_order() -> None:
    events = [accepted(2, "t"), trade(3, "t"), trade(4, "t", quantity="2"), trade(5, "t", price="101"),
              accepted(6, "u"), trade(7, "u", price="101")]  # fmt: skip
    assert published(markets(), *events) == [
        ("e-3", 1, "1", 3, 0),
        ("e-3", 2, "3", 4, 0),
        ("e-5", 1, "1", 5, 4),
        ("e-7", 1, "1", 7, 5),
    ]


def test_after_a_restart_within_an_order_its_aggregate_goes_on() -> None:
    read = Run(fill(3, taker=None), fill(4, taker=None), 3 * AMOUNT_SCALE, 2)
    assert published(markets(read, 4), trade(5, "t"), trade(6, "t"), trade(8, "t")) == [
        ("e-3", 3, "4", 5, 0),
        ("e-3", 4, "5", 6, 0),
        ("e-3", 5, "6", 8, 0),
    ]


def test_after_a_restart_another_order_begins_its_own_aggregate() -> None:
    read = Run(fill(3, taker=None), fill(4, taker=None), 3 * AMOUNT_SCALE, 2)
    # Its acceptance came between, at the same price and in the same millisecond.
    assert published(markets(read, 4), accepted(5, "u"), trade(6, "u")) == [("e-6", 1, "1", 6, 4)]


def test_after_a_restart_the_trades_of_an_auction_are_not_taken_for_one_order() -> None:
    read = Run(fill(3, taker=None), fill(4, taker=None), 3 * AMOUNT_SCALE, 2)
    assert published(markets(read, 4), trade(5, "u", limit="102")) == [("e-5", 1, "1", 5, 4)]
