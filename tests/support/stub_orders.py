"""Orders that wait for a price, where the exchange is played: the pages show what its settings say that it offers."""

import json
import re
from typing import Any

from playwright.sync_api import Page, Route

OFFERED = {
    "orderTypes": [
        "limit",
        "market",
        "stop_market",
        "stop_limit",
        "take_profit_market",
        "take_profit_limit",
        "trailing_stop_market",
        "trailing_stop_limit",
    ],
    "timesInForce": ["gtc", "ioc", "fok", "gtd"],
    "triggerSources": ["last", "mark"],
    "orderListTypes": ["oco", "oto", "bracket"],
    "icebergs": True,
    "selfTradePreventionModes": ["none", "cancel_resting", "cancel_incoming", "cancel_both", "decrement_and_cancel"],
}


def fulfil(route: Route, body: Any) -> None:
    """Answer a request of the page with `body`."""
    headers = {"Access-Control-Allow-Origin": "*"}
    route.fulfill(body=json.dumps(body), content_type="application/json", headers=headers)


def offer(page: Page, rules: dict[str, Any], /, **changes: Any) -> None:
    """Let the page hear of other rules than the exchange has: `rules` with OFFERED and `changes`."""
    body = rules | OFFERED | changes
    page.route(re.compile("/api/v1/settings/trading$"), lambda route: fulfil(route, body))


LIST_ID = "stub-list-4f2a"


def listed_order(user_id: str, asked: dict[str, Any], list_type: str, role: str) -> dict[str, Any]:
    """The record of an order of a list, as the reply to the list has it: exits of an entry are planned."""
    record = waiting_order(user_id, {"triggerBy": "last"} | asked, orderId=f"stub-{role}")
    if asked.get("stopPrice") is None:
        trigger = ("stopPrice", "triggerBy", "trailingAmount", "trailingBps", "triggerStatus", "triggeredAt")
        record = {name: value for name, value in record.items() if name not in trigger}
    state = "active" if list_type == "oco" or role == "entry" else "planned"
    names = {"listId": LIST_ID, "clientListId": None, "listType": list_type, "listRole": role, "listState": state}
    return record | names


def waiting_order(user_id: str, asked: dict[str, Any], **changes: Any) -> dict[str, Any]:
    """The record of an order that waits, as the reply to `asked` has it."""
    base, quote = asked["symbol"].split("-")
    record = {
        "orderId": f"stub-{asked['type']}-{asked['side']}",
        "clientOrderId": None,
        "userId": user_id,
        "symbol": asked["symbol"],
        "side": asked["side"],
        "type": asked["type"],
        "timeInForce": asked.get("timeInForce", "gtc" if asked["type"].endswith("limit") else "ioc"),
        "marginMode": None,
        "price": asked.get("price"),
        "quantity": asked["quantity"],
        "filledQuantity": "0",
        "remainingQuantity": asked["quantity"],
        "averagePrice": None,
        "fee": "0",
        "feeCurrency": base if asked["side"] == "buy" else quote,
        "status": "open",
        "rejectReason": None,
        "createdAt": "2026-11-26T09:00:00.000Z",
        "updatedAt": "2026-11-26T09:00:00.000Z",
        "stopPrice": asked.get("stopPrice"),
        "triggerBy": asked.get("triggerBy", "last"),
        "trailingAmount": asked.get("trailingAmount"),
        "trailingBps": asked.get("trailingBps"),
        "triggerStatus": "waiting",
        "triggeredAt": None,
    }
    return record | changes


class StubbedOrders:
    """Takes the orders of a page in the exchange's stead, and lists them as its open ones."""

    def __init__(self, page: Page, user_id: str, listed: list[dict[str, Any]] | None = None) -> None:
        self.asked: list[dict[str, Any]] = []
        self._user_id = user_id
        self._open = list(listed or [])
        self.lists: list[dict[str, Any]] = []
        page.route(re.compile(r"/api/v1/orders(\?.*)?$"), self._answer)
        page.route(re.compile("/api/v1/orders/lists$"), self._answer_list)

    def _answer(self, route: Route) -> None:
        if route.request.method == "GET":
            fulfil(route, self._open)
        elif route.request.method == "POST":
            self.asked.append(route.request.post_data_json)
            # A trailing order's trigger is known once it follows a price.
            record = waiting_order(self._user_id, self.asked[-1])
            self._open.insert(0, record)
            fulfil(route, record)
        else:
            route.continue_()

    def _answer_list(self, route: Route) -> None:
        asked = route.request.post_data_json
        self.lists.append(asked)
        roles = ["take_profit", "stop_loss"] if asked["type"] == "oco" else ["entry", "take_profit", "stop_loss"]
        orders = [
            listed_order(self._user_id, order, asked["type"], role)
            for order, role in zip(asked["orders"], roles, strict=False)
        ]
        self._open[:0] = orders
        body = {"listId": LIST_ID, "clientListId": None, "type": asked["type"], "symbol": orders[0]["symbol"]}
        times = {"createdAt": orders[0]["createdAt"], "updatedAt": orders[0]["updatedAt"]}
        fulfil(route, body | times | {"status": "active", "orders": orders})
