"""`openspot kyc review`: the outcome of a check, sent to the webhook as a provider sends it."""

import uuid
from datetime import UTC, datetime

import aiohttp
import msgspec

from openspot.rest_edge.kyc.digest import payload_digest
from openspot.rest_edge.settings import RestEdgeSettings

TIMEOUT_S = 10.0


class ReviewError(Exception):
    """The event was not taken. The message says why."""


async def review(settings: RestEdgeSettings, user_id: str, answer: str, *, final: bool) -> bool:
    """Send a completed review of the level verified. Returns whether it changed anything. Raises ReviewError."""
    event = {
        "eventId": str(uuid.uuid4()),
        "userId": user_id,
        "level": "verified",
        "reviewStatus": "completed",
        "reviewAnswer": answer,
        "rejectType": ("FINAL" if final else "RETRY") if answer == "RED" else None,
        "createdAt": datetime.now(UTC).isoformat(),
    }
    body = msgspec.json.encode(event)
    headers = {
        "Content-Type": "application/json",
        "X-Payload-Digest": payload_digest(settings.kyc_webhook_secret, body),
    }
    try:
        async with (
            aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=TIMEOUT_S)) as session,
            session.post(f"{settings.rest_url}/api/v1/kyc/webhook", data=body, headers=headers) as response,
        ):
            reply = await response.json()
    except (aiohttp.ClientError, TimeoutError, ValueError) as error:
        raise ReviewError(f"the REST edge does not answer ({error}); `openspot up` starts it") from error
    if response.status != 200:
        raise ReviewError(f"the REST edge refused the event: {reply.get('message')}")
    return bool(reply["applied"])
