"""Requests to custody. Its refusals become the responses that clients get."""

from typing import TypeVar

import msgspec

from openspot.contracts import subjects
from openspot.contracts.messages import (
    AssignAddress,
    AssignAddressReply,
    CancelWithdrawal,
    CreateWithdrawal,
    CustodyAddress,
    CustodyReserve,
    GetAddress,
    GetAddressReply,
    GetReserves,
    GetReservesReply,
    WithdrawalRecord,
    WithdrawalReply,
)
from openspot.contracts.refusals import UNCERTAIN, RefusalCode
from openspot.http.errors import HttpError, service_unavailable
from openspot.kit.bus import Bus, NotSentError, RequestFailedError
from openspot.kit.log import get_logger

log = get_logger("accounts")


Reply = TypeVar("Reply", AssignAddressReply, GetAddressReply, GetReservesReply, WithdrawalReply)

_STATUS = {
    RefusalCode.VALIDATION: 400,
    RefusalCode.ADDRESS_INVALID: 400,
    RefusalCode.INSUFFICIENT_BALANCE: 400,
    RefusalCode.ENGINE: 400,
    RefusalCode.WITHDRAWAL_TOO_LARGE: 400,
    RefusalCode.USER_DAILY_LIMIT: 400,
    RefusalCode.WITHDRAWALS_LOCKED: 403,
    RefusalCode.NOT_FOUND: 404,
    RefusalCode.WITHDRAWALS_PAUSED: 409,
    RefusalCode.DEPOSITS_PAUSED: 409,
    RefusalCode.REFERENCE_USED: 409,
    RefusalCode.NOT_CANCELLABLE: 409,
    RefusalCode.WALLET_DAILY_LIMIT: 503,
    RefusalCode.PRICE_UNKNOWN: 503,
}


class CustodyClient:
    """Requests to custody. Every method raises HttpError."""

    def __init__(self, bus: Bus) -> None:
        self._bus = bus

    async def assign(self, user_id: str, asset: str, network: str) -> CustodyAddress:
        """The user's deposit address."""
        request = AssignAddress(user_id, asset, network)
        reply = await self._ask(subjects.CUSTODY_USER_ADDRESSES_ASSIGN, request, AssignAddressReply)
        assert reply.address is not None, "a reply without an error has an address"
        return reply.address

    async def check_address(self, asset: str, network: str, address: str, tag: str | None) -> str:
        """The address in the form in which custody stores it. 400 if it or its tag is not valid."""
        request = GetAddress(asset, network, address, tag)
        reply = await self._ask(subjects.CUSTODY_ADDRESS_GET, request, GetAddressReply)
        assert reply.address is not None, "a reply without an error has an address"
        return reply.address

    async def create(self, request: CreateWithdrawal) -> WithdrawalRecord:
        """Create a withdrawal. 504 with its id if nobody knows whether it was created."""
        return await self._withdrawal(subjects.CUSTODY_WITHDRAWALS_CREATE, request, request.withdrawal_id)

    async def cancel(self, withdrawal_id: str, user_id: str) -> WithdrawalRecord:
        """Cancel a withdrawal. 504 if nobody knows whether it is cancelled."""
        request = CancelWithdrawal(withdrawal_id, user_id)
        return await self._withdrawal(subjects.CUSTODY_WITHDRAWALS_CANCEL, request, withdrawal_id)

    async def reserves(self) -> list[CustodyReserve]:
        """What custody holds, by asset and network."""
        return (await self._ask(subjects.CUSTODY_RESERVES_GET, GetReserves(), GetReservesReply)).reserves

    async def _withdrawal(self, subject: str, request: msgspec.Struct, withdrawal_id: str) -> WithdrawalRecord:
        try:
            reply = await self._bus.request(subject, request, WithdrawalReply, self._bus.nested_timeout_s)
        except NotSentError as error:
            raise service_unavailable("custody does not respond now") from error
        except RequestFailedError as error:
            log.warning("a withdrawal's outcome is unknown", withdrawal_id=withdrawal_id, error=str(error))
            raise withdrawal_unknown(withdrawal_id) from error
        if reply.code in UNCERTAIN:
            raise withdrawal_unknown(withdrawal_id)
        _check(reply)
        assert reply.withdrawal is not None, "a reply without an error has a withdrawal"
        return reply.withdrawal

    async def _ask(self, subject: str, request: msgspec.Struct, reply_type: type[Reply]) -> Reply:
        try:
            reply = await self._bus.request(subject, request, reply_type)
        except RequestFailedError as error:
            raise service_unavailable("custody does not respond now") from error
        _check(reply)
        return reply


def _check(reply: AssignAddressReply | GetAddressReply | GetReservesReply | WithdrawalReply) -> None:
    if reply.error is None:
        return
    status = _STATUS.get(reply.code) if reply.code is not None else None
    if status is None or reply.code is None:
        log.warning("custody refused", error=reply.error, code=reply.code)
        raise service_unavailable("custody does not respond now")
    if status == 503:
        raise service_unavailable(reply.error, reply.code.value)
    raise HttpError(status, reply.error, reply.code.value)


def withdrawal_unknown(withdrawal_id: str) -> HttpError:
    """504 with the withdrawal's id: it may have been created or cancelled."""
    return HttpError(
        504,
        "nobody knows yet what became of the withdrawal: look it up by its id",
        "WITHDRAWAL_STATUS_UNKNOWN",
        details={"id": withdrawal_id},
    )
