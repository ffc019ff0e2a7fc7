"""Volatility interruptions over the engine's interfaces: when they come, how they end, and what a kill leaves."""

from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from openspot.contracts.gen.exchange.v1 import orders_pb2 as pb
from openspot.domain.market_phase import PhaseCause
from openspot.engine import metrics, phase_operator
from openspot.engine.settings import EngineSettings
from openspot.kit.settings import Settings, as_part
from tests.support.engine_client import SCALE, EngineClient, running_engine
from tests.support.engine_nursery import Nursery, forked_engine
from tests.support.waiting import eventually

PHASE = "/api/v1/admin/symbols/BTC-USD/phase"
RULES: dict[str, Any] = {"rules": "complete", "volatility_move_bps": 500, "volatility_auction_s": 600}


@pytest.fixture
def settings(settings: Settings) -> Settings:
    """An engine that interrupts a market whose fair price moves by more than 5 %."""
    return settings.model_copy(update=RULES)


async def tell(engine: EngineClient, *prices: str) -> None:
    """Tell fair prices, each of which counted until the next one came."""
    for price in prices:
        scaled = int(price) * 100
        answer = await engine.orders.SetMarkPrice(pb.SetMarkPriceRequest(symbol="BTC-USD", price=scaled, gap_ms=0))
        assert answer.result_code == "SUCCESS"


async def set_phase(engine: EngineClient, phase: str) -> None:
    status, body = await engine.request("PUT", PHASE, {"phase": phase, "reason": "a test"})
    assert status == 200, body


async def shown(engine: EngineClient) -> tuple[str, str | None]:
    """(phase, cause) of the market, as the engine shows it."""
    _, markets = await engine.request("GET", "/api/v1/markets")
    (market,) = (market for market in markets if market["symbol"] == "BTC-USD")
    return market.get("phase", "continuous"), market.get("phaseCause")


def is_shown(engine: EngineClient, phase: str, cause: str | None) -> Callable[[], Awaitable[bool]]:
    """Whether the market has come to this."""

    async def check() -> bool:
        return await shown(engine) == (phase, cause)

    return check


def count(cause: PhaseCause) -> float:
    """The auctions for this cause in this process."""
    return metrics.INTERRUPTIONS.labels("BTC-USD", cause.value)._value.get()


async def test_a_market_whose_fair_price_moves_too_far_enters_an_auction_before_the_price_fires_a_stop(
    engine: EngineClient, settings: Settings
) -> None:
    await engine.fund("alice")
    before = count(PhaseCause.VOLATILITY)
    await tell(engine, "100", "104", "99")
    assert await shown(engine) == ("auction", "volatility"), "99 is more than 5 % below 104"
    first = await engine.last_sequence()
    (phase,) = await engine.events(first, first)
    assert (phase["type"], phase["phase"], phase["cause"]) == ("phase", "auction", "volatility")
    assert phase["endsAt"] > phase["timestamp"]
    assert count(PhaseCause.VOLATILITY) == before + 1
    lines = await phase_operator.listed_phases(as_part(settings, EngineSettings))
    assert any(line.startswith("BTC-USD is auction (volatility) until ") for line in lines)

    await set_phase(engine, "continuous")
    assert await shown(engine) == ("continuous", None), "an operator may end it at once"
    last = await engine.last_sequence()
    (phase,) = await engine.events(last, last)
    assert "cause" not in phase, "and that is the operator's"
    await tell(engine, "120")
    assert await shown(engine) == ("continuous", None), "the next one comes after a pause"


async def test_a_stop_that_waits_for_the_fair_price_waits_for_the_end_of_the_auction(engine: EngineClient) -> None:
    await engine.fund("alice")
    stop = {
        "trigger": pb.TRIGGER_FIXED, "trigger_source": pb.TRIGGER_MARK_PRICE, "trigger_value": 10_600,
        "trigger_direction": pb.TRIGGER_AT_OR_ABOVE,
    }  # fmt: skip
    await tell(engine, "100")
    await engine.place("buy", "90", "1", order_id=7, **stop)
    await tell(engine, "107")
    assert await shown(engine) == ("auction", "volatility")
    assert (await engine.find(7)).status == "WAITING"
    await set_phase(engine, "continuous")

    async def rests() -> bool:
        return (await engine.find(7)).status == "OPEN"

    await eventually(rests)


@pytest.mark.parametrize("phase", ["halted", "cancel-only", "post-only", "auction"])
async def test_an_operators_phase_is_not_interrupted(engine: EngineClient, phase: str) -> None:
    await tell(engine, "100")
    await set_phase(engine, phase)
    await tell(engine, "120")
    assert await shown(engine) == (phase, None)


async def test_an_auction_that_ends_near_the_fair_price_ends(settings: Settings) -> None:
    async with running_engine(settings.model_copy(update={"volatility_auction_s": 1})) as engine:
        await engine.fund("alice")
        await engine.fund("bob")
        await tell(engine, "100", "110")
        await engine.place("buy", "108", "1", "alice", order_id=7)
        await engine.place("sell", "107", "1", "bob")
        await eventually(is_shown(engine, "continuous", None))
        assert (await engine.find(7)).status == "FILLED"


async def test_an_auction_that_would_end_far_from_the_fair_price_goes_on_once(settings: Settings) -> None:
    before = count(PhaseCause.VOLATILITY_EXTENSION)
    async with running_engine(settings.model_copy(update={"volatility_auction_s": 1})) as engine:
        await engine.fund("alice")
        await engine.fund("bob")
        await tell(engine, "100", "110")
        first = await engine.last_sequence()
        await engine.place("buy", "100", "1", "alice", order_id=7)
        await engine.place("sell", "100", "1", "bob")
        await eventually(is_shown(engine, "continuous", None))
        events = await engine.events(first, await engine.last_sequence())
        phases = [(event["phase"], event.get("cause")) for event in events if event["type"] == "phase"]
        assert phases == [
            ("auction", "volatility"), ("auction", "volatility-extension"), ("uncrossing", None), ("continuous", None),
        ]  # fmt: skip
        assert (await engine.find(7)).status == "FILLED"
    assert count(PhaseCause.VOLATILITY_EXTENSION) == before + 1


async def test_what_icebergs_hide_counts_for_where_an_auction_would_end(settings: Settings) -> None:
    before = count(PhaseCause.VOLATILITY_EXTENSION)
    async with running_engine(settings.model_copy(update={"volatility_auction_s": 1})) as engine:
        await engine.fund("alice")
        await engine.fund("bob")
        await tell(engine, "100", "110")
        await engine.place("buy", "110", "2", "alice")
        await engine.place("buy", "100", "9", "alice")
        await engine.place("sell", "109", "1", "bob")
        # What is shown would trade at 109 or 110, all that is there at 100.
        await engine.place("sell", "100", "10", "bob", order_id=7, display_quantity=SCALE)
        await eventually(is_shown(engine, "continuous", None))
        assert (await engine.find(7)).status == "FILLED"
    assert count(PhaseCause.VOLATILITY_EXTENSION) == before + 1


async def test_without_the_setting_or_the_complete_rules_no_market_is_interrupted(settings: Settings) -> None:
    for change in ({"volatility_move_bps": 0}, {"rules": "specification"}):
        async with running_engine(settings.model_copy(update=change)) as engine:
            await tell(engine, "100", "200")
            assert await shown(engine) == ("continuous", None)


async def test_an_engine_killed_in_the_auction_goes_on_with_it_and_keeps_the_pause(
    settings: Settings, nursery: Nursery
) -> None:
    async with forked_engine(settings, nursery) as (child, engine):
        await tell(engine, "100", "110")
        assert await shown(engine) == ("auction", "volatility")
        child.kill()
        child.start()
        await child.ready(engine)
        assert await shown(engine) == ("auction", "volatility")
        await set_phase(engine, "continuous")
        await tell(engine, "110", "130")
        assert await shown(engine) == ("continuous", None), "the pause is still on"


async def test_a_snapshot_keeps_the_cause_and_the_pause(settings: Settings) -> None:
    async with running_engine(settings) as engine:
        await tell(engine, "100", "110")
    async with running_engine(settings) as engine:
        assert await shown(engine) == ("auction", "volatility")
        await set_phase(engine, "continuous")
        await tell(engine, "110", "130")
        assert await shown(engine) == ("continuous", None)
