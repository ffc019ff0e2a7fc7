"""Errors: one body shape for every refusal of every HTTP service (fact A7-19).

The body is `{"statusCode", "message", "error", "code", "requestId", "details"?}`. `message` is a text, or a list of
texts where validation found several faults. `code` is for programs and does not change with the wording.
"""

from collections.abc import Callable, Mapping
from http import HTTPStatus
from typing import Any

import msgspec
from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel, ConfigDict
from pydantic.alias_generators import to_camel
from starlette.exceptions import HTTPException

from openspot.http.validation import messages_of
from openspot.kit.database import TRANSIENT_ERRORS
from openspot.kit.sealing import UnsealError

_PHRASES = {status.value: status.phrase for status in HTTPStatus}
_CODES = {
    400: "BAD_REQUEST",
    401: "UNAUTHENTICATED",
    403: "FORBIDDEN",
    404: "NOT_FOUND",
    405: "METHOD_NOT_ALLOWED",
    408: "REQUEST_TIMEOUT",
    409: "CONFLICT",
    413: "PAYLOAD_TOO_LARGE",
    415: "UNSUPPORTED_MEDIA_TYPE",
    429: "TOO_MANY_REQUESTS",
    431: "HEADERS_TOO_LARGE",
    500: "INTERNAL_ERROR",
    502: "BAD_GATEWAY",
    503: "SERVICE_UNAVAILABLE",
    504: "GATEWAY_TIMEOUT",
}


class HttpError(HTTPException):
    """A refusal. The client sees all of it, so it must hold nothing that is not meant for the client.

    `code` defaults to the general one of the status; `details` is an object for programs.
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


ERROR_REFERENCE = "#/components/schemas/ErrorBody"
"""Where an OpenAPI document has the shape of errors."""


class ErrorBody(BaseModel):
    """The body of every refusal."""

    model_config = ConfigDict(extra="forbid", alias_generator=to_camel, populate_by_name=True)

    status_code: int
    message: str | list[str]
    error: str
    code: str
    request_id: str
    details: dict[str, Any] | None = None


ErrorTranslation = Callable[[Exception], HttpError]
"""Turns an exception of one service into the refusal that its clients see."""


def validation_error(messages: list[str]) -> HttpError:
    """The refusal of a request whose parts break the rules of their shape."""
    return HttpError(400, messages, "VALIDATION_FAILED")


def service_unavailable(message: str, code: str = "SERVICE_UNAVAILABLE") -> HttpError:
    """The refusal of a request that cannot be worked on now; nothing was done."""
    return HttpError(503, message, code, headers={"Retry-After": "1"})


def error_body(error: HttpError, request_id: str) -> bytes:
    """The JSON body of the response for `error`."""
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


def as_http_error(error: Exception, translations: Mapping[type[Exception], ErrorTranslation]) -> HttpError:
    """The refusal that a client sees for `error`. For a fault of the service it says only that there was one.

    `translations` holds the service's own exceptions. The closest base class of `error` in it decides.
    """
    if isinstance(error, HttpError):
        return error
    for ancestor in type(error).__mro__:
        if ancestor in translations:
            return translations[ancestor](error)
    if isinstance(error, RequestValidationError):
        return validation_error(messages_of(error.errors()))
    if isinstance(error, HTTPException):
        headers = dict(error.headers) if error.headers else None
        return HttpError(error.status_code, str(error.detail), headers=headers)
    if isinstance(error, TRANSIENT_ERRORS):
        return service_unavailable("the database does not respond now")
    if isinstance(error, UnsealError):
        # It stays so until the operator gives the secret: no Retry-After.
        return HttpError(503, "this is sealed with a secret that the exchange does not have", "SEALING_SECRET_MISSING")
    return HttpError(500, "internal error")
