"""Passes the console's calls on to custody's operator routes, with the caller's own session.

Custody itself checks the session. It need not be reachable from browsers.
"""

import re
from http import HTTPStatus

import aiohttp
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from openspot.web_server.bounded_body import BodyTooLargeError, request_body, whole_body

BODY_BYTES_MAX = 4096
_WITHDRAWAL_ID = re.compile(r"[A-Za-z0-9_-]{1,64}")


class CustodyGateway:
    """Calls custody at an address."""

    def __init__(self, client: aiohttp.ClientSession, custody_url: str, timeout_s: float) -> None:
        """A call fails after `timeout_s`."""
        self._client = client
        self._timeout = aiohttp.ClientTimeout(total=timeout_s)
        self._url = f"{custody_url}/operator/withdrawals"

    async def list_open(self, request: Request) -> Response:
        """Pass on the list of withdrawals that are not settled."""
        return await self._pass(request, self._url, b"")

    async def decide(self, request: Request, withdrawal_id: str, decision: str) -> Response:
        """Pass on a decision on one withdrawal: `approvals`, `rejection` or `signatures`."""
        if not _WITHDRAWAL_ID.fullmatch(withdrawal_id):
            return refusal(HTTPStatus.NOT_FOUND, "there is no such withdrawal")
        return await self._pass_on(request, f"{self._url}/{withdrawal_id}/{decision}")

    async def decide_all(self, request: Request, decision: str) -> Response:
        """Pass on a decision on several withdrawals: `bulk-approvals` or `bulk-rejections`."""
        return await self._pass_on(request, f"{self._url}/{decision}")

    async def _pass_on(self, request: Request, url: str) -> Response:
        try:
            body = await request_body(request, BODY_BYTES_MAX)
        except BodyTooLargeError as error:
            return refusal(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, str(error))
        return await self._pass(request, url, body)

    async def _pass(self, request: Request, url: str, body: bytes) -> Response:
        passed = ("authorization", "content-type", "idempotency-key")
        headers = {name: value for name in passed if (value := request.headers.get(name)) is not None}
        if request.client is not None:
            # Custody takes it for the operator's address if it trusts this server as a proxy.
            headers["x-forwarded-for"] = request.client.host
        try:
            async with self._client.request(
                request.method,
                url,
                data=body or None,
                headers=headers,
                allow_redirects=False,
                timeout=self._timeout,
            ) as response:
                return Response(await whole_body(response), response.status, media_type=response.content_type)
        except TimeoutError:
            return refusal(HTTPStatus.GATEWAY_TIMEOUT, "custody took too long; a decision may have been made")
        except (aiohttp.ClientError, OSError, ValueError):
            return refusal(HTTPStatus.BAD_GATEWAY, "custody does not respond; see that it runs with `openspot status`")


def refusal(status: HTTPStatus, message: str) -> Response:
    """A refusal by the web server itself."""
    return JSONResponse({"code": status.name, "message": message}, status)
