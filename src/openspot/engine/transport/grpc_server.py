"""The engine's gRPC server: all services of package exchange.v1 on one port (fact A9-03)."""

from collections.abc import Awaitable, Callable, Sequence
from typing import Any, Protocol, cast

import grpc
from google.protobuf.message import DecodeError, Message

from openspot.contracts.gen.exchange.v1 import accounts_pb2_grpc, market_data_pb2_grpc, orders_pb2_grpc
from openspot.engine.engine import Engine
from openspot.engine.transport.account_service import AccountService
from openspot.engine.transport.market_data_service import MarketDataService
from openspot.engine.transport.order_service import Context, OrderService
from openspot.http.server import PortTakenError
from openspot.kit.service_credential import KEY, PARTICIPANT_TYPE, SECRET, SYSTEM, ServiceCredential

MESSAGE_BYTES_MAX = 4 * 1024 * 1024
STOP_GRACE_S = 2.0


class _UnregisteredMethods:
    """Adds services to a server as generic handlers only, and keeps malformed messages from their methods.

    grpc.aio has a task for each registered method, and every call waits on all of these tasks. With the engine's
    thirty-odd methods, that took a fifth of the time of a call.
    """

    def __init__(self, server: grpc.aio.Server, credential: ServiceCredential | None = None) -> None:
        """If `credential` is given, only calls that carry it reach the added services."""
        self._server = server
        self._credential = credential

    def add_generic_rpc_handlers(self, handlers: Sequence[grpc.GenericRpcHandler]) -> None:
        """Add the handlers of whole services."""
        self._server.add_generic_rpc_handlers([_Guarded(handler, self._credential) for handler in handlers])

    def add_registered_method_handlers(self, service_name: str, method_handlers: dict[str, Any]) -> None:
        """Do nothing: the generic handlers already serve these methods."""


class _Guarded(grpc.GenericRpcHandler):
    """A service whose methods get only well-formed messages. If it has a credential, callers must send it.

    Calls with other messages end with INVALID_ARGUMENT, those of other callers with UNAUTHENTICATED.
    """

    def __init__(self, service: grpc.GenericRpcHandler, credential: ServiceCredential | None) -> None:
        self._service = service
        self._credential = credential
        self._methods: dict[str, Any] = {}

    def service(self, handler_call_details: Any) -> Any:
        """The handler of a method, or None if the service does not have it."""
        name = handler_call_details.method
        if name not in self._methods:
            method: Any = self._service.service(handler_call_details)
            if method is None:
                return None
            self._methods[name] = grpc.unary_unary_rpc_method_handler(
                _checked(method.unary_unary), _reader(method.request_deserializer), method.response_serializer
            )
        if self._credential is not None and not self._credential.accepts(handler_call_details.invocation_metadata):
            return _REFUSE
        return self._methods[name]


async def _refuse(_: bytes, context: Context) -> Message:
    await context.abort(
        grpc.StatusCode.UNAUTHENTICATED,
        f"a service's {KEY} and {SECRET}, with {PARTICIPANT_TYPE}: {SYSTEM}, are required",
    )


_REFUSE: Any = grpc.unary_unary_rpc_method_handler(_refuse)


class _Unreadable:
    """Takes the place of a malformed request."""


def _reader(deserialize: Callable[[bytes], Message]) -> Callable[[bytes], Message | _Unreadable]:
    def read(data: bytes) -> Message | _Unreadable:
        try:
            return deserialize(data)
        except DecodeError:
            return _Unreadable()

    return read


def _checked(method: Callable[[Any, Any], Awaitable[Message]]) -> Callable[[Any, Any], Awaitable[Message]]:
    async def checked(request: Message | _Unreadable, context: Context) -> Message:
        if isinstance(request, _Unreadable):
            await context.abort(grpc.StatusCode.INVALID_ARGUMENT, "the request is not a valid message of this method")
        return await method(request, context)

    return checked


class GrpcMethods(Protocol):
    """A gRPC service that another folder implements."""

    def add_to(self, server: grpc.aio.Server) -> None:
        """Add the service to `server`."""


class GrpcServer:
    """The services of one engine."""

    def __init__(self, engine: Engine, admin: GrpcMethods) -> None:
        self._address = engine.settings.grpc_listening_address
        self._server = grpc.aio.server(
            options=[
                # With port reuse, two engines on one port would each get some of the orders.
                ("grpc.so_reuseport", 0),
                ("grpc.max_receive_message_length", MESSAGE_BYTES_MAX),
            ]
        )
        settings = engine.settings
        credential = ServiceCredential(settings.engine_api_key, settings.engine_api_secret)
        for_services = cast(grpc.aio.Server, _UnregisteredMethods(self._server, credential))
        orders_pb2_grpc.add_OrderServiceServicer_to_server(OrderService(engine), for_services)  # type: ignore[no-untyped-call]
        accounts_pb2_grpc.add_AccountServiceServicer_to_server(AccountService(engine), for_services)  # type: ignore[no-untyped-call]
        # Market data is public. AdminService checks its own tokens.
        public = cast(grpc.aio.Server, _UnregisteredMethods(self._server))
        market_data_pb2_grpc.add_MarketDataServiceServicer_to_server(MarketDataService(engine), public)  # type: ignore[no-untyped-call]
        admin.add_to(public)

    async def start(self) -> None:
        """Start to listen. Raises PortTakenError if the port is in use."""
        try:
            bound = self._server.add_insecure_port(self._address)
        except RuntimeError as error:
            raise PortTakenError(f"{self._address} is taken") from error
        if not bound:
            raise PortTakenError(f"{self._address} is taken")
        await self._server.start()

    async def stop(self) -> None:
        """Refuse new calls, and give running ones STOP_GRACE_S to finish."""
        await self._server.stop(STOP_GRACE_S)
