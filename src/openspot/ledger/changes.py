"""Credits, debits, locks and unlocks: what a batch of them changes (Document A 2.4). Rules without IO.

| Change | available | locked | Refused if |
|---|---|---|---|
| credit | + amount | | the account, or the sum of all deposits of the asset, would exceed the largest amount |
| debit | − amount | | available does not cover it |
| debit of money that the engine has moved | − amount | | never for lack of funds: available may fall below zero |
| lock | − amount | + amount | available does not cover it |
| unlock | + amount | − amount | locked does not cover it |

A credit or debit is written once for its transaction id. A repeat succeeds, returns the present balance and changes
nothing, even if its other fields differ (Document A 2.4); `altered` reports that they do. A credit or debit posts two
legs: the user's and, under the transaction id with `:contra`, that of the outside world. So every asset sums to zero.

A lock and an unlock are done once each for (user, asset, reference). A repeat succeeds and changes nothing; a repeat
with another amount is refused. An unlock need not name the reference of a lock; the account's locked amount must cover
it. Locks and unlocks post no entry: an entry's balance is the account's total, which they do not change.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from openspot.contracts.refusals import Refusal, RefusalCode
from openspot.domain.accounts import AccountKey
from openspot.domain.ids import EXTERNAL_ACCOUNT_ID
from openspot.domain.money import AMOUNT_MAX, amount_to_text
from openspot.ledger.postings import Leg

CONTRA_SUFFIX = ":contra"
"""Ends the transaction id of a posting's other side."""


class AccountState(NamedTuple):
    """The state of an account. Amounts are integers at 18 places; `version` counts the changes."""

    available: int
    locked: int
    version: int

    @property
    def total(self) -> int:
        """Available and locked together."""
        return self.available + self.locked


NEW_ACCOUNT = AccountState(0, 0, 0)


class Posting(NamedTuple):
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


class Movement(NamedTuple):
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
    def key(self) -> "MovementKey":
        """The movement is done once for this key."""
        return MovementKey(self.user_id, self.asset, self.reference_id, self.direction)


Change = Posting | Movement


class MovementKey(NamedTuple):
    """A movement is done once for each key."""

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


class BalanceChange(NamedTuple):
    """An account after a change, for an event to its owner."""

    account: AccountKey
    state: AccountState
    transaction_id: str


@dataclass(slots=True)
class Decision:
    """The outcome of a batch. `results` has one for each change, in order; the store writes the other fields.

    `balances` has the account's total after each of `legs`. `states` has each changed account after the batch.
    """

    results: list[ChangeResult] = field(default_factory=list)
    legs: list[Leg] = field(default_factory=list)
    balances: list[int] = field(default_factory=list)
    movements: list[Movement] = field(default_factory=list)
    states: dict[AccountKey, AccountState] = field(default_factory=dict)
    balance_changes: list[BalanceChange] = field(default_factory=list)


def accounts_of(changes: Iterable[Change]) -> set[AccountKey]:
    """Every account that `changes` read or may change."""
    accounts: set[AccountKey] = set()
    for change in changes:
        accounts.add(change.account)
        if isinstance(change, Posting):
            accounts.add(change.contra_account)
    return accounts


def decide(
    changes: Sequence[Change],
    accounts: Mapping[AccountKey, AccountState],
    recorded: Mapping[str, Recorded],
    moved: Mapping[MovementKey, int],
) -> Decision:
    """Apply `changes` one after the other, without IO.

    `accounts` holds the existing accounts, `recorded` the existing entries under the transaction ids of `changes`, and
    `moved` the amounts (signed as in Movement) of the movements among `changes` that are already done.
    """
    batch = _Batch(accounts, recorded, moved)
    for change in changes:
        outcome = batch.post(change) if isinstance(change, Posting) else batch.move(change)
        batch.decision.results.append(outcome)
    return batch.decision


class _Batch:
    def __init__(
        self,
        accounts: Mapping[AccountKey, AccountState],
        recorded: Mapping[str, Recorded],
        moved: Mapping[MovementKey, int],
    ) -> None:
        self.decision = Decision()
        self._accounts = accounts
        self._recorded = dict(recorded)
        self._moved = dict(moved)

    def post(self, posting: Posting) -> ChangeResult:
        state = self._state(posting.account)
        known = self._recorded.get(posting.transaction_id)
        if known is not None:
            altered = known != (posting.user_id, posting.asset, posting.amount)
            return ChangeResult(None, state.available, altered=altered)
        contra = self._state(posting.contra_account)
        refusal = _posting_refusal(posting, state, contra)
        if refusal is not None:
            return ChangeResult(refusal, state.available)
        self._recorded[posting.transaction_id] = Recorded(posting.user_id, posting.asset, posting.amount)
        state = self._change(posting.account, posting.amount, 0)
        contra = self._change(posting.contra_account, -posting.amount, 0)
        leg = Leg(
            posting.transaction_id,
            posting.account,
            posting.amount,
            posting.entry_type,
            posting.reference_type,
            posting.reference_id,
        )
        other = leg._replace(
            transaction_id=leg.transaction_id + CONTRA_SUFFIX, account=posting.contra_account, amount=-leg.amount
        )
        self.decision.legs += (leg, other)
        self.decision.balances += (state.total, contra.total)
        self.decision.balance_changes.append(BalanceChange(posting.account, state, posting.transaction_id))
        return ChangeResult(None, state.available, changed=True)

    def move(self, movement: Movement) -> ChangeResult:
        state = self._state(movement.account)
        done = self._moved.get(movement.key)
        if done is not None:
            if done == movement.amount:
                return ChangeResult(None, state.available)
            reason = f"referenceId was already used to {movement.direction} {amount_to_text(abs(done))}"
            return ChangeResult(Refusal(RefusalCode.REFERENCE_USED, reason), state.available)
        covering = state.available if movement.amount > 0 else state.locked
        if covering < abs(movement.amount):
            held = "available" if movement.amount > 0 else "locked"
            reason = f"insufficient balance: {amount_to_text(covering)} {held}"
            return ChangeResult(Refusal(RefusalCode.INSUFFICIENT_BALANCE, reason), state.available)
        self._moved[movement.key] = movement.amount
        state = self._change(movement.account, -movement.amount, movement.amount)
        self.decision.movements.append(movement)
        self.decision.balance_changes.append(BalanceChange(movement.account, state, ":".join(reversed(movement.key))))
        return ChangeResult(None, state.available, changed=True)

    def _state(self, account: AccountKey) -> AccountState:
        return self.decision.states.get(account) or self._accounts.get(account, NEW_ACCOUNT)

    def _change(self, account: AccountKey, available: int, locked: int) -> AccountState:
        state = self._state(account)
        changed = AccountState(state.available + available, state.locked + locked, state.version + 1)
        self.decision.states[account] = changed
        return changed


def _posting_refusal(posting: Posting, state: AccountState, contra: AccountState) -> Refusal | None:
    amount = posting.amount
    if amount < 0 and state.available < -amount and not posting.already_moved:
        reason = f"insufficient balance: {amount_to_text(state.available)} available"
        return Refusal(RefusalCode.INSUFFICIENT_BALANCE, reason)
    if abs(state.total + amount) > AMOUNT_MAX:
        return Refusal(RefusalCode.AMOUNT_LIMIT, "amount would lead the balance beyond the largest amount")
    # The sum of all balances of an asset is what came in from outside. The engine has the same bound.
    if abs(contra.available - amount) > AMOUNT_MAX:
        return Refusal(RefusalCode.AMOUNT_LIMIT, "amount would lead the sum of this asset beyond the largest amount")
    return None
