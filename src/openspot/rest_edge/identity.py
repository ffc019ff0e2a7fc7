"""Makes what auth and users consist of: sessions, passwords, second factor, activity log."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from dataclasses import dataclass
from datetime import timedelta

from openspot.contracts.subjects import USERS_DELETED_BUCKET
from openspot.http.authentication import RevokedSessions
from openspot.kit.bus import Bus
from openspot.kit.clock import utc_now
from openspot.kit.database import TRANSIENT_ERRORS, Pool
from openspot.kit.log import get_logger
from openspot.kit.sealing import Sealer
from openspot.kit.tasks import end_tasks
from openspot.rest_edge.accounts.service import AccountService
from openspot.rest_edge.auth.attempt_store import AttemptStore
from openspot.rest_edge.auth.challenges import ChallengeStore
from openspot.rest_edge.auth.mail_proof import MailProof
from openspot.rest_edge.auth.password_check import PasswordCheck
from openspot.rest_edge.auth.password_queues import PasswordQueues
from openspot.rest_edge.auth.service import AuthService
from openspot.rest_edge.auth.session_start import SessionStart
from openspot.rest_edge.auth.sessions import EndedSessions
from openspot.rest_edge.auth.store import AuthStore
from openspot.rest_edge.mail.outbox import Outbox
from openspot.rest_edge.mail.sender import MailSender
from openspot.rest_edge.mail.tokens import MailTokens
from openspot.rest_edge.mail.transports import make_transport
from openspot.rest_edge.notifications.store import NotificationStore
from openspot.rest_edge.payments.store import PaymentStore
from openspot.rest_edge.settings import RestEdgeSettings
from openspot.rest_edge.staking.store import StakingStore
from openspot.rest_edge.users.activity import ActivityLog
from openspot.rest_edge.users.check_in import CheckIns
from openspot.rest_edge.users.deletion import AccountDeletion
from openspot.rest_edge.users.mfa_service import MfaService
from openspot.rest_edge.users.mfa_store import MfaStore
from openspot.rest_edge.users.password_change import PasswordChange
from openspot.rest_edge.users.profile import Profiles
from openspot.rest_edge.users.second_factor import SecondFactor
from openspot.rest_edge.users.session_list import SessionList

log = get_logger("identity")

CLEAN_UP_S = 3600.0
ATTEMPTS_KEPT = timedelta(days=1)
LOCKS_KEPT = timedelta(days=30)
NETWORKS_KEPT = timedelta(days=180)
FAILED_MAILS_KEPT = timedelta(days=7)
LATE_RECORDS = timedelta(days=2)
ACTIVITY_KEPT = timedelta(days=365)


@dataclass(frozen=True, slots=True)
class UserServices:
    """What the routes of auth and users are made of. Other routes ask `second_factor` for a code.

    `notifications` keeps what users are told.
    """

    auth: AuthService
    mail_proof: MailProof
    mfa: MfaService
    second_factor: SecondFactor
    profiles: Profiles
    activity: ActivityLog
    check_ins: CheckIns
    sessions: SessionList
    password_change: PasswordChange
    deletion: AccountDeletion
    notifications: NotificationStore


async def make_user_services(
    settings: RestEdgeSettings,
    pool: Pool,
    bus: Bus,
    revoked: RevokedSessions,
    accounts: AccountService,
    revoke_keys: Callable[[str], Awaitable[None]],
    stack: AsyncExitStack,
) -> UserServices:
    """Make the services; `stack` ends them, the newest first. Ended sessions are known when this returns."""
    ended = EndedSessions(bus, revoked, settings.ended_session_life_s)
    users = AuthStore(pool)
    await ended.start(await users.revoked_since(utc_now() - ended.life))
    stack.push_async_callback(ended.stop)
    passwords = PasswordQueues.start()
    stack.callback(passwords.close)

    attempts = AttemptStore(pool)
    outbox = Outbox(pool, settings.mail_queue_max)
    mail_tokens = MailTokens(pool)
    sender = MailSender(
        pool, outbox, mail_tokens, make_transport(settings),
        sender=settings.mail_from, link_base=settings.mail_link_base,
    )  # fmt: skip
    sender.start()
    stack.push_async_callback(sender.stop)
    notifications = NotificationStore(pool, outbox)
    activity = ActivityLog(pool, notifications)
    challenges = ChallengeStore(pool)
    factors = MfaStore(pool)
    sealer = Sealer(settings.sealing_secret)
    second_factor = SecondFactor(factors, sealer, attempts, activity)
    password_check = PasswordCheck(users, attempts, passwords.known_logins)
    sessions = SessionStart(settings, users, activity, StakingStore(pool))

    deletion = AccountDeletion(
        pool, accounts, password_check, second_factor, attempts, ended, outbox, revoke_keys,
        PaymentStore(pool).cancel_unpaid, bus.key_value(USERS_DELETED_BUCKET, bytes),
    )  # fmt: skip
    clean_up = asyncio.create_task(
        _clean_up(users, attempts, challenges, activity, outbox, mail_tokens, deletion, notifications)
    )
    stack.push_async_callback(end_tasks, clean_up)
    return UserServices(
        auth=AuthService(users, attempts, passwords, ended, challenges, second_factor, sessions, activity, outbox),
        mail_proof=MailProof(
            pool, users, mail_tokens, outbox, passwords.registrations, attempts, ended, activity, revoke_keys
        ),
        mfa=MfaService(factors, users, sealer, password_check, second_factor, activity),
        second_factor=second_factor,
        profiles=Profiles(pool, activity),
        activity=activity,
        check_ins=CheckIns(pool),
        sessions=SessionList(pool, users, ended, activity),
        password_change=PasswordChange(
            pool, users, password_check, second_factor, passwords.known_logins, ended, activity
        ),
        deletion=deletion,
        notifications=notifications,
    )


async def _clean_up(
    users: AuthStore,
    attempts: AttemptStore,
    challenges: ChallengeStore,
    activity: ActivityLog,
    outbox: Outbox,
    mail_tokens: MailTokens,
    deletion: AccountDeletion,
    notifications: NotificationStore,
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
            await outbox.delete_failed(now - FAILED_MAILS_KEPT)
            await mail_tokens.delete_expired(now)
            await notifications.delete_old()
            await deletion.erase_late_records(now - LATE_RECORDS)
        except TRANSIENT_ERRORS as error:
            log.warning("expired rows not deleted", error=repr(error))
        await asyncio.sleep(CLEAN_UP_S)
