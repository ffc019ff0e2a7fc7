"""The ledger: its requests `ledger.*`, and the event `balances.updated.<userId>`."""

from openspot.contracts.messages.message import DecimalText, Message, TimeText
from openspot.contracts.messages.reply import RefusableReply


class LedgerBalancesRequest(Message, frozen=True):
    """Request `ledger.balances.get`: all accounts of a user, or with `asset` the one of that asset."""

    user_id: str
    asset: str | None = None


class LedgerBalance(Message, frozen=True):
    """One account of the ledger."""

    asset: str
    available: str
    locked: str


class LedgerBalancesReply(RefusableReply, frozen=True):
    """Reply of `ledger.balances.get`. A refusal has `error` and `code`, and an empty list."""

    NOTHING = ([],)

    balances: list[LedgerBalance]


class LedgerPosting(Message, frozen=True):
    """Request `ledger.credit` and `ledger.debit`. `amount` is positive in both.

    `already_moved` says that the engine, the authority, has moved the money. The ledger then posts a debit even if the
    account does not cover it. In that case the account falls below zero, as it may after a trade, and `openspot
    reconcile` names the difference.
    """

    transaction_id: str
    user_id: str
    asset: str
    amount: str
    entry_type: str
    reference_type: str
    reference_id: str
    already_moved: bool = False


class LedgerPostingReply(RefusableReply, frozen=True):
    """Reply of `ledger.credit` and `ledger.debit`. `new_balance` is the available balance."""

    NOTHING = (False,)

    success: bool
    new_balance: str | None = None


class LedgerLock(Message, frozen=True):
    """Request `ledger.lock` and `ledger.unlock`."""

    user_id: str
    asset: str
    amount: str
    reference_id: str


class LedgerLockReply(RefusableReply, frozen=True):
    """Reply of `ledger.lock` and `ledger.unlock`."""

    NOTHING = (False,)

    success: bool


class LedgerHistoryRequest(Message, frozen=True):
    """Request `ledger.history.get`: a user's ledger entries, newest first. With `entry_type`, only those of that type.

    `cursor` is the `next_cursor` of the page before. The entries were made at `since` or later and before `until`, in
    milliseconds since 1970; None bounds nothing.
    """

    user_id: str
    asset: str | None = None
    limit: int = 100
    cursor: str | None = None
    entry_type: str | None = None
    since: int | None = None
    until: int | None = None


class LedgerHistoryEntry(Message, frozen=True, kw_only=True):
    """One ledger entry. `balance` is the running balance after it, `created_at` is in UTC."""

    transaction_id: str
    asset: str
    amount: DecimalText
    balance: DecimalText
    entry_type: str
    reference_type: str
    reference_id: str
    created_at: TimeText


class LedgerHistoryReply(RefusableReply, frozen=True):
    """Reply of `ledger.history.get`. The last page has no `next_cursor`; a refusal has `error` and `code`."""

    NOTHING = ([],)

    entries: list[LedgerHistoryEntry]
    next_cursor: str | None = None


class BalanceUpdated(Message, frozen=True):
    """Payload of `balances.updated.<userId>`: an account after a change.

    `version` grows with every change of the account. Events may arrive twice or out of order. A receiver that has seen
    a higher version ignores the event.
    """

    user_id: str
    asset: str
    available: str
    locked: str
    transaction_id: str
    timestamp: int
    version: int = 0
