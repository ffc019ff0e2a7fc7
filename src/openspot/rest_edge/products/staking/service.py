"""Staking: stakes, daily rewards and unstakes.

The staked amount lies in the account `house:staking`. The platform owes a reward from the day on which it accrues. It
pays the reward from `house:rewards`, together with the amount that is taken back.
"""

from collections.abc import Mapping
from datetime import datetime, timedelta

from openspot.domain.ids import REWARDS_ACCOUNT_ID, STAKING_ACCOUNT_ID
from openspot.domain.market import AssetScale, MarketConfiguration
from openspot.domain.money import amount_to_text, decimal_to_text
from openspot.domain.offers import EarlyRedemption
from openspot.domain.transfer import Movement, TransferKind
from openspot.engine_transfers.model import Transfer
from openspot.engine_transfers.runner import UNSENT, TransferRunner
from openspot.http.context import IdempotentOperation, new_operation
from openspot.http.errors import HttpError, service_unavailable, validation_error
from openspot.http.lists import decode_cursor, encode_cursor, unknown_cursor
from openspot.http.paging import Page, page_of, time_and_id_of, time_place
from openspot.kit.clock import Clock, iso_of, utc_datetime
from openspot.kit.database import Connection
from openspot.kit.sql import numeric
from openspot.rest_edge.common.amounts import amount_of_asset
from openspot.rest_edge.products.known_offers import require_known_offers
from openspot.rest_edge.products.staking.accrual import accruals, midnight
from openspot.rest_edge.products.staking.products import Product, ProductType
from openspot.rest_edge.products.staking.schemas import (
    ProductResponse,
    StakeBody,
    StakingBalanceResponse,
    StakingEventResponse,
    UnstakeBody,
    UnstakeResponse,
)
from openspot.rest_edge.products.staking.store import StakingBalance, StakingEvent, StakingStore, Unstake

_AT_A_TIME = 500
_EVENT_ID_MAX = 2**63 - 1


class StakingService:
    """Handles the requests to the staking routes, which HttpError refuses, and does the daily work."""

    def __init__(
        self,
        store: StakingStore,
        runner: TransferRunner,
        products: Mapping[str, Product],
        markets: MarketConfiguration,
        clock: Clock,
    ) -> None:
        self._store = store
        self._runner = runner
        self._products = products
        self._markets = markets
        self._assets = markets.assets
        self._clock = clock

    # Products

    async def products(self) -> list[ProductResponse]:
        """All products that take new stakes, by id. 503 while nobody knows what markets offer."""
        require_known_offers(self._markets)
        totals = await self._store.totals()
        return [
            _product_response(product, totals.get(product.product_id, 0))
            for _, product in sorted(self._products.items())
            if product.is_open
        ]

    async def product(self, product_id: str) -> ProductResponse:
        """One product. 404 for an unknown one, and for one that takes no new stakes."""
        product = self._offered(product_id)
        return _product_response(product, (await self._store.totals()).get(product_id, 0))

    def _offered(self, product_id: str) -> Product:
        product = self._products.get(product_id)
        if product is None or not product.is_open:
            require_known_offers(self._markets)
            raise HttpError(404, f"product {product_id} not found", "PRODUCT_NOT_FOUND")
        return product

    # Stakes

    async def stake(self, user_id: str, body: StakeBody, operation: IdempotentOperation) -> StakingBalanceResponse:
        """Stake an amount by one transfer from the user to the staking account. The stake has the operation's id."""
        if operation.is_resumed:
            earlier = await self._store.get(operation.operation_id, user_id)
            if earlier is not None:
                return self._outcome(earlier)
        product = self._offered(body.product_id)
        amount = amount_of_asset("amount", body.amount, self._assets[product.asset])
        if amount < product.minimum:
            raise validation_error([f"amount must be at least {amount_to_text(product.minimum)} {product.asset}"])
        async with self._store.pool.acquire() as connection, connection.transaction():
            await self._store.lock_product(connection, product.product_id)
            total, own = await self._store.staked(connection, product.product_id, user_id)
            if own + amount > product.maximum:
                left = amount_to_text(max(product.maximum - own, 0))
                raise HttpError(409, f"you can stake {left} {product.asset} more in this product", "MAXIMUM_EXCEEDED")
            if total + amount > product.capacity:
                left = amount_to_text(max(product.capacity - total, 0))
                raise HttpError(409, f"the product has room for {left} {product.asset} more", "CAPACITY_EXCEEDED")
            balance = _new_balance(operation.operation_id, user_id, product, amount, utc_datetime(self._clock))
            transfer = Transfer(
                f"stake:{balance.balance_id}",
                TransferKind.STAKING,
                balance.balance_id,
                (Movement(user_id, STAKING_ACCOUNT_ID, product.asset, numeric(amount)),),
            )
            await self._store.add(connection, balance)
            await self._runner.begin(connection, transfer)
        await self._runner.attempt(transfer)
        staked = await self._store.get(balance.balance_id, user_id)
        assert staked is not None, "it was written before"
        return self._outcome(staked)

    async def balances(self, user_id: str, limit: int, cursor: str | None) -> Page[StakingBalanceResponse]:
        """A page of the user's stakes, newest first."""
        rows = await self._store.list_of(user_id, limit + 1, time_and_id_of(cursor))
        return page_of(rows, limit, lambda row: time_place(row.created_at, row.balance_id), self._response)

    async def balance(self, user_id: str, balance_id: str) -> StakingBalanceResponse:
        """One stake of the user. 404 if this user has no such stake."""
        balance = await self._store.get(balance_id, user_id)
        if balance is None:
            raise _balance_not_found()
        return self._response(balance)

    def _response(self, balance: StakingBalance) -> StakingBalanceResponse:
        return _balance_response(balance, self._early_redemption(balance))

    def _outcome(self, staked: StakingBalance) -> StakingBalanceResponse:
        """The response to a stake. Raises HttpError if it was refused."""
        if staked.status != "failed":
            return self._response(staked)
        details = {"balanceId": staked.balance_id}
        if staked.failure_code == UNSENT:
            message = "the matching engine does not respond; nothing was moved"
            raise HttpError(503, message, UNSENT, details=details, headers={"Retry-After": "1"})
        raise HttpError(400, staked.failure_code or "", "TRANSFER_REFUSED", details=details)

    # Unstakes

    async def unstake(self, user_id: str, body: UnstakeBody, operation: IdempotentOperation) -> UnstakeResponse:
        """Take back an amount, or all. Past days are accrued first. The amount earns nothing on the present day.

        What is left is at least the product's minimum. The unstake has the operation's id.
        """
        now = utc_datetime(self._clock)
        unstake = await self._store.unstake(operation.operation_id) if operation.is_resumed else None
        if unstake is None:
            unstake = await self._begin_unstake(user_id, body, operation.operation_id, now)
        if unstake.available_at <= now:
            await self.pay_out(unstake.unstake_id)
        current = await self._store.unstake(unstake.unstake_id)
        assert current is not None, "it was written before"
        return _unstake_response(current)

    async def _begin_unstake(self, user_id: str, body: UnstakeBody, unstake_id: str, now: datetime) -> Unstake:
        async with self._store.pool.acquire() as connection, connection.transaction():
            balance = await self._store.lock(connection, body.balance_id)
            if balance is None or balance.user_id != user_id:
                raise _balance_not_found()
            if balance.status != "active":
                raise HttpError(409, f"the stake is {balance.status}", "STAKE_NOT_ACTIVE")
            if not self._has_known_terms(balance):
                require_known_offers(self._markets)
            scale = self._scale_of(balance)
            balance = await self._accrue(connection, balance, now)
            amount = balance.amount
            if body.amount is not None:
                amount = amount_of_asset("amount", body.amount, scale)
            self._check_unstake(balance, amount, now)
            return await self._take_back(connection, balance, amount, unstake_id, now)

    def _has_known_terms(self, balance: StakingBalance) -> bool:
        # The product of a market is known with the list of the engine. Until then, "unknown" does not mean "gone".
        return balance.product_id in self._products or self._markets.knows_offers

    def _scale_of(self, balance: StakingBalance) -> AssetScale:
        """The asset of a stake. Raises HttpError (503) while the engine has not said what it has listed."""
        scale = self._assets.get(balance.asset)
        if scale is None:
            raise service_unavailable(f"the decimal places of {balance.asset} are not known yet")
        return scale

    def _check_unstake(self, balance: StakingBalance, amount: int, now: datetime) -> None:
        if amount > balance.amount:
            raise validation_error([f"amount must be at most {amount_to_text(balance.amount)} {balance.asset}"])
        if balance.type == ProductType.LOCKED:
            if amount != balance.amount:
                raise validation_error(["amount of a locked stake must be all of it"])
            if self._is_early(balance, now) and self._early_redemption(balance) is EarlyRedemption.NOT_ALLOWED:
                assert balance.ends_on is not None, "a locked stake that is active has an end"
                until = iso_of(midnight(balance.ends_on))
                raise HttpError(409, f"the stake is locked until {until}", "STAKE_LOCKED")
        product = self._products.get(balance.product_id)
        # Each stake costs work every day: what is left must be worth it.
        if product is not None and 0 < balance.amount - amount < product.minimum:
            whole, least = amount_to_text(balance.amount), amount_to_text(product.minimum)
            raise validation_error([f"amount must be all of it, {whole} {balance.asset}, or leave at least {least}"])

    def _is_early(self, balance: StakingBalance, now: datetime) -> bool:
        return balance.ends_on is not None and now < midnight(balance.ends_on)

    def _early_redemption(self, balance: StakingBalance) -> EarlyRedemption:
        if balance.type == ProductType.FLEXIBLE:
            return EarlyRedemption.ALLOWED
        if balance.early_redemption is not None:
            return EarlyRedemption(balance.early_redemption)
        # A stake of an earlier release has that of its product; if that is gone, it is taken back without conditions.
        product = self._products.get(balance.product_id)
        if product is not None:
            return product.early_redemption
        return EarlyRedemption.ALLOWED if self._markets.knows_offers else EarlyRedemption.NOT_ALLOWED

    async def _take_back(
        self, connection: Connection, balance: StakingBalance, amount: int, unstake_id: str, now: datetime
    ) -> Unstake:
        reward, remainder, forfeited = balance.accrued, balance.remainder, 0
        early = self._is_early(balance, now) and balance.type == ProductType.LOCKED
        if early and self._early_redemption(balance) is EarlyRedemption.FORFEITS_REWARDS:
            reward, remainder, forfeited = 0, 0, balance.accrued
        unstake = Unstake(
            unstake_id=unstake_id,
            balance_id=balance.balance_id,
            user_id=balance.user_id,
            asset=balance.asset,
            amount=amount,
            reward=reward,
            status="unbonding",
            principal_paid=False,
            reward_paid=reward == 0,
            created_at=now,
            available_at=now + timedelta(days=balance.unbonding_days),
        )
        await self._store.write_unstake(connection, unstake, left=balance.amount - amount, remainder=remainder)
        about = balance.user_id, balance.balance_id
        await self._store.note(connection, *about, "unstake", balance.asset, amount, now)
        if forfeited:
            await self._store.note(connection, *about, "reward_forfeited", balance.asset, forfeited, now)
        return unstake

    async def pending(self, user_id: str, limit: int, cursor: str | None) -> Page[UnstakeResponse]:
        """A page of the user's unstakes that are not paid yet, newest first."""
        rows = await self._store.pending_of(user_id, limit + 1, time_and_id_of(cursor))
        return page_of(rows, limit, lambda row: time_place(row.created_at, row.unstake_id), _unstake_response)

    async def history(self, user_id: str, limit: int, cursor: str | None) -> Page[StakingEventResponse]:
        """A page of the user's history, newest first."""
        before = None if cursor is None else decode_cursor(cursor, tuple[int])[0]
        if before is not None and not 0 <= before <= _EVENT_ID_MAX:
            raise unknown_cursor()
        rows = await self._store.history_of(user_id, limit + 1, before)
        more = encode_cursor([rows[limit - 1].event_id]) if len(rows) > limit else None
        return Page([_event_response(row) for row in rows[:limit]], more)

    # The daily work. Any number of edges may do it at the same time, any number of times.

    async def accrue_due(self) -> int:
        """Accrue every past day, and take back locked stakes that have ended. Returns the number of stakes.

        A stake whose terms are not known yet waits: its days are accrued once they are.
        """
        # First, so that stakes of an earlier release have what their product said before anybody changed it.
        redemptions = {name: product.early_redemption.value for name, product in self._products.items()}
        while await self._store.keep_redemptions(redemptions, _AT_A_TIME) == _AT_A_TIME:
            pass
        now = utc_datetime(self._clock)
        done = 0
        for balance_id in await self._store.due(now.date(), _AT_A_TIME):
            async with self._store.pool.acquire() as connection, connection.transaction():
                balance = await self._store.lock(connection, balance_id, skip_locked=True)
                if balance is None or balance.status != "active" or balance.asset not in self._assets:
                    continue
                if not self._has_known_terms(balance):
                    continue
                balance = await self._accrue(connection, balance, now)
                if balance.ends_on is not None and balance.ends_on <= now.date():
                    await self._take_back(connection, balance, balance.amount, new_operation().operation_id, now)
                done += 1
        return done

    async def _accrue(self, connection: Connection, balance: StakingBalance, now: datetime) -> StakingBalance:
        """Write the rewards of past days, and return the stake with them. The caller has locked the stake."""
        unit = 10 ** (18 - self._assets[balance.asset].places)
        rate = self._rate_of(balance)
        accrued, remainder, next_day = balance.accrued, balance.remainder, balance.next_accrual_on
        assert next_day is not None, "an active stake has one"
        for accrual in accruals(next_day, now.date(), balance.ends_on, balance.amount // unit, rate, remainder):
            reward = accrual.reward * unit
            await self._store.add_accrual(connection, balance, accrual, reward, rate)
            if reward:
                at = midnight(accrual.day + timedelta(days=1))
                about = balance.user_id, balance.balance_id
                await self._store.note(connection, *about, "reward", balance.asset, reward, at)
            accrued, remainder, next_day = accrued + reward, accrual.remainder, accrual.day + timedelta(days=1)
        await self._store.write_accrued(connection, balance.balance_id, accrued, remainder, next_day)
        current = await self._store.lock(connection, balance.balance_id)
        assert current is not None, "it is locked"
        return current

    def _rate_of(self, balance: StakingBalance) -> int:
        """The yearly rate of a stake. A flexible one has the product's present rate, a locked one its first rate."""
        product = self._products.get(balance.product_id)
        if balance.type == ProductType.LOCKED or product is None:
            return balance.apr_ppm
        return product.rate_ppm

    async def pay_due(self) -> None:
        """Pay out the unstakes whose unbonding is over, up to a limit of one round."""
        if not await self._store.is_payable(utc_datetime(self._clock)):
            return
        for _ in range(_AT_A_TIME):
            if not await self.pay_out(None):
                return

    async def pay_out(self, unstake_id: str | None) -> bool:
        """Pay out an unstake whose unbonding is over: `unstake_id`, or else the oldest. False if there is none.

        Amount and reward are two transfers, so that an empty rewards account does not hold the amount back.
        """
        async with self._store.pool.acquire() as connection, connection.transaction():
            unstake = await self._store.take_payable(connection, utc_datetime(self._clock), unstake_id)
            if unstake is None:
                return False
            transfers = payouts_of(unstake)
            for transfer in transfers:
                await self._runner.begin(connection, transfer)
        for transfer in transfers:
            await self._runner.attempt(transfer)
        return True


def payouts_of(unstake: Unstake) -> list[Transfer]:
    """The transfers of an unstake: its amount, and its reward if there is one."""
    user, asset = unstake.user_id, unstake.asset
    transfers = [
        Transfer(
            f"unstake:{unstake.unstake_id}",
            TransferKind.UNSTAKING,
            unstake.unstake_id,
            (Movement(STAKING_ACCOUNT_ID, user, asset, numeric(unstake.amount)),),
        )
    ]
    if unstake.reward:
        transfers.append(
            Transfer(
                f"staking-reward:{unstake.unstake_id}",
                TransferKind.REWARD,
                unstake.unstake_id,
                (Movement(REWARDS_ACCOUNT_ID, user, asset, numeric(unstake.reward)),),
            )
        )
    return transfers


def _new_balance(balance_id: str, user_id: str, product: Product, amount: int, now: datetime) -> StakingBalance:
    return StakingBalance(
        balance_id=balance_id,
        user_id=user_id,
        product_id=product.product_id,
        asset=product.asset,
        type=product.type.value,
        amount=amount,
        accrued=0,
        remainder=0,
        apr_ppm=product.rate_ppm,
        lock_days=product.lock_days,
        unbonding_days=product.unbonding_days,
        early_redemption=product.early_redemption.value,
        status="pending",
        failure_code=None,
        created_at=now,
        starts_on=None,
        ends_on=None,
        next_accrual_on=None,
    )


def _balance_not_found() -> HttpError:
    return HttpError(404, "staking balance not found", "STAKING_BALANCE_NOT_FOUND")


def _product_response(product: Product, staked: int) -> ProductResponse:
    return ProductResponse(
        id=product.product_id,
        asset=product.asset,
        type=product.type.value,
        apr=decimal_to_text(product.rate),
        lock_days=product.lock_days,
        unbonding_days=product.unbonding_days,
        minimum=amount_to_text(product.minimum),
        maximum=amount_to_text(product.maximum),
        remaining=amount_to_text(max(product.capacity - staked, 0)),
        early_redemption=product.early_redemption.value,
    )


def _balance_response(row: StakingBalance, redemption: EarlyRedemption) -> StakingBalanceResponse:
    return StakingBalanceResponse(
        id=row.balance_id,
        product_id=row.product_id,
        asset=row.asset,
        type=row.type,
        amount=amount_to_text(row.amount),
        accrued=amount_to_text(row.accrued),
        unbonding_days=row.unbonding_days,
        early_redemption=redemption.value,
        status=row.status,
        failure_code=row.failure_code,
        created_at=iso_of(row.created_at),
        starts_at=None if row.starts_on is None else iso_of(midnight(row.starts_on)),
        ends_at=None if row.ends_on is None else iso_of(midnight(row.ends_on)),
    )


def _unstake_response(row: Unstake) -> UnstakeResponse:
    return UnstakeResponse(
        id=row.unstake_id,
        balance_id=row.balance_id,
        asset=row.asset,
        amount=amount_to_text(row.amount),
        reward=amount_to_text(row.reward),
        status=row.status,
        amount_paid=row.principal_paid,
        reward_paid=row.reward_paid,
        created_at=iso_of(row.created_at),
        available_at=iso_of(row.available_at),
    )


def _event_response(row: StakingEvent) -> StakingEventResponse:
    return StakingEventResponse(
        id=str(row.event_id),
        balance_id=row.balance_id,
        type=row.type,
        asset=row.asset,
        amount=amount_to_text(row.amount),
        created_at=iso_of(row.created_at),
    )
