"""What a market offers beside trading, at the engine: changed with reasons, kept by the journal, and gone with it."""

from decimal import Decimal
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from openspot.kit.settings import Settings
from tests.integration.engine.test_market_listings import call, list_doge, listed, market, status_of
from tests.support.coin_pictures import SVG, brand_with_coins
from tests.support.engine_client import EngineClient, running_engine
from tests.support.engine_faults import KILLED_AFTER_COMMIT, KILLED_BEFORE_COMMIT, tell_to_die
from tests.support.engine_nursery import Nursery, forked_engine
from tests.support.waiting import eventually

PAYMENTS = {"minimum": "5", "maximum": "1000", "feeBps": 100, "feeFixed": "0.5"}
STAKING = {
    "apr": "0.04", "lockDays": 30, "unbondingDays": 2, "earlyRedemption": "forfeits_rewards", "minimum": "1",
    "maximum": "100", "capacity": "1000",
}  # fmt: skip
EVERYTHING = {"offers": ["staking", "payments", "conversions"], "payments": PAYMENTS, "staking": STAKING}


@pytest.fixture
def settings(settings: Settings, tmp_path: Path) -> Settings:
    """An engine whose services follow its list."""
    brand = brand_with_coins(tmp_path, doge_svg=SVG)
    return settings.model_copy(update={"rules": "complete", "markets": "live", "brand_folder": brand})


async def terms_of(engine: EngineClient, symbol: str = "DOGE-USD") -> Any:
    return (await market(engine, symbol))["terms"]


async def change(engine: EngineClient, body: dict[str, Any], symbol: str = "DOGE-USD", expected: int = 200) -> Any:
    return await call(engine, "PATCH", f"/{symbol}", {"reason": "as decided"} | body, expected)


async def test_a_new_market_offers_nothing_until_an_operator_says_so_with_a_reason(engine: EngineClient) -> None:
    await list_doge(engine)
    assert (await terms_of(engine))["offers"] == []
    before = (await listed(engine))["version"]
    changed = await change(engine, EVERYTHING)
    assert changed["terms"] == await terms_of(engine)
    assert {name: changed["terms"][name] for name in ("payments", "staking")} == {
        "payments": PAYMENTS, "staking": STAKING,
    }  # fmt: skip
    assert changed["terms"]["offers"] == ["conversions", "payments", "staking"]
    assert (await listed(engine))["version"] != before
    await change(engine, {"offers": ["payments"], "staking": STAKING | {"apr": "0.05"}})
    first, second, _ = (await call(engine, "GET", "/DOGE-USD/changes"))["changes"]
    assert (first["operator"], first["reason"]) == ("user:carol", "as decided")
    assert (first["before"], first["after"]) == (
        {"offers": "conversions, payments, staking", "staking.apr": "0.04"},
        {"offers": "payments", "staking.apr": "0.05"},
    )
    assert second["before"] == {"offers": ""}
    assert (second["after"]["payments.feeFixed"], second["after"]["staking.earlyRedemption"]) == (
        "0.5", "forfeits_rewards",
    )  # fmt: skip


async def test_the_markets_of_the_seed_offer_everything_as_before_and_can_stop(engine: EngineClient) -> None:
    everything = ["conversions", "payments", "staking"]
    assert {tuple(row["terms"]["offers"]) for row in (await listed(engine))["markets"]} == {tuple(everything)}
    # A change of something else leaves them.
    await change(engine, {"takerFee": 20}, "BTC-USD")
    assert (await terms_of(engine, "BTC-USD"))["offers"] == everything
    # The files have the terms of their own products.
    await change(engine, {"offers": ["payments"]}, "BTC-USD")
    assert (await terms_of(engine, "BTC-USD"))["offers"] == ["payments"]


async def test_every_fault_of_an_offer_is_named(engine: EngineClient) -> None:
    await list_doge(engine)
    wrong = {
        "offers": ["payments", "staking", "staking"],
        "payments": PAYMENTS | {"minimum": "5.000000001", "feeBps": 10_000},
    }
    assert (await change(engine, wrong, expected=400))["message"] == [
        "offers must name each service once",
        "staking staking of an asset that the platform did not begin with need terms",
        "payments.minimum must have at most 8 decimal places",
        "payments.feeBps must be at least 0 and less than 10000",
    ]
    for body, field in (
        ({"offers": ["loans"]}, "offers"),
        ({"offers": ["staking"] * 17}, "offers"),
        ({"payments": {"minimum": "1"}}, "payments.maximum"),
        ({"staking": STAKING | {"earlyRedemption": "perhaps"}}, "staking.earlyRedemption"),
        ({"staking": STAKING | {"surprise": 1}}, "staking.surprise"),
    ):
        messages = (await change(engine, body, expected=400))["message"]
        assert any(field in message for message in messages), messages
    assert "payments" not in await terms_of(engine)


async def test_a_rate_above_the_setting_is_refused_and_one_that_is_there_can_be_taken_back(settings: Settings) -> None:
    dear = {"offers": ["staking"], "staking": STAKING | {"apr": "0.5"}}
    async with running_engine(settings) as engine:
        refusal = await change(engine, dear, "BTC-USD", 400)
        assert refusal["message"] == ["staking.apr must be at most 0.25, as OPENSPOT_ENGINE_STAKING_APR_MAX says"]
        assert "staking" not in await terms_of(engine, "BTC-USD")
        await change(engine, {"staking": STAKING | {"apr": "0.25"}}, "BTC-USD")
    async with running_engine(settings.model_copy(update={"engine_staking_apr_max": Decimal("0.5")})) as engine:
        await change(engine, dear, "BTC-USD")
    async with running_engine(settings) as engine:
        await change(engine, {"offers": []}, "BTC-USD")
        assert (await terms_of(engine, "BTC-USD"))["staking"]["apr"] == "0.5"


async def test_a_change_of_what_is_not_so_any_more_is_refused_and_gives_nothing_back(engine: EngineClient) -> None:
    seen = (await call(engine, "GET", "/BTC-USD"))["version"]
    # A colleague takes payments back while another reads the list, and sends it with what he had.
    after = await change(engine, {"offers": ["conversions", "staking"]}, "BTC-USD")
    assert after["version"] not in ("", seen)
    stale = {"offers": ["conversions", "payments"], "version": seen}
    refusal = await change(engine, stale, "BTC-USD", 409)
    assert (refusal["code"], "BTC-USD was changed after you read it" in str(refusal["message"])) == (
        "MARKET_CHANGED", True,
    )  # fmt: skip
    assert (await call(engine, "GET", "/BTC-USD"))["version"] == after["version"]
    # Fees are part of what is seen, and whoever names no version changes it as it is.
    await change(engine, {"takerFee": 20}, "BTC-USD")
    await change(engine, {"offers": [], "version": after["version"]}, "BTC-USD", 409)
    present = await call(engine, "GET", "/BTC-USD")
    await change(engine, {"offers": ["staking"], "version": present["version"]}, "BTC-USD")
    assert (await terms_of(engine, "BTC-USD"))["offers"] == ["staking"]


async def test_a_delisted_market_offers_nothing_also_when_it_is_announced_again(engine: EngineClient) -> None:
    await list_doge(engine)
    await change(engine, EVERYTHING)
    await call(engine, "PUT", "/DOGE-USD/status", {"status": "delisting", "reason": "the coin has ended"})
    assert (await terms_of(engine))["offers"] == []
    ended = (await call(engine, "GET", "/DOGE-USD/changes"))["changes"]
    assert {"offers": "conversions, payments, staking", "status": "open"} in [each["before"] for each in ended]

    async def is_delisted() -> bool:
        return await status_of(engine) == "delisted"

    await eventually(is_delisted)
    refusal = await change(engine, {"offers": ["conversions"]}, expected=400)
    assert refusal["message"] == ["offers must be empty: the market is delisted"]
    await call(engine, "PUT", "/DOGE-USD/status", {"status": "announced", "reason": "it comes back"})
    assert (await terms_of(engine))["offers"] == []
    # The terms are known for the stakes of before.
    assert (await terms_of(engine))["staking"] == STAKING


async def test_a_restart_and_a_replay_know_the_same_offers(settings: Settings, tmp_path: Path) -> None:
    async with running_engine(settings) as engine:
        await list_doge(engine)
        await change(engine, EVERYTHING)
        before = await listed(engine)
    async with running_engine(settings) as engine:
        assert await listed(engine) == before
    for snapshot in (tmp_path / "engine" / "snapshots").glob("*"):
        snapshot.unlink()
    async with running_engine(settings) as engine:
        assert await listed(engine) == before


@pytest.mark.parametrize(("moment", "survives"), [(KILLED_BEFORE_COMMIT, False), (KILLED_AFTER_COMMIT, True)])
async def test_a_kill_leaves_all_offers_and_their_terms_or_none(
    settings: Settings, nursery: Nursery, moment: str, survives: bool
) -> None:
    async with forked_engine(settings, nursery, moment) as (child, engine):
        tell_to_die(settings)
        with pytest.raises(aiohttp.ClientError):
            await change(engine, EVERYTHING | {"offers": ["staking"], "takerFee": 30}, "BTC-USD")
        assert child.wait() == -9
        child.start()
        await child.ready(engine)
        row = await market(engine, "BTC-USD")
        assert (row["takerFee"], "payments" in row["terms"]) == ((30, True) if survives else (25, False))
        assert (row["terms"]["offers"] == ["staking"]) is survives


async def test_fixed_markets_offer_what_the_platform_began_with(settings: Settings) -> None:
    async with running_engine(settings.model_copy(update={"markets": "fixed"})) as engine:
        refusal = await change(engine, {"offers": []}, "BTC-USD", 400)
        assert refusal["code"] == "UNSUPPORTED_COMMAND"
