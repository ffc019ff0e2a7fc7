"""How the client makes its calls: sessions, renewal of tokens, pages, exact numbers."""

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Mapping
from datetime import datetime
from decimal import Decimal
from types import TracebackType
from typing import Any, Self, TypeVar
from urllib.parse import quote

import msgspec

from openspot.client.errors import ApiError, MfaRequiredError, UnreachableError
from openspot.client.gen.records import MfaChallenge, Session, User
from openspot.client.records import Page
from openspot.client.signing import RequestSigner
from openspot.client.transport import Answer, FileBody, RetryPolicy, Transport

Result = TypeVar("Result")
Number = Decimal | int | str
"""An exact number. A float is refused, because it may differ from the number in the program's text."""

PREFIX = "/api/v1"
NEXT_CURSOR = "X-Next-Cursor"
DEFAULT_RETRY = RetryPolicy()


class _LoginStep(msgspec.Struct, rename="camel"):
    mfa_required: bool = False


class Done(msgspec.Struct):
    """A reply that only confirms the request."""

    success: bool = True


class Caller(ABC):
    """Makes calls. Subclasses say how a request is sent."""

    async def _call(
        self,
        method: str,
        path: str,
        result: type[Result],
        *,
        query: Mapping[str, Any] | None = None,
        body: Mapping[str, Any] | None = None,
        idempotency_key: str | None = None,
    ) -> Result:
        return _decode(await self._send(method, path, query, body, idempotency_key), result)

    async def _page(self, path: str, entry: type[Result], query: Mapping[str, Any]) -> Page[Result]:
        answer = await self._send("GET", path, query, None)
        entries: list[Result] = _decode(answer, list[entry])  # type: ignore[valid-type]
        return Page(entries, answer.headers.get(NEXT_CURSOR))

    @abstractmethod
    async def _send(
        self,
        method: str,
        path: str,
        query: Mapping[str, Any] | None,
        body: Mapping[str, Any] | None,
        idempotency_key: str | None = None,
    ) -> Answer:
        """Send a request and return the reply. Raises ApiError for a refusal, UnreachableError without a reply."""


class Calls(Caller):
    """Makes calls for one user, each in a request of its own. Base of all groups of calls."""

    def __init__(self, base_url: str, timeout_s: float, retry: RetryPolicy, api_key: RequestSigner | None) -> None:
        self._transport = Transport(base_url.rstrip("/") + PREFIX, timeout_s, retry, api_key)
        self._api_key = api_key
        self._tokens: Session | None = None
        self._renewing = asyncio.Lock()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def close(self) -> None:
        """Close every connection."""
        await self._transport.close()

    # Sessions

    async def register(self, email: str, password: str) -> User:
        """Create a user, without logging in. The response does not tell whether the email address was taken."""
        return await self._call("POST", "/auth/register", User, body={"email": email, "password": password})

    async def login(self, email: str, password: str) -> Session:
        """Begin a session, which later calls use.

        Raises ApiError 401 for a wrong password, and MfaRequiredError if the user has MFA: go on with `login_mfa`.
        """
        self._require_no_key()
        self._tokens = None
        answer = await self._send("POST", "/auth/login", None, {"email": email, "password": password})
        if _decode(answer, _LoginStep).mfa_required:
            raise MfaRequiredError(_decode(answer, MfaChallenge))
        self._tokens = _decode(answer, Session)
        return self._tokens

    async def login_mfa(self, challenge: MfaChallenge, code: str) -> Session:
        """Complete a login: answer its challenge with a TOTP or recovery code, and begin the session.

        Raises ApiError: 400 MFA_CODE_INVALID for a wrong code, 401 if the challenge has expired or is used up.
        """
        self._require_no_key()
        self._tokens = None
        body = {"challengeToken": challenge.challenge_token, "code": code}
        self._tokens = await self._call("POST", "/auth/login/mfa", Session, body=body)
        return self._tokens

    def resume(self, session: Session) -> None:
        """Use the tokens of an earlier login."""
        self._require_no_key()
        self._tokens = session

    def _require_no_key(self) -> None:
        if self._api_key is not None:
            raise RuntimeError("a client with an API key has no session")

    async def logout(self) -> None:
        """End the session. Its tokens are then invalid. Does nothing without a session."""
        if self._tokens is not None:
            await self._send("POST", "/auth/logout", None, None)
            self._tokens = None

    async def _renew(self, expired: Session) -> Session:
        async with self._renewing:
            # Another call may have renewed the session meanwhile. A refresh token works only once.
            if self._tokens is not None and self._tokens is not expired:
                return self._tokens
            body = {"refreshToken": expired.refresh_token}
            answer = await self._transport.send("POST", "/auth/refresh", body=body)
            self._tokens = _decode(answer, Session)
            return self._tokens

    # How calls are made

    async def _upload(self, path: str, result: type[Result], query: Mapping[str, Any], file: FileBody) -> Result:
        return _decode(await self._send("POST", path, query, file), result)

    async def _send(
        self,
        method: str,
        path: str,
        query: Mapping[str, Any] | None,
        body: Mapping[str, Any] | FileBody | None,
        idempotency_key: str | None = None,
    ) -> Answer:
        tokens = self._tokens
        parts: dict[str, Any] = {
            "query": given(query) if query else None,
            "body": body,
            "idempotency_key": idempotency_key,
        }
        try:
            token = tokens.access_token if tokens is not None else None
            return await self._transport.send(method, path, token=token, **parts)
        except ApiError as error:
            if error.status != 401 or tokens is None:
                raise
            # The platform answers 401 before it does anything, so any request may be repeated.
            try:
                renewed = await self._renew(tokens)
            except ApiError:
                raise error from None
        return await self._transport.send(method, path, token=renewed.access_token, **parts)


def _decode(answer: Answer, result: type[Result]) -> Result:
    try:
        return msgspec.json.decode(answer.body, type=result)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise UnreachableError(f"the answer is not readable: {error}") from error


def given(fields: Mapping[str, Any]) -> dict[str, Any]:
    """The fields that are not None."""
    return {name: value for name, value in fields.items() if value is not None}


def exact(value: Number | None, name: str) -> str | None:
    """The text that sends a number, None for None. Raises TypeError for a float."""
    if value is None:
        return None
    if isinstance(value, bool | float) or not isinstance(value, Decimal | int | str):
        raise TypeError(f"{name} must be a Decimal, an int or a text, not {type(value).__name__}")
    return format(value, "f") if isinstance(value, Decimal) else str(value)


def segment(text: str) -> str:
    """A part of a path, percent-encoded."""
    return quote(text, safe="")


def iso_time(value: datetime | None, name: str) -> str | None:
    """A time as ISO 8601, None for None. Raises ValueError for a time without a zone."""
    if value is None:
        return None
    if value.tzinfo is None:
        raise ValueError(f"{name} must have a time zone")
    return value.isoformat()


def milliseconds(value: datetime | None, name: str) -> int | None:
    """A time in milliseconds since 1970, None for None. Raises ValueError for a time without a zone."""
    if value is None:
        return None
    if value.tzinfo is None:
        raise ValueError(f"{name} must have a time zone")
    return int(value.timestamp() * 1000)
