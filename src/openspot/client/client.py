"""The client: all calls of the REST edge, live events and local books."""

from openspot.client.account_calls import AccountCalls
from openspot.client.alert_calls import AlertCalls
from openspot.client.books import BookFeed
from openspot.client.calls import DEFAULT_RETRY
from openspot.client.drawing_calls import DrawingCalls
from openspot.client.errors import ApiError
from openspot.client.funds_calls import FundsCalls
from openspot.client.layout_calls import LayoutCalls
from openspot.client.margin_calls import MarginCalls
from openspot.client.market_calls import MarketCalls
from openspot.client.order_calls import OrderCalls
from openspot.client.order_connection import OrderConnection
from openspot.client.push_calls import PushCalls
from openspot.client.signing import RequestSigner
from openspot.client.stream import OwnState, ReconnectPolicy, Stream
from openspot.client.transport import RetryPolicy
from openspot.client.user_calls import UserCalls
from openspot.client.watchlist_calls import WatchlistCalls

NOT_FOUND = 404
_RECONNECT = ReconnectPolicy()


class OpenSpotClient(
    MarketCalls,
    OrderCalls,
    AccountCalls,
    FundsCalls,
    MarginCalls,
    AlertCalls,
    WatchlistCalls,
    DrawingCalls,
    LayoutCalls,
    PushCalls,
    UserCalls,
):
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
        super().__init__(base_url, timeout_s, retry, api_key)
        self._ws_url = ws_url

    def stream(self, *channels: str, reconnect: bool | ReconnectPolicy = False) -> Stream:
        """Live events of `channels`, and of the user's orders and balances if there is a session or an API key.

        With `reconnect`, a closed stream is opened again and yields a Reconnected. Without it, or if that fails, the
        stream raises StreamClosedError. A session's token is renewed before it expires.
        """
        return Stream(
            self._transport,
            self._ws_url,
            self._fresh_token,
            channels,
            reconnect=_policy_of(reconnect),
            signer=self._api_key,
            own_state=self._own_state,
        )

    def order_connection(self, *, cancel_on_disconnect: bool = False) -> OrderConnection:
        """One connection for placing, amending and cancelling orders, with the session or the API key of this client.

        Its requests may be under way side by side, and each costs less than a request of REST. With
        `cancel_on_disconnect` the platform cancels all open orders of the user when the connection ends, for whatever
        reason. Only platforms with the complete rules have order connections.
        """
        return OrderConnection(
            self._transport, self._fresh_token, self._api_key, cancel_on_disconnect=cancel_on_disconnect
        )

    def books(self, *symbols: str, depth: int | None = None, reconnect: bool | ReconnectPolicy = True) -> BookFeed:
        """Local order books of markets, kept by a connection of their own that needs no user.

        `depth` is 1, 5, 10, 20, 25, 50, 100, 200, 500 or 1000 levels a side. Without it, the book has all levels.
        """
        query = f"?depth={depth}" if depth is not None else ""
        books = [(symbol, f"orderbook:{symbol}{query}") for symbol in symbols]
        channels = [channel for _, channel in books]
        policy = _policy_of(reconnect)
        return BookFeed(Stream(self._transport, self._ws_url, _nobody, channels, reconnect=policy), books)

    async def _fresh_token(self, refused: str | None) -> str | None:
        if self._tokens is not None and self._tokens.access_token == refused:
            await self._renew(self._tokens)
        return self._tokens.access_token if self._tokens is not None else None

    async def _own_state(self, order_ids: frozenset[str]) -> OwnState | None:
        if self._tokens is None and self._api_key is None:
            return None
        orders = await self.open_orders()
        for order_id in order_ids - {order.order_id for order in orders}:
            try:
                orders.append(await self.order(order_id))
            except ApiError as error:
                # An order that was rejected at once may have no row.
                if error.status != NOT_FOUND:
                    raise
        return OwnState(orders, await self.balances())


async def _nobody(_: str | None) -> str | None:
    """The token source of a stream without a user."""
    return None


def _policy_of(reconnect: bool | ReconnectPolicy) -> ReconnectPolicy | None:
    if isinstance(reconnect, ReconnectPolicy):
        return reconnect
    return _RECONNECT if reconnect else None
