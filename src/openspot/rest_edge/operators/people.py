"""Makes what operators have for people: users, actions of two persons, adjustments, verifications, lists."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from openspot.domain.market import AssetScale
from openspot.engine_client.operators import OperatorSessions
from openspot.engine_client.queries import EngineQueries
from openspot.http.routing import Router
from openspot.kit.bus import Bus
from openspot.kit.clock import utc_now
from openspot.kit.database import Pool
from openspot.kit.service_frame import ServiceFrame
from openspot.rest_edge.common.repeated_work import repeat
from openspot.rest_edge.funds.service import FundServices
from openspot.rest_edge.identity.service import KeyServices, UserServices
from openspot.rest_edge.mail.outbox import Outbox
from openspot.rest_edge.notifications.store import NotificationStore
from openspot.rest_edge.operators.adjustments.routes import adjustment_routes
from openspot.rest_edge.operators.adjustments.service import ADJUSTMENT, Adjustments
from openspot.rest_edge.operators.assignments.routes import assignment_routes
from openspot.rest_edge.operators.assignments.service import Assignments
from openspot.rest_edge.operators.booking.service import BookingApproval
from openspot.rest_edge.operators.bulk.routes import bulk_routes
from openspot.rest_edge.operators.bulk.service import BulkActions
from openspot.rest_edge.operators.downloads.routes import download_routes
from openspot.rest_edge.operators.downloads.service import DownloadLinks
from openspot.rest_edge.operators.exports import Exports
from openspot.rest_edge.operators.lists.routes import list_routes
from openspot.rest_edge.operators.lists.service import Lists
from openspot.rest_edge.operators.moves.service import AssetPrices, MoveMeans
from openspot.rest_edge.operators.moves.settling import MoveRules
from openspot.rest_edge.operators.pending.routes import request_routes
from openspot.rest_edge.operators.pending.rules import ActionKind
from openspot.rest_edge.operators.pending.service import PendingActions
from openspot.rest_edge.operators.plans.routes import plan_routes
from openspot.rest_edge.operators.plans.service import Plans
from openspot.rest_edge.operators.sums_alone import cents_alone
from openspot.rest_edge.operators.trading.routes import trading_routes
from openspot.rest_edge.operators.trading.service import OperatedTrading
from openspot.rest_edge.operators.treasury.accounts import LOOK_INTERVAL_S, HouseAccounts
from openspot.rest_edge.operators.treasury.flow_routes import flow_routes
from openspot.rest_edge.operators.treasury.flows import HOUSE_FLOW, HouseFlows
from openspot.rest_edge.operators.treasury.routes import treasury_routes
from openspot.rest_edge.operators.treasury.service import HOUSE_TRANSFER, HouseTransfers
from openspot.rest_edge.operators.users.change_routes import user_change_routes
from openspot.rest_edge.operators.users.routes import user_reading_routes
from openspot.rest_edge.operators.users.service import OperatedUsers
from openspot.rest_edge.operators.users.two_persons import AccountClosure, SecondFactorReset
from openspot.rest_edge.operators.users.views import UserViews
from openspot.rest_edge.operators.verification.routes import verification_routes
from openspot.rest_edge.operators.verification.service import Verifications
from openspot.rest_edge.operators.views.routes import view_routes
from openspot.rest_edge.orders.service import OrderService
from openspot.rest_edge.products.service import ProductServices
from openspot.rest_edge.settings import RestEdgeSettings

CENTS = 100
MOVE_RULES = MoveRules(ADJUSTMENT, HOUSE_TRANSFER, HOUSE_FLOW)
"""For the runner of transfers."""
CLEAN_UP_INTERVAL_S = 60.0
"""How often links to files that nobody used are deleted."""


@dataclass(frozen=True, slots=True)
class PeopleServices:
    """The services behind the operators' routes of people and their money."""

    users: OperatedUsers
    views: UserViews
    pending: PendingActions
    second_factor_reset: SecondFactorReset
    closure: AccountClosure
    adjustments: Adjustments
    house_accounts: HouseAccounts
    house_transfers: HouseTransfers
    house_flows: HouseFlows
    verifications: Verifications
    lists: Lists
    trading: OperatedTrading
    assignments: Assignments
    bulk: BulkActions
    plans: Plans
    exports: Exports
    downloads: DownloadLinks
    pool: Pool


def make_people_services(
    settings: RestEdgeSettings,
    pool: Pool,
    bus: Bus,
    frame: ServiceFrame,
    *,
    engine: EngineQueries,
    users: UserServices,
    keys: KeyServices,
    funds: FundServices,
    products: ProductServices,
    orders: OrderService,
    notifications: NotificationStore,
    outbox: Outbox,
    prices: AssetPrices,
    assets: Mapping[str, AssetScale],
    now: Callable[[], datetime] = utc_now,
) -> PeopleServices:
    """Make the services. The runner of products sends transfers; the levels of the house's accounts are looked at."""
    pending = PendingActions(pool, now, timedelta(seconds=settings.operator_request_s), settings.operator_roles_wait)
    reset = SecondFactorReset(pool, pending, users.activity, users.ended, now)
    closure = AccountClosure(pool, pending, users.deletion)
    means = MoveMeans(pool, products.runner, pending, prices, assets, now, cents_alone)
    adjustments = Adjustments(means, settings.adjustment_alone_limit * CENTS)
    house_transfers = HouseTransfers(means, settings.treasury_alone_limit * CENTS)
    house_flows = HouseFlows(means, settings.adjustment_alone_limit * CENTS)
    house_accounts = HouseAccounts(pool, engine, assets, now)
    repeat(frame, "check the levels of the house's accounts", house_accounts.look, LOOK_INTERVAL_S)
    downloads = DownloadLinks(pool, now)
    repeat(frame, "delete expired links to files", downloads.delete_expired, CLEAN_UP_INTERVAL_S)
    pending.use(
        {
            ActionKind.ADJUSTMENT: adjustments,
            ActionKind.SECOND_FACTOR_RESET: reset,
            ActionKind.ACCOUNT_CLOSURE: closure,
            ActionKind.HOUSE_TRANSFER: house_transfers,
            ActionKind.HOUSE_FLOW: house_flows,
            ActionKind.ENGINE_ADJUSTMENTS: BookingApproval(pool),
        }
    )
    return PeopleServices(
        users=OperatedUsers(
            pool,
            bus,
            engine,
            activity=users.activity,
            ended=users.ended,
            outbox=outbox,
            keys=keys.routes,
            now=now,
        ),
        views=UserViews(pool, orders, funds.accounts, users.sessions, keys.routes, users.activity, notifications),
        pending=pending,
        second_factor_reset=reset,
        closure=closure,
        adjustments=adjustments,
        house_accounts=house_accounts,
        house_transfers=house_transfers,
        house_flows=house_flows,
        verifications=Verifications(pool, funds.verifications, funds.stored_documents, now),
        lists=Lists(pool),
        trading=OperatedTrading(pool, orders),
        assignments=Assignments(pool, now),
        bulk=BulkActions(pool, orders),
        plans=Plans(pool, bus),
        exports=Exports(pool),
        downloads=downloads,
        pool=pool,
    )


def people_routes(prefix: str, people: PeopleServices, sessions: OperatorSessions) -> list[Router]:
    """The operators' routes of people and their money, below `prefix`."""
    return [
        user_reading_routes(prefix, people.users, people.views, people.exports),
        user_change_routes(prefix, people.users, people.second_factor_reset, people.closure),
        request_routes(prefix, people.pending, people.exports),
        adjustment_routes(prefix, people.adjustments, people.exports),
        treasury_routes(prefix, people.house_accounts, people.house_transfers, people.exports),
        flow_routes(prefix, people.house_flows, people.exports),
        verification_routes(prefix, people.verifications, people.exports),
        list_routes(prefix, people.lists),
        trading_routes(prefix, people.trading, people.exports),
        assignment_routes(prefix, people.assignments),
        bulk_routes(prefix, people.bulk, people.users, people.verifications, sessions),
        download_routes(prefix, people.downloads),
        plan_routes(prefix, people.plans, people.exports),
        view_routes(prefix, people.pool),
    ]
