"""The subscription service in this process, at a time that the test sets."""

import json
from datetime import UTC, date, datetime, timedelta
from typing import Any

import asyncpg

from openspot.contracts.messages import SendNotification
from openspot.domain.transfer import TransferKind
from openspot.engine_transfers.model import Transfer, TransferRules
from openspot.engine_transfers.runner import TransferRunner
from openspot.engine_transfers.store import TransferStore
from openspot.http.audit import LogAudit
from openspot.http.authentication import UserTokens
from openspot.http.idempotency import DatabaseIdempotency
from openspot.kit.health import Health
from openspot.kit.tokens import Claims, sign
from openspot.subscriptions.app import SubscriptionServices, make_app
from openspot.subscriptions.billing import Billing
from openspot.subscriptions.charging import ChargeRules, RefundRules
from openspot.subscriptions.metrics import TRANSFERS
from openspot.subscriptions.plans import PlanConfiguration, load_plans
from openspot.subscriptions.renewals import Renewals
from openspot.subscriptions.settings import SubscriptionSettings
from openspot.subscriptions.store import SubscriptionStore
from tests.support.asgi import Reply, ask
from tests.support.fake_transfers import FakeTransfers

SECRET = "test-secret-of-at-least-thirty-two-bytes"
EXPIRES = 2**33


def token_of(user_id: str, **claims: Any) -> str:
    """An access token that does not expire."""
    return sign(Claims(user_id, "user", EXPIRES, **claims), SECRET, 1)


class SubscriptionShop:
    """The service behind its pipeline. `pool` is that of its database."""

    def __init__(self, pool: asyncpg.Pool, today: date, configuration: PlanConfiguration | None = None) -> None:
        self.pool = pool
        self.time = datetime.combine(today, datetime.min.time(), UTC) + timedelta(hours=12)
        self.engine = FakeTransfers()
        self.told: list[SendNotification] = []
        """What users were notified of, once for each id, as the bus does."""
        self.deleted: set[str] = set()
        """Users who deleted their accounts."""
        self.configure(configuration or load_plans())

    def configure(self, configuration: PlanConfiguration) -> None:
        """Go on with other plans, as after a restart."""
        self.store = SubscriptionStore(self.pool, configuration.retry_days)
        transfers = TransferStore(self.pool, table="subscription_transfers")
        rules = ChargeRules(self.store, transfers, configuration.retry_days, self._tell)
        kinds: dict[TransferKind, TransferRules[Transfer]] = {
            TransferKind.SUBSCRIPTION: rules, TransferKind.REFUND: RefundRules(),
        }  # fmt: skip
        self.runner = TransferRunner(transfers, self.engine, kinds, TRANSFERS, lambda: self.time)
        self.billing = Billing(self.store, configuration, rules, transfers, self.runner, lambda: self.time)
        self.renewals = Renewals(
            self.store, configuration, rules, transfers, self.runner, self._is_deleted, lambda: self.time
        )
        services = SubscriptionServices(
            self.billing, Health(), UserTokens(SECRET), {}, LogAudit(), DatabaseIdempotency(self.pool, claim_s=0.01)
        )
        self.app = make_app(SubscriptionSettings(), services)

    def fund(self, *users: str, amount: str = "100000") -> None:
        """Put US dollars and the payment token into the users' spot accounts."""
        for user in users:
            for asset in ("USD", "USDT"):
                self.engine.fund(user, asset, amount)

    async def _tell(self, notification: SendNotification) -> None:
        if notification.id not in {told.id for told in self.told}:
            self.told.append(notification)

    async def _is_deleted(self, user_id: str) -> bool:
        return user_id in self.deleted

    async def __call__(
        self, user_id: str, method: str, path: str, body: Any = None, *, key: str = "", **claims: Any
    ) -> Reply:
        """A request of a user, none for an empty id."""
        headers = {"authorization": f"Bearer {token_of(user_id, **claims)}"} if user_id else {}
        if key:
            headers["idempotency-key"] = key
        raw = b"" if body is None else json.dumps(body).encode()
        if raw:
            headers["content-type"] = "application/json"
        target, _, query = path.partition("?")
        return await ask(self.app, method, target, raw, headers, query)

    async def good(self, user_id: str, method: str, path: str, body: Any = None, **options: Any) -> Any:
        """The body of a reply that must be a success."""
        reply = await self(user_id, method, path, body, **options)
        assert reply.status in (200, 201), reply.body
        return reply.json

    async def pass_days(self, days: int) -> int:
        """Let days pass, with a run of the renewals on each; returns how many steps were done."""
        steps = 0
        for _ in range(days):
            self.time += timedelta(days=1)
            steps += await self.renewals.run_due()
        return steps

    async def charged(self) -> list[tuple[str, int, str]]:
        """(user, period number, status) of every payment."""
        rows = await self.pool.fetch(
            "SELECT user_id, period_number, status FROM subscription_payments ORDER BY payment_number"
        )
        return [(row[0], row[1], row[2]) for row in rows]
