"""Handles the outcomes of staking's transfers."""

from datetime import datetime, timedelta

from openspot.engine_transfers.model import Transfer, TransferResult
from openspot.kit.database import Connection
from openspot.rest_edge.products.staking.accrual import first_day
from openspot.rest_edge.products.staking.store import StakingStore


class StakeRules:
    """Handles the transfer of a stake. A stake earns from the next midnight on; a refused one has failed."""

    is_owed = False

    def __init__(self, store: StakingStore) -> None:
        self._store = store

    async def before(self, transfer: Transfer) -> None:
        """Do nothing."""

    async def settle(self, connection: Connection, transfer: Transfer, result: TransferResult, now: datetime) -> None:
        """Write `active`, or `failed` with the reason."""
        if not result.succeeded:
            await self._store.fail(connection, transfer.subject_id, result.code)
            return
        balance = await self._store.lock(connection, transfer.subject_id)
        assert balance is not None, "a transfer names a stake that exists"
        starts_on, ends_on = first_day(now), None
        if balance.lock_days:
            ends_on = starts_on + timedelta(days=balance.lock_days)
        await self._store.activate(connection, balance.balance_id, starts_on, ends_on)
        await self._store.note(
            connection, balance.user_id, balance.balance_id, "stake", balance.asset, balance.amount, now
        )


class PayoutRules:
    """Handles the transfer of a payout. The platform owes it: if the house account lacks funds, it is tried again."""

    is_owed = True

    def __init__(self, store: StakingStore, *, reward: bool) -> None:
        self._store = store
        self._is_reward = reward

    async def before(self, transfer: Transfer) -> None:
        """Do nothing."""

    async def settle(self, connection: Connection, transfer: Transfer, result: TransferResult, now: datetime) -> None:
        """Write that the amount or the reward has reached the user."""
        unstake = await self._store.mark_paid(connection, transfer.subject_id, reward=self._is_reward)
        kind, amount = ("reward_payout", unstake.reward) if self._is_reward else ("payout", unstake.amount)
        await self._store.note(connection, unstake.user_id, unstake.balance_id, kind, unstake.asset, amount, now)
