"""Response bodies of the routes of sessions."""

from openspot.contracts.messages.message import TimeText
from openspot.http.validation import ResponseBody


class UserSessionResponse(ResponseBody):
    """A session. `current` says that it is the caller's own; `lastUsedAt` is its login or last refresh.

    Times are ISO 8601 in UTC.
    """

    session_id: str
    current: bool
    address: str
    user_agent: str
    created_at: TimeText
    last_used_at: TimeText
    expires_at: TimeText


class SessionsEndedResponse(ResponseBody):
    """The number of ended sessions."""

    ended: int
