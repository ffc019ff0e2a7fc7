"""What the classes tell ccxt about OpenSpot: addresses, abilities, limits, and the meaning of error codes."""

from typing import Any

from ccxt.base.decimal_to_precision import TICK_SIZE
from ccxt.base.errors import (
    AccountNotEnabled,
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
    OperationRejected,
    OrderImmediatelyFillable,
    OrderNotFound,
    PermissionDenied,
    RateLimitExceeded,
    RequestTimeout,
)

PAGE_MAX = 1000
"""The most entries that one request for a list can have."""
BATCH_MAX = 20
"""The most orders that one request can place."""

_NOT_OFFERED = (
    "CORS", "margin", "swap", "future", "option", "addMargin", "borrowIsolatedMargin",
    "closeAllPositions", "closePosition", "createDepositAddress",
    "createReduceOnlyOrder", "fetchAccounts",
    "fetchBorrowRateHistory", "fetchCrossBorrowRate", "fetchCrossBorrowRates", "fetchDepositAddresses",
    "fetchDepositAddressesByNetwork", "fetchFundingRate", "fetchFundingRates", "fetchIndexOHLCV",
    "fetchIsolatedBorrowRate", "fetchIsolatedBorrowRates", "fetchLastPrices", "fetchLedgerEntry", "fetchLeverage",
    "fetchMarginModes", "fetchMarkOHLCV", "fetchOpenInterest", "fetchPosition", "fetchPositions",
    "fetchTransactionFee", "fetchTransactionFees", "fetchTransactions", "fetchTransfers", "reduceMargin",
    "repayIsolatedMargin", "setLeverage", "setMarginMode", "setPositionMode", "signIn",
)  # fmt: skip

OFFERED = (
    "spot", "borrowCrossMargin", "cancelAllOrders", "cancelOrder",
    "cancelOrderWithClientOrderId", "cancelOrders", "cancelOrdersWithClientOrderId", "createConvertTrade",
    "createLimitOrder", "createMarketBuyOrderWithCost", "createMarketOrder", "createOrder", "createOrders",
    "fetchBalance", "fetchBidsAsks", "fetchBorrowInterest", "fetchCanceledAndClosedOrders",
    "fetchCanceledOrders", "fetchClosedOrders", "fetchConvertCurrencies", "fetchConvertQuote", "fetchConvertTrade",
    "fetchConvertTradeHistory", "fetchCurrencies", "fetchDepositAddress", "fetchDepositWithdrawFee",
    "fetchDepositWithdrawFees", "fetchDeposits", "fetchLedger", "fetchMarkets", "fetchMyTrades", "fetchOHLCV",
    "fetchOpenOrders", "fetchOrder", "fetchOrderBook", "fetchOrderTrades", "fetchOrderWithClientOrderId",
    "fetchOrders", "fetchStatus", "fetchTicker", "fetchTickers", "fetchTime", "fetchTrades", "fetchTradingFee",
    "fetchTradingFees", "fetchWithdrawal", "fetchWithdrawals", "repayCrossMargin", "transfer", "withdraw",
)  # fmt: skip

OFFERED_BY_COMPLETE_RULES = (
    "cancelAllOrdersAfter", "createMarketOrderWithCost", "createMarketSellOrderWithCost",
    "createOrderWithTakeProfitAndStopLoss", "createPostOnlyOrder",
    "createStopLimitOrder", "createStopLossOrder", "createStopMarketOrder", "createStopOrder",
    "createTakeProfitOrder", "createTrailingAmountOrder", "createTrailingPercentOrder", "createTriggerOrder",
    "editOrder", "editOrderWithClientOrderId", "editOrders",
)  # fmt: skip
"""What `has` promises once the platform has said that its complete rules of orders are on."""

STREAMS_OFFERED = (
    "ws", "unWatchBidsAsks", "unWatchOHLCV", "unWatchOHLCVForSymbols", "unWatchOrderBook",
    "unWatchOrderBookForSymbols", "unWatchTicker", "unWatchTickers", "unWatchTrades", "unWatchTradesForSymbols",
    "watchBalance", "watchBidsAsks", "watchMyTrades", "watchMyTradesForSymbols", "watchOHLCV",
    "watchOHLCVForSymbols", "watchOrderBook", "watchOrderBookForSymbols", "watchOrders", "watchOrdersForSymbols",
    "watchTicker", "watchTickers", "watchTrades", "watchTradesForSymbols",
)  # fmt: skip

_ERRORS = {
    "ADDRESS_INVALID": InvalidAddress,
    "ADDRESS_NOT_AVAILABLE": AddressPending,
    "ADDRESS_NOT_FOUND": InvalidAddress,
    "AMENDMENT_REJECTED": InvalidOrder,
    "ASSET_NOT_FOUND": BadRequest,
    "AUTH_INVALID_USER": InsufficientFunds,
    "BUDGET_NOT_FILLABLE": InvalidOrder,
    "CONVERSION_LIMIT": InvalidOrder,
    "CONVERSION_NOT_FOUND": OrderNotFound,
    "DUPLICATE_CLIENT_LIST_ID": DuplicateOrderId,
    "DUPLICATE_CLIENT_ORDER_ID": DuplicateOrderId,
    "DUPLICATE_ORDER_ID": DuplicateOrderId,
    "ENGINE_BUSY": ExchangeNotAvailable,
    "FORBIDDEN": PermissionDenied,
    "INSUFFICIENT_BALANCE": InsufficientFunds,
    "INSUFFICIENT_LIQUIDITY": InvalidOrder,
    "INSUFFICIENT_SCOPE": PermissionDenied,
    "INVALID_CREDENTIAL": AuthenticationError,
    "INVALID_SYMBOL": BadSymbol,
    "INVALID_TOKEN": AuthenticationError,
    "INVENTORY_INSUFFICIENT": InvalidOrder,
    "KYC_REQUIRED": PermissionDenied,
    "LIST_EXIT_WOULD_FILL": OrderImmediatelyFillable,
    "MALFORMED_REQUEST": BadRequest,
    "MARGIN_REFUSED": OperationRejected,
    "MARGIN_STATUS_UNKNOWN": RequestTimeout,
    "MARKET_HALTED": MarketClosed,
    "MARKET_NOT_FOUND": BadSymbol,
    "MAX_NOTIONAL": InvalidOrder,
    "MAX_NUM_ORDERS": InvalidOrder,
    "MAX_ORDER_SIZE": InvalidOrder,
    "MFA_CODE_INVALID": PermissionDenied,
    "MFA_REQUIRED": ManualInteractionNeeded,
    "NETWORK_NOT_FOUND": BadRequest,
    "NO_MARK_PRICE": ExchangeNotAvailable,
    "ORDER_IN_LIST": InvalidOrder,
    "ORDER_LIST_NOT_FOUND": OrderNotFound,
    "ORDER_LIST_NOT_OPEN": InvalidOrder,
    "ORDER_NOT_FOUND": OrderNotFound,
    "ORDER_NOT_OPEN": InvalidOrder,
    "ORDER_REJECTED": InvalidOrder,
    "ORDER_STATUS_UNKNOWN": RequestTimeout,
    "PAIR_NOT_FOUND": BadSymbol,
    "PARTICIPANT_INACTIVE": PermissionDenied,
    "PHASE_AUCTION": MarketClosed,
    "PHASE_CANCEL_ONLY": MarketClosed,
    "PHASE_HALTED": MarketClosed,
    "PHASE_POST_ONLY": MarketClosed,
    "PHASE_UNCROSSING": ExchangeNotAvailable,
    "POOL_EMPTY": OperationRejected,
    "POST_ONLY_WOULD_CROSS": OrderImmediatelyFillable,
    "PRICE_NOT_SURE": ExchangeNotAvailable,
    "PRICE_UNCERTAIN": InvalidOrder,
    "QUANTITY_BELOW_FILLED": InvalidOrder,
    "QUOTE_EXPIRED": InvalidOrder,
    "QUOTE_NOT_FOUND": OrderNotFound,
    "RATE_LIMITED": RateLimitExceeded,
    "REPLACEMENT_REJECTED": InvalidOrder,
    "RISK_NSF": InsufficientFunds,
    "SYMBOL_INACTIVE": MarketClosed,
    "TRIGGER_WOULD_FIRE": OrderImmediatelyFillable,
    "UNAUTHENTICATED": AuthenticationError,
    "UNKNOWN_MARKET": BadSymbol,
    "VALIDATION_FAILED": BadRequest,
    "WITHDRAWAL_NOT_FOUND": BadRequest,
    "WITHDRAWAL_STATUS_UNKNOWN": RequestTimeout,
    "WITHDRAWAL_TOO_LARGE": BadRequest,
}
"""By `code` of a refusal."""

_ERROR_TEXTS = {
    "X-API-Timestamp is more than": InvalidNonce,
    "the signature was used before": InvalidNonce,
    "insufficient ": InsufficientFunds,
    "no margin account": AccountNotEnabled,
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
        "has": dict.fromkeys((*_NOT_OFFERED, *OFFERED_BY_COMPLETE_RULES), False) | dict.fromkeys(OFFERED, True),
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
                "createOrders": {"max": BATCH_MAX},
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
