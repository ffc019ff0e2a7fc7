"""Which fair prices the engine is told, and how often."""

from dataclasses import replace
from typing import Any

import pytest

from openspot.contracts.messages import FairPriceEvent
from openspot.engine_client.errors import EngineAmbiguousError
from openspot.market_data.mark_prices import REFUSED_S, MarkPrices
from tests.unit.router.orders import SPEC


class Engine:
    """Takes mark prices. `refusal` is its answer, `fault` what it raises."""

    def __init__(self) -> None:
        self.told: list[tuple[str, int]] = []
        self.gap_ms: int | None = None
        self.refusal = ""
        self.fault: Exception | None = None
        self.specs = {"BTC-USD": SPEC}

    async def symbols(self) -> dict[str, Any]:
        return dict(self.specs)

    async def set_mark_price(self, symbol: str, price: int, gap_ms: int | None = None, symbol_id: int = 0) -> str:
        if self.fault is not None:
            raise self.fault
        if symbol not in self.specs or symbol_id != self.specs[symbol].symbol_id:
            return "INVALID_SYMBOL"
        self.told.append((symbol, price))
        self.gap_ms = gap_ms
        return self.refusal


class Desk:
    """Mark prices, their engine, and the time."""

    def __init__(self) -> None:
        self.engine, self.now = Engine(), 0.0
        engine: Any = self.engine
        self.prices = MarkPrices(engine, engine, lambda: self.now)

    async def second(self, price: str, state: str = "good") -> list[tuple[str, int]]:
        """What the engine is told in a second with this fair price."""
        event = FairPriceEvent("BTC-USD", state, price, price, price, price, "0", "0", 1)
        self.engine.told.clear()
        self.prices.take([event])
        await self.prices.tell()
        self.now += 1
        return list(self.engine.told)


async def test_a_price_is_told_once_and_again_when_it_has_moved() -> None:
    desk = Desk()
    assert await desk.second("100.004") == [("BTC-USD", 10_000)]
    assert await desk.second("100.004") == []
    assert await desk.second("100.0049") == [], "it is the same in the units of the engine"
    assert await desk.second("99.5", "thin") == [("BTC-USD", 9_950)]


@pytest.mark.parametrize("state", ["stale", "disputed"])
async def test_a_price_that_does_not_count_is_not_told(state: str) -> None:
    desk = Desk()
    await desk.second("100")
    assert await desk.second("50", state) == []
    assert await desk.second("100") == [], "the engine still has the last one that counted"


async def test_what_the_engine_did_not_answer_is_told_again_unless_it_counts_no_more() -> None:
    desk = Desk()
    desk.engine.fault = EngineAmbiguousError("away")
    assert await desk.second("100") == []
    desk.engine.fault = None
    assert await desk.second("50", "disputed") == []
    assert await desk.second("101") == [("BTC-USD", 10_100)]


async def test_a_market_that_refuses_is_asked_again_after_a_while() -> None:
    desk = Desk()
    desk.engine.refusal = "SYMBOL_INACTIVE"
    assert await desk.second("100") == [("BTC-USD", 10_000)]
    desk.engine.refusal = ""
    assert await desk.second("101") == []
    desk.now += REFUSED_S
    assert await desk.second("100") == [("BTC-USD", 10_000)]


async def test_nothing_is_told_before_there_is_a_price_and_of_a_market_that_the_engine_does_not_have() -> None:
    desk = Desk()
    await desk.prices.tell()
    desk.prices.take([FairPriceEvent("SOL-USD", "good", "100", "100", "100", "100", "0", "0", 1)])
    await desk.prices.tell()
    assert desk.engine.told == []


async def test_with_a_price_goes_for_how_long_none_counted_before_it() -> None:
    desk = Desk()
    await desk.second("100")
    assert desk.engine.gap_ms is None, "a new leader does not know"
    for _ in range(60):
        assert await desk.second("100") == []
    await desk.second("101")
    assert desk.engine.gap_ms == 1000, "the price before has stood"
    for _ in range(60):
        assert await desk.second("150", "disputed") == []
    await desk.second("102")
    assert desk.engine.gap_ms == 61_000


FINER = replace(SPEC, symbol_id=2, quote_scale_k=1000)
"""Another symbol with the same name, whose prices have one more place."""


async def test_a_symbol_that_was_created_again_is_told_the_price_in_its_own_units() -> None:
    desk = Desk()
    assert await desk.second("50.01") == [("BTC-USD", 5001)]
    desk.engine.specs = {"BTC-USD": FINER}
    await desk.prices.renew()
    assert await desk.second("50.01") == [("BTC-USD", 50_010)]
    assert desk.engine.gap_ms is None, "no price of it counted before"
    await desk.prices.renew()
    assert await desk.second("50.01") == []


async def test_a_new_symbol_with_the_same_scale_is_told_a_price_that_stands() -> None:
    desk = Desk()
    assert await desk.second("50.01") == [("BTC-USD", 5001)]
    desk.engine.specs = {"BTC-USD": replace(SPEC, symbol_id=2)}
    await desk.prices.renew()
    assert await desk.second("50.01") == [("BTC-USD", 5001)]


async def test_a_price_that_is_scaled_for_a_symbol_that_is_no_more_is_refused_and_told_anew() -> None:
    desk = Desk()
    await desk.second("50.01")
    desk.engine.specs = {"BTC-USD": FINER}
    assert await desk.second("50.02") == []
    assert await desk.second("50.02") == [("BTC-USD", 50_020)]


async def test_a_symbol_that_was_deleted_while_it_refused_is_told_at_once_when_it_is_created_again() -> None:
    desk = Desk()
    desk.engine.refusal = "SYMBOL_INACTIVE"
    await desk.second("50.01")
    desk.engine.refusal, desk.engine.specs = "", {}
    await desk.prices.renew()
    assert await desk.second("50.01") == []
    desk.engine.specs = {"BTC-USD": FINER}
    assert await desk.second("50.01") == [("BTC-USD", 50_010)]


async def test_what_was_told_to_a_symbol_that_ended_meanwhile_is_told_to_its_successor() -> None:
    desk = Desk()
    answer = desk.engine.set_mark_price

    async def late(symbol: str, price: int, gap_ms: int | None = None, symbol_id: int = 0) -> str:
        refusal = await answer(symbol, price, gap_ms, symbol_id)
        desk.engine.specs = {"BTC-USD": replace(SPEC, symbol_id=2)}
        await desk.prices.renew()
        return refusal

    desk.engine.set_mark_price = late  # type: ignore[method-assign]
    await desk.second("50.01")
    assert await desk.second("50.01") == [("BTC-USD", 5001)]
