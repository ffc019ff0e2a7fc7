"""An engine and its mirrors: real services for tests of what compares and rebuilds them."""

import asyncio
import itertools
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import asyncpg

from openspot.contracts import subjects
from openspot.contracts.messages import DepositConfirmed, WithdrawalOutcome, WithdrawalRequested
from openspot.kit.bus import Bus
from openspot.kit.settings import Settings
from openspot.reconcile.reconciliation import reconcile
from openspot.reconcile.report import ReconcileReport
from tests.support.admin_client import AdminClient
from tests.support.engine_client import EngineClient
from tests.support.in_process_platform import running
from tests.support.waiting import stretched

MIRRORS = ("engine", "router", "ledger")
METADATA = '{"type":"limit","timeInForce":"gtc"}'
WAIT_S = stretched(20.0)


class MirroredMarket:
    """Users alice, bob and carol on BTC-USD. A step works only if the services that it needs run."""

    def __init__(self, settings: Settings, bus: Bus, pool: asyncpg.Pool, engine: EngineClient) -> None:
        self.settings = settings
        self.bus = bus
        self.pool = pool
        self.engine = engine
        self._serial = itertools.count(1)

    async def deposit(self, user: str, asset: str, amount: str, tx_hash: str = "") -> None:
        """A deposit as custody confirms it."""
        number = next(self._serial)
        event = DepositConfirmed(tx_hash or f"tx-{number}", user, asset, amount)
        await self.bus.publish(subjects.CUSTODY_DEPOSIT_CONFIRMED, event, f"deposit-{number}")

    async def fund(self) -> None:
        """Deposit USD and BTC for every user, and wait until the engine has credited them."""
        for user in ("alice", "bob", "carol"):
            await self.deposit(user, "USD", "100000")
            await self.deposit(user, "BTC", "100.00000001")
        while not all([len(await self.engine.balances(user)) == 2 for user in ("alice", "bob", "carol")]):
            await asyncio.sleep(0.02)

    async def withdraw(self, user: str, asset: str, amount: str, withdrawal_id: str) -> None:
        """A withdrawal that is requested and completed."""
        request = WithdrawalRequested(withdrawal_id, user, asset, amount)
        await self.bus.publish(subjects.CUSTODY_WITHDRAWAL_REQUESTED, request, f"request-{withdrawal_id}")
        outcome = WithdrawalOutcome(withdrawal_id, user, asset, amount)
        await self.bus.publish(subjects.CUSTODY_WITHDRAWAL_COMPLETED, outcome, f"completed-{withdrawal_id}")

    async def place(self, side: str, price: str, quantity: str, user: str) -> int:
        """Place an order as the router does, and return its engine id."""
        placed = await self.engine.place(side, price, quantity, user, metadata=METADATA)
        assert placed.result_code == "SUCCESS", placed
        return int(placed.order_id)

    async def trade(self, rounds: int = 4) -> None:
        """Orders of every fate: filled, filled in part, resting, cancelled, refused."""
        for number in range(rounds):
            await self.place("buy", "100", "0.5", "alice")
            await self.place("sell", f"99.{number:02}", "0.30000001", "bob")
            await self.place("sell", "100", "0.1", "carol")
            cancelled = await self.place("buy", "90", "1", "carol")
            assert (await self.engine.cancel(cancelled, "carol")).result_code == "SUCCESS"
            assert (await self.engine.place("buy", "150", "1000", "bob", metadata=METADATA)).result_code == "RISK_NSF"

    async def administrator(self) -> AdminClient:
        """A session of the engine's administrator."""
        return await AdminClient(self.engine, "grpc").login()

    async def reconcile(self, wait_s: float = WAIT_S) -> ReconcileReport:
        """Compare everything."""
        return await reconcile(self.settings, wait_s)

    async def differences(self, wait_s: float = WAIT_S) -> list[str]:
        """The differences that a comparison finds, as text."""
        return [str(difference) for difference in (await self.reconcile(wait_s)).differences]


@asynccontextmanager
async def mirrored_market(
    settings: Settings, bus: Bus, pool: asyncpg.Pool, services: tuple[str, ...] = MIRRORS
) -> AsyncIterator[MirroredMarket]:
    """A market on which only `services` run, the engine among them."""
    async with running(settings, *services):
        engine = EngineClient(settings)
        try:
            yield MirroredMarket(settings, bus, pool, engine)
        finally:
            await engine.close()
