"""Credentials: whom a request speaks for, and whom the guard lets through."""

from decimal import Decimal
from types import SimpleNamespace
from typing import Any

import pytest

from openspot.http import authentication
from openspot.http.authentication import CredentialsError, Guard, RevokedSessions, ServiceKeys, UserTokens, may_fail
from openspot.http.context import BodyLimits, Identity, RequestContext
from openspot.http.errors import HttpError
from openspot.http.policy import NOBODY, Access, Permission, Policy, Scope
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
        assert len(reader._known) <= 3
    assert list(reader._known) == [f"Bearer {token}".encode() for token in tokens[3:]]


async def test_tokens_that_have_expired_go_before_those_that_are_older(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(authentication, "TOKENS_KEPT_MAX", 3)
    clock = Clock()
    reader = UserTokens(SECRET, RevokedSessions(), clock)
    old, short, other, last = token_for("old"), token_for("short", life_s=5), token_for("other"), token_for("last")
    for token in (old, short, other):
        await identify(reader, token)
    clock.now += 5
    await identify(reader, last)
    assert list(reader._known) == [f"Bearer {token}".encode() for token in (old, other, last)]


async def test_the_signature_of_a_token_is_checked_once_and_its_stake_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    checked: list[str] = []
    verify = authentication.verify_access_token
    monkeypatch.setattr(
        authentication, "verify_access_token", lambda token, *rest: checked.append(token) or verify(token, *rest)
    )
    reader = UserTokens(SECRET, RevokedSessions(), Clock())
    token = sign(Claims("u1", "user", 1_000_060, Decimal("12.50"), session_id="s1"), SECRET, 1_000_000)
    for _ in range(2):
        assert await identify(reader, token) == Identity(
            "u1", Access.USER, None, "s1", 1_000_060, Decimal("12.50")
        )  # fmt: skip
    assert checked == [token]


@pytest.mark.parametrize(
    ("header", "reason"),
    [
        (b"Basic dXNlcjpwYXNz", "the Authorization header must be: Bearer <token>"),
        (b"Bearer", "the Authorization header must be: Bearer <token>"),
        (b"Bearer  ", "the Authorization header must be: Bearer <token>"),
        (b"", "the Authorization header must be: Bearer <token>"),
        (b"Bearer a b", "the token is not valid"),
        (b"Bearer \xff", "the token is not valid"),
    ],
)
async def test_another_authorization_is_refused_with_the_reason(header: bytes, reason: str) -> None:
    with pytest.raises(CredentialsError) as refused:
        await UserTokens(SECRET).identify(request((b"authorization", header)))
    assert str(refused.value) == reason


async def test_the_scheme_is_read_in_any_letter_case_and_its_absence_is_no_credential() -> None:
    reader, token = UserTokens(SECRET, now=Clock()), token_for("u1")
    for text in (f"bearer {token}", f"BEARER   {token} "):
        identity = await reader.identify(request((b"authorization", text.encode())))
        assert identity is not None and identity.user_id == "u1"
    assert await reader.identify(request()) is None


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
    wrong, kind = "x-api-key and x-api-secret must be those of a service", "x-participant-type must be SYSTEM"
    for headers, reason in (
        (KEYS[:1], wrong), (KEYS[1:], wrong), (KEYS[:2], kind), ((*KEYS[:2], (b"x-participant-type", b"TAKER")), kind),
        (((b"x-api-key", b"\xff"), *KEYS[1:]), wrong),
    ):  # fmt: skip
        with pytest.raises(CredentialsError) as refused:
            await keys.identify(request(*headers))
        assert str(refused.value) == reason
    with pytest.raises(HttpError) as caught:
        await keys.identify(request(*KEYS, KEYS[0]))
    assert (caught.value.status_code, caught.value.code, caught.value.message) == (
        400, "REPEATED_HEADER", "the header x-api-key must be given once",
    )  # fmt: skip


def test_a_service_key_without_text_is_refused_at_start() -> None:
    for key, secret in (("", "secret"), ("key", "")):
        with pytest.raises(ValueError, match="needed"):
            ServiceKeys(key, secret)


def test_two_authorization_headers_are_refused() -> None:
    with pytest.raises(HttpError) as caught:
        request((b"authorization", b"Bearer a"), (b"authorization", b"Bearer b"))
    assert (caught.value.status_code, caught.value.code, caught.value.message) == (
        400, "REPEATED_HEADER", "the header Authorization must be given once",
    )  # fmt: skip


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


def test_each_refusal_of_the_guard_has_its_own_code_and_words() -> None:
    kinds = [UserTokens(SECRET), ServiceKeys("key", "secret")]
    limited = Identity("u", USER, READ_ONLY)
    bearer = {"WWW-Authenticate": "Bearer"}
    both = "a bearer token is required or the headers x-api-key, x-api-secret and x-participant-type are required"
    for policy, identity, expected in (
        (Policy(ADMIN | Access.SERVICE), None, (401, "UNAUTHENTICATED", both, bearer)),
        (Policy(ADMIN | Access.SERVICE), Identity("u", USER),
         (403, "FORBIDDEN", "this route needs the access of: admin or service", None)),
        (Policy(USER), limited, (403, "INSUFFICIENT_SCOPE", "this route takes no limited credential", None)),
        (Policy(USER, Scope.TRADE), limited,
         (403, "INSUFFICIENT_SCOPE", "the credential lacks the scope trade", None)),
    ):  # fmt: skip
        context = request()
        context.identity = identity
        with pytest.raises(HttpError) as caught:
            Guard(policy, kinds).admit(context)
        error = caught.value
        assert (error.status_code, error.code, error.message, error.headers) == expected
    context = request()
    context.refusal = "the token has expired"
    with pytest.raises(HttpError) as caught:
        Guard(Policy(USER), kinds).admit(context)
    assert (caught.value.message, caught.value.code) == ("the token has expired", "UNAUTHENTICATED")


def test_the_document_warns_of_403_where_some_valid_credential_is_refused() -> None:
    tokens, service = UserTokens(SECRET), ServiceKeys("key", "secret")
    limited: Any = SimpleNamespace(grants=(USER,), limited=True)
    assert not may_fail(tokens, Policy(USER))
    assert may_fail(tokens, Policy(ADMIN))
    assert not may_fail(service, Policy(USER | Access.SERVICE))
    assert may_fail(limited, Policy(USER, Scope.READ))


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
        lambda: Policy(Access.OPERATOR),
        lambda: Policy(Access.USER, permission=Permission.USERS_READ),
        lambda: Policy(Access.OPERATOR | Access.ADMIN, permission=Permission.USERS_READ),
        lambda: Policy(Access.OPERATOR, Scope.READ, permission=Permission.USERS_READ),
    ],
)
def test_a_policy_that_means_nothing_is_refused(make: Any) -> None:
    with pytest.raises(ValueError, match="route"):
        make()
