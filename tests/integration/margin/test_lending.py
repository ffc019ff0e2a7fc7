"""Collateral, loans and positions through two services side by side, with a real engine, bus and database."""

import asyncio
import json
from decimal import Decimal
from typing import Any

import nats
import pytest

from openspot.contracts import subjects
from openspot.contracts.messages import (
    CheckBalance,
    CheckBalanceReply,
    CheckMargin,
    CheckMarginReply,
    GetMarginLevel,
    MarginLevelReply,
    MarginWarning,
)
from openspot.contracts.refusals import RefusalCode
from openspot.domain.fair_price.model import PriceState
from tests.integration.hostile.payloads import (
    HOSTILE_AMOUNTS,
    HOSTILE_ASSETS,
    HOSTILE_IDS,
    LONG,
    SQL,
    UNREADABLE,
    with_value,
)
from tests.support.fair_prices import PLENTY
from tests.support.margin import MarginMarket
from tests.support.router_client import listening
from tests.support.waiting import eventually, stretched

pytestmark = pytest.mark.asyncio(loop_scope="module")

LIQUIDATION = [subjects.MARGIN_POSITION_CLOSED, subjects.NOTIFICATIONS_SEND, subjects.ORDERS_LIQUIDATION]


async def check(market: MarginMarket, quantity: str, leverage: str, user: str = "alice") -> CheckMarginReply:
    message = CheckMargin(user, "BTC-USD", "buy", quantity, leverage)
    reply: CheckMarginReply = await market.ask(subjects.RISK_MARGIN_CHECK, message, CheckMarginReply)
    return reply


@pytest.mark.spec("B4.3-14", "A8-15", "A2.8-07")
async def test_a_long_is_checked_opened_with_a_loan_and_closed_again(served: MarginMarket) -> None:
    moved = await served.move("alice", "200")
    assert moved.success, moved
    checked = await check(served, "4", "4")
    # The account pays a quarter of 400 itself: 300 is owed on 4 BTC and 100 USD.
    assert (checked.approved, checked.required_margin, checked.available_margin) == (True, "100", "200")
    assert checked.liquidation_price == "53.75"
    assert not (await check(served, "4", "10.01")).approved
    refused = await check(served, "21", "10")
    assert (refused.approved, (refused.reason or "").split(":")[0]) == (False, "insufficient_margin")

    await served.place("sell", "100", "4", "bob")
    opened = await served.open("alice", "buy", "4", "4")
    assert opened.account is not None, opened
    [position], [loan] = opened.account.positions, opened.account.loans
    assert (position.status, position.quantity, position.entry_price) == ("open", "4", "100")
    # Borrowed for the worst price of the order; what it did not need is repaid, the first minute's interest first.
    assert Decimal(loan.principal) > 300
    assert (loan.status, loan.loan_id) == ("active", position.loan_id)
    assert Decimal("299") < Decimal(loan.outstanding) < Decimal("301")
    assert opened.account.margin_level is not None
    assert Decimal("1.65") < Decimal(opened.account.margin_level) < Decimal("1.67")

    await served.place("buy", "100", "4", "bob")
    closed = await served.close("alice", opened.position_id)
    assert closed.account is not None, closed
    assert [each.status for each in closed.account.positions] == ["closed"]
    assert [each.status for each in closed.account.loans] == ["repaid"]
    assert closed.account.margin_level is None
    assert Decimal("197.9") < Decimal(await served.total("margin:alice")) < Decimal(198)


async def test_a_part_is_closed_once_and_repays_its_loan_from_what_it_brings(served: MarginMarket) -> None:
    await served.place("sell", "100", "4", "bob")
    opened = await served.open("alice", "buy", "4", "4")
    assert opened.account is not None, opened
    [position] = [each for each in opened.account.positions if each.status == "open"]
    assert Decimal("99.9") < Decimal(position.required_margin) < Decimal("100.1")
    for quantity, error in (
        ("5", "quantity is more than the open 4"),
        ("0", "quantity must be positive"),
        ("1.000000001", "quantity must be a multiple of the lot 0.00000001"),
        ("0.00000001", "quantity is below the smallest order of the market"),
        ("3.99999999", "quantity leaves less than the smallest order of the market"),
    ):
        refused = await served.close("alice", position.position_id, quantity)
        assert (refused.code, (refused.error or "")[: len(error)]) == (RefusalCode.VALIDATION, error)
    await served.place("buy", "100", "2", "bob")
    for request_id, left, required in (("part-1", "3", "75"), ("part-2", "2", "50")):
        reply = await served.close("alice", position.position_id, "1", request_id)
        assert reply.account is not None, reply
        [after] = [each for each in reply.account.positions if each.position_id == position.position_id]
        assert (after.status, after.quantity, after.reason) == ("open", left, None)
        assert after.required_margin == required
    # What 2 BTC brought, less the fee, is repaid.
    [loan] = [each for each in reply.account.loans if each.loan_id == position.loan_id]
    assert Decimal("100") < Decimal(loan.outstanding) < Decimal("102")
    # A repetition that comes after a later request trades nothing.
    late = await served.close("alice", position.position_id, "1", "part-1")
    assert late.account is not None, late
    assert [each.quantity for each in late.account.positions if each.status == "open"] == ["2"]
    # A part that finds nobody to trade with leaves the position open, and says why.
    unsold = await served.close("alice", position.position_id, "1")
    assert unsold.account is not None, unsold
    [after] = [each for each in unsold.account.positions if each.position_id == position.position_id]
    assert (after.status, after.quantity) == ("open", "2")
    assert after.reason
    await served.place("buy", "100", "2", "bob")
    closed = await served.close("alice", position.position_id, "2")
    assert closed.account is not None, closed
    assert {each.status for each in closed.account.positions} == {"closed"}
    assert {each.status for each in closed.account.loans} == {"repaid"}


async def test_a_reduce_only_sell_closes_longs_the_oldest_first_and_opens_nothing(served: MarginMarket) -> None:
    """Two longs share one account: the first repays its loan before the second looks at what is free."""
    await served.deposit("rita", "USD", "2000")
    await eventually(lambda: served.engine.balances("rita"))
    assert (await served.move("rita", "400")).success
    none = await served.reduce("rita", "sell", "1")
    assert (none.code, none.error) == (RefusalCode.MARGIN_REFUSED, "there is no open long of BTC-USD to reduce")
    await served.place("sell", "100", "5", "bob")
    longs = [await served.open("rita", "buy", quantity, "2") for quantity in ("2", "3")]
    assert all(each.success for each in longs), longs
    ids = [each.position_id for each in longs]

    async def quantities() -> list[tuple[str, str]]:
        found = {each.position_id: each for each in (await served.account("rita")).positions}
        return [(found[each].status, found[each].quantity) for each in ids]

    # An order on the other side adds to the position, and a reduce-only one must not.
    assert (await served.reduce("rita", "buy", "1")).error == "there is no open short of BTC-USD to reduce"
    small = await served.reduce("rita", "sell", "2.00000001")
    assert small.code is RefusalCode.VALIDATION
    assert (small.error or "").startswith("after the positions before it, 0.00000001 of 3 is left: quantity is below")
    assert await quantities() == [("open", "2"), ("open", "3")]

    await served.place("buy", "100", "5", "bob")
    reduced = await served.reduce("rita", "sell", "3", "three")
    assert reduced.account is not None, reduced
    assert await quantities() == [("closed", "0"), ("open", "2")]
    late = await served.reduce("rita", "sell", "3", "three")
    assert late.success, late
    assert await quantities() == [("closed", "0"), ("open", "2")]
    # More than is open closes what is open.
    everything = await served.reduce("rita", "sell", "7")
    assert everything.account is not None, everything
    assert await quantities() == [("closed", "0"), ("closed", "0")]
    assert {each.status for each in everything.account.loans} == {"repaid"}
    assert await served.total("margin:rita", "BTC") == "0"
    assert Decimal("395") < Decimal(await served.total("margin:rita")) < Decimal("400")


async def test_one_request_id_closes_a_part_and_reduces_by_an_order_each(served: MarginMarket) -> None:
    """The reduction once took the order of the closing for its own: less was open, and nothing had been traded."""
    await served.deposit("nora", "USD", "2000")
    await eventually(lambda: served.engine.balances("nora"))
    assert (await served.move("nora", "400")).success
    await served.place("sell", "100", "4", "bob")
    opened = await served.open("nora", "buy", "4", "2")
    assert opened.success, opened

    async def left() -> tuple[str, str, str]:
        [position] = (await served.account("nora")).positions
        return position.status, position.quantity, await served.total("margin:nora", "BTC")

    await served.place("buy", "100", "3", "bob")
    assert (await served.close("nora", opened.position_id, "2", "same")).success
    assert await left() == ("open", "2", "2")
    assert (await served.reduce("nora", "sell", "1", "same")).success
    assert await left() == ("open", "1", "1")
    # Both are repetitions now.
    assert (await served.close("nora", opened.position_id, "2", "same")).success
    assert (await served.reduce("nora", "sell", "1", "same")).success
    assert await left() == ("open", "1", "1")
    await served.place("buy", "100", "1", "bob")
    assert (await served.close("nora", opened.position_id)).success
    assert await left() == ("closed", "0", "0")


async def test_a_reduce_only_buy_without_a_quantity_closes_all_shorts(served: MarginMarket) -> None:
    assert (await served.move("rita", "1000")).success
    await served.place("buy", "100", "3", "bob")
    for quantity in ("1", "2"):
        opened = await served.open("rita", "sell", quantity, "2")
        assert opened.success, opened
    offer = await served.place("sell", "100", "4", "bob")
    reduced = await served.reduce("rita", "buy")
    await served.engine.cancel(offer, "bob")
    assert reduced.account is not None, reduced
    assert {each.status for each in reduced.account.positions} == {"closed"}
    assert {each.status for each in reduced.account.loans} == {"repaid"}
    assert await served.total("house:lending", "BTC") == "50"


async def test_a_frozen_user_takes_no_new_risk_and_may_get_out_of_what_there_is(served: MarginMarket) -> None:
    await served.deposit("fred", "USD", "2000")
    await eventually(lambda: served.engine.balances("fred"))
    assert (await served.move("fred", "400")).success
    await served.place("sell", "100", "2", "bob")
    opened = await served.open("fred", "buy", "2", "2", "open-1")
    borrowed = await served.borrow("fred", "50")
    assert (opened.success, borrowed.success) == (True, True), (opened, borrowed)
    assert borrowed.loan_id is not None

    path, because = "/api/v1/admin/participants/fred/freeze", {"reason": "it prints prices"}
    assert (await served.engine.request("PUT", path, because))[0] == 200
    refusals = [
        await served.open("fred", "buy", "1", "2"),
        await served.borrow("fred", "1"),
        await served.move("fred", "1"),
    ]
    why = "your account is frozen: you can close positions, repay and move out, and nothing else"
    assert [(each.code, each.error) for each in refusals] == [(RefusalCode.PARTICIPANT_INACTIVE, why)] * 3
    checked = await check(served, "1", "2", "fred")
    assert (checked.approved, checked.reason) == (False, why)
    # What was done before the freeze is told again.
    assert (await served.open("fred", "buy", "2", "2", "open-1")).position_id == opened.position_id

    await served.place("buy", "100", "2", "bob")
    assert (await served.reduce("fred", "sell", "1")).success
    assert (await served.close("fred", opened.position_id)).success
    assert (await served.repay("fred", borrowed.loan_id)).success
    assert (await served.move("fred", "1", "out")).success
    assert await served.total("margin:fred", "BTC") == "0"
    assert (await served.engine.request("DELETE", path, because))[0] == 200
    assert (await served.move("fred", "1")).success


async def test_a_short_borrows_the_base_and_buys_its_interest_back_too(served: MarginMarket) -> None:
    await served.move("carol", "1000")
    await served.place("buy", "100", "5", "bob")
    opened = await served.open("carol", "sell", "5", "2")
    assert opened.account is not None, opened
    assert [(each.asset, each.borrowed) for each in opened.account.balances] == [("BTC", "5"), ("USD", "0")]
    await served.place("sell", "100", "6", "bob")
    closed = await served.close("carol", opened.position_id)
    assert closed.account is not None, closed
    assert [each.status for each in closed.account.loans] == ["repaid"]
    assert await served.total("house:lending", "BTC") == "50"


async def test_a_repeated_request_borrows_once(served: MarginMarket) -> None:
    await served.move("bob", "100")
    first = await served.borrow("bob", "50", request_id="the-same")
    again = await served.borrow("bob", "50", request_id="the-same")
    assert first.loan_id is not None
    assert first.loan_id == again.loan_id
    assert await served.total("margin:bob") == "150"
    repaid = await served.repay("bob", first.loan_id)
    assert repaid.account is not None, repaid
    assert [each.status for each in repaid.account.loans] == ["repaid"]
    assert (await served.repay("bob", first.loan_id)).error == "the loan is repaid"


async def test_of_many_borrows_at_once_only_what_the_equity_carries_is_lent(served: MarginMarket) -> None:
    """Equity of 100 carries a debt of 1,000. Two processes serve the requests."""
    await served.move("dora-of-nobody", "1")
    user = "bob"
    equity = Decimal((await served.account(user)).equity or "0")
    replies = await asyncio.gather(*(served.borrow(user, "300") for _ in range(6)))
    lent = [reply for reply in replies if reply.success]
    assert len(lent) == int(equity * 10 // 300)
    assert {reply.code for reply in replies if not reply.success} == {RefusalCode.MARGIN_REFUSED}
    assert await served.total("margin:bob") == str(equity + 300 * len(lent)).rstrip("0").rstrip(".")
    for reply in lent:
        assert reply.loan_id is not None
        assert (await served.repay(user, reply.loan_id)).success


async def test_an_empty_pool_refuses_and_never_becomes_negative(served: MarginMarket) -> None:
    await served.move("carol", "20000")
    pool = Decimal(await served.total("house:lending"))
    replies = await asyncio.gather(*(served.borrow("carol", "20000") for _ in range(4)))
    lent = sum(reply.success for reply in replies)
    assert lent == int(pool // 20000)
    assert {reply.code for reply in replies if not reply.success} == {RefusalCode.POOL_EMPTY}
    assert Decimal(await served.total("house:lending")) == pool - 20000 * lent
    refused = [each for each in (await served.account("carol")).loans if each.status == "refused"]
    assert len(refused) == 4 - lent
    for reply in replies:
        if reply.loan_id is not None:
            assert (await served.repay("carol", reply.loan_id)).success


@pytest.mark.spec("B4.3-15", "B4.3-16")
async def test_balance_and_level_of_an_account_and_of_none(served: MarginMarket) -> None:
    async def balance(amount: str, user: str = "alice") -> CheckBalanceReply:
        reply: CheckBalanceReply = await served.ask(
            subjects.RISK_BALANCE_CHECK, CheckBalance(user, "USD", amount), CheckBalanceReply
        )
        return reply

    held = await served.total("margin:alice")
    assert await balance(held) == CheckBalanceReply(True, held)
    assert await balance(str(Decimal(held) + Decimal("0.01"))) == CheckBalanceReply(False, held)
    assert await balance("1", "nobody") == CheckBalanceReply(False, "0")

    borrowed = await served.borrow("alice", "100")
    assert borrowed.loan_id is not None, borrowed
    level = await served.level("alice")
    assert level.margin_level is not None, level
    assert Decimal("2.9") < Decimal(level.margin_level) < Decimal("3")
    assert (level.equity, level.debt, level.is_at_risk) == (held, "100", False)
    strange = GetMarginLevel("alice", "margin:bob")
    assert (await served.ask(subjects.RISK_MARGIN_LEVEL, strange, MarginLevelReply)).code is RefusalCode.NOT_FOUND
    assert (await served.level("nobody")).code is RefusalCode.NOT_FOUND
    assert (await served.repay("bob", borrowed.loan_id)).code is RefusalCode.NOT_FOUND
    # What secures the debt cannot be taken out.
    refused = await served.move("alice", "200", "out")
    assert refused.error == "the margin level would fall to the warning level"
    assert (await served.repay("alice", borrowed.loan_id)).success


async def test_an_account_is_closed_empty_and_the_next_one_is_another(served: MarginMarket) -> None:
    refused = await served.close("alice")
    assert refused.error == "account still holds USD: move it out first"
    held = await served.total("margin:alice")
    # Deposits of USD have two decimal places; fees and interest leave more, and all of it can be moved out.
    assert Decimal(held) % Decimal("0.01")
    assert (await served.move("alice", held, "out")).success
    closed = await served.close("alice")
    assert closed.account is not None, closed
    assert (closed.account.margin_account_id, closed.account.status) == ("margin:alice", "closed")
    assert (await served.level("alice")).code is RefusalCode.NOT_FOUND
    # Fractions of a cent are no collateral.
    refused = await served.move("alice", held, "in")
    assert refused.error == "amount must have at most 2 decimal places for USD"
    opened = await served.move("alice", "150", "in")
    assert opened.account is not None, opened
    assert opened.account.margin_account_id == "margin:alice:2"
    assert (await served.move("alice", "1000000", "in")).code is RefusalCode.INSUFFICIENT_BALANCE


@pytest.mark.spec("A6.1-16", "A8-17")
async def test_the_service_warns_once_and_liquidates_by_itself(served: MarginMarket) -> None:
    await served.trade_at("100")
    await served.deposit("eve", "USD", "100")
    await eventually(lambda: served.engine.balances("eve"))
    assert (await served.move("eve", "100")).success
    await served.place("sell", "100", "4", "bob")
    patterns = ("margin.>", "notifications.>", "orders.liquidation")
    async with listening(served.settings.nats_url, *patterns) as heard:
        opened = await served.open("eve", "buy", "4", "5")
        assert opened.success, opened

        def warnings() -> list[MarginWarning]:
            return heard.of(subjects.MARGIN_LIQUIDATION_WARNING, MarginWarning)

        # A level of about 132 % lies in the warning risk band from the beginning.
        await eventually(lambda: bool(warnings()))
        # A freeze of its user keeps no liquidation back.
        frozen = await served.engine.request("PUT", "/api/v1/admin/participants/eve/freeze", {"reason": "asked for"})
        assert frozen[0] == 200
        await served.trade_at("78")
        await served.place("buy", "78", "5", "bob")

        async def is_settled() -> bool:
            account = await served.account("eve")
            return account.status == "active" and [each.status for each in account.positions] == ["liquidated"]

        await eventually(is_settled, 60)
        [warning] = warnings()
        assert (warning.user_id, warning.margin_account_id) == ("eve", "margin:eve")
        assert Decimal("1.2") < Decimal(warning.margin_level) <= Decimal("1.5")
        # The bus has stored the last message before this connection has heard it.
        await eventually(lambda: {subject for subject, *_ in heard.messages} >= set(LIQUIDATION))
        told = [subject for subject, *_ in heard.messages if subject in LIQUIDATION]
    assert told == LIQUIDATION
    assert [each.status for each in (await served.account("eve")).loans] == ["repaid"]
    await served.trade_at("100")


async def newcomer(market: MarginMarket, user: str, asset: str, amount: str) -> None:
    """A user whose only funds are collateral."""
    await market.deposit(user, asset, amount)

    async def is_there() -> bool:
        return asset in await market.engine.balances(user)

    await eventually(is_there)
    moved = await market.move(user, amount, asset=asset)
    assert moved.success, moved


async def knows_prices(market: MarginMarket, user: str, low: str, sellable: str | None = None) -> None:
    """Wait until every process knows the lower bound of BTC, and what is sellable of it."""

    async def all_know() -> bool:
        accounts = await asyncio.gather(*(market.account(user) for _ in range(8)))
        known = [price for account in accounts for price in account.prices if price.asset == "BTC"]
        return {(price.low, price.sellable) for price in known} == {(low, sellable or PLENTY)}

    await eventually(all_know)


async def test_a_price_that_two_accounts_print_lends_nothing_and_liquidates_nobody(served: MarginMarket) -> None:
    await newcomer(served, "mallory", "BTC", "1")
    await newcomer(served, "mallory", "USD", "1")
    await served.print_at("10000")
    refused = await served.borrow("mallory", "1010.01")
    assert (refused.code, refused.error) == (
        RefusalCode.MARGIN_REFUSED, "the debt would be more than 10 times the equity",
    )  # fmt: skip
    lent = await served.borrow("mallory", "100")
    assert lent.loan_id is not None, lent
    level = await served.level("mallory")
    await served.print_at("1")
    scans = served.settings.margin_scan_s * 3  # type: ignore[attr-defined]
    await asyncio.sleep(scans)
    assert (await served.level("mallory")).margin_level == level.margin_level == "2.01"
    assert (await served.account("mallory")).status == "active"
    assert (await served.repay("mallory", lent.loan_id)).success
    await served.trade_at("100")


async def test_at_a_disputed_price_only_what_lowers_the_risk_is_done(served: MarginMarket) -> None:
    await newcomer(served, "frank", "USD", "400")
    await served.place("sell", "100", "2", "bob")
    opened = await served.open("frank", "buy", "2", "2")
    lent = await served.borrow("frank", "50")
    assert opened.success, opened
    assert lent.loan_id is not None, lent
    reason = "its sources differ, wait until they agree"
    await served.prices.publish("BTC-USD", "90", state=PriceState.DISPUTED, reason=reason)
    await knows_prices(served, "frank", "90")
    expected = (RefusalCode.PRICE_NOT_SURE, f"the price of BTC is disputed: {reason}")
    for reply in (
        await served.borrow("frank", "1"),
        await served.move("frank", "1", "out"),
        await served.level("frank"),
    ):
        assert (reply.code, reply.error) == expected
    refused = await served.open("frank", "buy", "1", "2")
    assert (refused.code, refused.error) == (expected[0], f"price_not_sure: {expected[1]}")
    checked = await check(served, "1", "2", "frank")
    assert (checked.approved, checked.reason) == (False, f"price_not_sure: {expected[1]}")
    [price] = [each for each in (await served.account("frank")).prices if each.asset == "BTC"]
    assert (price.state, price.reason) == ("disputed", reason)

    await served.deposit("frank", "USD", "10")

    async def has_ten() -> bool:
        # Nothing is left of his first deposit, so he has no balance until this one is there.
        balance = (await served.engine.balances("frank")).get("USD")
        return balance is not None and balance.total == "10"

    await eventually(has_ten)
    assert (await served.move("frank", "10")).success
    assert (await served.repay("frank", lent.loan_id)).success
    await served.place("buy", "100", "9", "carol")
    closed = await served.close("frank", opened.position_id)
    assert closed.account is not None, closed
    assert [each.status for each in closed.account.positions] == ["closed"]
    assert [each.status for each in closed.account.loans] == ["repaid", "repaid"]
    await served.prices.publish("BTC-USD", "100")


async def test_collateral_and_loans_are_bounded_by_what_the_market_absorbs(served: MarginMarket) -> None:
    await newcomer(served, "grace", "BTC", "20")
    await served.prices.publish("BTC-USD", "100", low="95", sellable="2", buyable="0.5")
    await knows_prices(served, "grace", "95", "2")
    # 2 BTC of the 20 count, at 95 each.
    assert (await served.borrow("grace", "1900.01")).code is RefusalCode.MARGIN_REFUSED
    replies = await asyncio.gather(*(served.borrow("grace", "0.2", "BTC") for _ in range(6)))
    lent = [each.loan_id for each in replies if each.loan_id is not None]
    assert len(lent) == 2
    assert {each.error for each in replies if not each.success} == {
        "the market of BTC is too thin: 0.1 BTC can be borrowed now, because more could not be bought back near the"
        " fair price. Wait until several people have traded there within the last hour and orders stand near the fair"
        " price"
    }
    [price] = [each for each in (await served.account("grace")).prices if each.asset == "BTC"]
    assert (price.sellable, price.borrowable) == ("2", "0.1")
    assert (await check(served, "0.2", "2", "grace")).approved
    for loan_id in lent:
        # The interest of the started minute is owed in BTC, which the account holds.
        assert (await served.repay("grace", loan_id)).success
    await served.prices.publish("BTC-USD", "100")


async def test_collateral_without_any_price_is_refused(served: MarginMarket) -> None:
    await served.deposit("heidi", "SOL", "5")
    await eventually(lambda: served.engine.balances("heidi"))
    refused = await served.move("heidi", "5", asset="SOL")
    assert refused.code is RefusalCode.NO_MARK_PRICE
    assert (refused.error or "").startswith("no mark price for SOL")


ID: dict[str, tuple[str, ...]] = {"userId": (*HOSTILE_IDS, "margin:alice", "house:lending")}
REQUEST = ID | {"requestId": tuple(each for each in HOSTILE_IDS if each != "alice")}
AMOUNT = {"amount": (*HOSTILE_AMOUNTS, "0", "-1")}
ASSET = {"asset": (*HOSTILE_ASSETS, "DOGE")}
ORDER = {
    "symbol": ("", "BTC", "BTC USD", "*", "x" * 33, "DOGE-USD", LONG),
    "side": ("", "BUY", "long", "1", LONG),
    "quantity": (*HOSTILE_AMOUNTS, "0", "-1"),
}
LEVERAGE = {"leverage": ("", "NaN", "abc", "1e400", "0", "-1", "0.5", "11", "1.001", LONG)}
HOSTILE: dict[str, tuple[dict[str, Any], dict[str, tuple[str, ...]]]] = {
    "risk.margin.check": (
        {"userId": "alice", "symbol": "BTC-USD", "side": "buy", "quantity": "1", "leverage": "2"},
        ID | ORDER | {"leverage": ("", "NaN", "abc", LONG)},
    ),
    "risk.balance.check": ({"userId": "alice", "asset": "USD", "amount": "1"}, ID | ASSET | AMOUNT),
    "risk.margin.level": (
        {"userId": "alice", "marginAccountId": "margin:alice"},
        ID | {"marginAccountId": ("", " ", "margin:bob", "a.b", "*", LONG)},
    ),
    "risk.margin.account": ({"userId": "alice"}, ID),
    "risk.margin.transfer": (
        {"requestId": "r", "userId": "alice", "asset": "USD", "amount": "1", "direction": "in"},
        REQUEST | ASSET | AMOUNT | {"direction": ("", "IN", "up", LONG)},
    ),
    "risk.margin.open": (
        {"requestId": "r", "userId": "alice", "symbol": "BTC-USD", "side": "buy", "quantity": "1", "leverage": "2"},
        REQUEST | ORDER | LEVERAGE,
    ),
    "risk.margin.borrow": (
        {"requestId": "r", "userId": "alice", "asset": "USD", "amount": "1"},
        REQUEST | ASSET | AMOUNT,
    ),
    "risk.margin.repay": (
        {"requestId": "r", "userId": "alice", "loanId": "2" * 16, "amount": "1"},
        REQUEST | AMOUNT | {"loanId": ("", "x", "2" * 16, "2" * 17, SQL, LONG)},
    ),
    "risk.margin.close": (
        {"requestId": "r", "userId": "alice", "positionId": "2" * 16},
        REQUEST | {"positionId": ("", "x", "2" * 16, "2" * 17, SQL, LONG)},
    ),
    "risk.margin.reduce": (
        {"requestId": "r", "userId": "alice", "symbol": "BTC-USD", "side": "sell", "quantity": "1"},
        REQUEST | ORDER,
    ),
    "risk.margin.needs": ({"symbol": "BTC-USD"}, {"symbol": ORDER["symbol"]}),
}
"""A sound request of each subject, and hostile values of its fields."""
TABLES = ("margin_accounts", "margin_loans", "margin_positions", "margin_transfers", "margin_reductions")


async def rows(market: MarginMarket) -> list[int]:
    return [await market.pool.fetchval(f"SELECT count(*) FROM {table}") for table in TABLES]


async def test_hostile_requests_are_refused_by_the_name_of_their_field(served: MarginMarket) -> None:
    client = await nats.connect(served.settings.nats_url)

    async def ask(subject: str, payload: bytes) -> dict[str, Any]:
        answer: dict[str, Any] = json.loads((await client.request(subject, payload, timeout=stretched(30))).data)
        return answer

    before = await rows(served)
    try:
        for subject, (good, fields) in HOSTILE.items():
            for name in ("nothing", "null", "an array", "invalid UTF-8", "deep arrays"):
                assert (await ask(subject, UNREADABLE[name]))["error"].startswith("malformed request: ")
            for field in good:
                wrong = json.dumps(with_value(good, (field,), {})).encode()
                assert f"$.{field}`" in (await ask(subject, wrong))["error"]
            for field, values in fields.items():
                for value in values:
                    answer = await ask(subject, json.dumps(with_value(good, (field,), value)).encode())
                    assert field in answer["error"], (subject, str(value)[:80], str(answer)[:300])
                    assert len(answer["error"]) < 500
    finally:
        await client.close()
    assert await rows(served) == before
    assert (await served.level("alice")).error is None


async def test_nothing_is_lost(served: MarginMarket) -> None:
    assert await served.differences() == []
    assert await served.pool.fetchval("SELECT count(*) FROM margin_loans WHERE status IN ('pending', 'active')") == 0
    lent = Decimal(await served.total("house:lending"))
    assert lent == 50000
    interest = await served.pool.fetchval("SELECT sum(amount) FROM margin_interest")
    assert Decimal(await served.total("house:interest")) == Decimal(
        await served.pool.fetchval("SELECT sum(paid) FROM margin_loans WHERE asset = 'USD'")
    )
    assert interest == await served.pool.fetchval("SELECT sum(paid) FROM margin_loans")
