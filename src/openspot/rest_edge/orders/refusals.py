"""The errors of requests for orders, made of what the router replied.

A 504 with `ORDER_STATUS_UNKNOWN` names the order, so that the client can look it up. A 503 says that nothing was done.
"""

from collections.abc import Sequence
from typing import Any

from openspot.contracts.messages import AmendmentOutcome, CancelOrderReply, SubmitOrderReply
from openspot.contracts.refusals import UNCERTAIN, RefusalCode
from openspot.domain.order import TERMINAL
from openspot.domain.result_code import ResultCode
from openspot.http.errors import HttpError, service_unavailable, validation_error
from openspot.kit.log import get_logger

log = get_logger("orders")

INVALID = frozenset({RefusalCode.VALIDATION, RefusalCode.MALFORMED})
"""The router read the request and found it wrong."""


def rejected(order_id: str, reason: str, status: str, *, is_engines: bool) -> HttpError:
    """The error for an order that was rejected; with `is_engines`, the reason is a code of the engine."""
    code = reason if is_engines else "ORDER_REJECTED"
    return HttpError(400, reason, code, details={"orderId": order_id, "status": status})


def submit_refusal(order_id: str, reply: SubmitOrderReply) -> HttpError:
    """The error for an order that the router did not take."""
    code, reason = reply.code, reply.error or "rejected"
    if reply.success or code in UNCERTAIN or code is RefusalCode.DUPLICATE_ORDER_ID:
        # The id is new. If the router knows it, this request was delivered twice.
        return status_unknown(order_id)
    if code in INVALID:
        return validation_error([reason])
    if code is RefusalCode.DUPLICATE_CLIENT_ORDER_ID:
        return HttpError(409, reason, code.value, details={"orderId": reply.conflicting_order_id or ""})
    if reply.order is not None:
        return rejected(order_id, reason, reply.order.status, is_engines=code is RefusalCode.ENGINE)
    if code is None:
        return status_unknown(order_id)
    log.warning("order not taken", order_id=order_id, code=code, reason=reason)
    return service_unavailable("orders cannot be taken at this moment")


def cancel_refusal(order_id: str, reply: CancelOrderReply) -> HttpError:
    """The error for a cancel that did not succeed."""
    code, reason = reply.code, reply.error or "not cancelled"
    status = reply.order.status if reply.order is not None else None
    if code is RefusalCode.NOT_FOUND:
        return not_found(order_id)
    if code is RefusalCode.ALREADY_ENDED or status in TERMINAL:
        return already_ended(order_id, status)
    if code is RefusalCode.NOT_OPEN:
        return HttpError(409, reason, "ORDER_NOT_OPEN", details={"orderId": order_id})
    if code is RefusalCode.ENGINE:
        if reason == ResultCode.MATCHING_UNKNOWN_ORDER_ID.name:
            return already_ended(order_id, status)
        return HttpError(409, reason, reason, details={"orderId": order_id})
    if code in INVALID:
        return validation_error([reason])
    log.warning("order not cancelled", order_id=order_id, code=code, reason=reason)
    if code is None or code in UNCERTAIN:
        # It is safe to report the outcome as unknown, because the client may send a cancel again.
        return status_unknown(order_id)
    return service_unavailable("orders cannot be cancelled at this moment")


def amendment_refusal(outcome: AmendmentOutcome) -> HttpError:
    """The error for an order that was not amended."""
    order_id, code, reason = outcome.order_id, outcome.code, outcome.error or "not amended"
    status = outcome.order.status if outcome.order is not None else None
    details = {"orderId": order_id}
    if code is RefusalCode.NOT_FOUND:
        return not_found(order_id)
    if code is RefusalCode.ALREADY_ENDED:
        return already_ended(order_id, status)
    if code is RefusalCode.NOT_OPEN:
        return HttpError(409, reason, "ORDER_NOT_OPEN", details=details)
    if code is RefusalCode.ORDER_IN_LIST:
        return HttpError(409, reason, code.value, details=details)
    if code is RefusalCode.PRE_TRADE_CHECK:
        return HttpError(400, reason, "AMENDMENT_REJECTED", details=details)
    if code is RefusalCode.ENGINE and reason != ResultCode.ENGINE_BUSY.name:
        return HttpError(400, reason, reason, details=details)
    if code in INVALID:
        return validation_error([reason])
    log.warning("order not amended", order_id=order_id, code=code, reason=reason)
    if code is None or code in UNCERTAIN:
        return status_unknown(order_id)
    return service_unavailable("orders cannot be amended at this moment")


def amendment_unknown(order_ids: Sequence[str]) -> HttpError:
    """The error for orders of which nobody knows whether they were amended."""
    if len(order_ids) == 1:
        return status_unknown(order_ids[0])
    message = "no answer in time: look the orders up, or repeat the request, which amends nothing twice"
    return HttpError(504, message, "ORDER_STATUS_UNKNOWN", details={"orderIds": list(order_ids)})


def status_unknown(order_id: str) -> HttpError:
    """The error for an order of which nobody knows what became of it."""
    return HttpError(
        504,
        f"no answer in time: ask GET /orders/{order_id} what became of the order",
        "ORDER_STATUS_UNKNOWN",
        details={"orderId": order_id},
    )


def not_found(order_id: str) -> HttpError:
    """The error for an order that nobody knows, or that is another user's."""
    details: dict[str, Any] = {"orderId": order_id}
    return HttpError(404, "order not found", "ORDER_NOT_FOUND", details=details)


def already_ended(order_id: str, status: str | None) -> HttpError:
    """The error for a change of an order that has ended; `status` is how, if that is known."""
    details: dict[str, Any] = {"orderId": order_id}
    if status is not None:
        details["status"] = status
    return HttpError(409, f"the order is {status or 'no longer open'}", "ORDER_NOT_OPEN", details=details)
