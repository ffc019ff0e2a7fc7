"""What the classes tell ccxt about OpenSpot: addresses, abilities, limits, and the meaning of error codes."""

from typing import Any

from ccxt.base.decimal_to_precision import TICK_SIZE
from ccxt.base.errors import (
    AddressPending,
    ArgumentsRequired,
    AuthenticationError,
    BadRequest,
    BadSymbol,
    DuplicateOrderId,
    ExchangeNotAvailable,
    InsufficientFunds,
    InvalidAddress,
    InvalidNonce,
    InvalidOrder,
    ManualInteractionNeeded,
    MarketClosed,
    OrderImmediatelyFillable,
    OrderNotFound,
    PermissionDenied,
    RateLimitExceeded,
    RequestTimeout,
)

PAGE_MAX = 1000
"""The most entries that one request for a list can have."""

_NOT_OFFERED = (
    "CORS", "margin", "swap", "future", "option", "addMargin", "borrowCrossMargin", "borrowIsolatedMargin",
    "closeAllPositions", "closePosition", "createDepositAddress", "createOrders", "createStopOrder",
    "createTriggerOrder", "createPostOnlyOrder", "createReduceOnlyOrder", "createMarketSellOrderWithCost", "editOrder",
    "fetchAccounts", "fetchBidsAsks", "fetchBorrowRateHistory", "fetchDepositAddresses",
    "fetchDepositAddressesByNetwork", "fetchFundingRate", "fetchFundingRates", "fetchIndexOHLCV", "fetchLastPrices",
    "fetchLedger", "fetchLeverage", "fetchMarginModes", "fetchMarkOHLCV", "fetchOpenInterest", "fetchPosition",
    "fetchPositions", "fetchTransactionFees", "fetchTransactions", "fetchTransfers", "reduceMargin", "setLeverage",
    "setMarginMode", "setPositionMode", "signIn", "transfer",
)  # fmt: skip

_OFFERED = (
    "spot", "cancelAllOrders", "cancelOrder", "cancelOrders", "createLimitOrder", "createMarketBuyOrderWithCost",
    "createMarketOrder", "createOrder", "fetchBalance", "fetchCanceledAndClosedOrders", "fetchCanceledOrders",
    "fetchClosedOrders", "fetchCurrencies", "fetchDepositAddress", "fetchDeposits", "fetchMarkets", "fetchMyTrades",
    "fetchOHLCV", "fetchOpenOrders", "fetchOrder", "fetchOrderBook", "fetchOrderTrades", "fetchOrders", "fetchStatus",
    "fetchTicker", "fetchTickers", "fetchTime", "fetchTrades", "fetchTradingFee", "fetchTradingFees",
    "fetchWithdrawals", "withdraw",
)  # fmt: skip

STREAMS_OFFERED = (
    "ws", "watchBalance", "watchMyTrades", "watchOHLCV", "watchOrderBook", "watchOrders", "watchTicker",
    "watchTickers", "watchTrades",
)  # fmt: skip

_ERRORS = {
    "ADDRESS_INVALID": InvalidAddress,
    "ADDRESS_NOT_AVAILABLE": AddressPending,
    "ADDRESS_NOT_FOUND": InvalidAddress,
    "ASSET_NOT_FOUND": BadRequest,
    "AUTH_INVALID_USER": InsufficientFunds,
    "DUPLICATE_ORDER_ID": DuplicateOrderId,
    "ENGINE_BUSY": ExchangeNotAvailable,
    "FORBIDDEN": PermissionDenied,
    "INSUFFICIENT_SCOPE": PermissionDenied,
    "INVALID_CREDENTIAL": AuthenticationError,
    "INVALID_SYMBOL": BadSymbol,
    "INVALID_TOKEN": AuthenticationError,
    "KYC_REQUIRED": PermissionDenied,
    "MALFORMED_REQUEST": BadRequest,
    "MARKET_HALTED": MarketClosed,
    "MARKET_NOT_FOUND": BadSymbol,
    "MAX_NOTIONAL": InvalidOrder,
    "MAX_NUM_ORDERS": InvalidOrder,
    "MAX_ORDER_SIZE": InvalidOrder,
    "MFA_CODE_INVALID": PermissionDenied,
    "MFA_REQUIRED": ManualInteractionNeeded,
    "NETWORK_NOT_FOUND": BadRequest,
    "ORDER_NOT_FOUND": OrderNotFound,
    "ORDER_NOT_OPEN": InvalidOrder,
    "ORDER_REJECTED": InvalidOrder,
    "ORDER_STATUS_UNKNOWN": RequestTimeout,
    "PARTICIPANT_INACTIVE": PermissionDenied,
    "POST_ONLY_WOULD_CROSS": OrderImmediatelyFillable,
    "RATE_LIMITED": RateLimitExceeded,
    "RISK_NSF": InsufficientFunds,
    "SYMBOL_INACTIVE": MarketClosed,
    "UNAUTHENTICATED": AuthenticationError,
    "UNKNOWN_MARKET": BadSymbol,
    "VALIDATION_FAILED": BadRequest,
    "WITHDRAWAL_STATUS_UNKNOWN": RequestTimeout,
    "WITHDRAWAL_TOO_LARGE": BadRequest,
}
"""By `code` of a refusal."""

_ERROR_TEXTS = {
    "X-API-Timestamp is more than": InvalidNonce,
    "the signature was used before": InvalidNonce,
    "insufficient ": InsufficientFunds,
    "Market ": BadSymbol,
    "is required": ArgumentsRequired,
}
"""By a part of `message`, where the code alone does not tell."""


def description() -> dict[str, Any]:
    """The description that REST and WebSocket classes share."""
    listing = {"marginMode": False, "trigger": False, "trailing": False, "symbolRequired": False}
    history = listing | {"limit": PAGE_MAX, "daysBack": None, "untilDays": None}
    return {
        "id": "openspot",
        "name": "OpenSpot",
        "countries": [],
        "version": "v1",
        "certified": False,
        "pro": False,
        # Ten requests a second, but not more than 200 a minute.
        "rateLimit": 300,
        "hostname": "127.0.0.1",
        "precisionMode": TICK_SIZE,
        "has": dict.fromkeys(_NOT_OFFERED, False) | dict.fromkeys(_OFFERED, True),
        "timeframes": {name: name for name in ("1m", "5m", "15m", "30m", "1h", "4h", "1d", "1w")},
        "urls": {
            "api": {
                "public": "http://127.0.0.1:3001",
                "private": "http://127.0.0.1:3001",
                "ws": "ws://127.0.0.1:3002/",
            },
            "www": "http://127.0.0.1:3001",
            "doc": ["http://127.0.0.1:3001/docs"],
        },
        "requiredCredentials": {"apiKey": True, "secret": True},
        "options": {
            "timeDifference": 0,
            "adjustForTimeDifference": False,
            # Whether the platform runs with OPENSPOT_HONOUR_TIME_IN_FORCE.
            "honourTimeInForce": False,
            "networks": {
                "BTC": "bitcoin", "ERC20": "ethereum", "SOL": "solana", "TRC20": "tron", "XLM": "stellar",
            },
            "watchOrderBook": {"checksum": True},
            "tradesLimit": 1000,
            "ordersLimit": 1000,
            "OHLCVLimit": 1000,
            # A connection may send 100 messages a second.
            "ws": {"cost": 0.05},
        },
        "features": {
            "spot": {
                "sandbox": False,
                "createOrder": {
                    "marginMode": False, "triggerPrice": False, "triggerPriceType": None, "triggerDirection": False,
                    "stopLossPrice": False, "takeProfitPrice": False, "attachedStopLossTakeProfit": None,
                    "timeInForce": {"GTC": True, "IOC": False, "FOK": False, "PO": False, "GTD": False},
                    "hedged": False, "leverage": False, "marketBuyByCost": True, "marketBuyRequiresPrice": False,
                    "selfTradePrevention": False, "trailing": False, "iceberg": False,
                },
                "createOrders": None,
                "fetchMyTrades": {
                    "marginMode": False, "limit": PAGE_MAX, "daysBack": None, "untilDays": None,
                    "symbolRequired": False,
                },
                "fetchOrder": listing,
                "fetchOpenOrders": listing | {"limit": PAGE_MAX},
                "fetchOrders": history,
                "fetchClosedOrders": history | {"daysBackCanceled": None},
                "fetchOHLCV": {"limit": PAGE_MAX},
            },
        },
        "exceptions": {"exact": _ERRORS, "broad": _ERROR_TEXTS},
    }  # fmt: skip
