"""Makes what auth and users consist of: sessions, passwords, second factor, activity log."""

import asyncio
from contextlib import AsyncExitStack
from dataclasses import dataclass
from datetime import timedelta

from openspot.http.authentication import RevokedSessions
from openspot.kit.bus import Bus
from openspot.kit.clock import utc_now
from openspot.kit.database import TRANSIENT_ERRORS, Pool
from openspot.kit.log import get_logger
from openspot.kit.sealing import Sealer
from openspot.kit.tasks import end_tasks
from openspot.rest_edge.auth.attempt_store import AttemptStore
from openspot.rest_edge.auth.challenges import ChallengeStore
from openspot.rest_edge.auth.password_check import PasswordCheck
from openspot.rest_edge.auth.password_queues import PasswordQueues
from openspot.rest_edge.auth.service import AuthService
from openspot.rest_edge.auth.session_start import SessionStart
from openspot.rest_edge.auth.sessions import EndedSessions
from openspot.rest_edge.auth.store import AuthStore
from openspot.rest_edge.settings import RestEdgeSettings
from openspot.rest_edge.users.activity import ActivityLog
from openspot.rest_edge.users.mfa_service import MfaService
from openspot.rest_edge.users.mfa_store import MfaStore
from openspot.rest_edge.users.second_factor import SecondFactor

log = get_logger("identity")

CLEAN_UP_S = 3600.0
ATTEMPTS_KEPT = timedelta(days=1)
LOCKS_KEPT = timedelta(days=30)
NETWORKS_KEPT = timedelta(days=180)
ACTIVITY_KEPT = timedelta(days=365)


@dataclass(frozen=True, slots=True)
class UserServices:
    """What the routes of auth and users are made of. Other routes ask `second_factor` for a code."""

    auth: AuthService
    mfa: MfaService
    second_factor: SecondFactor


async def make_user_services(
    settings: RestEdgeSettings, pool: Pool, bus: Bus, revoked: RevokedSessions, stack: AsyncExitStack
) -> UserServices:
    """Make the services; `stack` ends them, the newest first. Ended sessions are known when this returns."""
    ended = EndedSessions(bus, revoked, settings.ended_session_life_s)
    users = AuthStore(pool)
    await ended.start(await users.revoked_since(utc_now() - ended.life))
    stack.push_async_callback(ended.stop)
    passwords = PasswordQueues.start()
    stack.callback(passwords.close)

    attempts = AttemptStore(pool)
    activity = ActivityLog(pool)
    challenges = ChallengeStore(pool)
    factors = MfaStore(pool)
    sealer = Sealer(settings.sealing_secret)
    second_factor = SecondFactor(factors, sealer, attempts, activity)
    password_check = PasswordCheck(users, attempts, passwords.known_logins)
    sessions = SessionStart(settings, users, activity)

    clean_up = asyncio.create_task(_clean_up(users, attempts, challenges, activity))
    stack.push_async_callback(end_tasks, clean_up)
    return UserServices(
        auth=AuthService(users, attempts, passwords, ended, challenges, second_factor, sessions, activity),
        mfa=MfaService(factors, users, sealer, password_check, second_factor, activity),
        second_factor=second_factor,
    )


async def _clean_up(
    users: AuthStore, attempts: AttemptStore, challenges: ChallengeStore, activity: ActivityLog
) -> None:
    """Delete what has expired, once an hour."""
    while True:
        now = utc_now()
        try:
            await users.delete_expired(now)
            await users.forget_networks(now - NETWORKS_KEPT)
            await attempts.delete_older(now - ATTEMPTS_KEPT, now - LOCKS_KEPT)
            await challenges.delete_expired(now)
            await activity.delete_older(now - ACTIVITY_KEPT)
        except TRANSIENT_ERRORS as error:
            log.warning("expired rows not deleted", error=repr(error))
        await asyncio.sleep(CLEAN_UP_S)
