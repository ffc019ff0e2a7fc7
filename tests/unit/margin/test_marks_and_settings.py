"""Mark prices are fair prices, never older than they may be, and the intervals of the service."""

import asyncio
from typing import Any

import pytest

from openspot.contracts.messages import FairPriceEvent, GetFairPricesReply
from openspot.contracts.refusals import Refusal, RefusalCode
from openspot.domain.fair_price.model import PriceState
from openspot.domain.money import AMOUNT_SCALE
from openspot.margin.interest import MINUTE_MS
from openspot.margin.marks import MarkPriceCache, StaleMarksError
from openspot.margin.settings import MarginSettings

UNIT = AMOUNT_SCALE
STALE_S = 15.0
MARKETS = frozenset({"BTC-USD", "BTC-BRL"})


def event(price: str, timestamp: int, state: str = "good", symbol: str = "BTC-USD") -> FairPriceEvent:
    """A published fair price whose bounds are the price itself."""
    return FairPriceEvent(symbol, state, price, price, price, price, "3", "5", timestamp)


class PriceBus:
    """A bus on which a test publishes fair prices. Market data replies while `replies` is set."""

    read_timeout_s = 2.0

    def __init__(self) -> None:
        self.replies = True
        self.timeouts_s: list[float] = []
        self.seconds = 0.0
        self.take: Any = None
        self.marks = MarkPriceCache(self, "USD", MARKETS, STALE_S, lambda: self.seconds)  # type: ignore[arg-type]

    async def subscribe(self, subject: str, message_type: Any, handler: Any) -> None:
        assert subject == "marketdata.fairprice.*"
        self.take = handler

    async def request(self, subject: str, message: Any, reply_type: Any, timeout_s: float) -> GetFairPricesReply:
        self.timeouts_s.append(timeout_s)
        if self.replies:
            return GetFairPricesReply([])
        return GetFairPricesReply.refused(Refusal(RefusalCode.UNAVAILABLE, "no events from the engine"))

    def publish(self, *events: FairPriceEvent) -> None:
        async def deliver() -> None:
            if self.take is None:
                await self.marks.follow()
            for each in events:
                await self.take("marketdata.fairprice.BTC-USD", each)

        asyncio.run(deliver())

    @property
    def bitcoin(self) -> tuple[int, PriceState]:
        found = self.marks.current()["BTC"]
        return found.price // UNIT, found.state


def test_the_marks_are_the_fair_prices_in_the_valuation_asset() -> None:
    bus = PriceBus()
    bus.publish(event("100", 1), event("5", 1, "disputed", "BTC-BRL"))
    found = bus.marks.current()
    assert {asset: each.price for asset, each in found.items()} == {"USD": UNIT, "BTC": 100 * UNIT, "BRL": 20 * UNIT}
    assert [found[asset].state for asset in ("USD", "BTC", "BRL")] == ["good", "good", "disputed"]
    assert (found["BTC"].sellable, found["BTC"].buyable) == (3 * UNIT, 5 * UNIT)


def test_a_market_that_margin_does_not_offer_makes_no_mark_and_links_no_assets() -> None:
    bus = PriceBus()
    # Of two chains of the same length the first by name would count: a BRL would be worth 100 USD.
    bus.publish(event("1", 1, symbol="ADA-USD"), event("0.01", 1, symbol="ADA-BRL"))
    bus.publish(event("100", 1), event("500", 1, symbol="BTC-BRL"))
    assert {asset: each.price for asset, each in bus.marks.current().items()} == {
        "USD": UNIT, "BTC": 100 * UNIT, "BRL": UNIT // 5,
    }  # fmt: skip


def test_the_price_of_a_market_that_margin_does_not_offer_is_no_current_mark() -> None:
    bus = PriceBus()
    bus.publish(event("1", 1, symbol="ADA-USD"))
    bus.replies = False
    with pytest.raises(StaleMarksError):
        asyncio.run(bus.marks.check())


def test_an_old_price_does_not_replace_a_newer_mark() -> None:
    bus = PriceBus()
    bus.publish(event("100", 1_000), event("10000", 999))
    assert bus.bitcoin == (100, PriceState.GOOD)
    bus.publish(event("101", 1_001))
    assert bus.bitcoin == (101, PriceState.GOOD)


def test_a_price_that_does_not_come_again_is_stale_after_the_setting() -> None:
    bus = PriceBus()
    bus.publish(event("100", 1))
    bus.seconds = STALE_S - 0.001
    assert bus.bitcoin == (100, PriceState.GOOD)
    bus.seconds = STALE_S
    assert bus.bitcoin == (100, PriceState.STALE)
    # The same price says that it is still the one.
    bus.publish(event("100", 1))
    assert bus.bitcoin == (100, PriceState.GOOD)


def test_the_service_is_ready_while_market_data_replies_whether_there_are_prices_or_not() -> None:
    bus = PriceBus()
    asyncio.run(bus.marks.check())
    bus.replies = False
    with pytest.raises(StaleMarksError, match="nothing is liquidated: no events from the engine"):
        asyncio.run(bus.marks.check())
    # A check of readiness may not hang, and while a price is current nobody is asked.
    assert bus.timeouts_s == [1.5, 1.5]
    bus.publish(event("100", 1))
    bus.timeouts_s.clear()
    asyncio.run(bus.marks.check())
    assert bus.timeouts_s == []
    bus.seconds = STALE_S
    with pytest.raises(StaleMarksError):
        asyncio.run(bus.marks.check())


def test_the_intervals_are_those_of_the_specification_and_interest_counts_whole_intervals() -> None:
    settings = MarginSettings()
    assert settings.margin_scan_s == 5
    assert settings.margin_interest_s == 60 == MINUTE_MS / 1000


@pytest.mark.parametrize(("request_timeout_s", "deadline_ms", "late_ms"), [(5, 3_000, 7_000), (60, 36_000, 84_000)])
def test_an_order_may_be_on_its_way_for_longer_where_requests_may_take_longer(
    request_timeout_s: float, deadline_ms: int, late_ms: int
) -> None:
    settings = MarginSettings(request_timeout_s=request_timeout_s)
    assert (settings.order_deadline_ms, settings.order_late_ms) == (deadline_ms, late_ms)


def test_a_liquidation_trades_within_two_percent_and_pauses_ten_seconds_between_slices() -> None:
    settings = MarginSettings()
    assert (settings.margin_liquidation_bps, settings.margin_liquidation_pause_s) == (200, 10)
    assert settings.margin_buyable_share == 1


def test_a_delisted_market_leaves_no_price_behind_that_hides_the_way_over_another() -> None:
    bus = PriceBus()
    bus.marks = MarkPriceCache(
        bus,
        "USD",
        {"BTC-USD", "BTC-USDT", "USDT-USD"},
        STALE_S,
        lambda: bus.seconds,  # type: ignore[arg-type]
    )
    usdt, btc = event("1", 1, symbol="USDT-USD"), event("101", 1, symbol="BTC-USDT")
    bus.publish(event("100", 1), usdt, btc)
    bus.seconds = STALE_S + 1
    bus.publish(event("1", 2, symbol="USDT-USD"), event("101", 2, symbol="BTC-USDT"))
    assert bus.bitcoin == (100, PriceState.STALE)
    bus.marks.ended = {"BTC-USD"}
    assert bus.bitcoin == (101, PriceState.GOOD)
