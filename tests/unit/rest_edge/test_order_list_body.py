"""A list as clients send and get it: ids that follow from the request, and what has become of a list."""

from typing import Any

import pytest
from msgspec import UNSET, structs

from openspot.contracts.messages import OrderRecord
from openspot.rest_edge.orders.list_schemas import OrderListBody, list_of
from tests.support.order_records import order_record

ENTRY = {"symbol": "BTC-USD", "side": "buy", "type": "limit", "quantity": "0.5", "price": "100"}
STOP = {"symbol": "BTC-USD", "side": "sell", "type": "stop_market", "quantity": "0.5", "stopPrice": "95"}


def body(**changes: Any) -> OrderListBody:
    return OrderListBody.model_validate({"type": "oto", "orders": [ENTRY, STOP]} | changes)


def test_the_id_of_a_list_is_the_operations_or_follows_from_user_and_client_list_id() -> None:
    assert body().list_id("u1", "operation") == "operation"
    mine = body(clientListId="mine").list_id("u1", "operation")
    assert mine == body(clientListId="mine", orders=[ENTRY, ENTRY]).list_id("u1", "another")
    others = {
        body(clientListId="mine").list_id("u2", "operation"),
        body(clientListId="yours").list_id("u1", "operation"),
    }
    assert mine not in others
    assert len(mine) == 16


def test_the_ids_of_the_orders_follow_from_all_that_the_request_says() -> None:
    def ids(list_id: str = "list", **changes: Any) -> list[str]:
        return [order.order_id for order in body(**changes).to_requests(list_id)]

    assert ids() == ids()
    assert len(set(ids())) == 2
    changed = [
        ids("other"),
        ids(type="bracket"),
        ids(orders=[ENTRY | {"price": "99"}, STOP]),
        ids(orders=[ENTRY, STOP | {"stopPrice": "94"}]),
        ids(orders=[ENTRY | {"clientOrderId": "a"}, STOP]),
        ids(orders=[STOP, ENTRY]),
    ]
    for other in changed:
        assert not set(other) & set(ids())


def record(role: str = "entry", state: str = "active", status: str = "open", **fields: Any) -> OrderRecord:
    """An order of a list."""
    of_list = {"list_id": "l1", "client_list_id": None, "list_type": "oto", "list_role": role, "list_state": state}
    return structs.replace(order_record(order_id=role), status=status, **of_list | fields)


@pytest.mark.parametrize(
    ("orders", "status"),
    [
        ([record(), record("stop_loss", "planned")], "active"),
        ([record(status="filled"), record("stop_loss")], "active"),
        ([record(status="partially_filled"), record("stop_loss", status="cancelled")], "active"),
        ([record(status="filled"), record("stop_loss", "ended")], "ended"),
        ([record(status="cancelled"), record("stop_loss", "planned", "cancelled")], "ended"),
        ([record(status="rejected"), record("stop_loss", "planned", "rejected")], "rejected"),
    ],
)
def test_the_status_of_a_list_is_that_of_its_orders(orders: list[OrderRecord], status: str) -> None:
    assert list_of(orders).status == status


def test_a_list_shows_its_entry_first_and_the_times_of_its_orders() -> None:
    entry = record(created_at="2026-01-02T00:00:00.000Z", updated_at="2026-01-02T00:00:05.000Z")
    stop = record("stop_loss", created_at="2026-01-02T00:00:00.000Z", updated_at="2026-01-02T00:00:03.000Z")
    shown = list_of([stop, entry])
    assert (shown.list_id, shown.client_list_id, shown.type, shown.symbol) == ("l1", None, "oto", entry.symbol)
    assert shown.orders == [entry, stop]
    assert (shown.created_at, shown.updated_at) == ("2026-01-02T00:00:00.000Z", "2026-01-02T00:00:05.000Z")
    assert list_of([record(client_list_id="mine")]).client_list_id == "mine"
    assert order_record().list_id is UNSET
