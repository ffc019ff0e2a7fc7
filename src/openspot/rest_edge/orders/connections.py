"""Order connections: the order routes over one WebSocket connection (docs/protocol/order-connection.md).

A message names an action. Each action is a REST route, and its request passes the same pipeline (`inner_requests`), so
nothing of orders, limits or credentials is decided here. A connection has at most IN_FLIGHT_MAX requests under way and
queues none beyond them.
"""

import asyncio
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

import msgspec
from starlette.websockets import WebSocket, WebSocketDisconnect

from openspot.contracts.order_actions import IN_FLIGHT_MAX, ORDER_ACTIONS, ORDER_CONNECTION_PATH, OrderAction, Turn
from openspot.http.context import Identity, caller
from openspot.http.errors import HttpError, service_unavailable, validation_error
from openspot.http.inner_requests import InnerReply, InnerRequests
from openspot.http.policy import Access, Policy, Scope
from openspot.http.routing import Router
from openspot.kit.backoff import Backoff, retry
from openspot.kit.database import TRANSIENT_ERRORS
from openspot.kit.log import get_logger
from openspot.rest_edge.orders.cancel_timers import CancelTimers
from openspot.rest_edge.orders.connection_schemas import (
    AUTHENTICATE,
    PING,
    Authenticated,
    MessageError,
    OrderMessage,
    Pong,
    read_message,
)
from openspot.rest_edge.orders.service import OrderService

log = get_logger("order-connections")

CANCEL_ON_DISCONNECT = "cancelOnDisconnect"
CONNECTIONS_PER_USER_MAX = 16
FAULTS_MAX = 50
"""After so many messages that could not be read, or wrong tokens, the connection is closed."""
IDLE_S = 120.0
CUT_ATTEMPTS_MAX = 20
RETRY_PAUSE_S_MIN = 0.1
RETRY_PAUSE_S_MAX = 2.0
"""While neither engine nor database answers, the cancel after a cut is tried again: for about half a minute."""

TOO_MANY_FAULTS, IDLE_TIMEOUT = 1008, 4408

_CONNECT = Policy(Access.USER, Scope.TRADE)
_SHOWN = frozenset({b"retry-after", b"idempotency-hit", b"x-request-id"})
_LIMITS = b"x-ratelimit-"

_encode = msgspec.json.Encoder().encode


def order_connection_routes(prefix: str, orders: OrderService, timers: CancelTimers) -> Router:
    """The route that opens order connections, below `prefix`."""
    router = Router(prefix, tag="orders")
    connections = OrderConnections(prefix, orders, timers)
    router.websocket(ORDER_CONNECTION_PATH, _CONNECT, connections.serve)
    return router


class OrderConnections:
    """Serves the order connections of a process."""

    def __init__(self, prefix: str, orders: OrderService, timers: CancelTimers) -> None:
        self._prefix = prefix
        self._orders = orders
        self._timers = timers
        self._open: Counter[str] = Counter()

    async def serve(self, websocket: WebSocket) -> None:
        """Serve one connection until it ends. Raises HttpError for a handshake that is refused."""
        identity = caller(websocket)
        cancels = _cancels_on_disconnect(websocket, identity)
        with self._place(identity.user_id):
            await websocket.accept()
            connection = _Connection(websocket, self._prefix, identity.user_id)
            try:
                await connection.serve()
            finally:
                # Only then no order of the connection can still be placed after the cancel.
                await connection.settle()
                if cancels:
                    await self._cancel(identity.user_id)

    @contextmanager
    def _place(self, user_id: str) -> Iterator[None]:
        if self._open[user_id] >= CONNECTIONS_PER_USER_MAX:
            message = f"you have {CONNECTIONS_PER_USER_MAX} order connections open already"
            raise service_unavailable(message, "TOO_MANY_CONNECTIONS")
        self._open[user_id] += 1
        try:
            yield
        finally:
            self._open[user_id] -= 1
            if not self._open[user_id]:
                del self._open[user_id]

    async def _cancel(self, user_id: str) -> None:
        """Cancel all orders of the user, now, or by the timer, which every edge carries out until it succeeds."""

        def note(error: Exception) -> None:
            log.warning("orders to be cancelled on disconnect not noted", user_id=user_id, error=repr(error))

        backoff = Backoff(RETRY_PAUSE_S_MIN, RETRY_PAUSE_S_MAX, attempts_max=CUT_ATTEMPTS_MAX)
        try:
            await retry(lambda: self._cancel_or_note(user_id), TRANSIENT_ERRORS, backoff, note)
        except TRANSIENT_ERRORS as error:
            log.error("orders not cancelled on disconnect", user_id=user_id, error=repr(error))

    async def _cancel_or_note(self, user_id: str) -> None:
        """Cancel all orders of the user, or let the timer be due. Raises TRANSIENT_ERRORS if both fail."""
        try:
            cancelled = await self._orders.cancel_all_open(user_id)
        except (HttpError, *TRANSIENT_ERRORS) as error:
            log.warning("orders not cancelled on disconnect at once", user_id=user_id, reason=str(error))
            await self._timers.run_out(user_id)
        else:
            log.info("orders cancelled on disconnect", user_id=user_id, orders=len(cancelled))


def _cancels_on_disconnect(websocket: WebSocket, identity: Identity) -> bool:
    values = websocket.query_params.getlist(CANCEL_ON_DISCONNECT)
    if values not in ([], ["true"], ["false"]):
        raise validation_error([f"{CANCEL_ON_DISCONNECT} must be true or false, given once"])
    if values != ["true"]:
        return False
    if identity.scopes is not None and Scope.CANCEL not in identity.scopes:
        raise HttpError(403, f"the credential lacks the scope {Scope.CANCEL}", "INSUFFICIENT_SCOPE")
    return True


class _Connection:
    """One connection, and its requests under way."""

    def __init__(self, websocket: WebSocket, prefix: str, user_id: str) -> None:
        self._websocket = websocket
        self._prefix = prefix
        self._user_id = user_id
        self._inner = InnerRequests(websocket.scope)
        self._in_flight: dict[asyncio.Task[None], tuple[Turn, str | None]] = {}
        self._faults = 0
        self._has_ended = False

    async def serve(self) -> None:
        """Take messages until the client goes, says nothing for too long, or sends too many that make no sense."""
        while not self._has_ended:
            try:
                async with asyncio.timeout(IDLE_S):
                    message = await self._websocket.receive()
            except TimeoutError:
                await self._end(IDLE_TIMEOUT, f"no message for {IDLE_S:g} s")
                return
            if message["type"] == "websocket.disconnect":
                self._has_ended = True
                return
            await self._take(message)

    async def settle(self) -> None:
        """Wait until no request is under way."""
        self._has_ended = True
        if self._in_flight:
            await asyncio.wait(self._in_flight)

    async def _take(self, received: Any) -> None:
        text = received.get("text")
        try:
            if text is None:
                raise MessageError(None, "MALFORMED_MESSAGE", "messages are text, not binary")
            message = read_message(text)
            if message.action == AUTHENTICATE:
                await self._authenticate(message)
                return
        except MessageError as error:
            await self._send(_encode(error.reply))
            self._faults += 1
            if self._faults >= FAULTS_MAX:
                await self._end(TOO_MANY_FAULTS, f"{FAULTS_MAX} messages could not be carried out")
            return
        if message.action == PING:
            await self._send(_encode(Pong(message.id)))
        elif len(self._in_flight) >= IN_FLIGHT_MAX:
            reason = f"a connection has at most {IN_FLIGHT_MAX} requests under way: wait for a reply"
            await self._send(_encode(MessageError(message.id, "TOO_MANY_IN_FLIGHT", reason).reply))
        else:
            self._begin(message, ORDER_ACTIONS[message.action])

    async def _authenticate(self, message: OrderMessage) -> None:
        if message.token is None:
            raise MessageError(message.id, "MALFORMED_MESSAGE", f"token is required for {AUTHENTICATE}")
        try:
            identity = await self._inner.renew(message.token, self._user_id)
        except HttpError as error:
            raise MessageError(message.id, "INVALID_TOKEN", str(error.message)) from error
        await self._send(_encode(Authenticated(message.id, int(identity.expires_at))))

    def _begin(self, message: OrderMessage, action: OrderAction) -> None:
        parameter = message.parameter(action.parameter) if action.parameter else None
        earlier = [
            task for task, (turn, named) in self._in_flight.items()
            if Turn.ALONE in (turn, action.turn) or (action.turn is turn is Turn.ORDER and named == parameter)
        ]  # fmt: skip
        path = self._prefix + action.path
        if parameter is not None:
            path = path.replace(f"{{{action.parameter}}}", parameter)
        task = asyncio.create_task(self._work(message, action.method, path, earlier))
        self._in_flight[task] = (action.turn, parameter)
        task.add_done_callback(self._in_flight.pop)

    async def _work(self, message: OrderMessage, method: str, path: str, earlier: list[asyncio.Task[None]]) -> None:
        if earlier:
            await asyncio.wait(earlier)
        reply = await self._inner.ask(method, path, bytes(message.body), message.idempotency_key)
        await self._send(reply_frame(message.id, reply))

    async def _send(self, frame: bytes) -> None:
        if not self._has_ended:
            # The client may be gone: its requests end without it, and it finds their outcome by their keys.
            with suppress(WebSocketDisconnect):
                await self._websocket.send_text(frame.decode())

    async def _end(self, code: int, reason: str) -> None:
        self._has_ended = True
        with suppress(WebSocketDisconnect):
            await self._websocket.close(code, reason)


def reply_frame(message_id: str | int, reply: InnerReply) -> bytes:
    """The message that answers a request."""
    headers = {
        name.decode("latin-1"): value.decode("latin-1")
        for name, value in reply.headers
        if name in _SHOWN or name.startswith(_LIMITS)
    }
    head = b'{"type":"reply","id":%b,"status":%d,"headers":%b' % (_encode(message_id), reply.status, _encode(headers))
    return head + b',"body":%b}' % (reply.body or b"null")
