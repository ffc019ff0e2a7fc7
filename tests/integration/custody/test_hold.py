"""The hold: while it is there, no withdrawal is approved, signed or sent."""

from pathlib import Path

from openspot.custody.hold import hold_reason, hold_withdrawals, release_withdrawals
from openspot.custody.withdrawal_states import Funds, Status
from tests.support.custody import CustodyBench


async def test_a_held_withdrawal_reserves_its_funds_and_is_sent_after_the_release(
    custody: CustodyBench, tmp_path: Path
) -> None:
    custody.is_held = lambda: bool(hold_reason(tmp_path))
    hold_withdrawals(tmp_path, "restored")
    assert hold_reason(tmp_path).startswith("restored, since 2")
    withdrawal = await custody.create("0.09")
    await custody.advance()
    found = await custody.get(withdrawal.withdrawal_id)
    assert (found.status, found.funds) == (Status.PENDING_APPROVAL, Funds.RESERVED)
    assert await custody.sent() == []
    assert release_withdrawals(tmp_path)
    assert not release_withdrawals(tmp_path)
    await custody.advance()
    assert (await custody.get(withdrawal.withdrawal_id)).status is Status.COMPLETED


def test_a_hold_that_cannot_be_read_holds(tmp_path: Path) -> None:
    assert hold_reason(tmp_path) == ""
    (tmp_path / "withdrawals-held.json").write_text("{", "utf-8")
    assert hold_reason(tmp_path) == "its file cannot be read"
