"""The texts of notifications about custody, transfers, orders and margin. Pure.

Each function returns None for an event without a notification. The id of a notification is made from the id of its
event. So an event that comes twice notifies the user once.
"""

from collections.abc import Collection, Sequence
from datetime import datetime
from decimal import ROUND_DOWN, Decimal
from typing import NamedTuple

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
from openspot.domain.accounts import user_of_account
from openspot.domain.ids import HOUSE_PREFIX
from openspot.domain.money import MoneyError, decimal_to_text, parse_decimal
from openspot.domain.result_code import ResultCode
from openspot.domain.transfer import TransferKind
from openspot.kit.clock import datetime_from_ms, iso_of, ms_from_datetime
from openspot.rest_edge.common.average_price import average_price

CustodyEvent = DepositConfirmed | WithdrawalRequested | WithdrawalOutcome

ADDRESS_LENGTH_MAX = 200
_NOT_YOU = "Was it not you? Cancel it on the page of withdrawals, reset your password and end all sessions."


def deposit_credited(event: DepositConfirmed, assets: Collection[str], now_ms: int) -> SendNotification | None:
    """The notification of a confirmed deposit. The router credits it if the platform has the asset."""
    amount = _amount(event.amount, event.asset)
    if amount is None or event.asset not in assets or event.user_id.startswith(HOUSE_PREFIX):
        return None
    text = f"{amount} arrived and can be used."
    return _of_custody(event, event.tx_hash, "deposit.credited", "Deposit credited", text, now_ms)


def withdrawal_requested(event: WithdrawalRequested, now_ms: int) -> SendNotification | None:
    """The notification of a requested withdrawal. It is security mail: the owner may still cancel a thief's."""
    amount = _amount(event.amount, event.asset)
    if amount is None:
        return None
    to = f" to {event.address[:ADDRESS_LENGTH_MAX]}" if event.address else ""
    text = f"A withdrawal of {amount}{to} was requested. {_NOT_YOU}"
    return _of_custody(event, event.withdrawal_id, "withdrawal.requested", "Withdrawal requested", text, now_ms)


def withdrawal_completed(event: WithdrawalOutcome, now_ms: int) -> SendNotification | None:
    """The notification that the funds of a withdrawal have left."""
    amount = _amount(event.amount, event.asset)
    if amount is None:
        return None
    transaction = f" Transaction: {event.tx_hash[:ADDRESS_LENGTH_MAX]}" if event.tx_hash else ""
    text = f"Your withdrawal of {amount} has left for its address.{transaction}"
    return _of_custody(event, event.withdrawal_id, "withdrawal.completed", "Withdrawal completed", text, now_ms)


def withdrawal_failed(event: WithdrawalOutcome, now_ms: int) -> SendNotification | None:
    """The notification of a withdrawal that failed, was rejected, or was cancelled by its user.

    Custody and router may both announce it; the user is notified once.
    """
    amount = _amount(event.amount, event.asset)
    if amount is None:
        return None
    if event.cancelled:
        title = "Withdrawal cancelled"
        text = f"Your withdrawal of {amount} was cancelled at your request. Its funds are in your account."
    else:
        title = "Withdrawal not carried out"
        text = (
            f"Your withdrawal of {amount} was not carried out. Its funds are in your account. The page of withdrawals "
            "says why."
        )
    return _of_custody(event, event.withdrawal_id, "withdrawal.failed", title, text, now_ms)


def transfer_executed(event: ExecutedTransfer) -> SendNotification | None:
    """The notification of a conversion, a payment, a charge for a plan, or a stake or reward that is paid out."""
    movements = [movement for movement in event.movements if not _is_within_house(movement)]
    if event.kind == TransferKind.SUBSCRIPTION:
        return _plan_charged(event, movements)
    if event.kind == TransferKind.ADJUSTMENT:
        return _adjusted(event, movements)
    received = next((movement for movement in movements if movement.source.startswith(HOUSE_PREFIX)), None)
    if received is None:
        return None
    amount = _amount(received.amount, received.asset)
    match event.kind:
        case TransferKind.CONVERSION:
            given = [movement for movement in movements if movement.source == received.destination]
            paid = _sum(given)
            if paid is None:
                return None
            about = "conversion.completed", "Conversion completed", f"{paid} became {amount}."
        case TransferKind.PAYMENT:
            about = "payment.completed", "Payment completed", f"{amount} arrived and can be used."
        case TransferKind.UNSTAKING:
            about = "staking.payout", "Stake returned", f"Your stake of {amount} is in your account again."
        case TransferKind.REWARD:
            about = "staking.payout", "Staking reward paid", f"Staking earned you {amount}."
        case TransferKind.REFUND:
            about = (
                "subscription.charged",
                "Plan refunded",
                f"The rest of your plan's credit, {amount}, is yours again.",
            )
        case _:
            return None
    if amount is None:
        return None
    return SendNotification(f"{event.kind}:{event.id}", received.destination, *about, event.timestamp)


def _adjusted(event: ExecutedTransfer, movements: Sequence[TransferMovement]) -> SendNotification | None:
    amount = _sum(movements) if movements else None
    if amount is None:
        return None
    is_given = movements[0].source.startswith(HOUSE_PREFIX)
    user_id = movements[0].destination if is_given else movements[0].source
    what = "were added to your balance" if is_given else "were taken from your balance"
    text = f"{amount} {what} by the platform. Ask its support why."
    return SendNotification(
        f"{event.kind}:{event.id}", user_id, "balance.adjusted", "Balance adjusted", text, event.timestamp
    )


def _plan_charged(event: ExecutedTransfer, movements: Sequence[TransferMovement]) -> SendNotification | None:
    amount = _sum(movements) if movements else None
    if amount is None:
        return None
    text = f"{amount} were taken from your spot account for your plan."
    user_id = movements[0].source
    kind, title = "subscription.charged", "Plan charged"
    return SendNotification(f"{event.kind}:{event.id}", user_id, kind, title, text, event.timestamp)


_OWN_CANCELLATION = "The rest was cancelled at your request."
_AS_A_WHOLE = "The order book could not fill it as a whole."
_OWN_ORDER = "It would have traded with another order of yours."
_END_OF_LIST = "The list that it belongs to has ended."
_OUT_OF_RANGE = "Its price or its amount had left the range of the market."
WHY_ENDED = {
    ResultCode.CANCELLED_BY_USER.name: _OWN_CANCELLATION,
    ResultCode.REDUCED_BY_USER.name: _OWN_CANCELLATION,
    ResultCode.CANCELLED_BY_ADMIN.name: "The platform cancelled it.",
    ResultCode.ORDER_EXPIRED.name: "Its time was over.",
    ResultCode.IOC_REMAINDER.name: "The order book offered too little within its limits.",
    ResultCode.FOK_NOT_FILLABLE.name: _AS_A_WHOLE,
    ResultCode.FOK_TOO_DEEP.name: _AS_A_WHOLE,
    ResultCode.STP_CANCEL_RESTING.name: _OWN_ORDER,
    ResultCode.STP_CANCEL_INCOMING.name: _OWN_ORDER,
    ResultCode.STP_CANCEL_BOTH.name: _OWN_ORDER,
    ResultCode.STP_DECREMENT.name: _OWN_ORDER,
    ResultCode.LIST_EXIT_TRADED.name: "Another order of its list traded in its place.",
    ResultCode.LIST_EXIT_ENDED.name: _END_OF_LIST,
    ResultCode.LIST_EXIT_TRIGGERED.name: _END_OF_LIST,
    ResultCode.LIST_NOT_ARMED.name: _END_OF_LIST,
    ResultCode.LIST_ENTRY_ENDED.name: _END_OF_LIST,
    ResultCode.PARTICIPANT_INACTIVE.name: "Your account is not active.",
    ResultCode.INVALID_PRICE.name: _OUT_OF_RANGE,
    ResultCode.INVALID_PRICE_STEP.name: _OUT_OF_RANGE,
    ResultCode.NOTIONAL_TOO_LARGE.name: _OUT_OF_RANGE,
}
"""Why an order ended that had not filled all of its quantity, by the engine's result code."""


class FilledOrder(NamedTuple):
    """A completely filled order of `user_id`: what it has filled, and what that came to in the quote asset."""

    order_id: str
    user_id: str
    symbol: str
    side: str
    quantity: Decimal
    notional: Decimal
    filled_at: datetime
    sequence: int
    """The engine's sequence of the trade that completed it."""


def order_filled(order: FilledOrder) -> SendNotification:
    """The notification of a completely filled order."""
    base, _, quote = order.symbol.partition("-")
    verb = "bought" if order.side == "buy" else "sold"
    average = average_price(order.notional, order.quantity)
    price = "" if average is None else f" at {decimal_to_text(average)} {quote}"
    return SendNotification(
        f"order.filled:{order.order_id}",
        order.user_id,
        "order.filled",
        f"Order filled: {order.symbol}",
        f"You {verb} {decimal_to_text(order.quantity)} {base}{price}.",
        ms_from_datetime(order.filled_at),
    )


def order_incomplete(event: IncompleteOrder) -> SendNotification | None:
    """The notification of an order that ended with a part filled, or with nothing although its trigger had fired.

    None for numbers that cannot be read.
    """
    base, _, quote = event.symbol.partition("-")
    quantity, filled = _amount(event.quantity, base), _amount(event.filled_quantity, base)
    if quantity is None:
        return None
    if filled is None:
        kind, title = "order.not_filled", f"Order ended without a trade: {event.symbol}"
        text = f"The trigger of your order to {event.side} {quantity} fired, and the order ended without a trade."
    else:
        kind, title = "order.partly_filled", f"Order filled in part: {event.symbol}"
        verb = "bought" if event.side == "buy" else "sold"
        try:
            average = average_price(parse_decimal(event.filled_notional), parse_decimal(event.filled_quantity))
        except MoneyError:
            return None
        price = "" if average is None else f" at {decimal_to_text(average)} {quote}"
        text = f"You {verb} {filled} of {quantity}{price}, and the order has ended."
    why = WHY_ENDED.get(event.reason, f"The engine's reason is {event.reason}.")
    return SendNotification(
        f"order.incomplete:{event.order_id}", event.user_id, kind, title, f"{text}\n{why}", event.timestamp
    )


def order_refused(event: RiskCheckFailed) -> SendNotification:
    """The notification of an order that a check refused, of the user's spot or margin account."""
    return SendNotification(
        f"order.refused:{event.user_id}:{event.order_id}",
        user_of_account(event.user_id),
        "order.refused",
        f"Order refused: {event.symbol}",
        f"Order {event.order_id} was not placed: {event.reason}.",
        event.timestamp,
    )


def orders_cancelled_by_timer(user_id: str, fires_at_ms: int, fired_at_ms: int) -> SendNotification:
    """The notification that all open orders were cancelled, because nobody renewed the timer that ran out then."""
    return SendNotification(
        f"order.cancelled_by_timer:{user_id}:{fires_at_ms}",
        user_id,
        "order.cancelled_by_timer",
        "Your orders were cancelled by your timer",
        f"Your timer to cancel all orders ran out at {iso_of(datetime_from_ms(fires_at_ms))} without a renewal, and "
        "your open orders were cancelled. If a program should have renewed it, look whether it is running.",
        fired_at_ms,
    )


def margin_warning(event: MarginWarning) -> SendNotification | None:
    """The notification that a margin account comes near its liquidation. None for a level that is no number above 0."""
    level = _percent(event.margin_level)
    if level is None:
        return None
    return SendNotification(
        f"margin.warning:{event.id}",
        event.user_id,
        "margin.warning",
        "Your margin account is at risk",
        f"The level of margin account {event.margin_account_id} fell to {level}. Add collateral or repay a loan: if it "
        "falls further, the account is liquidated.",
        event.timestamp,
    )


def margin_position_closed(event: MarginPositionClosed) -> SendNotification | None:
    """The notification that a liquidation closes a position. None for a quantity that is no number above 0."""
    quantity = _amount(event.quantity, event.symbol.partition("-")[0])
    if quantity is None:
        return None
    return SendNotification(
        f"margin.position_closed:{event.id}",
        event.user_id,
        "margin.position_closed",
        f"Margin position closed: {event.symbol}",
        f"A liquidation closes your {'long' if event.side == 'buy' else 'short'} position of {quantity} "
        f"({event.position_id}).",
        event.timestamp,
    )


def _of_custody(event: CustodyEvent, reference: str, kind: str, title: str, text: str, now_ms: int) -> SendNotification:
    """A notification of an event of custody, with the event's time if it has one."""
    timestamp = now_ms if event.timestamp is None else event.timestamp
    return SendNotification(f"{kind}:{reference}", event.user_id, kind, title, text, timestamp)


def _is_within_house(movement: TransferMovement) -> bool:
    return movement.source.startswith(HOUSE_PREFIX) and movement.destination.startswith(HOUSE_PREFIX)


def _sum(movements: Sequence[TransferMovement]) -> str | None:
    """The sum of movements of one asset. A conversion has several: its spread is a movement of its own."""
    try:
        total = sum((parse_decimal(movement.amount) for movement in movements), Decimal())
    except MoneyError:
        return None
    return _amount(decimal_to_text(total), movements[0].asset) if total else None


def _amount(amount: str, asset: str) -> str | None:
    """The amount with its asset, None if it is no number above 0."""
    try:
        value = parse_decimal(amount)
    except MoneyError:
        return None
    return f"{decimal_to_text(value)} {asset}" if value > 0 else None


def _percent(ratio: str) -> str | None:
    """A ratio in percent, rounded down to two places: 1.5 is 150 %. None if it is no number above 0."""
    try:
        value = parse_decimal(ratio)
    except MoneyError:
        return None
    return f"{decimal_to_text((value * 100).quantize(Decimal('0.01'), ROUND_DOWN))} %" if value > 0 else None
