"""What the commands about orders print: a line for people, or a line of JSON with the platform's names."""

from typing import Any

import msgspec

from openspot.client import BatchEntry, BulkCancel, CancelTimer, Order, OrderList, OrderTrigger, OwnTrade

Shown = Order | OrderList | OrderTrigger | OwnTrade | BatchEntry | BulkCancel | CancelTimer
_encode = msgspec.json.Encoder().encode


def json_line(shown: Shown) -> str:
    """A record as one line of JSON. Decimals are texts, and what the platform left out is left out."""
    return _encode(_fields(shown)).decode()


def _fields(shown: Shown) -> dict[str, Any]:
    record: dict[str, Any] = msgspec.json.decode(_encode(shown))
    defaults = {field.encode_name for field in msgspec.structs.fields(shown) if not field.required}
    kept = {name: value for name, value in record.items() if value is not None or name not in defaults}
    if isinstance(shown, OrderList):
        return kept | {"orders": [_fields(order) for order in shown.orders]}
    if isinstance(shown, BatchEntry) and shown.order is not None:
        return kept | {"order": _fields(shown.order)}
    return kept


def order_line(order: Order) -> str:
    """An order in one line."""
    parts = [order.order_id, order.symbol, order.side, order.type, f"{order.quantity:f}"]
    if order.price is not None:
        parts.append(f"at {order.price:f}")
    parts += _trigger_parts(order)
    parts.append(order.status)
    if order.filled_quantity:
        parts.append(
            f"filled {order.filled_quantity:f} at {order.average_price:f}, fee {order.fee:f} {order.fee_currency}"
        )
    if order.time_in_force == "gtd" and order.expires_at is not None:
        parts.append(f"until {order.expires_at:%Y-%m-%d %H:%M:%S} UTC")
    if order.display_quantity is not None:
        parts.append(f"shows {order.display_quantity:f}")
    if order.list_role is not None:
        parts.append(f"{order.list_role.replace('_', ' ')} ({order.list_state})")
    if order.post_only:
        parts.append("post-only")
    if order.reject_reason is not None:
        parts.append(f"({order.reject_reason})")
    if order.client_order_id is not None:
        parts.append(f"[{order.client_order_id}]")
    return "  ".join(parts)


def _trigger_parts(order: Order) -> list[str]:
    if order.trigger_status is None:
        return []
    trigger = f"trigger {order.stop_price:f}" if order.stop_price is not None else "trigger follows"
    if order.trailing_amount is not None:
        trigger += f" by {order.trailing_amount:f}"
    if order.trailing_bps is not None:
        trigger += f" by {order.trailing_bps / 100:g} %"
    return [f"{trigger} ({order.trigger_by}, {order.trigger_status})"]


def trigger_line(trigger: OrderTrigger) -> str:
    """What fires an order now, in one line."""
    return f"{trigger.order_id}  fires at {trigger.trigger_price:f}  limit {trigger.limit_price:f}"


def entry_line(text: str, entry: BatchEntry) -> str:
    """What became of an order of a batch that was written as `text`."""
    if entry.order is not None:
        return order_line(entry.order)
    assert entry.error is not None, "an entry has an order or an error"
    reasons = entry.error.message
    reason = reasons if isinstance(reasons, str) else "; ".join(reasons)
    return f"refused  {entry.status} {entry.error.code}: {reason}  ({text})"


def list_lines(listed: OrderList) -> list[str]:
    """An order list, and below it a line for each of its orders."""
    head = "  ".join([listed.list_id, listed.symbol, listed.type, listed.status])
    if listed.client_list_id is not None:
        head += f"  [{listed.client_list_id}]"
    return [head, *(f"  {order_line(order)}" for order in listed.orders)]


def trade_line(trade: OwnTrade) -> str:
    """A trade of an order in one line."""
    return "  ".join([
        f"{trade.executed_at:%Y-%m-%d %H:%M:%S}", trade.trade_id, f"{trade.quantity:f} at {trade.price:f}",
        f"fee {trade.fee:f} {trade.fee_currency}", trade.role,
    ])  # fmt: skip


def cancelled_lines(outcome: BulkCancel) -> list[str]:
    """What became of the orders of a bulk cancel."""
    lines = [f"{order_id}  cancelled" for order_id in outcome.cancelled]
    lines += [f"{failure.order_id}  not cancelled: {failure.reason}" for failure in outcome.failed]
    return lines or ["no order was open"]


def timer_line(timer: CancelTimer) -> str:
    """The dead man's switch in one line."""
    fired = ""
    if timer.fired_at is not None:
        fired = f"; it last cancelled {timer.cancelled_orders} orders, at {timer.fired_at:%Y-%m-%d %H:%M:%S} UTC"
    if timer.cancels_at is None:
        return f"no timer runs{fired}"
    return f"all open orders are cancelled at {timer.cancels_at:%Y-%m-%d %H:%M:%S} UTC unless you renew it{fired}"
