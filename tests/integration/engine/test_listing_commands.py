"""The commands that change a listing: they show what changes, and change only the market that was looked at."""

import re
from typing import Any

import pytest

from openspot.engine_client.listing_operator import ListingOperatorError, Looked, change_market, set_status
from openspot.kit.settings import Settings
from tests.integration.engine.test_market_listings import call, list_doge, schedule_delisting
from tests.support.engine_client import EngineClient

CAROL = "shell:carol"
NEWEST = Looked()


@pytest.fixture
def settings(settings: Settings) -> Settings:
    """An engine whose services follow its list."""
    return settings.model_copy(update={"rules": "complete", "markets": "live"})


async def edit(engine: EngineClient, looked: Looked = NEWEST, **fields: Any) -> list[str]:
    return await change_market(engine.settings, "DOGE-USD", {"reason": "as decided", **fields}, looked, CAROL)


async def planned(engine: EngineClient, **fields: Any) -> tuple[list[str], str]:
    """What a change would do, and the version that it saw."""
    *lines, last = await edit(engine, Looked(is_plan=True), **fields)
    found = re.fullmatch("nothing is changed yet; the market has the version ([0-9a-f]+)", last)
    assert found is not None, last
    return lines, found[1]


@pytest.fixture
async def doge(engine: EngineClient) -> EngineClient:
    """An engine with a market of an operator."""
    await list_doge(engine, asset={"currency": "DOGE", "name": "Dogecoin", "places": 8})
    return engine


async def test_a_change_is_shown_field_by_field_and_a_plan_changes_nothing(doge: EngineClient) -> None:
    staking = {"apr": "0.04", "minimum": "1", "maximum": "10", "capacity": "100"}
    wanted = {
        "takerFee": 20, "quantityMax": "1000.0", "quantityMin": "2", "offers": ["staking", "conversions"],
        "staking": staking,
    }  # fmt: skip
    before = await call(doge, "GET", "/DOGE-USD")
    lines, version = await planned(doge, **wanted)
    assert lines == [
        "offers: '' -> 'conversions, staking'",
        "quantityMin: '1' -> '2'",
        "staking.apr: '' -> '0.04'",
        "staking.capacity: '' -> '100'",
        "staking.earlyRedemption: '' -> 'allowed'",
        "staking.lockDays: '' -> '0'",
        "staking.maximum: '' -> '10'",
        "staking.minimum: '' -> '1'",
        "staking.unbondingDays: '' -> '0'",
        "takerFee: '25' -> '20'",
    ]
    assert (version, await call(doge, "GET", "/DOGE-USD")) == (before["version"], before)
    shown = await edit(doge, Looked(version), **wanted)
    assert shown[: len(lines) + 1] == [*lines, "DOGE-USD is open"]
    # What the engine has noted is what was shown.
    change = (await call(doge, "GET", "/DOGE-USD/changes"))["changes"][0]
    names = {*change["before"], *change["after"]}
    assert names == {line.partition(":")[0] for line in lines}
    assert await planned(doge, takerFee=20) == (["nothing changes"], (await call(doge, "GET", "/DOGE-USD"))["version"])


async def test_of_two_operators_the_second_is_told_that_the_market_is_another_by_now(doge: EngineClient) -> None:
    _, seen = await planned(doge, announcement="Trading begins at noon.")
    await edit(doge, Looked(seen), announcement="There is a fault.")
    for late in (
        edit(doge, Looked(seen), announcement="Trading begins at noon."),
        set_status(doge.settings, "DOGE-USD", "delisting", "the coin has ended", Looked(seen), CAROL),
    ):
        with pytest.raises(ListingOperatorError) as refused:
            await late
        first, advice = str(refused.value).split("\n")
        assert first == "version: DOGE-USD was changed after you read it: look at it as it is now"
        assert "look again with --plan" in advice
    terms = (await call(doge, "GET", "/DOGE-USD"))["terms"]
    assert (terms["announcement"], terms["status"]) == ("There is a fault.", "open")
    # Without a version it is the market as the command itself read it.
    ended = await set_status(doge.settings, "DOGE-USD", "delisting", "the coin has ended", NEWEST, CAROL)
    assert ended[:2] == ["status: 'open' -> 'delisting'", "DOGE-USD is delisting"]


async def test_the_command_sends_who_delists_a_market_of_margin_to_where_margin_is_asked(engine: EngineClient) -> None:
    await schedule_delisting(engine, "BTC-USD")
    with pytest.raises(ListingOperatorError, match="BTC-USD is offered on margin: delist it in the operator console"):
        await set_status(engine.settings, "BTC-USD", "delisting", "it ends", NEWEST, CAROL)
