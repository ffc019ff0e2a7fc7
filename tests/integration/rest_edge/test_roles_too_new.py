"""Whoever makes an operator is not alone two persons of one decision: not with them, nor by two whom they have made."""

from datetime import UTC, datetime, timedelta
from typing import Any

import asyncpg
import pytest

from openspot.custody.settings import CustodySettings
from openspot.custody.withdrawals import WithdrawalError, Withdrawals
from openspot.domain.networks import load_networks
from openspot.http.errors import HttpError
from openspot.http.operator_store import made_together_with
from openspot.http.operators import Operator, OperatorRole
from openspot.http.policy import Permission
from openspot.kit.clock import ms_from_datetime
from openspot.kit.settings import load
from openspot.rest_edge.operators.acting import Acting
from openspot.rest_edge.operators.pending.rules import ActionKind, OperatorRequest
from openspot.rest_edge.operators.pending.service import Approval, PendingActions
from openspot.rest_edge.operators.trail import OperatorAction, record_action
from openspot.rest_edge.settings import RestEdgeSettings
from tests.support.custody import BY, CustodyBench
from tests.support.edge_operators import make_operator
from tests.support.fake_engine_http import FakeEngineHttp
from tests.support.rest_client import RestClient

WAIT = timedelta(hours=72)


async def give(pool: asyncpg.Pool, giver: str, taker: str, after: str | None, before: str | None = None) -> None:
    """An entry of the trail: `taker` has these roles from now on."""
    action = OperatorAction(
        giver, "operators.roles", "user", taker, "as decided", {"roles": before}, {"roles": after}
    )  # fmt: skip
    async with pool.acquire() as connection, connection.transaction():
        await record_action(connection, action)


class Decided:
    """What is decided does nothing else."""

    permission = Permission.USERS_CLOSE

    async def carry_out(self, request: OperatorRequest, approver: str, approval: Approval) -> None:
        async with self.pool.acquire() as connection, connection.transaction():
            await approval.check(connection)
            await approval.write(connection)

    def __init__(self, pool: asyncpg.Pool) -> None:
        self.pool = pool


async def decide(
    pool: asyncpg.Pool, first: str, second: str, *, later: timedelta = timedelta(), wait: Any = WAIT
) -> str:
    """One asks and the other approves, `later` than now. Returns what became of it."""
    pending = PendingActions(pool, lambda: datetime.now(UTC) + later, timedelta(hours=1), wait)
    pending.use({ActionKind.ACCOUNT_CLOSURE: Decided(pool)})

    def acting(name: str) -> Acting:
        return Acting(Operator(name, frozenset(), frozenset(Permission)), "as decided", "r", "")

    async with pool.acquire() as connection, connection.transaction():
        asked = await pending.ask(connection, acting(first), ActionKind.ACCOUNT_CLOSURE, "eve", {}, is_single=False)
    try:
        return (await pending.approve(asked.request_id, acting(second))).status
    except HttpError as error:
        return str(error.code)


async def test_giver_and_receiver_of_a_role_do_not_decide_together_until_the_wait_is_over(pool: asyncpg.Pool) -> None:
    await give(pool, "user:Ada", "bob", "ADMINISTRATOR")
    await give(pool, "user:bob", "cem", "TREASURY")
    await give(pool, "engine:root", "Dora", "TREASURY,SUPPORT", "SUPPORT")
    await give(pool, "engine:root", "emil", "TREASURY")
    for first, second in (
        ("user:Ada", "user:bob"),
        ("user:bob", "user:Ada"),
        # By one between them, and two whom one has made.
        ("user:Ada", "user:cem"),
        ("user:Dora", "user:emil"),
        ("user:emil", "engine:root"),
        ("user:emil", "user:root"),
    ):
        assert await decide(pool, first, second) == "ROLES_TOO_NEW"
        assert await decide(pool, first, second, later=WAIT + timedelta(minutes=1)) == "approved"
        assert await decide(pool, first, second, wait=timedelta()) == "approved"
    assert await decide(pool, "user:cem", "user:emil") == "approved"


async def test_neither_a_role_that_is_taken_nor_one_given_by_a_command_connects(pool: asyncpg.Pool) -> None:
    await give(pool, "user:ada", "bob", "SUPPORT", "SUPPORT,TREASURY")
    await give(pool, "user:ada", "bob", None, "SUPPORT")
    await give(pool, "shell:root", "bob", "TREASURY")
    await give(pool, "shell:root", "cem", "TREASURY")
    assert await decide(pool, "user:ada", "user:bob") == "approved"
    assert await decide(pool, "user:bob", "user:cem") == "approved"


async def test_linked_accounts_count_and_taking_a_role_again_hides_nothing(pool: asyncpg.Pool) -> None:
    await give(pool, "user:ada", "bob", "TREASURY")
    await give(pool, "user:ada", "bob", None, "TREASURY")
    await pool.execute(
        "INSERT INTO owner_links (first_user_id, second_user_id, reason, linked_by) VALUES"
        " ('ada', 'ada2', 'x', 'x'), ('bob', 'bob2', 'x', 'x')"
    )
    assert await decide(pool, "user:ada2", "user:bob2") == "ROLES_TOO_NEW"
    async with pool.acquire() as connection:
        since = datetime.now(UTC) - WAIT
        assert await made_together_with(connection, ["bob"], since) == {"ada", "bob"}


async def test_approvers_of_a_withdrawal_are_bound_alike(pool: asyncpg.Pool) -> None:
    custody = CustodyBench(pool)
    waiting = Withdrawals(pool, load_networks(), dict, {}, custody.time, roles_wait=WAIT)
    await give(pool, "engine:olivia", "tessa", "TREASURY")
    await give(pool, "user:tessa", "Uwe", "TREASURY")
    # The clock of custody's tests runs ahead.
    custody.time.nanoseconds = ms_from_datetime(datetime.now(UTC)) * 1_000_000
    withdrawal = await custody.create("1.5")
    await waiting.approve(withdrawal.withdrawal_id, "user:tessa", BY)
    for name in ("olivia", "user:uwe"):
        with pytest.raises(
            WithdrawalError, match="user:tessa has approved already, and one of you gave the other a role"
        ):
            await waiting.approve(withdrawal.withdrawal_id, name, BY)
    assert await pool.fetchval("SELECT count(*) FROM custody_approvals") == 1
    custody.time.pass_seconds(WAIT.total_seconds() + 60)
    await waiting.approve(withdrawal.withdrawal_id, "olivia", BY)


async def test_an_administrator_cannot_use_a_second_account_that_they_give_a_role_to(
    edge: RestClient, pool: asyncpg.Pool, engine: FakeEngineHttp
) -> None:
    """Through the routes: the setting is on by default."""
    own, why = RestClient(edge.settings), {"reason": "as decided"}
    await make_operator(own, pool, "second@example.org", OperatorRole.SUPPORT)
    second = str(await pool.fetchval("SELECT user_id FROM users"))
    await make_operator(edge, pool, "ada@example.org", OperatorRole.ADMINISTRATOR)
    await pool.execute("INSERT INTO users VALUES ('eve', 'eve@example.org', 'x', 'user', now(), now())")
    given = {"roles": ["SUPPORT", "ADMINISTRATOR"], "expected": ["SUPPORT"]} | why
    assert (await edge("PUT", f"/operator/operators/{second}/roles", given)).status == 200
    asked = await edge("POST", "/operator/users/eve/closure", why)
    assert asked.status == 202
    refused = await own("POST", f"/operator/requests/{asked.body['id']}/approval", why)
    assert (refused.status, refused.code) == (403, "ROLES_TOO_NEW")
    await own.close()


async def test_without_the_wait_they_are_two_persons_at_once(pool: asyncpg.Pool) -> None:
    """And custody has the same setting."""
    assert load(CustodySettings).operator_roles_wait == load(RestEdgeSettings).operator_roles_wait == WAIT
    at_once = load(CustodySettings, operator_roles_wait_s=0).operator_roles_wait
    await give(pool, "user:ada", "bob", "TREASURY")
    assert await decide(pool, "user:ada", "user:bob", wait=at_once) == "approved"
