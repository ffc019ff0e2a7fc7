"""A typed asynchronous client of OpenSpot: REST and WebSocket.

    async with OpenSpotClient() as client:
        await client.login("me@example.org", "password")
        order = await client.place_order("BTC-USD", "buy", quantity="0.1", price="25000")
        async with client.stream("trades:BTC-USD") as stream:
            async for event in stream:
                ...

With MFA `login` raises MfaRequiredError; `login_mfa` takes its challenge and a code. A program signs with an API key
instead: `OpenSpotClient(api_key=HmacKey(key_id, secret))`, or `Ed25519Key(key_id, pem)`.

Decimals are `Decimal`, never floats. A refusal by the platform raises ApiError. A request
without a readable reply raises UnreachableError. Both are OpenSpotError.
"""

from openspot.client.errors import (
    ApiError,
    MfaRequiredError,
    OpenSpotError,
    StreamClosedError,
    StreamError,
    UnreachableError,
)
from openspot.client.records import (
    Balance,
    BulkCancel,
    CancelFailure,
    Level,
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
from openspot.client.rest import OpenSpotClient
from openspot.client.signing import Ed25519Key, HmacKey
from openspot.client.stream import Push, Reconnected, Stream
from openspot.client.transport import RetryPolicy

__all__ = [
    "ApiError",
    "Balance",
    "BulkCancel",
    "CancelFailure",
    "Ed25519Key",
    "HmacKey",
    "Level",
    "Market",
    "MarketTrade",
    "MfaChallenge",
    "MfaRequiredError",
    "OpenSpotClient",
    "OpenSpotError",
    "Order",
    "OrderBook",
    "Page",
    "Push",
    "Reconnected",
    "RetryPolicy",
    "Session",
    "Stream",
    "StreamClosedError",
    "StreamError",
    "Ticker",
    "Transaction",
    "UnreachableError",
    "User",
]
