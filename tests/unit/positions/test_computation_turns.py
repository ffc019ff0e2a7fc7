"""Few computations run at a time, one of a user, and whoever waits or is refused holds no connection."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from openspot.http.errors import HttpError
from openspot.positions.cost_basis import service as costs
from openspot.positions.cost_basis.schemas import TransactionBody
from openspot.positions.cost_basis.service import CostBasisService
from openspot.positions.cost_basis.turns import COMPUTATIONS_MAX, Turns

BODY = TransactionBody.model_validate(
    {
        "externalId": "s1", "timestamp": "1970-01-02T00:00:00Z", "type": "disposal", "asset": "BTC", "quantity": "1",
        "value": "1",
    }
)  # fmt: skip


class EndedError(Exception):
    """The test lets the work end."""


class Pool:
    """A pool whose connections do nothing until the test lets them end."""

    def __init__(self) -> None:
        self.taken = 0
        self.is_over = asyncio.Event()

    @asynccontextmanager
    async def acquire(self) -> AsyncIterator[Any]:
        self.taken += 1
        await self.is_over.wait()
        raise EndedError
        yield


def service_of(pool: Any) -> CostBasisService:
    anything: Any = None
    return CostBasisService(pool, anything, "USD", imports_max=1, transactions_max=10)


async def refusal(service: CostBasisService, user_id: str) -> HttpError:
    with pytest.raises(HttpError) as refused:
        await service.add(user_id, BODY)
    return refused.value


async def turns_pass() -> None:
    """Let everything run that does not wait."""
    for _ in range(20):
        await asyncio.sleep(0)


async def test_a_second_transaction_of_a_user_is_refused_at_once_and_takes_no_connection() -> None:
    pool = Pool()
    service = service_of(pool)
    first = asyncio.create_task(service.add("alice", BODY))
    await turns_pass()
    for _ in range(20):
        error = await refusal(service, "alice")
        assert (error.status_code, error.code) == (409, "TRANSACTION_IN_PROGRESS")
        assert error.message == "a transaction of this user is being recorded: wait for its answer"
        assert error.headers == {"Retry-After": "1"}
    assert pool.taken == 1
    pool.is_over.set()
    with pytest.raises(EndedError):
        await first
    with pytest.raises(EndedError):
        await service.add("alice", BODY)


async def test_so_many_users_results_are_computed_at_a_time_and_the_next_waits_without_a_connection(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    pool = Pool()
    service = service_of(pool)
    running = [asyncio.create_task(service.add(f"u{number}", BODY)) for number in range(COMPUTATIONS_MAX)]
    await turns_pass()
    monkeypatch.setattr(costs, "TURN_S_MAX", 0.0)
    error = await refusal(service, "carol")
    assert (error.status_code, error.code) == (503, "TOO_MANY_COMPUTATIONS")
    assert error.message == "too many results are being computed: try again in a moment"
    readers = asyncio.create_task(service.compute("carol"))
    await turns_pass()
    assert pool.taken == COMPUTATIONS_MAX == 4
    pool.is_over.set()
    for task in (*running, readers):
        with pytest.raises(EndedError):
            await task
    assert pool.taken == COMPUTATIONS_MAX + 1


async def test_a_user_takes_one_place_however_much_waits_for_it() -> None:
    turns, entered = Turns(), []
    is_over = asyncio.Event()

    async def work(user_id: str) -> None:
        async with turns.taken(user_id):
            entered.append(user_id)
            await is_over.wait()

    tasks = [asyncio.create_task(work(user_id)) for user_id in ("alice", "alice", "alice", "bob", "carol", "dave")]
    await turns_pass()
    assert entered == ["alice", "bob", "carol", "dave"]
    # Who leaves while waiting holds nothing.
    tasks[1].cancel()
    await turns_pass()
    is_over.set()
    await asyncio.gather(*tasks, return_exceptions=True)
    assert entered.count("alice") == 2
