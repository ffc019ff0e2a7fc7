"""The trades that market data takes from the router's rows instead of the engine's stream: each counts once."""

from typing import Any

import asyncpg
import pytest

from openspot.contracts.engine_events import TradeEvent
from openspot.engine_client.position import StreamPosition
from openspot.market_data.book import BookBase
from openspot.market_data.markets import Markets
from openspot.market_data.store import MarketDataStore

EPOCH = "e"
NOW_MS = 1_700_000_000_000
AHEAD = "BTC-USD"
"""The symbol of a partition whose rows have come to 10, while those of another one have come to 5."""


async def set_rows(pool: asyncpg.Pool, *cursors: tuple[str, int], trades: int) -> None:
    """Cursors of the partitions as (epoch, sequence), and the rows of the trades 1 to `trades` of one symbol."""
    for partition, (epoch, sequence) in enumerate(cursors):
        await pool.execute(
            "INSERT INTO engine_cursors (consumer, epoch, sequence, partition, partitions) VALUES ($1, $2, $3, $4, $5)",
            f"router-{partition}", epoch, sequence, partition, len(cursors),
        )  # fmt: skip
    await pool.executemany(
        """
        INSERT INTO trades VALUES ($1 || '-' || $2::bigint, $2, $3, 100, $2, 'buy', 'taker', 'maker',
                                   'u1', 'u2', 0, 0, 'USD', timestamptz 'epoch' + $4::bigint * interval '1 millisecond')
        """,
        [(EPOCH, sequence, AHEAD, NOW_MS) for sequence in range(1, trades + 1)],
    )


def trade(sequence: int) -> TradeEvent:
    """The event of one of these trades. Its quantity is its sequence."""
    values: dict[str, Any] = dict.fromkeys(TradeEvent.__struct_fields__, "")
    return TradeEvent(
        **values
        | {"seq": sequence, "timestamp": NOW_MS, "symbol": AHEAD, "trade_id": f"{EPOCH}-{sequence}"}
        | {"taker_engine_order_id": "7", "taker_side": "buy", "price": "100", "quantity": str(sequence)}
    )


async def minute_volume(pool: asyncpg.Pool) -> str:
    volume = await pool.fetchval(
        "SELECT trim_scale(sum(volume))::text FROM market_candles WHERE interval = '1m' AND symbol = $1", AHEAD
    )
    return str(volume)


@pytest.mark.parametrize("cursors", [((EPOCH, 10), (EPOCH, 5)), ((EPOCH, 5), (EPOCH, 10))])
async def test_trades_of_a_partition_that_is_ahead_of_the_others_count_once_in_candles_and_ticker(
    pool: asyncpg.Pool, cursors: tuple[tuple[str, int], ...]
) -> None:
    store = MarketDataStore(pool)
    await set_rows(pool, *cursors, trades=10)
    token = (await store.lead()).token
    reached = await store.count_routers_trades(token, StreamPosition(EPOCH, 2))
    assert reached == StreamPosition(EPOCH, 5)
    assert await minute_volume(pool) == "15"

    markets = Markets(10)
    markets.begin(await store.histories(EPOCH, NOW_MS))
    markets.set_base(AHEAD, BookBase(5, NOW_MS, (), ()))
    market = markets.get(AHEAD)
    assert market is not None
    assert market.last_trade == 5
    for sequence in range(6, 11):
        outcome = markets.apply(trade(sequence))
        assert outcome is not None
        assert outcome.trade is not None
        await store.record(token, [outcome.trade], StreamPosition(EPOCH, sequence))
    assert market.ticker(NOW_MS).volume == await minute_volume(pool) == "55"
    assert await pool.fetchval("SELECT count(*) FROM market_trades") == 10


async def test_the_rows_of_an_earlier_journal_count_whatever_their_sequence(pool: asyncpg.Pool) -> None:
    store = MarketDataStore(pool)
    await set_rows(pool, ("new", 3), trades=10)
    token = (await store.lead()).token
    assert await store.count_routers_trades(token, StreamPosition("new", 0)) == StreamPosition("new", 3)
    assert await minute_volume(pool) == "55"


async def test_what_was_recorded_counts_although_the_rows_have_not_come_so_far(pool: asyncpg.Pool) -> None:
    store = MarketDataStore(pool)
    await set_rows(pool, (EPOCH, 3), trades=10)
    token = (await store.lead()).token
    assert await store.count_routers_trades(token, StreamPosition(EPOCH, 7)) == StreamPosition(EPOCH, 7)
    assert await minute_volume(pool) == "28"
