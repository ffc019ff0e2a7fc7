"""What left after a backup does not leave a second time: restored withdrawals wait for an operator."""

from pathlib import Path
from typing import Any

import asyncpg
import pytest

from openspot.contracts import subjects
from openspot.contracts.messages import CreateWithdrawal, WithdrawalReply
from openspot.custody.hold import hold_withdrawals, release_withdrawals
from openspot.kit.bus import Bus
from openspot.kit.settings import Settings
from tests.support.backups import BackupSite
from tests.support.bus_accounts import BusAccounts
from tests.support.fair_prices import FakeFairPrices
from tests.support.mirrored_market import MIRRORS, mirrored_market
from tests.support.waiting import eventually

ADDRESS = "tb1qw508d6qejxtdg4y5r3zarvary0c5xw7kxpjzsx"
QUICK = {"custody_seed": "seed of a test", "custody_block_s": 0.05, "custody_confirmations": 2}
STATES = "SELECT withdrawal_id, status || ' ' || funds AS state FROM custody_withdrawals"
LEFT = "SELECT count(*) FROM custody_chain_transactions"


@pytest.fixture
async def settings(settings: Settings) -> Settings:
    return settings.model_copy(update=QUICK)


async def withdraw(bus: Bus, withdrawal_id: str) -> None:
    """Ask custody for a withdrawal that is small enough to leave without people."""
    request = CreateWithdrawal(
        withdrawal_id=withdrawal_id, user_id="alice", asset="BTC", network="bitcoin", amount="0.01", fee="0.0001",
        address=ADDRESS, tag=None, user_limit_cents=10**12,
    )  # fmt: skip
    reply = await bus.request(subjects.CUSTODY_WITHDRAWALS_CREATE, request, WithdrawalReply)
    assert reply.withdrawal is not None, reply


async def states(pool: asyncpg.Pool) -> dict[str, str]:
    """Status and funds of each withdrawal."""
    return {row["withdrawal_id"]: row["state"] for row in await pool.fetch(STATES)}


async def test_a_withdrawal_that_was_sent_after_the_backup_is_not_sent_again(
    settings: Settings, bus: Bus, pool: asyncpg.Pool, site: BackupSite, bus_accounts: BusAccounts, tmp_path: Path
) -> None:
    prices = FakeFairPrices(settings)
    await prices.start()
    await prices.publish("BTC-USD", "10000")
    async with mirrored_market(settings, bus, pool, (*MIRRORS, "custody")) as market:
        await market.fund()
        await withdraw(bus, "before")

        async def is_done(name: str) -> bool:
            return (await states(pool)).get(name) == "completed taken"

        await eventually(lambda: is_done("before"))
        hold_withdrawals(settings.data_dir, "so that one is open")
        await withdraw(bus, "open")

        async def waits() -> bool:
            return (await states(pool)).get("open") == "pending_approval reserved"

        await eventually(waits)
        assert await market.differences() == []
        await site.back_up(settings)
        release_withdrawals(settings.data_dir)
        await eventually(lambda: is_done("open"))
        assert await pool.fetchval(LEFT) == 2
    await prices.stop()
    await restored_custody_waits(settings, site, bus_accounts, tmp_path / "restored")


async def restored_custody_waits(settings: Any, site: BackupSite, bus_accounts: BusAccounts, folder: Path) -> None:
    """Restore, and see that nothing leaves, though custody tells the router again what it may have missed."""
    _, restored = await site.restore(folder, bus_accounts.next_url())
    restored = restored.model_copy(update=QUICK)
    again = await Bus.connect(restored, "test")
    await again.ensure_streams()
    prices = FakeFairPrices(restored)
    await prices.start()
    await prices.publish("BTC-USD", "10000")
    try:
        async with (
            asyncpg.create_pool(restored.database_url, min_size=1, max_size=3) as pool,
            mirrored_market(restored, again, pool, (*MIRRORS, "custody")) as market,
        ):
            told_again = {"before": "completed taken", "open": "pending_approval reserved"}

            async def is_told() -> bool:
                return await states(pool) == told_again

            await eventually(is_told)
            # A new one goes as far as the old one: its turn has come, so that of the old one has, too.
            await withdraw(again, "new")

            async def new_waits() -> bool:
                return (await states(pool)).get("new") == "pending_approval reserved"

            await eventually(new_waits)
            assert await states(pool) == told_again | {"new": "pending_approval reserved"}
            assert await pool.fetchval(LEFT) == 1
            assert await market.differences() == []
            release_withdrawals(restored.data_dir)

            async def all_left() -> bool:
                return set((await states(pool)).values()) == {"completed taken"}

            await eventually(all_left)
            assert await market.differences() == []
    finally:
        await prices.stop()
        await again.close()
