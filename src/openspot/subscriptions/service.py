"""The composition root of the subscription service."""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path

from openspot.contracts import subjects
from openspot.contracts.messages import SendNotification
from openspot.contracts.subjects import USERS_DELETED_BUCKET
from openspot.domain.transfer import TransferKind
from openspot.engine_client.commands import EngineCommands
from openspot.engine_client.queries import EngineQueries
from openspot.engine_transfers.engine import EngineTransfers
from openspot.engine_transfers.model import Transfer, TransferRules
from openspot.engine_transfers.runner import TransferRunner
from openspot.engine_transfers.store import TransferStore
from openspot.http.audit import DatabaseAudit
from openspot.http.authentication import RevokedSessions, UserTokens
from openspot.http.ended_sessions import EndedSessionsFollower
from openspot.http.idempotency import DatabaseIdempotency
from openspot.http.policy import ThrottleClass
from openspot.http.server import http_server
from openspot.http.throttle import MemoryThrottle
from openspot.kit.bus import Bus
from openspot.kit.clock import DateClock, utc_now
from openspot.kit.database import TRANSIENT_ERRORS
from openspot.kit.log import get_logger
from openspot.kit.secrets_file import with_secrets
from openspot.kit.service_frame import ServiceFrame
from openspot.subscriptions.app import AuditWithoutAddresses, SubscriptionServices, make_app
from openspot.subscriptions.billing import Billing
from openspot.subscriptions.charging import ChargeRules, RefundRules, Tell
from openspot.subscriptions.metrics import TRANSFERS
from openspot.subscriptions.plans import PlanConfiguration, PlanError, load_plans
from openspot.subscriptions.renewals import Renewals
from openspot.subscriptions.requests import SubscriptionRequests
from openspot.subscriptions.settings import SubscriptionSettings
from openspot.subscriptions.store import SubscriptionStore

log = get_logger("subscriptions")

NAME = "subscriptions"
CONNECTIONS_MAX = 8
AUDIT_QUEUE_MAX = 10_000
CLEAN_UP_S = 3600.0


async def run(settings: SubscriptionSettings, stop: asyncio.Event, *, now: DateClock = utc_now) -> None:
    """Serve and renew until `stop` is set.

    Raises PlanError, BusError, DatabaseUnavailableError or PortTakenError if it cannot start.
    """
    settings = with_secrets(settings)
    configuration = plans_of(settings.subscriptions_plans_file)
    async with ServiceFrame(NAME, settings, stop) as frame:
        # None of the checks is vital: /health always answers OK (fact B4.6-12).
        own = settings.model_copy(update={"database_url": settings.subscriptions_database})
        pool = await frame.connect_database(CONNECTIONS_MAX, vital=False, settings=own)
        bus = await frame.connect_bus(vital=False)
        await bus.ensure_streams()
        revoked = RevokedSessions()
        sessions = EndedSessionsFollower(bus, revoked, settings.ended_session_life_s)
        await sessions.start()
        frame.at_end(sessions.stop)
        audit = DatabaseAudit(pool, AUDIT_QUEUE_MAX)
        frame.at_end(audit.stop)

        commands, queries = EngineCommands(settings), EngineQueries(settings)
        frame.at_end(commands.close)
        frame.at_end(queries.close)
        frame.health.add("engine", queries.check)
        store = SubscriptionStore(pool, configuration.retry_days)
        transfers = TransferStore(pool, table="subscription_transfers")
        rules = ChargeRules(store, transfers, configuration.retry_days, notices_of(bus))
        kinds: dict[TransferKind, TransferRules[Transfer]] = {
            TransferKind.SUBSCRIPTION: rules,
            TransferKind.REFUND: RefundRules(),
        }
        runner = TransferRunner(transfers, EngineTransfers(commands), kinds, TRANSFERS, now)
        renewals = Renewals(store, configuration, rules, transfers, runner, deleted_users(bus), now)
        idempotency = DatabaseIdempotency(pool)
        frame.health.add("renewals", renewals.check)
        billing = Billing(store, configuration, rules, transfers, runner, now)
        await SubscriptionRequests(billing).serve(bus)
        services = SubscriptionServices(
            billing,
            frame.health,
            UserTokens(settings.jwt_secret, revoked),
            {ThrottleClass.STANDARD: MemoryThrottle()} if settings.subscriptions_throttle_enabled else {},
            AuditWithoutAddresses(audit),
            idempotency,
        )
        frame.start("transfers", runner.run(), is_essential=False)
        frame.start("renewals", renewals.run(settings.subscriptions_poll_interval_s), is_essential=False)
        frame.start("clean-up", _forget_responses(idempotency), is_essential=False)
        application = make_app(settings, services)
        await frame.serve(http_server(application, settings, settings.subscriptions_port, settings.subscriptions_host))
        log.info("listening", port=settings.subscriptions_port)
        await frame.until_stopped()


def deleted_users(bus: Bus) -> Callable[[str], Awaitable[bool]]:
    """Return a function that says whether a user was deleted. The REST edge announces deletions on the bus."""
    bucket = bus.key_value(USERS_DELETED_BUCKET, bytes)

    async def is_deleted(user_id: str) -> bool:
        return await bucket.get(user_id) is not None

    return is_deleted


def notices_of(bus: Bus) -> Tell:
    """Return a function that notifies a user over the bus."""

    async def tell(notification: SendNotification) -> None:
        await bus.publish(subjects.NOTIFICATIONS_SEND, notification, notification.id)

    return tell


def plans_of(path: str) -> PlanConfiguration:
    """The plans of the file at `path`, or those of the package. Raises PlanError."""
    if not path:
        return load_plans()
    try:
        return load_plans(Path(path).read_text("utf-8"))
    except (OSError, ValueError) as error:
        raise PlanError(f"{path}: {error}") from error


async def _forget_responses(idempotency: DatabaseIdempotency) -> None:
    """Delete the stored responses that have expired, once an hour."""
    while True:
        try:
            await idempotency.delete_expired()
        except TRANSIENT_ERRORS as error:
            log.warning("expired responses not deleted", error=repr(error))
        await asyncio.sleep(CLEAN_UP_S)
