"""Response bodies of the activity log."""

from openspot.contracts.messages.message import TimeText
from openspot.http.validation import ResponseBody
from openspot.rest_edge.identity.activity.log import ActivityKind


class ActivityResponse(ResponseBody):
    """An entry of your account's activity log. `createdAt` is ISO 8601 in UTC."""

    id: str
    kind: ActivityKind
    address: str
    user_agent: str
    created_at: TimeText
