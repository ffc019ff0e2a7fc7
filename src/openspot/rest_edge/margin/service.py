"""Requests to the margin risk service. Its refusals become the responses that clients get."""

from typing import cast

import msgspec

from openspot.contracts import subjects
from openspot.contracts.messages import (
    BorrowMargin,
    CloseMarginPosition,
    GetMarginAccount,
    MarginAccount,
    MarginReply,
    OpenMarginPosition,
    ReduceMarginPositions,
    RepayMargin,
    TransferCollateral,
)
from openspot.contracts.refusals import UNCERTAIN, RefusalCode
from openspot.http.context import IdempotentOperation
from openspot.http.errors import HttpError, service_unavailable
from openspot.kit.bus import Bus, NotSentError, RequestFailedError
from openspot.kit.log import get_logger
from openspot.rest_edge.margin.schemas import (
    BorrowBody,
    ClosePositionBody,
    CollateralBody,
    MarginResult,
    OpenPositionBody,
    ReducePositionsBody,
    RepayBody,
)

log = get_logger("margin")

_STATUS = {
    RefusalCode.VALIDATION: 400,
    RefusalCode.INSUFFICIENT_BALANCE: 400,
    RefusalCode.NOT_FOUND: 404,
    RefusalCode.MARGIN_REFUSED: 409,
    RefusalCode.PARTICIPANT_INACTIVE: 409,
    RefusalCode.POOL_EMPTY: 409,
    RefusalCode.NO_MARK_PRICE: 503,
    RefusalCode.PRICE_NOT_SURE: 503,
}


class MarginClient:
    """Sends requests to the margin risk service. Every method raises HttpError for a refusal.

    A request without `requestId` gets the id of its operation. So a repetition under an `Idempotency-Key` is the same
    request to the margin service.
    """

    def __init__(self, bus: Bus) -> None:
        self._bus = bus

    async def account(self, user_id: str) -> MarginAccount | None:
        """The user's margin account, or None: most users have none, so that is no error."""
        try:
            return (await self._ask(subjects.RISK_MARGIN_ACCOUNT, GetMarginAccount(user_id), None)).account
        except HttpError as error:
            if error.status_code == 404:
                return None
            raise

    async def transfer(self, user_id: str, body: CollateralBody, operation: IdempotentOperation) -> MarginResult:
        """Move collateral."""
        request_id = body.request_id or operation.operation_id
        message = TransferCollateral(request_id, user_id, body.asset, body.amount, body.direction)
        return await self._ask(subjects.RISK_MARGIN_TRANSFER, message, request_id)

    async def open(self, user_id: str, body: OpenPositionBody, operation: IdempotentOperation) -> MarginResult:
        """Open a position."""
        request_id = body.request_id or operation.operation_id
        message = OpenMarginPosition(request_id, user_id, body.symbol, body.side, body.quantity, body.leverage)
        return await self._ask(subjects.RISK_MARGIN_OPEN, message, request_id)

    async def close(self, user_id: str, body: ClosePositionBody, operation: IdempotentOperation) -> MarginResult:
        """Close a position."""
        request_id = body.request_id or operation.operation_id
        message = CloseMarginPosition(request_id, user_id, body.position_id, body.quantity)
        return await self._ask(subjects.RISK_MARGIN_CLOSE, message, request_id)

    async def reduce(self, user_id: str, body: ReducePositionsBody, operation: IdempotentOperation) -> MarginResult:
        """Trade positions of a market back."""
        request_id = body.request_id or operation.operation_id
        message = ReduceMarginPositions(request_id, user_id, body.symbol, body.side, body.quantity)
        return await self._ask(subjects.RISK_MARGIN_REDUCE, message, request_id)

    async def close_account(self, user_id: str, operation: IdempotentOperation) -> MarginResult:
        """Close the account, which must be empty."""
        message = CloseMarginPosition(operation.operation_id, user_id)
        return await self._ask(subjects.RISK_MARGIN_CLOSE, message, operation.operation_id)

    async def borrow(self, user_id: str, body: BorrowBody, operation: IdempotentOperation) -> MarginResult:
        """Borrow an amount."""
        request_id = body.request_id or operation.operation_id
        message = BorrowMargin(request_id, user_id, body.asset, body.amount)
        return await self._ask(subjects.RISK_MARGIN_BORROW, message, request_id)

    async def repay(self, user_id: str, body: RepayBody, operation: IdempotentOperation) -> MarginResult:
        """Repay a loan."""
        request_id = body.request_id or operation.operation_id
        message = RepayMargin(request_id, user_id, body.loan_id, body.amount)
        return await self._ask(subjects.RISK_MARGIN_REPAY, message, request_id)

    async def _ask(self, subject: str, message: msgspec.Struct, request_id: str | None) -> MarginResult:
        """Send one request. Without `request_id` it changes nothing, so an unknown outcome is a plain failure."""
        try:
            reply = await self._bus.request(subject, message, MarginReply, self._bus.nested_timeout_s)
        except NotSentError as error:
            raise service_unavailable("the margin service does not respond now") from error
        except RequestFailedError as error:
            log.warning("the margin service did not reply", subject=subject, error=str(error))
            raise _unknown(request_id) from error
        if reply.code in UNCERTAIN:
            raise _unknown(request_id)
        if reply.error is not None:
            status = None if reply.code is None else _STATUS.get(reply.code)
            if status is None or reply.code is None:
                log.warning("the margin service refused", error=reply.error, code=reply.code)
                raise service_unavailable("the margin service does not respond now")
            if status == 503:
                raise service_unavailable(reply.error, reply.code.value)
            raise HttpError(status, reply.error, reply.code.value)
        # The margin service sends the account with everything that it does not refuse.
        return MarginResult(reply.position_id, reply.loan_id, cast(MarginAccount, reply.account))


def _unknown(request_id: str | None) -> HttpError:
    if request_id is None:
        return service_unavailable("the margin service does not respond now")
    return HttpError(
        504,
        "nobody knows yet what became of the request: repeat it with its requestId or key, or look at the account",
        "MARGIN_STATUS_UNKNOWN",
        details={"requestId": request_id},
    )
