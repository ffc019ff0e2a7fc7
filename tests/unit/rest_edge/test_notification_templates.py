"""What users are told of their money, event by event."""

import msgspec
import pytest

from openspot.contracts.messages import (
    DepositConfirmed,
    ExecutedTransfer,
    OrderEvent,
    OrderRecord,
    SendNotification,
    TransferMovement,
    WithdrawalOutcome,
    WithdrawalRequested,
)
from openspot.rest_edge.notifications import templates
from openspot.rest_edge.notifications.preferences import SECURITY_EVENTS, NotificationEvent, event_of_kind
from openspot.rest_edge.notifications.rules import checked

NOW_MS = 1_700_000_000_000
ASSETS = {"BTC", "USD"}
DEPOSIT = DepositConfirmed("tx1", "ada", "BTC", "0.500", timestamp=NOW_MS - 5)
REQUESTED = WithdrawalRequested("w1", "ada", "BTC", "0.5", "bc1qx", "bitcoin")
COMPLETED = WithdrawalOutcome("w1", "ada", "BTC", "0.5", tx_hash="beef")


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


@pytest.mark.parametrize(
    "event",
    [
        transfer("staking", ("ada", "house:staking", "BTC", "1")),
        transfer("loan", ("house:lending", "margin:1", "USD", "1")),
        transfer("network-fee", ("house:fees", "house:external", "BTC", "1")),
        transfer("conversion", ("house:conversions", "ada", "USD", "bad")),
        transfer("conversion"),
    ],
)
def test_nobody_is_told_of_other_transfers(event: ExecutedTransfer) -> None:
    assert templates.transfer_executed(event) is None


def test_a_filled_order_is_told_with_quantity_and_average_price() -> None:
    order = OrderRecord(
        "o1", None, "ada", "BTC-USD", "sell", "limit", "gtc", None, "60000", "2", "2", "0", "60000.5", "0", "USD",
        "filled", None, "", "",
    )  # fmt: skip
    told = templates.order_filled(OrderEvent("filled", 7, NOW_MS, order))
    assert (told.id, told.title, told.text) == (
        "order.filled:o1", "Order filled: BTC-USD", "You sold 2 BTC at 60000.5 USD.",
    )  # fmt: skip


def test_every_kind_is_one_that_users_can_choose_and_a_sound_notification() -> None:
    told = [
        templates.deposit_credited(DEPOSIT, ASSETS, NOW_MS),
        templates.withdrawal_requested(REQUESTED, NOW_MS),
        templates.withdrawal_completed(COMPLETED, NOW_MS),
        templates.withdrawal_failed(COMPLETED, NOW_MS),
        templates.transfer_executed(transfer("payment", ("house:payments", "ada", "USD", "50"))),
        templates.transfer_executed(transfer("reward", ("house:rewards", "ada", "BTC", "0.01"))),
    ]
    for notification in told:
        assert notification is not None
        assert checked(notification) == notification
        assert event_of_kind(notification.kind) in set(NotificationEvent)
    assert {"withdrawal_requested", "new_login"} <= SECURITY_EVENTS
