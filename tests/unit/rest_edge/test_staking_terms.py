"""The terms of stakes: what a stake keeps of its product, and what an edge does that does not know the product yet."""

from dataclasses import replace
from datetime import date

import pytest

from openspot.domain.offers import EarlyRedemption
from openspot.http.errors import HttpError
from tests.unit.rest_edge.test_staking_service import ACTIVE, FLEXIBLE, LOCKED, Bench, at


async def test_a_stake_whose_product_is_not_known_yet_is_kept_and_its_days_are_made_up_at_the_present_rate() -> None:
    bench = Bench(FLEXIBLE)
    bench.markets.knows_offers = False
    bench.hold()
    bench.hold(replace(ACTIVE, balance_id="b2", product_id="market-x", type="flexible", lock_days=0, ends_on=None))
    bench.now = at(4)
    assert await bench.service.accrue_due() == 0
    # A locked stake that nobody may take back early, and a part of one that earns.
    for balance in ("b1", "b2"):
        with pytest.raises(HttpError, match="has not said yet what its markets offer") as refused:
            await bench.unstake(balance=balance)
        assert refused.value.status_code == 503
    assert (bench.tables.accrued, bench.tables.unstakes) == ([], {})
    # The list comes: the operator has cut the rate to a tenth.
    bench.products |= {
        "locked": LOCKED, "market-x": replace(FLEXIBLE, product_id="market-x", rate_ppm=36_500)
    }  # fmt: skip
    bench.markets.knows_offers = True
    assert await bench.service.accrue_due() == 2
    days = [date(2026, 3, 2), date(2026, 3, 3)]
    assert [(day, rate) for day, _, rate in bench.tables.accrued] == [
        *((day, 365_000) for day in days), *((day, 36_500) for day in days),
    ]  # fmt: skip
    with pytest.raises(HttpError, match="the stake is locked until"):
        await bench.unstake()


async def test_stakes_of_a_file_go_on_while_nobody_knows_what_markets_offer() -> None:
    bench = Bench(replace(FLEXIBLE, is_open=False))
    bench.markets.knows_offers = False
    bench.hold(replace(ACTIVE, product_id="flexible", type="flexible", lock_days=0, ends_on=None))
    bench.now = at(4)
    assert await bench.service.accrue_due() == 1
    assert (await bench.unstake()).amount == "50"
    for refused_call in (
        bench.service.products(), bench.service.product("flexible"), bench.stake("10", product="flexible"),
        bench.stake("10", product="market-x"),
    ):  # fmt: skip
        with pytest.raises(HttpError) as refused:
            await refused_call
        assert refused.value.status_code == 503


@pytest.mark.parametrize("now_says", [None, *EarlyRedemption])
@pytest.mark.parametrize("said", EarlyRedemption)
async def test_a_stake_keeps_what_its_product_said_of_an_early_end_when_it_was_made(
    said: EarlyRedemption, now_says: EarlyRedemption | None
) -> None:
    bench = Bench(replace(LOCKED, early_redemption=said))
    stake = await bench.stake("50")
    if now_says is None:
        del bench.products["locked"]
    else:
        bench.products["locked"] = replace(LOCKED, early_redemption=now_says)
    bench.now = at(4)
    assert (await bench.service.balance("alice", stake.id)).early_redemption == said.value
    if said is EarlyRedemption.NOT_ALLOWED:
        with pytest.raises(HttpError, match="the stake is locked until"):
            await bench.unstake(balance=stake.id)
    else:
        taken = await bench.unstake(balance=stake.id)
        assert taken.reward == ("0" if said is EarlyRedemption.FORFEITS_REWARDS else "0.1")


async def test_a_stake_of_an_earlier_release_takes_what_its_product_says_first_and_keeps_it() -> None:
    bench = Bench()
    bench.hold(replace(ACTIVE, early_redemption=None))
    bench.now = at(3)
    await bench.service.accrue_due()
    bench.products["locked"] = replace(LOCKED, early_redemption=EarlyRedemption.ALLOWED)
    with pytest.raises(HttpError, match="the stake is locked until"):
        await bench.unstake()
