"""Everything that a call of the client can raise."""

from typing import Any

import msgspec

from openspot.client.gen.records import MfaChallenge

VALIDATION_FAILED = "VALIDATION_FAILED"


class OpenSpotError(Exception):
    """Base of the client's errors."""


class ApiError(OpenSpotError):
    """The platform refused a request.

    `status` is the HTTP status, `code` names the kind of refusal, and `message` explains it. `reasons` are the parts of
    `message`, one for each wrong field. `field` is the first of these fields, None if the refusal names none.
    `retry_after_s` is the time to wait (429, 503). `details` holds further facts, for example an order id.
    Quote `request_id` when you ask the operator.
    """

    def __init__(
        self,
        status: int,
        code: str,
        message: str,
        *,
        retry_after_s: float | None = None,
        details: dict[str, Any] | None = None,
        request_id: str | None = None,
        reasons: list[str] | None = None,
    ) -> None:
        super().__init__(f"{status} {code}: {message}")
        self.status = status
        self.code = code
        self.message = message
        self.retry_after_s = retry_after_s
        self.details = details or {}
        self.request_id = request_id
        self.reasons = reasons or [message]

    @property
    def field(self) -> str | None:
        """The first wrong field, by its name on the wire."""
        # A validation reason begins with the field: "price is required".
        first = self.reasons[0].partition(" ")[0]
        return first if self.code == VALIDATION_FAILED and first[:1].islower() else None


class MfaRequiredError(OpenSpotError):
    """The password is right and the user has MFA: pass `challenge` and a code to `login_mfa`."""

    def __init__(self, challenge: MfaChallenge) -> None:
        super().__init__(f"a code is needed: {' or '.join(challenge.methods)}")
        self.challenge = challenge


class UnreachableError(OpenSpotError):
    """There was no readable reply: no connection, a cut or a timeout. The platform may have carried out the request."""


class StreamError(OpenSpotError):
    """The WebSocket edge refused a message of this client; `code` names the reason."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(f"{code}: {message}")
        self.code = code
        self.message = message


class StreamClosedError(OpenSpotError):
    """The stream has ended. `code` is the WebSocket close code, 1006 if the connection was cut."""

    def __init__(self, code: int, reason: str) -> None:
        super().__init__(f"the stream was closed: {code} {reason}".rstrip())
        self.code = code
        self.reason = reason


class _ErrorBody(msgspec.Struct, rename="camel"):
    message: str | list[str] = ""
    code: str = ""
    error: str = ""
    request_id: str | None = None
    details: dict[str, Any] | None = None


def api_error(status: int, body: bytes, retry_after: str | None) -> ApiError:
    """Make the error for a failing reply. A body of another shape becomes the message, cut to 200 bytes."""
    try:
        parsed = msgspec.json.decode(body, type=_ErrorBody)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        parsed = _ErrorBody(message=body[:200].decode("utf-8", "replace"))
    message = parsed.message if isinstance(parsed.message, str) else "; ".join(parsed.message)
    return ApiError(
        status,
        parsed.code or f"HTTP_{status}",
        message or parsed.error,
        retry_after_s=_seconds(retry_after),
        details=parsed.details,
        request_id=parsed.request_id,
        reasons=parsed.message if isinstance(parsed.message, list) else None,
    )


def _seconds(retry_after: str | None) -> float | None:
    # The platform sends whole seconds. HTTP also allows a date, for which this returns None.
    return float(retry_after) if retry_after is not None and retry_after.isdecimal() else None
