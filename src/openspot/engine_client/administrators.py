"""Sessions of administrators, as the engine knows them: for services that operators call from the console.

A page sends the token of its session with the engine (facts A5-23 to A5-29). The service asks the engine whose it is,
at every request, so a session that has ended opens nothing.
"""

from typing import NamedTuple

import aiohttp
import msgspec

ADMINISTRATORS = frozenset({"SUPER_ADMIN", "SYSTEM"})
"""Types of participants whose sessions may administer (facts A5-24, A5-25)."""
TOKEN_LENGTH_MAX = 4096


class EngineSilentError(Exception):
    """The engine does not say whether there is a session: it cannot be reached, or does not reply."""


class EngineSession(NamedTuple):
    """The participant who has a session."""

    participant_id: str
    is_administrator: bool


class _Validation(msgspec.Struct, rename="camel"):
    valid: bool = False
    participant_id: str = ""
    type: str = ""


class EngineSessions:
    """Asks the engine for the sessions of tokens."""

    def __init__(self, client: aiohttp.ClientSession, engine_url: str, timeout_s: float) -> None:
        """The engine counts as silent after `timeout_s`."""
        self._client = client
        self._timeout = aiohttp.ClientTimeout(total=timeout_s)
        self._url = f"{engine_url}/exchange.v1.AdminService/ValidateToken"

    async def find(self, token: str) -> EngineSession | None:
        """The session of a token; None if it has none. Raises EngineSilentError."""
        if not 0 < len(token) <= TOKEN_LENGTH_MAX:
            return None
        try:
            async with self._client.post(self._url, json={"token": token}, timeout=self._timeout) as response:
                response.raise_for_status()
                found = msgspec.json.decode(await response.read(), type=_Validation)
        except (aiohttp.ClientError, TimeoutError, msgspec.MsgspecError) as error:
            raise EngineSilentError("the engine does not respond") from error
        return EngineSession(found.participant_id, found.type in ADMINISTRATORS) if found.valid else None
