"""Conversions, stakes and payments on a real platform: each moves money once, and every book agrees afterwards."""

import asyncio
from decimal import Decimal

import pytest

from openspot.domain.ids import CONVERSIONS_ACCOUNT_ID, FEE_ACCOUNT_ID, PAYMENTS_ACCOUNT_ID, STAKING_ACCOUNT_ID
from openspot.up.child_platform import ChildPlatform
from tests.support.money_user import assert_every_book_agrees, credit, house_totals, money_user, openspot
from tests.support.operator_prices import set_operator_price

HOUSE = (CONVERSIONS_ACCOUNT_ID, FEE_ACCOUNT_ID, PAYMENTS_ACCOUNT_ID, STAKING_ACCOUNT_ID)


async def house(platform: ChildPlatform) -> dict[tuple[str, str], Decimal]:
    rows = {}
    for account in HOUSE:
        rows |= {(account, asset): total for asset, total in (await house_totals(platform, account)).items()}
    return rows


@pytest.mark.proof
@pytest.mark.spec("B4.1-55", "B4.1-57")
async def test_money_moves_between_users_and_the_accounts_of_the_house(platform: ChildPlatform) -> None:
    await credit(platform, CONVERSIONS_ACCOUNT_ID, "SOL", "10")
    await set_operator_price(platform, "SOL-USD", "200")
    before = await house(platform)
    async with money_user(platform) as maker, money_user(platform) as user:
        await asyncio.gather(maker.credit("SOL", "100"), user.credit("USD", "1000"), user.credit("USDT", "100"))
        order = {"symbol": "SOL-USD", "side": "sell", "type": "limit", "quantity": "50", "price": "200"}
        placed = await maker("POST", "/orders", order, status=201)

        wanted = {"fromAsset": "USD", "toAsset": "SOL", "fromAmount": "200"}
        quote = await user.quoted(wanted)
        assert (quote["toAmount"], quote["spreadAmount"]) == ("0.995", "1")
        body = {"quoteId": quote["quoteId"]}
        converted = await user("POST", "/conversions", body, status=201)
        assert (await user("POST", "/conversions", body, status=201))["id"] == converted["id"]
        await user.has("SOL", "0.995")
        await user.has("USD", "800")

        stake = await user("POST", "/staking/stake", {"productId": "usdt-flexible", "amount": "60"}, status=201)
        back = await user("POST", "/staking/unstake", {"balanceId": stake["id"], "amount": "20"}, status=201)
        assert (stake["status"], back["status"]) == ("active", "paid")
        await user.has("USDT", "60")

        session = {"routeId": "development-usd", "amount": "100", "currency": "USD"}
        payment, failed = [await user("POST", "/payments/session", session, status=201) for _ in range(2)]
        assert await openspot(platform, "payments", "complete", payment["id"]) == f"{payment['id']} is paid\n"
        assert "told before" in await openspot(platform, "payments", "complete", payment["id"])
        assert await openspot(platform, "payments", "fail", failed["id"]) == f"{failed['id']} is failed\n"
        await user.shows(f"/payments/{payment['id']}", credited=True, netAmount="98.2", paymentStatus="paid")
        await user.shows(f"/payments/{failed['id']}", credited=False, paymentStatus="failed")
        await user.has("USD", "898.2")
        assert (await maker("DELETE", f"/orders/{placed['orderId']}"))["status"] == "cancelled"

        # The ledger follows the engine: reconcile waits until it has.
        await assert_every_book_agrees(platform)
        held = (await user("GET", "/accounts/portfolio-history?interval=1h"))[-1]["holdings"]
        assert {row["asset"]: row["balance"] for row in held} == {"SOL": "0.995", "USD": "898.2", "USDT": "60"}
    after = await house(platform)
    moved = {place: total - before.get(place, Decimal(0)) for place, total in after.items()}
    assert {place: change for place, change in moved.items() if change} == {
        (CONVERSIONS_ACCOUNT_ID, "SOL"): Decimal("-0.995"),
        (CONVERSIONS_ACCOUNT_ID, "USD"): Decimal(199),
        (FEE_ACCOUNT_ID, "USD"): Decimal(1),
        (STAKING_ACCOUNT_ID, "USDT"): Decimal(40),
        (PAYMENTS_ACCOUNT_ID, "USD"): Decimal("1.8"),
    }
