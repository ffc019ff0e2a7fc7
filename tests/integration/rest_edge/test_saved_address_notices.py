"""Who saves or deletes a withdrawal address leaves an entry in the activity log and a security mail, once each."""

import asyncio
from datetime import timedelta
from typing import Any
from unittest.mock import AsyncMock

import asyncpg
import pytest

from openspot.domain.networks import load_networks
from openspot.http.errors import HttpError
from openspot.rest_edge.funds.addresses.schemas import WithdrawalAddressBody
from openspot.rest_edge.funds.addresses.service import WithdrawalAddressService
from openspot.rest_edge.funds.addresses.store import WithdrawalAddressStore
from openspot.rest_edge.identity.activity.log import ActivityLog, Origin
from openspot.rest_edge.mail.outbox import Outbox
from openspot.rest_edge.notifications.store import NotificationStore
from openspot.rest_edge.push.queue import PushQueue
from tests.support.filled_tables import insert

ADA = {"user_id": "ada", "email": "ada@example.org"}
ADDRESS = "bc1qcr8te4kr609gcawutmrza0j4xv80jy8z306fyu"
BODY = WithdrawalAddressBody.model_validate(
    {"label": "Cold storage", "asset": "BTC", "network": "bitcoin", "address": ADDRESS, "tag": "7"}
)
ORIGIN = Origin("10.0.0.9", "curl")
_NOT_YOU = "Was it not you? Reset your password and end all sessions."
SAVED_TEXT = f"""A withdrawal address was saved, for BTC on bitcoin: {ADDRESS}
Tag of the address: 7
Withdrawals can go there from 2026-03-04T12:00:00.000Z on. If you do not know it, delete it on the page of withdrawals.
{_NOT_YOU}"""
DELETED_TEXT = f"""A withdrawal address was deleted, for BTC on bitcoin: {ADDRESS}
Tag of the address: 7
{_NOT_YOU}"""


@pytest.fixture
async def addresses(pool: asyncpg.Pool) -> WithdrawalAddressService:
    """The service over a real store and log, at 12:00 on the first of March 2026."""
    await insert(pool, "users", ADA, role="user", email=ADA["email"], language="en")
    around: Any = AsyncMock()
    around.check_address.side_effect = lambda _asset, _network, address, _tag: address
    around.of_user.side_effect = lambda _user, _name, default: default
    log = ActivityLog(pool, NotificationStore(pool, Outbox(pool, 100), PushQueue(pool, 100)))
    return WithdrawalAddressService(
        WithdrawalAddressStore(pool), around, around, log, load_networks(), around, timedelta(hours=72),
        lambda: 1_772_366_400 * 10**9,
    )  # fmt: skip


async def told(pool: asyncpg.Pool) -> list[tuple[str, str]]:
    rows = await pool.fetch("SELECT kind, text FROM notifications WHERE user_id = 'ada' ORDER BY number")
    return [(row["kind"], row["text"]) for row in rows]


async def test_a_saved_address_is_told_once_however_often_it_is_sent(
    pool: asyncpg.Pool, addresses: WithdrawalAddressService
) -> None:
    await pool.execute(
        "INSERT INTO notification_settings (user_id, event, email, websocket, push)"
        " VALUES ('ada', 'withdrawal_requested', false, false, false)"
    )
    replies = await asyncio.gather(*(addresses.add("ada", BODY, ORIGIN) for _ in range(3)), return_exceptions=True)
    refused = [reply.code for reply in replies if isinstance(reply, HttpError)]
    assert (len(replies), refused) == (3, ["ADDRESS_EXISTS"] * 2)
    assert await told(pool) == [("withdrawal_address.changed", SAVED_TEXT)]
    [entry] = await pool.fetch("SELECT kind, address, user_agent FROM user_activity WHERE user_id = 'ada'")
    assert tuple(entry) == ("withdrawal_address_saved", "10.0.0.9", "curl")
    assert await pool.fetchval("SELECT count(*) FROM mail_outbox WHERE email = 'ada@example.org'") == 1


async def test_a_deleted_address_is_told_once_and_one_of_others_never(
    pool: asyncpg.Pool, addresses: WithdrawalAddressService
) -> None:
    address_id = (await addresses.add("ada", BODY, ORIGIN)).id
    with pytest.raises(HttpError, match="not found"):
        await addresses.delete("bob", address_id, ORIGIN)
    outcomes = await asyncio.gather(
        *(addresses.delete("ada", address_id, ORIGIN) for _ in range(3)), return_exceptions=True
    )
    assert sum(isinstance(outcome, HttpError) for outcome in outcomes) == 2
    assert await told(pool) == [
        ("withdrawal_address.changed", SAVED_TEXT),
        ("withdrawal_address.changed", DELETED_TEXT),
    ]
    kinds = [row["kind"] for row in await pool.fetch("SELECT kind FROM user_activity ORDER BY activity_id")]
    assert kinds == ["withdrawal_address_saved", "withdrawal_address_deleted"]


async def test_an_address_is_not_saved_if_its_entry_cannot_be_written(
    pool: asyncpg.Pool, addresses: WithdrawalAddressService
) -> None:
    await pool.execute("ALTER TABLE user_activity RENAME TO user_activity_gone")
    with pytest.raises(asyncpg.UndefinedTableError):
        await addresses.add("ada", BODY, ORIGIN)
    assert await addresses.all_of("ada") == []
