"""What requests must look like."""

from datetime import UTC, datetime
from typing import Any

import msgspec
import pytest

from openspot.contracts.messages import LedgerBalancesRequest, LedgerHistoryRequest, LedgerLock
from openspot.domain.ids import RESERVED_SUFFIXES
from openspot.ledger.changes import CreditOrDebit, LockOrUnlock
from openspot.ledger.schemas import (
    InvalidRequestError,
    check_balances,
    checked_credit_or_debit,
    checked_lock_or_unlock,
    history_position,
    history_span,
)
from tests.support.ledger import posting

BAD_AMOUNTS = [
    ("", "amount is not a decimal number"),
    ("abc", "amount is not a decimal number"),
    ("NaN", "amount is not a decimal number"),
    ("-Infinity", "amount is not a decimal number"),
    ("1_000", "amount is not a decimal number"),
    ("1 ", "amount is not a decimal number"),
    ("0x10", "amount is not a decimal number"),
    ("0", "amount must be positive"),
    ("-0.0", "amount must be positive"),
    ("-1", "amount must be positive"),
    ("0.0000000000000000001", "amount has more than 18 decimal places"),
    ("10000000000000000001", "amount is too large"),
    ("1e300", "amount is too large"),
    ("1" * 100, "amount is too long"),
]
BAD_USERS = ["", "a.b", "a b", "*", ">", "x" * 65, "ann\n", "ännä"]
BAD_ASSETS = ["", "B", "btc", "BTC-USD", "BTC ", "ABCDEFGHIJK", "B\x00C"]
BAD_REFERENCES = ["", " ", "a b", "a\nb", "a\x00b", "a\\b", "é", "x" * 201]
BAD_KINDS = ["", "a b", "x" * 65, "a\n", "a/b"]


def test_a_sound_credit_and_debit_come_out_as_exact_signed_amounts() -> None:
    assert checked_credit_or_debit(posting("tx", amount="0.000000000000000001"), 1) == CreditOrDebit(
        "tx", "ann", "USD", 1, "deposit", "custody", "tx"
    )
    assert checked_credit_or_debit(posting("tx", amount="1.5"), -1).amount == -15 * 10**17


@pytest.mark.parametrize(
    "transaction_id", ["0x" + "ab" * 32, "5VERv8NMvzbJMEkV8xnrLkEaWRtSz9CosKDYjCJjBRnbJLgp8uirBgmQ", "a+b/c==", "w:1"]
)
def test_transaction_hashes_of_any_chain_are_taken(transaction_id: str) -> None:
    assert checked_credit_or_debit(posting(transaction_id), 1).transaction_id == transaction_id


@pytest.mark.parametrize(("amount", "reason"), BAD_AMOUNTS)
def test_a_bad_amount_is_refused_naming_it(amount: str, reason: str) -> None:
    with pytest.raises(InvalidRequestError, match=reason):
        checked_credit_or_debit(posting("tx", amount=amount), 1)
    with pytest.raises(InvalidRequestError, match=reason):
        checked_lock_or_unlock(LedgerLock("ann", "USD", amount, "r"), 1)


@pytest.mark.parametrize(
    ("field", "value"),
    [("user_id", text) for text in BAD_USERS]
    + [("asset", text) for text in BAD_ASSETS]
    + [("transaction_id", text) for text in BAD_REFERENCES]
    + [("reference_id", text) for text in BAD_REFERENCES]
    + [("entry_type", text) for text in BAD_KINDS]
    + [("reference_type", text) for text in BAD_KINDS],
)
def test_a_bad_field_of_a_credit_is_refused_naming_it(field: str, value: str) -> None:
    named = {"user_id": "userId", "transaction_id": "transactionId", "reference_id": "referenceId"}
    named |= {"entry_type": "entryType", "reference_type": "referenceType", "asset": "asset"}
    changes: dict[str, Any] = {field: value}
    with pytest.raises(InvalidRequestError, match=f"^{named[field]} "):
        checked_credit_or_debit(msgspec.structs.replace(posting("tx"), **changes), 1)


@pytest.mark.parametrize("suffix", RESERVED_SUFFIXES)
def test_ids_that_the_ledger_gives_itself_are_refused(suffix: str) -> None:
    with pytest.raises(InvalidRequestError, match=r"^transactionId must not end in :"):
        checked_credit_or_debit(posting(f"epoch-1{suffix}"), 1)


def test_the_outside_world_cannot_be_credited_but_the_fee_account_can_be_debited() -> None:
    with pytest.raises(InvalidRequestError, match=r"^userId house:external"):
        checked_credit_or_debit(posting("tx", "house:external"), 1)
    assert checked_credit_or_debit(posting("tx", "house:fees"), -1).user_id == "house:fees"


def test_a_sound_lock_and_unlock_come_out_signed() -> None:
    request = LedgerLock("ann", "USD", "2", "r")
    assert checked_lock_or_unlock(request, 1) == LockOrUnlock("ann", "USD", 2 * 10**18, "r")
    assert checked_lock_or_unlock(request, -1).direction == "unlock"


@pytest.mark.parametrize(
    ("request_", "field"),
    [
        (LedgerLock("", "USD", "1", "r"), "userId"),
        (LedgerLock("ann", "usd", "1", "r"), "asset"),
        (LedgerLock("ann", "USD", "1", ""), "referenceId"),
    ],
)
def test_a_bad_field_of_a_lock_is_refused_naming_it(request_: LedgerLock, field: str) -> None:
    with pytest.raises(InvalidRequestError, match=f"^{field} "):
        checked_lock_or_unlock(request_, 1)


def test_balances_need_a_user_and_perhaps_an_asset() -> None:
    check_balances(LedgerBalancesRequest("ann"))
    check_balances(LedgerBalancesRequest("ann", "BTC"))
    with pytest.raises(InvalidRequestError, match=r"^userId "):
        check_balances(LedgerBalancesRequest("a.b"))
    with pytest.raises(InvalidRequestError, match=r"^asset "):
        check_balances(LedgerBalancesRequest("ann", ""))


def test_a_history_page_begins_at_the_cursor() -> None:
    assert history_position(LedgerHistoryRequest("ann")) is None
    assert history_position(LedgerHistoryRequest("ann", "BTC", 1000, "42")) == 42


def test_a_history_page_has_the_entries_of_a_span() -> None:
    assert history_span(LedgerHistoryRequest("ann")) == (None, None)
    request = LedgerHistoryRequest("ann", since=0, until=253_402_300_799_999)
    last = datetime(9999, 12, 31, 23, 59, 59, 999_000, tzinfo=UTC)
    assert history_span(request) == (datetime(1970, 1, 1, tzinfo=UTC), last)


@pytest.mark.parametrize("milliseconds", [-1, 253_402_300_800_000])
def test_a_bound_of_a_history_span_that_no_entry_can_have_is_refused_naming_it(milliseconds: int) -> None:
    reason = "must be a time from 1970 on and before the year 10000$"
    with pytest.raises(InvalidRequestError, match=f"^from {reason}"):
        history_span(LedgerHistoryRequest("ann", since=milliseconds))
    with pytest.raises(InvalidRequestError, match=f"^to {reason}"):
        history_span(LedgerHistoryRequest("ann", until=milliseconds))


@pytest.mark.parametrize(
    ("request_", "field"),
    [
        (LedgerHistoryRequest(""), "userId"),
        (LedgerHistoryRequest("ann", "x"), "asset"),
        (LedgerHistoryRequest("ann", None, 0), "limit"),
        (LedgerHistoryRequest("ann", None, 1001), "limit"),
        (LedgerHistoryRequest("ann", None, -5), "limit"),
        (LedgerHistoryRequest("ann", None, 10, ""), "cursor"),
        (LedgerHistoryRequest("ann", None, 10, "-1"), "cursor"),
        (LedgerHistoryRequest("ann", None, 10, "9" * 19), "cursor"),
        (LedgerHistoryRequest("ann", None, 10, "٣"), "cursor"),
        (LedgerHistoryRequest("ann", None, 10, "1; DROP TABLE users"), "cursor"),
    ],
)
def test_a_bad_field_of_a_history_request_is_refused_naming_it(request_: LedgerHistoryRequest, field: str) -> None:
    with pytest.raises(InvalidRequestError, match=f"^{field} "):
        history_position(request_)
