"""Reading who a request speaks for."""

import pytest

from openspot.kit.tokens import Claims, sign
from openspot.rest_edge import authentication
from openspot.rest_edge.authentication import Authentication, RevokedSessions, is_public
from openspot.rest_edge.context import RequestContext

SECRET = "a-secret-of-at-least-thirty-two-bytes"


class Clock:
    now = 1_000_000.0

    def __call__(self) -> float:
        return self.now


def identify(reader: Authentication, token: str) -> RequestContext:
    context = RequestContext("r", "GET", "/", "")
    reader.identify(context, f"Bearer {token}".encode())
    return context


def token_for(user_id: str, session_id: str = "", life_s: int = 60) -> str:
    return sign(Claims(user_id, "user", 1_000_000 + life_s, session_id=session_id), SECRET, 1_000_000)


def test_a_known_token_is_refused_once_it_expires_or_its_session_ends() -> None:
    clock, revoked = Clock(), RevokedSessions()
    reader = Authentication(SECRET, revoked, clock)
    token, other = token_for("u1", "s1"), token_for("u2", "s2")
    for _ in range(2):
        identity = identify(reader, token).identity
        assert identity is not None
        assert (identity.user_id, identity.role, identity.session_id) == ("u1", "user", "s1")
    revoked.add("s1", clock.now + 60)
    assert identify(reader, token).refusal == "the session has ended"
    assert identify(reader, other).identity is not None
    clock.now += 60
    assert identify(reader, other).refusal == "the token has expired"
    assert identify(reader, other).refusal == "the token has expired"


def test_the_tokens_that_are_kept_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(authentication, "TOKENS_KEPT_MAX", 3)
    clock = Clock()
    reader = Authentication(SECRET, RevokedSessions(), clock)
    identify(reader, token_for("short", life_s=1))
    tokens = [token_for(f"u{number}") for number in range(6)]
    for token in tokens:
        clock.now += 0.5
        assert identify(reader, token).identity is not None
    assert len(reader._known) == 3
    assert list(reader._known) == tokens[3:]


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


@pytest.mark.parametrize(
    ("method", "path", "public"),
    [
        ("POST", "/api/v1/auth/login", True),
        ("GET", "/api/v1/auth/login", False),
        ("POST", "/api/v1/auth/logout", False),
        ("GET", "/api/v1/markets", True),
        ("GET", "/api/v1/markets/BTC-USD", True),
        ("GET", "/api/v1/marketsecrets", False),
        ("POST", "/api/v1/markets", False),
        ("GET", "/api/v1/orders", False),
        ("GET", "/api/v1/health/../orders", False),
        ("GET", "/api/v1/", False),
        ("GET", "/health", True),
        ("GET", "/docs", True),
    ],
)
def test_only_what_is_listed_is_public(method: str, path: str, public: bool) -> None:
    assert is_public(method, path) == public
