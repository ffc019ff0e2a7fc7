"""The calls about orders."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from openspot.client.calls import Caller, Calls, Number, exact, given, iso_time, segment
from openspot.client.gen.records import (
    BatchEntry,
    BulkCancel,
    CancelTimer,
    Order,
    OrderEstimate,
    OrderList,
    OrderTrigger,
    OwnTrade,
    Replacement,
)
from openspot.client.records import Page
from openspot.domain.order import TERMINAL, OrderStatus

OPEN_STATUSES = ",".join(status.value for status in OrderStatus if status not in TERMINAL)
PAGE_MAX = 500


def order_fields(
    symbol: str,
    side: str,
    *,
    order_type: str = "limit",
    quantity: Number | None = None,
    price: Number | None = None,
    quote_quantity: Number | None = None,
    time_in_force: str | None = None,
    max_slippage_bps: Number | None = None,
    client_order_id: str | None = None,
    margin_mode: str | None = None,
    post_only: bool | None = None,
    post_only_mode: str | None = None,
    stop_price: Number | None = None,
    trigger_by: str | None = None,
    trailing_amount: Number | None = None,
    trailing_bps: int | None = None,
    expires_at: datetime | None = None,
    self_trade_prevention: str | None = None,
    display_quantity: Number | None = None,
) -> dict[str, Any]:
    """The fields of one order for `place_orders` and `replace_order`. Raises TypeError for a float."""
    fields = {
        "symbol": symbol,
        "side": side,
        "type": order_type,
        "quantity": exact(quantity, "quantity"),
        "price": exact(price, "price"),
        "quoteQuantity": exact(quote_quantity, "quote_quantity"),
        "timeInForce": time_in_force,
        "maxSlippageBps": exact(max_slippage_bps, "max_slippage_bps"),
        "clientOrderId": client_order_id,
        "marginMode": margin_mode,
        "postOnly": post_only,
        "postOnlyMode": post_only_mode,
        "stopPrice": exact(stop_price, "stop_price"),
        "triggerBy": trigger_by,
        "trailingAmount": exact(trailing_amount, "trailing_amount"),
        "trailingBps": trailing_bps,
        "expiresAt": iso_time(expires_at, "expires_at"),
        "selfTradePrevention": self_trade_prevention,
        "displayQuantity": exact(display_quantity, "display_quantity"),
    }
    return given(fields)


def amendment_fields(
    order_id: str, *, price: Number | None = None, quantity: Number | None = None, stop_price: Number | None = None
) -> dict[str, Any]:
    """The fields of one amendment for `amend_orders`. Raises TypeError for a float."""
    return {"orderId": order_id} | _amended(price, quantity, stop_price)


def _amended(price: Number | None, quantity: Number | None, stop_price: Number | None) -> dict[str, Any]:
    fields = {"price": price, "quantity": quantity, "stop_price": stop_price}
    return given({"stopPrice" if name == "stop_price" else name: exact(value, name) for name, value in fields.items()})


class OrderChangeCalls(Caller):
    """Placing, amending and cancelling orders, in requests of REST or on an order connection."""

    async def place_order(
        self,
        symbol: str,
        side: str,
        *,
        order_type: str = "limit",
        quantity: Number | None = None,
        price: Number | None = None,
        quote_quantity: Number | None = None,
        time_in_force: str | None = None,
        max_slippage_bps: Number | None = None,
        client_order_id: str | None = None,
        margin_mode: str | None = None,
        post_only: bool | None = None,
        post_only_mode: str | None = None,
        stop_price: Number | None = None,
        trigger_by: str | None = None,
        trailing_amount: Number | None = None,
        trailing_bps: int | None = None,
        expires_at: datetime | None = None,
        self_trade_prevention: str | None = None,
        display_quantity: Number | None = None,
        idempotency_key: str | None = None,
    ) -> Order:
        """Place an order. Raises ApiError 400 with the reason if it is rejected.

        A market order has a `quantity`; a market buy may have `quote_quantity` instead, the amount to spend. Under the
        complete rules (`trading_settings`) a market sell may have it, too, a limit order may be `post_only`, with
        `post_only_mode` refuse or slide, the order has `fills`, and an order whose `client_order_id` an open order has
        raises ApiError 409 DUPLICATE_CLIENT_ORDER_ID with the id of that one in `details["orderId"]`. They also have
        orders with a trigger: `order_type` stop_market, stop_limit, take_profit_market and take_profit_limit with
        `stop_price`, trailing_stop_market and trailing_stop_limit with `trailing_amount` or `trailing_bps`, fired by
        `trigger_by` last or mark; `time_in_force` gtd with `expires_at`, `self_trade_prevention`, and limit
        orders that show only `display_quantity` at a time. After
        ApiError 504 ORDER_STATUS_UNKNOWN, call `order` with `details["orderId"]`. The client never repeats an order
        that may have been placed, unless you pass an `idempotency_key`. Use a new key for each order: the platform
        places the order of a key once, however often it is sent.
        """
        body = order_fields(
            symbol,
            side,
            order_type=order_type,
            quantity=quantity,
            price=price,
            quote_quantity=quote_quantity,
            time_in_force=time_in_force,
            max_slippage_bps=max_slippage_bps,
            client_order_id=client_order_id,
            margin_mode=margin_mode,
            post_only=post_only,
            post_only_mode=post_only_mode,
            stop_price=stop_price,
            trigger_by=trigger_by,
            trailing_amount=trailing_amount,
            trailing_bps=trailing_bps,
            expires_at=expires_at,
            self_trade_prevention=self_trade_prevention,
            display_quantity=display_quantity,
        )
        return await self._call("POST", "/orders", Order, body=body, idempotency_key=idempotency_key)

    async def place_orders(
        self, orders: Sequence[Mapping[str, Any]], *, idempotency_key: str | None = None
    ) -> list[BatchEntry]:
        """Place up to 20 orders side by side, each made by `order_fields`. The entries come in the same order.

        If the platform refuses an order, it still places the others. The entry of the refused order has the error.
        """
        body = {"orders": list(orders)}
        return await self._call("POST", "/orders/batch", list[BatchEntry], body=body, idempotency_key=idempotency_key)

    async def replace_order(
        self,
        order_id: str,
        order: Mapping[str, Any],
        *,
        allow_failure: bool = False,
        idempotency_key: str | None = None,
    ) -> Replacement:
        """Cancel an open order and place another on its market, made by `order_fields`, in one step.

        Nobody trades between the two, and the funds and the client order id of the first are there for the second.
        Unless `allow_failure`, nothing is placed if the first cannot be cancelled: that raises ApiError 404 or 409. If
        it is cancelled and the new one is refused: ApiError 409 REPLACEMENT_REJECTED, with both ids in `details`. Only
        platforms with the complete rules have this call.
        """
        body = {**order, "mode": "allow_failure" if allow_failure else "stop_on_failure"}
        path = f"/orders/{segment(order_id)}/replace"
        return await self._call("POST", path, Replacement, body=body, idempotency_key=idempotency_key)

    async def amend_order(
        self,
        order_id: str,
        *,
        price: Number | None = None,
        quantity: Number | None = None,
        stop_price: Number | None = None,
        idempotency_key: str | None = None,
    ) -> Order:
        """Give an open order another price, quantity or trigger, and return it.

        `quantity` is the whole quantity of the order, with what is filled. An order that only gets smaller keeps its
        place in the queue. `stop_price` is for a stop or take profit order that waits. A repeated amendment changes
        nothing. An order of a list gets another price or trigger, but no other quantity. Raises ApiError 404 if the
        order is unknown, 409 if it has ended or would leave the quantity of its list, 400 if the amended order breaks a
        rule. Only platforms with the complete rules have this call.
        """
        body = _amended(price, quantity, stop_price)
        path = f"/orders/{segment(order_id)}"
        return await self._call("PATCH", path, Order, body=body, idempotency_key=idempotency_key)

    async def amend_order_by_client_id(
        self,
        client_order_id: str,
        *,
        price: Number | None = None,
        quantity: Number | None = None,
        stop_price: Number | None = None,
        idempotency_key: str | None = None,
    ) -> Order:
        """As `amend_order`, of the newest open order with this client order id."""
        body = _amended(price, quantity, stop_price)
        path = f"/orders/client/{segment(client_order_id)}"
        return await self._call("PATCH", path, Order, body=body, idempotency_key=idempotency_key)

    async def amend_orders(
        self, orders: Sequence[Mapping[str, Any]], *, idempotency_key: str | None = None
    ) -> list[BatchEntry]:
        """Amend up to 20 orders in one step, each made by `amendment_fields`. The entries come in the same order.

        If the platform refuses an amendment, it still makes the others. The entry of the refused one has the error.
        """
        body = {"orders": list(orders)}
        return await self._call("PATCH", "/orders/batch", list[BatchEntry], body=body, idempotency_key=idempotency_key)

    async def place_order_list(
        self,
        list_type: str,
        orders: Sequence[Mapping[str, Any]],
        *,
        client_list_id: str | None = None,
        idempotency_key: str | None = None,
    ) -> OrderList:
        """Place orders that depend on each other, all or none, each made by `order_fields`, the entry first.

        `list_type` is oco (two exits, of which one cancels the other), oto (an entry, and the exit that it triggers) or
        bracket (an entry and two exits). All orders are on one market and have one quantity. The same list under the
        same `client_list_id` or `idempotency_key` is placed once, however often it is sent. Raises ApiError 400 with
        the reason and, in `details["failedOrder"]`, the order that it is about, from 1; 409 DUPLICATE_CLIENT_LIST_ID if
        another list of the user has the id. After 504 ORDER_STATUS_UNKNOWN, call `order_list` with
        `details["listId"]`. Only platforms with the complete rules have this call.
        """
        body = given({"type": list_type, "clientListId": client_list_id, "orders": list(orders)})
        return await self._call("POST", "/orders/lists", OrderList, body=body, idempotency_key=idempotency_key)

    async def cancel_order_list(self, list_id: str) -> OrderList:
        """Cancel all that is open of a list, and return it.

        Raises ApiError 404 if the list is unknown, 409 if nothing of it is open.
        """
        return await self._call("DELETE", f"/orders/lists/{segment(list_id)}", OrderList)

    async def cancel_order(self, order_id: str) -> Order:
        """Cancel an order and return it. Raises ApiError 404 if it is unknown, 409 if it has ended already."""
        return await self._call("DELETE", f"/orders/{segment(order_id)}", Order)

    async def cancel_orders(
        self,
        *,
        symbol: str | None = None,
        side: str | None = None,
        order_ids: list[str] | None = None,
        client_order_id: str | None = None,
    ) -> BulkCancel:
        """Cancel the user's open orders that match every condition; without conditions, all of them.

        Several orders may have one `client_order_id`: all that are open are cancelled.
        """
        body = given({"symbol": symbol, "side": side, "orderIds": order_ids, "clientOrderId": client_order_id})
        return await self._call("DELETE", "/orders", BulkCancel, body=body or None)

    async def cancel_orders_by_client_id(self, client_order_id: str) -> BulkCancel:
        """Cancel the open orders with this client order id. Only platforms with the complete rules have this call."""
        return await self._call("DELETE", f"/orders/client/{segment(client_order_id)}", BulkCancel)

    async def cancel_all_after(self, timeout_seconds: int) -> CancelTimer:
        """Let the platform cancel all open orders of the user after this time, unless this call is repeated before.

        5 s to 24 h; 0 ends the timer. Only platforms with the complete rules have this call.
        """
        body = {"timeoutSeconds": timeout_seconds}
        return await self._call("POST", "/orders/cancel-all-after", CancelTimer, body=body)


class OrderCalls(OrderChangeCalls, Calls):
    """Placing, looking up, amending and cancelling orders."""

    async def estimate_order(
        self, symbol: str, side: str, quantity: Number, *, order_type: str = "limit", price: Number | None = None
    ) -> OrderEstimate:
        """Estimate an order with its fee, at `price` or else at the market's price."""
        body = {
            "symbol": symbol,
            "side": side,
            "type": order_type,
            "quantity": exact(quantity, "quantity"),
            "price": exact(price, "price"),
        }
        return await self._call("POST", "/orders/estimate", OrderEstimate, body=given(body))

    async def order(self, order_id: str) -> Order:
        """One order. Raises ApiError 404 if this user has no such order."""
        return await self._call("GET", f"/orders/{segment(order_id)}", Order)

    async def order_list(self, list_id: str) -> OrderList:
        """One order list with its orders. Raises ApiError 404 if this user has no such list."""
        return await self._call("GET", f"/orders/lists/{segment(list_id)}", OrderList)

    async def order_lists(
        self, *, symbol: str | None = None, active: bool | None = None, limit: int = 100, cursor: str | None = None
    ) -> Page[OrderList]:
        """The user's order lists, newest first; with `active` only those whose orders depend on each other now."""
        query = {"symbol": symbol, "active": None if active is None else str(active).lower()}
        return await self._page("/orders/lists", OrderList, query | {"limit": limit, "cursor": cursor})

    async def order_triggers(self, order_ids: list[str]) -> list[OrderTrigger]:
        """What fires up to 20 orders of the user now, and their limits; of those that wait for a price.

        Only platforms with the complete rules have this call.
        """
        return await self._call("GET", "/orders/triggers", list[OrderTrigger], query={"orderIds": ",".join(order_ids)})

    async def orders(
        self,
        *,
        status: str | None = None,
        symbol: str | None = None,
        side: str | None = None,
        client_order_id: str | None = None,
        since: datetime | None = None,
        until: datetime | None = None,
        list_id: str | None = None,
        limit: int = 100,
        cursor: str | None = None,
    ) -> Page[Order]:
        """The user's orders that match every condition, newest first. `status` may name several, with commas."""
        query = {
            "status": status,
            "symbol": symbol,
            "side": side,
            "clientOrderId": client_order_id,
            "from": iso_time(since, "since"),
            "to": iso_time(until, "until"),
            "listId": list_id,
        }
        return await self._page("/orders", Order, query | {"limit": limit, "cursor": cursor})

    async def open_orders(self, *, symbol: str | None = None) -> list[Order]:
        """All orders of the user that can still be filled, newest first."""
        orders: list[Order] = []
        cursor: str | None = None
        while True:
            page = await self.orders(status=OPEN_STATUSES, symbol=symbol, limit=PAGE_MAX, cursor=cursor)
            orders += page.entries
            cursor = page.next_cursor
            if cursor is None:
                return orders

    async def order_by_client_id(self, client_order_id: str) -> Order:
        """The newest order with this client order id. Raises ApiError 404 if there is none."""
        return await self._call("GET", f"/orders/client/{segment(client_order_id)}", Order)

    async def order_history(
        self,
        *,
        symbol: str | None = None,
        side: str | None = None,
        client_order_id: str | None = None,
        since: datetime | None = None,
        until: datetime | None = None,
        list_id: str | None = None,
        limit: int = 100,
        cursor: str | None = None,
    ) -> Page[Order]:
        """The user's orders that have ended and match every condition, newest first."""
        query = {
            "symbol": symbol,
            "side": side,
            "clientOrderId": client_order_id,
            "from": iso_time(since, "since"),
            "to": iso_time(until, "until"),
            "listId": list_id,
        }
        return await self._page("/orders/history", Order, query | {"limit": limit, "cursor": cursor})

    async def own_trades(
        self,
        *,
        symbol: str | None = None,
        order_id: str | None = None,
        since: datetime | None = None,
        until: datetime | None = None,
        limit: int = 100,
        cursor: str | None = None,
    ) -> Page[OwnTrade]:
        """The user's trades with their fees that match every condition, newest first. `until` is exclusive."""
        query = {
            "symbol": symbol,
            "orderId": order_id,
            "from": iso_time(since, "since"),
            "to": iso_time(until, "until"),
        }
        return await self._page("/orders/trades", OwnTrade, query | {"limit": limit, "cursor": cursor})

    async def cancel_timer(self) -> CancelTimer:
        """The timer of `cancel_all_after`. Only platforms with the complete rules have this call."""
        return await self._call("GET", "/orders/cancel-all-after", CancelTimer)
