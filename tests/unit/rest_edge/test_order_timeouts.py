"""How long the edge waits for the order router (facts A8-05, A8-06)."""

from types import SimpleNamespace
from typing import Any

import pytest

from openspot.http.context import new_operation
from openspot.http.errors import HttpError
from openspot.kit.bus import Bus, NoAnswerError
from openspot.kit.settings import Settings
from openspot.rest_edge.orders.schemas import OrderBody
from openspot.rest_edge.orders.service import OrderService


class SilentRouter:
    """Stands for the inbox of a connection to the bus: nobody replies. Notes how long each request waits."""

    def __init__(self) -> None:
        self.waits: dict[str, float] = {}

    async def ask(self, subject: str, payload: bytes, timeout_s: float) -> None:
        self.waits[subject] = timeout_s
        raise NoAnswerError(f"no answer to {subject}")


class NoRows:
    """Stands for the order table, empty."""

    async def get(self, order_id: str) -> None:
        return None


@pytest.mark.spec("A8-05", "A8-06")
async def test_an_order_and_a_cancel_wait_five_seconds_for_the_router_by_default() -> None:
    router, settings = SilentRouter(), Settings()
    connection: Any = SimpleNamespace(
        settings=settings, inbox=router, jetstream=None, reconnects=0, on_reconnect=lambda repeat: None
    )
    rows: Any = NoRows()
    service = OrderService(Bus(connection), rows, lambda: 0, settings.request_timeout_s)
    body = OrderBody.model_validate(
        {"symbol": "BTC-USD", "side": "buy", "type": "limit", "quantity": "1", "price": "100"}
    )
    for request in (service.place("u1", body, new_operation()), service.cancel("u1", "order1")):
        with pytest.raises(HttpError) as refusal:
            await request
        assert refusal.value.status_code == 504
    assert router.waits == {"orders.submit": 5.0, "orders.cancel": 5.0}
