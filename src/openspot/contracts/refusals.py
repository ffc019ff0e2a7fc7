"""Refusals: why a provider on the bus refused a request.

A refusal is a code for programs and a message for people. Provider and caller share the codes; nobody compares
messages. The texts that the facts A7-01 to A7-14 prescribe are messages.
"""

from enum import StrEnum

import msgspec


class RefusalCode(StrEnum):
    """The kind of a refusal. Unless a code says otherwise, nothing was done."""

    # Any request
    MALFORMED = "MALFORMED"
    """The provider could not read the request."""
    BUSY = "BUSY"
    """The provider has too much to do; the same request may be sent again."""
    FAILED = "FAILED"
    """The provider failed while it handled the request, which may have been done."""
    UNAVAILABLE = "UNAVAILABLE"
    """Something that the provider needs does not answer."""
    STATUS_UNKNOWN = "STATUS_UNKNOWN"
    """The request may or may not have been done."""
    VALIDATION = "VALIDATION"
    """A field breaks its rules; the message names the field and the reason."""
    NOT_FOUND = "NOT_FOUND"
    """What the request names does not exist, or belongs to another user."""
    UNRECOGNISED = "UNRECOGNISED"
    """A code of a newer provider. The request may have been done."""

    # Orders
    DUPLICATE_ORDER_ID = "DUPLICATE_ORDER_ID"
    """The order id was used before."""
    DUPLICATE_CLIENT_ORDER_ID = "DUPLICATE_CLIENT_ORDER_ID"
    """Another open order of the user has the client order id. No order was recorded."""
    DUPLICATE_LIST_ID = "DUPLICATE_LIST_ID"
    """Another list of orders has the list id. Nothing was placed."""
    ORDER_IN_LIST = "ORDER_IN_LIST"
    """The order is one of a list, whose quantity is not changed."""
    TOO_LATE = "TOO_LATE"
    """The deadline of the request has passed."""
    PRE_TRADE_CHECK = "PRE_TRADE_CHECK"
    """The pre-trade check refused the order; it is recorded as rejected."""
    ENGINE = "ENGINE"
    """The matching engine refused; the message is the name of its result code."""
    ALREADY_ENDED = "ALREADY_ENDED"
    """The order is filled, cancelled or rejected."""
    NOT_OPEN = "NOT_OPEN"
    """The matching engine does not hold the order, and nobody knows yet how it ended."""

    # Ledger
    INSUFFICIENT_BALANCE = "INSUFFICIENT_BALANCE"
    """The account does not cover the amount."""
    AMOUNT_LIMIT = "AMOUNT_LIMIT"
    """A balance, or the sum of an asset, would exceed the largest amount."""
    REFERENCE_USED = "REFERENCE_USED"
    """The reference was used before, for another amount."""
    INVALID_CURSOR = "INVALID_CURSOR"
    """The cursor is not one that this list gave."""

    # Custody
    WITHDRAWALS_LOCKED = "WITHDRAWALS_LOCKED"
    """An operator has locked the withdrawals of the account."""
    WITHDRAWALS_PAUSED = "WITHDRAWALS_PAUSED"
    """Operators have paused the withdrawals of the coin over the network."""
    DEPOSITS_PAUSED = "DEPOSITS_PAUSED"
    """Operators have paused the deposits of the coin over the network, so no new address is given."""
    ADDRESS_INVALID = "ADDRESS_INVALID"
    """The address or its tag is not valid on the network; the message names the field and the reason."""
    PRICE_UNKNOWN = "PRICE_UNKNOWN"
    """Nobody knows what the asset is worth, so no limit can be checked."""
    WITHDRAWAL_TOO_LARGE = "WITHDRAWAL_TOO_LARGE"
    """No wallet may send so much at once."""
    WALLET_DAILY_LIMIT = "WALLET_DAILY_LIMIT"
    """The wallet has reached its limit for 24 hours."""
    USER_DAILY_LIMIT = "USER_DAILY_LIMIT"
    """The user has reached the limit for 24 hours of the verification level."""
    NOT_CANCELLABLE = "NOT_CANCELLABLE"
    """The withdrawal is approved already, or has ended."""

    # Margin
    MARGIN_REFUSED = "MARGIN_REFUSED"
    """The margin account does not allow it; the message gives the reason."""
    PARTICIPANT_INACTIVE = "PARTICIPANT_INACTIVE"
    """The user's participant is frozen or inactive; the message says which."""
    POOL_EMPTY = "POOL_EMPTY"
    """The lending pool does not hold the amount."""
    NO_MARK_PRICE = "NO_MARK_PRICE"
    """An asset of the account has no mark price, so nothing can be said about its level."""
    PRICE_NOT_SURE = "PRICE_NOT_SURE"
    """A price that the decision needs is not sure; the message says which one, and what is waited for."""

    @classmethod
    def _missing_(cls, value: object) -> "RefusalCode":
        # A code of a newer provider stays readable, and the caller treats the outcome as uncertain.
        return cls.UNRECOGNISED


UNCERTAIN = frozenset({RefusalCode.FAILED, RefusalCode.STATUS_UNKNOWN, RefusalCode.UNRECOGNISED})
"""Codes of refusals after which the request may have been done anyway."""


class Refusal(msgspec.Struct, frozen=True):
    """A refusal: a code for programs, and a message for people."""

    code: RefusalCode
    message: str


class InvalidRequestError(ValueError):
    """A provider cannot use a request; the message names the field and the reason."""

    def __init__(self, message: str, code: RefusalCode = RefusalCode.VALIDATION) -> None:
        super().__init__(message)
        self.refusal = Refusal(code, message)
