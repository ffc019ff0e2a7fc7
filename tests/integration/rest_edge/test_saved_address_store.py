"""The table of saved addresses: one row for what a user saves twice, a limit for each user, and nothing of others."""

import asyncio
from dataclasses import replace
from typing import Any

import asyncpg

from openspot.kit.database import Connection
from openspot.rest_edge.funds.addresses.store import SavedAddress, WithdrawalAddressStore
from tests.support.filled_tables import insert
from tests.support.waiting import eventually
from tests.unit.rest_edge.test_withdrawal_operations import SAVED

_IS_WAITING = """
    SELECT EXISTS (SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock')
"""


async def nothing(connection: Connection, saved: SavedAddress) -> None:
    """Write nothing beside a change."""


async def test_an_address_is_saved_once_and_known_by_asset_network_address_and_tag(pool: asyncpg.Pool) -> None:
    store = WithdrawalAddressStore(pool)

    async def added(**fields: Any) -> str | None:
        return await store.add("alice", replace(SAVED, **fields), 7, nothing)

    assert [await added(), await added(address_id="b")] == ["a1", "a1"]
    for number, other in enumerate(({"asset": "ETH"}, {"network": "tron"}, {"address": "tb1p"}, {"tag": "1"})):
        assert await added(address_id=f"n{number}", **other) == f"n{number}"
        assert await added(address_id="b", **other) == f"n{number}"
    assert await added(address_id="t2", tag="2") == "t2"
    assert [each.address_id for each in await store.all_of("alice")] == ["a1", "n0", "n1", "n2", "n3", "t2"]


async def test_the_limit_holds_for_each_user_and_what_is_saved_already_is_still_found(pool: asyncpg.Pool) -> None:
    store = WithdrawalAddressStore(pool)

    async def added(user: str, address_id: str, address: str) -> str | None:
        return await store.add(user, replace(SAVED, address_id=address_id, address=address), 2, nothing)

    assert [await added("alice", "a1", "x"), await added("alice", "a2", "y"), await added("alice", "a3", "z")] == [
        "a1", "a2", None,
    ]  # fmt: skip
    assert await added("alice", "a3", "x") == "a1"
    assert await added("bob", "b1", "x") == "b1"


async def test_of_two_at_once_one_takes_the_last_place(pool: asyncpg.Pool) -> None:
    await insert(pool, "users", {"user_id": "alice"}, role="user", email="alice@example.org")
    store = WithdrawalAddressStore(pool)
    tasks: list[asyncio.Task[str | None]] = []

    async def beside_another(connection: Connection, saved: SavedAddress) -> None:
        """The first has counted and added. Go as far with the second as that lets it."""
        second = store.add("alice", replace(SAVED, address_id="a2", address="y"), 1, nothing)
        tasks.append(asyncio.ensure_future(second))

        async def is_held_up() -> bool:
            return tasks[0].done() or bool(await pool.fetchval(_IS_WAITING))

        await eventually(is_held_up)

    assert (await store.add("alice", SAVED, 1, beside_another), await tasks[0]) == ("a1", None)
    assert [each.address_id for each in await store.all_of("alice")] == ["a1"]


async def test_the_addresses_of_a_user_are_nobody_elses(pool: asyncpg.Pool) -> None:
    store = WithdrawalAddressStore(pool)
    whole: SavedAddress = replace(
        SAVED, tag="7", is_own=False, beneficiary_name="Bob", beneficiary_country="DE", beneficiary_vasp_id="v1"
    )
    await store.add("alice", whole, 2, nothing)
    assert (await store.find("alice", "a1"), await store.all_of("alice")) == (whole, [whole])
    assert (await store.find("bob", "a1"), await store.all_of("bob")) == (None, [])
    assert not await store.delete("bob", "a1", nothing)
    assert await store.find("alice", "a1") == whole
    assert await store.delete("alice", "a1", nothing)
    assert (await store.find("alice", "a1"), await store.delete("alice", "a1", nothing)) == (None, False)
