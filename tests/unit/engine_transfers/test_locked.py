"""Transfers that the holder of a lock sends."""

from collections.abc import Sequence
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import pytest

from openspot.domain.transfer import Movement, TransferKind
from openspot.engine_client.errors import EngineAmbiguousError, EngineUnreachableError
from openspot.engine_transfers.locked import settle_locked
from openspot.engine_transfers.model import Transfer, TransferResult, TransferStatus
from tests.support.fake_transfers import FakeTransfers

NOW = datetime(2026, 3, 1, tzinfo=UTC)
CONNECTION: Any = object()


class Table:
    """What was written of each transfer, in order."""

    def __init__(self) -> None:
        self.written: list[tuple[str, str, str]] = []

    async def decide_transfer(self, connection: Any, reference: str, status: TransferStatus, code: str) -> None:
        self.written.append((reference, status.value, code))


class Rules:
    """Notes what it is told. Transfers whose reference begins with `owed` are owed."""

    def __init__(self, told: list[tuple[str, bool]], transfer: Transfer) -> None:
        self._told = told
        self.is_owed = transfer.reference.startswith("owed")

    async def before(self, transfer: Transfer) -> None:
        """Nothing."""

    async def settle(self, connection: Any, transfer: Transfer, result: TransferResult, now: datetime) -> None:
        assert (connection, now) == (CONNECTION, NOW)
        self._told.append((transfer.reference, result.succeeded))


def pay(reference: str, amount: str) -> Transfer:
    return Transfer(reference, TransferKind.LOAN, "", (Movement("ada", "bob", "USD", Decimal(amount)),))


async def settle(
    engine: FakeTransfers, table: Table, told: list[tuple[str, bool]], pending: Sequence[Transfer]
) -> list[TransferStatus]:
    return await settle_locked(
        CONNECTION, pending, engine=engine, store=table, rules_of=lambda each: Rules(told, each), now=lambda: NOW
    )


async def test_each_decision_is_written_and_settled_in_order_and_an_owed_refusal_stays_pending() -> None:
    engine, table, told = FakeTransfers(), Table(), list[tuple[str, bool]]()
    engine.fund("ada", "USD", "10")
    pending = [pay("owed-1", "11"), pay("2", "12"), pay("owed-3", "4"), pay("4", "6")]
    assert await settle(engine, table, told, pending) == ["pending", "refused", "done", "done"]
    assert engine.calls == ["owed-1", "2", "owed-3", "4"]
    assert table.written == [
        ("owed-1", "pending", "RISK_NSF"),
        ("2", "refused", "RISK_NSF"),
        ("owed-3", "done", "SUCCESS"),
        ("4", "done", "SUCCESS"),
    ]
    assert told == [("2", False), ("owed-3", True), ("4", True)]


@pytest.mark.parametrize(
    ("fault", "error"),
    [("unsent", EngineUnreachableError), ("late", EngineAmbiguousError), ("lost", EngineAmbiguousError)],
)
async def test_without_an_outcome_nothing_is_written_and_what_comes_later_is_not_sent(
    fault: str, error: type[Exception]
) -> None:
    engine, table, told = FakeTransfers(), Table(), list[tuple[str, bool]]()
    engine.fund("ada", "USD", "10")
    pending = [pay("1", "7"), pay("2", "3")]
    engine.faults = [fault]
    with pytest.raises(error):
        await settle(engine, table, told, pending)
    assert (engine.calls, table.written, told) == (["1"], [], [])
    # Asked again, the engine tells what it has decided, and moves nothing twice.
    assert await settle(engine, table, told, pending) == ["done", "done"]
    assert engine.held("bob", "USD") == "10"
