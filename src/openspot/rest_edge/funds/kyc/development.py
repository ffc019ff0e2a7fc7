"""`openspot kyc review`: sends the outcome of a check to the webhook, as a provider does."""

import uuid

from openspot.kit.clock import utc_now
from openspot.rest_edge.common.signed_events import send_event
from openspot.rest_edge.settings import RestEdgeSettings


async def review(settings: RestEdgeSettings, user_id: str, answer: str, *, final: bool) -> bool:
    """Send a completed review of the level `verified`. Returns whether it changed anything. Raises EventError."""
    event = {
        "eventId": str(uuid.uuid4()),
        "userId": user_id,
        "level": "verified",
        "reviewStatus": "completed",
        "reviewAnswer": answer,
        "rejectType": ("FINAL" if final else "RETRY") if answer == "RED" else None,
        "createdAt": utc_now().isoformat(),
    }
    reply = await send_event(settings, "/kyc/webhook", settings.kyc_webhook_secret, event)
    return bool(reply["applied"])
