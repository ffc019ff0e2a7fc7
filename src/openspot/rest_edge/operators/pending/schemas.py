"""Bodies of the requests that two persons decide."""

from openspot.contracts.messages.message import TimeText
from openspot.http.validation import ResponseBody
from openspot.rest_edge.operators.pending.rules import ActionKind, RequestStatus


class OperatorRequestResponse(ResponseBody):
    """What an operator asked for. Another person approves it before `expiresAt`. `detail` has what the kind needs."""

    id: str
    kind: ActionKind
    user_id: str
    detail: dict[str, str]
    reason: str
    requested_by: str
    requested_at: TimeText
    expires_at: TimeText
    status: RequestStatus
    decided_by: str | None
    decided_at: TimeText | None
    decision_reason: str | None
