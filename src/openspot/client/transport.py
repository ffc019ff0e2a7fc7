"""Sends requests, and repeats those that are safe to repeat.

A GET, or a request with an `Idempotency-Key`, is repeated if it got no reply or met a busy platform. Any request is
repeated if it was refused with 429 and a time to wait, because the platform did nothing. The number of repetitions is
limited. If an order without such a key gets no reply, the caller must look whether it was placed. (If the server has
just closed the connection, aiohttp itself sends a GET or DELETE once more, as RFC 9112 9.3.1 allows. If the first
DELETE had cancelled an order, the second gets 409.)

A signed request that is refused with 401 is repeated once if the reply's `Date` shows that the clock of this machine is
wrong; from then on signatures carry the platform's time.
"""

import asyncio
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from typing import Any
from urllib.parse import urlencode

import aiohttp
import msgspec
from yarl import URL

from openspot.client.errors import ApiError, UnreachableError, api_error
from openspot.client.signing import RequestSigner

BUSY = frozenset({502, 503, 504})
UNAUTHORIZED = 401
TOO_MANY_REQUESTS = 429
IN_USE = "IDEMPOTENCY_KEY_IN_USE"
CLOCK_ERROR_S_MIN = 2.0
"""A smaller difference may come from `Date`, which has whole seconds. The platform tolerates 5 s."""
CONNECTIONS_MAX = 64
IDLE_CONNECTION_S = 3.0
"""A connection is closed after this idle time. The server closes one later, so no order meets a closing connection."""


@dataclass(frozen=True, slots=True)
class FileBody:
    """A body that is a file of this type, sent as it is."""

    content: bytes
    media_type: str


encode_body = msgspec.json.Encoder(decimal_format="string").encode


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """Limits on the attempts at a safe request, and on the pauses (seconds) between them.

    `on_throttled` receives the pause before each wait after a 429.
    """

    attempts_max: int = 4
    pause_s: float = 0.2
    pause_s_max: float = 61.0
    on_throttled: Callable[[float], None] | None = None


@dataclass(frozen=True, slots=True)
class Answer:
    """A successful reply."""

    body: bytes
    headers: Any


class Transport:
    """Sends requests to one base address."""

    def __init__(
        self, base_url: str, timeout_s: float, retry: RetryPolicy, signer: RequestSigner | None = None
    ) -> None:
        self._base_url = URL(base_url)
        self._signer = signer
        self._timeout = aiohttp.ClientTimeout(total=timeout_s)
        self._retry = retry
        self._session: aiohttp.ClientSession | None = None
        self._dated: tuple[str, float] | None = None
        """The `Date` of the last reply, and the time at which it came."""
        self._clock_offset_s = 0.0

    @property
    def session(self) -> aiohttp.ClientSession:
        """The HTTP session, made at its first use within the running loop."""
        if self._session is None:
            connector = aiohttp.TCPConnector(limit=CONNECTIONS_MAX, keepalive_timeout=IDLE_CONNECTION_S)
            self._session = aiohttp.ClientSession(timeout=self._timeout, connector=connector)
        return self._session

    @property
    def base_url(self) -> URL:
        """The address below which the routes are."""
        return self._base_url

    @property
    def timeout_s(self) -> float:
        """How long a reply may take."""
        return self._timeout.total or 0.0

    async def close(self) -> None:
        """Close every connection."""
        if self._session is not None:
            await self._session.close()
            self._session = None

    async def send(
        self,
        method: str,
        path: str,
        *,
        token: str | None = None,
        query: dict[str, Any] | None = None,
        body: Any = None,
        idempotency_key: str | None = None,
    ) -> Answer:
        """Send a request and return the reply. Raises ApiError for a refusal, UnreachableError without a reply.

        `path` is percent-encoded already. With an API key every attempt is signed anew.
        """
        headers = {"Authorization": f"Bearer {token}"} if token is not None else {}
        if idempotency_key is not None:
            headers["Idempotency-Key"] = idempotency_key
        is_safe = method == "GET" or idempotency_key is not None
        target = self._base_url.raw_path.rstrip("/") + path + (f"?{urlencode(query)}" if query else "")
        data = None
        if isinstance(body, FileBody):
            data = body.content
            headers["Content-Type"] = body.media_type
        elif body is not None:
            data = encode_body(body)
            headers["Content-Type"] = "application/json"
        attempt = 1
        while True:
            try:
                return await self._send_signed(method, path, target, headers, data)
            except (ApiError, UnreachableError) as error:
                pause_s = self.pause(error, attempt, is_safe=is_safe)
                if pause_s is None:
                    raise
            attempt += 1
            await asyncio.sleep(pause_s)

    def platform_time(self) -> float:
        """The platform's time in seconds since 1970: this machine's, unless the last reply showed that it is wrong."""
        if self._dated is not None:
            self._note_date(*self._dated)
            self._dated = None
        return time.time() + self._clock_offset_s

    def correct_clock(self, headers: Mapping[str, str] | None) -> bool:
        """Sign with the time of a refusal's `Date` from now on. Returns whether the previous time was wrong."""
        date = (headers or {}).get("Date")
        if self._signer is None or date is None:
            return False
        before = self._clock_offset_s
        self._note_date(date, time.time())
        if abs(self._clock_offset_s - before) < CLOCK_ERROR_S_MIN:
            return False
        self._signer.set_clock_offset(round(self._clock_offset_s * 1000))
        return True

    def _note_date(self, date: str, received_at: float) -> None:
        try:
            # `Date` leaves out the fraction of a second, on average half of one.
            offset_s = parsedate_to_datetime(date).timestamp() + 0.5 - received_at
        except (ValueError, OverflowError):
            return
        self._clock_offset_s = offset_s if abs(offset_s) >= CLOCK_ERROR_S_MIN else 0.0

    def pause(self, error: ApiError | UnreachableError, attempt: int, *, is_safe: bool) -> float | None:
        """The seconds to wait before the same request is sent again, None if it must not be."""
        if attempt >= self._retry.attempts_max:
            return None
        backoff_s = self._retry.pause_s * 2.0 ** (attempt - 1)
        if isinstance(error, UnreachableError):
            return backoff_s if is_safe else None
        if error.status == TOO_MANY_REQUESTS and error.retry_after_s is not None:
            if error.retry_after_s > self._retry.pause_s_max:
                return None
            if self._retry.on_throttled is not None:
                self._retry.on_throttled(error.retry_after_s)
            return error.retry_after_s
        if is_safe and (error.status in BUSY or error.code == IN_USE):
            pause_s = max(backoff_s, error.retry_after_s or 0.0)
            return pause_s if pause_s <= self._retry.pause_s_max else None
        return None

    async def _send_signed(
        self, method: str, path: str, target: str, headers: dict[str, str], data: bytes | None
    ) -> Answer:
        try:
            return await self._send_once(method, path, target, headers, data)
        except ApiError as error:
            date = self._dated[0] if self._dated is not None else None
            if error.status != UNAUTHORIZED or date is None or not self.correct_clock({"Date": date}):
                raise
        return await self._send_once(method, path, target, headers, data)

    async def _send_once(
        self, method: str, path: str, target: str, headers: dict[str, str], data: bytes | None
    ) -> Answer:
        if self._signer is not None:
            headers = headers | self._signer.headers(method, target, data or b"")
        # The signature covers the bytes of the address, so they must be sent unchanged.
        url = URL(str(self._base_url.origin()) + target, encoded=True)
        try:
            async with self.session.request(method, url, headers=headers, data=data, allow_redirects=False) as response:
                body = await response.read()
        except (aiohttp.ClientError, TimeoutError, OSError) as error:
            raise UnreachableError(f"{method} {path}: {str(error) or type(error).__name__}") from error
        if "Date" in response.headers:
            self._dated = (response.headers["Date"], time.time())
        if response.status >= 300:
            raise api_error(response.status, body, response.headers.get("Retry-After"))
        return Answer(body, response.headers)
