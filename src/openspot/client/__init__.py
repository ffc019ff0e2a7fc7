"""A typed asynchronous client of OpenSpot: REST and WebSocket.

    async with OpenSpotClient() as client:
        await client.login("me@example.org", "password")
        order = await client.place_order("BTC-USD", "buy", quantity="0.1", price="25000")
        async with client.stream("trades:BTC-USD") as stream:
            async for event in stream:
                ...

`client.books("BTC-USD")` keeps local order books. `openspot.client.sync` has the same for scripts without asyncio.
docs/guides/client.md has examples.

If the user has MFA, `login` raises MfaRequiredError; pass its challenge and a code to `login_mfa`. A program signs with
an API key instead: `OpenSpotClient(api_key=HmacKey(key_id, secret))`, or `Ed25519Key(key_id, pem)`.

Decimals are `Decimal`, never floats. A refusal by the platform raises ApiError. A request
without a readable reply raises UnreachableError. Both are OpenSpotError.
"""

from openspot.client.books import (
    BookFeed,
    FollowedBook,
    LocalBook,
)
from openspot.client.client import (
    OpenSpotClient,
)
from openspot.client.errors import (
    ApiError,
    MfaRequiredError,
    OpenSpotError,
    StreamClosedError,
    StreamError,
    UnreachableError,
)
from openspot.client.events import (
    ChannelFault,
    Event,
    Notice,
    Push,
    Reconnected,
)
from openspot.client.funds_records import (
    BankDetails,
    Beneficiary,
    Conversion,
    ConversionPair,
    ConversionQuote,
    DepositAddress,
    FeeTier,
    Holding,
    NetworkFee,
    NetworkFeeQuote,
    OrderEstimate,
    Payment,
    PaymentFee,
    PaymentRoute,
    PaymentSession,
    PortfolioPoint,
    Stake,
    StakingEvent,
    StakingProduct,
    TokenHolderFees,
    TradingFees,
    Unstake,
    WithdrawalAddress,
)
from openspot.client.gen.records import (
    Balance,
    BatchEntry,
    BatchRefusal,
    BulkCancel,
    CancelFailure,
    Candle,
    Deposit,
    MarginAccount,
    MarginBalance,
    MarginLoan,
    MarginPosition,
    MarginResult,
    Market,
    MarketTrade,
    Order,
    OrderBook,
    OwnTrade,
    Ticker,
    Transaction,
    Withdrawal,
)
from openspot.client.order_calls import (
    order_fields,
)
from openspot.client.records import Level, MfaChallenge, Page, Session, User
from openspot.client.signing import (
    Ed25519Key,
    HmacKey,
)
from openspot.client.stream import (
    ReconnectPolicy,
    Stream,
)
from openspot.client.transport import (
    RetryPolicy,
)
from openspot.client.user_records import (
    Activity,
    ApiKey,
    ApiKeySecret,
    CheckIn,
    Country,
    KycSession,
    KycStatus,
    LoginSession,
    MfaSecret,
    MfaStatus,
    NotificationSetting,
    Profile,
    Province,
    SignInProviders,
    SystemSettings,
    ThrottleTier,
    ToldNotification,
)

__all__ = [
    "Activity",
    "ApiError",
    "ApiKey",
    "ApiKeySecret",
    "Balance",
    "BankDetails",
    "BatchEntry",
    "BatchRefusal",
    "Beneficiary",
    "BookFeed",
    "BulkCancel",
    "CancelFailure",
    "Candle",
    "ChannelFault",
    "CheckIn",
    "Conversion",
    "ConversionPair",
    "ConversionQuote",
    "Country",
    "Deposit",
    "DepositAddress",
    "Ed25519Key",
    "Event",
    "FeeTier",
    "FollowedBook",
    "HmacKey",
    "Holding",
    "KycSession",
    "KycStatus",
    "Level",
    "LocalBook",
    "LoginSession",
    "MarginAccount",
    "MarginBalance",
    "MarginLoan",
    "MarginPosition",
    "MarginResult",
    "Market",
    "MarketTrade",
    "MfaChallenge",
    "MfaRequiredError",
    "MfaSecret",
    "MfaStatus",
    "NetworkFee",
    "NetworkFeeQuote",
    "Notice",
    "NotificationSetting",
    "OpenSpotClient",
    "OpenSpotError",
    "Order",
    "OrderBook",
    "OrderEstimate",
    "OwnTrade",
    "Page",
    "Payment",
    "PaymentFee",
    "PaymentRoute",
    "PaymentSession",
    "PortfolioPoint",
    "Profile",
    "Province",
    "Push",
    "ReconnectPolicy",
    "Reconnected",
    "RetryPolicy",
    "Session",
    "SignInProviders",
    "Stake",
    "StakingEvent",
    "StakingProduct",
    "Stream",
    "StreamClosedError",
    "StreamError",
    "SystemSettings",
    "ThrottleTier",
    "Ticker",
    "TokenHolderFees",
    "ToldNotification",
    "TradingFees",
    "Transaction",
    "UnreachableError",
    "Unstake",
    "User",
    "Withdrawal",
    "WithdrawalAddress",
    "order_fields",
]
