"""Reads the bodies of other services' responses, up to a bound."""

import aiohttp

BODY_BYTES_MAX = 4_000_000


async def whole_body(response: aiohttp.ClientResponse) -> bytes:
    """The body of a response. Raises ValueError if it has more than BODY_BYTES_MAX bytes."""
    body = bytearray()
    async for chunk in response.content.iter_any():
        body += chunk
        if len(body) > BODY_BYTES_MAX:
            raise ValueError(f"the body has more than {BODY_BYTES_MAX} bytes")
    return bytes(body)
