"""The products of an edge on the real database, with a clock of the test and an engine of this process behind them.

The routes of fees and settings work too.
"""

import json
from datetime import UTC, datetime, timedelta
from typing import Any

import asyncpg
from starlette.types import ASGIApp

from openspot.coin_networks.pauses import FollowedPauses
from openspot.domain.market import load_markets
from openspot.domain.networks import load_networks
from openspot.http.api_keys.authenticator import ApiKeys
from openspot.http.audit import LogAudit
from openspot.http.authentication import UserTokens
from openspot.http.idempotency import DatabaseIdempotency
from openspot.http.policy import ThrottleClass
from openspot.kit.health import Health
from openspot.kit.tokens import Claims, sign
from openspot.rest_edge.app import THROTTLE_TIERS, EdgeServices, make_app
from openspot.rest_edge.funds.fees.network_fees import FeeQuotes
from openspot.rest_edge.funds.fees.service import FeeServices, make_fee_services
from openspot.rest_edge.identity.service import KeyServices
from openspot.rest_edge.margin.service import MarginClient
from openspot.rest_edge.notifications.preference_service import NotificationPreferenceService
from openspot.rest_edge.notifications.service import NotificationServices
from openspot.rest_edge.products.service import ProductServices, make_product_services
from openspot.rest_edge.settings import RestEdgeSettings
from openspot.rest_edge.site_settings.system import SystemSettings
from openspot.rest_edge.site_settings.trading import trading_rules
from tests.support.asgi import Reply, ask
from tests.support.edge_operators import without_operators
from tests.support.fair_prices import KnownPrices
from tests.support.fake_transfers import FakeQueries, FakeTransfers

SECRET = "test-secret-of-at-least-thirty-two-bytes"
CALLBACK_SECRET = "callback-secret-of-thirty-two-bytes-or-more"
BEGINNING = datetime(2026, 3, 1, 12, tzinfo=UTC)


class Absent:
    """A group of services of which there is none."""

    def __getattr__(self, name: str) -> None:
        return None


class HeardBus:
    """Keeps what is published, once for each message id, as the real bus does."""

    def __init__(self) -> None:
        self.published: dict[str, tuple[str, Any]] = {}
        self.on_publish: Any = None

    async def publish(self, subject: str, message: Any, message_id: str) -> None:
        is_new = message_id not in self.published
        self.published[message_id] = (subject, message)
        if is_new and self.on_publish is not None:
            self.on_publish(message)


class EdgeProducts:
    """One edge. Several on the same database and engine are several edges."""

    def __init__(
        self,
        pool: asyncpg.Pool,
        transfers: FakeTransfers | None = None,
        clock: Any = None,
        fair_prices: KnownPrices | None = None,
        **settings: Any,
    ) -> None:
        self.pool = pool
        self.transfers = transfers or FakeTransfers()
        self.queries = FakeQueries(self.transfers)
        self.fair_prices = fair_prices or KnownPrices()
        self.bus = HeardBus()
        self.now = BEGINNING
        self.settings = RestEdgeSettings(
            jwt_secret=SECRET, payment_callback_secret=CALLBACK_SECRET, **({"conversion_standing_s": 0} | settings)
        )
        anything: Any = self.queries
        bus: Any = self.bus
        configuration = load_markets()
        self._clock = clock or (lambda: round(self.now.timestamp() * 1000) * 1_000_000)
        self.products: ProductServices = make_product_services(
            self.settings,
            pool=pool,
            bus=bus,
            engine=anything,
            transfers=self.transfers,
            fair_prices=self.fair_prices,
            configuration=configuration,
            clock=self._clock,
            further={},
        )
        self.fees: FeeServices = make_fee_services(
            self.settings,
            engine=anything,
            quotes=FeeQuotes(pool),
            networks=load_networks(),
            pauses=FollowedPauses(pool),
            assets=configuration.assets,
            payment_fees=self.products.payment_routes,
            clock=self._clock,
        )
        self.app: ASGIApp = self._app()

    def _app(self) -> ASGIApp:
        nothing: Any = None
        absent: Any = Absent()
        funds: Any = Absent()
        funds.fees = self.fees
        bus: Any = self.bus
        services = EdgeServices(
            users=absent, keys=KeyServices(nothing, ApiKeys(nothing)), funds=funds, orders=nothing,
            cancel_timers=nothing, order_lists=nothing, order_triggers=nothing, alerts=nothing, watchlists=nothing,
            drawings=nothing, layouts=nothing, devices=nothing,
            notifications=NotificationServices(nothing, NotificationPreferenceService(self.pool)),
            markets=nothing, margin=MarginClient(bus), health=Health(), people=absent,
            operators=without_operators(),
            system=SystemSettings(self.settings, THROTTLE_TIERS[ThrottleClass.STANDARD], self._clock),
            trading=trading_rules(self.settings),
            tokens=UserTokens(SECRET), throttles={}, audit=LogAudit(), products=self.products,
            idempotency=DatabaseIdempotency(self.pool),
        )  # fmt: skip
        return make_app(self.settings, services)

    def pass_time(self, **amount: float) -> None:
        """Set the clock forward."""
        self.now += timedelta(**amount)

    async def __call__(
        self,
        method: str,
        path: str,
        body: Any = None,
        *,
        user: str | None = "u1",
        raw: bytes | None = None,
        headers: dict[str, str] | None = None,
    ) -> Reply:
        """Send a request as `user`, or as nobody."""
        path, _, query = path.partition("?")
        sent = dict(headers or {})
        if user is not None:
            sent["authorization"] = f"Bearer {sign(Claims(user, 'user', 2**33), SECRET, 1)}"
        data = raw if raw is not None else (b"" if body is None else json.dumps(body).encode())
        if data:
            sent["content-type"] = "application/json"
        return await ask(self.app, method, f"/api/v1{path}", data, sent, query)
