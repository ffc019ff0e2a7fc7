"""Transfers through engine, router and ledger: the mirrors agree; a lost one is named, and a rebuild writes it."""

from openspot.contracts.gen.exchange.v1 import accounts_pb2 as pb
from openspot.reconcile.rebuild import rebuild
from tests.support.mirrored_market import MirroredMarket

HOUSE = "house:staking"


def stake(reference: str, amount: str) -> pb.TransferRequest:
    """A stake of alice's, and a fee of bob's to the house."""
    movements = [
        pb.Movement(from_participant_id="alice", to_participant_id=HOUSE, currency="USD", amount=amount),
        pb.Movement(from_participant_id="bob", to_participant_id="house:fees", currency="BTC", amount="0.001"),
    ]
    return pb.TransferRequest(reference=reference, kind="staking", movements=movements)


async def test_mirrored_transfers_agree_and_a_lost_one_is_named_and_rebuilt(market: MirroredMarket) -> None:
    for number in range(5):
        assert (await market.engine.accounts.Transfer(stake(f"s-{number}", "1.25"))).success
    report = await market.reconcile()
    assert report.differences == []
    assert report.caught_up
    held = {account.account: list(map(str, account.holdings)) for account in report.house_accounts}
    assert (held[HOUSE], held["house:fees"], held["house:rewards"]) == (["6.25 USD"], ["0.005 BTC"], [])
    assert held["house:external"] == ["-300.00000003 BTC", "-300000 USD"]
    lost = "s-2:%"
    await market.pool.execute("DELETE FROM ledger_entries WHERE transaction_id LIKE $1", lost)
    await market.pool.execute(
        "UPDATE ledger_accounts SET available = available + 1.25 WHERE user_id = 'alice' AND asset = 'USD'"
    )
    await market.pool.execute("UPDATE ledger_accounts SET available = available - 1.25 WHERE user_id = $1", HOUSE)
    await market.pool.execute(
        "UPDATE ledger_accounts SET available = available + 0.001 WHERE user_id = 'bob' AND asset = 'BTC'"
    )
    await market.pool.execute("UPDATE ledger_accounts SET available = available - 0.001 WHERE user_id = 'house:fees'")
    report = await market.reconcile()
    named = {(difference.kind, difference.name) for difference in report.differences}
    assert {("settlement", "s-2"), ("balance", "alice USD"), ("balance", f"{HOUSE} (staked funds) USD")} <= named
    assert (await rebuild(market.settings, is_plan=True)).counts["ledger entry"] == 4
    assert (await rebuild(market.settings, is_plan=False)).counts["ledger entry"] == 4
    assert (await rebuild(market.settings, is_plan=True)).total == 0
    assert (await market.reconcile()).differences == []
