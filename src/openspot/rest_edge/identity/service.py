"""Makes the services of identity: passwords, sessions, second factor, activity log, API keys."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import timedelta

from openspot.contracts.subjects import USERS_DELETED_BUCKET
from openspot.http.api_keys.authenticator import ApiKeys
from openspot.http.api_keys.changes import KeyChanges
from openspot.http.api_keys.checker import ApiKeyChecker
from openspot.http.api_keys.replays import Replays
from openspot.http.api_keys.store import ApiKeyStore
from openspot.http.api_keys.uses import UseRecorder
from openspot.http.api_keys.vault import Vault
from openspot.http.authentication import RevokedSessions
from openspot.kit.bus import Bus
from openspot.kit.clock import system_clock, utc_now
from openspot.kit.database import Pool
from openspot.kit.sealing import Sealer
from openspot.kit.service_frame import ServiceFrame
from openspot.rest_edge.common.plan_limits import PlanLimits
from openspot.rest_edge.common.repeated_work import CLEAN_UP_INTERVAL_S, repeat
from openspot.rest_edge.identity.activity.log import ActivityLog
from openspot.rest_edge.identity.api_keys.service import ApiKeyService
from openspot.rest_edge.identity.auth.mail_proof import MailProof
from openspot.rest_edge.identity.auth.service import AuthService
from openspot.rest_edge.identity.auth.unproved_access import UnprovedAccess
from openspot.rest_edge.identity.credentials.attempt_store import AttemptStore
from openspot.rest_edge.identity.credentials.password_check import PasswordCheck
from openspot.rest_edge.identity.credentials.password_queues import PasswordQueues
from openspot.rest_edge.identity.credentials.store import AuthStore
from openspot.rest_edge.identity.second_factor.challenges import ChallengeStore
from openspot.rest_edge.identity.second_factor.code_check import SecondFactor
from openspot.rest_edge.identity.second_factor.service import MfaService
from openspot.rest_edge.identity.second_factor.store import MfaStore
from openspot.rest_edge.identity.sessions.ended_sessions import UNTOLD_INTERVAL_S, EndedSessions
from openspot.rest_edge.identity.sessions.session_list import SessionList
from openspot.rest_edge.identity.sessions.session_start import ActiveStake, SessionStart
from openspot.rest_edge.identity.users.check_in import CheckIns
from openspot.rest_edge.identity.users.deletion import AccountDeletion, Balances
from openspot.rest_edge.identity.users.demo_accounts import keep_demo_accounts
from openspot.rest_edge.identity.users.password_change import PasswordChange
from openspot.rest_edge.identity.users.profile import Profiles
from openspot.rest_edge.identity.users.roles import Roles
from openspot.rest_edge.mail.service import MailServices
from openspot.rest_edge.notifications.store import NotificationStore
from openspot.rest_edge.settings import RestEdgeSettings

ATTEMPTS_KEPT = timedelta(days=1)
LOCKS_KEPT = timedelta(days=30)
NETWORKS_KEPT = timedelta(days=180)
LATE_RECORDS = timedelta(days=2)
ACTIVITY_KEPT = timedelta(days=365)


@dataclass(frozen=True, slots=True)
class UserServices:
    """The services behind the routes of auth and users. Other routes check codes with `second_factor`."""

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
    roles: Roles
    ended: EndedSessions


@dataclass(frozen=True, slots=True)
class KeyServices:
    """The service behind the routes of API keys, and the authenticator of signed requests."""

    routes: ApiKeyService
    authenticator: ApiKeys


async def make_user_services(
    settings: RestEdgeSettings,
    pool: Pool,
    bus: Bus,
    frame: ServiceFrame,
    *,
    revoked: RevokedSessions,
    mail: MailServices,
    notifications: NotificationStore,
    active_stake: ActiveStake,
    balances: Balances,
    cancel_payments: Callable[[Sequence[str]], Awaitable[None]],
    revoke_keys: Callable[[str], Awaitable[None]],
    unproved: UnprovedAccess,
) -> UserServices:
    """Make the services; `frame` ends them in reverse order.

    When this returns, ended sessions are refused, and the demo market's accounts exist if it runs. Access tokens state
    the `active_stake`. The deletion of an account uses `balances`, `cancel_payments` and `revoke_keys`; a
    reset of the password that first proves the address removes what is `unproved`.
    """
    ended = EndedSessions(bus, revoked, settings.ended_session_life_s)
    users = AuthStore(pool)
    await ended.start(await users.revoked_since(utc_now() - ended.life))
    frame.at_end(ended.stop)
    passwords = PasswordQueues.start()
    frame.at_end(passwords.close)

    attempts = AttemptStore(pool)
    activity = ActivityLog(pool, notifications)
    challenges = ChallengeStore(pool)
    factors = MfaStore(pool)
    sealer = Sealer(*settings.sealing_secrets)
    second_factor = SecondFactor(factors, sealer, attempts, activity)
    password_check = PasswordCheck(users, attempts, passwords.known_logins)
    sessions = SessionStart(settings, users, activity, active_stake)
    outbox = mail.outbox
    deletion = AccountDeletion(
        pool,
        check=password_check,
        second_factor=second_factor,
        attempts=attempts,
        ended=ended,
        outbox=outbox,
        revoke_keys=revoke_keys,
        cancel_payments=cancel_payments,
        balances=balances,
        deleted=bus.key_value(USERS_DELETED_BUCKET, bytes),
    )

    async def clean_up() -> None:
        now = utc_now()
        await users.delete_expired(now)
        await users.forget_networks(now - NETWORKS_KEPT)
        await attempts.delete_older(now - ATTEMPTS_KEPT, now - LOCKS_KEPT)
        await challenges.delete_expired(now)
        await activity.delete_older(now - ACTIVITY_KEPT)
        await deletion.erase_late_records(now - LATE_RECORDS)

    async def tell_untold() -> None:
        await ended.tell_untold(await users.revoked_since(utc_now() - ended.life))

    repeat(frame, "delete expired rows of users", clean_up, CLEAN_UP_INTERVAL_S)
    repeat(frame, "tell of sessions that have ended", tell_untold, UNTOLD_INTERVAL_S)
    if settings.demo:
        await keep_demo_accounts(pool, settings.demo_password)
    return UserServices(
        auth=AuthService(
            store=users,
            attempts=attempts,
            passwords=passwords,
            ended=ended,
            challenges=challenges,
            second_factor=second_factor,
            sessions=sessions,
            activity=activity,
            outbox=outbox,
        ),
        mail_proof=MailProof(
            pool=pool,
            store=users,
            tokens=mail.tokens,
            outbox=outbox,
            passwords=passwords.registrations,
            attempts=attempts,
            ended=ended,
            activity=activity,
            revoke_keys=revoke_keys,
            unproved=unproved,
        ),
        mfa=MfaService(factors, users, sealer, password_check, second_factor, activity, settings.brand.name),
        second_factor=second_factor,
        profiles=Profiles(pool, activity),
        activity=activity,
        check_ins=CheckIns(pool),
        sessions=SessionList(pool, users, ended, activity),
        password_change=PasswordChange(
            pool=pool,
            store=users,
            check=password_check,
            second_factor=second_factor,
            passwords=passwords.known_logins,
            ended=ended,
            activity=activity,
        ),
        deletion=deletion,
        roles=Roles(pool, activity, ended.life),
        ended=ended,
    )


async def make_key_services(
    settings: RestEdgeSettings,
    pool: Pool,
    bus: Bus,
    frame: ServiceFrame,
    *,
    replays: Replays,
    users: UserServices,
) -> KeyServices:
    """Make the services; `frame` ends them in reverse order."""
    store, vault = ApiKeyStore(pool), Vault(*settings.sealing_secrets)
    await store.note_sealing_keys(vault.sealing_key, vault.sealed_tag_keys())
    checker = ApiKeyChecker(store, vault, replays)
    changes = KeyChanges(bus, lambda ended: checker.drop(ended.key_id))
    changes.start()
    frame.at_end(changes.stop)
    uses = UseRecorder(checker, store)
    uses.start()
    frame.at_end(uses.stop)
    return KeyServices(
        ApiKeyService(store, vault, changes, users.second_factor, users.activity, PlanLimits(bus, pool), system_clock),
        ApiKeys(checker),
    )
