"""Reads the bodies of requests and of other services' responses, up to a bound."""

import aiohttp
from starlette.requests import Request

BODY_BYTES_MAX = 4_000_000


class BodyTooLargeError(Exception):
    """A request has more bytes than its route takes. The message is for the client."""


async def request_body(request: Request, bytes_max: int) -> bytes:
    """The body of a request. Raises BodyTooLargeError for more than `bytes_max` bytes, before it has read them all."""
    body = bytearray()
    async for chunk in request.stream():
        body += chunk
        if len(body) > bytes_max:
            raise BodyTooLargeError(f"a body has at most {bytes_max} bytes")
    return bytes(body)


async def whole_body(response: aiohttp.ClientResponse) -> bytes:
    """The body of a response. Raises ValueError if it has more than BODY_BYTES_MAX bytes."""
    body = bytearray()
    async for chunk in response.content.iter_any():
        body += chunk
        if len(body) > BODY_BYTES_MAX:
            raise ValueError(f"the body has more than {BODY_BYTES_MAX} bytes")
    return bytes(body)
