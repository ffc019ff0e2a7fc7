"""Begins a session: its id, its first tokens, and its row."""

import os
import secrets
import time
from collections.abc import Awaitable, Callable
from datetime import datetime, timedelta
from decimal import Decimal

import asyncpg
import msgspec

from openspot.domain.ids import short_id
from openspot.domain.money import amount_to_text
from openspot.http.throttle import network_of
from openspot.kit.database import TRANSIENT_ERRORS
from openspot.kit.log import get_logger
from openspot.kit.token_hash import new_token, token_hash
from openspot.kit.tokens import Claims, sign
from openspot.rest_edge.identity.activity.log import ActivityLog, Origin
from openspot.rest_edge.identity.credentials.store import AuthStore, NewSession, User
from openspot.rest_edge.settings import RestEdgeSettings

log = get_logger("auth")

_RANDOM_BYTES = 16

ActiveStake = Callable[[str, str], Awaitable[int]]
"""Returns the amount that a user has staked of an asset, in units of 18 places. Raises asyncpg's errors."""


class Tokens(msgspec.Struct, rename="camel", frozen=True):
    """The tokens of a session. `expires_in` is the access token's life in seconds."""

    access_token: str
    refresh_token: str
    token_type: str
    expires_in: int
    user_id: str


class SessionStart:
    """Begins sessions and makes tokens."""

    def __init__(
        self, settings: RestEdgeSettings, store: AuthStore, activity: ActivityLog, active_stake: ActiveStake
    ) -> None:
        self._secret = settings.jwt_secret
        self._access_s = settings.access_token_s
        self.access_life = timedelta(seconds=settings.access_token_s)
        self.refresh_life = timedelta(seconds=settings.refresh_token_s)
        self._store = store
        self._activity = activity
        self._active_stake = active_stake
        self._staking_asset = settings.staking_balance_asset

    async def begin(self, user: User, origin: Origin, now: datetime) -> Tokens | None:
        """Begin a session of a user whose credentials were right.

        None if the user was deleted, or got another password or role, since the password was checked.
        """
        token = new_token()
        session_id = short_id(os.urandom(_RANDOM_BYTES))
        session = NewSession(session_id, token_hash(token), now + self.refresh_life, origin.address, origin.user_agent)
        if not await self._store.start_session(session, user, now):
            return None
        is_new = await self._store.note_network(user.user_id, network_of(origin.address), now)
        await self._activity.record_login(user.user_id, origin, from_new_network=is_new)
        return await self.tokens(user.user_id, user.role, session_id, token)

    async def tokens(self, user_id: str, role: str, session_id: str, refresh_token: str) -> Tokens:
        """Sign an access token for the session, beside its refresh token."""
        now = int(time.time())
        token_id = secrets.token_hex(8)
        staking_balance = await self._staking_balance(user_id)
        claims = Claims(user_id, role, now + self._access_s, staking_balance, session_id, token_id)
        return Tokens(sign(claims, self._secret, now), refresh_token, "Bearer", self._access_s, user_id)

    async def _staking_balance(self, user_id: str) -> Decimal | None:
        """The sum of the user's active stakes, None if tokens do not state it or if it cannot be read.

        It never raises: at a refresh the old token is used up already, so the user must get the new one.
        """
        if not self._staking_asset:
            return None
        try:
            return Decimal(amount_to_text(await self._active_stake(user_id, self._staking_asset)))
        except (asyncpg.PostgresError, *TRANSIENT_ERRORS) as error:
            log.warning("an access token does not state the stake", user_id=user_id, error=repr(error))
            return None
