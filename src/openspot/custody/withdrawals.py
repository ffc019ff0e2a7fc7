"""Decisions on withdrawals: create, cancel, approve, sign, reject. Each is one transaction with its audit entry.

A withdrawal takes quota of its wallet and of its user, under a lock, when it is created. If it is never sent, its state
returns the quota: the sums leave such withdrawals out.
"""

import re
from datetime import datetime
from decimal import Decimal

from openspot.contracts.messages import CreateWithdrawal
from openspot.contracts.refusals import Refusal, RefusalCode
from openspot.custody import withdrawal_store as store
from openspot.custody.prices import PriceUnknownError, dollar_price
from openspot.custody.signatures import sign
from openspot.custody.valuation import value_in_cents
from openspot.custody.wallet_policy import (
    QUOTA_WINDOW,
    RULES,
    approvals_needed,
    fits_daily_limit,
    signers_of,
    wallet_for,
)
from openspot.custody.withdrawal_states import CANCELLABLE, REJECTABLE, Funds, Status
from openspot.custody.withdrawal_store import Withdrawal, WithdrawalDecision
from openspot.domain.networks import Network
from openspot.kit.clock import Clock, utc_datetime
from openspot.kit.database import Connection, Pool

OPERATOR_TEXT = re.compile(r"[a-z0-9][a-z0-9._@+-]{0,63}")
REASON_LENGTH_MAX = 200


class WithdrawalError(Exception):
    """A decision is refused; nothing was done."""

    def __init__(self, code: RefusalCode, message: str) -> None:
        super().__init__(message)
        self.refusal = Refusal(code, message)


class Withdrawals:
    """Makes the decisions. Methods raise WithdrawalError for a refusal, and the database's errors."""

    def __init__(
        self,
        pool: Pool,
        networks: dict[str, Network],
        reference_prices: dict[str, Decimal],
        clock: Clock,
        *,
        confirmations: int | None = None,
    ) -> None:
        self._pool = pool
        self._networks = networks
        self._reference_prices = reference_prices
        self._clock = clock
        self._confirmations = confirmations

    async def create(self, request: CreateWithdrawal, amount: Decimal, fee: Decimal) -> Withdrawal:
        """Create a withdrawal if every limit allows it. A repeated id returns the existing withdrawal."""
        now = utc_datetime(self._clock)
        async with store.transaction(self._pool) as connection:
            await store.lock_named(connection, f"openspot-custody-user:{request.user_id}")
            earlier = await self._earlier(connection, request)
            if earlier is not None:
                return _checked_repeat(earlier, request, amount)
            try:
                price = await dollar_price(connection, request.asset, self._reference_prices)
            except PriceUnknownError as error:
                raise WithdrawalError(RefusalCode.PRICE_UNKNOWN, str(error)) from error
            new = self._new(request, amount, fee, price, now)
            await store.lock_named(connection, f"openspot-custody-wallet:{new.wallet}")
            sum_before = await store.sum_of_wallet(connection, new.wallet, now)
            if not fits_daily_limit(new.wallet, sum_before, new.value_cents):
                raise WithdrawalError(
                    RefusalCode.WALLET_DAILY_LIMIT, "withdrawals of this size have reached their limit of 24 hours"
                )
            of_user = await store.sum_of_user(connection, request.user_id, now)
            if of_user + new.value_cents > request.user_limit_cents:
                raise WithdrawalError(
                    RefusalCode.USER_DAILY_LIMIT,
                    f"amount is worth {_dollars(new.value_cents)} USD; your limit of 24 hours is "
                    f"{_dollars(request.user_limit_cents)} USD, of which {_dollars(of_user)} are used",
                )
            await store.insert(connection, new)
            await store.audit(
                connection, new, WithdrawalDecision(f"user:{request.user_id}", "requested"), now, sum_before
            )
        return new

    async def cancel(self, withdrawal_id: str, user_id: str) -> Withdrawal:
        """End a withdrawal of that user that is not approved yet. Cancelling twice changes nothing."""
        now = utc_datetime(self._clock)
        async with store.transaction(self._pool) as connection:
            withdrawal = await store.lock(connection, withdrawal_id)
            if withdrawal is None or withdrawal.user_id != user_id:
                raise WithdrawalError(RefusalCode.NOT_FOUND, f"withdrawal {withdrawal_id} not found")
            if withdrawal.status is Status.CANCELLED:
                return withdrawal
            if withdrawal.status not in CANCELLABLE:
                raise WithdrawalError(
                    RefusalCode.NOT_CANCELLABLE, f"the withdrawal is {withdrawal.status} and cannot be cancelled"
                )
            withdrawal.status = Status.CANCELLED
            await self._decided(connection, withdrawal, WithdrawalDecision(f"user:{user_id}", "cancelled"), now)
        return withdrawal

    async def approve(self, withdrawal_id: str, approver: str) -> Withdrawal:
        """Add an approval. The approver must not be the requester, nor have approved before."""
        now = utc_datetime(self._clock)
        async with store.transaction(self._pool) as connection:
            withdrawal = await self._locked(connection, withdrawal_id, approver)
            if withdrawal.status is not Status.PENDING_APPROVAL:
                raise WithdrawalError(RefusalCode.VALIDATION, f"the withdrawal is {withdrawal.status}")
            given = await store.approvers(connection, withdrawal_id)
            if not await store.add_approval(connection, withdrawal_id, approver, now):
                raise WithdrawalError(RefusalCode.VALIDATION, f"{approver} has approved this withdrawal already")
            detail = f"{len(given) + 1} of {withdrawal.approvals_needed}"
            await self._decided(
                connection, withdrawal, WithdrawalDecision(f"operator:{approver}", "approved", detail), now
            )
        return withdrawal

    async def sign(self, withdrawal_id: str, signer: str, seed: bytes, *, operator: str = "") -> Withdrawal:
        """Add the signature of one of the wallet's signers. The audit entry names the operator who asked for it."""
        now = utc_datetime(self._clock)
        async with store.transaction(self._pool) as connection:
            withdrawal = await store.lock(connection, withdrawal_id)
            if withdrawal is None:
                raise WithdrawalError(RefusalCode.NOT_FOUND, f"withdrawal {withdrawal_id} not found")
            if withdrawal.status is not Status.SIGNING or withdrawal.digest is None:
                raise WithdrawalError(RefusalCode.VALIDATION, f"the withdrawal is {withdrawal.status}")
            if signer not in signers_of(withdrawal.wallet):
                raise WithdrawalError(
                    RefusalCode.VALIDATION, f"signer must be one of {', '.join(signers_of(withdrawal.wallet))}"
                )
            given = await store.signatures(connection, withdrawal_id)
            signature = sign(seed, signer, withdrawal.digest)
            if not await store.add_signature(connection, withdrawal_id, signer, signature, now):
                raise WithdrawalError(RefusalCode.VALIDATION, f"{signer} has signed this withdrawal already")
            detail = f"{len(given) + 1} of {RULES[withdrawal.wallet].signatures}"
            if operator:
                detail += f", by operator:{operator}"
            await self._decided(connection, withdrawal, WithdrawalDecision(f"signer:{signer}", "signed", detail), now)
        return withdrawal

    async def reject(self, withdrawal_id: str, operator: str, reason: str) -> Withdrawal:
        """End a withdrawal that is not being sent yet. One rejection is enough."""
        if not 1 <= len(reason) <= REASON_LENGTH_MAX or not reason.isprintable():
            raise WithdrawalError(
                RefusalCode.VALIDATION, f"reason must have 1 to {REASON_LENGTH_MAX} printable characters"
            )
        now = utc_datetime(self._clock)
        async with store.transaction(self._pool) as connection:
            withdrawal = await self._locked(connection, withdrawal_id, operator)
            if withdrawal.status not in REJECTABLE:
                raise WithdrawalError(
                    RefusalCode.VALIDATION, f"the withdrawal is {withdrawal.status} and cannot be rejected"
                )
            withdrawal.status, withdrawal.reason = Status.REJECTED, reason
            await self._decided(
                connection, withdrawal, WithdrawalDecision(f"operator:{operator}", "rejected", reason), now
            )
        return withdrawal

    async def _earlier(self, connection: Connection, request: CreateWithdrawal) -> Withdrawal | None:
        found = await store.get(connection, request.withdrawal_id)
        if found is None and request.client_withdrawal_id is not None:
            found = await store.by_client_id(connection, request.user_id, request.client_withdrawal_id)
        return found

    def _new(
        self, request: CreateWithdrawal, amount: Decimal, fee: Decimal, price: Decimal, now: datetime
    ) -> Withdrawal:
        value = value_in_cents(amount, price)
        wallet = wallet_for(value)
        if wallet is None:
            raise WithdrawalError(
                RefusalCode.WITHDRAWAL_TOO_LARGE,
                f"amount is worth {_dollars(value)} USD, more than any wallet may send at once",
            )
        network = self._networks[request.network]
        required = 0 if network.is_fiat else network.confirmations
        if self._confirmations is not None and not network.is_fiat:
            required = self._confirmations
        return Withdrawal(
            withdrawal_id=request.withdrawal_id,
            user_id=request.user_id,
            client_withdrawal_id=request.client_withdrawal_id,
            asset=request.asset,
            network=request.network,
            amount=amount,
            fee=fee,
            net_amount=amount - fee,
            address=request.address,
            tag=request.tag,
            wallet=wallet,
            price=price,
            value_cents=value,
            approvals_needed=approvals_needed(wallet, value),
            status=Status.PENDING_APPROVAL,
            funds=Funds.NEW,
            reason=None,
            digest=None,
            tx_hash=None,
            height=None,
            confirmations=0,
            required_confirmations=required,
            created_at=now,
            updated_at=now,
        )

    async def _locked(self, connection: Connection, withdrawal_id: str, operator: str) -> Withdrawal:
        """Lock and return the withdrawal for an operator's decision. The operator must not be its requester."""
        if not OPERATOR_TEXT.fullmatch(operator):
            raise WithdrawalError(
                RefusalCode.VALIDATION, "the operator's name must be 1 to 64 small letters, digits or . _ @ + -"
            )
        withdrawal = await store.lock(connection, withdrawal_id)
        if withdrawal is None:
            raise WithdrawalError(RefusalCode.NOT_FOUND, f"withdrawal {withdrawal_id} not found")
        email = await connection.fetchval("SELECT email FROM users WHERE user_id = $1", withdrawal.user_id)
        if operator in (withdrawal.user_id.lower(), email):
            raise WithdrawalError(RefusalCode.VALIDATION, "nobody may decide on a withdrawal of their own")
        return withdrawal

    async def _decided(
        self, connection: Connection, withdrawal: Withdrawal, decision: WithdrawalDecision, now: datetime
    ) -> None:
        sum_before = await store.sum_of_wallet(connection, withdrawal.wallet, now)
        if withdrawal.created_at > now - QUOTA_WINDOW:
            sum_before -= withdrawal.value_cents
        await store.save(connection, withdrawal, now)
        await store.audit(connection, withdrawal, decision, now, sum_before)


def _checked_repeat(earlier: Withdrawal, request: CreateWithdrawal, amount: Decimal) -> Withdrawal:
    wanted = (request.user_id, request.asset, request.network, amount, request.address, request.tag)
    if (earlier.user_id, earlier.asset, earlier.network, earlier.amount, earlier.address, earlier.tag) != wanted:
        raise WithdrawalError(RefusalCode.REFERENCE_USED, "clientWithdrawalId was used before, for another withdrawal")
    return earlier


def _dollars(cents: int) -> str:
    return f"{cents // 100}.{cents % 100:02d}"
