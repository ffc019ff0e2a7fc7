"""What a ticker channel begins with: the last ticker, asked for once or known from what was published."""

from collections.abc import AsyncIterator

import pytest

from openspot.contracts import subjects
from openspot.contracts.messages import GetTickers, GetTickersReply, TickerEvent
from openspot.contracts.refusals import Refusal, RefusalCode
from openspot.kit.bus import Bus
from openspot.kit.settings import Settings
from tests.support.waiting import eventually
from tests.support.websocket_edge import Publish, ask, nothing_but_a_pong, open_client, receive

CHANNEL = "ticker:BTC-USD"
TICKER = TickerEvent("BTC-USD", "100", "99", "101", "90", "110", "80", "5", "500", "10", "11.11", 1000, 7)


class MarketData:
    """Replies to requests for tickers, once it is ready."""

    def __init__(self) -> None:
        self.asked: list[str | None] = []
        self.is_ready = True

    async def reply(self, request: GetTickers) -> GetTickersReply:
        self.asked.append(request.symbol)
        if not self.is_ready:
            return GetTickersReply.refused(Refusal(RefusalCode.UNAVAILABLE, "not yet"))
        if request.symbol != "BTC-USD":
            return GetTickersReply.refused(Refusal(RefusalCode.NOT_FOUND, "no such market"))
        return GetTickersReply([TICKER])


@pytest.fixture
async def market_data(settings: Settings) -> AsyncIterator[MarketData]:
    bus, made = await Bus.connect(settings, "tickers"), MarketData()
    await bus.serve(
        subjects.MARKETDATA_TICKERS_GET, subjects.MARKET_DATA_QUEUE, GetTickers, made.reply, GetTickersReply.refused
    )
    await bus.check()
    yield made
    await bus.close()


async def test_a_ticker_begins_with_the_last_one(market_data: MarketData, edge: Settings, publish: Publish) -> None:
    async with open_client(edge) as first, open_client(edge) as second:
        assert (await ask(first, action="subscribe", channel=CHANNEL))["type"] == "subscribed"
        begun = await receive(first)
        assert (begun["channel"], begun["type"], begun["seq"], begun["ts"]) == (CHANNEL, "snapshot", 7, 1000)
        assert begun["data"]["lastPrice"] == "100"
        assert (await ask(second, action="subscribe", channel=CHANNEL))["type"] == "subscribed"
        assert await receive(second) == begun
        await publish("marketdata.ticker.BTC-USD", begun["data"] | {"seq": 8, "lastPrice": "105"})
        for client in (first, second):
            update = await receive(client)
            assert (update["type"], update["seq"], update["data"]["lastPrice"]) == ("update", 8, "105")
        async with open_client(edge) as third:
            assert (await ask(third, action="subscribe", channel=CHANNEL))["type"] == "subscribed"
            assert await receive(third) == update | {"type": "snapshot"}
    assert market_data.asked == ["BTC-USD"]


async def test_a_ticker_comes_when_market_data_is_ready_and_a_missing_market_is_asked_for_once(
    market_data: MarketData, edge: Settings
) -> None:
    async with open_client(edge) as client:
        await ask(client, action="subscribe", channel="ticker:NO-USD")
        await eventually(lambda: "NO-USD" in market_data.asked)
        market_data.is_ready = False
        await ask(client, action="subscribe", channel=CHANNEL)
        await eventually(lambda: market_data.asked.count("BTC-USD") >= 2)
        await nothing_but_a_pong(client)
        market_data.is_ready = True
        assert (await receive(client))["seq"] == 7
    assert market_data.asked.count("NO-USD") == 1
