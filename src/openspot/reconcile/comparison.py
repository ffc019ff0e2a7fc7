"""Comparisons. Each returns every difference by name, or an empty list if the sides agree. Rules without IO."""

from collections.abc import Iterable, Mapping
from dataclasses import fields
from decimal import Decimal
from typing import Any

from openspot.domain.accounts import AccountKey
from openspot.domain.money import EXACT, decimal_to_text
from openspot.domain.order import OrderStatus
from openspot.reconcile.records import Difference, OrderFacts, TradeFacts

ZERO = Decimal(0)
MISSING = "missing"
PRESENT = "present"


def compare_balances(engine: Mapping[AccountKey, Decimal], ledger: Mapping[AccountKey, Decimal]) -> list[Difference]:
    """Compare totals by account. An account that one side lacks counts as zero."""
    differences = []
    for account in sorted(engine.keys() | ledger.keys()):
        ours, theirs = engine.get(account, ZERO), ledger.get(account, ZERO)
        if ours != theirs:
            differences.append(_difference("balance", f"{account.user_id} {account.asset}", "total", ours, theirs))
    return differences


def compare_orders(engine: Mapping[str, OrderFacts], rows: Mapping[str, OrderFacts]) -> list[Difference]:
    """Compare every order of the engine with its row.

    A row that the engine does not know is right only if the order was rejected before it reached the engine.
    """
    differences = []
    for order_id in sorted(engine.keys() | rows.keys()):
        order, row = engine.get(order_id), rows.get(order_id)
        if order is None:
            assert row is not None, "the id comes from one of the two"
            if row.status != OrderStatus.REJECTED:
                differences.append(Difference("order", order_id, "order", MISSING, f"{PRESENT} ({row.status})"))
        elif row is None:
            differences.append(Difference("order", order_id, "row", f"{PRESENT} ({order.status})", MISSING))
        else:
            differences.extend(_compare_fields("order", order_id, order, row, {"price"} if order.price is None else ()))
    return differences


def compare_acknowledged(
    engine: Mapping[str, OrderFacts], accepted: Iterable[str], cancelled: Iterable[str]
) -> list[Difference]:
    """Compare replies with the engine: it must know accepted orders, and have cancelled the cancelled ones."""
    differences = [
        Difference("order", order_id, "order", MISSING, "accepted, as its client was told")
        for order_id in sorted(accepted)
        if order_id not in engine
    ]
    for order_id in sorted(cancelled):
        order = engine.get(order_id)
        if order is not None and order.status != OrderStatus.CANCELLED:
            differences.append(
                Difference("order", order_id, "status", order.status, "cancelled, as its client was told")
            )
    return differences


def compare_trades(engine: Mapping[str, TradeFacts], rows: Mapping[str, TradeFacts]) -> list[Difference]:
    """Compare every trade of the engine with its row, and every row with the engine."""
    differences = []
    for trade_id in sorted(engine.keys() | rows.keys()):
        trade, row = engine.get(trade_id), rows.get(trade_id)
        if trade is None or row is None:
            ours, theirs = (MISSING if side is None else PRESENT for side in (trade, row))
            differences.append(Difference("trade", trade_id, "trade", ours, theirs))
        else:
            differences.extend(_compare_fields("trade", trade_id, trade, row, ()))
    return differences


def compare_fills(orders: Mapping[str, OrderFacts], trades: Mapping[str, TradeFacts]) -> list[Difference]:
    """Compare order rows with trade rows: an order's filled, notional and fee must be the sums of its trades."""
    sums: dict[str, list[Decimal]] = {order_id: [ZERO, ZERO, ZERO] for order_id in orders}
    for trade in trades.values():
        notional = EXACT.multiply(trade.price, trade.quantity)
        for order_id, fee in ((trade.taker_order_id, trade.taker_fee), (trade.maker_order_id, trade.maker_fee)):
            total = sums.get(order_id)
            if total is not None:
                for index, amount in enumerate((trade.quantity, notional, fee)):
                    total[index] = EXACT.add(total[index], amount)
    differences = []
    for order_id, order in sorted(orders.items()):
        for name, summed, kept in zip(
            ("filled", "notional", "fee"), sums[order_id], (order.filled, order.notional, order.fee), strict=True
        ):
            if summed != kept:
                differences.append(_difference("fills", order_id, f"{name} (sum of the trades)", summed, kept))
    return differences


def _compare_fields(kind: str, name: str, engine: Any, mirror: Any, apart_from: Any) -> list[Difference]:
    return [
        _difference(kind, name, field.name, getattr(engine, field.name), getattr(mirror, field.name))
        for field in fields(engine)
        if field.name not in apart_from and getattr(engine, field.name) != getattr(mirror, field.name)
    ]


def _difference(kind: str, name: str, field: str, engine: Any, mirror: Any) -> Difference:
    return Difference(kind, name, field, _text(engine), _text(mirror))


def _text(value: Any) -> str:
    return decimal_to_text(value) if isinstance(value, Decimal) else str(value)
