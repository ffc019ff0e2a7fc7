"""What the services wrote about money is compared with the engine: every row that differs is named with its id."""

import json
from typing import Any

import asyncpg

from openspot.contracts.gen.exchange.v1 import accounts_pb2 as pb
from openspot.kit.settings import as_part
from openspot.reconcile.settings import ReconcileSettings
from tests.support.filled_tables import insert
from tests.support.mirrored_market import MirroredMarket

USER = {"user_id": "alice", "participant_id": "alice"}


async def move(market: MirroredMarket, table: str, reference: str, *movements: tuple[str, str, str, str]) -> None:
    """A transfer at the engine, and its decided row in a service's table."""
    request = pb.TransferRequest(
        reference=reference,
        kind="conversion",
        movements=[
            pb.Movement(from_participant_id=source, to_participant_id=to, currency=asset, amount=amount)
            for source, to, asset, amount in movements
        ],
    )
    answer = await market.engine.accounts.Transfer(request)
    assert answer.success, answer
    more: dict[str, Any] = {"account_id": "m-1", "loan_id": "l-1"} if table == "margin_transfers" else {}
    await insert(market.pool, table, USER, reference=reference, movements=list(map(list, movements)), **more)


async def write_rows(market: MirroredMarket) -> None:
    """A conversion, a stake that is partly taken back, a payment, a loan, a deposit and a withdrawal."""
    pool = market.pool
    await market.deposit("house:payments", "USD", "100")
    await market.deposit("house:conversions", "BTC", "1")
    await market.deposit("house:rewards", "USD", "1")
    await market.deposit("house:adjustments", "USD", "5")
    await market.deposit("house:lending", "USD", "500")
    await market.withdraw("alice", "USD", "12.34", "w-1")
    await market.differences()
    await move(
        market, "edge_transfers", "conversion:c-1", ("alice", "house:conversions", "USD", "99"),
        ("alice", "house:fees", "USD", "1"), ("house:conversions", "alice", "BTC", "0.5"),
    )  # fmt: skip
    await insert(
        pool, "conversions", USER, conversion_id="c-1", quote_id="q-1", from_asset="USD", to_asset="BTC",
        from_amount=100, to_amount="0.5", spread_amount=1, status="completed",
    )  # fmt: skip
    await move(market, "edge_transfers", "stake:b-1", ("alice", "house:staking", "USD", "50"))
    await move(market, "edge_transfers", "unstake:u-1", ("house:staking", "alice", "USD", "20"))
    await move(market, "edge_transfers", "staking-reward:u-1", ("house:rewards", "alice", "USD", "0.25"))
    await insert(
        pool, "staking_balances", USER, balance_id="b-1", asset="USD", staked=50, amount=30, accrued=0, status="active"
    )
    await insert(pool, "staking_accruals", USER, balance_id="b-1", reward="0.25")
    await insert(
        pool, "staking_unstakes", USER, unstake_id="u-1", balance_id="b-1", asset="USD", amount=20, reward="0.25",
        principal_paid=True, reward_paid=True,
    )  # fmt: skip
    for kind, amount in (("reward", "0.25"), ("unstake", "20")):
        await insert(pool, "staking_events", USER, balance_id="b-1", type=kind, asset="USD", amount=amount)
    await move(market, "edge_transfers", "payment:p-1", ("house:payments", "alice", "USD", "24"))
    await insert(pool, "payments", USER, payment_id="p-1", currency="USD", amount=25, fee=1)
    await move(market, "edge_transfers", "adjustment:a-1", ("house:adjustments", "alice", "USD", "3"))
    await move(market, "edge_transfers", "adjustment:a-2", ("alice", "house:adjustments", "USD", "2"))
    await insert(pool, "adjustments", USER, adjustment_id="a-1", asset="USD", amount=3)
    await insert(pool, "adjustments", USER, adjustment_id="a-2", asset="USD", amount=-2)
    await move(market, "edge_transfers", "treasury:t-1", ("house:payments", "house:insurance", "USD", "4"))
    await insert(
        pool, "house_transfers", USER, transfer_id="t-1", source="house:payments", destination="house:insurance",
        asset="USD", amount=4,
    )  # fmt: skip
    await market.deposit("house:insurance", "USD", "9", "house-flow:f-1")
    await market.withdraw("house:insurance", "USD", "7", "house-flow:f-2")
    for flow, amount, moved in (("f-1", 9, ("external", "insurance")), ("f-2", -7, ("insurance", "external"))):
        await insert(pool, "house_flows", USER, flow_id=flow, account="house:insurance", asset="USD", amount=amount,
            reference=flow)  # fmt: skip
        movement = [f"house:{moved[0]}", f"house:{moved[1]}", "USD", str(abs(amount))]
        await insert(pool, "edge_transfers", USER, reference=f"house-flow:{flow}", movements=[movement])
    await insert(pool, "margin_accounts", USER, account_id="m-1", status="active")
    await insert(
        pool, "margin_loans", USER, loan_id="l-1", account_id="m-1", asset="USD", borrowed=200, principal=150,
        posted=3, paid=2, status="active",
    )  # fmt: skip
    await insert(pool, "margin_interest", USER, posting_id="i-1", loan_id="l-1", amount=3)
    await move(market, "margin_transfers", "margin:l-1:borrow", ("house:lending", "m-1", "USD", "200"))
    await move(
        market, "margin_transfers", "margin:r-1", ("m-1", "house:interest", "USD", "2"),
        ("m-1", "house:lending", "USD", "50"),
    )  # fmt: skip
    await insert(pool, "custody_deposits", USER, tx_hash="tx-1", asset="USD", amount=100_000)
    await insert(
        pool, "custody_withdrawals", USER, withdrawal_id="w-1", asset="USD", amount="12.34", fee="0.34", net_amount=12
    )


DAMAGE = {
    "DELETE FROM edge_transfers WHERE reference = 'payment:p-1'": "transfer payment:p-1: movements",
    "UPDATE edge_transfers SET status = 'refused' WHERE reference = 'stake:b-1'": "transfer stake:b-1: movements",
    "UPDATE margin_transfers SET movements = movements - 0 WHERE reference = 'margin:r-1'": "transfer margin:r-1",
    "INSERT INTO edge_transfers SELECT 'payment:p-9', kind, subject_id, movements, status, result_code, attempts,"
    " next_attempt_at, created_at, decided_at FROM edge_transfers WHERE reference = 'payment:p-1'": (
        "transfer payment:p-9: movements is missing in the engine"
    ),
    "UPDATE conversions SET to_amount = 5": (
        "conversion c-1: movements is pays 100 USD gets 0.5 BTC spread 1 in the engine, completed pays 100 USD gets 5"
    ),
    "UPDATE conversions SET status = 'failed'": "conversion c-1",
    "UPDATE conversions SET conversion_id = 'c-9'": "conversion c-9: movements is missing in the engine",
    "UPDATE staking_balances SET staked = 51": "stake b-1: amount is 50 in the engine, active 51",
    "UPDATE staking_balances SET status = 'failed'": "stake b-1",
    "UPDATE staking_balances SET amount = 31": "stake rows b-1: amount less what is taken back is 30 by its parts, 31",
    "UPDATE staking_balances SET accrued = 1": "stake rows b-1: rewards that are accrued",
    "UPDATE staking_accruals SET reward = 1": "stake rows b-1: rewards in the history",
    "DELETE FROM staking_events WHERE type = 'unstake'": "stake rows b-1: taken back in the history",
    "DELETE FROM staking_unstakes": "staked house:staking USD: total is 30 in the engine, 50 by the stakes",
    "UPDATE staking_unstakes SET amount = 21": "unstake u-1: amount is 20 in the engine, paid 21",
    "UPDATE staking_unstakes SET reward = 2": "staking reward u-1: amount is 0.25 in the engine, paid 2",
    "UPDATE payments SET amount = 30": "payment p-1: amount is 24 in the engine, complete 29",
    "UPDATE payments SET payment_status = 'failed'": "payment p-1",
    "UPDATE payments SET payment_id = 'p-9'": "payment p-9: amount is missing in the engine, complete 24",
    "UPDATE adjustments SET amount = 4 WHERE amount = 3": "adjustment a-1: amount is 3 USD in the engine, done 4 USD",
    "UPDATE adjustments SET amount = 2 WHERE amount = -2": "adjustment a-2: amount is -2 USD in the engine, done 2 USD",
    "UPDATE adjustments SET status = 'refused'": "adjustment a-1",
    "UPDATE house_transfers SET amount = 5": (
        "house transfer t-1: movement is house:payments house:insurance 4 USD in the engine, done: house:payments"
    ),
    "UPDATE house_transfers SET status = 'refused'": "house transfer t-1",
    "UPDATE house_transfers SET transfer_id = 't-9'": "house transfer t-9: movement is missing in the engine",
    "UPDATE house_flows SET amount = 8 WHERE amount = 9": (
        "house flow f-1: amount is house:insurance USD 9 in the engine, done: house:insurance USD 8"
    ),
    "UPDATE house_flows SET amount = 7 WHERE amount = -7": "house flow f-2: amount is house:insurance USD -7 in the",
    "UPDATE house_flows SET account = 'house:fees' WHERE amount = 9": "house flow f-1",
    "UPDATE house_flows SET status = 'refused' WHERE amount = -7": "house flow f-2",
    "UPDATE house_flows SET flow_id = 'f-9' WHERE amount = 9": "house flow f-9: amount is missing in the engine",
    "UPDATE margin_loans SET principal = 149": "loan l-1: principal is 150 in the engine, 149 in the mirror",
    "UPDATE margin_loans SET borrowed = 201": "loan l-1: borrowed is 200",
    "UPDATE margin_loans SET paid = 1": "loan l-1: interest that is paid is 2",
    "DELETE FROM margin_interest": "loan l-1: interest that is posted is 0",
    "UPDATE custody_deposits SET amount = 7": "deposit tx-1: amount is alice USD 100000 in the engine, alice USD 7",
    "UPDATE custody_deposits SET tx_hash = 'tx-x'": "deposit tx-x: amount is missing in the engine",
    "UPDATE custody_withdrawals SET user_id = 'bob'": "withdrawal w-1: amount is alice USD -12.34 in the engine, bob",
    "UPDATE custody_withdrawals SET withdrawal_id = 'w-x'": "withdrawal w-x: amount is missing in the engine",
}
"""A statement that damages a service's row, and how the difference that names it begins."""


async def test_rows_of_the_services_agree_and_each_damage_is_named(market: MirroredMarket) -> None:
    await write_rows(market)
    assert await market.differences() == []
    async with market.pool.acquire() as connection:
        for statement, named in DAMAGE.items():
            tables = await snapshot(connection)
            assert not (await connection.execute(statement)).endswith(" 0"), statement
            found = await market.differences(1 if "withdrawal_id" in statement else 0)
            assert any(text.startswith(named) for text in found), (statement, found)
            await restore(connection, tables)
    assert await market.differences() == []


async def snapshot(connection: asyncpg.Connection) -> dict[str, str]:
    """Every row that `write_rows` wrote."""
    return {
        table: await connection.fetchval(f"SELECT coalesce(jsonb_agg(to_jsonb(each)), '[]')::text FROM {table} AS each")
        for table in TABLES
    }


async def restore(connection: asyncpg.Connection, tables: dict[str, str]) -> None:
    await connection.execute(f"TRUNCATE {', '.join(TABLES)} CASCADE")
    for table, rows in tables.items():
        assert json.loads(rows), table
        await connection.execute(
            f"INSERT INTO {table} OVERRIDING SYSTEM VALUE SELECT * FROM jsonb_populate_recordset(NULL::{table}, $1)",
            rows,
        )


TABLES = (
    "edge_transfers", "conversions", "staking_balances", "staking_accruals", "staking_unstakes", "staking_events",
    "payments", "adjustments", "house_transfers", "house_flows", "margin_accounts", "margin_loans",
    "margin_interest", "margin_transfers", "custody_deposits", "custody_withdrawals",
)  # fmt: skip


async def test_charges_in_the_database_of_subscriptions_are_compared_too(
    market: MirroredMarket, subscriptions_database_url: str
) -> None:
    market.settings = as_part(market.settings, ReconcileSettings).model_copy(
        update={"subscriptions_database_url": subscriptions_database_url}
    )
    own = await asyncpg.create_pool(subscriptions_database_url, min_size=1, max_size=1)
    names = "subscription_payments, subscription_transfers, subscriptions"
    try:
        # Charged before charges moved money.
        await charge(own, 1, "7")
        for number, amount in ((2, "5"), (3, "6")):
            reference = f"subscription:c-{number}"
            moved = ("alice", "house:subscriptions", "USD", amount)
            movement = pb.Movement(
                from_participant_id=moved[0], to_participant_id=moved[1], currency="USD", amount=amount
            )
            request = pb.TransferRequest(reference=reference, kind="subscription", movements=[movement])
            assert (await market.engine.accounts.Transfer(request)).success
            await insert(
                own,
                "subscription_transfers",
                USER,
                reference=reference,
                status="done",
                movements=[moved],
                created_at=f"202{number}-01-01T00:00:00Z",
            )
            await charge(own, number, amount)
        assert await market.differences() == []
        for statement in CHARGES:
            assert not (await own.execute(statement)).endswith(" 0"), statement
        found = await market.differences()
        for named in CHARGES.values():
            assert any(text.startswith(named) for text in found), (named, found)
        assert len(found) == len(CHARGES)
    finally:
        await own.execute(f"TRUNCATE {names} CASCADE")
        await own.close()


CHARGES = {
    "DELETE FROM subscription_transfers WHERE reference = 'subscription:c-3'": "transfer subscription:c-3: movements",
    "UPDATE subscription_payments SET amount = 8, price = 8 WHERE payment_id = 'c-2'": (
        "subscription payment c-2: amount is 5 in the engine, completed 8 in the mirror"
    ),
    "INSERT INTO subscription_payments (payment_id, subscription_id, user_id, plan_id, kind, period_number, attempt,"
    " period_start, period_end, status, asset, price, credit, amount, created_at) SELECT 'c-9', subscription_id,"
    " user_id, plan_id, kind, 9, attempt, period_start, period_end, status, asset, price, credit, amount, created_at"
    " FROM subscription_payments WHERE payment_id = 'c-2'": "subscription payment c-9: amount is missing in the engine",
}


async def charge(own: asyncpg.Pool, number: int, amount: str) -> None:
    """A completed payment of a subscription of its own."""
    subscription = f"s-{number}"
    made = f"202{number}-01-01T00:00:00Z"
    await insert(own, "subscriptions", USER, subscription_id=subscription, status="expired", cancel_at_period_end=False)
    await insert(
        own, "subscription_payments", USER, payment_id=f"c-{number}", subscription_id=subscription, kind="renewal",
        status="completed", asset="USD", price=amount, credit=0, amount=amount, created_at=made,
    )  # fmt: skip
