"""The requests of custody (facts B4.3-17 to B4.3-19). Each method returns a reply, even to a bad request."""

import asyncio
from collections.abc import Mapping
from decimal import Decimal

from openspot.contracts import subjects
from openspot.contracts.messages import (
    AssignAddress,
    AssignAddressReply,
    CancelWithdrawal,
    CreateWithdrawal,
    GetAddress,
    GetAddressReply,
    GetReserves,
    GetReservesReply,
    GetUserAddresses,
    GetUserAddressesReply,
    WithdrawalReply,
)
from openspot.contracts.refusals import InvalidRequestError, Refusal, RefusalCode
from openspot.custody import withdrawal_store as store
from openspot.custody.address_book import DepositAddressBook, DepositsPausedError
from openspot.custody.addresses import AddressError, checked_tag, normalised
from openspot.custody.progress import WithdrawalProgress
from openspot.custody.reserves import reserves_of
from openspot.custody.withdrawal_states import WITHDRAWAL_ID_LENGTH_MAX, WITHDRAWAL_ID_TEXT, Funds, Status
from openspot.custody.withdrawal_store import Withdrawal
from openspot.custody.withdrawals import WithdrawalError, Withdrawals
from openspot.domain.ids import PARTICIPANT_ID_TEXT
from openspot.domain.market import AssetScale
from openspot.domain.money import MoneyError, decimal_to_text, parse_decimal, to_amount, to_scaled
from openspot.domain.networks import Network
from openspot.domain.result_code import ResultCode
from openspot.kit.bus import Bus
from openspot.kit.database import TRANSIENT_ERRORS, Pool
from openspot.kit.log import get_logger

log = get_logger("custody")

_FUNDS_POLL_INTERVAL_S = 0.03
LIMIT_CENTS_MAX = 2**62
_UNAVAILABLE = Refusal(RefusalCode.UNAVAILABLE, "the custody's database does not answer")


_REFUSED = (InvalidRequestError, WithdrawalError)


class RequestHandlers:
    """Handles the requests of one process."""

    def __init__(
        self,
        pool: Pool,
        addresses: DepositAddressBook,
        withdrawals: Withdrawals,
        progress: WithdrawalProgress,
        networks: Mapping[str, Network],
        assets: Mapping[str, AssetScale],
        funds_wait_s: float,
    ) -> None:
        """The reply to a new withdrawal waits `funds_wait_s` for the engine's decision on the funds."""
        self._funds_wait_s = funds_wait_s
        self._pool = pool
        self._addresses = addresses
        self._withdrawals = withdrawals
        self._progress = progress
        self._networks = networks
        self._assets = assets

    async def serve(self, bus: Bus) -> None:
        """Take requests, in the queue group that all custody processes share."""
        queue = subjects.CUSTODY_QUEUE
        await bus.serve(
            subjects.CUSTODY_USER_ADDRESSES_ASSIGN, queue, AssignAddress, self.assign, AssignAddressReply.refused
        )
        await bus.serve(
            subjects.CUSTODY_USER_ADDRESSES_GET, queue, GetUserAddresses, self.of_user, GetUserAddressesReply.refused
        )
        await bus.serve(subjects.CUSTODY_ADDRESS_GET, queue, GetAddress, self.address, GetAddressReply.refused)
        await bus.serve(
            subjects.CUSTODY_WITHDRAWALS_CREATE, queue, CreateWithdrawal, self.create, WithdrawalReply.refused
        )
        await bus.serve(
            subjects.CUSTODY_WITHDRAWALS_CANCEL, queue, CancelWithdrawal, self.cancel, WithdrawalReply.refused
        )
        await bus.serve(subjects.CUSTODY_RESERVES_GET, queue, GetReserves, self.reserves, GetReservesReply.refused)

    async def assign(self, request: AssignAddress) -> AssignAddressReply:
        """Return the user's deposit address; the first request makes it."""
        try:
            _check_user(request.user_id)
            network = self._network(request.network, request.asset)
            if network.is_fiat:
                raise InvalidRequestError(f"network {network.name} has no deposit addresses")
            return AssignAddressReply(await self._addresses.assign(request.user_id, request.asset, network))
        except DepositsPausedError as error:
            return AssignAddressReply.refused(Refusal(RefusalCode.DEPOSITS_PAUSED, str(error)))
        except _REFUSED as error:
            return AssignAddressReply.refused(error.refusal)
        except TRANSIENT_ERRORS as error:
            return AssignAddressReply.refused(_unavailable(error))

    async def of_user(self, request: GetUserAddresses) -> GetUserAddressesReply:
        """Return the addresses that were assigned to a user."""
        try:
            _check_user(request.user_id)
            if request.asset is not None and request.asset not in self._assets:
                raise InvalidRequestError(f"asset must be one of {', '.join(self._assets)}")
            return GetUserAddressesReply(await self._addresses.of_user(request.user_id, request.asset))
        except _REFUSED as error:
            return GetUserAddressesReply.refused(error.refusal)
        except TRANSIENT_ERRORS as error:
            return GetUserAddressesReply.refused(_unavailable(error))

    async def address(self, request: GetAddress) -> GetAddressReply:
        """Return the address in custody's form, and whose deposit address it is."""
        try:
            network = self._network(request.network, request.asset)
            address, tag = _checked_address(network, request.address, request.tag)
            return GetAddressReply(address, tag, await self._addresses.owner(network.name, address))
        except _REFUSED as error:
            return GetAddressReply.refused(error.refusal)
        except TRANSIENT_ERRORS as error:
            return GetAddressReply.refused(_unavailable(error))

    async def create(self, request: CreateWithdrawal) -> WithdrawalReply:
        """Create a withdrawal, and wait a little for the engine's decision on its funds."""
        try:
            amount, fee = self._checked_withdrawal(request)
            created = await self._withdrawals.create(request, amount, fee)
            self._progress.wake()
            return _reply(await self._with_funds_decided(created))
        except _REFUSED as error:
            return WithdrawalReply.refused(error.refusal)
        except TRANSIENT_ERRORS as error:
            # It may have been created: perhaps only the reply to the commit was lost.
            log.warning("a withdrawal's outcome is unknown", withdrawal_id=request.withdrawal_id, error=repr(error))
            return WithdrawalReply.refused(Refusal(RefusalCode.STATUS_UNKNOWN, "the withdrawal may have been created"))

    async def cancel(self, request: CancelWithdrawal) -> WithdrawalReply:
        """Cancel a withdrawal that is not approved yet."""
        try:
            _check_user(request.user_id)
            _check_id("withdrawalId", request.withdrawal_id)
            cancelled = await self._withdrawals.cancel(request.withdrawal_id, request.user_id)
            self._progress.wake()
            return WithdrawalReply(cancelled.record())
        except _REFUSED as error:
            return WithdrawalReply.refused(error.refusal)
        except TRANSIENT_ERRORS as error:
            log.warning("a cancel's outcome is unknown", withdrawal_id=request.withdrawal_id, error=repr(error))
            return WithdrawalReply.refused(Refusal(RefusalCode.STATUS_UNKNOWN, "the withdrawal may be cancelled"))

    async def reserves(self, _: GetReserves) -> GetReservesReply:
        """Return what custody holds, by asset and network."""
        try:
            return GetReservesReply(await reserves_of(self._pool))
        except TRANSIENT_ERRORS as error:
            return GetReservesReply.refused(_unavailable(error))

    def _checked_withdrawal(self, request: CreateWithdrawal) -> tuple[Decimal, Decimal]:
        """Return amount and fee, exact. Raises InvalidRequestError if any field breaks its rule."""
        _check_user(request.user_id)
        _check_id("withdrawalId", request.withdrawal_id)
        if request.client_withdrawal_id is not None:
            _check_id("clientWithdrawalId", request.client_withdrawal_id)
        network = self._network(request.network, request.asset)
        address, tag = _checked_address(network, request.address, request.tag)
        if (address, tag) != (request.address, request.tag):
            raise InvalidRequestError("address must be in the form that custody.address.get returns")
        places = self._assets[request.asset].places
        amount, fee = _exact("amount", request.amount, places), _exact("fee", request.fee, places)
        if fee < 0:
            raise InvalidRequestError("fee must be at least 0")
        if amount <= fee:
            raise InvalidRequestError("amount must be greater than the fee")
        minimum = network.assets[request.asset].minimum
        if amount < minimum:
            raise InvalidRequestError(f"amount must be at least {decimal_to_text(minimum)} {request.asset}")
        if not 0 <= request.user_limit_cents <= LIMIT_CENTS_MAX:
            raise InvalidRequestError(f"userLimitCents must be 0 to {LIMIT_CENTS_MAX}")
        return amount, fee

    def _network(self, name: str, asset: str) -> Network:
        network = self._networks.get(name)
        if network is None:
            raise InvalidRequestError(f"network must be one of {', '.join(self._networks)}")
        if asset not in network.assets or asset not in self._assets:
            raise InvalidRequestError(f"asset must be one of {', '.join(network.assets)} on {network.name}")
        return network

    async def _with_funds_decided(self, created: Withdrawal) -> Withdrawal:
        deadline = asyncio.get_running_loop().time() + self._funds_wait_s
        current = created
        while current.funds in (Funds.NEW, Funds.REQUESTED) and asyncio.get_running_loop().time() < deadline:
            await asyncio.sleep(_FUNDS_POLL_INTERVAL_S)
            async with self._pool.acquire() as connection:
                current = await store.get(connection, created.withdrawal_id) or created
        return current


def _reply(withdrawal: Withdrawal) -> WithdrawalReply:
    if withdrawal.status is Status.FAILED and withdrawal.funds is Funds.REFUSED:
        reason = withdrawal.reason or "no reason given"
        is_short = reason == ResultCode.RISK_NSF.name
        code = RefusalCode.INSUFFICIENT_BALANCE if is_short else RefusalCode.ENGINE
        return WithdrawalReply.refused(Refusal(code, reason))
    return WithdrawalReply(withdrawal.record())


def _check_user(user_id: str) -> None:
    if not PARTICIPANT_ID_TEXT.fullmatch(user_id):
        raise InvalidRequestError("userId must be 1 to 64 letters, digits or _ : -")


def _check_id(field: str, value: str) -> None:
    if not WITHDRAWAL_ID_TEXT.fullmatch(value):
        raise InvalidRequestError(f"{field} must be 1 to {WITHDRAWAL_ID_LENGTH_MAX} letters, digits, _ or -")


def _checked_address(network: Network, address: str, tag: str | None) -> tuple[str, str | None]:
    field = "address"
    try:
        kept = normalised(network, address)
        field = "tag"
        return kept, checked_tag(network, tag)
    except AddressError as error:
        raise InvalidRequestError(f"{field} {error}", RefusalCode.ADDRESS_INVALID) from error


def _exact(field: str, text: str, places: int) -> Decimal:
    try:
        value = parse_decimal(text)
        to_amount(value)
        to_scaled(value, 10**places)
    except MoneyError as error:
        raise InvalidRequestError(f"{field} {error}") from error
    return value


def _unavailable(error: Exception) -> Refusal:
    log.warning("request refused", error=repr(error))
    return _UNAVAILABLE
