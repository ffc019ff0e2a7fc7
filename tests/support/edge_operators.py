"""Operators for tests: an edge's services of operators without anything behind them, and users who are operators."""

import json
from base64 import urlsafe_b64decode, urlsafe_b64encode
from typing import Any

import asyncpg

from openspot.engine_client.administrators import EngineSession
from openspot.engine_client.operators import OperatorSessions, Standing
from openspot.http.api_keys.networks import AllowedNetworks
from openspot.http.authentication import UserTokens
from openspot.http.operator_store import OperatorStanding
from openspot.http.operators import OperatorRole
from openspot.rest_edge.operators.service import OperatorServices
from tests.support.authenticator import Authenticator, enable_mfa, log_in, register, send_code
from tests.support.rest_client import RestClient

TOKEN_SECRET = "test-secret-of-at-least-thirty-two-bytes"


def engine_token(participant_id: str) -> str:
    """A token that says of itself that the engine made it for this participant. A fake engine decides what it is."""
    payload = json.dumps({"aud": "epoch", "sub": participant_id}).encode()
    return f"e30.{urlsafe_b64encode(payload).decode().rstrip('=')}.signature"


def participant_in(token: str) -> str:
    """The participant that `engine_token` was given; empty for another token."""
    _, _, rest = token.partition(".")
    payload, _, _ = rest.partition(".")
    try:
        return str(json.loads(urlsafe_b64decode(payload + "=" * (-len(payload) % 4)))["sub"])
    except ValueError:
        return ""


ENGINE_TOKEN = engine_token("root")
"""The token of the administrator that `EngineOfOne` knows."""


class EngineOfOne:
    """An engine that knows one session, of an administrator."""

    async def find(self, token: str) -> EngineSession | None:
        """The administrator's session."""
        return EngineSession("root", is_administrator=True) if token == ENGINE_TOKEN else None


async def _nobody(user_id: str, session_id: str) -> OperatorStanding:
    return OperatorStanding(frozenset(), had_second_factor=False, has_ended=False)


def without_operators(nothing: Any = None, standing: Standing = _nobody) -> OperatorServices:
    """The services of an edge without a database; `nothing` stands for what is behind the routes."""
    engine: Any = EngineOfOne()
    sessions = OperatorSessions(UserTokens(TOKEN_SECRET), standing, engine, AllowedNetworks(()))
    return OperatorServices(sessions=sessions, **{
        name: nothing for name in OperatorServices.__dataclass_fields__ if name != "sessions"
    })  # fmt: skip


async def make_operator(edge: RestClient, pool: asyncpg.Pool, email: str, *roles: OperatorRole) -> Authenticator:
    """Register a user, verify the address, turn the second factor on, give the roles, and log in again with a code.

    `edge` then calls as this operator.
    """
    edge.token = None
    user_id = await register(edge, email)
    app = await enable_mfa(edge)
    await pool.execute("UPDATE users SET email_verified_at = now() WHERE user_id = $1", user_id)
    await pool.executemany(
        "INSERT INTO operator_roles (user_id, role, granted_by, granted_at) VALUES ($1, $2, 'shell:test', now())",
        [(user_id, role) for role in roles],
    )
    await log_in_as_operator(edge, email, app)
    return app


async def log_in_as_operator(edge: RestClient, email: str, app: Authenticator) -> None:
    """Log in with a code; `edge` then calls with this session."""
    edge.token = None
    session = await send_code(edge, (await log_in(edge, email)).body, app.code())
    assert session.status == 200, session.body
    edge.token = session.body["accessToken"]


async def link_owners(pool: asyncpg.Pool, *emails: str) -> None:
    """Let two users be accounts of one owner, as `openspot owners` does it."""
    first, second = [row["user_id"] for row in await pool.fetch(USERS_OF, emails)]
    await pool.execute(
        "INSERT INTO owner_links (first_user_id, second_user_id, reason, linked_by) VALUES ($1, $2, 'same', 'x')",
        first,
        second,
    )


USERS_OF = 'SELECT user_id FROM users WHERE email = ANY($1::text[]) ORDER BY user_id COLLATE "C"'
