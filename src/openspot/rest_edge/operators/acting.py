"""An operator who changes something: who it is, why, and from where. Every change writes this into the trail."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from starlette.requests import Request

from openspot.http.context import context_of, operator
from openspot.http.errors import HttpError
from openspot.http.operators import Operator
from openspot.http.policy import Permission
from openspot.kit.database import Connection
from openspot.rest_edge.operators.trail import OperatorAction, record_action


class RehearsedError(Exception):
    """A rehearsal has come as far as the entry in the trail: the change would be made. `after` is the entry's."""

    def __init__(self, after: Mapping[str, str | None]) -> None:
        super().__init__("a rehearsal ends before anything is changed")
        self.after = after


@dataclass(frozen=True, slots=True)
class Acting:
    """An operator's request that changes something.

    In a rehearsal nothing is changed: `record` raises RehearsedError, which undoes the transaction. `entries` are the
    numbers of the entries that were written; none means that nothing had to change.
    """

    operator: Operator
    reason: str
    request_id: str
    address: str
    is_rehearsal: bool = False
    entries: list[int] = field(default_factory=list)


def acting(request: Request, reason: str, *, is_rehearsal: bool = False) -> Acting:
    """Who calls a route of operators, and from where."""
    context = context_of(request)
    return Acting(operator(request), reason, context.request_id, context.address, is_rehearsal)


def require_permission(who: Operator, permission: Permission) -> None:
    """Raise HttpError (403), naming the permission, if the operator does not have it."""
    if permission not in who.permissions:
        details = {"permission": permission.value}
        raise HttpError(403, f"this needs the permission {permission}", "PERMISSION_MISSING", details=details)


async def record(
    connection: Connection,
    who: Acting,
    action: str,
    subject_kind: str,
    subject_id: str,
    before: Mapping[str, str | None],
    after: Mapping[str, str | None],
) -> None:
    """Write what is changed into the trail, in the transaction of the change. Raises RehearsedError in a rehearsal."""
    number = await record_action(
        connection,
        OperatorAction(
            operator=who.operator.name,
            action=action,
            subject_kind=subject_kind,
            subject_id=subject_id,
            reason=who.reason,
            before=before,
            after=after,
            request_id=who.request_id,
            address=who.address,
        ),
    )
    if who.is_rehearsal:
        raise RehearsedError(after)
    who.entries.append(number)
