"""Credentials: whom a request speaks for, and whom the guard lets through."""

from typing import Any

import pytest

from openspot.http import authentication
from openspot.http.authentication import CredentialsError, Guard, RevokedSessions, ServiceKeys, UserTokens
from openspot.http.context import BodyLimits, Identity, RequestContext
from openspot.http.errors import HttpError
from openspot.http.policy import NOBODY, Access, Policy, Scope
from openspot.kit.tokens import Claims, sign

SECRET = "a-secret-of-at-least-thirty-two-bytes"


class Clock:
    now = 1_000_000.0

    def __call__(self) -> float:
        return self.now


def request(*headers: tuple[bytes, bytes]) -> RequestContext:
    async def nothing() -> Any:
        raise AssertionError("the body is not read")

    scope = {"type": "http", "method": "GET", "path": "/", "headers": list(headers), "client": ("127.0.0.1", 1)}
    context = RequestContext("r", scope, nothing, BodyLimits(1000, 1.0))
    context.read_head()
    return context


async def identify(reader: UserTokens, token: str) -> Identity | str:
    """The identity, or why there is none."""
    try:
        identity = await reader.identify(request((b"authorization", f"Bearer {token}".encode())))
    except CredentialsError as error:
        return str(error)
    assert identity is not None
    return identity


def token_for(user_id: str, session_id: str = "", life_s: int = 60, role: str = "user") -> str:
    return sign(Claims(user_id, role, 1_000_000 + life_s, session_id=session_id), SECRET, 1_000_000)


async def test_a_known_token_is_refused_once_it_expires_or_its_session_ends() -> None:
    clock, revoked = Clock(), RevokedSessions()
    reader = UserTokens(SECRET, revoked, clock)
    token, other = token_for("u1", "s1"), token_for("u2", "s2", role="admin")
    for _ in range(2):
        assert await identify(reader, token) == Identity("u1", Access.USER, None, "s1", 1_000_060)
        assert await identify(reader, other) == Identity("u2", Access.USER | Access.ADMIN, None, "s2", 1_000_060)
    revoked.add("s1", clock.now + 60)
    assert await identify(reader, token) == "the session has ended"
    assert isinstance(await identify(reader, other), Identity)
    clock.now += 60
    assert await identify(reader, other) == "the token has expired"
    assert await identify(reader, other) == "the token has expired"


async def test_the_tokens_that_are_kept_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(authentication, "TOKENS_KEPT_MAX", 3)
    clock = Clock()
    reader = UserTokens(SECRET, RevokedSessions(), clock)
    await identify(reader, token_for("short", life_s=1))
    tokens = [token_for(f"u{number}") for number in range(6)]
    for token in tokens:
        clock.now += 0.5
        assert isinstance(await identify(reader, token), Identity)
    assert len(reader._known) == 3
    assert list(reader._known) == [f"Bearer {token}".encode() for token in tokens[3:]]


def test_ended_sessions_are_forgotten_when_their_tokens_have_expired() -> None:
    revoked = RevokedSessions()
    revoked.add("a", 10)
    revoked.add("a", 5)
    revoked.add("b", 20)
    revoked.forget_expired(9)
    assert "a" in revoked
    revoked.forget_expired(10)
    assert "a" not in revoked
    assert "b" in revoked
    assert len(revoked) == 1


KEYS = ((b"x-api-key", b"key"), (b"x-api-secret", b"secret"), (b"x-participant-type", b"SYSTEM"))


async def test_service_headers_are_taken_whole_or_not_at_all() -> None:
    keys = ServiceKeys("key", "secret")
    assert await keys.identify(request()) is None
    assert await keys.identify(request((b"x-participant-type", b"SYSTEM"))) is None
    assert await keys.identify(request(*KEYS)) == Identity("service", Access.SERVICE)
    for headers in (KEYS[:1], KEYS[1:], KEYS[:2], (*KEYS[:2], (b"x-participant-type", b"TAKER")),
                    ((b"x-api-key", b"\xff"), *KEYS[1:])):  # fmt: skip
        with pytest.raises(CredentialsError):
            await keys.identify(request(*headers))
    with pytest.raises(HttpError) as caught:
        await keys.identify(request(*KEYS, KEYS[0]))
    assert (caught.value.status_code, caught.value.code) == (400, "REPEATED_HEADER")


def test_a_service_key_without_text_is_refused_at_start() -> None:
    for key, secret in (("", "secret"), ("key", "")):
        with pytest.raises(ValueError, match="needed"):
            ServiceKeys(key, secret)


def test_two_authorization_headers_are_refused() -> None:
    with pytest.raises(HttpError) as caught:
        request((b"authorization", b"Bearer a"), (b"authorization", b"Bearer b"))
    assert (caught.value.status_code, caught.value.code) == (400, "REPEATED_HEADER")


USER, ADMIN = Access.USER, Access.ADMIN
UNLIMITED, READ_ONLY = None, frozenset({Scope.READ})


@pytest.mark.parametrize(
    ("policy", "identity", "status"),
    [
        (Policy(Access.PUBLIC), None, 0),
        (Policy(Access.DELEGATED), None, 0),
        (Policy(USER), None, 401),
        (Policy(USER), Identity("u", USER), 0),
        (Policy(USER), Identity("u", USER | ADMIN), 0),
        (Policy(ADMIN), Identity("u", USER), 403),
        (Policy(ADMIN), Identity("u", USER | ADMIN), 0),
        (Policy(ADMIN | Access.SERVICE), Identity("s", Access.SERVICE), 0),
        (Policy(ADMIN), Identity("s", Access.SERVICE), 403),
        (Policy(ADMIN | Access.SERVICE), Identity("x", NOBODY), 403),
        (Policy(USER, Scope.TRADE), Identity("u", USER, UNLIMITED), 0),
        (Policy(USER, Scope.READ), Identity("u", USER, READ_ONLY), 0),
        (Policy(USER, Scope.TRADE), Identity("u", USER, READ_ONLY), 403),
        # A route without a scope is for unlimited credentials alone.
        (Policy(USER), Identity("u", USER, frozenset(Scope)), 403),
    ],
)
def test_the_guard_lets_through_whom_the_policy_admits(policy: Policy, identity: Identity | None, status: int) -> None:
    guard = Guard(policy, [UserTokens(SECRET), ServiceKeys("key", "secret")])
    context = request()
    context.identity = identity
    if not status:
        guard.admit(context)
        return
    with pytest.raises(HttpError) as caught:
        guard.admit(context)
    assert caught.value.status_code == status


def test_a_refusal_names_the_credentials_that_open_the_route() -> None:
    kinds = [UserTokens(SECRET), ServiceKeys("key", "secret")]
    for access, message, challenge in (
        (USER, "a bearer token is required", {"WWW-Authenticate": "Bearer"}),
        (Access.SERVICE, "the headers x-api-key, x-api-secret and x-participant-type are required", None),
    ):
        with pytest.raises(HttpError) as caught:
            Guard(Policy(access), kinds).admit(request())
        assert (caught.value.message, caught.value.headers) == (message, challenge)


def test_a_route_that_no_credential_could_open_is_refused_at_start() -> None:
    with pytest.raises(ValueError, match="no authenticator"):
        Guard(Policy(Access.SERVICE), [UserTokens(SECRET)])


@pytest.mark.parametrize(
    "make",
    [
        lambda: Policy(Access(0)),
        lambda: Policy(Access.PUBLIC | Access.USER),
        lambda: Policy(Access.DELEGATED | Access.ADMIN),
        lambda: Policy(Access.PUBLIC, Scope.READ),
    ],
)
def test_a_policy_that_means_nothing_is_refused(make: Any) -> None:
    with pytest.raises(ValueError, match="route"):
        make()
