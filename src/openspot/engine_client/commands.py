"""Sends orders and transfers to the engine (facts B4.4-18 to B4.4-26). Never retries a call: see `errors`.

The messages are those of the gRPC services, in frames (ADR 0044).
"""

from collections.abc import Sequence
from decimal import Decimal
from typing import NamedTuple, TypeVar

import grpc
from google.protobuf.message import DecodeError, Message

from openspot.contracts.gen.exchange.v1 import accounts_pb2, market_data_pb2, orders_pb2
from openspot.domain.money import decimal_to_text
from openspot.domain.result_code import ResultCode
from openspot.domain.transfer import Movement, TransferKind
from openspot.engine_client.errors import EngineAmbiguousError, EngineRefusedError, EngineUnreachableError
from openspot.engine_client.settings import EngineConnectionSettings
from openspot.kit.frames import FrameClient, FrameRefusedError, NoReplyError, NotConnectedError

CONNECT_TIMEOUT_S = 1.0
_CODES = {code.value[0]: code for code in grpc.StatusCode}
_DECIDED_CODES = frozenset(
    {
        grpc.StatusCode.INVALID_ARGUMENT,
        grpc.StatusCode.UNAUTHENTICATED,
        grpc.StatusCode.PERMISSION_DENIED,
        grpc.StatusCode.UNIMPLEMENTED,
        grpc.StatusCode.RESOURCE_EXHAUSTED,
    }
)

_SIDES = {"": orders_pb2.SIDE_UNSPECIFIED, "buy": orders_pb2.BUY, "sell": orders_pb2.SELL}

Answer = TypeVar("Answer", bound=Message)


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
    """A connection to one engine. Create it inside a running loop and end it with `close`."""

    def __init__(self, settings: EngineConnectionSettings) -> None:
        """Raises ValueError if the setting of the engine's address is none."""
        # Each is a part of the bus request timeout, so that a caller on the bus still gets a response after a failure.
        self._place_timeout_s = settings.request_timeout_s * 0.4
        self._query_timeout_s = settings.read_timeout_s
        host, port = settings.engine_frames_address
        self._frames = FrameClient(host, port, settings.service_headers)

    async def close(self) -> None:
        """End the connection."""
        await self._frames.close()

    async def place_orders(self, orders: Sequence[orders_pb2.PlaceOrderRequest]) -> list[orders_pb2.PlaceOrderResponse]:
        """Place orders in the given sequence, and return their responses in that sequence. Raises EngineError."""
        request = orders_pb2.PlaceOrdersRequest(orders=orders)
        response = await self._call("PlaceOrders", request, orders_pb2.PlaceOrdersResponse, self._place_timeout_s)
        if len(response.orders) != len(orders):
            raise EngineAmbiguousError(f"{len(response.orders)} answers to {len(orders)} orders")
        return list(response.orders)

    async def place_order_list(self, request: orders_pb2.PlaceOrderListRequest) -> orders_pb2.PlaceOrderListResponse:
        """Place orders that depend on each other, all or none. Raises EngineError."""
        return await self._call("PlaceOrderList", request, orders_pb2.PlaceOrderListResponse, self._place_timeout_s)

    async def cancel_order_list(self, list_number: int, user_id: str) -> orders_pb2.CancelOrderListResponse:
        """Cancel all that is open or planned of a user's list. Raises EngineError."""
        request = orders_pb2.CancelOrderListRequest(list_id=list_number, participant_id=user_id)
        return await self._call("CancelOrderList", request, orders_pb2.CancelOrderListResponse, self._place_timeout_s)

    async def cancel_order(self, engine_order_id: int, user_id: str, symbol: str) -> orders_pb2.CancelOrderResponse:
        """Cancel an open order of a user. Raises EngineError."""
        request = orders_pb2.CancelOrderRequest(order_id=engine_order_id, participant_id=user_id, symbol=symbol)
        return await self._call("CancelOrder", request, orders_pb2.CancelOrderResponse, self._place_timeout_s)

    async def replace_order(
        self, engine_order_id: int, order: orders_pb2.PlaceOrderRequest, *, allow_failure: bool
    ) -> orders_pb2.ReplaceOrderResponse:
        """Cancel an open order and place `order` of the same user and symbol, with nothing between.

        With `allow_failure` it is placed even if nothing was cancelled. Raises EngineError.
        """
        request = orders_pb2.ReplaceOrderRequest(order_id=engine_order_id, order=order, allow_failure=allow_failure)
        return await self._call("ReplaceOrder", request, orders_pb2.ReplaceOrderResponse, self._place_timeout_s)

    async def amend_orders(self, orders: Sequence[orders_pb2.AmendOrderRequest]) -> list[orders_pb2.AmendOrderResponse]:
        """Amend orders in the given sequence, and return their responses in that sequence. Raises EngineError."""
        request = orders_pb2.AmendOrdersRequest(orders=orders)
        response = await self._call("AmendOrders", request, orders_pb2.AmendOrdersResponse, self._place_timeout_s)
        if len(response.orders) != len(orders):
            raise EngineAmbiguousError(f"{len(response.orders)} answers to {len(orders)} amendments")
        return list(response.orders)

    async def set_mark_price(self, symbol: str, price: int, gap_ms: int | None = None, symbol_id: int = 0) -> str:
        """Tell a symbol's mark price, in the engine's units. Returns why the engine refused it, else an empty text.

        With `symbol_id` it is refused if another symbol has the name by now. `gap_ms` is for how long no price counted
        before, None if that is not known. Raises EngineError.
        """
        request = orders_pb2.SetMarkPriceRequest(symbol=symbol, price=price, gap_ms=gap_ms, symbol_id=symbol_id)
        response = await self._call("SetMarkPrice", request, orders_pb2.SetMarkPriceResponse, self._query_timeout_s)
        return response.result_code if response.status == orders_pb2.REJECTED else ""

    async def cancel_orders(
        self, user_id: str, symbol: str, side: str, order_ids: Sequence[str] = ()
    ) -> orders_pb2.CancelOrdersResponse:
        """Cancel a user's open orders, as many as one call takes. An empty symbol or side means any.

        With `order_ids`, only those of them. Raises EngineError.
        """
        request = orders_pb2.CancelOrdersRequest(
            participant_id=user_id, symbol=symbol, side=_SIDES[side], external_ids=order_ids
        )
        return await self._call("CancelOrders", request, orders_pb2.CancelOrdersResponse, self._place_timeout_s)

    async def get_order(self, order_id: str) -> orders_pb2.GetOrderResponse:
        """Return what the engine knows about the order with this order id. Raises EngineError."""
        request = orders_pb2.GetOrderRequest(external_id=order_id)
        return await self._call("GetOrder", request, orders_pb2.GetOrderResponse, self._query_timeout_s)

    async def whole_book(self, symbol: str) -> market_data_pb2.GetOrderBookResponse:
        """Every level of a symbol's book, best first, and the newest event that it includes. Raises EngineError."""
        request = market_data_pb2.GetOrderBookRequest(symbol=symbol)
        return await self._call("GetOrderBook", request, market_data_pb2.GetOrderBookResponse, self._query_timeout_s)

    async def available_balance(self, user_id: str, asset: str, timeout_s: float) -> Decimal:
        """What a new order of a user can spend: available − reserved. Zero without a balance. Raises EngineError."""
        request = accounts_pb2.GetBalancesRequest(participant_id=user_id)
        response = await self._call("GetBalances", request, accounts_pb2.GetBalancesResponse, timeout_s)
        for balance in response.balances:
            if balance.currency == asset:
                return Decimal(balance.available) - Decimal(balance.reserved or "0")
        return Decimal(0)

    async def deposit(self, user_id: str, asset: str, amount: str, reference: str) -> str:
        """Credit an account, only once for each reference, and return the result code. Raises EngineError."""
        request = accounts_pb2.DepositRequest(
            participant_id=user_id, currency=asset, amount=amount, reference=reference
        )
        response = await self._call("Deposit", request, accounts_pb2.DepositResponse, self._query_timeout_s)
        return response.result_code

    async def reserve_withdrawal(self, user_id: str, asset: str, amount: str, reference: str) -> str:
        """Hold funds, only once for each reference, and return the result code. Raises EngineError."""
        request = accounts_pb2.ReserveWithdrawalRequest(
            participant_id=user_id, currency=asset, amount=amount, reference=reference
        )
        response = await self._call(
            "ReserveWithdrawal", request, accounts_pb2.ReserveWithdrawalResponse, self._query_timeout_s
        )
        return response.result_code

    async def release_withdrawal(self, reference: str) -> str:
        """Release held funds and return the result code. Raises EngineError."""
        request = accounts_pb2.ReleaseWithdrawalRequest(reference=reference)
        response = await self._call(
            "ReleaseWithdrawal", request, accounts_pb2.ReleaseWithdrawalResponse, self._query_timeout_s
        )
        return response.result_code

    async def complete_withdrawal(self, user_id: str, asset: str, amount: str, reference: str) -> str:
        """Debit held funds if user, asset and amount match them, and return the result code. Raises EngineError."""
        request = accounts_pb2.CompleteWithdrawalRequest(
            participant_id=user_id, currency=asset, amount=amount, reference=reference
        )
        response = await self._call(
            "CompleteWithdrawal", request, accounts_pb2.CompleteWithdrawalResponse, self._query_timeout_s
        )
        return response.result_code

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
        response = await self._call("Transfer", request, accounts_pb2.TransferResponse, self._query_timeout_s)
        try:
            code = ResultCode[response.result_code]
        except KeyError:
            raise EngineAmbiguousError(f"the engine returned an unknown result code {response.result_code!r}") from None
        return TransferOutcome(code, response.message, response.sequence)

    async def set_owners(self, links: Sequence[tuple[str, str]]) -> int:
        """Let `links`, pairs of users that are all that count, say who is one owner. A repeated call changes nothing.

        Returns how many accounts have another owner now. If very many change, the next call goes on. Raises
        EngineError, an EngineRefusedError if a link is refused or the engine is busy.
        """
        request = accounts_pb2.SetOwnersRequest(
            links=[
                accounts_pb2.OwnerLink(first_participant_id=one, second_participant_id=other) for one, other in links
            ]
        )
        response = await self._call("SetOwners", request, accounts_pb2.SetOwnersResponse, self._query_timeout_s)
        if not response.success:
            raise EngineRefusedError(f"{response.result_code}: {response.message}")
        return response.changed

    async def _call(self, name: str, request: Message, answer: type[Answer], timeout_s: float) -> Answer:
        try:
            reply = await self._frames.request(
                name, request.SerializeToString(), timeout_s, min(CONNECT_TIMEOUT_S, timeout_s)
            )
            return answer.FromString(reply)
        except NotConnectedError:
            raise EngineUnreachableError("the matching engine is not reachable") from None
        except FrameRefusedError as error:
            code = _CODES.get(error.status, grpc.StatusCode.UNKNOWN)
            if code is grpc.StatusCode.FAILED_PRECONDITION:
                # The engine has no space for commands: this one may be sent again.
                raise EngineUnreachableError(str(error)) from error
            kind = EngineRefusedError if code in _DECIDED_CODES else EngineAmbiguousError
            raise kind(f"{code.name}: {error}") from error
        except NoReplyError as error:
            raise EngineAmbiguousError(str(error)) from error
        except DecodeError as error:
            raise EngineAmbiguousError(f"the engine's reply to {name} cannot be read") from error
