"""The engine's gRPC services once more, over frames: what a service's call costs decides what an order costs.

The platform's own services call the engine so (`engine_client.commands`); gRPC is for everybody else (ADR 0044).
"""

from collections.abc import Awaitable, Callable
from typing import Any, NoReturn, cast

import grpc
from google.protobuf.message import DecodeError, Message

from openspot.contracts.gen.exchange.v1 import accounts_pb2, market_data_pb2, orders_pb2
from openspot.engine.engine import Engine
from openspot.engine.transport.account_service import AccountService
from openspot.engine.transport.market_data_service import MarketDataService
from openspot.engine.transport.order_service import Context, OrderService
from openspot.http.server import listen
from openspot.kit.frames import FrameRefusedError, FrameServer
from openspot.kit.service_credential import ServiceCredential

STOP_GRACE_S = 2.0


class _FrameContext:
    """What the methods of the services use of a gRPC call."""

    async def abort(self, code: grpc.StatusCode, details: str) -> NoReturn:
        """End the call. Raises FrameRefusedError with gRPC's number of the code."""
        raise FrameRefusedError(code.value[0], details)


_CONTEXT = cast(Context, _FrameContext())


class FrameMethods:
    """The methods of the order, account and market data services by their names."""

    def __init__(self, engine: Engine) -> None:
        self._methods: dict[str, tuple[Callable[[bytes], Message], Callable[[Any, Context], Awaitable[Message]]]] = {}
        for file, name, service in (
            (orders_pb2, "OrderService", OrderService(engine)),
            (accounts_pb2, "AccountService", AccountService(engine)),
            (market_data_pb2, "MarketDataService", MarketDataService(engine)),
        ):
            for method in file.DESCRIPTOR.services_by_name[name].methods:
                read = getattr(file, method.input_type.name).FromString
                self._methods[method.name] = read, getattr(service, method.name)

    async def answer(self, name: str, message: bytes) -> bytes:
        """The reply of a method to a message. Raises FrameRefusedError."""
        try:
            read, method = self._methods[name]
        except KeyError:
            raise FrameRefusedError(grpc.StatusCode.UNIMPLEMENTED.value[0], f"no method {name[:100]!r}") from None
        try:
            request = read(message)
        except DecodeError:
            reason = "the request is not a valid message of this method"
            raise FrameRefusedError(grpc.StatusCode.INVALID_ARGUMENT.value[0], reason) from None
        return (await method(request, _CONTEXT)).SerializeToString()


class EngineFrames:
    """Serves the methods to the platform's own services."""

    def __init__(self, engine: Engine) -> None:
        settings = engine.settings
        self._host, self._port = settings.engine_host or settings.host, settings.engine_frames_port
        credential = ServiceCredential(settings.engine_api_key, settings.engine_api_secret)
        self._server = FrameServer(FrameMethods(engine).answer, credential)

    async def start(self) -> None:
        """Begin to listen. Raises PortTakenError if the port is in use."""
        await self._server.start(listen(self._host, self._port))

    async def stop(self) -> None:
        """Refuse new calls, and give running ones STOP_GRACE_S to finish."""
        await self._server.stop(STOP_GRACE_S)
