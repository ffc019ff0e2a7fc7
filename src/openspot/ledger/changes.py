"""Credits, debits, locks and unlocks: what a batch of them changes (facts A2.4-06 to A2.4-08). Rules without IO.

| Change | available | locked | Refused if |
|---|---|---|---|
| credit | + amount | | the account, or the sum of all deposits of the asset, would exceed the largest amount |
| debit | − amount | | available does not cover it |
| debit of money that the engine has moved | − amount | | never for lack of funds: available may fall below zero |
| lock | − amount | + amount | available does not cover it |
| unlock | + amount | − amount | locked does not cover it |

A credit or debit is written once for its transaction id. A repeat succeeds, returns the present balance and changes
nothing, even if its other fields differ; `altered` reports that they do. A credit or debit has two postings: the
user's and, under the transaction id with `:contra`, that of the outside world. So every asset sums to zero.

A lock and an unlock are done once each for (user, asset, reference). A repeat succeeds and changes nothing; a repeat
with another amount is refused. An unlock need not name the reference of a lock; the account's locked amount must cover
it. Locks and unlocks post nothing: the balance of a ledger entry is the account's total, which they do not change.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from openspot.contracts.refusals import Refusal, RefusalCode
from openspot.domain.accounts import AccountKey
from openspot.domain.ids import EXTERNAL_ACCOUNT_ID
from openspot.domain.money import AMOUNT_MAX, amount_to_text
from openspot.ledger.postings import Posting

CONTRA_SUFFIX = ":contra"
"""Ends the transaction id of the outside world's posting."""


class AccountState(NamedTuple):
    """An account's balance, as integers at 18 places; `version` counts its changes."""

    available: int
    locked: int
    version: int

    @property
    def total(self) -> int:
        """Available and locked together."""
        return self.available + self.locked


NEW_ACCOUNT = AccountState(0, 0, 0)


class CreditOrDebit(NamedTuple):
    """A credit (`amount` above zero) or a debit (below).

    `already_moved`: the engine has moved the money, so the ledger posts it even if the account does not cover it.
    """

    transaction_id: str
    user_id: str
    asset: str
    amount: int
    entry_type: str
    reference_type: str
    reference_id: str
    already_moved: bool = False

    @property
    def account(self) -> AccountKey:
        """The account that is changed."""
        return AccountKey(self.user_id, self.asset)

    @property
    def contra_account(self) -> AccountKey:
        """The account of the other side."""
        return AccountKey(EXTERNAL_ACCOUNT_ID, self.asset)


class LockOrUnlock(NamedTuple):
    """A lock (`amount` above zero) or an unlock (below). `locked` changes by `amount`."""

    user_id: str
    asset: str
    amount: int
    reference_id: str

    @property
    def account(self) -> AccountKey:
        """The account that is changed."""
        return AccountKey(self.user_id, self.asset)

    @property
    def direction(self) -> str:
        """`lock` or `unlock`."""
        return "lock" if self.amount > 0 else "unlock"

    @property
    def key(self) -> "LockKey":
        """The lock or unlock is done once for this key."""
        return LockKey(self.user_id, self.asset, self.reference_id, self.direction)


Change = CreditOrDebit | LockOrUnlock


class LockKey(NamedTuple):
    """A lock or unlock is done once for each key."""

    user_id: str
    asset: str
    reference_id: str
    direction: str


class Recorded(NamedTuple):
    """The entry that a transaction id already has."""

    user_id: str
    asset: str
    amount: int


class ChangeResult(NamedTuple):
    """The result of one change. `refusal` is None for a success; `available` is the balance after it.

    `changed` is false for a refusal and for a repeat; `altered` is true for a repeat with other fields.
    """

    refusal: Refusal | None
    available: int
    changed: bool = False
    altered: bool = False


class ChangedAccount(NamedTuple):
    """An account after a change, for an event to its owner."""

    account: AccountKey
    state: AccountState
    transaction_id: str


@dataclass(slots=True)
class BatchDecision:
    """The outcome of a batch. `results` has one for each change, in order; the store writes the other fields.

    `balances` has the account's total after each of `postings`. `states` has each changed account after the batch.
    """

    results: list[ChangeResult] = field(default_factory=list)
    postings: list[Posting] = field(default_factory=list)
    balances: list[int] = field(default_factory=list)
    locks: list[LockOrUnlock] = field(default_factory=list)
    states: dict[AccountKey, AccountState] = field(default_factory=dict)
    balance_changes: list[ChangedAccount] = field(default_factory=list)


def accounts_of(changes: Iterable[Change]) -> set[AccountKey]:
    """Every account that `changes` read or may change."""
    accounts: set[AccountKey] = set()
    for change in changes:
        accounts.add(change.account)
        if isinstance(change, CreditOrDebit):
            accounts.add(change.contra_account)
    return accounts


def decide(
    changes: Sequence[Change],
    accounts: Mapping[AccountKey, AccountState],
    recorded: Mapping[str, Recorded],
    locked_before: Mapping[LockKey, int],
) -> BatchDecision:
    """Apply `changes` one after the other, without IO.

    `accounts` holds the existing accounts, `recorded` the existing entries under the transaction ids of `changes`, and
    `locked_before` the amounts (signed as in LockOrUnlock) of the locks and unlocks among `changes` that are already
    done.
    """
    batch = _Batch(accounts, recorded, locked_before)
    for change in changes:
        outcome = batch.post(change) if isinstance(change, CreditOrDebit) else batch.lock(change)
        batch.decision.results.append(outcome)
    return batch.decision


class _Batch:
    def __init__(
        self,
        accounts: Mapping[AccountKey, AccountState],
        recorded: Mapping[str, Recorded],
        locked_before: Mapping[LockKey, int],
    ) -> None:
        self.decision = BatchDecision()
        self._accounts = accounts
        self._recorded = dict(recorded)
        self._locked_before = dict(locked_before)

    def post(self, change: CreditOrDebit) -> ChangeResult:
        state = self._state(change.account)
        known = self._recorded.get(change.transaction_id)
        if known is not None:
            altered = known != (change.user_id, change.asset, change.amount)
            return ChangeResult(None, state.available, altered=altered)
        contra = self._state(change.contra_account)
        refusal = _refusal_of(change, state, contra)
        if refusal is not None:
            return ChangeResult(refusal, state.available)
        self._recorded[change.transaction_id] = Recorded(change.user_id, change.asset, change.amount)
        state = self._change(change.account, change.amount, 0)
        contra = self._change(change.contra_account, -change.amount, 0)
        posting = Posting(
            change.transaction_id,
            change.account,
            change.amount,
            change.entry_type,
            change.reference_type,
            change.reference_id,
        )
        other = posting._replace(
            transaction_id=posting.transaction_id + CONTRA_SUFFIX, account=change.contra_account, amount=-posting.amount
        )
        self.decision.postings += (posting, other)
        self.decision.balances += (state.total, contra.total)
        self.decision.balance_changes.append(ChangedAccount(change.account, state, change.transaction_id))
        return ChangeResult(None, state.available, changed=True)

    def lock(self, change: LockOrUnlock) -> ChangeResult:
        state = self._state(change.account)
        done = self._locked_before.get(change.key)
        if done is not None:
            if done == change.amount:
                return ChangeResult(None, state.available)
            reason = f"referenceId was already used to {change.direction} {amount_to_text(abs(done))}"
            return ChangeResult(Refusal(RefusalCode.REFERENCE_USED, reason), state.available)
        covering = state.available if change.amount > 0 else state.locked
        if covering < abs(change.amount):
            held = "available" if change.amount > 0 else "locked"
            reason = f"insufficient balance: {amount_to_text(covering)} {held}"
            return ChangeResult(Refusal(RefusalCode.INSUFFICIENT_BALANCE, reason), state.available)
        self._locked_before[change.key] = change.amount
        state = self._change(change.account, -change.amount, change.amount)
        self.decision.locks.append(change)
        self.decision.balance_changes.append(ChangedAccount(change.account, state, ":".join(reversed(change.key))))
        return ChangeResult(None, state.available, changed=True)

    def _state(self, account: AccountKey) -> AccountState:
        return self.decision.states.get(account) or self._accounts.get(account, NEW_ACCOUNT)

    def _change(self, account: AccountKey, available: int, locked: int) -> AccountState:
        state = self._state(account)
        changed = AccountState(state.available + available, state.locked + locked, state.version + 1)
        self.decision.states[account] = changed
        return changed


def _refusal_of(change: CreditOrDebit, state: AccountState, contra: AccountState) -> Refusal | None:
    amount = change.amount
    if amount < 0 and state.available < -amount and not change.already_moved:
        reason = f"insufficient balance: {amount_to_text(state.available)} available"
        return Refusal(RefusalCode.INSUFFICIENT_BALANCE, reason)
    if abs(state.total + amount) > AMOUNT_MAX:
        return Refusal(RefusalCode.AMOUNT_LIMIT, "amount would lead the balance beyond the largest amount")
    # The sum of all balances of an asset is what came in from outside. The engine has the same bound.
    if abs(contra.available - amount) > AMOUNT_MAX:
        return Refusal(RefusalCode.AMOUNT_LIMIT, "amount would lead the sum of this asset beyond the largest amount")
    return None
