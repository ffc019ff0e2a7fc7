"""The modules of an edge on the real database, with a clock of the test and an engine of this process behind them."""

import json
from datetime import UTC, datetime, timedelta
from typing import Any

import asyncpg
from starlette.types import ASGIApp

from openspot.domain.market import load_markets
from openspot.http.api_keys.authenticator import ApiKeys
from openspot.http.audit import LogAudit
from openspot.http.authentication import UserTokens
from openspot.http.idempotency import DatabaseIdempotency
from openspot.kit.health import Health
from openspot.kit.tokens import Claims, sign
from openspot.rest_edge.app import THROTTLE_TIERS, Services, make_app
from openspot.rest_edge.keys import KeyServices
from openspot.rest_edge.modules import Modules, make_modules
from openspot.rest_edge.settings import RestEdgeSettings
from tests.support.asgi import Reply, ask
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


class EdgeModules:
    """One edge. Several on the same database and engine are several edges."""

    def __init__(
        self, pool: asyncpg.Pool, transfers: FakeTransfers | None = None, clock: Any = None, **settings: Any
    ) -> None:
        self.pool = pool
        self.transfers = transfers or FakeTransfers()
        self.queries = FakeQueries(self.transfers)
        self.bus = HeardBus()
        self.now = BEGINNING
        self.settings = RestEdgeSettings(jwt_secret=SECRET, payment_callback_secret=CALLBACK_SECRET, **settings)
        anything: Any = self.queries
        bus: Any = self.bus
        self.modules: Modules = make_modules(
            self.settings,
            pool=pool,
            bus=bus,
            engine=anything,
            transfers=self.transfers,
            configuration=load_markets(),
            clock=clock or (lambda: round(self.now.timestamp() * 1000) * 1_000_000),
            tiers=THROTTLE_TIERS,
        )
        self.app: ASGIApp = self._app()

    def _app(self) -> ASGIApp:
        nothing: Any = None
        absent: Any = Absent()
        services = Services(
            users=absent, keys=KeyServices(nothing, ApiKeys(nothing)), funds=absent, orders=nothing,
            markets=nothing, health=Health(),
            tokens=UserTokens(SECRET), throttles={}, audit=LogAudit(), modules=self.modules,
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
