"""The composition root of the REST edge: `run` makes everything, serves until it is stopped, and ends everything."""

import asyncio
import time
from collections.abc import Sequence

from openspot.coin_networks.live import followed_networks
from openspot.coin_networks.pauses import followed_pauses
from openspot.domain.transfer import TransferKind
from openspot.engine_client.commands import EngineCommands
from openspot.engine_client.live_markets import followed_markets
from openspot.engine_client.queries import EngineQueries
from openspot.engine_transfers.engine import EngineTransfers
from openspot.http.api_keys.replays import make_replays
from openspot.http.api_keys.store import Ended
from openspot.http.audit import DatabaseAudit
from openspot.http.authentication import RevokedSessions, UserTokens
from openspot.http.idempotency import DatabaseIdempotency
from openspot.http.policy import ThrottleClass
from openspot.http.server import http_server
from openspot.http.throttle import make_throttle
from openspot.kit.clock import system_clock
from openspot.kit.database import Connection
from openspot.kit.log import get_logger
from openspot.kit.secrets_file import with_secrets
from openspot.kit.service_frame import ServiceFrame
from openspot.kit.shared_process import SharedProcess
from openspot.market_data_client.fair_prices import FairPrices
from openspot.market_data_client.price_bands import PriceBands
from openspot.market_data_client.requests import MarketDataClient
from openspot.rest_edge.alerts.judge import INTERVAL_S as ALERT_INTERVAL_S
from openspot.rest_edge.alerts.judge import AlertJudge
from openspot.rest_edge.alerts.service import AlertService
from openspot.rest_edge.alerts.store import AlertStore, Bounds
from openspot.rest_edge.app import THROTTLE_TIERS, EdgeServices, make_app, throttle_tiers
from openspot.rest_edge.common.plan_limits import PlanLimits
from openspot.rest_edge.common.repeated_work import CLEAN_UP_INTERVAL_S, repeat
from openspot.rest_edge.drawings.service import DrawingService
from openspot.rest_edge.drawings.store import DrawingStore
from openspot.rest_edge.funds.accounts.service import AccountService
from openspot.rest_edge.funds.addresses.store import delete_addresses
from openspot.rest_edge.funds.service import make_fund_services
from openspot.rest_edge.identity.auth.unproved_access import UnprovedAccess
from openspot.rest_edge.identity.service import make_key_services, make_user_services
from openspot.rest_edge.layouts.service import LayoutService
from openspot.rest_edge.layouts.store import LayoutStore
from openspot.rest_edge.mail.service import make_mail_services
from openspot.rest_edge.margin.service import MarginClient
from openspot.rest_edge.markets.service import MarketService
from openspot.rest_edge.notifications.service import make_notification_services
from openspot.rest_edge.operators.people import MOVE_RULES, make_people_services
from openspot.rest_edge.operators.service import make_operator_services
from openspot.rest_edge.operators.treasury.outside import OutsideMoney
from openspot.rest_edge.orders.cancel_timers import LOOK_INTERVAL_S, CancelTimers
from openspot.rest_edge.orders.list_store import OrderListStore
from openspot.rest_edge.orders.order_lists import OrderListService
from openspot.rest_edge.orders.service import OrderService
from openspot.rest_edge.orders.store import OrderStore
from openspot.rest_edge.orders.triggers import OrderTriggers
from openspot.rest_edge.products.service import make_product_services
from openspot.rest_edge.push.service import make_push_services
from openspot.rest_edge.settings import RestEdgeSettings
from openspot.rest_edge.site_settings.system import SystemSettings
from openspot.rest_edge.site_settings.trading import trading_rules
from openspot.rest_edge.watchlists.service import WatchlistService
from openspot.rest_edge.watchlists.store import WatchlistStore

log = get_logger("rest-edge")

CONNECTIONS_MAX = 16
MESSAGE_BYTES_AROUND_A_BODY = 8_192
"""What a message of an order connection may have beside the body of its request: id, key, token."""


async def run(settings: RestEdgeSettings, stop: asyncio.Event, shared: SharedProcess | None = None) -> None:
    """Serve the REST edge on `settings.rest_port` until `stop` is set, alone or in a process that it shares.

    Raises BusError, DatabaseUnavailableError, PortTakenError, or limits' ConfigurationError for a
    throttle storage of an unknown kind.
    """
    settings = with_secrets(settings)
    async with ServiceFrame("rest-edge", settings, stop, shared=shared) as frame:
        application = make_app(settings, await make_services(settings, frame))
        server = http_server(
            application,
            settings,
            settings.rest_port,
            settings.rest_host,
            websocket=settings.has_complete_rules,
            ws_max_size=settings.body_bytes_max + MESSAGE_BYTES_AROUND_A_BODY,
            ws_per_message_deflate=False,
        )
        await frame.serve(server)
        log.info("listening", port=settings.rest_port)
        await frame.until_stopped()


async def make_services(settings: RestEdgeSettings, frame: ServiceFrame) -> EdgeServices:
    """Make everything behind the routes. `frame` ends it in reverse order."""
    # The steps that a wrong setting makes fail come first, when nothing has to be ended yet.
    storage = settings.throttle_storage
    throttles = {kind: make_throttle(storage, tiers) for kind, tiers in throttle_tiers(settings).items()}

    replays = make_replays(storage)

    pool = await frame.connect_database(CONNECTIONS_MAX)
    bus = await frame.connect_bus()
    engine = EngineQueries(settings)
    frame.at_end(engine.close)
    frame.health.add("engine", engine.check)

    audit = DatabaseAudit(pool, settings.audit_queue_max)
    frame.at_end(audit.stop)

    revoked = RevokedSessions()
    idempotency = DatabaseIdempotency(pool)
    repeat(frame, "delete expired responses", idempotency.delete_expired, CLEAN_UP_INTERVAL_S)

    fair_prices = FairPrices(bus, time.monotonic)
    await fair_prices.follow()
    bands = PriceBands(fair_prices, time.monotonic) if settings.follows_fair_price else None

    async def offers_changed() -> None:
        products.offered.refresh()

    # From here on nothing is awaited until `products` is there.
    configuration = await followed_markets(settings, frame, offers_changed)
    accounts = AccountService(bus, engine, configuration.assets)

    async def revoke_keys(user_id: str) -> None:
        await keys.routes.revoke_all(user_id)

    async def revoke_keys_within(connection: Connection, user_id: str) -> Sequence[Ended]:
        return await keys.routes.revoke_all_within(connection, user_id)

    async def announce_keys(ended: Sequence[Ended]) -> None:
        await keys.routes.announce(ended)

    commands = EngineCommands(settings)
    frame.at_end(commands.close)
    products = make_product_services(
        settings,
        pool=pool,
        bus=bus,
        engine=engine,
        transfers=OutsideMoney(EngineTransfers(commands), commands, bus, system_clock),
        fair_prices=fair_prices,
        configuration=configuration,
        clock=system_clock,
        further={TransferKind.ADJUSTMENT: MOVE_RULES, TransferKind.TREASURY: MOVE_RULES},
    )
    mail = make_mail_services(settings, pool, frame)
    push = make_push_services(settings, settings.mail_from, pool, frame)
    notifications = make_notification_services(pool, bus, mail.outbox, push.queue, configuration.assets, frame)
    users = await make_user_services(
        settings,
        pool,
        bus,
        frame,
        revoked=revoked,
        mail=mail,
        notifications=notifications.store,
        active_stake=products.active_stake,
        balances=accounts,
        cancel_payments=products.cancel_unpaid,
        revoke_keys=revoke_keys,
        unproved=UnprovedAccess(revoke_keys_within, announce_keys, delete_addresses),
    )
    keys = await make_key_services(settings, pool, bus, frame, replays=replays, users=users)
    networks = await followed_networks(frame, pool, configuration.assets, follows=settings.follows_listings)
    pauses = await followed_pauses(frame, pool)
    funds = await make_fund_services(
        settings,
        pool,
        bus,
        frame,
        notifications=notifications.store,
        engine=engine,
        accounts=accounts,
        second_factor=users.second_factor,
        activity=users.activity,
        fair_prices=fair_prices,
        configuration=configuration,
        networks=networks,
        pauses=pauses,
        payment_fees=products.payment_routes,
    )
    products.start(frame)
    orders = OrderService(
        bus,
        OrderStore(pool),
        system_clock,
        settings.request_timeout_s,
        has_complete_rules=settings.has_complete_rules,
    )
    cancel_timers = CancelTimers(pool, orders.cancel_all_open, notifications.store)
    if settings.has_complete_rules:
        repeat(frame, "cancel orders by their timers", cancel_timers.carry_out_due, LOOK_INTERVAL_S)
    markets = MarketService(engine, MarketDataClient(bus), configuration.limits, bands, settings.rules)
    alert_store = AlertStore(pool)
    judge = AlertJudge(pool, alert_store, notifications.store, fair_prices.all)
    repeat(frame, "judge price alerts", judge.judge, ALERT_INTERVAL_S)
    tokens = UserTokens(settings.jwt_secret, revoked)
    return EdgeServices(
        users=users,
        keys=keys,
        notifications=notifications,
        devices=push.devices,
        funds=funds,
        products=products,
        orders=orders,
        order_lists=OrderListService(bus, OrderListStore(pool), orders, system_clock, settings.request_timeout_s),
        order_triggers=OrderTriggers(bus),
        cancel_timers=cancel_timers,
        markets=markets,
        margin=MarginClient(bus),
        alerts=AlertService(
            alert_store,
            Bounds(settings.price_alerts_user_max, settings.price_alerts_max),
            PlanLimits(bus, pool),
            markets.market,
        ),
        watchlists=WatchlistService(WatchlistStore(pool), markets.market),
        drawings=DrawingService(DrawingStore(pool), markets.market),
        layouts=LayoutService(LayoutStore(pool)),
        people=make_people_services(
            settings,
            pool,
            bus,
            frame,
            engine=engine,
            users=users,
            keys=keys,
            funds=funds,
            products=products,
            orders=orders,
            notifications=notifications.store,
            outbox=mail.outbox,
            prices=fair_prices,
            assets=configuration.assets,
        ),
        operators=await make_operator_services(
            settings,
            pool,
            bus,
            frame,
            tokens=tokens,
            ended=users.ended,
            custody_reserves=funds.custody.reserves,
            assets=configuration.assets,
            pauses=pauses,
        ),
        system=SystemSettings(settings, THROTTLE_TIERS[ThrottleClass.STANDARD], system_clock),
        trading=trading_rules(settings),
        health=frame.health,
        tokens=tokens,
        throttles=throttles if settings.throttle_enabled else {},
        audit=audit,
        idempotency=idempotency,
    )
