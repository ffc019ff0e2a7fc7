"""The REST side of the client."""

import asyncio
from decimal import Decimal
from types import TracebackType
from typing import Any, Self, TypeVar
from urllib.parse import quote

import msgspec

from openspot.client.errors import ApiError, MfaRequiredError, UnreachableError
from openspot.client.records import (
    Balance,
    BulkCancel,
    Market,
    MarketTrade,
    MfaChallenge,
    Order,
    OrderBook,
    Page,
    Session,
    Ticker,
    Transaction,
    User,
)
from openspot.client.signing import RequestSigner
from openspot.client.stream import Stream
from openspot.client.transport import Answer, RetryPolicy, Transport

Result = TypeVar("Result")
Number = Decimal | int | str
"""An exact number. A float is refused, because it may not be the number that was written."""

PREFIX = "/api/v1"
NEXT_CURSOR = "X-Next-Cursor"
DEFAULT_RETRY = RetryPolicy()


class _LoginStep(msgspec.Struct, rename="camel"):
    mfa_required: bool = False


class OpenSpotClient:
    """One user's view of the platform. Use it with `async with`, or call `close` at the end.

    Every call can raise ApiError and UnreachableError. If the access token has expired, the client renews it once with
    the refresh token and repeats the request. With `api_key` every request is signed, and there is no session:
    `login`, `login_mfa` and `resume` raise RuntimeError.
    """

    def __init__(
        self,
        base_url: str = "http://127.0.0.1:3001",
        ws_url: str = "ws://127.0.0.1:3002",
        *,
        timeout_s: float = 15.0,
        retry: RetryPolicy = DEFAULT_RETRY,
        api_key: RequestSigner | None = None,
    ) -> None:
        self._transport = Transport(base_url.rstrip("/") + PREFIX, timeout_s, retry, api_key)
        self._api_key = api_key
        self._ws_url = ws_url
        self._tokens: Session | None = None
        self._renewing = asyncio.Lock()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def close(self) -> None:
        """Close every connection."""
        await self._transport.close()

    # Sessions

    async def register(self, email: str, password: str) -> User:
        """Create a user, without logging in. The response does not tell whether the address was taken."""
        return await self._call("POST", "/auth/register", User, body={"email": email, "password": password})

    async def login(self, email: str, password: str) -> Session:
        """Begin a session, which later calls use.

        Raises ApiError 401 for a wrong password, and MfaRequiredError if the user has MFA: go on with `login_mfa`.
        """
        self._require_no_key()
        self._tokens = None
        answer = await self._send("POST", "/auth/login", None, {"email": email, "password": password})
        if _decode(answer, _LoginStep).mfa_required:
            raise MfaRequiredError(_decode(answer, MfaChallenge))
        self._tokens = _decode(answer, Session)
        return self._tokens

    async def login_mfa(self, challenge: MfaChallenge, code: str) -> Session:
        """Begin the session of a challenge with a TOTP or recovery code.

        Raises ApiError: 400 MFA_CODE_INVALID for a wrong code, 401 if the challenge has expired or is used up.
        """
        self._require_no_key()
        self._tokens = None
        body = {"challengeToken": challenge.challenge_token, "code": code}
        self._tokens = await self._call("POST", "/auth/login/mfa", Session, body=body)
        return self._tokens

    def resume(self, session: Session) -> None:
        """Use the tokens of an earlier login."""
        self._require_no_key()
        self._tokens = session

    def _require_no_key(self) -> None:
        if self._api_key is not None:
            raise RuntimeError("a client with an API key has no session")

    async def logout(self) -> None:
        """End the session, which makes its tokens invalid. Does nothing without a session."""
        if self._tokens is not None:
            await self._send("POST", "/auth/logout", None, None)
            self._tokens = None

    async def _renew(self, expired: Session) -> Session:
        async with self._renewing:
            # Another call may have renewed it meanwhile. A refresh token works only once.
            if self._tokens is not None and self._tokens is not expired:
                return self._tokens
            body = {"refreshToken": expired.refresh_token}
            answer = await self._transport.send("POST", "/auth/refresh", body=body)
            self._tokens = _decode(answer, Session)
            return self._tokens

    # Orders

    async def place_order(
        self,
        symbol: str,
        side: str,
        *,
        order_type: str = "limit",
        quantity: Number | None = None,
        price: Number | None = None,
        quote_quantity: Number | None = None,
        time_in_force: str | None = None,
        max_slippage_bps: Number | None = None,
        client_order_id: str | None = None,
        margin_mode: str | None = None,
    ) -> Order:
        """Place an order. Raises ApiError 400 with the reason if it is rejected.

        After ApiError 504 ORDER_STATUS_UNKNOWN, call `order` with `details["orderId"]`. The client never repeats an
        order that may have been placed.
        """
        body = {
            "symbol": symbol,
            "side": side,
            "type": order_type,
            "quantity": _text(quantity, "quantity"),
            "price": _text(price, "price"),
            "quoteQuantity": _text(quote_quantity, "quote_quantity"),
            "timeInForce": time_in_force,
            "maxSlippageBps": _text(max_slippage_bps, "max_slippage_bps"),
            "clientOrderId": client_order_id,
            "marginMode": margin_mode,
        }
        return await self._call("POST", "/orders", Order, body=_given(body))

    async def order(self, order_id: str) -> Order:
        """One order. Raises ApiError 404 if this user has no such order."""
        return await self._call("GET", f"/orders/{_segment(order_id)}", Order)

    async def orders(
        self,
        *,
        status: str | None = None,
        symbol: str | None = None,
        side: str | None = None,
        client_order_id: str | None = None,
        limit: int = 100,
        cursor: str | None = None,
    ) -> Page[Order]:
        """The user's orders that match every condition, newest first."""
        query = {"status": status, "symbol": symbol, "side": side, "clientOrderId": client_order_id}
        return await self._page("/orders", Order, query | {"limit": limit, "cursor": cursor})

    async def order_history(self, *, limit: int = 100, cursor: str | None = None) -> Page[Order]:
        """The user's orders that have ended, newest first."""
        return await self._page("/orders/history", Order, {"limit": limit, "cursor": cursor})

    async def cancel_order(self, order_id: str) -> Order:
        """Cancel an order and return it. Raises ApiError 404 if it is unknown, 409 if it has ended already."""
        return await self._call("DELETE", f"/orders/{_segment(order_id)}", Order)

    async def cancel_orders(
        self, *, symbol: str | None = None, side: str | None = None, order_ids: list[str] | None = None
    ) -> BulkCancel:
        """Cancel the user's open orders that match every condition; without conditions, all of them."""
        body = _given({"symbol": symbol, "side": side, "orderIds": order_ids})
        return await self._call("DELETE", "/orders", BulkCancel, body=body or None)

    # Accounts

    async def balances(self) -> list[Balance]:
        """The user's balances."""
        return await self._call("GET", "/accounts/balances", list[Balance])

    async def balance(self, asset: str) -> Balance:
        """The user's balance of one asset."""
        return await self._call("GET", f"/accounts/balances/{_segment(asset)}", Balance)

    async def transactions(
        self, *, asset: str | None = None, limit: int = 100, cursor: str | None = None
    ) -> Page[Transaction]:
        """The user's ledger entries, newest first, of one asset or of all."""
        query = {"asset": asset, "limit": limit, "cursor": cursor}
        return await self._page("/accounts/transactions", Transaction, query)

    # Markets

    async def markets(self) -> list[Market]:
        """All markets."""
        return await self._call("GET", "/markets", list[Market])

    async def market(self, symbol: str) -> Market:
        """One market. Raises ApiError 404 if there is none."""
        return await self._call("GET", f"/markets/{_segment(symbol)}", Market)

    async def order_book(self, symbol: str, *, depth: int | None = None) -> OrderBook:
        """The book of a market, at most `depth` levels a side."""
        return await self._call("GET", f"/markets/{_segment(symbol)}/orderbook", OrderBook, query={"depth": depth})

    async def trades(self, symbol: str, *, limit: int = 100, cursor: str | None = None) -> Page[MarketTrade]:
        """Public trades of a market, newest first."""
        return await self._page(f"/markets/{_segment(symbol)}/trades", MarketTrade, {"limit": limit, "cursor": cursor})

    async def ticker(self, symbol: str) -> Ticker:
        """The last 24 hours of a market."""
        return await self._call("GET", f"/markets/{_segment(symbol)}/ticker", Ticker)

    async def tickers(self) -> list[Ticker]:
        """The last 24 hours of every market."""
        return await self._call("GET", "/markets/tickers", list[Ticker])

    # Live events

    def stream(self, *channels: str, reconnect: bool = False) -> Stream:
        """Live events of `channels`, and of the user's orders and balances if there is a session or an API key.

        With `reconnect`, a closed stream is opened again and yields a Reconnected. Without it, or if that fails, the
        stream raises StreamClosedError.
        """
        return Stream(
            self._transport, self._ws_url, self._fresh_token, channels, reconnect=reconnect, signer=self._api_key
        )

    async def _fresh_token(self, renew: bool) -> str | None:
        if renew and self._tokens is not None:
            await self._renew(self._tokens)
        return self._tokens.access_token if self._tokens is not None else None

    # How calls are made

    async def _call(
        self,
        method: str,
        path: str,
        result: type[Result],
        *,
        query: dict[str, Any] | None = None,
        body: dict[str, Any] | None = None,
    ) -> Result:
        return _decode(await self._send(method, path, query, body), result)

    async def _page(self, path: str, entry: type[Result], query: dict[str, Any]) -> Page[Result]:
        answer = await self._send("GET", path, query, None)
        entries: list[Result] = _decode(answer, list[entry])  # type: ignore[valid-type]
        return Page(entries, answer.headers.get(NEXT_CURSOR))

    async def _send(self, method: str, path: str, query: dict[str, Any] | None, body: dict[str, Any] | None) -> Answer:
        tokens = self._tokens
        given = _given(query) if query else None
        try:
            token = tokens.access_token if tokens is not None else None
            return await self._transport.send(method, path, token=token, query=given, body=body)
        except ApiError as error:
            if error.status != 401 or tokens is None:
                raise
            # A 401 comes before the platform does anything, so any request may be repeated.
            try:
                renewed = await self._renew(tokens)
            except ApiError:
                raise error from None
        return await self._transport.send(method, path, token=renewed.access_token, query=given, body=body)


def _decode(answer: Answer, result: type[Result]) -> Result:
    try:
        return msgspec.json.decode(answer.body, type=result)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise UnreachableError(f"the answer is not readable: {error}") from error


def _given(fields: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in fields.items() if value is not None}


def _text(value: Number | None, name: str) -> str | None:
    if value is None:
        return None
    if isinstance(value, bool | float) or not isinstance(value, Decimal | int | str):
        raise TypeError(f"{name} must be a Decimal, an int or a text, not {type(value).__name__}")
    return format(value, "f") if isinstance(value, Decimal) else str(value)


def _segment(text: str) -> str:
    return quote(text, safe="")
