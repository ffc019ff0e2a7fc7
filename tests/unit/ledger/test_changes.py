"""What a batch of credits, debits, locks and unlocks comes to."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from openspot.contracts.refusals import Refusal, RefusalCode
from openspot.domain.accounts import AccountKey
from openspot.domain.money import AMOUNT_MAX, AMOUNT_SCALE
from openspot.ledger.changes import (
    AccountState,
    BatchDecision,
    Change,
    ChangeResult,
    CreditOrDebit,
    LockKey,
    LockOrUnlock,
    Recorded,
    accounts_of,
    decide,
)
from openspot.ledger.postings import changes_of, running_balances, sums

ANN = AccountKey("ann", "USD")
OUTSIDE = AccountKey("house:external", "USD")


def post(transaction_id: str, amount: int, user_id: str = "ann") -> CreditOrDebit:
    return CreditOrDebit(transaction_id, user_id, "USD", amount, "deposit", "custody", "r")


def move(amount: int, reference_id: str = "r", user_id: str = "ann") -> LockOrUnlock:
    return LockOrUnlock(user_id, "USD", amount, reference_id)


def decided(
    changes: list[Change],
    accounts: dict[AccountKey, AccountState] | None = None,
    recorded: dict[str, Recorded] | None = None,
    locked_before: dict[LockKey, int] | None = None,
) -> BatchDecision:
    return decide(changes, accounts or {}, recorded or {}, locked_before or {})


@pytest.mark.spec("A2.4-08")
def test_a_credit_makes_the_account_and_has_its_other_side_outside() -> None:
    decision = decided([post("t1", 5)])
    assert decision.results == [ChangeResult(None, 5, changed=True)]
    assert decision.states == {ANN: AccountState(5, 0, 1), OUTSIDE: AccountState(-5, 0, 1)}
    assert [(posting.transaction_id, posting.account, posting.amount) for posting in decision.postings] == [
        ("t1", ANN, 5),
        ("t1:contra", OUTSIDE, -5),
    ]
    assert decision.balances == [5, -5]
    assert [tuple(change) for change in decision.balance_changes] == [(ANN, AccountState(5, 0, 1), "t1")]


@pytest.mark.spec("B4.3-11")
def test_a_debit_beyond_available_is_refused_and_changes_nothing() -> None:
    decision = decided([post("t1", -6)], {ANN: AccountState(5, 100, 3)})
    reason = "insufficient balance: 0.000000000000000005 available"
    assert decision.results == [ChangeResult(Refusal(RefusalCode.INSUFFICIENT_BALANCE, reason), 5)]
    assert not decision.states
    assert not decision.postings
    assert not decision.balance_changes


def test_a_debit_of_everything_is_done() -> None:
    decision = decided([post("t1", -5)], {ANN: AccountState(5, 0, 3), OUTSIDE: AccountState(-5, 0, 3)})
    assert decision.states == {ANN: AccountState(0, 0, 4), OUTSIDE: AccountState(0, 0, 4)}


def test_a_debit_of_money_that_was_already_moved_is_done_even_below_zero() -> None:
    posting = post("t1", -6)._replace(already_moved=True)
    decision = decided([posting], {ANN: AccountState(5, 100, 3), OUTSIDE: AccountState(-105, 0, 3)})
    assert decision.results == [ChangeResult(None, -1, changed=True)]
    assert decision.states == {ANN: AccountState(-1, 100, 4), OUTSIDE: AccountState(-99, 0, 4)}
    assert decision.balances == [99, -99]
    refused = decided([post("t1", -AMOUNT_MAX)._replace(already_moved=True)], {ANN: AccountState(-1, 0, 3)})
    assert refused.results[0].refusal == Refusal(
        RefusalCode.AMOUNT_LIMIT, "amount would lead the balance beyond the largest amount"
    )


def test_a_debit_of_a_missing_account_is_refused() -> None:
    assert decided([post("t1", -1)]).results == [
        ChangeResult(Refusal(RefusalCode.INSUFFICIENT_BALANCE, "insufficient balance: 0 available"), 0)
    ]


@pytest.mark.spec("A2.4-06", "A2.4-07")
@pytest.mark.parametrize("amount", [5, -5])
def test_a_repeat_succeeds_with_the_balance_as_it_is_and_changes_nothing(amount: int) -> None:
    decision = decided([post("t1", amount)], {ANN: AccountState(70, 0, 3)}, {"t1": Recorded("ann", "USD", amount)})
    assert decision.results == [ChangeResult(None, 70)]
    assert not decision.states
    assert not decision.postings


@pytest.mark.parametrize(
    "known",
    [Recorded("bob", "USD", 5), Recorded("ann", "BTC", 5), Recorded("ann", "USD", 6), Recorded("ann", "USD", -5)],
)
def test_a_repeat_with_other_fields_changes_nothing_either_and_is_noticed(known: Recorded) -> None:
    decision = decided([post("t1", 5)], {ANN: AccountState(70, 0, 3)}, {"t1": known})
    assert decision.results == [ChangeResult(None, 70, altered=True)]
    assert not decision.states


def test_a_repeat_in_the_same_batch_is_a_repeat() -> None:
    decision = decided([post("t1", 5), post("t1", 5), post("t2", 1)])
    assert [(outcome.available, outcome.changed) for outcome in decision.results] == [(5, True), (5, False), (6, True)]
    assert decision.states[ANN] == AccountState(6, 0, 2)


def test_a_refused_transaction_id_can_be_used_later() -> None:
    decision = decided([post("t1", -5), post("t2", 9), post("t1", -5)])
    assert [outcome.refusal is None for outcome in decision.results] == [False, True, True]


def test_no_balance_and_no_sum_exceeds_the_largest_amount() -> None:
    full = {ANN: AccountState(AMOUNT_MAX - 1, 0, 1), OUTSIDE: AccountState(1 - AMOUNT_MAX, 0, 1)}
    own = decided([post("t1", 2)], full).results[0]
    assert own.refusal == Refusal(RefusalCode.AMOUNT_LIMIT, "amount would lead the balance beyond the largest amount")
    others = decided([post("t1", 2, "bob")], full).results[0]
    assert others.refusal == Refusal(
        RefusalCode.AMOUNT_LIMIT, "amount would lead the sum of this asset beyond the largest amount"
    )
    assert decided([post("t1", 1)], full).results[0].refusal is None
    assert decided([post("t1", AMOUNT_MAX)]).results[0].refusal is None


def test_a_lock_moves_available_to_locked_and_an_unlock_moves_it_back() -> None:
    decision = decided([move(4), move(-3)], {ANN: AccountState(5, 0, 1)})
    assert [outcome.available for outcome in decision.results] == [1, 4]
    assert decision.states == {ANN: AccountState(4, 1, 3)}
    assert decision.locks == [move(4), move(-3)]
    assert not decision.postings, "the total has not changed"
    assert [change.transaction_id for change in decision.balance_changes] == ["lock:r:USD:ann", "unlock:r:USD:ann"]


@pytest.mark.parametrize(
    ("change", "error"),
    [
        (move(6), "insufficient balance: 0.000000000000000005 available"),
        (move(-3), "insufficient balance: 0.000000000000000002 locked"),
        (move(1, user_id="bob"), "insufficient balance: 0 available"),
        (move(-1, user_id="bob"), "insufficient balance: 0 locked"),
    ],
)
def test_a_lock_or_unlock_that_is_not_covered_is_refused(change: LockOrUnlock, error: str) -> None:
    decision = decided([change], {ANN: AccountState(5, 2, 1)})
    assert decision.results[0].refusal == Refusal(RefusalCode.INSUFFICIENT_BALANCE, error)
    assert not decision.states
    assert not decision.locks


def test_a_repeated_movement_succeeds_and_changes_nothing() -> None:
    decision = decided([move(4)], {ANN: AccountState(1, 4, 1)}, locked_before={move(4).key: 4})
    assert decision.results == [ChangeResult(None, 1)]
    assert not decision.states


def test_a_reference_that_is_used_for_another_amount_is_refused() -> None:
    decision = decided(
        [move(3 * AMOUNT_SCALE)], {ANN: AccountState(AMOUNT_MAX, 0, 1)}, locked_before={move(1).key: AMOUNT_SCALE}
    )
    assert decision.results[0].refusal == Refusal(RefusalCode.REFERENCE_USED, "referenceId was already used to lock 1")


def test_a_lock_and_an_unlock_may_share_a_reference_and_so_may_two_users() -> None:
    accounts = {ANN: AccountState(5, 0, 1), AccountKey("bob", "USD"): AccountState(5, 0, 1)}
    decision = decided([move(2), move(-2), move(2, user_id="bob")], accounts)
    assert [outcome.refusal for outcome in decision.results] == [None, None, None]


def test_the_accounts_of_a_batch_are_the_users_and_the_outside_of_what_is_posted() -> None:
    assert accounts_of([post("t1", 1), move(1, user_id="bob")]) == {ANN, OUTSIDE, AccountKey("bob", "USD")}


users = st.sampled_from(["ann", "bob", "cat", "house:fees"])
changes = st.one_of(
    st.builds(post, st.integers(1, 40).map(str), st.integers(-50, 60).filter(bool), users),
    st.builds(move, st.integers(-30, 30).filter(bool), st.integers(1, 40).map(str), users),
)


@given(st.lists(st.lists(changes, max_size=12), max_size=6))
def test_batches_conserve_every_asset_and_leave_nothing_below_zero(batches: list[list[Change]]) -> None:
    accounts: dict[AccountKey, AccountState] = {}
    recorded: dict[str, Recorded] = {}
    locked_before: dict[LockKey, int] = {}
    for batch in batches:
        decision = decide(batch, accounts, recorded, locked_before)
        assert len(decision.results) == len(batch)
        assert not any(sums(changes_of(decision.postings)).values())
        totals = {
            account: accounts.get(account, AccountState(0, 0, 0)).total for account in changes_of(decision.postings)
        }
        assert decision.balances == running_balances(decision.postings, totals)
        posted = changes_of(decision.postings)
        for account, state in decision.states.items():
            before = accounts.get(account, AccountState(0, 0, 0))
            assert state.total - before.total == posted.get(account, 0)
            assert state.version > before.version
        accounts |= decision.states
        recorded |= {
            posting.transaction_id: Recorded(*posting.account, posting.amount)
            for posting in decision.postings
            if not posting.transaction_id.endswith(":contra")
        }
        locked_before |= {lock.key: lock.amount for lock in decision.locks}
        for account, state in accounts.items():
            assert state.locked >= 0
            assert state.available >= 0 or account == OUTSIDE
    assert sum(state.total for state in accounts.values()) == 0
