"""A deposit of an asset that was listed a moment ago: the router reads the engine's list before it refuses for good."""

from types import SimpleNamespace
from typing import Any
from unittest.mock import AsyncMock, MagicMock

import pytest

from openspot.contracts.messages import DepositConfirmed, LedgerPostingReply
from openspot.domain.market import AssetScale
from openspot.engine_client.errors import EngineUnreachableError
from openspot.router.custody.bridge import CustodyBridge, CustodyError


class FakeEngine:
    """Credits every deposit."""

    def __init__(self) -> None:
        self.deposits: list[tuple[str, ...]] = []

    async def deposit(self, *fields: str) -> str:
        self.deposits.append(fields)
        return "SUCCESS"


def deposit(asset: str) -> DepositConfirmed:
    return DepositConfirmed("tx-1", "alice", asset, "1.50000", timestamp=1)


def bridge(assets: dict[str, AssetScale], read_list: Any) -> tuple[CustodyBridge, FakeEngine]:
    engine: Any = FakeEngine()
    bus = MagicMock(request=AsyncMock(return_value=LedgerPostingReply(success=True)))
    return CustodyBridge(bus, engine, assets, lambda: 1, read_list), engine


async def test_an_asset_that_the_engine_lists_is_credited_at_its_scale() -> None:
    assets: dict[str, AssetScale] = {}
    reads = SimpleNamespace(count=0)

    async def read_list() -> None:
        reads.count += 1
        assets["DOGE"] = AssetScale("DOGE", 8, 5)

    custody, engine = bridge(assets, read_list)
    await custody.deposit(deposit("DOGE"))
    await custody.deposit(deposit("DOGE"))
    assert engine.deposits == [("alice", "DOGE", "1.5", "tx-1")] * 2
    assert reads.count == 1


async def test_an_asset_that_nobody_lists_is_refused_and_without_an_engine_it_waits() -> None:
    async def read_nothing() -> None:
        return

    async def unreachable() -> None:
        raise EngineUnreachableError("away")

    custody, engine = bridge({}, read_nothing)
    with pytest.raises(CustodyError):
        await custody.deposit(deposit("DOGE"))
    custody, engine = bridge({}, unreachable)
    with pytest.raises(EngineUnreachableError):
        await custody.deposit(deposit("DOGE"))
    assert engine.deposits == []
