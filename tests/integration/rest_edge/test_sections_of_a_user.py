"""The sections of one user in the operators' routes: each has the rows of that user, all of them, and nobody else's."""

from typing import Any, NamedTuple

import asyncpg
import pytest

from openspot.contracts import subjects
from openspot.contracts.messages import LedgerHistoryReply, LedgerHistoryRequest
from openspot.http.operators import OperatorRole
from openspot.kit.bus import Bus
from openspot.ledger.handlers import RequestHandlers
from openspot.ledger.store import LedgerStore
from tests.support.authenticator import log_in, register
from tests.support.edge_operators import make_operator
from tests.support.filled_tables import insert
from tests.support.rest_client import RestClient

ADA, EVE, BOB = "ada@example.org", "eve@example.org", "bob@example.org"
SECTIONS = {
    "orders": "orderId", "trades": "tradeId", "sessions": "sessionId", "api-keys": "id", "activity": "id",
    "notifications": "id", "notes": "text", "transactions": "transactionId",
}  # fmt: skip
"""The field that tells a section's rows apart."""
WHOLE = {"sessions", "api-keys"}
"""Sections that come in one piece, because what a user can have of them is bounded."""


class Filled(NamedTuple):
    """A user with rows in every section, and what each section must show, newest first."""

    user_id: str
    shown: dict[str, list[str]]


async def filled(edge: RestClient, pool: asyncpg.Pool, email: str, first: int) -> Filled:
    """A user with three rows in every section but the notes; the numbers of the rows begin at `first`."""
    numbers = range(first, first + 3)
    user = RestClient(edge.settings)
    user_id = await register(user, email)
    for _ in range(2):
        await log_in(user, email)
    owner = {"user_id": user_id, "buyer_id": user_id}
    await insert(pool, "ledger_accounts", owner, asset="BTC")
    for number in numbers:
        at = f"2026-01-{number:02}T00:00:00Z"
        await insert(
            pool, "orders", owner, order_id=f"order-{number}", engine_order_id=number, created_at=at, symbol="BTC-USD",
        )  # fmt: skip
        await insert(
            pool, "trades", owner, trade_id=f"epoch-{number}", sequence=number, seller_id="maker", taker_side="buy",
            executed_at=at, symbol="BTC-USD",
        )  # fmt: skip
        await insert(pool, "api_keys", owner, key_id=f"key-{number}")
        await insert(pool, "notifications", owner, notification_id=f"notice-{number}", created_at=at)
        await insert(
            pool, "ledger_entries", owner, transaction_id=f"posting-{number}", asset="BTC", created_at=at,
            amount=str(number),
        )  # fmt: skip

    def newest_first(prefix: str) -> list[str]:
        return [f"{prefix}{number}" for number in reversed(numbers)]

    sessions = [row["sessionId"] for row in (await user("GET", "/users/me/sessions")).body]
    activity = [row["id"] for row in (await user("GET", "/users/me/activity")).body]
    await user.close()
    return Filled(user_id, {
        "orders": newest_first("order-"),
        "trades": newest_first("epoch-"),
        "sessions": sessions,
        "api-keys": newest_first("key-"),
        "activity": activity,
        "notifications": newest_first("notice-"),
        "notes": newest_first(f"about {email} "),
        "transactions": newest_first("posting-"),
    })  # fmt: skip


@pytest.fixture
async def ledger(bus: Bus, pool: asyncpg.Pool) -> None:
    """A ledger that tells its entries."""
    nothing: Any = None
    answer = RequestHandlers(LedgerStore(pool), nothing).history
    await bus.serve(
        subjects.LEDGER_HISTORY_GET, subjects.LEDGER_QUEUE, LedgerHistoryRequest, answer, LedgerHistoryReply.refused
    )
    await bus.check()


async def walked(edge: RestClient, path: str, limit: int) -> list[dict[str, Any]]:
    """All rows of a list, page by page. Every page but the last is full."""
    rows: list[dict[str, Any]] = []
    cursor = ""
    while True:
        reply = await edge("GET", f"{path}?limit={limit}{cursor}")
        assert reply.status == 200, reply.body
        rows += reply.body
        if "X-Next-Cursor" not in reply.headers:
            return rows
        assert len(reply.body) == limit
        cursor = f"&cursor={reply.headers['X-Next-Cursor']}"


@pytest.mark.usefixtures("ledger")
async def test_each_section_shows_all_rows_of_its_user_and_nobody_elses(edge: RestClient, pool: asyncpg.Pool) -> None:
    edge.token = None
    users = [await filled(edge, pool, EVE, 1), await filled(edge, pool, BOB, 11)]
    await make_operator(edge, pool, ADA, OperatorRole.SUPPORT)
    for user in users:
        for text in reversed(user.shown["notes"]):
            assert (await edge("POST", f"/operator/users/{user.user_id}/notes", {"text": text})).status == 201
    assert users[0].shown.keys() == SECTIONS.keys()
    for user in users:
        for section, field in SECTIONS.items():
            assert len(user.shown[section]) >= 3, section
            path = f"/operator/users/{user.user_id}/{section}"
            if section in WHOLE:
                rows = (await edge("GET", path)).body
                assert sorted(row[field] for row in rows) == sorted(user.shown[section]), section
                continue
            for limit in (1, 2, 100):
                rows = await walked(edge, path, limit)
                assert [row[field] for row in rows] == user.shown[section], (section, limit)
    # An id that nobody has is not an error: what a deleted user left is shown under its id.
    for section in SECTIONS:
        reply = await edge("GET", f"/operator/users/nobody/{section}")
        assert (reply.status, reply.body) == (200, []), section


@pytest.mark.usefixtures("ledger")
async def test_movements_are_the_ledgers_entries_with_the_balance_after_each(
    edge: RestClient, pool: asyncpg.Pool
) -> None:
    user = {"user_id": "mover"}
    for asset in ("BTC", "USD"):
        await insert(pool, "ledger_accounts", user, asset=asset)
    entries = (
        ("t1", "USD", "100", "100", "deposit"),
        ("t2", "USD", "-40.5", "59.5", "trade"),
        ("t3", "BTC", "1", "1", "trade"),
    )
    for number, (transaction, asset, amount, balance, kind) in enumerate(entries, 1):
        await insert(
            pool, "ledger_entries", user, transaction_id=transaction, asset=asset, amount=amount, balance=balance,
            entry_type=kind, reference_type=kind, reference_id=f"r{number}",
            created_at=f"2026-01-0{number}T00:00:00Z",
        )  # fmt: skip
    await make_operator(edge, pool, ADA, OperatorRole.SUPPORT)
    rows = await walked(edge, "/operator/users/mover/transactions", 2)
    assert rows == [
        {
            "transactionId": transaction, "asset": asset, "amount": amount, "balance": balance, "entryType": kind,
            "referenceType": kind, "referenceId": f"r{number}", "createdAt": f"2026-01-0{number}T00:00:00.000Z",
        }
        for number, (transaction, asset, amount, balance, kind) in reversed([*enumerate(entries, 1)])
    ]  # fmt: skip
    refused = await edge("GET", "/operator/users/mover/transactions?cursor=zzz")
    assert (refused.status, refused.message) == (400, ["cursor is not one that this list gave"])


async def test_without_the_ledger_movements_answer_503(edge: RestClient, pool: asyncpg.Pool) -> None:
    await make_operator(edge, pool, ADA, OperatorRole.SUPPORT)
    refused = await edge("GET", "/operator/users/mover/transactions")
    assert (refused.status, refused.message) == (503, "transactions cannot be read now")
