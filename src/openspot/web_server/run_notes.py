"""Has the REST edge write into the operators' trail what the web server is about to run for an operator."""

from http import HTTPStatus

import aiohttp
import msgspec
from starlette.requests import Request

from openspot.web_server.bounded_body import whole_body
from openspot.web_server.operators import Refused, SilentError


class _Refusal(msgspec.Struct):
    message: str | list[str] = ""


class RunNotes:
    """Calls the REST edge at an address, with the session of whoever calls the web server."""

    def __init__(self, client: aiohttp.ClientSession, rest_url: str, timeout_s: float) -> None:
        """The edge counts as silent after `timeout_s`."""
        self._client = client
        self._timeout = aiohttp.ClientTimeout(total=timeout_s)
        self._url = f"{rest_url}/api/v1/operator/runs"

    async def note(self, request: Request, run: str, reason: str) -> Refused | None:
        """Have it written that the caller starts `run`: `comparison` or `proof`. Returns why not, if it was refused.

        Raises SilentError if nobody knows whether it was written: then nothing may begin.
        """
        headers = {"authorization": request.headers.get("authorization", "")}
        if request.client is not None:
            # The edge takes it for the operator's address if it trusts this server as a proxy.
            headers["x-forwarded-for"] = request.client.host
        try:
            async with self._client.post(
                f"{self._url}/{run}",
                json={"reason": reason},
                headers=headers,
                timeout=self._timeout,
                allow_redirects=False,
            ) as response:
                content = await whole_body(response)
                if response.status == HTTPStatus.CREATED:
                    return None
                message = msgspec.json.decode(content, type=_Refusal).message
                return Refused(HTTPStatus(response.status), message if isinstance(message, str) else "; ".join(message))
        except (aiohttp.ClientError, TimeoutError, ValueError, msgspec.MsgspecError) as error:
            raise SilentError("the REST edge does not respond") from error
