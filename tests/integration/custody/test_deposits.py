"""A deposit counts when it has the confirmations of its network, and not one block before."""

from typing import Any

import asyncpg

from openspot.custody.chain import SimulatedChain
from openspot.custody.deposits import ChainDeposit, Deposits
from openspot.domain.market import load_markets
from openspot.domain.networks import load_networks
from tests.support.custody import BITCOIN_ADDRESS, FakeTime

BLOCK_S = 10.0


class Published:
    """Keeps the deposits that are announced."""

    def __init__(self) -> None:
        self.events: list[Any] = []

    async def publish(self, _subject: str, message: Any, _message_id: str) -> None:
        self.events.append(message)


async def test_a_deposit_counts_with_its_last_confirmation_and_not_one_block_before(pool: asyncpg.Pool) -> None:
    time = FakeTime()
    chain = SimulatedChain(pool, BLOCK_S)
    deposits = Deposits(pool, chain, load_networks(), load_markets().assets, time, confirmations_required=3)
    await pool.execute(
        "INSERT INTO custody_addresses (user_id, network, address, created_at) VALUES ('alice', 'bitcoin', $1, now())",
        BITCOIN_ADDRESS,
    )
    published = Published()
    await deposits.include(ChainDeposit("0x1", "bitcoin", BITCOIN_ADDRESS, "BTC", "1"))
    # The next block includes it, which is its first confirmation.
    for confirmations in range(3):
        assert await deposits.announce_confirmed(published) == 0, f"after {confirmations} confirmations"
        time.pass_seconds(BLOCK_S)
    assert await deposits.announce_confirmed(published) == 1
    assert [(event.user_id, event.amount, event.confirmations) for event in published.events] == [("alice", "1", 3)]
    time.pass_seconds(BLOCK_S)
    assert await deposits.announce_confirmed(published) == 0
