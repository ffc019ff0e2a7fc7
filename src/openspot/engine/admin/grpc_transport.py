"""exchange.v1.AdminService over gRPC."""

from collections.abc import Awaitable, Callable
from types import SimpleNamespace
from typing import Any
from urllib.parse import unquote

import grpc
from google.protobuf.message import Message

from openspot.contracts.gen.exchange.v1 import admin_pb2_grpc
from openspot.engine.admin.dispatch import METHODS, Dispatch
from openspot.engine.admin.errors import AdminError
from openspot.engine.transport.order_service import Context
from openspot.engine_client.operator_headers import REASON_HEADER


def add_admin_service(dispatch: Dispatch, server: grpc.aio.Server) -> None:
    """Add the service to a gRPC server."""
    servicer = SimpleNamespace(**{name: _method(dispatch, name) for name in METHODS})
    admin_pb2_grpc.add_AdminServiceServicer_to_server(servicer, server)  # type: ignore[no-untyped-call]


def _method(dispatch: Dispatch, name: str) -> Callable[[Message, Context], Awaitable[Message]]:
    async def method(request: Message, context: Context) -> Message:
        try:
            authorization, reason = _metadata(context, "authorization"), _metadata(context, REASON_HEADER.lower())
            return await dispatch.call(name, request, authorization, peer_address(context.peer()), reason)
        except AdminError as error:
            await context.abort(error.status, str(error))

    return method


def _metadata(context: Context, name: str) -> str:
    metadata: Any = context.invocation_metadata() or ()
    for key, value in metadata:
        if key == name:
            return value if isinstance(value, str) else ""
    return ""


def peer_address(peer: str) -> str:
    """The IP address of a gRPC peer: "ipv4:10.0.0.1:5000" → "10.0.0.1", "ipv6:%5B::1%5D:5000" → "::1"."""
    kind, _, rest = unquote(peer).partition(":")
    return rest.rpartition(":")[0].strip("[]") if kind in ("ipv4", "ipv6") else peer
