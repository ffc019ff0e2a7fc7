"""The custody's withdrawals on a real database, with a router that holds funds as the real one does."""

import itertools
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from typing import Any

import asyncpg
import msgspec

from openspot.contracts import subjects
from openspot.contracts.messages import CreateWithdrawal, WithdrawalOutcome, WithdrawalRequested
from openspot.custody import withdrawal_store as store
from openspot.custody.chain import SimulatedChain
from openspot.custody.deciding import Decider
from openspot.custody.prices import parse_prices
from openspot.custody.progress import WithdrawalProgress
from openspot.custody.wallet_policy import Wallet
from openspot.custody.withdrawal_store import Withdrawal
from openspot.custody.withdrawals import Withdrawals
from openspot.domain.fair_price.crossing import AssetPrice
from openspot.domain.networks import load_networks
from openspot.kit.clock import utc_datetime
from openspot.kit.hash_chain import FIRST_HASH, is_next
from tests.support.fair_prices import asset_price

SEED = b"seed of a test"
BY = Decider("shell:test", "as the owner asked")
"""Decides where a test does not say who."""
BITCOIN_ADDRESS = "tb1qw508d6qejxtdg4y5r3zarvary0c5xw7kxpjzsx"
NO_LIMIT_CENTS = 10**15
_serial = itertools.count(1)


@dataclass
class StandInRouter:
    """Holds each withdrawal once, as engine and router do; keeps what was published."""

    available: Decimal = Decimal(10**12)
    held: dict[str, Decimal] = field(default_factory=dict)
    taken: Counter[str] = field(default_factory=Counter)
    released: Counter[str] = field(default_factory=Counter)
    outcomes: list[WithdrawalOutcome] = field(default_factory=list)
    message_ids: list[str] = field(default_factory=list)

    async def publish(self, subject: str, message: msgspec.Struct, message_id: str) -> None:
        """Take an event, whose message id may come again."""
        if message_id in self.message_ids:
            return
        self.message_ids.append(message_id)
        if isinstance(message, WithdrawalRequested):
            fits = Decimal(message.amount) <= self.available
            if fits:
                self.held[message.withdrawal_id] = Decimal(message.amount)
                self.available -= Decimal(message.amount)
            self.outcomes.append(
                WithdrawalOutcome(
                    message.withdrawal_id, message.user_id, message.asset, message.amount,
                    None if fits else "RISK_NSF", refused=not fits,
                )
            )  # fmt: skip
        elif isinstance(message, WithdrawalOutcome):
            amount = self.held.pop(message.withdrawal_id)
            if subject == subjects.CUSTODY_WITHDRAWAL_COMPLETED:
                self.taken[message.withdrawal_id] += 1
            else:
                self.released[message.withdrawal_id] += 1
                self.available += amount


@dataclass
class FakeTime:
    """A clock that a test sets forward."""

    nanoseconds: int = 1_800_000_000 * 10**9

    def __call__(self) -> int:
        return self.nanoseconds

    def pass_seconds(self, seconds: float) -> None:
        """Set the clock forward."""
        self.nanoseconds += round(seconds * 10**9)

    def now(self) -> datetime:
        """The time as the database keeps it."""
        return utc_datetime(lambda: self.nanoseconds)


class CustodyBench:
    """Decisions and progress of one custody; `restarted` is a new process on the same database.

    `fair_prices` are the present fair prices in dollars, which a test may change.
    """

    def __init__(self, pool: asyncpg.Pool, prices: str = "", *, hot_share_percent: int = 100) -> None:
        self.pool = pool
        self.time = FakeTime()
        self.router = StandInRouter()
        self.fair_prices: dict[str, AssetPrice] = {"BTC": asset_price("10000"), "USDC": asset_price("1")}
        self.withdrawals = Withdrawals(
            pool,
            load_networks(),
            lambda: self.fair_prices,
            parse_prices(prices),
            self.time,
            confirmations=2,
            hot_share_percent=hot_share_percent,
        )
        self.chain: Any = SimulatedChain(pool, 1.0)
        self.bus: Any = self.router
        self.automatic = frozenset({Wallet.HOT})
        self.is_held: Callable[[], bool] = lambda: False

    def progress(self) -> WithdrawalProgress:
        """A custody process that has just started."""
        return WithdrawalProgress(self.pool, self.bus, self.chain, SEED, self.automatic, self.time, self.is_held)

    async def create(self, amount: str, user_id: str = "alice", **fields: Any) -> Withdrawal:
        """A withdrawal of that many BTC; its fee is 0.0001."""
        given: dict[str, Any] = {
            "withdrawal_id": f"w{next(_serial)}", "user_id": user_id, "asset": "BTC", "network": "bitcoin",
            "amount": amount, "fee": "0.0001", "address": BITCOIN_ADDRESS, "tag": None,
            "user_limit_cents": NO_LIMIT_CENTS,
        } | fields  # fmt: skip
        request = CreateWithdrawal(**given)
        return await self.withdrawals.create(request, Decimal(request.amount), Decimal(request.fee))

    async def deliver(self, progress: WithdrawalProgress) -> None:
        """Have `progress` hear what the router has said of withdrawals that have not ended."""
        ended = {*self.router.taken, *self.router.released}
        for outcome in [*self.router.outcomes]:
            if outcome.withdrawal_id in ended:
                continue
            await (progress.refused if outcome.refused else progress.reserved)(outcome)

    async def advance(self, progress: WithdrawalProgress | None = None, rounds: int = 3) -> None:
        """Take everything as far as it goes without people; blocks pass meanwhile."""
        progress = progress or self.progress()
        for _ in range(rounds):
            await progress.advance_all()
            await self.deliver(progress)
            self.time.pass_seconds(2)
        await progress.advance_all()

    async def get(self, withdrawal_id: str) -> Withdrawal:
        """The withdrawal as it stands."""
        async with self.pool.acquire() as connection:
            found = await store.get(connection, withdrawal_id)
        assert found is not None
        return found

    async def sent(self) -> list[tuple[str, Decimal]]:
        """What the chain has taken: address and amount."""
        rows = await self.pool.fetch("SELECT address, amount FROM custody_chain_transactions ORDER BY created_at")
        return [(row["address"], row["amount"]) for row in rows]


def first_break(entries: Iterable[tuple[str, str, Mapping[str, str | int | None]]]) -> int | None:
    """The index of the first of `entries` (previous hash, hash, content) that does not fit the chain, or None."""
    newest = FIRST_HASH
    for index, (previous, own, content) in enumerate(entries):
        if not is_next(newest, previous, own, content):
            return index
        newest = own
    return None


class Killed(BaseException):
    """Stands for kill -9: nothing in the process handles it."""


class KillPoints:
    """Raises Killed at the `fatal`-th point that is passed."""

    def __init__(self, fatal: int) -> None:
        self.fatal = fatal
        self.passed = 0

    def __call__(self) -> None:
        """Pass a point."""
        self.passed += 1
        if self.passed == self.fatal:
            raise Killed

    def around(self, call: Callable[..., Any]) -> Callable[..., Any]:
        """`call` with a point before and a point after it."""

        async def killable(*given: Any, **named: Any) -> Any:
            self()
            result = await call(*given, **named)
            self()
            return result

        return killable
