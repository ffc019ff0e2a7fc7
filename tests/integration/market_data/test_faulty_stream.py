"""A connection to the engine that drops, repeats and spoils events: the service notices, and comes back by itself."""

import asyncpg
import pytest

from openspot.kit.settings import Settings
from tests.integration.market_data.test_publishing import SYMBOL, reaches_the_engines_book
from tests.support.engine_client import EngineClient
from tests.support.engine_proxy import EngineProxy, Events, Fault, engine_proxy
from tests.support.market_data import Heard, running_market_data
from tests.support.waiting import eventually


def is_trade(events: Events) -> bool:
    return any(event["type"] == "trade" for event in events)


def without_one(events: Events) -> Events:
    """The second event is missing, or the only one."""
    return events[:1] + events[2:] if len(events) > 2 else events[1:]


FAULTS: dict[str, Fault] = {
    "an event is missing in the middle": without_one,
    "a whole message is missing": lambda _: [],
    "events come twice": lambda events: events + events,
    "events come in the wrong order": lambda events: events[::-1],
    "a message is no JSON": lambda _: '[{"type": "trade", "seq":',
    "an event is of an unknown kind": lambda _: '[{"type": "miracle", "seq": 1}]',
    "an event lacks a field": lambda events: [{"type": "trade", "seq": events[0]["seq"]}],
    "the connection breaks": lambda _: None,
}


async def trades_of(engine: EngineClient) -> list[int]:
    events = await engine.events(1, await engine.last_sequence())
    return [event["seq"] for event in events if event["type"] == "trade"]


async def trade(engine: EngineClient, rounds: int) -> None:
    for number in range(rounds):
        for price in ("100", "101", "102"):
            await engine.place("sell", price, "0.1", "alice")
        await engine.place("buy", "103", "0.25", "bob")
        await engine.place("buy", f"9{number}", "1", "bob")


@pytest.mark.parametrize("fault", FAULTS)
async def test_after_a_fault_book_and_trades_are_whole(
    fault: str, settings: Settings, engine: EngineClient, heard: Heard, pool: asyncpg.Pool
) -> None:
    async with engine_proxy(settings) as proxy:
        through = settings.model_copy(update={"given_engine_url": proxy.url, "market_data_book_ms": 10})
        async with running_market_data(through):
            await trade(engine, 2)
            await reaches_the_engines_book(heard, engine)
            connections = proxy.connections
            applied = spoil_once(proxy, FAULTS[fault])
            await trade(engine, 3)
            await eventually(lambda: applied)
            await eventually(lambda: proxy.connections > connections)
            await reaches_the_engines_book(heard, engine)
            expected = await trades_of(engine)
            await eventually(lambda: [trade.seq for trade in heard.trades[SYMBOL]] == expected)
            assert heard.books[SYMBOL].gaps == 0

            async def counted() -> bool:
                return bool(await pool.fetchval("SELECT count(*) FROM market_trades") == len(expected))

            await eventually(counted)
    assert await pool.fetchval("SELECT sum(trades) FROM market_candles WHERE interval = '1d'") == len(expected)


def spoil_once(proxy: EngineProxy, fault: Fault) -> list[bool]:
    """Apply the fault to the next message with a trade. The list that is returned is empty until then."""
    applied: list[bool] = []

    def once(events: Events) -> Events | str | None:
        if applied or not is_trade(events):
            return events
        applied.append(True)
        return fault(events)

    proxy.fault = once
    return applied
