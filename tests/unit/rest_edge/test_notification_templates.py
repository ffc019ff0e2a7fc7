"""What users are told of their money, event by event."""

import re
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path

import msgspec
import pytest

import openspot
from openspot.contracts.messages import (
    DepositConfirmed,
    ExecutedTransfer,
    IncompleteOrder,
    MarginPositionClosed,
    MarginWarning,
    RiskCheckFailed,
    SendNotification,
    TransferMovement,
    WithdrawalOutcome,
    WithdrawalRequested,
)
from openspot.domain.result_code import ResultCode
from openspot.rest_edge.notifications import templates
from openspot.rest_edge.notifications.preferences import (
    SECURITY_EVENTS,
    NotificationEvent,
    default_preference,
    event_of_kind,
)
from openspot.rest_edge.notifications.rules import checked

SOURCES = Path(openspot.__file__).parent

NOW_MS = 1_700_000_000_000
ASSETS = {"BTC", "USD"}
DEPOSIT = DepositConfirmed("tx1", "ada", "BTC", "0.500", timestamp=NOW_MS - 5)
REQUESTED = WithdrawalRequested("w1", "ada", "BTC", "0.5", "bc1qx", "bitcoin")
COMPLETED = WithdrawalOutcome("w1", "ada", "BTC", "0.5", tx_hash="beef")


WARNED = MarginWarning("margin:ada:warning:3", "margin:ada", "ada", "1.423456789", "423.4", "1000", NOW_MS)
CLOSED = MarginPositionClosed(
    id="l1:p1", liquidation_id="l1", margin_account_id="margin:ada", user_id="ada", position_id="p1",
    symbol="ETH-USD", side="sell", quantity="0.50", reason="liquidation", timestamp=NOW_MS,
)  # fmt: skip
INCOMPLETE = IncompleteOrder("o1", "ada", "BTC-USD", "sell", "2.00", "0.5", "30000.25", "CANCELLED_BY_ADMIN", NOW_MS)
CHECKED = RiskCheckFailed("o1", "ada", "BTC-USD", "price_band", "the price is 20 % away", NOW_MS)


def transfer(kind: str, *movements: tuple[str, str, str, str]) -> ExecutedTransfer:
    return ExecutedTransfer(f"{kind}:1", kind, [TransferMovement(*movement) for movement in movements], 7, NOW_MS)


def test_a_deposit_is_told_with_its_exact_amount_and_its_own_time() -> None:
    assert templates.deposit_credited(DEPOSIT, ASSETS, NOW_MS) == SendNotification(
        "deposit.credited:tx1",
        "ada",
        "deposit.credited",
        "Deposit credited",
        "0.5 BTC arrived and can be used.",
        NOW_MS - 5,
    )


@pytest.mark.parametrize(
    "change",
    [{"asset": "DOGE"}, {"amount": "0"}, {"amount": "-1"}, {"amount": "much"}, {"user_id": "house:payments"}],
)
def test_nobody_is_told_of_a_deposit_that_the_router_does_not_credit_to_a_user(change: dict[str, str]) -> None:
    assert templates.deposit_credited(msgspec.structs.replace(DEPOSIT, **change), ASSETS, NOW_MS) is None


def test_the_steps_of_a_withdrawal_are_told_once_each() -> None:
    told = [
        templates.withdrawal_requested(REQUESTED, NOW_MS),
        templates.withdrawal_completed(COMPLETED, NOW_MS),
        templates.withdrawal_failed(COMPLETED, NOW_MS),
    ]
    assert [notification and (notification.id, notification.timestamp) for notification in told] == [
        ("withdrawal.requested:w1", NOW_MS),
        ("withdrawal.completed:w1", NOW_MS),
        ("withdrawal.failed:w1", NOW_MS),
    ]
    requested, completed, failed = (notification.text for notification in told if notification)
    assert requested.startswith("A withdrawal of 0.5 BTC to bc1qx was requested. Was it not you?")
    assert completed == "Your withdrawal of 0.5 BTC has left for its address. Transaction: beef"
    assert failed.startswith("Your withdrawal of 0.5 BTC was not carried out. Its funds are in your account.")
    assert templates.withdrawal_requested(msgspec.structs.replace(REQUESTED, amount="?"), NOW_MS) is None
    assert templates.withdrawal_completed(msgspec.structs.replace(COMPLETED, amount="0"), NOW_MS) is None
    assert templates.withdrawal_failed(msgspec.structs.replace(COMPLETED, amount=""), NOW_MS) is None


def test_a_withdrawal_that_its_user_cancelled_is_not_told_as_a_failure() -> None:
    event = WithdrawalOutcome("w1", "ada", "BTC", "0.50", "cancelled", timestamp=NOW_MS, cancelled=True)
    assert templates.withdrawal_failed(event, NOW_MS + 1) == SendNotification(
        "withdrawal.failed:w1",
        "ada",
        "withdrawal.failed",
        "Withdrawal cancelled",
        "Your withdrawal of 0.5 BTC was cancelled at your request. Its funds are in your account.",
        NOW_MS,
    )


@pytest.mark.parametrize(
    ("event", "kind", "text"),
    [
        (
            transfer(
                "conversion",
                ("ada", "house:conversions", "BTC", "0.0099"),
                ("ada", "house:fees", "BTC", "0.0001"),
                ("house:conversions", "ada", "USD", "600.12"),
            ),
            "conversion.completed",
            "0.01 BTC became 600.12 USD.",
        ),
        (transfer("payment", ("house:payments", "ada", "USD", "50")), "payment.completed", "50 USD arrived and"),
        (transfer("unstaking", ("house:staking", "ada", "BTC", "1")), "staking.payout", "Your stake of 1 BTC is"),
        (transfer("reward", ("house:rewards", "ada", "BTC", "0.01")), "staking.payout", "Staking earned you 0.01 BTC."),
    ],
)
def test_a_transfer_to_a_user_is_told(event: ExecutedTransfer, kind: str, text: str) -> None:
    told = templates.transfer_executed(event)
    assert told is not None
    assert (told.user_id, told.kind, told.id) == ("ada", kind, f"{event.kind}:{event.id}")
    assert told.text.startswith(text)


def test_a_charge_for_a_plan_is_told_to_who_pays_it() -> None:
    event = transfer("subscription", ("ada", "house:subscriptions", "USD", "30.00"))
    assert templates.transfer_executed(event) == SendNotification(
        "subscription:subscription:1", "ada", "subscription.charged", "Plan charged",
        "30 USD were taken from your spot account for your plan.", NOW_MS,
    )  # fmt: skip
    assert templates.transfer_executed(transfer("subscription", ("ada", "house:subscriptions", "USD", "x"))) is None
    assert templates.transfer_executed(transfer("subscription")) is None


@pytest.mark.parametrize(
    "event",
    [
        transfer("staking", ("ada", "house:staking", "BTC", "1")),
        transfer("loan", ("house:lending", "margin:1", "USD", "1")),
        transfer("reward", ("house:rewards", "house:external", "BTC", "1")),
        transfer("conversion", ("house:conversions", "ada", "USD", "bad")),
        transfer("conversion"),
    ],
)
def test_nobody_is_told_of_other_transfers(event: ExecutedTransfer) -> None:
    assert templates.transfer_executed(event) is None


def test_a_filled_order_is_told_with_quantity_and_average_price() -> None:
    filled_at = datetime.fromtimestamp(NOW_MS / 1000, UTC)
    order = templates.FilledOrder("o1", "ada", "BTC-USD", "sell", Decimal("2.00"), Decimal(120_001), filled_at, 7)
    told = templates.order_filled(order)
    assert (told.id, told.user_id, told.timestamp) == ("order.filled:o1", "ada", NOW_MS)
    assert (told.title, told.text) == ("Order filled: BTC-USD", "You sold 2 BTC at 60000.5 USD.")


def test_an_order_that_ended_in_part_is_told_with_what_it_filled_of_what_and_why() -> None:
    assert templates.order_incomplete(INCOMPLETE) == SendNotification(
        "order.incomplete:o1", "ada", "order.partly_filled", "Order filled in part: BTC-USD",
        "You sold 0.5 BTC of 2 BTC at 60000.5 USD, and the order has ended.\nThe platform cancelled it.", NOW_MS,
    )  # fmt: skip
    bought = templates.order_incomplete(msgspec.structs.replace(INCOMPLETE, side="buy", reason="CANCELLED_BY_USER"))
    assert bought is not None
    assert bought.text.splitlines() == [
        "You bought 0.5 BTC of 2 BTC at 60000.5 USD, and the order has ended.",
        "The rest was cancelled at your request.",
    ]
    assert templates.order_incomplete(msgspec.structs.replace(INCOMPLETE, quantity="?")) is None
    assert templates.order_incomplete(msgspec.structs.replace(INCOMPLETE, filled_notional="?")) is None


def test_an_order_that_fired_for_nothing_is_told_with_its_reason() -> None:
    event = msgspec.structs.replace(INCOMPLETE, filled_quantity="0", filled_notional="0", reason="IOC_REMAINDER")
    assert templates.order_incomplete(event) == SendNotification(
        "order.incomplete:o1", "ada", "order.not_filled", "Order ended without a trade: BTC-USD",
        "The trigger of your order to sell 2 BTC fired, and the order ended without a trade.\n"
        "The order book offered too little within its limits.", NOW_MS,
    )  # fmt: skip
    unknown = templates.order_incomplete(msgspec.structs.replace(event, reason="NEW_CODE"))
    assert unknown is not None
    assert unknown.text.splitlines()[1] == "The engine's reason is NEW_CODE."


def test_every_reason_that_has_words_is_a_result_code_of_an_order_that_ends() -> None:
    ends = (
        "CANCELLED_",
        "REDUCED_",
        "IOC_",
        "FOK_",
        "STP_",
        "LIST_EXIT_ENDED",
        "LIST_EXIT_TRIGGERED",
        "LIST_EXIT_TRADED",
    )
    assert {code.name for code in ResultCode if code.name.startswith(ends)} <= set(templates.WHY_ENDED)
    assert set(templates.WHY_ENDED) <= {code.name for code in ResultCode}


def test_a_margin_warning_is_told_with_the_level_in_percent_and_what_to_do() -> None:
    assert templates.margin_warning(WARNED) == SendNotification(
        "margin.warning:margin:ada:warning:3", "ada", "margin.warning", "Your margin account is at risk",
        "The level of margin account margin:ada fell to 142.34 %. Add collateral or repay a loan: if it falls further, "
        "the account is liquidated.", NOW_MS,
    )  # fmt: skip
    assert templates.margin_warning(msgspec.structs.replace(WARNED, margin_level="none")) is None


@pytest.mark.parametrize(("side", "kind"), [("buy", "long"), ("sell", "short")])
def test_each_position_that_a_liquidation_closes_is_told(side: str, kind: str) -> None:
    assert templates.margin_position_closed(msgspec.structs.replace(CLOSED, side=side)) == SendNotification(
        "margin.position_closed:l1:p1", "ada", "margin.position_closed", "Margin position closed: ETH-USD",
        f"A liquidation closes your {kind} position of 0.5 ETH (p1).", NOW_MS,
    )  # fmt: skip
    assert templates.margin_position_closed(msgspec.structs.replace(CLOSED, quantity="0")) is None


@pytest.mark.parametrize("account", ["ada", "margin:ada", "margin:ada:2"])
def test_a_refused_order_is_told_to_the_user_of_its_account(account: str) -> None:
    assert templates.order_refused(msgspec.structs.replace(CHECKED, user_id=account)) == SendNotification(
        f"order.refused:{account}:o1", "ada", "order.refused", "Order refused: BTC-USD",
        "Order o1 was not placed: the price is 20 % away.", NOW_MS,
    )  # fmt: skip


def test_a_timer_that_cancelled_orders_is_told_with_the_time_at_which_it_ran_out() -> None:
    assert templates.orders_cancelled_by_timer("ada", NOW_MS - 300, NOW_MS) == SendNotification(
        "order.cancelled_by_timer:ada:1699999999700",
        "ada",
        "order.cancelled_by_timer",
        "Your orders were cancelled by your timer",
        "Your timer to cancel all orders ran out at 2023-11-14T22:13:19.700Z without a renewal, and your open orders "
        "were cancelled. If a program should have renewed it, look whether it is running.",
        NOW_MS,
    )


def test_every_event_that_users_can_choose_is_the_kind_of_a_notification_that_somebody_sends() -> None:
    """A kind has a dot, `order.filled`, so it stands in the sources apart from the name of its event."""
    kinds = {
        kind
        for path in SOURCES.rglob("*.py")
        if "contracts" not in path.parts
        for kind in re.findall(r'"([a-z_]+\.[a-z_]+)"', path.read_text("utf-8"))
    }
    assert {*NotificationEvent} - {event_of_kind(kind) for kind in kinds} == set()


def test_only_what_a_program_has_thousands_of_is_off_until_the_user_asks_for_it() -> None:
    off = {event for event in NotificationEvent if not default_preference(event).email}
    assert off == {event for event in NotificationEvent if not default_preference(event).websocket}
    assert off == {NotificationEvent.ORDER_FILLED, NotificationEvent.ORDER_REFUSED}


def test_every_kind_is_one_that_users_can_choose_and_a_sound_notification() -> None:
    told = [
        templates.deposit_credited(DEPOSIT, ASSETS, NOW_MS),
        templates.withdrawal_requested(REQUESTED, NOW_MS),
        templates.withdrawal_completed(COMPLETED, NOW_MS),
        templates.withdrawal_failed(COMPLETED, NOW_MS),
        templates.transfer_executed(transfer("payment", ("house:payments", "ada", "USD", "50"))),
        templates.transfer_executed(transfer("reward", ("house:rewards", "ada", "BTC", "0.01"))),
        templates.transfer_executed(transfer("subscription", ("ada", "house:subscriptions", "USD", "30"))),
        templates.transfer_executed(transfer("refund", ("house:subscriptions", "ada", "USD", "30"))),
        templates.transfer_executed(transfer("adjustment", ("house:external", "ada", "USD", "30"))),
        templates.order_refused(CHECKED),
        templates.order_incomplete(INCOMPLETE),
        templates.order_incomplete(msgspec.structs.replace(INCOMPLETE, filled_quantity="0")),
        templates.orders_cancelled_by_timer("ada", NOW_MS - 300, NOW_MS),
        templates.margin_warning(WARNED),
        templates.margin_position_closed(CLOSED),
    ]
    for notification in told:
        assert notification is not None
        assert checked(notification) == notification
        assert event_of_kind(notification.kind) in set(NotificationEvent)
    assert {"withdrawal_requested", "new_login"} <= SECURITY_EVENTS
