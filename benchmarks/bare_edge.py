"""The bare edge: the least that the stack of the REST edge can do for an order, to compare the edge with.

FastAPI, a token check, a validated body, one request over the bus to an echo, an answer. No throttle, no audit
record, no request id, no error shape. `make_bare_edge` makes the application, `run` serves it as a service does,
`run_echo` is the provider behind it; as a program: `python -m benchmarks.bare_edge edge|echo`.
"""

import asyncio
import sys
from decimal import Decimal
from enum import Enum
from typing import Annotated

import jwt
import msgspec
from fastapi import Depends, FastAPI, Header, HTTPException
from pydantic import BaseModel, ConfigDict
from starlette.responses import Response

from openspot.contracts.messages import OrderRecord, OrderRequest, SubmitOrder, SubmitOrderReply
from openspot.http.server import http_server
from openspot.kit.bus import Bus, NotSentError
from openspot.kit.service import run_service
from openspot.up.services import PlatformSettings

ECHO_SUBJECT = "benchmark.orders.echo"
PATH = "/api/v1/orders"


class Side(Enum):
    """Side of an order."""

    BUY = "buy"
    SELL = "sell"


class Order(BaseModel):
    """The body: the fields of the real one that a limit order uses."""

    model_config = ConfigDict(extra="forbid")

    symbol: str
    side: Side
    type: str
    quantity: Decimal
    price: Decimal
    timeInForce: str = "gtc"  # noqa: N815
    clientOrderId: str | None = None  # noqa: N815


def make_bare_edge(settings: PlatformSettings) -> FastAPI:
    """The application, for the tokens of `settings.jwt_secret`. It connects to the bus at its first request."""
    secret = settings.jwt_secret
    app = FastAPI(openapi_url=None)
    connecting = asyncio.Lock()
    connections: list[Bus] = []

    async def bus() -> Bus:
        if not connections:
            async with connecting:
                if not connections:
                    connections.append(await Bus.connect(settings, "bare-edge"))
        return connections[0]

    async def caller(authorization: Annotated[str, Header()]) -> str:
        try:
            claims = jwt.decode(authorization.removeprefix("Bearer "), secret, algorithms=["HS256"])
        except jwt.PyJWTError as error:
            raise HTTPException(401) from error
        return str(claims["sub"])

    @app.post(PATH, status_code=201)
    async def place(order: Order, user_id: Annotated[str, Depends(caller)]) -> Response:
        request = SubmitOrder(
            user_id,
            OrderRequest(
                "benchmark",
                order.symbol,
                order.side.value,
                order.type,
                str(order.quantity),
                str(order.price),
                time_in_force=order.timeInForce,
                client_order_id=order.clientOrderId,
            ),
        )
        try:
            reply = await (await bus()).request(ECHO_SUBJECT, request, SubmitOrderReply)
        except NotSentError as error:  # The echo may start later than the edge.
            raise HTTPException(503) from error
        return Response(msgspec.json.encode(reply.order), 201, media_type="application/json")

    return app


async def run(settings: PlatformSettings, stop: asyncio.Event) -> None:
    """Serve the bare edge on `settings.rest_port`, with the same server as the real one."""
    server = http_server(make_bare_edge(settings), settings, settings.rest_port)
    await server.start()
    await stop.wait()
    await server.stop()


async def answer_as_echo(request: SubmitOrder) -> SubmitOrderReply:
    """Take the order at once, as a router would that had nothing else to do."""
    order = request.order
    quantity = order.quantity or "0"
    moment = "2026-01-01T00:00:00.000Z"
    record = OrderRecord(
        order.order_id, order.client_order_id, request.user_id, order.symbol, order.side, order.type,
        order.time_in_force, None, order.price, quantity, "0", quantity, None, "0", "USD", "open", None, moment, moment,
    )  # fmt: skip
    return SubmitOrderReply(True, record)


async def run_echo(settings: PlatformSettings, stop: asyncio.Event, *subjects: str) -> None:
    """Provide the echo on `subjects`, by default on the bare edge's own."""
    bus = await Bus.connect(settings, "echo")
    for subject in subjects or (ECHO_SUBJECT,):
        await bus.serve(subject, "echo", SubmitOrder, answer_as_echo, SubmitOrderReply.refused)
    await stop.wait()
    await bus.close()


if __name__ == "__main__":
    sys.exit(run_service("bare-edge", {"edge": run, "echo": run_echo}[sys.argv[1]], PlatformSettings()))
