"""A repeated request finds its withdrawal only if every field is the same."""

from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import msgspec
import pytest

from openspot.contracts.messages import CreateWithdrawal
from openspot.contracts.refusals import RefusalCode
from openspot.custody.wallet_policy import Wallet
from openspot.custody.withdrawal_states import Funds, Status
from openspot.custody.withdrawal_store import Withdrawal
from openspot.custody.withdrawals import WithdrawalError, checked_repeat

NOW = datetime(2026, 3, 1, tzinfo=UTC)
REQUEST = CreateWithdrawal(
    withdrawal_id="w1",
    user_id="alice",
    asset="XRP",
    network="ripple",
    amount="5",
    fee="0.1",
    address="rAddress",
    tag="7",
    user_limit_cents=10**9,
    client_withdrawal_id="c1",
)
EARLIER = Withdrawal(
    withdrawal_id="w1", user_id="alice", client_withdrawal_id="c1", asset="XRP", network="ripple", amount=Decimal(5),
    fee=Decimal("0.1"), net_amount=Decimal("4.9"), address="rAddress", tag="7", wallet=Wallet.HOT, price=Decimal(1),
    value_cents=500, approvals_needed=0, status=Status.COMPLETED, funds=Funds.TAKEN, reason=None, digest=None,
    tx_hash=None, height=None, confirmations=2, required_confirmations=2, created_at=NOW, updated_at=NOW,
)  # fmt: skip


def test_the_same_request_finds_its_withdrawal() -> None:
    assert checked_repeat(EARLIER, REQUEST, Decimal("5.0")) is EARLIER


@pytest.mark.parametrize(
    "changed",
    [
        {"tag": "8"},
        {"tag": None},
        {"address": "rOther"},
        {"amount": "6"},
        {"asset": "XLM"},
        {"network": "stellar"},
        {"user_id": "bob"},
    ],
)
def test_another_withdrawal_is_never_taken_for_a_repeat(changed: dict[str, Any]) -> None:
    request = msgspec.structs.replace(REQUEST, **changed)
    with pytest.raises(WithdrawalError, match="was used before, for another withdrawal") as refused:
        checked_repeat(EARLIER, request, Decimal(request.amount))
    assert refused.value.refusal.code is RefusalCode.REFERENCE_USED
