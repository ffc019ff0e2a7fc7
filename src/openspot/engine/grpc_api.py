"""The engine's gRPC server: the services of package exchange.v1 on one port (Document B 4.4)."""

from typing import Any, cast

import grpc

from openspot.contracts.gen.exchange.v1 import accounts_pb2_grpc, market_data_pb2_grpc, orders_pb2_grpc
from openspot.engine.admin.service import AdminService
from openspot.engine.engine import Engine
from openspot.engine.grpc_accounts import AccountService
from openspot.engine.grpc_market_data import MarketDataService
from openspot.engine.grpc_orders import OrderService
from openspot.http.server import PortTakenError

MESSAGE_BYTES_MAX = 4 * 1024 * 1024
STOP_GRACE_S = 2.0


class _UnregisteredMethods:
    """Gives a server its services by name only.

    For every method that is registered as well, grpc.aio keeps a task, and each call waits anew on all of these
    tasks: with the engine's thirty-odd methods that cost a fifth of a call.
    """

    def __init__(self, server: grpc.aio.Server) -> None:
        self.add_generic_rpc_handlers = server.add_generic_rpc_handlers

    def add_registered_method_handlers(self, service_name: str, method_handlers: dict[str, Any]) -> None:
        """Leave them out: the generic handlers already know them."""


class GrpcServer:
    """The services of one engine."""

    def __init__(self, engine: Engine, admin: AdminService) -> None:
        self._address = engine.settings.engine_grpc_address
        self._server = grpc.aio.server(
            options=[
                # Two engines on one port would share the orders between them.
                ("grpc.so_reuseport", 0),
                ("grpc.max_receive_message_length", MESSAGE_BYTES_MAX),
            ]
        )
        registry = cast(grpc.aio.Server, _UnregisteredMethods(self._server))
        orders_pb2_grpc.add_OrderServiceServicer_to_server(OrderService(engine), registry)  # type: ignore[no-untyped-call]
        accounts_pb2_grpc.add_AccountServiceServicer_to_server(AccountService(engine), registry)  # type: ignore[no-untyped-call]
        market_data_pb2_grpc.add_MarketDataServiceServicer_to_server(MarketDataService(engine), registry)  # type: ignore[no-untyped-call]
        admin.add_to(registry)

    async def start(self) -> None:
        """Listen. Raises PortTakenError if the port is in use."""
        try:
            bound = self._server.add_insecure_port(self._address)
        except RuntimeError as error:
            raise PortTakenError(f"{self._address} is taken") from error
        if not bound:
            raise PortTakenError(f"{self._address} is taken")
        await self._server.start()

    async def stop(self) -> None:
        """Take no more calls, finish those under way within the grace time."""
        await self._server.stop(STOP_GRACE_S)
