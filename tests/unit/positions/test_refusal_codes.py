"""What is another participant's is not found, and a computation that takes long is asked for again."""

import asyncio
from types import SimpleNamespace
from typing import Any

import pytest

from openspot.http.context import Identity
from openspot.http.errors import HttpError
from openspot.http.policy import Access
from openspot.positions.broker.service import BrokerService
from openspot.positions.cost_basis import service as cost_basis
from openspot.positions.cost_basis.service import CostBasisService
from openspot.positions.lifecycle import TransferTrigger
from openspot.positions.transfers.service import TransferService

BOB = Identity("bob", Access.USER)
ANYTHING: Any = SimpleNamespace()


async def refused(awaited: Any) -> tuple[int, str | None, Any]:
    with pytest.raises(HttpError) as error:
        await awaited
    return error.value.status_code, error.value.code, error.value.message


class Store:
    """A table with one row of alice's. It is its own connection."""

    def __init__(self, row: Any) -> None:
        self.row = row

    def acquire(self) -> "Store":
        return self

    def transaction(self) -> "Store":
        return self

    async def __aenter__(self) -> "Store":
        return self

    async def __aexit__(self, *_: object) -> None:
        """Nothing to end."""

    async def find(self, _transfer_id: str, _connection: Any = None) -> Any:
        return self.row

    async def fetchrow(self, _query: str, _exception_id: str) -> Any:
        return self.row


@pytest.mark.parametrize("row", [None, {"participant_id": "alice"}])
async def test_the_transfer_of_another_is_not_found(row: Any) -> None:
    store: Any = Store(row)
    service = TransferService(store, store, frozenset({"USD"}), pending_max=1, day_max=1)
    answer = (404, "TRANSFER_NOT_FOUND", "transfer t1 not found")
    assert await refused(service.find(BOB, "t1")) == answer
    for trigger in (TransferTrigger.COMPLETE, TransferTrigger.CANCEL):
        assert await refused(service.end(BOB, "t1", trigger)) == answer


@pytest.mark.parametrize("row", [None, {"participant_id": "alice"}])
async def test_the_exception_of_another_is_not_found(row: Any) -> None:
    store: Any = Store(row)
    service = BrokerService(store, ANYTHING, {}, lambda: 0, follows_fills=False)
    assert await refused(service.exception(BOB, "e1")) == (404, "EXCEPTION_NOT_FOUND", "exception e1 not found")


class Dirty:
    """A user whose results are not up to date."""

    async def is_dirty(self, _user_id: str) -> bool:
        return True


async def test_a_reader_of_results_that_take_long_is_told_to_ask_again(monkeypatch: pytest.MonkeyPatch) -> None:
    reader: Any = Dirty()
    service = CostBasisService(ANYTHING, reader, "USD", imports_max=1, transactions_max=1)
    is_done = asyncio.Event()

    async def compute(_user_id: str) -> list[tuple[str, str]]:
        await is_done.wait()
        return []

    monkeypatch.setattr(service, "compute", compute)
    monkeypatch.setattr(cost_basis, "WAIT_S_MAX", 0.0)
    answer = (503, "RESULTS_NOT_READY", "the results are being computed")
    assert await refused(service.await_results("alice")) == answer
    # The computation goes on, and the next reader joins it.
    monkeypatch.setattr(cost_basis, "WAIT_S_MAX", 30.0)
    is_done.set()
    await service.await_results("alice")
    await service.stop()
