"""The terms of an order and its list in its record, as router and edge both show them."""

from decimal import Decimal

import msgspec

from openspot.contracts.messages import OrderRecord
from openspot.domain.money import decimal_to_text
from openspot.domain.order import TriggerStatus


def with_terms(
    record: OrderRecord,
    *,
    stop_price: Decimal | None,
    trigger_by: str | None,
    trailing_amount: Decimal | None,
    trailing_bps: int | None,
    triggered_at: str | None,
    expires_at: str | None,
    self_trade_prevention: str | None,
    display_quantity: Decimal | None,
    max_slippage_bps: Decimal | None,
) -> OrderRecord:
    """`record` with the order's terms. A field that does not belong to the order stays out."""
    record = msgspec.structs.replace(
        record,
        expires_at=msgspec.UNSET if expires_at is None else expires_at,
        self_trade_prevention=msgspec.UNSET if self_trade_prevention is None else self_trade_prevention,
        display_quantity=msgspec.UNSET if display_quantity is None else decimal_to_text(display_quantity),
    )
    if trigger_by is None:
        return record
    return msgspec.structs.replace(
        record,
        stop_price=None if stop_price is None else decimal_to_text(stop_price),
        trigger_by=trigger_by,
        trailing_amount=None if trailing_amount is None else decimal_to_text(trailing_amount),
        trailing_bps=trailing_bps,
        trigger_status=(TriggerStatus.WAITING if triggered_at is None else TriggerStatus.TRIGGERED).value,
        triggered_at=triggered_at,
        max_slippage_bps=msgspec.UNSET if max_slippage_bps is None else decimal_to_text(max_slippage_bps),
    )


def with_list(
    record: OrderRecord,
    *,
    list_id: str,
    client_list_id: str | None,
    list_type: str | None,
    list_role: str | None,
    list_state: str | None,
) -> OrderRecord:
    """`record` with the list that the order belongs to."""
    return msgspec.structs.replace(
        record,
        list_id=list_id,
        client_list_id=client_list_id,
        list_type=list_type or "",
        list_role=list_role or "",
        list_state=list_state or "",
    )
