"""Checks of requests. Each returns the checked values, or raises an error that names the field and the reason."""

import re
from datetime import datetime

from openspot.contracts.messages import (
    LedgerBalancesRequest,
    LedgerHistoryRequest,
    LedgerLock,
    LedgerPosting,
)
from openspot.contracts.refusals import InvalidRequestError, RefusalCode
from openspot.domain.ids import EXTERNAL_ACCOUNT_ID, PARTICIPANT_ID_TEXT, REFERENCE_TEXT, RESERVED_SUFFIXES
from openspot.domain.money import MoneyError, parse_decimal, to_amount
from openspot.domain.symbol import CURRENCY_TEXT
from openspot.kit.clock import datetime_from_ms
from openspot.ledger.changes import CreditOrDebit, LockOrUnlock

HISTORY_LIMIT_MAX = 1000
TIME_MS_MAX = 253_402_300_799_999
"""The last millisecond of the year 9999."""
_KIND_TEXT = re.compile(r"[A-Za-z0-9_.:-]{1,64}")
_CURSOR_TEXT = re.compile(r"[0-9]{1,18}")


def checked_credit_or_debit(request: LedgerPosting, sign: int) -> CreditOrDebit:
    """The credit (`sign` 1) or debit (-1) that `request` asks for. Raises InvalidRequestError."""
    _reference("transactionId", request.transaction_id)
    if request.transaction_id.endswith(RESERVED_SUFFIXES):
        ending = request.transaction_id.rpartition(":")[2]
        raise InvalidRequestError(f"transactionId must not end in :{ending}, which the ledger gives itself")
    _user(request.user_id)
    if request.user_id == EXTERNAL_ACCOUNT_ID:
        raise InvalidRequestError(f"userId {EXTERNAL_ACCOUNT_ID} is the other side of every credit and debit")
    _asset(request.asset)
    amount = _positive_amount(request.amount)
    _kind("entryType", request.entry_type)
    _kind("referenceType", request.reference_type)
    _reference("referenceId", request.reference_id)
    return CreditOrDebit(
        transaction_id=request.transaction_id,
        user_id=request.user_id,
        asset=request.asset,
        amount=sign * amount,
        entry_type=request.entry_type,
        reference_type=request.reference_type,
        reference_id=request.reference_id,
        already_moved=request.already_moved,
    )


def checked_lock_or_unlock(request: LedgerLock, sign: int) -> LockOrUnlock:
    """The lock (`sign` 1) or unlock (-1) that `request` asks for. Raises InvalidRequestError."""
    _user(request.user_id)
    _asset(request.asset)
    amount = _positive_amount(request.amount)
    _reference("referenceId", request.reference_id)
    return LockOrUnlock(request.user_id, request.asset, sign * amount, request.reference_id)


def check_balances(request: LedgerBalancesRequest) -> None:
    """Raise InvalidRequestError if `request` cannot be used."""
    _user(request.user_id)
    if request.asset is not None:
        _asset(request.asset)


def history_position(request: LedgerHistoryRequest) -> int | None:
    """Return the entry id below which the page begins, None for the first page. Raises InvalidRequestError."""
    _user(request.user_id)
    if request.asset is not None:
        _asset(request.asset)
    if not 1 <= request.limit <= HISTORY_LIMIT_MAX:
        raise InvalidRequestError(f"limit must be between 1 and {HISTORY_LIMIT_MAX}")
    if request.entry_type is not None:
        _kind("entryType", request.entry_type)
    if request.cursor is None:
        return None
    if not _CURSOR_TEXT.fullmatch(request.cursor):
        raise InvalidRequestError("cursor is not one that this list gave", RefusalCode.INVALID_CURSOR)
    return int(request.cursor)


def history_span(request: LedgerHistoryRequest) -> tuple[datetime | None, datetime | None]:
    """Return the moments from and until which the entries were made, None for no bound. Raises InvalidRequestError."""
    return _moment("from", request.since), _moment("to", request.until)


def _moment(field: str, milliseconds: int | None) -> datetime | None:
    if milliseconds is None:
        return None
    if not 0 <= milliseconds <= TIME_MS_MAX:
        raise InvalidRequestError(f"{field} must be a time from 1970 on and before the year 10000")
    return datetime_from_ms(milliseconds)


def _user(user_id: str) -> None:
    if not PARTICIPANT_ID_TEXT.fullmatch(user_id):
        raise InvalidRequestError("userId must be 1 to 64 letters, digits or _ : -")


def _asset(asset: str) -> None:
    if not CURRENCY_TEXT.fullmatch(asset):
        raise InvalidRequestError("asset must be 2 to 10 capital letters or digits")


def _reference(field: str, text: str) -> None:
    if not REFERENCE_TEXT.fullmatch(text):
        raise InvalidRequestError(f"{field} must be 1 to 200 visible ASCII characters without quote or backslash")


def _kind(field: str, text: str) -> None:
    if not _KIND_TEXT.fullmatch(text):
        raise InvalidRequestError(f"{field} must be 1 to 64 letters, digits or _ . : -")


def _positive_amount(text: str) -> int:
    try:
        amount = to_amount(parse_decimal(text))
    except MoneyError as error:
        raise InvalidRequestError(f"amount {error}") from error
    if amount <= 0:
        raise InvalidRequestError("amount must be positive")
    return amount
