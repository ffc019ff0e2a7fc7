"""What a user may ask of the position service: a rate of requests, and a number of transfers."""

import asyncio
from contextlib import suppress
from typing import Any

import asyncpg
import pytest

from openspot.http.context import Identity
from openspot.http.errors import HttpError
from openspot.http.policy import Access
from openspot.kit.database import Connection
from openspot.positions.app import PREFIX
from openspot.positions.lifecycle import PositionTransferKind, TransferTrigger
from openspot.positions.settings import PositionSettings
from openspot.positions.transfers.schemas import TransferBody
from openspot.positions.transfers.service import TransferService
from openspot.positions.transfers.store import PositionTransferStore
from tests.support.ports import free_port
from tests.support.positions import SERVICE_HEADERS, PositionClient, running_positions
from tests.support.rest_client import Reply

ALICE = Identity("alice", Access.USER)
OPERATOR = Identity("root", Access.USER | Access.ADMIN)


def bounded(pool: asyncpg.Pool, *, pending_max: int = 100, day_max: int = 100) -> TransferService:
    """Transfers with these bounds."""
    store = PositionTransferStore(pool)
    return TransferService(pool, store, frozenset({"USD"}), pending_max=pending_max, day_max=day_max)


async def begin(transfers: TransferService, number: int, caller: Identity = ALICE) -> str:
    """Create a deposit of alice, and return its id."""
    body = TransferBody.model_validate({"participantId": "alice", "assetId": "USD", "amount": "5"})
    transfer, _ = await transfers.create(caller, PositionTransferKind.DEPOSIT, body, f"t{number}")
    return transfer.id


async def report(positions: PositionClient, headers: dict[str, str]) -> Reply:
    """A report without any field."""
    positions.token = None
    return await positions("POST", "/bvi/order-completed", {}, prefix=PREFIX, headers=headers)


async def refusal_of(work: Any) -> tuple[int, str, object]:
    with pytest.raises(HttpError) as caught:
        await work
    return caught.value.status_code, caught.value.code, caught.value.message


async def test_a_participant_has_a_bounded_number_of_transfers_that_wait(
    positions: PositionClient, pool: asyncpg.Pool
) -> None:
    transfers = bounded(pool, pending_max=2)
    outcomes = await asyncio.gather(*(begin(transfers, number) for number in range(6)), return_exceptions=True)
    begun = [outcome for outcome in outcomes if isinstance(outcome, str)]
    assert len(begun) == 2
    message = "2 transfers of alice have not ended: cancel one first"
    assert await refusal_of(begin(transfers, 10)) == (409, "TOO_MANY_TRANSFERS", message)
    # A refused one is not there, a repeated one is no new one, and one that ended makes room.
    assert await pool.fetchval("SELECT count(*) FROM position_transfers") == 2
    assert await begin(transfers, int(begun[0][1:])) == begun[0]
    assert await begin(transfers, 12, OPERATOR) == "t12"
    await transfers.end(OPERATOR, "t12", TransferTrigger.CANCEL)
    await transfers.end(ALICE, begun[0], TransferTrigger.CANCEL)
    assert await begin(transfers, 11) == "t11"


class CountedTogether(PositionTransferStore):
    """Lets a counted transfer go on when another one is counted too, or when none is for a while."""

    def __init__(self, pool: asyncpg.Pool) -> None:
        super().__init__(pool)
        self._counted = 0
        self._both = asyncio.Event()

    async def pending(self, connection: Connection, participant_id: str) -> int:
        count = await super().pending(connection, participant_id)
        self._counted += 1
        if self._counted == 2:
            self._both.set()
        with suppress(TimeoutError):
            async with asyncio.timeout(0.2):
                await self._both.wait()
        return count


async def test_transfers_that_begin_at_once_are_counted_one_after_the_other(
    positions: PositionClient, pool: asyncpg.Pool
) -> None:
    transfers = TransferService(pool, CountedTogether(pool), frozenset({"USD"}), pending_max=1, day_max=100)
    outcomes = await asyncio.gather(begin(transfers, 1), begin(transfers, 2), return_exceptions=True)
    assert sorted(isinstance(outcome, HttpError) for outcome in outcomes) == [False, True]


async def test_a_participant_begins_a_bounded_number_of_transfers_a_day(
    positions: PositionClient, pool: asyncpg.Pool
) -> None:
    transfers = bounded(pool, day_max=2)
    for number in (1, 2):
        await transfers.end(ALICE, await begin(transfers, number), TransferTrigger.CANCEL)
    message = "alice may begin 2 transfers in 24 hours: wait before the next"
    assert await refusal_of(begin(transfers, 3)) == (429, "TOO_MANY_TRANSFERS", message)
    await pool.execute(
        "UPDATE position_transfers SET created_at = now() - interval '24 hours' WHERE transfer_id = 't1'"
    )
    assert await begin(transfers, 3) == "t3"
    assert (await refusal_of(begin(transfers, 4)))[0] == 429


async def test_requests_of_a_user_are_throttled_and_reports_of_services_are_not(
    positions: PositionClient, pool: asyncpg.Pool
) -> None:
    port = free_port()
    async with running_positions(positions.settings, positions_port=port, positions_throttle_enabled=True) as limited:
        replies = await asyncio.gather(*(limited.ask("alice", "GET", "/positions") for _ in range(40)))
        refused = [reply for reply in replies if reply.status == 429]
        assert refused and {reply.status for reply in replies} == {200, 429}
        assert int(refused[0].headers["Retry-After"]) >= 1
        assert refused[0].headers["X-RateLimit-Limit-short"] == "10"
        reports = await asyncio.gather(*(report(limited, SERVICE_HEADERS) for _ in range(40)))
        assert {reply.status for reply in reports} == {400}
        strangers = await asyncio.gather(*(report(limited, {}) for _ in range(40)))
        assert {reply.status for reply in strangers} == {401, 429}


def test_the_bounds_by_default() -> None:
    settings = PositionSettings()
    assert settings.positions_throttle_enabled
    assert settings.position_transactions_max == 1_000_000
    assert (settings.position_transfers_pending_max, settings.position_transfers_day_max) == (100, 1_000)
