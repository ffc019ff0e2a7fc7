"""Aggregate trades from a real engine and a real router: what is published, and what the rows say, is the same."""

import asyncpg
import pytest

from openspot.contracts.messages import AggregateTrade, GetAggregateTrades, MarketTradeEvent
from openspot.engine_client.position import StreamPosition
from openspot.kit.bus import Bus
from openspot.kit.settings import Settings
from openspot.market_data import aggregate_store
from openspot.market_data.aggregate_store import AggregateStore
from openspot.market_data.store import MarketDataStore
from openspot.market_data_client.errors import MarketDataUnavailableError, UnknownMarketError
from openspot.market_data_client.requests import MarketDataClient
from tests.support.market_data import Heard, listening, running_market_data
from tests.support.mirrored_market import MirroredMarket, mirrored_market
from tests.support.waiting import eventually

SYMBOL = "BTC-USD"
NOW_MS = 1_700_000_000_000


async def sweep(market: MirroredMarket) -> None:
    """An order that takes four orders at two prices, and rests; one that takes one; and one that takes the rest."""
    for price in ("101", "101", "102", "101"):
        await market.place("sell", price, "0.1", "alice")
    await market.place("buy", "102", "0.45", "bob")
    await market.place("sell", "101", "0.01", "carol")
    await market.place("sell", "101", "0.04", "carol")


SWEPT = [("101", "0.3", "buy", 3), ("102", "0.1", "buy", 1), ("102", "0.01", "sell", 1), ("102", "0.04", "sell", 1)]
"""The aggregates of a sweep: price, quantity, side and number of trades."""


def told(aggregate: AggregateTrade) -> tuple[str, str, str, int]:
    return aggregate.price, aggregate.quantity, aggregate.side, aggregate.trades


def published(heard: Heard) -> dict[str, AggregateTrade]:
    """The newest message of each aggregate. Each message goes on with the one before it, or replaces it."""
    newest: dict[str, AggregateTrade] = {}
    last = 0
    for event in heard.aggregates[SYMBOL]:
        assert event.first_trade_id in newest or event.prev_seq == last
        newest[event.first_trade_id], last = event, event.seq
    return newest


async def every_page(client: MarketDataClient, limit: int) -> list[AggregateTrade]:
    """All aggregates, newest first, page by page."""
    found: list[AggregateTrade] = []
    before = None
    while True:
        page = await client.aggregate_trades(GetAggregateTrades(SYMBOL, limit, before=before))
        assert len(page.aggregates) <= limit
        found += page.aggregates
        if not page.more_remain:
            return found
        before = page.aggregates[-1].timestamp, page.aggregates[-1].first_sequence


async def test_what_an_order_takes_at_a_price_is_one_entry_on_the_bus_and_in_every_page(
    settings: Settings, bus: Bus, pool: asyncpg.Pool, monkeypatch: pytest.MonkeyPatch
) -> None:
    complete = settings.model_copy(update={"rules": "complete"})
    client = MarketDataClient(bus)
    async with mirrored_market(complete, bus, pool) as market:
        await market.fund()
        heard = await listening(bus)
        async with running_market_data(complete):
            for _ in range(2):
                await sweep(market)
            await eventually(lambda: [told(one) for one in published(heard).values()] == SWEPT * 2)
        # Another process goes on; what was published stays.
        async with running_market_data(complete):
            await sweep(market)
            await eventually(lambda: [told(one) for one in published(heard).values()] == SWEPT * 3)
            trades = 3 * sum(count for *_, count in SWEPT)

            async def are_written() -> bool:
                return bool(await pool.fetchval("SELECT count(*) FROM trades") == trades)

            await eventually(are_written)
            monkeypatch.setattr(aggregate_store, "CHUNK", 2)
            for limit in (1, 3, 1000):
                listed = await every_page(client, limit)
                assert [told(one) for one in listed] == (SWEPT * 3)[::-1]
            said = {one.first_trade_id: (told(one), one.last_trade_id, one.timestamp) for one in listed}
            assert said == {
                first: (told(one), one.last_trade_id, one.timestamp) for first, one in published(heard).items()
            }
            await _begins_with_any_trade(client, pool, listed[::-1])
            await _keeps_to_times(client, listed[::-1])
            with pytest.raises(UnknownMarketError):
                await client.aggregate_trades(GetAggregateTrades(SYMBOL, from_trade_id="no-such-trade"))
            with pytest.raises(MarketDataUnavailableError):
                await client.aggregate_trades(GetAggregateTrades(SYMBOL, limit=0))


async def _begins_with_any_trade(client: MarketDataClient, pool: asyncpg.Pool, rising: list[AggregateTrade]) -> None:
    """From any trade on, the list begins with the aggregate that has it."""
    for row in await pool.fetch("SELECT trade_id, sequence FROM trades"):
        page = await client.aggregate_trades(GetAggregateTrades(SYMBOL, from_trade_id=row["trade_id"]))
        begin = next(
            number
            for number, one in enumerate(rising)
            if one.first_sequence <= row["sequence"] <= one.last_sequence
        )  # fmt: skip
        assert (page.aggregates, page.more_remain) == (rising[begin:], False)
    page = await client.aggregate_trades(GetAggregateTrades(SYMBOL, 2, from_trade_id=rising[0].last_trade_id))
    assert (page.aggregates, page.more_remain) == (rising[:2], True)


async def _keeps_to_times(client: MarketDataClient, rising: list[AggregateTrade]) -> None:
    since, until = rising[3].timestamp, rising[-1].timestamp
    page = await client.aggregate_trades(GetAggregateTrades(SYMBOL, since=since, until=until))
    assert page.aggregates == [one for one in rising[::-1] if since <= one.timestamp < until]


async def test_the_specification_publishes_no_aggregates(settings: Settings, bus: Bus, pool: asyncpg.Pool) -> None:
    async with mirrored_market(settings, bus, pool) as market:
        await market.fund()
        heard = await listening(bus)
        async with running_market_data(settings):
            await sweep(market)
            await eventually(lambda: len(heard.trades[SYMBOL]) == 6)
            await bus.check()
    assert not heard.aggregates


async def insert(pool: asyncpg.Pool, *rows: tuple[int, str, str]) -> None:
    """Trade rows of one moment: sequence, price and taker."""
    await pool.executemany(
        """
        INSERT INTO trades VALUES ('e-' || $1::bigint, $1, 'BTC-USD', $2::text::numeric, 1, 'buy', $3::text, 'maker',
                                   'u1', 'u2', 0, 0, 'USD', timestamptz 'epoch' + $4::bigint * interval '1 millisecond')
        """,
        [(*row, NOW_MS) for row in rows],
    )


async def test_a_page_reads_a_bounded_number_of_rows_and_no_aggregate_is_cut(
    pool: asyncpg.Pool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(aggregate_store, "CHUNK", 3)
    monkeypatch.setattr(aggregate_store, "ROWS_MAX", 6)
    # Twenty trades of one order, older ones of another.
    await insert(
        pool, *((sequence, "100", "big") for sequence in range(20, 40)), *((n, "100", f"t{n}") for n in range(9))
    )
    store = AggregateStore(pool)
    page = await store.page(GetAggregateTrades(SYMBOL, 5))
    assert page is not None
    assert ([told(one) for one in page.aggregates[:1]], page.more_remain) == ([("100", "20", "buy", 20)], True)
    last = page.aggregates[-1]
    rest = await store.page(GetAggregateTrades(SYMBOL, 100, before=(last.timestamp, last.first_sequence)))
    assert rest is not None
    sequences = [one.first_sequence for one in (*page.aggregates, *rest.aggregates)]
    assert sequences == [20, *range(8, 8 - len(sequences) + 1, -1)]
    # From the middle of the big one on.
    page = await store.page(GetAggregateTrades(SYMBOL, 5, from_trade_id="e-31"))
    assert page is not None
    assert ([told(one) for one in page.aggregates], page.more_remain) == ([("100", "20", "buy", 20)], False)


async def test_a_new_leader_reads_the_newest_trades_that_may_go_on(pool: asyncpg.Pool) -> None:
    def trade(sequence: int, price: str = "100", side: str = "buy", symbol: str = SYMBOL) -> MarketTradeEvent:
        return MarketTradeEvent(symbol, sequence, 0, f"e-{sequence}", price, "2", side, NOW_MS)  # type: ignore[arg-type]

    store = MarketDataStore(pool)
    token = (await store.lead()).token
    trades = [trade(3), trade(5), trade(6, price="99"), trade(7), trade(8), trade(9),
              trade(11, symbol="ETH-USD"), trade(12, symbol="ETH-USD", side="sell")]  # fmt: skip
    await store.record(token, trades, StreamPosition("e", 12))
    runs = {symbol: history.run for symbol, history in (await store.histories("e", NOW_MS)).items()}
    seen = {
        symbol: run and (run.first.trade_id, run.last.trade_id, run.trades, run.quantity // 10**18, run.last.taker)
        for symbol, run in runs.items()
    }
    assert seen == {"BTC-USD": ("e-7", "e-9", 3, 6, None), "ETH-USD": ("e-12", "e-12", 1, 2, None)}
    assert {history.run for history in (await store.histories("another-journal", NOW_MS)).values()} == {None}
