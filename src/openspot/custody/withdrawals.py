"""Decisions on withdrawals: create, cancel, approve, sign, reject. Each is one transaction with its audit entry.

A withdrawal takes quota of its wallet and of its user, under a lock, when it is created. If it is never sent, its state
returns the quota: the sums leave such withdrawals out.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timedelta
from decimal import Decimal

from openspot.coin_networks.pauses import refusal_text
from openspot.contracts.messages import CreateWithdrawal
from openspot.contracts.refusals import Refusal, RefusalCode
from openspot.custody import withdrawal_store as store
from openspot.custody.deciding import Decider
from openspot.custody.prices import PriceUnknownError, WithdrawalPrice, withdrawal_price
from openspot.custody.signatures import sign
from openspot.custody.valuation import value_in_cents
from openspot.custody.wallet_policy import (
    QUOTA_WINDOW,
    RULES,
    Wallet,
    approvals_needed,
    fits_daily_limit,
    signers_of,
    wallet_for,
    wallet_of_user,
)
from openspot.custody.withdrawal_states import CANCELLABLE, REJECTABLE, Funds, Status
from openspot.custody.withdrawal_store import CUSTODY_ACTOR, Withdrawal, WithdrawalDecision
from openspot.domain.fair_price.crossing import AssetPrice
from openspot.domain.ids import withdrawals_lock
from openspot.domain.networks import Network
from openspot.http.operator_store import made_together_with
from openspot.kit.clock import Clock, utc_datetime
from openspot.kit.database import Connection, Pool

OPERATOR_TEXT = re.compile(r"(user:)?[a-z0-9][a-z0-9._@+-]{0,63}")
REASON_LENGTH_MIN = 3
"""Of an approval or a signature; a rejection's reason, which its owner sees, may be shorter."""
REASON_LENGTH_MAX = 200
PAGE = 500
"""Withdrawals that one query reads."""


class WithdrawalError(Exception):
    """A decision is refused; nothing was done."""

    def __init__(self, code: RefusalCode, message: str) -> None:
        super().__init__(message)
        self.refusal = Refusal(code, message)


class RehearsedError(Exception):
    """A rehearsal has come to the decision, which would be made; its transaction is undone."""


class Withdrawals:
    """Makes the decisions. Methods raise WithdrawalError for a refusal, and the database's errors.

    `fair_prices` returns the present fair prices of assets in US dollars. For `roles_wait` after a role was given, who
    gave it and who got it are not two approvers of one withdrawal.
    """

    def __init__(
        self,
        pool: Pool,
        networks: dict[str, Network],
        fair_prices: Callable[[], Mapping[str, AssetPrice]],
        reference_prices: Mapping[str, Decimal],
        clock: Clock,
        *,
        confirmations: int | None = None,
        hot_share_percent: int = 100,
        roles_wait: timedelta = timedelta(),
    ) -> None:
        self._pool = pool
        self._networks = networks
        self._fair_prices = fair_prices
        self._reference_prices = reference_prices
        self._clock = clock
        self._confirmations = confirmations
        self._hot_share_percent = hot_share_percent
        self._roles_wait = roles_wait

    async def create(self, request: CreateWithdrawal, amount: Decimal, fee: Decimal) -> Withdrawal:
        """Create a withdrawal if every limit allows it. A repeated id returns the existing withdrawal."""
        now = utc_datetime(self._clock)
        async with store.transaction(self._pool) as connection:
            await store.lock_named(connection, withdrawals_lock(request.user_id))
            earlier = await self._earlier(connection, request)
            if earlier is not None:
                return checked_repeat(earlier, request, amount)
            if await store.is_locked_by_operator(connection, request.user_id):
                raise WithdrawalError(RefusalCode.WITHDRAWALS_LOCKED, "withdrawals of this account are locked")
            pause = await store.pause_of(connection, request.asset, request.network)
            if pause is not None:
                raise WithdrawalError(
                    RefusalCode.WITHDRAWALS_PAUSED, refusal_text(pause, request.asset, request.network)
                )
            try:
                price = withdrawal_price(request.asset, self._fair_prices(), self._reference_prices)
            except PriceUnknownError as error:
                raise WithdrawalError(RefusalCode.PRICE_UNKNOWN, str(error)) from error
            new = self._new(request, amount, fee, price, now)
            beyond_share = await self._beyond_share(connection, new, now)
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
            detail = "; ".join(filter(None, (beyond_share, new.reason))) or None
            requested = WithdrawalDecision(f"user:{request.user_id}", "requested", detail)
            await store.audit(connection, new, requested, now, sum_before)
        return new

    async def cancel(self, withdrawal_id: str, user_id: str) -> Withdrawal:
        """End a withdrawal of that user that is not approved yet. Cancelling twice changes nothing.

        While such withdrawals are paused, an approved one can be cancelled too, as long as it is not being sent.
        """
        now = utc_datetime(self._clock)
        async with store.transaction(self._pool) as connection:
            withdrawal = await store.lock(connection, withdrawal_id)
            if withdrawal is None or withdrawal.user_id != user_id:
                raise WithdrawalError(RefusalCode.NOT_FOUND, f"withdrawal {withdrawal_id} not found")
            if withdrawal.status is Status.CANCELLED:
                return withdrawal
            if withdrawal.status not in CANCELLABLE and not await self._waits_for_pause(connection, withdrawal):
                raise WithdrawalError(
                    RefusalCode.NOT_CANCELLABLE, f"the withdrawal is {withdrawal.status} and cannot be cancelled"
                )
            withdrawal.status, withdrawal.reason = Status.CANCELLED, None
            await self._decided(connection, withdrawal, WithdrawalDecision(f"user:{user_id}", "cancelled"), now)
        return withdrawal

    async def approve(
        self, withdrawal_id: str, approver: str, by: Decider, *, is_rehearsal: bool = False
    ) -> Withdrawal:
        """Add an approval. The approver must not be the requester, nor have approved before, under any name.

        A rehearsal refuses what an approval would refuse; otherwise it raises RehearsedError, and nothing is changed.
        """
        _require_reason(by.reason, REASON_LENGTH_MIN)
        now = utc_datetime(self._clock)
        async with store.transaction(self._pool) as connection:
            withdrawal = await self._locked(connection, withdrawal_id, approver)
            if withdrawal.status is not Status.PENDING_APPROVAL:
                raise WithdrawalError(RefusalCode.VALIDATION, f"the withdrawal is {withdrawal.status}")
            given = await store.approvers(connection, withdrawal_id)
            if not await store.add_approval(connection, withdrawal_id, approver, now):
                raise WithdrawalError(RefusalCode.VALIDATION, f"{approver} has approved this withdrawal already")
            await self._require_independent(connection, approver, given, now)
            detail = f"{len(given) + 1} of {withdrawal.approvals_needed}"
            before = {"approvals": f"{len(given)} of {withdrawal.approvals_needed}"}
            decision = WithdrawalDecision(f"operator:{approver}", "approved", detail, by, before, {"approvals": detail})
            await self._decided(connection, withdrawal, decision, now)
            if is_rehearsal:
                raise RehearsedError
        return withdrawal

    async def sign(
        self, withdrawal_id: str, signer: str, seed: bytes, by: Decider, *, operator: str = ""
    ) -> Withdrawal:
        """Add the signature of one of the wallet's signers. The audit entry names the operator who asked for it.

        An operator must not ask for a signature of a withdrawal of their own, as for every other decision.
        """
        _require_reason(by.reason, REASON_LENGTH_MIN)
        now = utc_datetime(self._clock)
        async with store.transaction(self._pool) as connection:
            if operator:
                withdrawal = await self._locked(connection, withdrawal_id, operator)
            else:
                withdrawal = await self._existing(connection, withdrawal_id)
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
            needed = RULES[withdrawal.wallet].signatures
            count = f"{len(given) + 1} of {needed}"
            detail = f"{count}, by operator:{operator}" if operator else count
            before, after = {"signatures": f"{len(given)} of {needed}"}, {"signatures": count, "signer": signer}
            decision = WithdrawalDecision(f"signer:{signer}", "signed", detail, by, before, after)
            await self._decided(connection, withdrawal, decision, now)
        return withdrawal

    async def reject(self, withdrawal_id: str, operator: str, by: Decider, *, is_rehearsal: bool = False) -> Withdrawal:
        """End a withdrawal that is not being sent yet. One rejection is enough. A rehearsal as for `approve`."""
        _require_reason(by.reason, 1)
        now = utc_datetime(self._clock)
        async with store.transaction(self._pool) as connection:
            withdrawal = await self._locked(connection, withdrawal_id, operator)
            if withdrawal.status not in REJECTABLE:
                raise WithdrawalError(
                    RefusalCode.VALIDATION, f"the withdrawal is {withdrawal.status} and cannot be rejected"
                )
            before, after = {"status": withdrawal.status.value}, {"status": Status.REJECTED.value}
            withdrawal.status, withdrawal.reason = Status.REJECTED, by.reason
            decision = WithdrawalDecision(f"operator:{operator}", "rejected", by.reason, by, before, after)
            await self._decided(connection, withdrawal, decision, now)
            if is_rehearsal:
                raise RehearsedError
        return withdrawal

    async def _waits_for_pause(self, connection: Connection, withdrawal: Withdrawal) -> bool:
        """Whether an approved withdrawal waits because operators have paused such withdrawals."""
        if withdrawal.status not in REJECTABLE:
            return False
        return await store.pause_of(connection, withdrawal.asset, withdrawal.network) is not None

    async def approve_at_sure_prices(self) -> int:
        """Let wallets approve the withdrawals that wait for people only because the price was not sure.

        It must be worth no more than what it counts for in the limits. Returns how many were approved.
        """
        approved = 0
        for wallet, rules in RULES.items():
            if rules.auto_approve_below is None:
                continue
            after = ""
            while page := await store.waiting_for_price(self._pool, wallet, rules.auto_approve_below, after, PAGE):
                for withdrawal_id, asset in page:
                    price = self._sure_price(asset)
                    if price is not None:
                        approved += await self._approve_at(withdrawal_id, price)
                after = page[-1][0]
        return approved

    def _sure_price(self, asset: str) -> Decimal | None:
        try:
            price = withdrawal_price(asset, self._fair_prices(), self._reference_prices)
        except PriceUnknownError:
            return None
        return None if price.unsure_because else price.dollars

    async def _approve_at(self, withdrawal_id: str, price: Decimal) -> bool:
        now = utc_datetime(self._clock)
        async with store.transaction(self._pool) as connection:
            withdrawal = await store.lock(connection, withdrawal_id, skip_locked=True)
            if withdrawal is None or withdrawal.status is not Status.PENDING_APPROVAL:
                return False
            value = value_in_cents(withdrawal.amount, price)
            if value > withdrawal.value_cents:
                return False
            withdrawal.approvals_needed, withdrawal.reason = 0, None
            detail = f"the price is certain now: {_dollars(value)} USD"
            await self._decided(connection, withdrawal, WithdrawalDecision(CUSTODY_ACTOR, "priced", detail), now)
        return True

    async def _beyond_share(self, connection: Connection, new: Withdrawal, now: datetime) -> str | None:
        """Give `new` to another wallet if it goes beyond the user's share of its own. Returns that as text, or None.

        The lock of the user keeps the user's sum as it is.
        """
        of_user = await store.sum_of_user_in_wallet(connection, new.user_id, new.wallet, now)
        wallet = wallet_of_user(new.wallet, of_user, new.value_cents, self._hot_share_percent)
        if wallet is new.wallet:
            return None
        detail = f"beyond the user's {self._hot_share_percent} % of {new.wallet}, so {wallet} sends it"
        new.wallet, new.approvals_needed = wallet, approvals_needed(wallet, new.value_cents)
        return detail

    async def _earlier(self, connection: Connection, request: CreateWithdrawal) -> Withdrawal | None:
        found = await store.get(connection, request.withdrawal_id)
        if found is None and request.client_withdrawal_id is not None:
            found = await store.by_client_id(connection, request.user_id, request.client_withdrawal_id)
        return found

    def _new(
        self, request: CreateWithdrawal, amount: Decimal, fee: Decimal, price: WithdrawalPrice, now: datetime
    ) -> Withdrawal:
        value = value_in_cents(amount, price.dollars)
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
            price=price.dollars,
            value_cents=value,
            approvals_needed=_approvals(wallet, value, price),
            status=Status.PENDING_APPROVAL,
            funds=Funds.NEW,
            reason=_waiting_reason(request.asset, price),
            digest=None,
            tx_hash=None,
            height=None,
            confirmations=0,
            required_confirmations=required,
            created_at=now,
            updated_at=now,
        )

    async def _existing(self, connection: Connection, withdrawal_id: str) -> Withdrawal:
        """Lock and return the withdrawal."""
        withdrawal = await store.lock(connection, withdrawal_id)
        if withdrawal is None:
            raise WithdrawalError(RefusalCode.NOT_FOUND, f"withdrawal {withdrawal_id} not found")
        return withdrawal

    async def _locked(self, connection: Connection, withdrawal_id: str, operator: str) -> Withdrawal:
        """Lock and return the withdrawal for an operator's decision. The operator must not be its requester, and own
        no account that is linked with the requester's.
        """
        if not OPERATOR_TEXT.fullmatch(operator):
            raise WithdrawalError(
                RefusalCode.VALIDATION,
                "the operator's name must be 1 to 64 small letters, digits or . _ @ + -",
            )
        withdrawal = await self._existing(connection, withdrawal_id)
        if withdrawal.user_id.lower() in await store.accounts_of(connection, operator):
            raise WithdrawalError(RefusalCode.VALIDATION, "nobody may decide on a withdrawal of their own")
        return withdrawal

    async def _require_independent(
        self, connection: Connection, approver: str, given: Sequence[str], now: datetime
    ) -> None:
        """Refuse an approver who is one of those who approved before, or was made an operator together with one."""
        own = await store.accounts_of(connection, approver)
        made_together = own
        if self._roles_wait and given:
            made_together = await made_together_with(connection, own, now - self._roles_wait)
        for other in given:
            accounts = await store.accounts_of(connection, other)
            if own & accounts:
                raise WithdrawalError(
                    RefusalCode.VALIDATION, f"{other} has approved already, and is the same person as {approver}"
                )
            if made_together & accounts:
                raise WithdrawalError(
                    RefusalCode.VALIDATION,
                    f"{other} has approved already, and one of you gave the other a role not long ago, or both have "
                    "one from the same person: somebody who is independent must approve",
                )

    async def _decided(
        self, connection: Connection, withdrawal: Withdrawal, decision: WithdrawalDecision, now: datetime
    ) -> None:
        sum_before = await store.sum_of_wallet(connection, withdrawal.wallet, now)
        if withdrawal.created_at > now - QUOTA_WINDOW:
            sum_before -= withdrawal.value_cents
        await store.save(connection, withdrawal, now)
        await store.audit(connection, withdrawal, decision, now, sum_before)


def checked_repeat(earlier: Withdrawal, request: CreateWithdrawal, amount: Decimal) -> Withdrawal:
    """`earlier`, if `request` asks for the same withdrawal again. Raises WithdrawalError if any field differs."""
    wanted = (request.user_id, request.asset, request.network, amount, request.address, request.tag)
    if (earlier.user_id, earlier.asset, earlier.network, earlier.amount, earlier.address, earlier.tag) != wanted:
        raise WithdrawalError(RefusalCode.REFERENCE_USED, "clientWithdrawalId was used before, for another withdrawal")
    return earlier


def _require_reason(reason: str, length_min: int) -> None:
    if not length_min <= len(reason) <= REASON_LENGTH_MAX or not reason.isprintable():
        raise WithdrawalError(
            RefusalCode.VALIDATION, f"reason must have {length_min} to {REASON_LENGTH_MAX} printable characters"
        )


def _approvals(wallet: Wallet, value: int, price: WithdrawalPrice) -> int:
    """How many people must approve. No wallet approves by itself at a price that is not sure."""
    return RULES[wallet].approvals if price.unsure_because else approvals_needed(wallet, value)


def _waiting_reason(asset: str, price: WithdrawalPrice) -> str | None:
    """Tell the user why even a small withdrawal waits for people; None if it does not."""
    if not price.unsure_because:
        return None
    return f"it waits until the price of {asset} is certain, or an operator decides: {price.unsure_because}"


def _dollars(cents: int) -> str:
    return f"{cents // 100}.{cents % 100:02d}"
