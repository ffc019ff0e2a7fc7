"""Request and response bodies of the routes of order lists."""

import hashlib
from collections.abc import Sequence
from enum import StrEnum
from typing import Annotated

import msgspec
from pydantic import Field

from openspot.contracts.messages import Message, OrderRecord, OrderRequest
from openspot.contracts.messages.message import TimeText, listed
from openspot.domain.ids import short_id
from openspot.domain.order import TERMINAL, OrderStatus
from openspot.domain.order_list import BOUND_STATES, LIST_ORDERS_MAX, ListRole, ListType
from openspot.http.errors import HttpError, validation_error
from openspot.http.validation import Body, LowerCase, example
from openspot.rest_edge.orders.schemas import ClientOrderId, OrderBody

_encode = msgspec.json.Encoder().encode
_SIZE_MIN = min(list_type.size for list_type in ListType)


class OrderListBody(Body):
    """Orders that depend on each other, placed all or none. All are on one market and have one quantity.

    `oco`: two exits of one position, both buys or both sells, of which at least one has a trigger. What one fills, the
    other loses. `oto`: an entry, and one exit on the other side. `bracket`: an entry and two exits. Exits are placed
    with what the entry fills, and hold no funds before. The entry comes first.
    """

    model_config = example(
        {
            "type": "bracket",
            "clientListId": "my-list-1",
            "orders": [
                {"symbol": "BTC-USD", "side": "buy", "type": "limit", "quantity": "0.015", "price": "65000"},
                {"symbol": "BTC-USD", "side": "sell", "type": "limit", "quantity": "0.015", "price": "66000"},
                {
                    "symbol": "BTC-USD",
                    "side": "sell",
                    "type": "stop_market",
                    "quantity": "0.015",
                    "stopPrice": "64000",
                },
            ],
        }
    )

    type: Annotated[ListType, LowerCase]
    client_list_id: ClientOrderId | None = Field(
        default=None,
        description="Your own id of the list. The same request under the same id places nothing twice; another request "
        "under it is refused, 409 DUPLICATE_CLIENT_LIST_ID, also after the list has ended",
    )
    orders: Annotated[list[OrderBody], Field(min_length=_SIZE_MIN, max_length=LIST_ORDERS_MAX)]

    def check_rules(self, now_ms: int) -> None:
        """Raise HttpError (400) for what an order asks for and the complete rules exclude; it names the order."""
        faults: list[str] = []
        for place, order in enumerate(self.orders):
            try:
                order.check_rules(are_complete=True, now_ms=now_ms)
            except HttpError as error:
                messages = [error.message] if isinstance(error.message, str) else error.message
                faults += [f"orders.{place}.{message}" for message in messages]
        if faults:
            raise validation_error(faults)

    def list_id(self, user_id: str, operation_id: str) -> str:
        """The id of the list: it follows from the client's own, or else from the operation."""
        if self.client_list_id is None:
            return operation_id
        return short_id(hashlib.sha256(f"list/{user_id}/{self.client_list_id}".encode()).digest())

    def to_requests(self, list_id: str) -> tuple[OrderRequest, ...]:
        """The orders as the router receives them. Their ids follow from all that the request says.

        So a repeated request has the same orders, and another one under the same id of a list has others.
        """
        orders = [order.to_request("") for order in self.orders]
        digest = hashlib.sha256(_encode([self.type, orders])).hexdigest()
        return tuple(
            msgspec.structs.replace(
                order, order_id=short_id(hashlib.sha256(f"{list_id}/{digest}/{place}".encode()).digest())
            )
            for place, order in enumerate(orders)
        )


class ListStatus(StrEnum):
    """What has become of a list."""

    ACTIVE = "active"
    """Its orders depend on each other."""
    ENDED = "ended"
    """Its orders have ended, or go on alone."""
    REJECTED = "rejected"
    """Nothing was placed."""


class OrderList(Message, frozen=True):
    """An order list and its orders, the entry first, as they are now. `client_list_id` is null if it has none.

    `status` is active while the orders depend on each other. Once it is ended, an order may still be open: it goes on
    alone. A list that was refused is rejected, and so are its orders.
    """

    list_id: str
    client_list_id: str | None
    type: Annotated[str, listed(*ListType)]
    symbol: str
    status: Annotated[str, listed(*ListStatus)]
    created_at: TimeText
    updated_at: TimeText
    orders: list[OrderRecord]


def list_of(records: Sequence[OrderRecord]) -> OrderList:
    """The list that these orders are."""
    orders = sorted(records, key=lambda record: (record.list_role != ListRole.ENTRY, record.created_at))
    first = orders[0]
    assert isinstance(first.list_id, str), "the orders are of a list"
    return OrderList(
        list_id=first.list_id,
        client_list_id=first.client_list_id or None,
        type=first.list_type or "",
        symbol=first.symbol,
        status=_status_of(orders).value,
        created_at=min(order.created_at for order in orders),
        updated_at=max(order.updated_at for order in orders),
        orders=orders,
    )


def _status_of(orders: Sequence[OrderRecord]) -> ListStatus:
    if all(order.status == OrderStatus.REJECTED for order in orders):
        return ListStatus.REJECTED
    binds = any(order.list_state in BOUND_STATES and order.status not in TERMINAL for order in orders)
    return ListStatus.ACTIVE if binds else ListStatus.ENDED
