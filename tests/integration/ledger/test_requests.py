"""The ledger's requests over the bus, against a real database."""

import asyncio
import random
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path

import asyncpg
import nats
import pytest

from openspot.contracts import subjects
from openspot.contracts.messages import (
    LedgerBalance,
    LedgerBalancesReply,
    LedgerBalancesRequest,
    LedgerHistoryReply,
    LedgerHistoryRequest,
    LedgerLock,
    LedgerLockReply,
    LedgerPosting,
    LedgerPostingReply,
)
from openspot.contracts.refusals import Refusal, RefusalCode
from openspot.kit.bus import Bus
from openspot.kit.clock import ms_from_datetime, system_clock
from openspot.ledger.handlers import UNAVAILABLE, RequestHandlers
from openspot.ledger.metrics import NEGATIVE_BALANCES
from openspot.ledger.outbox import BalanceEvents
from openspot.ledger.settlement import Settlement
from openspot.ledger.store import LedgerStore
from openspot.migrations import upgrade
from openspot.up.embedded_postgres import EmbeddedPostgres
from tests.support.ledger import BalanceFeed, assert_books_are_right, balance, count, posting, trade
from tests.support.waiting import eventually, stretched

MALFORMED = (
    b"",
    b"null",
    b"[]",
    b"{",
    b'{"userId": 5}',
    b'{"userId": "ann"',
    b'{"userId": "\\ud800"}',
    b"\xff",
    b"[" * 5000,
)

pytestmark = pytest.mark.usefixtures("desk")


async def credit(bus: Bus, request: LedgerPosting) -> LedgerPostingReply:
    return await bus.request(subjects.LEDGER_CREDIT, request, LedgerPostingReply)


async def debit(bus: Bus, request: LedgerPosting) -> LedgerPostingReply:
    return await bus.request(subjects.LEDGER_DEBIT, request, LedgerPostingReply)


async def lock(bus: Bus, amount: str, reference: str, subject: str = subjects.LEDGER_LOCK) -> LedgerLockReply:
    return await bus.request(subject, LedgerLock("ann", "USD", amount, reference), LedgerLockReply)


async def unlock(bus: Bus, amount: str, reference: str) -> LedgerLockReply:
    return await lock(bus, amount, reference, subjects.LEDGER_UNLOCK)


async def balances(bus: Bus, user_id: str, asset: str | None = None) -> LedgerBalancesReply:
    return await bus.request(subjects.LEDGER_BALANCES_GET, LedgerBalancesRequest(user_id, asset), LedgerBalancesReply)


async def history(bus: Bus, request: LedgerHistoryRequest) -> LedgerHistoryReply:
    return await bus.request(subjects.LEDGER_HISTORY_GET, request, LedgerHistoryReply)


@pytest.mark.spec("A2.4-08", "B4.3-08", "A6.1-12")
async def test_a_credit_makes_the_account_answers_the_new_balance_and_is_told(
    bus: Bus, pool: asyncpg.Pool, feed: BalanceFeed
) -> None:
    assert await credit(bus, posting("tx1", amount="1.5")) == LedgerPostingReply(True, "1.5")
    assert await credit(bus, posting("tx2", amount="0.000000000000000001")) == LedgerPostingReply(
        True, "1.500000000000000001"
    )
    row = await pool.fetchrow("SELECT * FROM ledger_entries WHERE transaction_id = 'tx1'")
    assert row is not None
    assert (row["user_id"], row["asset"], row["amount"], row["balance"]) == (
        "ann",
        "USD",
        Decimal("1.5"),
        Decimal("1.5"),
    )
    assert (row["entry_type"], row["reference_type"], row["reference_id"]) == ("deposit", "custody", "tx1")
    told = await feed.expect(("tx1", "ann", "USD", "1.5"), ("tx2", "ann", "USD", "1.500000000000000001"))
    assert [(event.transaction_id, event.locked, event.version) for event in told] == [("tx1", "0", 1), ("tx2", "0", 2)]
    await eventually(lambda: _is_empty(pool, "ledger_outbox"))
    await assert_books_are_right(pool)


async def _is_empty(pool: asyncpg.Pool, table: str) -> bool:
    return await count(pool, table) == 0


@pytest.mark.spec("B4.3-10", "A6.1-13")
async def test_a_debit_takes_from_available_and_is_told(bus: Bus, pool: asyncpg.Pool, feed: BalanceFeed) -> None:
    await credit(bus, posting("tx1", amount="10"))
    assert await debit(bus, posting("w1", amount="4")) == LedgerPostingReply(True, "6")
    assert await debit(bus, posting("w2", amount="6")) == LedgerPostingReply(True, "0")
    await feed.expect(("tx1", "ann", "USD", "10"), ("w1", "ann", "USD", "6"), ("w2", "ann", "USD", "0"))
    await assert_books_are_right(pool)


async def test_a_debit_of_money_that_has_left_is_posted_below_zero_and_counted(bus: Bus, pool: asyncpg.Pool) -> None:
    before = NEGATIVE_BALANCES._value.get()
    await credit(bus, posting("tx1", amount="10"))
    for _ in range(2):
        assert await debit(bus, posting("w1", amount="12", already_moved=True)) == LedgerPostingReply(True, "-2")
    unknown = posting("w2", "stranger", amount="3", already_moved=True)
    assert await debit(bus, unknown) == LedgerPostingReply(True, "-3")
    assert NEGATIVE_BALANCES._value.get() == before + 2
    assert not (await debit(bus, posting("w3", amount="1"))).success
    await assert_books_are_right(pool)


@pytest.mark.spec("B4.3-11")
async def test_a_debit_beyond_available_is_refused_and_writes_nothing(
    bus: Bus, pool: asyncpg.Pool, feed: BalanceFeed
) -> None:
    await credit(bus, posting("tx1", amount="10"))
    await lock(bus, "3", "r")
    reply = await debit(bus, posting("w1", amount="7.000000000000000001"))
    assert reply == LedgerPostingReply.refused(
        Refusal(RefusalCode.INSUFFICIENT_BALANCE, "insufficient balance: 7 available")
    )
    assert (await debit(bus, posting("w2", "bob"))).error == "insufficient balance: 0 available"
    assert await count(pool) == 2
    assert await balance(pool, "bob", "USD") is None
    await feed.expect(("tx1", "ann", "USD", "10"), ("lock:r:USD:ann", "ann", "USD", "7"))


@pytest.mark.spec("A2.4-06", "A1.5-07")
async def test_a_repeated_credit_succeeds_with_the_existing_balance_and_writes_nothing(
    bus: Bus, pool: asyncpg.Pool, feed: BalanceFeed
) -> None:
    await credit(bus, posting("tx1", amount="10"))
    await credit(bus, posting("tx2", amount="1"))
    assert await credit(bus, posting("tx1", amount="10")) == LedgerPostingReply(True, "11")
    assert await credit(bus, posting("tx1", "bob", amount="99")) == LedgerPostingReply(True, "0")
    assert await count(pool) == 4
    assert await balance(pool, "bob", "USD") is None
    await feed.expect(("tx1", "ann", "USD", "10"), ("tx2", "ann", "USD", "11"))
    await assert_books_are_right(pool)


@pytest.mark.spec("A2.4-07")
async def test_a_repeated_debit_succeeds_with_the_existing_balance_and_writes_nothing(
    bus: Bus, pool: asyncpg.Pool
) -> None:
    await credit(bus, posting("tx1", amount="10"))
    assert await debit(bus, posting("w1", amount="8")) == LedgerPostingReply(True, "2")
    assert await debit(bus, posting("w1", amount="8")) == LedgerPostingReply(True, "2"), "though 2 would not cover it"
    assert await count(pool) == 4
    await assert_books_are_right(pool)


async def test_the_same_credit_a_hundred_times_at_once_is_written_once(bus: Bus, pool: asyncpg.Pool) -> None:
    replies = await asyncio.gather(*(credit(bus, posting("tx1", amount="10")) for _ in range(100)))
    assert set(replies) == {LedgerPostingReply(True, "10")}
    assert await count(pool) == 2


async def test_one_transaction_id_for_two_users_at_once_is_written_for_one_of_them(
    store: LedgerStore, events: BalanceEvents, pool: asyncpg.Pool
) -> None:
    desks = [RequestHandlers(store, events) for _ in range(6)]
    for turn in range(10):
        replies = await asyncio.gather(
            *(one.credit(posting(f"tx{turn}", f"user{place}", amount="1")) for place, one in enumerate(desks))
        )
        assert all(reply.success for reply in replies)
    assert await count(pool) == 20
    await assert_books_are_right(pool)


@pytest.mark.spec("B4.3-09")
@pytest.mark.parametrize(
    ("request_", "error"),
    [
        (posting("tx", amount="NaN"), "amount is not a decimal number"),
        (posting("tx", amount="-1"), "amount must be positive"),
        (posting("tx", amount="0"), "amount must be positive"),
        (posting("tx", amount="0.0000000000000000001"), "amount has more than 18 decimal places"),
        (posting("tx", amount="1e40"), "amount is too large"),
        (posting("tx", "a.b"), "userId must be 1 to 64 letters, digits or _ : -"),
        (posting("tx", asset="usd"), "asset must be 2 to 10 capital letters or digits"),
        (posting(""), "transactionId must be 1 to 200 visible ASCII characters without quote or backslash"),
        (posting("tx\x00"), "transactionId must be 1 to 200 visible ASCII characters without quote or backslash"),
        (posting("tx:contra"), "transactionId must not end in :contra, which the ledger gives itself"),
    ],
)
async def test_a_credit_or_debit_that_is_not_sound_is_refused_naming_the_field(
    bus: Bus, pool: asyncpg.Pool, request_: LedgerPosting, error: str
) -> None:
    refused = LedgerPostingReply.refused(Refusal(RefusalCode.VALIDATION, error))
    assert await credit(bus, request_) == refused
    assert await debit(bus, request_) == refused
    assert await count(pool, "ledger_accounts") == 0


async def test_a_credit_beyond_the_largest_amount_is_refused_and_others_go_on(bus: Bus, pool: asyncpg.Pool) -> None:
    largest = "10000000000000000000"
    replies = await asyncio.gather(
        credit(bus, posting("tx1", amount=largest)),
        credit(bus, posting("tx2", amount="0.000000000000000001")),
        credit(bus, posting("tx3", "bob", amount="1")),
        credit(bus, posting("tx4", "bob", "BTC", "1")),
    )
    assert [reply.success for reply in replies] == [True, False, False, True]
    assert replies[1].error == "amount would lead the balance beyond the largest amount"
    await assert_books_are_right(pool)


@pytest.mark.parametrize(
    "subject",
    [
        subjects.LEDGER_BALANCES_GET,
        subjects.LEDGER_CREDIT,
        subjects.LEDGER_DEBIT,
        subjects.LEDGER_LOCK,
        subjects.LEDGER_UNLOCK,
        subjects.LEDGER_HISTORY_GET,
    ],
)
async def test_what_cannot_be_read_is_answered_and_the_service_goes_on(bus: Bus, nats_url: str, subject: str) -> None:
    client = await nats.connect(nats_url)
    for payload in (
        b"",
        b"null",
        b"[]",
        b"{",
        b'{"userId": 5}',
        b'{"userId": "ann"',
        b"\xff",
        b"[" * 5000,
        b'"\\ud800"',
    ):
        reply = await client.request(subject, payload, timeout=stretched(5))
        assert b"malformed request" in reply.data
    await client.close()
    assert (await balances(bus, "ann")).error is None


@pytest.mark.spec("A2.4-01", "B4.3-06", "B4.3-07")
async def test_balances_are_all_of_the_user_or_that_of_one_asset(bus: Bus) -> None:
    await credit(bus, posting("tx1", asset="USD", amount="10"))
    await credit(bus, posting("tx2", asset="BTC", amount="0.25"))
    await credit(bus, posting("tx3", "bob", amount="7"))
    await lock(bus, "4", "r")
    usd, btc = LedgerBalance("USD", "6", "4"), LedgerBalance("BTC", "0.25", "0")
    assert await balances(bus, "ann") == LedgerBalancesReply([btc, usd])
    assert await balances(bus, "ann", "USD") == LedgerBalancesReply([usd])
    assert await balances(bus, "ann", "ETH") == LedgerBalancesReply([])
    assert await balances(bus, "nobody") == LedgerBalancesReply([])
    assert (await balances(bus, "a.b")).error == "userId must be 1 to 64 letters, digits or _ : -"
    assert (await balances(bus, "ann", "x")).error == "asset must be 2 to 10 capital letters or digits"


async def test_many_balance_questions_at_once_are_each_answered_with_their_own(bus: Bus) -> None:
    await asyncio.gather(*(credit(bus, posting(f"tx{n}", f"user{n}", amount=str(n + 1))) for n in range(50)))
    replies = await asyncio.gather(*(balances(bus, f"user{n % 60}", "USD") for n in range(300)))
    assert [reply.balances for reply in replies] == [
        [LedgerBalance("USD", str(n % 60 + 1), "0")] if n % 60 < 50 else [] for n in range(300)
    ]


@pytest.mark.spec("B4.3-12", "B4.3-13")
async def test_a_lock_moves_available_to_locked_and_an_unlock_moves_it_back(
    bus: Bus, pool: asyncpg.Pool, feed: BalanceFeed
) -> None:
    await credit(bus, posting("tx1", amount="10"))
    assert await lock(bus, "6", "r1") == LedgerLockReply(True)
    assert await balance(pool, "ann", "USD") == (4, 6)
    assert await unlock(bus, "2", "r2") == LedgerLockReply(True)
    assert await balance(pool, "ann", "USD") == (6, 4)
    told = await feed.expect(
        ("tx1", "ann", "USD", "10"), ("lock:r1:USD:ann", "ann", "USD", "4"), ("unlock:r2:USD:ann", "ann", "USD", "6")
    )
    assert [event.locked for event in told] == ["0", "6", "4"]
    await assert_books_are_right(pool)


async def test_a_lock_or_unlock_that_is_not_covered_is_refused(bus: Bus, pool: asyncpg.Pool) -> None:
    await credit(bus, posting("tx1", amount="10"))
    for reply, code, error in (
        (await lock(bus, "10.1", "r1"), RefusalCode.INSUFFICIENT_BALANCE, "insufficient balance: 10 available"),
        (await unlock(bus, "1", "r1"), RefusalCode.INSUFFICIENT_BALANCE, "insufficient balance: 0 locked"),
        (await lock(bus, "NaN", "r1"), RefusalCode.VALIDATION, "amount is not a decimal number"),
    ):
        assert reply == LedgerLockReply.refused(Refusal(code, error))
    assert await balance(pool, "ann", "USD") == (10, 0)
    assert await count(pool, "ledger_movements") == 0


def used_before(error: str) -> LedgerLockReply:
    return LedgerLockReply.refused(Refusal(RefusalCode.REFERENCE_USED, error))


async def test_a_reference_locks_once_and_unlocks_once(bus: Bus, pool: asyncpg.Pool) -> None:
    await credit(bus, posting("tx1", amount="10"))
    for _ in range(3):
        assert await lock(bus, "6", "r1") == LedgerLockReply(True)
    assert await balance(pool, "ann", "USD") == (4, 6)
    assert await lock(bus, "1", "r1") == used_before("referenceId was already used to lock 6")
    for _ in range(3):
        assert await unlock(bus, "5", "r1") == LedgerLockReply(True)
    assert await unlock(bus, "1", "r1") == used_before("referenceId was already used to unlock 5")
    assert await balance(pool, "ann", "USD") == (9, 1)


async def test_locks_at_once_never_take_more_than_there_is(bus: Bus, pool: asyncpg.Pool) -> None:
    await credit(bus, posting("tx1", amount="10"))
    replies = await asyncio.gather(*(lock(bus, "3", f"r{n}") for n in range(20)))
    assert sum(reply.success for reply in replies) == 3
    assert await balance(pool, "ann", "USD") == (1, 9)


@pytest.mark.spec("A2.4-03")
async def test_history_is_paged_newest_first_without_gap_or_repeat(bus: Bus, settlement: Settlement) -> None:
    for number in range(7):
        await credit(bus, posting(f"tx{number}", asset=("USD", "BTC")[number % 2], amount=str(number + 1)))
    await settlement.settle([trade(1, price="3", qty="1", buyer_fee="0")])
    await credit(bus, posting("other", "bob"))
    pages, cursor = [], None
    while True:
        page = await history(bus, LedgerHistoryRequest("ann", limit=4, cursor=cursor))
        assert page.error is None
        pages.append([entry.transaction_id for entry in page.entries])
        cursor = page.next_cursor
        if cursor is None:
            break
    legs = ["epoch-1:buyer-fee", "epoch-1:buyer-base", "epoch-1:buyer-quote"]
    assert pages == [[*legs, "tx6"], ["tx5", "tx4", "tx3", "tx2"], ["tx1", "tx0"]]
    page = await history(bus, LedgerHistoryRequest("ann", "BTC", limit=2))
    assert [(e.transaction_id, e.asset, e.amount, e.balance, e.entry_type) for e in page.entries] == [
        ("epoch-1:buyer-base", "BTC", "1", "13", "trade"),
        ("tx5", "BTC", "6", "12", "deposit"),
    ]
    assert page.entries[1].reference_type == "custody"
    assert page.entries[1].created_at.endswith("Z")


async def test_a_full_last_page_has_no_cursor_and_no_user_has_no_entries(bus: Bus) -> None:
    for number in range(4):
        await credit(bus, posting(f"tx{number}"))
    page = await history(bus, LedgerHistoryRequest("ann", limit=4))
    assert (len(page.entries), page.next_cursor) == (4, None)
    assert await history(bus, LedgerHistoryRequest("nobody")) == LedgerHistoryReply([])


async def test_a_history_of_some_days_goes_on_where_entries_have_the_same_time(bus: Bus, pool: asyncpg.Pool) -> None:
    for number in range(1, 7):
        await credit(bus, posting(f"tx{number}", asset=("USD", "BTC")[number % 2]))
    noon = datetime(2026, 1, 2, 12, tzinfo=UTC)
    # The first is older than the days, the last younger; the others were made at one moment.
    times = "CASE transaction_id WHEN 'tx1' THEN -1 WHEN 'tx6' THEN 1 ELSE 0 END"
    await pool.execute(f"UPDATE ledger_entries SET created_at = $1::timestamptz + {times} * interval '1 ms'", noon)
    since = ms_from_datetime(noon)
    found, cursor = [], None
    while True:
        request = LedgerHistoryRequest("ann", limit=1, cursor=cursor, since=since, until=since + 1)
        page = await history(bus, request)
        found += [entry.transaction_id for entry in page.entries]
        cursor = page.next_cursor
        if cursor is None:
            break
    assert found == ["tx5", "tx4", "tx3", "tx2"]
    older = await history(bus, LedgerHistoryRequest("ann", until=since))
    younger = await history(bus, LedgerHistoryRequest("ann", since=since + 1))
    assert [[entry.transaction_id for entry in page.entries] for page in (older, younger)] == [["tx1"], ["tx6"]]


async def test_days_hold_for_every_asset_however_long_ago_it_was_used(bus: Bus, pool: asyncpg.Pool) -> None:
    """One asset was used before the days alone, one after them alone, one all the time, one never."""
    used = [("old", "SOL"), ("both-1", "BTC"), ("in-1", "ETH"), ("both-2", "BTC"), ("both-3", "BTC"), ("new", "USD")]
    for name, asset in used:
        await credit(bus, posting(name, asset=asset))
    noon = datetime(2026, 1, 2, 12, tzinfo=UTC)
    hours = {"old": -48, "both-1": -24, "in-1": 1, "both-2": 2, "both-3": 30, "new": 31}
    for name, hour in hours.items():
        at = noon + timedelta(hours=hour)
        await pool.execute("UPDATE ledger_entries SET created_at = $1 WHERE transaction_id = $2", at, name)
    await pool.execute("INSERT INTO ledger_accounts (user_id, asset) VALUES ('ann', 'ADA')")

    async def names(**span: datetime) -> list[str]:
        bounds = {name: ms_from_datetime(moment) for name, moment in span.items()}
        return [entry.transaction_id for entry in (await history(bus, LedgerHistoryRequest("ann", **bounds))).entries]

    day = timedelta(days=1)
    assert await names(until=noon + day) == ["both-2", "in-1", "both-1", "old"]
    assert await names(since=noon, until=noon + day) == ["both-2", "in-1"]
    assert await names(until=noon) == ["both-1", "old"]
    assert await names(since=noon + day) == ["new", "both-3"]
    assert await names(until=noon - 3 * day) == []


async def test_a_history_request_that_is_not_sound_is_refused_naming_the_field(bus: Bus) -> None:
    for request, field in (
        (LedgerHistoryRequest("ann", limit=0), "limit"),
        (LedgerHistoryRequest("ann", cursor="x"), "cursor"),
        (LedgerHistoryRequest("", cursor="1"), "userId"),
        (LedgerHistoryRequest("ann", "-"), "asset"),
        (LedgerHistoryRequest("ann", since=-1), "from"),
    ):
        reply = await history(bus, request)
        assert (reply.error or "").startswith(f"{field} ")


async def test_without_a_database_requests_are_refused_and_served_again_when_it_is_back(
    bus: Bus, run_folder: Path
) -> None:
    server = EmbeddedPostgres(run_folder / "ledger-postgres", durable=False)
    server.start()
    try:
        upgrade(server.url())
        async with asyncpg.create_pool(server.url(), min_size=1, max_size=3) as pool:
            store = LedgerStore(pool)
            desk = RequestHandlers(store, BalanceEvents(bus, store, system_clock))
            assert (await desk.credit(posting("tx1"))).success
            server.stop()
            assert await desk.balances(LedgerBalancesRequest("ann")) == LedgerBalancesReply.refused(UNAVAILABLE)
            assert await desk.credit(posting("tx2")) == LedgerPostingReply.refused(UNAVAILABLE)
            assert await desk.lock(LedgerLock("ann", "USD", "1", "r")) == LedgerLockReply.refused(UNAVAILABLE)
            assert await desk.history(LedgerHistoryRequest("ann")) == LedgerHistoryReply.refused(UNAVAILABLE)
            server.start()
            assert await desk.credit(posting("tx2")) == LedgerPostingReply(True, "20")
            await assert_books_are_right(pool)
    finally:
        server.stop()


async def test_connections_that_the_server_ends_are_replaced_without_the_caller_noticing(
    bus: Bus, pool: asyncpg.Pool
) -> None:
    await credit(bus, posting("tx1"))
    await pool.execute(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
        "WHERE datname = current_database() AND usename = current_user AND pid <> pg_backend_pid()"
    )
    assert await credit(bus, posting("tx2")) == LedgerPostingReply(True, "20")
    assert (await balances(bus, "ann")).balances == [LedgerBalance("USD", "20", "0")]


async def test_a_random_run_keeps_every_asset_at_zero_and_every_account_right(
    bus: Bus, settlement: Settlement, pool: asyncpg.Pool
) -> None:
    seed = random.SystemRandom().randrange(2**32)
    source = random.Random(seed)
    users = ["ann", "bob", "cat", "house:fees"]

    async def one(number: int) -> None:
        user, asset = source.choice(users), source.choice(["USD", "BTC"])
        amount = f"{source.randrange(1, 500)}.{source.randrange(10**18):018d}"
        kind, reference = source.randrange(6), f"r{source.randrange(60)}"
        if kind == 0:
            await credit(bus, posting(reference, user, asset, amount))
        elif kind == 1:
            await debit(bus, posting(reference, user, asset, amount))
        elif kind == 2:
            await bus.request(subjects.LEDGER_LOCK, LedgerLock(user, asset, amount, reference), LedgerLockReply)
        elif kind == 3:
            await bus.request(subjects.LEDGER_UNLOCK, LedgerLock(user, asset, amount, reference), LedgerLockReply)
        else:
            buyer, seller = source.sample(users, 2)
            numbers = [source.randrange(80) for _ in range(source.randrange(1, 6))]
            await settlement.settle(
                [
                    trade(n, buyer, seller, f"{source.randrange(1, 100)}.25", f"0.{source.randrange(1, 10**9):09d}")
                    for n in numbers
                ]
            )

    for _ in range(12):
        await asyncio.gather(*(one(number) for number in range(25)))
    try:
        await assert_books_are_right(pool)
        assert await pool.fetchval("SELECT count(*) FROM ledger_accounts WHERE locked < 0") == 0
    except AssertionError as error:
        raise AssertionError(f"seed {seed}") from error
