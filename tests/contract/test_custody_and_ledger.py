"""What custody's events have the engine do, the ledger takes: else a deposit would be sent to it again for ever."""

import asyncio
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from openspot.contracts.messages import (
    DepositConfirmed,
    ExecutedTransfer,
    LedgerPosting,
    LedgerPostingReply,
    TransferMovement,
    WithdrawalOutcome,
)
from openspot.domain.ids import EXTERNAL_ACCOUNT_ID, RESERVED_SUFFIXES
from openspot.domain.market import load_markets
from openspot.ledger.changes import CONTRA_SUFFIX
from openspot.ledger.postings import POSTING_NAMES, transfer_entry
from openspot.ledger.schemas import checked_credit_or_debit
from openspot.router.custody.bridge import CustodyBridge, CustodyError

ASSETS = load_markets().assets

# Texts near the bounds of what is allowed, and any others.
REFERENCES = st.one_of(
    st.from_regex(r"[!-~]{1,130}", fullmatch=True),
    st.builds(str.__add__, st.text(max_size=20), st.sampled_from(RESERVED_SUFFIXES)),
    st.text(max_size=20),
)
USERS = st.one_of(
    st.from_regex(r"[A-Za-z0-9_:-]{1,66}", fullmatch=True), st.just(EXTERNAL_ACCOUNT_ID), st.text(max_size=9)
)
AMOUNTS = st.one_of(
    st.decimals(min_value=-1, max_value=10**21, places=None, allow_nan=True).map(str),
    st.from_regex(r"[0-9]{1,24}(\.[0-9]{1,20})?([eE][+-]?[0-9]{1,2})?", fullmatch=True),
)


class Recorder:
    """Stands for the engine and for the bus: it does whatever it is asked, and keeps what that was."""

    def __init__(self) -> None:
        self.engine_calls: list[str] = []
        self.postings: list[LedgerPosting] = []

    async def deposit(self, user_id: str, asset: str, amount: str, reference: str) -> str:
        self.engine_calls.append(reference)
        return "SUCCESS"

    async def complete_withdrawal(self, user_id: str, asset: str, amount: str, reference: str) -> str:
        self.engine_calls.append(reference)
        return "SUCCESS"

    async def request(self, subject: str, posting: LedgerPosting, reply_type: Any) -> LedgerPostingReply:
        self.postings.append(posting)
        return LedgerPostingReply(True, "0")

    def register(self, consumer: object) -> None:
        """Its consumers are in no health check: none runs."""

    def key_value(self, bucket: str, value_type: type, life_s: float | None) -> None:
        """No bucket: only withdrawal requests use it, and none is carried out here."""


def carried_out(event: DepositConfirmed | WithdrawalOutcome) -> Recorder:
    recorder = Recorder()
    bridge = CustodyBridge(recorder, recorder, ASSETS, lambda: 0)  # type: ignore[arg-type]

    async def carry_out() -> None:
        try:
            await (bridge.deposit(event) if isinstance(event, DepositConfirmed) else bridge.complete(event))
        except CustodyError:
            assert not recorder.engine_calls, "what is given up was not begun"

    asyncio.run(carry_out())
    return recorder


@given(REFERENCES, USERS, st.sampled_from([*ASSETS, "DOGE"]), AMOUNTS)
@settings(max_examples=150, deadline=None)
def test_a_deposit_or_withdrawal_that_the_engine_makes_is_one_that_the_ledger_takes(
    reference: str, user_id: str, asset: str, amount: str
) -> None:
    for event, sign in (
        (DepositConfirmed(reference, user_id, asset, amount), 1),
        (WithdrawalOutcome(reference, user_id, asset, amount), -1),
    ):
        recorder = carried_out(event)
        assert len(recorder.engine_calls) == len(recorder.postings)
        for posting in recorder.postings:
            assert checked_credit_or_debit(posting, sign).transaction_id == reference


@pytest.mark.spec("A7-13")
async def test_a_deposit_of_an_asset_without_a_scale_fails_as_an_unknown_currency() -> None:
    recorder: Any = Recorder()
    bridge = CustodyBridge(recorder, recorder, ASSETS, lambda: 0)
    with pytest.raises(CustodyError, match=r"^Unknown currency$"):
        await bridge.deposit(DepositConfirmed("0xabc", "carol", "DOGE", "1"))
    assert (recorder.engine_calls, recorder.postings) == ([], [])


def test_an_ordinary_deposit_reaches_both() -> None:
    recorder = carried_out(DepositConfirmed("0xabc:1", "house:fees", "USD", "10.50"))
    assert recorder.engine_calls == ["0xabc:1"]
    assert [posting.amount for posting in recorder.postings] == ["10.5"]


def test_the_reserved_endings_are_those_that_the_ledger_gives() -> None:
    movement = TransferMovement("a", "b", "USD", "1")
    entry = transfer_entry(ExecutedTransfer("r", "conversion", [movement], 1, 1))
    of_transfers = {
        f":{posting.transaction_id.rpartition(':')[2]}" for posting in (*entry.postings, *entry.house_postings)
    }
    assert set(RESERVED_SUFFIXES) == {CONTRA_SUFFIX, *(f":{name}" for name in POSTING_NAMES)} | of_transfers
