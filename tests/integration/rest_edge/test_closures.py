"""An account is closed by two persons while a third decides otherwise: either all of it is done, or nothing is."""

import asyncio
from datetime import UTC, datetime, timedelta
from typing import Any
from unittest.mock import AsyncMock

import asyncpg
import pytest

from openspot.http.errors import HttpError
from openspot.http.operators import Operator
from openspot.http.policy import Permission
from openspot.rest_edge.identity.users.deletion import AccountDeletion
from openspot.rest_edge.operators.acting import Acting
from openspot.rest_edge.operators.pending.rules import ActionKind
from openspot.rest_edge.operators.pending.service import PendingActions
from openspot.rest_edge.operators.users.two_persons import AccountClosure
from tests.support.filled_tables import insert

EVE = {"user_id": "eve", "email": "eve@example.org"}


def acting(name: str) -> Acting:
    return Acting(Operator(f"user:{name}", frozenset(), frozenset(Permission)), "as decided", "r", "192.0.2.7")


class Closing:
    """The closure of an account, with what it does outside the database noted."""

    def __init__(self, pool: asyncpg.Pool) -> None:
        self.pool = pool
        self.done: list[str] = []
        self.meanwhile: Any = AsyncMock()
        self.pending = PendingActions(pool, lambda: datetime.now(UTC), timedelta(hours=1), timedelta(hours=72))
        stubs = dict.fromkeys(("check", "second_factor", "attempts", "ended", "deleted", "outbox"), AsyncMock())
        deletion: Any = AccountDeletion(
            pool, balances=AsyncMock(engine_totals=AsyncMock(return_value={})), revoke_keys=self._revoke,
            cancel_payments=self._cancel, **stubs,
        )  # fmt: skip
        self.closure = AccountClosure(pool, self.pending, deletion)
        self.pending.use({ActionKind.ACCOUNT_CLOSURE: self.closure})

    async def _cancel(self, user_ids: Any) -> None:
        self.done.append("payments")
        await self.meanwhile()

    async def _revoke(self, user_id: str) -> None:
        self.done.append("keys")

    async def ask(self) -> str:
        await insert(self.pool, "users", EVE, role="user", email=EVE["email"])
        return (await self.closure.ask("eve", acting("ada"))).id

    async def status(self) -> str:
        return str(await self.pool.fetchval("SELECT status FROM operator_requests"))

    async def users(self) -> int:
        return int(await self.pool.fetchval("SELECT count(*) FROM users"))


@pytest.fixture
def closing(pool: asyncpg.Pool) -> Closing:
    return Closing(pool)


async def test_a_rejection_while_payments_are_cancelled_is_refused_and_the_account_is_closed(closing: Closing) -> None:
    request_id = await closing.ask()
    refused: list[HttpError] = []

    async def reject() -> None:
        with pytest.raises(HttpError) as caught:
            await closing.pending.reject(request_id, acting("cem"))
        refused.append(caught.value)

    closing.meanwhile = reject
    assert (await closing.pending.approve(request_id, acting("bob"))).status == "approved"
    assert [(error.status_code, error.code) for error in refused] == [(409, "REQUEST_BEING_DECIDED")]
    assert (closing.done, await closing.users()) == (["payments", "keys"], 0)


async def test_a_rejection_that_comes_first_leaves_payments_and_keys_alone(
    closing: Closing, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It comes after the first look at the request, and before the lock."""
    request_id = await closing.ask()
    carry_out = closing.closure.carry_out

    async def late(*given: Any) -> None:
        await closing.pending.reject(request_id, acting("cem"))
        await carry_out(*given)

    monkeypatch.setattr(closing.closure, "carry_out", late)
    with pytest.raises(HttpError, match="rejected already"):
        await closing.pending.approve(request_id, acting("bob"))
    assert (closing.done, await closing.status(), await closing.users()) == ([], "rejected", 1)


async def test_as_many_approvals_at_once_as_the_pool_has_connections_close_the_account_once(closing: Closing) -> None:
    request_id = await closing.ask()
    approvals = [closing.pending.approve(request_id, acting("bob")) for _ in range(closing.pool.get_max_size())]
    outcomes = await asyncio.gather(*approvals, return_exceptions=True)
    errors = [outcome for outcome in outcomes if isinstance(outcome, HttpError)]
    assert len(errors) == len(outcomes) - 1
    assert (closing.done, await closing.status(), await closing.users()) == (["payments", "keys"], "approved", 0)
