"""The actions of an order connection, and the REST route that carries out each."""

from dataclasses import dataclass
from enum import StrEnum

ORDER_CONNECTION_PATH = "/orders/connection"
"""Where order connections are opened, below the prefix of the REST edge."""
IN_FLIGHT_MAX = 64
"""So many requests of a connection may be under way at a time. One more is refused with TOO_MANY_IN_FLIGHT."""


class Turn(StrEnum):
    """Which earlier requests of its connection a request waits for."""

    BESIDE = "beside"
    """None but those that are ALONE: it begins when it comes."""
    ORDER = "order"
    """Those that name the same order, and those that are ALONE."""
    ALONE = "alone"
    """All; and all later ones wait for it."""


@dataclass(frozen=True, slots=True)
class OrderAction:
    """A REST route, below the prefix. `parameter` is the property of the message that stands in its path, or empty."""

    method: str
    path: str
    turn: Turn
    parameter: str = ""


ORDER_ACTIONS = {
    "placeOrder": OrderAction("POST", "/orders", Turn.BESIDE),
    "placeOrders": OrderAction("POST", "/orders/batch", Turn.BESIDE),
    "placeOrderList": OrderAction("POST", "/orders/lists", Turn.BESIDE),
    "amendOrder": OrderAction("PATCH", "/orders/{orderId}", Turn.ORDER, "orderId"),
    "amendOrderByClientId": OrderAction("PATCH", "/orders/client/{clientOrderId}", Turn.ALONE, "clientOrderId"),
    "amendOrders": OrderAction("PATCH", "/orders/batch", Turn.ALONE),
    "cancelOrder": OrderAction("DELETE", "/orders/{orderId}", Turn.ORDER, "orderId"),
    "cancelOrdersByClientId": OrderAction("DELETE", "/orders/client/{clientOrderId}", Turn.ALONE, "clientOrderId"),
    "cancelOrders": OrderAction("DELETE", "/orders", Turn.ALONE),
    "cancelOrderList": OrderAction("DELETE", "/orders/lists/{listId}", Turn.ALONE, "listId"),
    "cancelAllAfter": OrderAction("POST", "/orders/cancel-all-after", Turn.ALONE),
}
