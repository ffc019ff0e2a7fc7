"""`openspot payments complete` and `fail`: the development provider's report on a payment."""

import uuid
from typing import Literal

from openspot.rest_edge.common.signed_events import read_from_edge, send_event
from openspot.rest_edge.settings import RestEdgeSettings


async def report(settings: RestEdgeSettings, payment_id: str, outcome: Literal["paid", "failed"]) -> bool:
    """Send the edge a signed report of a payment's outcome. Returns whether it was new. Raises EventError."""
    payment = await read_from_edge(settings, f"/payments/development/{payment_id}")
    event = {
        "eventId": str(uuid.uuid4()),
        "paymentId": payment["paymentId"],
        "paymentStatus": outcome,
        "amount": payment["amount"],
        "currency": payment["currency"],
    }
    reply = await send_event(settings, "/payments/callback", settings.payment_callback_secret, event)
    return not reply["repeated"]
