"""Errors of the edge: one body shape for every refusal (design section 8).

`{"statusCode", "message", "error", "code", "requestId", "details"?}`: `message` is a text, or a list of texts
where validation found several faults; `code` is for programs and does not change with the wording.
"""

from http import HTTPStatus
from typing import Any

import msgspec
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from openspot.kit.database import TRANSIENT_ERRORS
from openspot.rest_edge.context import context_of
from openspot.rest_edge.validation import messages_of

_PHRASES = {status.value: status.phrase for status in HTTPStatus}
_CODES = {
    400: "BAD_REQUEST",
    401: "UNAUTHENTICATED",
    403: "FORBIDDEN",
    404: "NOT_FOUND",
    405: "METHOD_NOT_ALLOWED",
    409: "CONFLICT",
    413: "PAYLOAD_TOO_LARGE",
    415: "UNSUPPORTED_MEDIA_TYPE",
    429: "TOO_MANY_REQUESTS",
    500: "INTERNAL_ERROR",
    502: "BAD_GATEWAY",
    503: "SERVICE_UNAVAILABLE",
    504: "GATEWAY_TIMEOUT",
}


class EdgeError(HTTPException):
    """A refusal: what the client is told, and nothing that it should not see.

    `code` defaults to the status code's general one; `details` is an object for programs.
    """

    def __init__(
        self,
        status: int,
        message: str | list[str],
        code: str = "",
        *,
        details: dict[str, Any] | None = None,
        headers: dict[str, str] | None = None,
    ) -> None:
        super().__init__(status, detail=message if isinstance(message, str) else "; ".join(message), headers=headers)
        self.message = message
        self.code = code or _CODES.get(status, f"HTTP_{status}")
        self.details = details


def validation_error(messages: list[str]) -> EdgeError:
    """The refusal of a request whose parts break the rules of their shape."""
    return EdgeError(400, messages, "VALIDATION_FAILED")


def service_unavailable(message: str, code: str = "SERVICE_UNAVAILABLE") -> EdgeError:
    """The refusal of a request that could not be worked on at this moment; nothing was done."""
    return EdgeError(503, message, code, headers={"Retry-After": "1"})


def error_body(error: EdgeError, request_id: str) -> bytes:
    """The body of the answer that `error` is."""
    body: dict[str, Any] = {
        "statusCode": error.status_code,
        "message": error.message,
        "error": _PHRASES.get(error.status_code, "Error"),
        "code": error.code,
        "requestId": request_id,
    }
    if error.details is not None:
        body["details"] = error.details
    return msgspec.json.encode(body)


def as_edge_error(error: Exception) -> EdgeError:
    """What a client is told of `error`; of a fault of our own, only that there was one."""
    if isinstance(error, EdgeError):
        return error
    if isinstance(error, RequestValidationError):
        return validation_error(messages_of(error.errors()))
    if isinstance(error, HTTPException):
        headers = dict(error.headers) if error.headers else None
        if error.status_code == 404:
            return EdgeError(404, "no such route", "ROUTE_NOT_FOUND")
        if error.status_code == 405:
            return EdgeError(405, "the route does not take this method", headers=headers)
        return EdgeError(error.status_code, str(error.detail), headers=headers)
    if isinstance(error, TRANSIENT_ERRORS):
        return service_unavailable("the database does not answer at this moment")
    return EdgeError(500, "internal error")


async def answer_error(request: Request, error: Exception) -> Response:
    """FastAPI's handler of every exception."""
    known = as_edge_error(error)
    body = error_body(known, context_of(request).request_id)
    return Response(body, known.status_code, known.headers, media_type="application/json")
