"""What custody does next with a withdrawal, for every pair of states."""

import itertools

import pytest

from openspot.custody.chain import confirmations
from openspot.custody.wallet_policy import Wallet
from openspot.custody.withdrawal_states import (
    CANCELLABLE,
    REJECTABLE,
    SETTLED_FUNDS,
    UNSENT,
    Funds,
    Status,
    WithdrawalStep,
    next_step,
)
from openspot.kit.hash_chain import FIRST_HASH, entry_hash
from tests.support.custody import first_break


def step(
    status: Status, funds: Funds, *, approvals: int = 0, needed: int = 1, signatures: int = 0
) -> WithdrawalStep | None:
    return next_step(status, funds, wallet=Wallet.WARM, approvals=approvals, needed=needed, signatures=signatures)


@pytest.mark.parametrize("status", list(Status))
@pytest.mark.spec("A1.5-10")
def test_nothing_but_the_request_happens_before_the_funds_are_reserved(status: Status) -> None:
    plenty = {"approvals": 9, "signatures": 9}
    assert step(status, Funds.NEW, **plenty) is WithdrawalStep.REQUEST_FUNDS
    for funds in (Funds.REQUESTED, *SETTLED_FUNDS):
        assert step(status, funds, **plenty) is None


@pytest.mark.parametrize("status", sorted(UNSENT))
def test_reserved_funds_of_a_withdrawal_that_was_not_sent_are_released(status: Status) -> None:
    assert step(status, Funds.RESERVED) is WithdrawalStep.RELEASE_FUNDS


@pytest.mark.parametrize(
    ("approvals", "needed", "expected"), [(0, 0, WithdrawalStep.APPROVE), (1, 2, None), (2, 2, WithdrawalStep.APPROVE)]
)
def test_a_withdrawal_waits_for_its_last_approval(approvals: int, needed: int, expected: WithdrawalStep | None) -> None:
    assert step(Status.PENDING_APPROVAL, Funds.RESERVED, approvals=approvals, needed=needed) is expected


@pytest.mark.parametrize(("signatures", "expected"), [(2, None), (3, WithdrawalStep.SIGN)])
def test_a_withdrawal_waits_for_its_last_signature(signatures: int, expected: WithdrawalStep | None) -> None:
    assert step(Status.SIGNING, Funds.RESERVED, signatures=signatures) is expected


def test_each_state_has_one_step_that_leads_on() -> None:
    steps = [step(status, Funds.RESERVED, approvals=9, signatures=9) for status in Status if status not in UNSENT]
    assert steps == [
        WithdrawalStep.APPROVE,
        WithdrawalStep.PREPARE,
        WithdrawalStep.SIGN,
        WithdrawalStep.SEND,
        WithdrawalStep.COUNT_CONFIRMATIONS,
        WithdrawalStep.TAKE_FUNDS,
    ]


def test_nothing_that_may_have_been_sent_can_be_cancelled_or_rejected() -> None:
    sent = {Status.BROADCASTING, Status.CONFIRMING, Status.COMPLETED}
    assert not sent & (CANCELLABLE | REJECTABLE | UNSENT)
    assert Status.APPROVED not in CANCELLABLE


@pytest.mark.parametrize(("height", "expected"), [(9, 0), (10, 1), (11, 2), (8, 0)])
def test_the_block_that_includes_a_transaction_is_its_first_confirmation(height: int, expected: int) -> None:
    assert confirmations(height, 10) == expected


def chain(length: int) -> list[tuple[str, str, dict[str, str | int | None]]]:
    entries, previous = [], FIRST_HASH
    for number in range(length):
        content: dict[str, str | int | None] = {"decision": "approved", "number": number, "detail": None}
        own = entry_hash(previous, content)
        entries.append((previous, own, content))
        previous = own
    return entries


def test_an_untouched_audit_chain_has_no_break() -> None:
    assert first_break(chain(5)) is None
    assert first_break([]) is None


@pytest.mark.parametrize("place", range(5))
def test_a_changed_entry_breaks_the_audit_chain_at_its_place(place: int) -> None:
    entries = chain(5)
    previous, own, content = entries[place]
    entries[place] = (previous, own, content | {"decision": "rejected"})
    assert first_break(entries) == place


@pytest.mark.parametrize("place", range(4))
def test_a_removed_or_swapped_entry_breaks_the_audit_chain(place: int) -> None:
    entries = chain(5)
    assert first_break(entries[:place] + entries[place + 1 :]) == place
    swapped = [*entries]
    swapped[place], swapped[place + 1] = swapped[place + 1], swapped[place]
    assert first_break(swapped) == place


def test_an_entry_with_a_hash_of_its_own_making_breaks_the_chain_behind_it() -> None:
    entries = chain(5)
    previous, _, content = entries[2]
    forged = content | {"decision": "rejected"}
    entries[2] = (previous, entry_hash(previous, forged), forged)
    assert first_break(entries) == 3


@pytest.mark.parametrize(("one", "other"), list(itertools.combinations(["a", 1, None, "1", ""], 2)))
def test_different_contents_have_different_hashes(one: str | int | None, other: str | int | None) -> None:
    assert entry_hash(FIRST_HASH, {"detail": one}) != entry_hash(FIRST_HASH, {"detail": other})
