"""Staking through the edge: stakes, daily rewards, the way back, and what faults and kills leave."""

import asyncio
from datetime import UTC, datetime
from typing import Any

import asyncpg
import pytest

from openspot.domain.ids import REWARDS_ACCOUNT_ID, STAKING_ACCOUNT_ID
from openspot.http.context import new_operation
from openspot.rest_edge.products.staking.schemas import (
    ProductResponse,
    StakingEventResponse,
    UnstakeResponse,
)
from tests.support.asgi import Reply
from tests.support.edge_products import EdgeProducts

PRODUCTS = """
[products.flexible]
asset = "BTC"
type = "flexible"
apr = "0.01"
unbonding_days = 0
minimum = "0.001"
maximum = "10"
capacity = "15"

[products.slow]
asset = "BTC"
type = "flexible"
apr = "0.01"
unbonding_days = 2
minimum = "0.001"
maximum = "10"
capacity = "15"

[products.locked]
asset = "ETH"
type = "locked"
apr = "0.0365"
lock_days = 10
unbonding_days = 1
early_redemption = "forfeits_rewards"
minimum = "0.1"
maximum = "100"
capacity = "1000"

[products.strict]
asset = "ETH"
type = "locked"
apr = "0.0365"
lock_days = 10
unbonding_days = 0
early_redemption = "not_allowed"
minimum = "0.1"
maximum = "100"
capacity = "1000"
"""


@pytest.fixture
def staking_file(tmp_path: Any) -> str:
    path = tmp_path / "staking.toml"
    path.write_text(PRODUCTS)
    return str(path)


@pytest.fixture
def edge(pool: asyncpg.Pool, staking_file: str) -> EdgeProducts:
    """An edge whose users u1 and u2 have 20 BTC and 20 ETH, with 1 BTC and 1 ETH for rewards. It is noon on 1 March."""
    edge = EdgeProducts(pool, staking_file=staking_file)
    for asset in ("BTC", "ETH"):
        for user in ("u1", "u2"):
            edge.transfers.fund(user, asset, "20")
        edge.transfers.fund(REWARDS_ACCOUNT_ID, asset, "1")
    return edge


async def staked(edge: EdgeProducts, product: str = "flexible", amount: str = "1", user: str = "u1") -> Any:
    reply = await edge("POST", "/staking/stake", {"productId": product, "amount": amount}, user=user)
    assert reply.status == 201, reply.json
    return reply.json


async def unstake(edge: EdgeProducts, balance: Any, amount: str | None = None) -> Reply:
    body = {"balanceId": balance["id"]} | ({} if amount is None else {"amount": amount})
    return await edge("POST", "/staking/unstake", body)


async def shown(edge: EdgeProducts, balance: Any) -> Any:
    return (await edge("GET", f"/staking/balances/{balance['id']}")).json


async def events(edge: EdgeProducts) -> list[tuple[str, str]]:
    rows = (await edge("GET", "/staking/history?limit=1000")).json
    for row in rows:
        StakingEventResponse.model_validate(row)
    return [(row["type"], row["amount"]) for row in rows]


@pytest.mark.spec("B4.1-62", "B4.1-63")
async def test_products_are_public_and_show_the_room_that_is_left(edge: EdgeProducts) -> None:
    await staked(edge, amount="2.5")
    rows = [ProductResponse.model_validate(row) for row in (await edge("GET", "/staking/products", user=None)).json]
    assert [row.id for row in rows] == ["flexible", "locked", "slow", "strict"]
    assert (rows[0].apr, rows[0].remaining, rows[0].early_redemption) == ("0.01", "12.5", "allowed")
    one = await edge("GET", "/staking/products/locked", user=None)
    assert (one.json["lockDays"], one.json["remaining"]) == (10, "1000")
    assert (await edge("GET", "/staking/products/none", user=None)).status == 404


@pytest.mark.spec("B4.1-64", "B4.1-65", "B4.1-68")
async def test_a_stake_moves_the_amount_and_earns_from_the_next_midnight(edge: EdgeProducts) -> None:
    balance = await staked(edge, "locked", "5")
    assert balance == {
        "id": balance["id"], "productId": "locked", "asset": "ETH", "type": "locked", "amount": "5", "accrued": "0",
        "unbondingDays": 1, "earlyRedemption": "forfeits_rewards", "status": "active", "failureCode": None,
        "createdAt": "2026-03-01T12:00:00.000Z",
        "startsAt": "2026-03-02T00:00:00.000Z", "endsAt": "2026-03-12T00:00:00.000Z",
    }  # fmt: skip
    assert (edge.transfers.held("u1", "ETH"), edge.transfers.held(STAKING_ACCOUNT_ID, "ETH")) == ("15", "5")
    assert await shown(edge, balance) == balance
    assert (await edge("GET", "/staking/balances")).json == [balance]
    # Another user sees nothing of it, and cannot take it.
    assert (await edge("GET", f"/staking/balances/{balance['id']}", user="u2")).status == 404
    assert (await edge("POST", "/staking/unstake", {"balanceId": balance["id"]}, user="u2")).status == 404
    assert (await edge("GET", "/staking/balances", user="u2")).json == []


@pytest.mark.parametrize(
    ("body", "status", "said"),
    [
        ({"productId": "none", "amount": "1"}, 404, "product none not found"),
        ({"productId": "flexible", "amount": "0.0001"}, 400, ["amount must be at least 0.001 BTC"]),
        (
            {"productId": "flexible", "amount": "0.123456789"},
            400,
            ["amount must have at most 8 decimal places for BTC"],
        ),
        ({"productId": "flexible", "amount": "10.1"}, 409, "you can stake 10 BTC more in this product"),
        ({"productId": "flexible", "amount": "0"}, 400, ["amount must be greater than 0"]),
        ({"amount": "1", "apr": "9"}, 400, ["productId is required", "property apr should not exist"]),
    ],
)
async def test_a_bad_stake_names_the_field_and_the_reason(
    edge: EdgeProducts, body: dict[str, str], status: int, said: Any
) -> None:
    reply = await edge("POST", "/staking/stake", body)
    assert (reply.status, reply.json["message"]) == (status, said)
    assert edge.transfers.calls == []


async def test_a_stake_without_the_money_fails_and_takes_no_room(edge: EdgeProducts) -> None:
    edge.transfers.balances["u1", "BTC"] = 0
    reply = await edge("POST", "/staking/stake", {"productId": "flexible", "amount": "1"})
    assert (reply.status, reply.json["message"]) == (400, "RISK_NSF")
    [failed] = (await edge("GET", "/staking/balances")).json
    assert (failed["status"], failed["failureCode"]) == ("failed", "RISK_NSF")
    assert (await edge("GET", "/staking/products/flexible")).json["remaining"] == "15"


async def test_the_room_of_a_product_holds_for_all_edges_together(edge: EdgeProducts, staking_file: str) -> None:
    other = EdgeProducts(edge.pool, edge.transfers, staking_file=staking_file)
    body = {"productId": "flexible", "amount": "4"}
    calls = [each("POST", "/staking/stake", body, user=user) for each in (edge, other) for user in ("u1", "u2")]
    replies = await asyncio.gather(*calls, *(edge("POST", "/staking/stake", body, user=f"u{n}") for n in (1, 2)))
    assert sorted(reply.status for reply in replies) == [201, 201, 201, 409, 409, 409]
    assert edge.transfers.held(STAKING_ACCOUNT_ID, "BTC") == "12"


# Rewards


async def test_a_years_daily_rewards_are_the_closed_formula_to_the_last_digit(edge: EdgeProducts) -> None:
    balance = await staked(edge, amount="0.01")
    for _ in range(366):
        edge.pass_time(days=1)
        assert await edge.products.staking.accrue_due() == (1 if edge.now > datetime(2026, 3, 2, 13, tzinfo=UTC) else 0)
    assert (await shown(edge, balance))["accrued"] == "0.0001"


async def test_each_day_accrues_once_with_three_edges_at_a_time_and_after_days_of_absence(
    edge: EdgeProducts, staking_file: str
) -> None:
    balances = [await staked(edge, amount="1") for _ in range(5)]
    edges = [EdgeProducts(edge.pool, edge.transfers, staking_file=staking_file) for _ in range(3)]
    for other in edges:
        other.pass_time(days=31)
    await asyncio.gather(*(other.products.staking.accrue_due() for other in edges for _ in range(3)))
    rows = await edge.pool.fetch("SELECT balance_id, count(*), min(day), max(day) FROM staking_accruals GROUP BY 1")
    assert [(row["count"], str(row["min"]), str(row["max"])) for row in rows] == [(30, "2026-03-02", "2026-03-31")] * 5
    for balance in balances:
        # 30 days of 1 BTC at 1 %, 100,000,000 * 0.01 * 30 / 365 satoshi, floored once.
        assert (await shown(edge, balance))["accrued"] == "0.00082191"
    assert await edges[0].products.staking.accrue_due() == 0


async def test_a_kill_in_the_middle_of_an_accrual_leaves_no_part_of_it(
    edge: EdgeProducts, monkeypatch: pytest.MonkeyPatch
) -> None:
    class KilledError(BaseException):
        pass

    async def die(*_: object) -> None:
        raise KilledError

    balance = await staked(edge)
    edge.pass_time(days=5)
    with monkeypatch.context() as patch, pytest.raises(KilledError):
        patch.setattr(edge.products.staking._store, "write_accrued", die)
        await edge.products.staking.accrue_due()
    assert await edge.pool.fetchval("SELECT count(*) FROM staking_accruals") == 0
    assert await edge.products.staking.accrue_due() == 1
    assert (await shown(edge, balance))["accrued"] == "0.00010958"


# The way back


@pytest.mark.spec("B4.1-66", "B4.1-69")
async def test_a_part_is_taken_back_with_the_rewards_so_far_and_the_rest_earns_on(edge: EdgeProducts) -> None:
    balance = await staked(edge, amount="1")
    edge.pass_time(days=11)
    reply = await unstake(edge, balance, "0.4")
    assert reply.status == 201
    UnstakeResponse.model_validate(reply.json)
    # Ten whole days; the eleventh, under way, earns nothing on what is taken.
    assert (reply.json["amount"], reply.json["reward"], reply.json["status"]) == ("0.4", "0.00027397", "paid")
    assert edge.transfers.held("u1", "BTC") == "19.40027397"
    assert edge.transfers.held(STAKING_ACCOUNT_ID, "BTC") == "0.6"
    assert edge.transfers.held(REWARDS_ACCOUNT_ID, "BTC") == "0.99972603"
    left = await shown(edge, balance)
    assert (left["amount"], left["accrued"], left["status"]) == ("0.6", "0", "active")
    edge.pass_time(days=10)
    assert (await unstake(edge, balance)).json["status"] == "paid"
    # 27,397.26… + 16,438.35… satoshi: the remainder of the first part counts in the second.
    assert edge.transfers.held("u1", "BTC") == "20.00043835"
    assert (await shown(edge, balance))["status"] == "redeemed"
    assert (await unstake(edge, balance)).json["code"] == "STAKE_NOT_ACTIVE"
    assert [kind for kind, _ in await events(edge) if kind != "reward"] == [
        "reward_payout", "payout", "unstake", "reward_payout", "payout", "unstake", "stake"
    ]  # fmt: skip
    assert ("reward", "0.00002739") in await events(edge)


@pytest.mark.spec("B4.1-67")
async def test_an_unbonding_amount_earns_nothing_and_is_paid_when_its_time_has_come(edge: EdgeProducts) -> None:
    balance = await staked(edge, "slow", "1")
    taken = (await unstake(edge, balance)).json
    assert (taken["status"], taken["availableAt"]) == ("unbonding", "2026-03-03T12:00:00.000Z")
    assert (await edge("GET", "/staking/pending")).json == [taken]
    assert (await edge("GET", "/staking/pending", user="u2")).json == []
    edge.pass_time(hours=47, minutes=59)
    await edge.products.staking.accrue_due()
    await edge.products.staking.pay_due()
    assert edge.transfers.held("u1", "BTC") == "19"
    edge.pass_time(minutes=1)
    await edge.products.staking.pay_due()
    assert edge.transfers.held("u1", "BTC") == "20"
    assert (await edge("GET", "/staking/pending")).json == []
    assert (await shown(edge, balance))["accrued"] == "0"


async def test_rewards_that_the_account_cannot_pay_are_owed_and_never_make_it_negative(edge: EdgeProducts) -> None:
    edge.transfers.balances[REWARDS_ACCOUNT_ID, "BTC"] = 0
    balance = await staked(edge)
    edge.pass_time(days=11)
    taken = (await unstake(edge, balance)).json
    # The amount does not wait for the reward.
    assert (taken["status"], taken["amountPaid"], taken["rewardPaid"]) == ("paying", True, False)
    assert edge.transfers.held("u1", "BTC") == "20"
    edge.pass_time(minutes=1)
    assert await edge.products.runner.resume() == 1
    assert edge.transfers.held(REWARDS_ACCOUNT_ID, "BTC") == "0"
    pending, owed = await edge.products.runner._store.count_waiting()
    assert (pending, owed) == (1, 1)
    edge.transfers.fund(REWARDS_ACCOUNT_ID, "BTC", "1")
    edge.pass_time(minutes=10)
    assert await edge.products.runner.resume() == 1
    assert edge.transfers.held("u1", "BTC") == "20.00027397"
    assert (await shown(edge, balance))["status"] == "redeemed"


async def test_a_locked_stake_comes_back_by_itself_with_its_rewards(edge: EdgeProducts) -> None:
    balance = await staked(edge, "locked", "10")
    assert (await unstake(edge, balance, "5")).json["message"] == ["amount of a locked stake must be all of it"]
    edge.pass_time(days=40)
    await edge.products.staking.accrue_due()
    # Ten days of 10 ETH at 3.65 % and not a day more.
    [pending] = (await edge("GET", "/staking/pending")).json
    assert (pending["amount"], pending["reward"]) == ("10", "0.01")
    edge.pass_time(days=1)
    await edge.products.staking.pay_due()
    assert edge.transfers.held("u1", "ETH") == "20.01"


async def test_an_early_end_forfeits_the_rewards_or_is_refused_as_the_product_says(edge: EdgeProducts) -> None:
    locked, strict = await staked(edge, "locked", "10"), await staked(edge, "strict", "5")
    edge.pass_time(days=5)
    refused = await unstake(edge, strict)
    assert (refused.status, refused.json["message"]) == (409, "the stake is locked until 2026-03-12T00:00:00.000Z")
    assert (await unstake(edge, locked)).json["reward"] == "0"
    assert ("reward_forfeited", "0.004") in await events(edge)
    edge.pass_time(days=1)
    await edge.products.staking.pay_due()
    assert edge.transfers.held("u1", "ETH") == "15"
    assert edge.transfers.held(REWARDS_ACCOUNT_ID, "ETH") == "1"


@pytest.mark.parametrize("fault", ["lost", "late", "unsent"])
async def test_a_payout_whose_outcome_is_unknown_is_paid_once(edge: EdgeProducts, fault: str) -> None:
    balance = await staked(edge)
    edge.pass_time(days=11)
    edge.transfers.faults = [fault, fault]
    assert (await unstake(edge, balance)).json["status"] == "paying"
    edge.pass_time(seconds=2)
    assert await edge.products.runner.resume() == 2
    assert edge.transfers.held("u1", "BTC") == "20.00027397"
    assert (await shown(edge, balance))["status"] == "redeemed"


async def test_an_edge_that_is_killed_before_it_pays_leaves_the_payout_to_another(
    edge: EdgeProducts, monkeypatch: pytest.MonkeyPatch
) -> None:
    class KilledError(BaseException):
        pass

    async def die(*_: object) -> None:
        raise KilledError

    balance = await staked(edge)
    edge.pass_time(days=11)
    with monkeypatch.context() as patch, pytest.raises(KilledError):
        patch.setattr(edge.transfers, "transfer", die)
        await edge.products.staking.unstake("u1", _body(balance), new_operation())
    edge.pass_time(seconds=31)
    await edge.products.staking.pay_due()
    assert await edge.products.runner.resume() == 2
    assert edge.transfers.held("u1", "BTC") == "20.00027397"


def _body(balance: Any) -> Any:
    from openspot.rest_edge.products.staking.schemas import UnstakeBody

    return UnstakeBody.model_validate({"balanceId": balance["id"]})


async def test_two_unstakes_at_once_take_the_amount_once(edge: EdgeProducts) -> None:
    balance = await staked(edge)
    replies = await asyncio.gather(*(unstake(edge, balance) for _ in range(6)))
    assert sorted(reply.status for reply in replies) == [201] + [409] * 5
    assert edge.transfers.held("u1", "BTC") == "20"


async def test_stakes_of_an_earlier_release_keep_what_their_products_say_now(edge: EdgeProducts) -> None:
    made = {each: await staked(edge, each) for each in ("flexible", "locked", "strict")}
    gone = await staked(edge, "locked", user="u2")
    await edge.pool.execute("UPDATE staking_balances SET early_redemption = NULL")
    await edge.pool.execute("UPDATE staking_balances SET product_id = 'gone' WHERE balance_id = $1", gone["id"])
    for each, redemption in (("flexible", "allowed"), ("locked", "forfeits_rewards"), ("strict", "not_allowed")):
        assert (await shown(edge, made[each]))["earlyRedemption"] == redemption
    await edge.products.staking.accrue_due()
    rows = await edge.pool.fetch("SELECT product_id, early_redemption FROM staking_balances")
    assert {row["product_id"]: row["early_redemption"] for row in rows} == {
        "flexible": None, "locked": "forfeits_rewards", "strict": "not_allowed", "gone": None,
    }  # fmt: skip


async def test_the_history_is_paged(edge: EdgeProducts) -> None:
    await staked(edge)
    edge.pass_time(days=6)
    await edge.products.staking.accrue_due()
    first = await edge("GET", "/staking/history?limit=4")
    rest = await edge("GET", f"/staking/history?limit=4&cursor={first.header('X-Next-Cursor')}")
    assert [row["type"] for row in first.json + rest.json] == ["reward"] * 5 + ["stake"]
    assert rest.header("X-Next-Cursor") is None
