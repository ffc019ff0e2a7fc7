"""An administrator's call that changes something: who it is, why, and from where. The note of each change tells it."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import unquote

import msgspec
from starlette.requests import Request

from openspot.contracts.engine_actions import NO_REASON, SERVICE, EngineAction
from openspot.engine.admin.errors import FieldError
from openspot.engine.journal.origins import Origins
from openspot.engine.state.directory import Note
from openspot.engine_client.operator_headers import (
    ADDRESS_HEADER,
    OPERATOR_HEADER,
    REASON_HEADER,
    REQUEST_HEADER,
)
from openspot.http.context import caller, context_of
from openspot.http.errors import validation_error
from openspot.http.policy import Access

REASON_LENGTH_MAX = 500
_HEADER_LENGTH_MAX = 128
_OPERATOR = re.compile(r"(user|engine|shell):[^\x00-\x1f\x7f]{1,74}")


@dataclass(frozen=True, slots=True)
class Acting:
    """Who acts, as the operators' trail names it, and why; empty where no reason was given."""

    operator: str
    reason: str
    request_id: str
    address: str
    origins: Origins

    def note(
        self,
        action: str,
        subject: tuple[str, str],
        before: Mapping[str, object],
        after: Mapping[str, object],
        reason: str = "",
    ) -> Note:
        """The note of an action. `subject` is its kind and its id; `reason` is one that the call itself has."""
        noted = EngineAction(
            operator=self.operator,
            action=action,
            subject_kind=subject[0],
            subject_id=subject[1],
            reason=reason or self.reason or NO_REASON,
            before=_texts(before),
            after=_texts(after),
            request_id=self.request_id,
            origin=self.origins.keep(self.address),
        )
        return (msgspec.json.encode(noted).decode(),)


def engine_name(participant_id: str) -> str:
    """The name of an administrator's session in the trail, in which case does not matter."""
    return f"engine:{participant_id.lower()}"


def acting_by(request: Request, origins: Origins) -> Acting:
    """Who calls a route of administrators and services.

    A service names the operator, the request and the address for whom it calls. A session is believed in none of these.
    Raises HttpError (400) for a bad reason.
    """
    context, identity = context_of(request), caller(request)
    try:
        reason = reason_of(request.headers.get(REASON_HEADER, ""))
    except FieldError as error:
        raise validation_error([str(error)]) from error
    if not identity.access & Access.SERVICE:
        return Acting(engine_name(identity.subject), reason, context.request_id, context.address, origins)
    operator = request.headers.get(OPERATOR_HEADER, "")
    return Acting(
        operator if _OPERATOR.fullmatch(operator) else SERVICE,
        reason,
        _header(request, REQUEST_HEADER) or context.request_id,
        _header(request, ADDRESS_HEADER) or context.address,
        origins,
    )


def reason_of(value: str) -> str:
    """The reason in a header or in metadata: UTF-8, percent-encoded. Raises FieldError."""
    text = unquote(value, errors="replace").strip()
    if len(text) > REASON_LENGTH_MAX or not text.isprintable():
        raise FieldError(f"{REASON_HEADER} must have at most {REASON_LENGTH_MAX} printable letters")
    return text


def _header(request: Request, name: str) -> str:
    text = request.headers.get(name, "")[:_HEADER_LENGTH_MAX]
    return text if text.isprintable() else ""


def _texts(values: Mapping[str, object]) -> dict[str, str | None]:
    return {
        name: str(value).lower() if isinstance(value, bool) else None if value is None else str(value)
        for name, value in values.items()
    }
