"""The engine as the router calls it: gRPC for orders and money, HTTP for symbols.

No call is ever repeated here. What failed says how: EngineUnreachableError, nothing was sent;
EngineRefusedError, the engine turned the call down; EngineAmbiguousError, it was sent and may have happened.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from decimal import Decimal
from typing import Any, TypeVar

import aiohttp
import grpc
import msgspec

from openspot.contracts.gen.exchange.v1 import accounts_pb2, accounts_pb2_grpc, orders_pb2, orders_pb2_grpc
from openspot.domain.money import MoneyError, parse_decimal, to_scaled
from openspot.domain.symbol import SymbolSpec
from openspot.engine_client.settings import EngineConnectionSettings

CONNECT_TIMEOUT_S = 1.0
HTTP_TIMEOUT_S = 2.0
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


class EngineError(Exception):
    """The engine did not do what it was asked for, or did not say so."""


class EngineUnreachableError(EngineError):
    """No connection: nothing was sent."""


class EngineRefusedError(EngineError):
    """The engine turned the call down as a whole; nothing happened."""


class EngineAmbiguousError(EngineError):
    """The call was sent and not answered: it may or may not have happened."""


class _MarketView(msgspec.Struct, rename="camel", frozen=True):
    """An entry of `GET /api/v1/markets`."""

    symbol: str
    symbol_id: int
    base_currency: str
    quote_currency: str
    base_scale_k: int
    quote_scale_k: int
    tick_size: str
    lot_size: str
    taker_fee: int
    maker_fee: int
    active: bool = True


class EngineClient:
    """Connections to one engine. Made inside a running loop, ended with `close`."""

    def __init__(self, settings: EngineConnectionSettings) -> None:
        self._url = settings.engine_url
        # A part of the bus request timeout each, so that the caller on the bus still hears of a failure.
        self._place_timeout_s = settings.request_timeout_s * 0.4
        self._query_timeout_s = settings.request_timeout_s * 0.4
        self._headers = settings.service_headers
        self._metadata = tuple(self._headers.items())
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
        self._accounts: Any = accounts_pb2_grpc.AccountServiceStub(self._channel)  # type: ignore[no-untyped-call]
        self._session = aiohttp.ClientSession(
            headers=self._headers, timeout=aiohttp.ClientTimeout(total=HTTP_TIMEOUT_S)
        )

    async def close(self) -> None:
        """End all connections."""
        await self._session.close()
        await self._channel.close()

    @property
    def session(self) -> aiohttp.ClientSession:
        """The HTTP session, which carries the service headers."""
        return self._session

    async def check(self) -> None:
        """Raise EngineError unless the engine says that it is healthy."""
        try:
            async with self._session.get(f"{self._url}/health") as response:
                if response.status != 200:
                    raise EngineRefusedError(f"the engine answers {response.status} to /health")
        except (aiohttp.ClientError, TimeoutError, OSError) as error:
            raise EngineUnreachableError(f"no engine at {self._url}: {error!r}") from error

    async def load_symbols(self) -> dict[str, SymbolSpec]:
        """All symbols by name (Document A 2.5). Raises EngineError if they cannot be read."""
        try:
            async with self._session.get(f"{self._url}/api/v1/markets") as response:
                body = await response.read()
                if response.status != 200:
                    raise EngineRefusedError(f"the engine answers {response.status} to /api/v1/markets")
        except (aiohttp.ClientError, TimeoutError, OSError) as error:
            raise EngineUnreachableError(f"no engine at {self._url}: {error!r}") from error
        try:
            return {view.symbol: _spec_of(view) for view in msgspec.json.decode(body, type=list[_MarketView])}
        except (msgspec.MsgspecError, MoneyError) as error:
            raise EngineRefusedError(f"unreadable list of symbols: {error}") from error

    async def place_orders(self, orders: Sequence[orders_pb2.PlaceOrderRequest]) -> list[orders_pb2.PlaceOrderResponse]:
        """Place orders in this sequence; answers are in the same. Raises EngineError."""
        response: orders_pb2.PlaceOrdersResponse = await self._call(
            self._orders.PlaceOrders, orders_pb2.PlaceOrdersRequest(orders=orders), self._place_timeout_s
        )
        if len(response.orders) != len(orders):
            raise EngineAmbiguousError(f"{len(response.orders)} answers to {len(orders)} orders")
        return list(response.orders)

    async def cancel_order(self, engine_order_id: int, user_id: str, symbol: str) -> orders_pb2.CancelOrderResponse:
        """Cancel an open order of that user. Raises EngineError."""
        request = orders_pb2.CancelOrderRequest(order_id=engine_order_id, participant_id=user_id, symbol=symbol)
        answer: orders_pb2.CancelOrderResponse = await self._call(
            self._orders.CancelOrder, request, self._place_timeout_s
        )
        return answer

    async def get_order(self, order_id: str) -> orders_pb2.GetOrderResponse:
        """What the engine knows of the order with that external id. Raises EngineError."""
        answer: orders_pb2.GetOrderResponse = await self._call(
            self._orders.GetOrder, orders_pb2.GetOrderRequest(external_id=order_id), self._query_timeout_s
        )
        return answer

    async def free_balance(self, user_id: str, asset: str, timeout_s: float) -> Decimal:
        """What a new order of that user can spend: available less what is held beyond locked. Raises EngineError."""
        answer: accounts_pb2.GetBalancesResponse = await self._call(
            self._accounts.GetBalances, accounts_pb2.GetBalancesRequest(participant_id=user_id), timeout_s
        )
        for balance in answer.balances:
            if balance.currency == asset:
                return Decimal(balance.available) - Decimal(balance.reserved or "0")
        return Decimal(0)

    async def deposit(self, user_id: str, asset: str, amount: str, reference: str) -> str:
        """Credit an account once per reference; answers the result code. Raises EngineError."""
        request = accounts_pb2.DepositRequest(
            participant_id=user_id, currency=asset, amount=amount, reference=reference
        )
        return await self._account_call(self._accounts.Deposit, request)

    async def reserve_withdrawal(self, user_id: str, asset: str, amount: str, reference: str) -> str:
        """Hold funds once per reference; answers the result code. Raises EngineError."""
        request = accounts_pb2.ReserveWithdrawalRequest(
            participant_id=user_id, currency=asset, amount=amount, reference=reference
        )
        return await self._account_call(self._accounts.ReserveWithdrawal, request)

    async def release_withdrawal(self, reference: str) -> str:
        """Set held funds free; answers the result code. Raises EngineError."""
        request = accounts_pb2.ReleaseWithdrawalRequest(reference=reference)
        return await self._account_call(self._accounts.ReleaseWithdrawal, request)

    async def complete_withdrawal(self, user_id: str, asset: str, amount: str, reference: str) -> str:
        """Take held funds out of the account, if they are these; answers the result code. Raises EngineError."""
        request = accounts_pb2.CompleteWithdrawalRequest(
            participant_id=user_id, currency=asset, amount=amount, reference=reference
        )
        return await self._account_call(self._accounts.CompleteWithdrawal, request)

    async def _account_call(self, method: Callable[..., Awaitable[Any]], request: Any) -> str:
        answer = await self._call(method, request, self._query_timeout_s)
        return str(answer.result_code)

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


def _spec_of(view: _MarketView) -> SymbolSpec:
    return SymbolSpec(
        symbol=view.symbol,
        symbol_id=view.symbol_id,
        base=view.base_currency,
        quote=view.quote_currency,
        base_scale_k=view.base_scale_k,
        quote_scale_k=view.quote_scale_k,
        tick=to_scaled(parse_decimal(view.tick_size), view.quote_scale_k),
        lot=to_scaled(parse_decimal(view.lot_size), view.base_scale_k),
        taker_fee_bps=view.taker_fee,
        maker_fee_bps=view.maker_fee,
        active=view.active,
    )
