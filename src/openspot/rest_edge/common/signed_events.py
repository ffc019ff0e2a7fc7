"""For commands of development: sends events to the edge's webhooks with a signature, as a provider does."""

from typing import Any

import aiohttp
import msgspec

from openspot.http.edge_settings import RestAddressSettings
from openspot.rest_edge.common.payload_digest import payload_digest

TIMEOUT_S = 10.0


class EventError(Exception):
    """The edge did not take the event. The message says why."""


async def send_event(settings: RestAddressSettings, path: str, secret: str, event: dict[str, Any]) -> dict[str, Any]:
    """Send an event to a webhook of the edge, and return the reply's body. Raises EventError."""
    body = msgspec.json.encode(event)
    headers = {"Content-Type": "application/json", "X-Payload-Digest": payload_digest(secret, body)}
    return await _reply(settings, "POST", path, body, headers)


async def read_from_edge(settings: RestAddressSettings, path: str) -> dict[str, Any]:
    """The body of a public route of the edge. Raises EventError."""
    return await _reply(settings, "GET", path, None, {})


async def _reply(
    settings: RestAddressSettings, method: str, path: str, body: bytes | None, headers: dict[str, str]
) -> dict[str, Any]:
    try:
        async with (
            aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=TIMEOUT_S)) as session,
            session.request(method, f"{settings.rest_url}/api/v1{path}", data=body, headers=headers) as response,
        ):
            reply: dict[str, Any] = await response.json()
    except (aiohttp.ClientError, TimeoutError, ValueError) as error:
        raise EventError(f"the REST edge does not answer ({error}); `openspot up` starts it") from error
    if response.status != 200:
        raise EventError(f"the REST edge refused: {reply.get('message')}")
    return reply
