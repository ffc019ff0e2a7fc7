"""The calls about margin trading."""

from collections.abc import Mapping
from typing import Any

from openspot.client.calls import Calls, Number, exact, given
from openspot.client.gen.records import MarginAccount, MarginResult


class MarginCalls(Calls):
    """The margin account with its collateral, positions and loans.

    If you give a request a `request_id` of its own (1 to 64 letters, digits, `_` or `-`), the client repeats it after a
    lost reply, and the platform does it once. Without one the client does not repeat it. After ApiError 504
    MARGIN_STATUS_UNKNOWN, call again with `details["requestId"]`.
    """

    async def margin_account(self) -> MarginAccount | None:
        """The margin account, or None if the user has none."""
        return await self._call("GET", "/margin/account", MarginAccount | None)  # type: ignore[arg-type]

    async def close_margin_account(self, *, idempotency_key: str | None = None) -> MarginResult:
        """Close the margin account. Raises ApiError 409 if it has funds, positions or loans, 404 if there is none."""
        return await self._call("POST", "/margin/account/close", MarginResult, idempotency_key=idempotency_key)

    async def move_collateral(
        self, asset: str, amount: Number, direction: str, *, request_id: str | None = None
    ) -> MarginResult:
        """Move funds `in` from the spot account, or `out` to it. The first move in opens the margin account.

        Raises ApiError 400 if the paying account does not cover the amount, 409 if it secures a debt.
        """
        body = {"asset": asset, "amount": exact(amount, "amount"), "direction": direction}
        return await self._margin_request("/margin/transfers", body, request_id)

    async def open_margin_position(
        self, symbol: str, side: str, quantity: Number, leverage: Number, *, request_id: str | None = None
    ) -> MarginResult:
        """Open a position: borrow the missing amount and trade at the market.

        Raises ApiError 409 if the account does not allow it or the lending pool is empty (POOL_EMPTY), 503 without a
        current mark price.
        """
        body = {
            "symbol": symbol,
            "side": side,
            "quantity": exact(quantity, "quantity"),
            "leverage": exact(leverage, "leverage"),
        }
        return await self._margin_request("/margin/positions", body, request_id)

    async def close_margin_position(
        self, position_id: str, *, quantity: Number | None = None, request_id: str | None = None
    ) -> MarginResult:
        """Close a position by the opposite trade, and repay its loan; with `quantity`, that part of it.

        Raises ApiError 404 for an unknown position, 400 for a part that no order can have.
        """
        body = {"positionId": position_id, "quantity": exact(quantity, "quantity")}
        return await self._margin_request("/margin/positions/close", body, request_id)

    async def reduce_margin_positions(
        self, symbol: str, side: str, *, quantity: Number | None = None, request_id: str | None = None
    ) -> MarginResult:
        """Trade positions of a market back, the oldest first: `sell` closes longs, `buy` shorts. It opens nothing.

        Raises ApiError 409 if there is none, 400 for a part that no order can have.
        """
        body = {"symbol": symbol, "side": side, "quantity": exact(quantity, "quantity")}
        return await self._margin_request("/margin/positions/reduce", body, request_id)

    async def borrow(self, asset: str, amount: Number, *, request_id: str | None = None) -> MarginResult:
        """Borrow from the lending pool.

        Raises ApiError 409 if the account does not allow it or the lending pool is empty (POOL_EMPTY).
        """
        body = {"asset": asset, "amount": exact(amount, "amount")}
        return await self._margin_request("/margin/loans", body, request_id)

    async def repay_loan(
        self, loan_id: str, *, amount: Number | None = None, request_id: str | None = None
    ) -> MarginResult:
        """Repay a loan, interest first; without `amount`, all that is owed."""
        body = {"loanId": loan_id, "amount": exact(amount, "amount")}
        return await self._margin_request("/margin/loans/repay", body, request_id)

    async def _margin_request(self, path: str, body: Mapping[str, Any], request_id: str | None) -> MarginResult:
        # An idempotency key alone is not enough: after an unknown outcome the platform gives each attempt a new id.
        fields = given({**body, "requestId": request_id})
        return await self._call("POST", path, MarginResult, body=fields, idempotency_key=request_id)
