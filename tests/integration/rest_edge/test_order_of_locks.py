"""An account is deleted while something else of its user changes and is told: neither waits for the other."""

import asyncio
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace
from typing import Any
from unittest.mock import AsyncMock

import asyncpg
import pytest

from openspot.http.api_keys.store import ApiKeyStore
from openspot.http.ended_sessions import SessionOverError
from openspot.http.errors import HttpError
from openspot.kit.database import Connection
from openspot.kit.sealing import Sealer
from openspot.kit.token_hash import token_hash
from openspot.rest_edge.alerts.judge import AlertJudge
from openspot.rest_edge.alerts.store import AlertStore
from openspot.rest_edge.funds.addresses.notices import address_deleted, address_saved
from openspot.rest_edge.funds.addresses.store import SavedAddress, WithdrawalAddressStore
from openspot.rest_edge.funds.documents.store import DocumentBounds, DocumentStore
from openspot.rest_edge.funds.kyc.rules import KycLevel, RejectType, Review, ReviewAnswer, ReviewStatus
from openspot.rest_edge.funds.kyc.store import KycStore
from openspot.rest_edge.identity.activity.log import ActivityKind, ActivityLog, Origin
from openspot.rest_edge.identity.api_keys.service import ApiKeyService
from openspot.rest_edge.identity.auth.mail_proof import MailProof
from openspot.rest_edge.identity.users.deletion import AccountDeletion
from openspot.rest_edge.mail.outbox import Outbox
from openspot.rest_edge.mail.tokens import MailTokens
from openspot.rest_edge.notifications.store import NotificationStore
from openspot.rest_edge.operators.users.two_persons import SecondFactorReset
from openspot.rest_edge.orders.cancel_timers import CancelTimers
from openspot.rest_edge.push.encryption import DeviceKeys
from openspot.rest_edge.push.queue import PushQueue
from openspot.rest_edge.push.subscriptions import PushSubscriptions
from tests.support.filled_tables import insert
from tests.support.waiting import eventually
from tests.unit.rest_edge.test_withdrawal_operations import SAVED

ADA = {"user_id": "ada", "email": "ada@example.org"}
NOW = datetime.now(UTC)
TOKEN = "a-token-of-a-mail"
REJECTED = Review(KycLevel.VERIFIED, ReviewStatus.COMPLETED, ReviewAnswer.RED, RejectType.FINAL, NOW)
_IS_WAITING = """
    SELECT EXISTS (SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock')
"""


class Changes:
    """What changes rows of ada beside her deletion. Each may find that she is gone."""

    def __init__(self, pool: asyncpg.Pool) -> None:
        self._pool = pool
        self._notifications = NotificationStore(pool, Outbox(pool, 100), PushQueue(pool, 100))
        self._activity = ActivityLog(pool, self._notifications)
        self._profiles = KycStore(pool, Sealer("s" * 32), self._notifications)

    async def the_provider_decides(self) -> None:
        await self._profiles.take_event("e", "ada", REJECTED, NOW)

    async def an_operator_decides(self) -> None:
        async def record(connection: Connection, profile: Any) -> None:
            await self._activity.record("ada", ActivityKind.PROFILE_CHANGED, Origin(), connection)

        await self._profiles.change("ada", lambda profile: profile, NOW, beside=record)

    async def a_check_is_closed(self) -> None:
        async def notify(connection: Connection, user_id: str) -> None:
            await self._activity.record(user_id, ActivityKind.MFA_RESET, Origin(), connection)

        store = DocumentStore(self._pool, Sealer("s" * 32), DocumentBounds(9, 9, 9))
        await store.close_abandoned(NOW, 9, NOW, notify)

    async def a_timer_runs_out(self) -> None:
        await CancelTimers(self._pool, AsyncMock(return_value=["an-order"]), self._notifications).carry_out_due()

    async def an_alert_is_passed_over_and_another_fires(self) -> None:
        await AlertJudge(self._pool, AlertStore(self._pool), self._notifications, dict).judge()

    async def an_operator_revokes_keys(self) -> None:
        async def note(connection: Connection, ids: list[str]) -> None:
            await self._activity.record("ada", ActivityKind.API_KEY_REVOKED_BY_OPERATOR, Origin(), connection)

        any_: Any = AsyncMock()
        keys = ApiKeyService(ApiKeyStore(self._pool), any_, any_, any_, any_, any_, lambda: 0)  # type: ignore[arg-type]
        await keys.revoke_for_operator("ada", None, note)

    async def an_address_is_verified(self) -> None:
        proof: Any = MailProof(
            pool=self._pool, tokens=MailTokens(self._pool), activity=self._activity,
            **dict.fromkeys(
                ("store", "outbox", "passwords", "attempts", "ended", "revoke_keys", "unproved"), AsyncMock()
            ),
        )  # fmt: skip
        with pytest.raises(HttpError, match="unknown"):
            await proof.verify(TOKEN, Origin())

    async def a_second_factor_is_reset(self) -> None:
        reset: Any = SecondFactorReset(self._pool, AsyncMock(), self._activity, AsyncMock(), lambda: NOW)
        with pytest.raises(HttpError, match="factor"):
            await reset.carry_out(SimpleNamespace(user_id="ada", requested_by="user:bob"), "bob", AsyncMock())

    async def an_address_to_withdraw_to_is_deleted(self) -> None:
        async def note(connection: Connection, deleted: SavedAddress) -> None:
            kind = ActivityKind.WITHDRAWAL_ADDRESS_DELETED
            await self._activity.record("ada", kind, Origin(), connection, notice=address_deleted(deleted))

        await WithdrawalAddressStore(self._pool).delete("ada", "an-address", note)

    async def an_address_to_withdraw_to_is_saved(self) -> None:
        async def note(connection: Connection, saved: SavedAddress) -> None:
            kind = ActivityKind.WITHDRAWAL_ADDRESS_SAVED
            await self._activity.record("ada", kind, Origin(), connection, notice=address_saved(saved))

        # Erased again as a late record (identity/users/deletion.py): nothing of the table refers to its user.
        await WithdrawalAddressStore(self._pool).add("ada", SAVED, 7, note)

    async def a_device_takes_the_place_of_an_ended_one(self) -> None:
        with pytest.raises(SessionOverError):
            await PushSubscriptions(self._pool).add("new", "ada", "s", "https://new.example", DeviceKeys(b"k", b"s"))


CHANGES = [name for name in vars(Changes) if not name.startswith("_")]


@pytest.fixture
async def ada(pool: asyncpg.Pool) -> asyncpg.Pool:
    """A database in which ada has a row of everything that changes."""
    ago = str(NOW - timedelta(days=1))
    await insert(pool, "users", ADA, role="user", email=ADA["email"])
    await insert(pool, "kyc_profiles", ADA, status="pending", level=1, provider_reference="r", updated_at=ago)
    await insert(pool, "cancel_timers", ADA, timeout_s=1, fires_at=ago, had_orders=True)
    await insert(
        pool, "api_keys", ADA, revoked_at=None, algorithm="ed25519", sealed_secret=None, public_key="\\x01",
        scopes=["read"], networks=[],
    )  # fmt: skip
    for alert_id, waits_for, level in (("armed-again", "above", 100), ("fires", "below", 110)):
        await insert(
            pool, "price_alerts", ADA, alert_id=alert_id, symbol="BTC-USD", source="last_trade", direction="below",
            price=100, repeats=True, rearm_distance=None, waits_for=waits_for, level=level, seen_at=ago,
        )  # fmt: skip
    await pool.execute("INSERT INTO price_alert_markets VALUES ('BTC-USD', $1, 0)", NOW - timedelta(days=1))
    await insert(
        pool, "market_trades", ADA, symbol="BTC-USD", sequence=1, taker_side="buy", price=105, executed_at=str(NOW)
    )
    await insert(pool, "user_mfa", ADA, enabled_at=ago)
    await insert(pool, "mail_tokens", ADA, kind="verify_email", expires_at=str(NOW + timedelta(days=1)))
    await pool.execute("UPDATE mail_tokens SET token_hash = $1", token_hash(TOKEN))
    await insert(pool, "user_sessions", ADA, session_id="s")
    await insert(pool, "withdrawal_addresses", ADA, address_id="an-address", asset="BTC", network="bitcoin")
    await insert(pool, "push_subscriptions", ADA, session_id="s", subscription_id="old")
    return pool


@pytest.mark.parametrize("name", CHANGES)
async def test_an_account_is_deleted_beside(ada: asyncpg.Pool, name: str) -> None:
    change: Callable[[], Awaitable[None]] = getattr(Changes(ada), name)
    tasks: list[asyncio.Task[None]] = []

    async def interleaved(*_: Any) -> bool:
        """The deletion has locked the user. Go as far with the change as that lets it."""
        tasks.append(asyncio.ensure_future(change()))

        async def is_held_up() -> bool:
            return tasks[0].done() or bool(await ada.fetchval(_IS_WAITING))

        await eventually(is_held_up)
        return True

    stubs = dict.fromkeys(
        ("check", "second_factor", "attempts", "ended", "revoke_keys", "cancel_payments", "deleted"), AsyncMock()
    )
    deletion: Any = AccountDeletion(
        ada, outbox=SimpleNamespace(add=interleaved), balances=AsyncMock(engine_totals=AsyncMock(return_value={})),
        **stubs,
    )  # fmt: skip
    await deletion.close("ada", AsyncMock(), AsyncMock())
    await tasks[0]
    assert await ada.fetchval("SELECT count(*) FROM users") == 0
