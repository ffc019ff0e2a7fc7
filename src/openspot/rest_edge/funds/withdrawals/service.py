"""Withdrawals at the edge: it checks the user, the saved address and the fee. Custody does the rest."""

from collections.abc import Awaitable, Callable, Mapping
from decimal import Decimal
from typing import Protocol

from openspot.coin_networks.pauses import Direction, FollowedPauses, refusal_text
from openspot.contracts.messages import CreateWithdrawal, CustodyAddress, WithdrawalRecord
from openspot.contracts.refusals import RefusalCode
from openspot.domain.market import AssetScale
from openspot.domain.money import MoneyError, decimal_to_text, to_scaled
from openspot.domain.networks import Network
from openspot.http.context import IdempotentOperation
from openspot.http.errors import HttpError, validation_error
from openspot.kit.clock import Clock, utc_datetime
from openspot.rest_edge.common.user_limits import UserLimits
from openspot.rest_edge.funds.addresses.store import SavedAddress
from openspot.rest_edge.funds.custody.client import CustodyClient, withdrawal_unknown
from openspot.rest_edge.funds.fees.network_fees import WithdrawalFees
from openspot.rest_edge.funds.withdrawals.limits import limit_in_cents
from openspot.rest_edge.funds.withdrawals.schemas import Deposit, DepositFiatInfo
from openspot.rest_edge.funds.withdrawals.store import (
    DepositPosition,
    WithdrawalFilter,
    WithdrawalPosition,
    WithdrawalStore,
)
from openspot.rest_edge.identity.second_factor.code_check import SecondFactor


class AddressBook(Protocol):
    """The saved addresses of users."""

    async def find(self, user_id: str, address_id: str) -> SavedAddress | None:
        """The user's saved address with this id, None if there is none."""


class VerificationLevels(Protocol):
    """Looks up the users' levels of verification."""

    async def level(self, user_id: str) -> int:
        """The user's level: 0 none, 1 basic, 2 verified."""


class WithdrawalService:
    """Handles the requests to the deposit and withdrawal routes. Methods raise HttpError to refuse a request."""

    def __init__(
        self,
        *,
        custody: CustodyClient,
        store: WithdrawalStore,
        addresses: AddressBook,
        verification: VerificationLevels,
        own_limits: Callable[[str], Awaitable[UserLimits]],
        second_factor: SecondFactor,
        fees: WithdrawalFees,
        networks: Mapping[str, Network],
        pauses: FollowedPauses,
        assets: Mapping[str, AssetScale],
        limits: tuple[int, int, int],
        clock: Clock,
    ) -> None:
        self._custody = custody
        self._store = store
        self._addresses = addresses
        self._verification = verification
        self._own_limits = own_limits
        self._second_factor = second_factor
        self._fees = fees
        self._networks = networks
        self._pauses = pauses
        self._assets = assets
        self._limits = limits
        self._clock = clock

    async def deposit_address(self, user_id: str, asset: str, network: str | None) -> CustodyAddress:
        """The user's deposit address, which the first request assigns. The default is the asset's first network."""
        chains = [name for name, known in self._networks.items() if asset in known.assets and not known.is_fiat]
        if not chains:
            raise HttpError(404, f"asset {asset} has no deposit addresses", "ASSET_NOT_FOUND")
        if network is not None and network not in chains:
            raise validation_error([f"network must be one of {', '.join(chains)} for {asset}"])
        return await self._custody.assign(user_id, asset, network or chains[0])

    def deposit_fiat_info(self, user_id: str, asset: str) -> DepositFiatInfo:
        """The bank account for a transfer, with the reference that names the user."""
        for network in self._networks.values():
            if network.bank is not None and asset in network.assets:
                return DepositFiatInfo(
                    currency=asset,
                    network=network.name,
                    bank_name=network.bank.name,
                    account_name=network.bank.account_name,
                    account=network.bank.account,
                    reference=user_id,
                    minimum=decimal_to_text(network.assets[asset].deposit_minimum),
                    simulated=True,
                )
        raise HttpError(404, f"currency {asset} takes no bank transfers", "ASSET_NOT_FOUND")

    async def withdraw(
        self,
        user_id: str,
        operation: IdempotentOperation,
        address_id: str,
        asset: str,
        network: str | None,
        amount: Decimal,
        *,
        is_fiat: bool,
        code: str | None,
        fee_quote_id: str | None = None,
        client_withdrawal_id: str | None = None,
    ) -> WithdrawalRecord:
        """Withdraw to a saved address. The second factor comes last of the checks, because it uses up the code.

        The withdrawal's id follows from the operation's. If an operation is resumed, its withdrawal is not there yet
        and its code is no longer valid, it gets 504: the earlier run may have used the code and reached custody.
        """
        withdrawal_id = f"wd-{operation.operation_id}"
        if operation.is_resumed:
            earlier = await self._store.get(user_id, withdrawal_id)
            if earlier is not None:
                return earlier
        own = (await self._own_limits(user_id)).daily_withdrawal_usd
        limit = limit_in_cents(await self._verification.level(user_id), self._limits, own)
        saved = await self._usable_address(user_id, address_id, asset, network, is_fiat=is_fiat)
        known = self._networks[saved.network]
        pause = self._pauses.find(asset, saved.network, Direction.WITHDRAWALS)
        if pause is not None and not operation.is_resumed:
            # Custody decides; this spares the user's second factor.
            raise HttpError(409, refusal_text(pause, asset, saved.network), RefusalCode.WITHDRAWALS_PAUSED.value)
        try:
            to_scaled(amount, 10 ** self._assets[asset].places)
        except MoneyError as error:
            raise validation_error([f"amount {error}"]) from error
        minimum = known.assets[asset].minimum
        if amount < minimum:
            raise validation_error([f"amount must be at least {decimal_to_text(minimum)} {asset}"])
        fee = await self._fees.fee(user_id, known, asset, fee_quote_id)
        if amount <= fee:
            raise validation_error([f"amount must be greater than the fee of {decimal_to_text(fee)} {asset}"])
        try:
            await self._second_factor.require(user_id, code)
        except HttpError as error:
            if operation.is_resumed:
                raise withdrawal_unknown(withdrawal_id) from error
            raise
        return await self._custody.create(
            CreateWithdrawal(
                withdrawal_id=withdrawal_id,
                user_id=user_id,
                asset=asset,
                network=saved.network,
                amount=decimal_to_text(amount),
                fee=decimal_to_text(fee),
                address=saved.address,
                tag=saved.tag,
                user_limit_cents=limit,
                client_withdrawal_id=client_withdrawal_id,
            )
        )

    async def cancel(self, user_id: str, withdrawal_id: str) -> WithdrawalRecord:
        """Cancel a withdrawal that is not approved yet."""
        return await self._custody.cancel(withdrawal_id, user_id)

    async def get(self, user_id: str, withdrawal_id: str) -> WithdrawalRecord:
        """One withdrawal of the user. 404 if there is none."""
        found = await self._store.get(user_id, withdrawal_id)
        if found is None:
            raise HttpError(404, f"withdrawal {withdrawal_id} not found", "WITHDRAWAL_NOT_FOUND")
        return found

    async def page(
        self, user_id: str, wanted: WithdrawalFilter, limit: int, after: WithdrawalPosition | None
    ) -> tuple[list[WithdrawalRecord], WithdrawalPosition | None]:
        """A page of the user's withdrawals, newest first."""
        return await self._store.page(user_id, wanted, limit, after)

    async def deposits(
        self, user_id: str, asset: str | None, limit: int, after: DepositPosition | None
    ) -> tuple[list[Deposit], DepositPosition | None]:
        """A page of the user's deposits, newest first."""
        return await self._store.deposits(user_id, asset, limit, after)

    async def _usable_address(
        self, user_id: str, address_id: str, asset: str, network: str | None, *, is_fiat: bool
    ) -> SavedAddress:
        saved = await self._addresses.find(user_id, address_id)
        field = "bankAccountId" if is_fiat else "addressId"
        if saved is None or saved.network not in self._networks or self._networks[saved.network].is_fiat != is_fiat:
            raise HttpError(404, f"{field} is none of your saved addresses", "ADDRESS_NOT_FOUND")
        faults = []
        if saved.asset != asset:
            faults.append(f"{field} was saved for {saved.asset}, not for {asset}")
        if network is not None and saved.network != network:
            faults.append(f"{field} was saved for the network {saved.network}, not for {network}")
        if faults:
            raise validation_error(faults)
        now = utc_datetime(self._clock)
        if now < saved.available_at:
            raise HttpError(
                403,
                f"the address can be used from {saved.available_at:%Y-%m-%dT%H:%M:%SZ} on",
                "ADDRESS_NOT_AVAILABLE",
                details={"availableAt": f"{saved.available_at:%Y-%m-%dT%H:%M:%SZ}"},
            )
        return saved
