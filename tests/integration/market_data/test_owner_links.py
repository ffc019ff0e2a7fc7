"""The engine's links of owners follow the table that operators write, whatever becomes of them."""

import asyncio

import asyncpg
import pytest

from openspot.contracts.gen.exchange.v1 import accounts_pb2 as pb
from openspot.kit.settings import Settings
from openspot.market_data import operator as operator_commands
from openspot.market_data.operator import PriceOperator, PriceOperatorError
from tests.support.engine_client import EngineClient
from tests.support.market_data import running_market_data
from tests.support.waiting import eventually

LINK = pb.OwnerLink(first_participant_id="alice", second_participant_id="bob")


@pytest.fixture
async def operator(pool: asyncpg.Pool) -> PriceOperator:
    """The commands, and the engine's users as registered ones."""
    for name in ("alice", "bob", "carol"):
        await pool.execute(
            "INSERT INTO users (user_id, email, password_hash, role) VALUES ($1, $2, '', 'user')",
            name,
            f"{name}@example.org",
        )
    return PriceOperator(pool)


async def test_a_link_reaches_the_engine_and_is_repaired_until_it_ends(
    settings: Settings, engine: EngineClient, operator: PriceOperator, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("openspot.market_data.leader_session.OPERATOR_S", 0.05)

    async def changed_by(*links: pb.OwnerLink) -> bool:
        """Whether a list of links, which then stands in the engine, was another one there."""
        return (await engine.accounts.SetOwners(pb.SetOwnersRequest(links=links))).changed == 1

    async with running_market_data(settings):
        assert not await changed_by()
        await operator.link("alice", "bob", reason="one person", who="olga")
        # Taking it away shows that it was there. It comes back by itself.
        for _ in range(2):
            await eventually(changed_by)
        await operator.unlink("alice", "bob", reason="two after all", who="olga")
        for _ in range(2):
            await eventually(lambda: changed_by(LINK))


async def test_more_links_than_the_engine_takes_are_refused(
    operator: PriceOperator, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(operator_commands, "LINKS_MAX", 1)
    await operator.link("alice", "bob", reason="one person", who="olga")
    with pytest.raises(PriceOperatorError, match="1 links count, and more than 1 cannot: unlink some users first"):
        await operator.link("alice", "carol", reason="one person", who="olga")
    await operator.unlink("alice", "bob", reason="two after all", who="olga")
    await operator.link("alice", "carol", reason="one person", who="olga")


async def test_two_commands_at_once_do_not_pass_the_limit_together(
    operator: PriceOperator, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(operator_commands, "LINKS_MAX", 1)
    pairs = (("alice", "bob"), ("bob", "carol"), ("alice", "carol"))
    outcomes = await asyncio.gather(
        *(operator.link(*pair, reason="one person", who="olga") for pair in pairs), return_exceptions=True
    )
    assert sorted(isinstance(outcome, PriceOperatorError) for outcome in outcomes) == [False, True, True]


async def test_the_link_of_a_deleted_user_can_be_ended(operator: PriceOperator) -> None:
    for pair in (("alice", "bob"), ("bob", "carol")):
        await operator.link(*pair, reason="one person", who="olga")
    await operator.pool.execute("DELETE FROM users WHERE user_id = 'bob'")
    assert await operator.unlink("alice", "bob", reason="left", who="olga") == ("alice and bob are not linked any more")
    assert await operator.unlink("bob", "carol", reason="left", who="olga") == "bob and carol are not linked any more"
    # Now nobody of that name is left.
    with pytest.raises(PriceOperatorError, match="USER_A: nobody is registered as bob"):
        await operator.unlink("bob", "carol", reason="left", who="olga")
