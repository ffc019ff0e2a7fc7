"""Result codes of the engine.

A code has the name that exchange-core uses, if there is one, else a name of our own (fact A7-21). The numbers are
part of the engine's records and never change. A new code takes the next free number.
"""

from enum import IntEnum


class ResultCode(IntEnum):
    """Why a command was accepted or refused."""

    SUCCESS = 0
    # Risk and accounts
    RISK_NSF = 1
    """The account's free funds do not cover the order or withdrawal (also: unknown account)."""
    RISK_INVALID_RESERVE_BID_PRICE = 2
    """A buy's reserve price is below its limit price."""
    AUTH_INVALID_USER = 3
    """The account is unknown, or the order belongs to another account."""
    PARTICIPANT_INACTIVE = 4
    ACCOUNT_ALREADY_EXISTS = 5
    # Symbols and currencies
    INVALID_SYMBOL = 10
    SYMBOL_ALREADY_EXISTS = 11
    SYMBOL_HAS_OPEN_ORDERS = 12
    SYMBOL_INACTIVE = 13
    INVALID_CURRENCY = 14
    CURRENCY_ALREADY_EXISTS = 15
    CURRENCY_IN_USE = 16
    INVALID_SYMBOL_SPECIFICATION = 17
    """The scales, lot, tick or fees of a symbol, or the fees of an account, break a rule of the engine."""
    # Orders
    INVALID_ORDER_TYPE = 20
    INVALID_SIDE = 21
    INVALID_ORDER_ID = 22
    INVALID_PRICE = 23
    """The price is not positive or too large."""
    INVALID_PRICE_STEP = 24
    """The price is not a multiple of the tick."""
    INVALID_QUANTITY = 25
    """The quantity is not positive or too large."""
    INVALID_QUANTITY_STEP = 26
    """The quantity is not a multiple of the lot."""
    DUPLICATE_ORDER_ID = 27
    MATCHING_UNKNOWN_ORDER_ID = 28
    POST_ONLY_WOULD_CROSS = 29
    NOTIONAL_TOO_LARGE = 30
    """Price × quantity leaves the range of an amount."""
    INVALID_BUDGET = 31
    """An order with a budget that is not positive or too large."""
    BUDGET_NOT_FILLABLE = 32
    """The book offers nothing, within the order's limit, of which its budget pays for one lot."""
    INVALID_TRIGGER = 33
    """A trigger is no multiple of the tick, or out of range."""
    TRIGGER_WOULD_FIRE = 34
    """The present price would fire the trigger at once."""
    REFERENCE_PRICE_UNKNOWN = 35
    """A trailing trigger needs a price to follow, and there was none yet."""
    INVALID_EXPIRY = 36
    """The order would expire before it is placed, or the time is out of range."""
    ORDER_NOT_EXPIRED = 37
    """The order has no expiry, or it is still to come."""
    INVALID_TERMS = 38
    """The terms before an order contradict each other or the order."""
    QUANTITY_BELOW_FILLED = 39
    """An amended quantity is not above what the order has lost already, by fills or otherwise."""
    # Money
    INVALID_AMOUNT = 40
    """The amount is not positive or too large."""
    REFERENCE_CONFLICT = 41
    """The external reference was used before for another kind of transfer, account, currency or amount."""
    UNKNOWN_REFERENCE = 42
    """No reservation has this reference, or the reference is missing or too long."""
    RESERVATION_CLOSED = 43
    """The reservation was already released, or was completed and cannot be released."""
    INVALID_TRANSFER = 44
    """The movements of a transfer are missing or too many, or one of them has the same account on both sides."""
    # Why a quantity left the book without a trade (reduce events)
    CANCELLED_BY_USER = 60
    CANCELLED_BY_ADMIN = 61
    REDUCED_BY_USER = 62
    IOC_REMAINDER = 63
    FOK_NOT_FILLABLE = 64
    STP_CANCEL_RESTING = 65
    STP_CANCEL_INCOMING = 66
    STP_CANCEL_BOTH = 67
    STP_DECREMENT = 68
    FOK_TOO_DEEP = 69
    """A FOK or FOK_BUDGET order needs more price levels or resting orders than its test looks at."""
    ORDER_EXPIRED = 70
    """The order's time was over."""
    AMENDED_BY_USER = 75
    """The owner amended the order to a smaller quantity."""
    # Process
    UNSUPPORTED_COMMAND = 90
    MARKET_HALTED = 91
    ENGINE_BUSY = 92
    RATE_LIMITED = 93
    MAX_ORDER_SIZE = 94
    MAX_NOTIONAL = 95
    MAX_NUM_ORDERS = 96
    """The participant has as many open orders on the symbol as the engine's setting allows."""
    DUPLICATE_CLIENT_ORDER_ID = 97
    """Another open order of the account has the client order id, and the order asked that none has."""
    # The market's phase (docs/protocol/matching.md, Phases)
    PHASE_HALTED = 110
    """The market is halted: orders can only be cancelled."""
    PHASE_CANCEL_ONLY = 111
    """The market takes no orders; its open orders can be cancelled and made smaller."""
    PHASE_POST_ONLY = 112
    """The market takes post-only orders and orders with a trigger, and nothing else."""
    PHASE_AUCTION = 113
    """The market is in an auction, which takes no orders that must match at once."""
    PHASE_UNCROSSING = 114
    """An auction of the market is being traded, which takes a moment."""
    INVALID_PHASE = 115
    """The phase cannot be set, or its end is out of range."""
    PHASE_NOT_OVER = 116
    """The market's phase has no end, or it is still to come."""
    # Order lists
    INVALID_ORDER_LIST = 120
    """The orders of a list do not fit together, or are too few or too many for its type."""
    DUPLICATE_LIST_ID = 121
    UNKNOWN_LIST_ID = 122
    """No list has this id, or its orders no longer depend on each other."""
    ORDER_IN_LIST = 123
    """The quantity of an order cannot be changed while others depend on it, and it cannot be moved."""
    LIST_EXIT_WOULD_FILL = 124
    """The book, or the price of the entry, would fill an exit of the list at once."""
    # Why an order of a list lost quantity, and why a list ended
    LIST_EXIT_TRADED = 125
    """The other exit traded this quantity."""
    LIST_EXIT_ENDED = 126
    """The other exit lost this quantity without a trade."""
    LIST_EXIT_TRIGGERED = 127
    """The trigger of the other exit has fired."""
    LIST_NOT_ARMED = 128
    """The exits could not be placed for what the entry has filled."""
    LIST_ENTRY_ENDED = 129
    """The entry ended without a fill."""
    # Icebergs, replacements and triggers that change
    INVALID_DISPLAY_QUANTITY = 130
    """The displayed quantity of an order is no multiple of the lot, not below the order's, or less than its
    ICEBERG_SLICES_MAX-th part."""
    REPLACEMENT_NOT_ATTEMPTED = 131
    """The order to be replaced was not cancelled, so nothing was placed."""
    NO_TRIGGER_TO_AMEND = 132
    """The order does not wait for a fixed trigger: it has none, it trails, or it has fired."""
