"""Reads operators' alerts from the service that raises them, and tries them.

A try stands in the trail before it is sent, so that none goes out that nobody answers for.
"""

from typing import TypeVar

import aiohttp
from pydantic import BaseModel, ValidationError

from openspot.http.errors import HttpError
from openspot.http.operator_alerts import AlertKind, AlertsResponse, TryResponse
from openspot.kit.database import Pool
from openspot.kit.log import get_logger
from openspot.rest_edge.operators.acting import Acting, record

log = get_logger("operators")

BODY_BYTES_MAX = 262_144
TRY_TIMEOUT_S = 16.0
"""Longer than the service waits for a destination."""

Shape = TypeVar("Shape", bound=BaseModel)


class OperatorAlerts:
    """Asks the service at `url`. Methods raise HttpError: 503 if it does not respond."""

    def __init__(self, pool: Pool, session: aiohttp.ClientSession, url: str, headers: dict[str, str]) -> None:
        """`headers` are the credential of the edge at the service."""
        self._pool = pool
        self._session = session
        self._url = url
        self._headers = headers

    async def all(self) -> AlertsResponse:
        """Every alert, and where they go."""
        return await self._call("GET", "/alerts", AlertsResponse)

    async def try_out(self, kind: AlertKind, acting: Acting) -> TryResponse:
        """Send a test of an alert to every destination, and say what became of it."""
        async with self._pool.acquire() as connection, connection.transaction():
            await record(connection, acting, "alert.tried", "alert", kind.value, {}, {})
        return await self._call("POST", "/tries", TryResponse, {"kind": kind.value})

    async def _call(self, method: str, path: str, shape: type[Shape], body: dict[str, str] | None = None) -> Shape:
        timeout = aiohttp.ClientTimeout(total=TRY_TIMEOUT_S if body else self._session.timeout.total)
        try:
            async with self._session.request(
                method, f"{self._url}{path}", json=body, headers=self._headers, allow_redirects=False, timeout=timeout
            ) as response:
                content = await response.content.read(BODY_BYTES_MAX)
        except (aiohttp.ClientError, TimeoutError, OSError) as error:
            log.warning("operators' alerts do not respond", error=repr(error))
            raise _silent() from error
        if response.status != 200:
            log.error("operators' alerts refused the edge", status=response.status)
            raise _silent()
        try:
            return shape.model_validate_json(content)
        except ValidationError as error:
            log.error("the answer of operators' alerts cannot be read", error=str(error))
            raise _silent() from error


def _silent() -> HttpError:
    return HttpError(
        503,
        "operators' alerts do not respond: `openspot up` runs them if OPENSPOT_ALERT_MAILS or "
        "OPENSPOT_ALERT_WEBHOOK_URL is set",
        "ALERTS_SILENT",
    )
