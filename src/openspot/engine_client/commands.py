"""Sends orders and transfers to the engine over gRPC (facts B4.4-18 to B4.4-26). Never retries a call: see `errors`."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from decimal import Decimal
from typing import Any, NamedTuple, TypeVar

import grpc

from openspot.contracts.gen.exchange.v1 import (
    accounts_pb2,
    accounts_pb2_grpc,
    market_data_pb2,
    market_data_pb2_grpc,
    orders_pb2,
    orders_pb2_grpc,
)
from openspot.domain.money import decimal_to_text
from openspot.domain.result_code import ResultCode
from openspot.domain.transfer import Movement, TransferKind
from openspot.engine_client.errors import EngineAmbiguousError, EngineRefusedError, EngineUnreachableError
from openspot.engine_client.settings import EngineConnectionSettings

CONNECT_TIMEOUT_S = 1.0
_MESSAGE_BYTES_MAX = 16 * 1024 * 1024
_DECIDED_CODES = frozenset(
    {
        grpc.StatusCode.INVALID_ARGUMENT,
        grpc.StatusCode.UNAUTHENTICATED,
        grpc.StatusCode.PERMISSION_DENIED,
        grpc.StatusCode.UNIMPLEMENTED,
        grpc.StatusCode.FAILED_PRECONDITION,
        grpc.StatusCode.RESOURCE_EXHAUSTED,
    }
)

Answer = TypeVar("Answer")


class TransferOutcome(NamedTuple):
    """The engine's decision on a transfer.

    `message` says which field was refused and why; it is empty after success. `sequence` is that of the transfer's last
    event, 0 if the call changed nothing.
    """

    code: ResultCode
    message: str
    sequence: int

    @property
    def is_done(self) -> bool:
        """Whether the movements have happened, by this call or an earlier one with the same reference."""
        return self.code is ResultCode.SUCCESS

    @property
    def may_be_repeated(self) -> bool:
        """Whether the engine refused only because it was busy: the same transfer may succeed later."""
        return self.code is ResultCode.ENGINE_BUSY


class EngineCommands:
    """A gRPC connection to one engine. Create it inside a running loop and end it with `close`."""

    def __init__(self, settings: EngineConnectionSettings) -> None:
        # Each is a part of the bus request timeout, so that a caller on the bus still gets a response after a failure.
        self._place_timeout_s = settings.request_timeout_s * 0.4
        self._query_timeout_s = settings.request_timeout_s * 0.4
        self._metadata = tuple(settings.service_headers.items())
        self._channel = grpc.aio.insecure_channel(
            settings.engine_grpc_address,
            options=[
                ("grpc.enable_retries", 0),
                ("grpc.initial_reconnect_backoff_ms", 100),
                ("grpc.min_reconnect_backoff_ms", 100),
                ("grpc.max_reconnect_backoff_ms", 1000),
                ("grpc.max_receive_message_length", _MESSAGE_BYTES_MAX),
            ],
        )
        self._orders: Any = orders_pb2_grpc.OrderServiceStub(self._channel)  # type: ignore[no-untyped-call]
        self._market_data: Any = market_data_pb2_grpc.MarketDataServiceStub(self._channel)  # type: ignore[no-untyped-call]
        self._accounts: Any = accounts_pb2_grpc.AccountServiceStub(self._channel)  # type: ignore[no-untyped-call]

    async def close(self) -> None:
        """End the connection."""
        await self._channel.close()

    async def place_orders(self, orders: Sequence[orders_pb2.PlaceOrderRequest]) -> list[orders_pb2.PlaceOrderResponse]:
        """Place orders in the given sequence, and return their responses in that sequence. Raises EngineError."""
        response: orders_pb2.PlaceOrdersResponse = await self._call(
            self._orders.PlaceOrders, orders_pb2.PlaceOrdersRequest(orders=orders), self._place_timeout_s
        )
        if len(response.orders) != len(orders):
            raise EngineAmbiguousError(f"{len(response.orders)} answers to {len(orders)} orders")
        return list(response.orders)

    async def cancel_order(self, engine_order_id: int, user_id: str, symbol: str) -> orders_pb2.CancelOrderResponse:
        """Cancel an open order of a user. Raises EngineError."""
        request = orders_pb2.CancelOrderRequest(order_id=engine_order_id, participant_id=user_id, symbol=symbol)
        response: orders_pb2.CancelOrderResponse = await self._call(
            self._orders.CancelOrder, request, self._place_timeout_s
        )
        return response

    async def get_order(self, order_id: str) -> orders_pb2.GetOrderResponse:
        """Return what the engine knows about the order with this external id. Raises EngineError."""
        response: orders_pb2.GetOrderResponse = await self._call(
            self._orders.GetOrder, orders_pb2.GetOrderRequest(external_id=order_id), self._query_timeout_s
        )
        return response

    async def whole_book(self, symbol: str) -> market_data_pb2.GetOrderBookResponse:
        """Every level of a symbol's book, best first, and the newest event that it includes. Raises EngineError."""
        response: market_data_pb2.GetOrderBookResponse = await self._call(
            self._market_data.GetOrderBook, market_data_pb2.GetOrderBookRequest(symbol=symbol), self._query_timeout_s
        )
        return response

    async def available_balance(self, user_id: str, asset: str, timeout_s: float) -> Decimal:
        """What a new order of a user can spend: available − reserved. Zero without a balance. Raises EngineError."""
        response: accounts_pb2.GetBalancesResponse = await self._call(
            self._accounts.GetBalances, accounts_pb2.GetBalancesRequest(participant_id=user_id), timeout_s
        )
        for balance in response.balances:
            if balance.currency == asset:
                return Decimal(balance.available) - Decimal(balance.reserved or "0")
        return Decimal(0)

    async def deposit(self, user_id: str, asset: str, amount: str, reference: str) -> str:
        """Credit an account, only once for each reference, and return the result code. Raises EngineError."""
        request = accounts_pb2.DepositRequest(
            participant_id=user_id, currency=asset, amount=amount, reference=reference
        )
        return await self._account_call(self._accounts.Deposit, request)

    async def reserve_withdrawal(self, user_id: str, asset: str, amount: str, reference: str) -> str:
        """Hold funds, only once for each reference, and return the result code. Raises EngineError."""
        request = accounts_pb2.ReserveWithdrawalRequest(
            participant_id=user_id, currency=asset, amount=amount, reference=reference
        )
        return await self._account_call(self._accounts.ReserveWithdrawal, request)

    async def release_withdrawal(self, reference: str) -> str:
        """Release held funds and return the result code. Raises EngineError."""
        request = accounts_pb2.ReleaseWithdrawalRequest(reference=reference)
        return await self._account_call(self._accounts.ReleaseWithdrawal, request)

    async def complete_withdrawal(self, user_id: str, asset: str, amount: str, reference: str) -> str:
        """Debit held funds if user, asset and amount match them, and return the result code. Raises EngineError."""
        request = accounts_pb2.CompleteWithdrawalRequest(
            participant_id=user_id, currency=asset, amount=amount, reference=reference
        )
        return await self._account_call(self._accounts.CompleteWithdrawal, request)

    async def transfer(self, reference: str, movements: Sequence[Movement], kind: TransferKind) -> TransferOutcome:
        """Carry out `movements` in their order, all or none, and only once for the reference.

        After an unknown outcome, repeat the call with the same reference, kind and movements until it is known.

        Raises EngineUnreachableError or EngineRefusedError if this call moved nothing, EngineAmbiguousError if that is
        unknown.
        """
        request = accounts_pb2.TransferRequest(
            reference=reference,
            kind=kind.value,
            movements=[
                accounts_pb2.Movement(
                    from_participant_id=movement.source,
                    to_participant_id=movement.destination,
                    currency=movement.asset,
                    amount=decimal_to_text(movement.amount),
                )
                for movement in movements
            ],
        )
        response = await self._call(self._accounts.Transfer, request, self._query_timeout_s)
        try:
            code = ResultCode[response.result_code]
        except KeyError:
            raise EngineAmbiguousError(f"the engine returned an unknown result code {response.result_code!r}") from None
        return TransferOutcome(code, response.message, response.sequence)

    async def _account_call(self, method: Callable[..., Awaitable[Any]], request: Any) -> str:
        response = await self._call(method, request, self._query_timeout_s)
        return str(response.result_code)

    async def _call(self, method: Callable[..., Awaitable[Answer]], request: Any, timeout_s: float) -> Answer:
        if self._channel.get_state(try_to_connect=True) is not grpc.ChannelConnectivity.READY:
            try:
                async with asyncio.timeout(min(CONNECT_TIMEOUT_S, timeout_s)):
                    await self._channel.channel_ready()
            except TimeoutError:
                raise EngineUnreachableError("the matching engine is not reachable") from None
        try:
            return await method(request, timeout=timeout_s, metadata=self._metadata)
        except grpc.aio.AioRpcError as error:
            details = error.details() or ""
            if error.code() in _DECIDED_CODES:
                raise EngineRefusedError(f"{error.code().name}: {details}") from error
            if error.code() is grpc.StatusCode.UNAVAILABLE and details.startswith("failed to connect"):
                raise EngineUnreachableError("the matching engine is not reachable") from error
            raise EngineAmbiguousError(f"{error.code().name}: {details}") from error
