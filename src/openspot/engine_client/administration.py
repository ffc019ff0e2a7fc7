"""Calls the routes of the engine's administration for an operator whom the caller has authenticated."""

from collections.abc import Mapping
from typing import Any, NamedTuple, TypeVar

import aiohttp
import msgspec

from openspot.engine_client.errors import EngineRefusedError, EngineUnreachableError
from openspot.engine_client.operator_headers import ADDRESS_HEADER, OPERATOR_HEADER, REQUEST_HEADER

Shape = TypeVar("Shape")


class ChangeRefusedError(Exception):
    """The engine refused a change. `messages` are its reasons, each behind its field where a field is at fault."""

    def __init__(self, status: int, code: str, messages: list[str]) -> None:
        super().__init__("; ".join(messages))
        self.status = status
        self.code = code
        self.messages = messages


class _Refusal(msgspec.Struct, frozen=True):
    message: str | list[str] = ""
    code: str = ""


class Behalf(NamedTuple):
    """For whom a service calls the engine: who the operator is, by which request, and from where."""

    operator: str
    request_id: str = ""
    address: str = ""

    @property
    def headers(self) -> dict[str, str]:
        """The headers that say so."""
        named = (
            (OPERATOR_HEADER, self.operator),
            (REQUEST_HEADER, self.request_id),
            (ADDRESS_HEADER, self.address),
        )
        return {name: value for name, value in named if value}


class EngineAdministration:
    """The routes of one engine below `/api/v1/admin`.

    Methods raise ChangeRefusedError, and EngineError if it does not answer.
    """

    def __init__(self, session: aiohttp.ClientSession, url: str) -> None:
        """`session` sends the service credential."""
        self._session = session
        self._url = f"{url}/api/v1/admin"

    async def call(
        self,
        method: str,
        path: str,
        shape: type[Shape],
        body: Mapping[str, Any] | None = None,
        behalf: Behalf | None = None,
    ) -> Shape:
        """The answer of a route below `/admin`. `behalf` says for whom the call is made."""
        headers = behalf.headers if behalf else {}
        try:
            async with self._session.request(method, f"{self._url}{path}", json=body, headers=headers) as response:
                content, status = await response.read(), response.status
        except (aiohttp.ClientError, TimeoutError, OSError) as error:
            raise EngineUnreachableError(f"no engine at {self._url}: {error!r}") from error
        try:
            if status in (200, 201):
                return msgspec.json.decode(content, type=shape)
            refusal = msgspec.json.decode(content, type=_Refusal)
        except (msgspec.MsgspecError, UnicodeDecodeError) as error:
            raise EngineRefusedError(f"the engine's answer to {method} {path} cannot be read: {error}") from error
        if status in (401, 403) or status >= 500:
            raise EngineRefusedError(f"the engine answered {status}: {refusal.message}")
        messages = [refusal.message] if isinstance(refusal.message, str) else refusal.message
        raise ChangeRefusedError(status, refusal.code, messages)
