"""Request and response bodies of notifications and of their preferences."""

from pydantic import StrictBool

from openspot.contracts.messages.message import TimeText
from openspot.http.validation import Body, ResponseBody, example


class NotificationResponse(ResponseBody):
    """A notification that you got on the screen. `createdAt` is ISO 8601 in UTC."""

    id: str
    kind: str
    title: str
    text: str
    created_at: TimeText


class NotificationPreferenceBody(Body):
    """How you want to be notified of an event. Without `push`, that of devices stays as it is."""

    model_config = example({"email": False, "websocket": True, "push": True})

    email: StrictBool
    websocket: StrictBool
    push: StrictBool | None = None


class NotificationPreferenceResponse(ResponseBody):
    """How the user wants to be notified of an event. Mail of events with `emailIsRequired` cannot be turned off."""

    event: str
    email: bool
    websocket: bool
    push: bool
    email_is_required: bool
