"""Whose connection it is: access tokens, API keys, and the words and codes of a refusal."""

from typing import Any

import asyncpg
import pytest

from openspot.http.api_keys.checker import ApiKey, SignedRequest
from openspot.http.api_keys.networks import AllowedNetworks
from openspot.http.api_keys.signature import Algorithm
from openspot.http.authentication import CredentialsError
from openspot.http.context import Identity
from openspot.http.errors import HttpError
from openspot.http.policy import Access, Scope
from openspot.kit.bus import BusUnavailableError
from openspot.kit.tokens import Claims, InvalidTokenError, sign
from openspot.ws_edge.login import TokenChecker, claims_of, login

SECRET = "s" * 32
NOW_S = 1_700_000_000
ALICE = Claims("alice", "user", NOW_S + 60, session_id="s1", token_id="t1")
EVERYWHERE = AllowedNetworks(())
REQUEST = SignedRequest("k1", "1700000000000", "signature", "GET", b"/", b"", "198.51.100.7")


def key(*scopes: Scope) -> ApiKey:
    identity = Identity("alice", Access.USER, frozenset(scopes))
    return ApiKey("k1", 3, identity, Algorithm.HMAC_SHA256, b"secret", EVERYWHERE, 0.0)


class Sessions:
    """Looks sessions up: `s1` has ended or not, or nobody knows."""

    def __init__(self, *, ended: bool = False, error: Exception | None = None) -> None:
        self.asked: list[str] = []
        self._ended, self._error = ended, error

    async def has_ended(self, session_id: str) -> bool:
        """Whether it has ended."""
        self.asked.append(session_id)
        if self._error is not None:
            raise self._error
        return self._ended


async def check(claims: Claims, sessions: Sessions, now_s: float = NOW_S, secret: str = SECRET) -> Claims:
    return await TokenChecker(SECRET, sessions.has_ended, lambda: now_s).check(sign(claims, secret, NOW_S))


async def test_a_token_gives_its_claims_while_its_session_lasts() -> None:
    sessions = Sessions()
    assert await check(ALICE, sessions) == ALICE
    assert sessions.asked == ["s1"]


async def test_a_token_of_a_session_that_has_ended_is_refused() -> None:
    with pytest.raises(InvalidTokenError, match=r"^the session has ended$"):
        await check(ALICE, Sessions(ended=True))


async def test_a_token_without_a_session_is_looked_up_nowhere() -> None:
    sessions = Sessions(ended=True)
    assert await check(Claims("alice", "user", NOW_S + 60), sessions) == Claims("alice", "user", NOW_S + 60)
    assert sessions.asked == []


async def test_a_token_ends_by_the_clock_and_another_secret_makes_none() -> None:
    assert await check(ALICE, Sessions(), NOW_S + 59.9) == ALICE
    with pytest.raises(InvalidTokenError, match=r"^the token has expired$"):
        await check(ALICE, Sessions(), NOW_S + 60)
    with pytest.raises(InvalidTokenError, match=r"^the token is not valid$"):
        await check(ALICE, Sessions(), secret="o" * 32)


async def test_without_the_bus_no_session_can_be_looked_up() -> None:
    with pytest.raises(BusUnavailableError, match=r"^not connected$"):
        await check(ALICE, Sessions(error=BusUnavailableError("not connected")))


class Keys:
    """The checker of keys: it answers what the test sets, and keeps what it is asked."""

    def __init__(self, answer: ApiKey | Exception) -> None:
        self._answer = answer
        self.asked: list[SignedRequest] = []

    async def check(self, request: SignedRequest) -> ApiKey:
        """The key, or the error."""
        self.asked.append(request)
        if isinstance(self._answer, Exception):
            raise self._answer
        return self._answer


async def refusal(keys: Any) -> Any:
    """Status, code, message, headers and cause of a refused login."""
    with pytest.raises(HttpError) as caught:
        await login(keys, REQUEST)
    error = caught.value
    return error.status_code, error.code, str(error.message), error.headers, type(error.__cause__)


async def test_a_key_that_may_read_logs_in() -> None:
    keys: Any = Keys(key(Scope.READ, Scope.TRADE))
    assert await login(keys, REQUEST) == key(Scope.READ, Scope.TRADE)
    assert keys.asked == [REQUEST]


@pytest.mark.parametrize("scopes", [(), (Scope.TRADE,)])
async def test_a_key_that_may_not_read_is_refused(scopes: tuple[Scope, ...]) -> None:
    nothing = type(None)
    expected = (403, "INSUFFICIENT_SCOPE", "the credential lacks the scope read", None, nothing)
    assert await refusal(Keys(key(*scopes))) == expected


async def test_a_key_without_a_list_of_scopes_may_do_nothing() -> None:
    unlimited = ApiKey("k1", 3, Identity("alice", Access.USER, None), Algorithm.HMAC_SHA256, b"", EVERYWHERE, 0.0)
    assert (await refusal(Keys(unlimited)))[:2] == (403, "INSUFFICIENT_SCOPE")


async def test_a_wrong_signature_is_refused_with_its_reason() -> None:
    error = CredentialsError("the API key or its signature is not valid")
    assert await refusal(Keys(error)) == (
        401, "INVALID_CREDENTIAL", "the API key or its signature is not valid", None, CredentialsError,
    )  # fmt: skip


@pytest.mark.parametrize(
    "error", [ConnectionRefusedError(), asyncpg.TooManyConnectionsError(), asyncpg.UndefinedTableError()]
)
async def test_without_its_database_the_edge_asks_to_try_again(error: Exception) -> None:
    assert await refusal(Keys(error)) == (
        503, "SERVICE_UNAVAILABLE", "API keys cannot be looked up now", {"Retry-After": "1"}, type(error),
    )  # fmt: skip


async def test_an_edge_without_a_database_takes_no_keys() -> None:
    assert await refusal(None) == (
        503, "SERVICE_UNAVAILABLE", "this edge has no database to look API keys up in", {"Retry-After": "1"},
        type(None),
    )  # fmt: skip


def test_a_connection_with_a_key_is_its_users_without_a_session_and_does_not_expire() -> None:
    assert claims_of(key(Scope.READ)) == Claims("alice", "user", 253_402_300_799, None, "", "")
