"""kill -9 of real processes while money moves: each withdrawal and each conversion is done once or not at all."""

import asyncio
import itertools
from decimal import Decimal
from typing import Any

import aiohttp
import asyncpg
import pytest

from openspot.domain.ids import CONVERSIONS_ACCOUNT_ID, STAKING_ACCOUNT_ID
from openspot.kit.process_ends import read_ends
from openspot.up.child_platform import ChildPlatform
from openspot.up.services import SERVICES
from openspot.up.supervisor import is_ready
from tests.support.fault_run import HEALED_S_MAX
from tests.support.money_user import WAIT_S, MoneyUser, assert_every_book_agrees, credit, house_totals, money_user
from tests.support.operator_prices import set_operator_price
from tests.support.rest_client import Reply
from tests.support.waiting import eventually, stretched

pytestmark = pytest.mark.proof

KILLS = 3
WITHDRAWALS = 12
CONVERTERS = 4
PAUSE_S = 0.05
"""Between the movements of a stream, so that its money lasts however long the platform takes to heal."""
OUTSIDE = "So11111111111111111111111111111111111111112"


async def kill_and_heal(platform: ChildPlatform, name: str) -> None:
    """Kill -9 a service, and wait until another process of it is ready."""
    killed = platform.kill(name)
    service, settings = SERVICES[name], platform.settings

    async def healed() -> bool:
        return platform.state.pids.get(name, killed) != killed and await is_ready(
            settings.host, service.ready_port(settings), settings.readiness_timeout_s
        )

    await eventually(healed, HEALED_S_MAX, 0.05)
    # What the health page shows and the operators' alerts tell.
    assert any(end.cause == "signal SIGKILL" and name in end.process for end in read_ends(platform.data_dir))


async def until_told(user: MoneyUser, method: str, path: str, body: Any = None, **headers: str) -> Reply:
    """Repeat a request until the platform says what became of it."""

    async def attempt() -> Reply | None:
        try:
            reply = await user.client(method, path, body, headers=headers)
        except (aiohttp.ClientError, TimeoutError):
            return None
        if reply.status >= 500:
            # A conversion that could not be sent has ended: its quote is used up, and nothing was moved.
            return reply if is_unsent(reply) else None
        return None if reply.status == 409 and reply.code == "IDEMPOTENCY_KEY_IN_USE" else reply

    return await eventually(attempt, HEALED_S_MAX, 0.1)


def is_unsent(reply: Reply) -> bool:
    return reply.code == "ENGINE_UNREACHABLE" and "conversionId" in (reply.body.get("details") or {})


async def value(platform: ChildPlatform, query: str, *given: Any) -> Any:
    connection = await asyncpg.connect(platform.settings.database_url)
    try:
        return await connection.fetchval(query, *given)
    finally:
        await connection.close()


async def convert(user: MoneyUser, stop: asyncio.Event, told: dict[str, str]) -> None:
    """Convert 20 dollars to SOL again and again. `told` gets the status of each conversion that was reported."""
    while not stop.is_set():
        wanted = {"fromAsset": "USD", "toAsset": "SOL", "fromAmount": "20"}
        quote = await until_told(user, "POST", "/conversions/quote", wanted)
        if quote.status != 201:
            assert quote.status == 409, quote.body
            continue
        reply = await until_told(user, "POST", "/conversions", {"quoteId": quote.body["quoteId"]})
        # A quote lives ten seconds: it may have expired while the platform was away.
        assert reply.status in (201, 409) or is_unsent(reply), reply.body
        if reply.status == 201:
            told[reply.body["id"]] = reply.body["status"]


async def stake(user: MoneyUser, stop: asyncio.Event, told: dict[str, str]) -> None:
    """Stake 1 USDT again and again, each time under a key of its own."""
    for number in itertools.count():
        if stop.is_set():
            return
        body = {"productId": "usdt-flexible", "amount": "1"}
        reply = await until_told(user, "POST", "/staking/stake", body, **{"Idempotency-Key": f"stake-{number}"})
        assert reply.status == 201, reply.body
        assert reply.body["id"] not in told
        told[reply.body["id"]] = reply.body["status"]
        await asyncio.sleep(PAUSE_S)


async def withdraw(user: MoneyUser, stop: asyncio.Event, told: dict[str, str], address_id: str) -> None:
    """Withdraw 0.1 SOL again and again, each time under an id of its own."""
    for number in itertools.count():
        if stop.is_set():
            return
        body = {
            "asset": "SOL", "network": "solana", "amount": "0.1", "addressId": address_id,
            "clientWithdrawalId": f"stream-{number}",
        }  # fmt: skip
        reply = await until_told(user, "POST", "/accounts/withdraw/crypto", body)
        assert reply.status == 201, reply.body
        assert reply.body["id"] not in told
        told[reply.body["id"]] = reply.body["status"]
        await asyncio.sleep(PAUSE_S)


async def has_none(platform: ChildPlatform, query: str, user: MoneyUser) -> bool:
    return bool(await value(platform, query, user.user_id) == 0)


async def test_custody_killed_during_withdrawals_sends_each_once(breakable: ChildPlatform) -> None:
    async with money_user(breakable) as user:
        await user.verify()
        await user.credit("SOL", "1000")
        saved = {"label": "Wallet", "asset": "SOL", "network": "solana", "address": OUTSIDE}
        address_id = (await user("POST", "/users/me/withdrawal-addresses", saved, status=201))["id"]
        query = "SELECT count(*) FROM custody_withdrawals WHERE user_id = $1 AND status = 'completed'"
        struck = 0

        async def withdraw(number: int) -> str:
            body = {
                "asset": "SOL", "network": "solana", "amount": "2", "addressId": address_id,
                "clientWithdrawalId": f"payout-{number}",
            }  # fmt: skip
            reply = await until_told(user, "POST", "/accounts/withdraw/crypto", body)
            assert reply.status == 201, reply.body
            return str(reply.body["id"])

        async def one_after_the_other(first: int) -> list[str]:
            return [await withdraw(number) for number in range(first, WITHDRAWALS, 3)]

        flow = asyncio.gather(*(one_after_the_other(first) for first in range(3)))
        open_query = "SELECT count(*) FROM custody_withdrawals WHERE user_id = $1 AND status <> 'completed'"
        for _ in range(KILLS):

            async def some_are_open() -> bool:
                return bool(await value(breakable, open_query, user.user_id))

            await eventually(some_are_open, WAIT_S, 0.02)
            struck += 1
            await kill_and_heal(breakable, "custody")
            if flow.done():
                break
        ids = [withdrawal_id for part in await flow for withdrawal_id in part]
        assert len(set(ids)) == WITHDRAWALS
        assert struck > 0

        async def all_completed() -> bool:
            return bool(await value(breakable, query, user.user_id) == WITHDRAWALS)

        await eventually(all_completed, HEALED_S_MAX, 0.1)
        await user.has("SOL", str(1000 - 2 * WITHDRAWALS))
    sent = await value(
        breakable,
        "SELECT count(*) FROM custody_chain_transactions"
        " WHERE tx_hash IN (SELECT tx_hash FROM custody_withdrawals WHERE user_id = $1)",
        user.user_id,
    )
    assert sent == WITHDRAWALS
    await assert_every_book_agrees(breakable)


async def test_the_edge_killed_during_conversions_does_each_once_or_not_at_all(breakable: ChildPlatform) -> None:
    await credit(breakable, CONVERSIONS_ACCOUNT_ID, "SOL", "100")
    before = await house_totals(breakable, CONVERSIONS_ACCOUNT_ID)
    stop = asyncio.Event()
    async with money_user(breakable) as maker, money_user(breakable) as user:
        await asyncio.gather(maker.credit("SOL", "1000"), user.credit("USD", "1000000"))
        order = {"symbol": "SOL-USD", "side": "sell", "type": "limit", "quantity": "1000", "price": "200"}
        await maker("POST", "/orders", order, status=201)
        told: dict[str, str] = {}

        converting = [asyncio.create_task(convert(user, stop, told)) for _ in range(CONVERTERS)]
        for _ in range(KILLS):
            known = len(told)
            await eventually(lambda known=known: len(told) >= known + CONVERTERS, WAIT_S)  # type: ignore[misc]
            await kill_and_heal(breakable, "rest-edge")
        known = len(told)
        await eventually(lambda: len(told) > known, WAIT_S)
        stop.set()
        await asyncio.gather(*converting)

        async def none_pending() -> bool:
            pending = "SELECT count(*) FROM conversions WHERE user_id = $1 AND status = 'pending'"
            return bool(await value(breakable, pending, user.user_id) == 0)

        await eventually(none_pending, HEALED_S_MAX, 0.1)
        completed = "SELECT count(*) FROM conversions WHERE user_id = $1 AND status = 'completed'"
        done = await value(breakable, completed, user.user_id)
        of_told = await value(breakable, f"{completed} AND conversion_id = ANY($2)", user.user_id, [*told])
        assert (of_told, done >= len(told)) == (len(told), True)
        await user.has("USD", str(1_000_000 - 20 * done))
        await user.has("SOL", str(Decimal("0.0995") * done))
    after = await house_totals(breakable, CONVERSIONS_ACCOUNT_ID)
    assert before["SOL"] - after["SOL"] == Decimal("0.0995") * done
    assert after["USD"] - before.get("USD", Decimal(0)) == Decimal("19.9") * done
    print(f"{done} conversions, of which {len(told)} were reported")
    await assert_every_book_agrees(breakable)


@pytest.mark.timeout(stretched(900))
async def test_engine_router_and_ledger_killed_under_a_stream_of_transfers_do_each_once(
    breakable: ChildPlatform,
) -> None:
    await credit(breakable, CONVERSIONS_ACCOUNT_ID, "SOL", "10000")
    before = await house_totals(breakable, CONVERSIONS_ACCOUNT_ID), await house_totals(breakable, STAKING_ACCOUNT_ID)
    tried_again = breakable.log_path.read_text("utf-8", "replace").count('"a transfer is tried again later"')
    stop = asyncio.Event()
    conversions: dict[str, str] = {}
    stakes: dict[str, str] = {}
    withdrawals: dict[str, str] = {}
    async with money_user(breakable) as maker, money_user(breakable) as user, money_user(breakable) as payer:
        await payer.verify()
        await asyncio.gather(
            maker.credit("SOL", "1000"), user.credit("USD", "1000000"), user.credit("USDT", "100000"),
            payer.credit("SOL", "10000"),
            set_operator_price(breakable, "SOL-USD", "200"),
        )  # fmt: skip
        order = {"symbol": "SOL-USD", "side": "sell", "type": "limit", "quantity": "1000", "price": "200"}
        await maker("POST", "/orders", order, status=201)
        saved = {"label": "Wallet", "asset": "SOL", "network": "solana", "address": OUTSIDE}
        address_id = (await payer("POST", "/users/me/withdrawal-addresses", saved, status=201))["id"]
        stream = [
            asyncio.create_task(work)
            for work in (
                *(convert(user, stop, conversions) for _ in range(2 * CONVERTERS)),
                stake(user, stop, stakes),
                withdraw(payer, stop, withdrawals, address_id),
            )
        ]

        async def all_go_on() -> None:
            """Wait until each kind of movement was reported once more."""
            known = [len(told) for told in (conversions, stakes, withdrawals)]

            def more() -> bool:
                if ended := [task for task in stream if task.done()]:
                    ended[0].result()
                now = [len(told) for told in (conversions, stakes, withdrawals)]
                return all(count > earlier for count, earlier in zip(now, known, strict=True))

            await eventually(more, HEALED_S_MAX, 0.02)

        for victims in (("engine", "rest-edge"), ("router", "ledger"), ("engine", "router", "ledger")):
            await all_go_on()
            await asyncio.gather(*(kill_and_heal(breakable, name) for name in victims))
        await all_go_on()
        stop.set()
        await asyncio.gather(*stream)

        for query in (
            "SELECT count(*) FROM conversions WHERE user_id = $1 AND status = 'pending'",
            "SELECT count(*) FROM staking_balances WHERE user_id = $1 AND status = 'pending'",
        ):
            await eventually(lambda query=query: has_none(breakable, query, user), HEALED_S_MAX, 0.1)
        unfinished = "SELECT count(*) FROM custody_withdrawals WHERE user_id = $1 AND status <> 'completed'"
        await eventually(lambda: has_none(breakable, unfinished, payer), HEALED_S_MAX, 0.1)

        converted = await value(
            breakable, "SELECT count(*) FROM conversions WHERE user_id = $1 AND status = 'completed'", user.user_id
        )
        assert converted >= len(conversions)
        staked = await value(
            breakable, "SELECT count(*) FROM staking_balances WHERE user_id = $1 AND status = 'active'", user.user_id
        )
        assert staked == len(stakes)
        sent = await value(breakable, "SELECT count(*) FROM custody_withdrawals WHERE user_id = $1", payer.user_id)
        assert sent == len(withdrawals)
        await user.has("USD", str(1_000_000 - 20 * converted))
        await user.has("SOL", str(Decimal("0.0995") * converted))
        await user.has("USDT", str(100_000 - staked))
        await payer.has("SOL", str(10_000 - Decimal("0.1") * sent))
    after = await house_totals(breakable, CONVERSIONS_ACCOUNT_ID), await house_totals(breakable, STAKING_ACCOUNT_ID)
    assert before[0]["SOL"] - after[0]["SOL"] == Decimal("0.0995") * converted
    assert after[1]["USDT"] - before[1].get("USDT", Decimal(0)) == staked
    again = breakable.log_path.read_text("utf-8", "replace").count('"a transfer is tried again later"') - tried_again
    print(f"{converted} conversions, {staked} stakes, {sent} withdrawals; {again} attempts had no outcome at first")
    await assert_every_book_agrees(breakable)
