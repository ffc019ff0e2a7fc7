"""Charging by volume tier, switched on and off (facts A2.7-12 to A2.7-18)."""

import asyncio
from collections.abc import AsyncIterator
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from openspot.contracts.gen.exchange.v1 import accounts_pb2 as pb
from openspot.domain.money import AMOUNT_MAX, AMOUNT_SCALE
from openspot.engine.admin.volume_charging import VolumeCharging
from openspot.engine.core.records import CommandKind
from openspot.engine.engine import Engine
from openspot.kit.disk import Disk, DiskSpace
from openspot.kit.settings import Settings
from openspot.kit.tasks import end_tasks
from tests.support.engine_client import EngineClient, engine_settings, order, running_engine
from tests.support.waiting import eventually

DAY_NS = 86_400_000_000_000
START_NS = 20_000 * DAY_NS + DAY_NS // 2


class Exchange:
    """An engine with a manual clock, whose fee updates the test triggers."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.time_ns = START_NS
        self.engine: Engine
        self.charging: VolumeCharging

    async def open(self) -> None:
        self.engine = await Engine.open(self.settings, lambda: self.time_ns)
        self.charging = VolumeCharging(self.engine)

    async def close(self) -> None:
        self.charging.close()
        await self.engine.close()

    async def restart(self) -> None:
        await self.close()
        await self.open()

    async def fund(self, *participants: str) -> None:
        for participant in participants:
            for currency in ("USD", "BTC"):
                await self.engine.money_intake.change_balance(
                    CommandKind.DEPOSIT, participant, currency, "10000000", ""
                )

    async def trade(self, quantity: str, maker: str = "maker", taker: str = "taker") -> None:
        """Trade a quantity of BTC at 100,000 USD."""
        await self.engine.intake.place([order("sell", "100000", quantity, maker)]).future  # type: ignore[misc]
        await self.engine.intake.place([order("buy", "100000", quantity, taker)]).future  # type: ignore[misc]

    async def link(self, *pairs: tuple[str, str]) -> None:
        """Let these be all links of owners."""
        links = [pb.OwnerLink(first_participant_id=one, second_participant_id=other) for one, other in pairs]
        future = self.engine.money_intake.set_owners(links).future
        assert future is not None
        await future

    def fees(self, participant: str) -> tuple[int | None, int | None]:
        state = self.engine.machine.core.account(self.engine.machine.directory.account(participant))
        assert state is not None
        return state.taker_fee_bps, state.maker_fee_bps


@pytest.fixture
async def exchange(tmp_path: Path) -> AsyncIterator[Exchange]:
    exchange = Exchange(engine_settings(tmp_path, charge_by_volume_tier=True))
    await exchange.open()
    await exchange.fund("maker", "taker", "other")
    yield exchange
    await exchange.close()


@pytest.mark.spec("A2.7-13", "A2.7-14")
async def test_both_sides_of_a_trade_reach_a_higher_tier(exchange: Exchange) -> None:
    await exchange.trade("0.4")
    await exchange.charging.turn()
    assert exchange.fees("taker") == (None, None)  # Base: the symbol's fees
    await exchange.trade("0.1")
    await exchange.trade("4.5", taker="other")
    assert exchange.fees("taker") == (None, None)
    commands = exchange.engine.machine.core.command_sequence
    await exchange.charging.turn()
    assert exchange.fees("taker") == (22, 12)
    assert exchange.fees("other") == (22, 12)
    assert exchange.fees("maker") == (20, 10)
    assert exchange.engine.machine.core.command_sequence == commands + 3
    # Without new trades nothing changes.
    await exchange.charging.turn()
    assert exchange.engine.machine.core.command_sequence == commands + 3
    await exchange.trade("1")
    event = exchange.engine.machine.trades[1][-1]
    assert event  # the trade after is charged by the tiers
    batch = exchange.engine.events.batch(exchange.engine.events.index_of(exchange.engine.events.last_sequence) or 0)
    assert batch is not None
    shown: Any = exchange.engine.renderer.events(batch)[-1]
    assert (shown.taker_fee_bps, shown.maker_fee_bps) == (22, 10)


async def test_a_trade_with_oneself_adds_no_volume(exchange: Exchange) -> None:
    await exchange.trade("5", "maker", "maker")
    await exchange.charging.turn()
    assert exchange.fees("maker") == (None, None)


async def test_a_trade_between_the_accounts_of_one_user_adds_no_volume(exchange: Exchange) -> None:
    await exchange.fund("margin:maker", "margin:maker:2")
    await exchange.trade("5", "maker", "margin:maker")
    await exchange.trade("5", "margin:maker", "margin:maker:2")
    await exchange.charging.turn()
    assert exchange.fees("maker") == exchange.fees("margin:maker") == exchange.fees("margin:maker:2") == (None, None)
    await exchange.fund("margin:taker")
    await exchange.trade("0.5", "maker", "margin:taker")
    await exchange.charging.turn()
    assert exchange.fees("maker") == exchange.fees("margin:taker") == (22, 12)


async def test_an_owner_has_one_tier_by_the_sum_of_all_accounts(exchange: Exchange) -> None:
    await exchange.fund("margin:taker", "friend", "margin:friend")
    await exchange.trade("0.3", taker="margin:taker")
    await exchange.trade("0.3", taker="friend")
    await exchange.charging.turn()
    accounts = ("taker", "margin:taker", "friend", "margin:friend")
    assert [exchange.fees(name) for name in accounts] == [(None, None)] * 4
    assert exchange.fees("maker") == (22, 12)
    await exchange.link(("taker", "friend"))
    await exchange.charging.turn()
    assert [exchange.fees(name) for name in accounts] == [(22, 12)] * 4
    # What linked users trade with each other counts for nobody.
    await exchange.trade("10", "margin:friend", "taker")
    await exchange.charging.turn()
    assert [exchange.fees(name) for name in accounts] == [(22, 12)] * 4
    # Without the link each has the own volume again, which was kept by account.
    await exchange.trade("0.2", taker="friend")
    await exchange.link()
    await exchange.charging.turn()
    assert [exchange.fees(name) for name in accounts] == [(None, None)] * 2 + [(22, 12)] * 2


async def test_an_account_that_the_core_does_not_know_gets_no_fees(exchange: Exchange) -> None:
    # The core refuses the deposit, with which all accounts together would have too much.
    too_much = str(AMOUNT_MAX // AMOUNT_SCALE)
    await exchange.engine.money_intake.change_balance(CommandKind.DEPOSIT, "margin:taker", "USD", too_much, "")
    await exchange.trade("0.5")
    commands = exchange.engine.machine.core.command_sequence
    await exchange.charging.turn()
    assert exchange.fees("taker") == exchange.fees("maker") == (22, 12)
    assert exchange.engine.machine.core.command_sequence == commands + 2


async def test_a_volume_counts_for_thirty_days(exchange: Exchange) -> None:
    await exchange.trade("0.5")
    await exchange.charging.turn()
    assert exchange.fees("taker") == (22, 12)
    exchange.time_ns = START_NS + 29 * DAY_NS
    await exchange.charging.turn()
    assert exchange.fees("taker") == (22, 12)
    exchange.time_ns += DAY_NS
    await exchange.charging.turn()
    assert exchange.fees("taker") == (None, None)


@pytest.mark.parametrize("lost", ["nothing", "events", "volumes"])
async def test_a_restart_keeps_volumes_from_the_file_and_from_events(exchange: Exchange, lost: str) -> None:
    exchange.settings = exchange.settings.model_copy(update={"engine_event_retention": 1000})
    await exchange.restart()
    await exchange.trade("0.3")
    first_trade = exchange.engine.events.last_sequence
    await exchange.charging.turn()
    if lost == "events":
        await exchange.engine.intake.place([order("buy", "1", "0.1", "other") for _ in range(2000)]).future  # type: ignore[misc]
    await exchange.trade("0.1")
    await exchange.close()
    if lost == "volumes":
        exchange.engine.journal_path.with_name("volumes.sqlite").unlink()
    await exchange.open()
    assert (exchange.engine.events.first_sequence > first_trade) == (lost == "events")
    await exchange.trade("0.1")
    await exchange.charging.turn()
    assert exchange.fees("taker") == (22, 12)
    await exchange.restart()
    commands = exchange.engine.machine.core.command_sequence
    await exchange.charging.turn()
    assert exchange.engine.machine.core.command_sequence == commands


async def test_fees_are_updated_again_after_the_disk_refused_them(exchange: Exchange) -> None:
    engine = exchange.engine
    engine.settings = engine.settings.model_copy(update={"volume_tier_interval_s": 0.02})
    await exchange.trade("0.5")
    looks: list[DiskSpace] = []

    def full(folder: Path, reserve: int) -> DiskSpace:
        looks.append(DiskSpace(folder, 0, 1000, reserve))
        return looks[-1]

    disk, clock = engine.disk, count()
    engine.disk = Disk(engine.settings.data_dir, 1, look=full, monotonic=lambda: float(next(clock)))
    turns = asyncio.create_task(exchange.charging.run())
    await eventually(lambda: len(looks) > 1)
    assert exchange.fees("taker") == (None, None)
    engine.disk = disk
    await eventually(lambda: exchange.fees("taker") == (22, 12))
    await end_tasks(turns)


async def _trade_fees(engine: EngineClient) -> tuple[int, int]:
    """Make one more trade and return its (taker, maker) basis points."""
    await engine.place("sell", "100000", "0.1", "maker")
    await engine.place("buy", "100000", "0.1", "taker")
    newest = await engine.last_sequence()
    (event,) = await engine.events(newest, newest)
    return event["takerFeeBps"], event["makerFeeBps"]


@pytest.mark.spec("A2.7-10", "A2.7-11")
async def test_switching_the_setting_off_removes_the_tier_fees(tmp_path: Path) -> None:
    off = engine_settings(tmp_path)
    chosen = off.model_copy(update={"charge_by_volume_tier": True, "volume_tier_interval_s": 0.02})
    async with running_engine(off) as engine:
        for participant in ("maker", "taker"):
            await engine.fund(participant, USD="1000000", BTC="100")
        for _ in range(6):
            assert await _trade_fees(engine) == (25, 15)

    async def fees_become(engine: EngineClient, expected: tuple[int, int]) -> None:
        async def are_they() -> bool:
            return await _trade_fees(engine) == expected

        await eventually(are_they)

    async with running_engine(chosen) as engine:
        await fees_become(engine, (22, 12))
    async with running_engine(off) as engine:
        await fees_become(engine, (25, 15))
