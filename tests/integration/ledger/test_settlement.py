"""Settlement over the bus: what is published, what is rejected, and what a crash leaves behind."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

import asyncpg
import msgspec
import nats
import pytest

from openspot.contracts import subjects
from openspot.contracts.messages import ExecutedTrade, LedgerLock, TradesSettled
from openspot.contracts.streams import BALANCES
from openspot.kit.bus import Bus, ConsumerError, DurableConsumer, PublishError
from openspot.kit.clock import system_clock
from openspot.kit.settings import Settings
from openspot.ledger import outbox
from openspot.ledger.changes import ChangedAccount
from openspot.ledger.consumer import trade_consumer
from openspot.ledger.handlers import RequestHandlers
from openspot.ledger.metrics import NEGATIVE_BALANCES, TRADES
from openspot.ledger.outbox import SWEEP_AGE_S, BalanceEvents
from openspot.ledger.settlement import Settlement
from openspot.ledger.store import LedgerStore
from tests.support.ledger import BalanceFeed, assert_books_are_right, available, count, posting, trade
from tests.support.stream_limits import limit_stream
from tests.support.waiting import eventually


class SilentEvents(BalanceEvents):
    """A process that dies between its commit and the publication: none of its events reach the bus."""

    async def publish(self, changes: Sequence[ChangedAccount]) -> list[ChangedAccount]:
        raise PublishError("killed")


@asynccontextmanager
async def consuming(bus: Bus, settlement: Settlement) -> AsyncIterator[DurableConsumer[ExecutedTrade]]:
    """A consumer at work, for the time of the context."""

    async def settle(trades: list[ExecutedTrade]) -> None:
        await settlement.settle(trades)

    stop = asyncio.Event()
    consumer = trade_consumer(bus, settle)
    task = asyncio.create_task(consumer.run(stop))
    try:
        yield consumer
    finally:
        stop.set()
        await task


async def publish(bus: Bus, *trades: ExecutedTrade) -> None:
    for one in trades:
        await bus.publish(subjects.TRADES_EXECUTED, one, f"{one.id}-trade")


async def entries_are(pool: asyncpg.Pool, number: int) -> None:
    async def reached() -> bool:
        return await count(pool) == number

    await eventually(reached, timeout_s=30)


def counted(outcome: str) -> float:
    return TRADES.labels(outcome)._value.get()


@pytest.mark.spec("A1.3-36", "A6.2-01")
async def test_a_published_trade_is_settled_and_both_sides_are_told(
    bus: Bus, pool: asyncpg.Pool, settlement: Settlement, feed: BalanceFeed
) -> None:
    async with consuming(bus, settlement) as consumer:
        await publish(bus, trade(1))
        await entries_are(pool, 8)
        await feed.expect(
            ("epoch-1:buyer-fee", "ann", "USD", "-200.5"),
            ("epoch-1:buyer-base", "ann", "BTC", "2"),
            ("epoch-1:seller-base", "bob", "BTC", "-2"),
            ("epoch-1:seller-fee", "bob", "USD", "199.7"),
        )
        await consumer.check()
    with pytest.raises(ConsumerError, match="stopped"):
        await consumer.check()
    await assert_books_are_right(pool)


@pytest.mark.spec("A2.3-01")
async def test_a_trade_with_the_documents_field_names_is_settled_and_unknown_fields_do_not_matter(
    bus: Bus, pool: asyncpg.Pool, settlement: Settlement, nats_url: str
) -> None:
    payload = {
        "id": "epoch-9",
        "symbol": "ETH-BTC",
        "baseAsset": "ETH",
        "quoteAsset": "BTC",
        "buyerId": "ann",
        "sellerId": "bob",
        "price": "0.05",
        "qty": "3",
        "fees": {
            "buyer": {"userId": "ann", "amount": "0.0001", "currency": "BTC"},
            "seller": {"userId": "bob", "amount": "-0.00005", "currency": "BTC"},
        },
        "takerSide": "buy",
        "takerOrderId": "t",
        "makerOrderId": "m",
        "isTakerCompleted": True,
        "isMakerCompleted": True,
        "sequence": 9,
        "timestamp": 1_700_000_000_000,
        "somethingNew": [1, 2],
    }
    client = await nats.connect(nats_url)
    await client.jetstream().publish(subjects.TRADES_EXECUTED, msgspec.json.encode(payload))
    await client.close()
    async with consuming(bus, settlement):
        await entries_are(pool, 8)
    assert await available(pool, "ann", "ETH") == "3"
    assert await available(pool, "ann", "BTC") == "-0.1501"
    assert await available(pool, "bob", "BTC") == "0.15005"
    assert await available(pool, "house:fees", "BTC") == "0.00005"


@pytest.mark.spec("A6.4-08")
async def test_trades_published_while_no_ledger_runs_are_settled_once_when_one_is_back(
    bus: Bus, pool: asyncpg.Pool, settlement: Settlement
) -> None:
    await publish(bus, trade(1), trade(2))
    async with consuming(bus, settlement):
        await entries_are(pool, 16)
    await publish(bus, trade(3), trade(2))
    async with consuming(bus, settlement):
        await entries_are(pool, 24)
    await assert_books_are_right(pool)


async def test_one_event_tells_a_batchs_changes_of_an_account(settlement: Settlement, feed: BalanceFeed) -> None:
    await settlement.settle([trade(1, price="1", qty="1"), trade(2, price="1", qty="1")])
    told = await feed.expect(
        ("epoch-2:buyer-fee", "ann", "USD", "-3"),
        ("epoch-2:buyer-base", "ann", "BTC", "2"),
        ("epoch-2:seller-base", "bob", "BTC", "-2"),
        ("epoch-2:seller-fee", "bob", "USD", "1.4"),
    )
    assert {event.version for event in told} == {1}


async def test_a_crash_between_commit_and_publication_loses_no_event(
    store: LedgerStore, bus: Bus, pool: asyncpg.Pool, settlement: Settlement, feed: BalanceFeed
) -> None:
    dying = Settlement(store, SilentEvents(bus, store, system_clock), bus, system_clock)
    await publish(bus, trade(1))
    async with consuming(bus, dying) as consumer:
        await entries_are(pool, 8)

        async def fails() -> bool:
            try:
                await consumer.check()
            except ConsumerError as error:
                return "killed" in str(error)
            return False

        await eventually(fails)
    await feed.expect()
    # Something else has happened to the account meanwhile: the event tells how it stands now.
    await settlement.settle([trade(2, buyer="ann", seller="cat", price="1", qty="1", buyer_fee="0")])
    before = counted("already_settled")
    async with consuming(bus, settlement):
        await feed.expect(
            ("epoch-2:buyer-fee", "ann", "USD", "-201.5"),
            ("epoch-2:buyer-base", "ann", "BTC", "3"),
            ("epoch-2:seller-base", "cat", "BTC", "-1"),
            ("epoch-2:seller-fee", "cat", "USD", "0.7"),
            ("epoch-1:buyer-fee", "ann", "USD", "-201.5"),
            ("epoch-1:buyer-base", "ann", "BTC", "3"),
            ("epoch-1:seller-base", "bob", "BTC", "-2"),
            ("epoch-1:seller-fee", "bob", "USD", "199.7"),
        )
    assert counted("already_settled") == before + 1
    assert await count(pool) == 16
    await assert_books_are_right(pool)


async def test_a_batch_that_comes_again_is_told_again_under_the_same_message_ids(
    settlement: Settlement, feed: BalanceFeed
) -> None:
    await settlement.settle([trade(1)])
    first = await feed.events()
    await settlement.settle([trade(1)])
    assert await feed.events() == first


@pytest.mark.parametrize("operation", ["credit", "lock"])
async def test_an_event_of_a_request_that_a_crash_left_behind_is_published_by_the_sweep(
    store: LedgerStore, bus: Bus, pool: asyncpg.Pool, events: BalanceEvents, feed: BalanceFeed, operation: str
) -> None:
    desk = RequestHandlers(store, SilentEvents(bus, store, system_clock))
    await desk.credit(posting("tx1"))
    wanted = [("tx1", "ann", "USD", "10")]
    if operation == "lock":
        await desk.lock(LedgerLock("ann", "USD", "4", "r"))
        wanted = [("tx1", "ann", "USD", "6"), ("lock:r:USD:ann", "ann", "USD", "6")]
    assert await events.sweep() == 0, "a young event is left to its own process"
    await pool.execute("UPDATE ledger_outbox SET created_at = now() - $1 * interval '1 second'", SWEEP_AGE_S)
    assert await events.sweep() == len(wanted)
    await feed.expect(*wanted)
    assert await count(pool, "ledger_outbox") == 0
    assert await events.sweep() == 0


async def test_a_sweep_that_cannot_publish_keeps_the_events(
    store: LedgerStore, bus: Bus, pool: asyncpg.Pool, events: BalanceEvents
) -> None:
    silent = SilentEvents(bus, store, system_clock)
    await RequestHandlers(store, silent).credit(posting("tx1"))
    await pool.execute("UPDATE ledger_outbox SET created_at = now() - interval '1 minute'")
    with pytest.raises(PublishError):
        await silent.sweep()
    assert await count(pool, "ledger_outbox") == 1
    stop = asyncio.Event()
    running = asyncio.create_task(events.run(stop))

    async def is_empty() -> bool:
        return await count(pool, "ledger_outbox") == 0

    await eventually(is_empty)
    stop.set()
    await running


async def limit_stream_to(bus: Bus, *users: str) -> None:
    """Let the stream of balance events take those of `users` only; of all users if none are named."""
    await limit_stream(bus, BALANCES, *([f"balances.updated.{user}" for user in users] or BALANCES.subjects))


async def test_a_user_whose_events_fail_holds_back_neither_settlement_nor_the_events_of_others(
    bus: Bus, pool: asyncpg.Pool, settlement: Settlement, events: BalanceEvents, feed: BalanceFeed
) -> None:
    await limit_stream_to(bus, "bob", "cat")
    async with consuming(bus, settlement) as consumer:
        await publish(bus, trade(1))
        await entries_are(pool, 8)
        await publish(bus, trade(2, "cat", "bob"))
        await entries_are(pool, 16)
        of_others = [
            ("epoch-1:seller-base", "bob", "BTC", "-2"),
            ("epoch-1:seller-fee", "bob", "USD", "199.7"),
            ("epoch-2:buyer-fee", "cat", "USD", "-200.5"),
            ("epoch-2:buyer-base", "cat", "BTC", "2"),
            ("epoch-2:seller-base", "bob", "BTC", "-4"),
            ("epoch-2:seller-fee", "bob", "USD", "399.4"),
        ]
        await feed.expect(*of_others)
        await consumer.check()
    kept = await pool.fetch("SELECT user_id, transaction_id FROM ledger_outbox")
    assert {("ann", "epoch-1:buyer-fee"), ("ann", "epoch-1:buyer-base")} <= {tuple(row) for row in kept}
    await limit_stream_to(bus)
    await pool.execute("UPDATE ledger_outbox SET created_at = now() - interval '1 minute'")
    # An event beside a failed one may be kept although the stream has it: its message id keeps it from coming twice.
    assert await events.sweep() == len(kept)
    await feed.expect(
        *of_others, ("epoch-1:buyer-fee", "ann", "USD", "-200.5"), ("epoch-1:buyer-base", "ann", "BTC", "2")
    )
    assert await count(pool, "ledger_outbox") == 0


async def test_failing_events_do_not_crowd_others_out_of_the_sweep(
    store: LedgerStore,
    bus: Bus,
    pool: asyncpg.Pool,
    events: BalanceEvents,
    feed: BalanceFeed,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(outbox, "EVENTS_IN_FLIGHT_MAX", 3)
    desk = RequestHandlers(store, SilentEvents(bus, store, system_clock))
    for number in range(5):
        await desk.credit(posting(f"ann{number}"))
    await desk.credit(posting("bob1", "bob"))
    await pool.execute("UPDATE ledger_outbox SET created_at = now() - interval '1 minute'")
    await limit_stream_to(bus, "bob")
    assert await events.sweep() == 1
    await feed.expect(("bob1", "bob", "USD", "10"))
    assert await count(pool, "ledger_outbox") == 5


@pytest.mark.parametrize(
    ("poison", "reason"),
    [
        (trade(2, price="abc"), "price is not a decimal number"),
        (trade(2, qty="0.0000000000000000001"), "qty has more than 18 decimal places"),
        (trade(2, buyer="a.b"), "buyerId is not a participant id"),
        (trade(2, id="\x00"), "id must be 1 to 200 visible ASCII characters without quote or backslash"),
    ],
)
async def test_a_trade_that_is_not_sound_is_rejected_and_the_others_are_settled(
    bus: Bus, pool: asyncpg.Pool, settlement: Settlement, poison: ExecutedTrade, reason: str
) -> None:
    before = counted("rejected")
    await publish(bus, trade(1))
    await bus.publish(subjects.TRADES_EXECUTED, poison, "poison")
    await publish(bus, trade(3))
    async with consuming(bus, settlement):
        await entries_are(pool, 16)
        await eventually(lambda: counted("rejected") == before + 1)
    row = await pool.fetchrow("SELECT reason, payload FROM ledger_rejected_trades")
    assert row is not None
    assert row["reason"] == reason
    assert msgspec.json.decode(row["payload"], type=ExecutedTrade) == poison
    await assert_books_are_right(pool)


async def test_what_is_no_trade_at_all_is_dropped_and_the_others_are_settled(
    bus: Bus, pool: asyncpg.Pool, settlement: Settlement, nats_url: str
) -> None:
    client = await nats.connect(nats_url)
    for payload in (b"", b"{", b'{"id": 1}', b"null", b"\xff\xfe", b"[" * 10_000):
        await client.jetstream().publish(subjects.TRADES_EXECUTED, payload)
    await client.close()
    await publish(bus, trade(1))
    async with consuming(bus, settlement):
        await entries_are(pool, 8)


async def test_a_trade_that_the_database_refuses_is_rejected_alone(pool: asyncpg.Pool, settlement: Settlement) -> None:
    await pool.execute(
        "INSERT INTO ledger_entries (transaction_id, user_id, asset, amount, balance, entry_type, reference_type, "
        "reference_id) VALUES ($1, 'x', 'BTC', 0, 0, 'a', 'b', 'c')",
        "epoch-5:house-seller-fee",
    )
    trades = [trade(number) for number in range(1, 12)]
    assert await settlement.settle(trades) == {"epoch-5"}
    assert await count(pool) == 1 + 10 * 8
    row = await pool.fetchrow("SELECT trade_id, reason FROM ledger_rejected_trades")
    assert row is not None
    assert row["trade_id"] == "epoch-5"
    assert "duplicate key" in row["reason"]
    assert await available(pool, "ann", "BTC") == "20"
    assert await settlement.settle(trades) == {"epoch-5"}, "again and again"
    assert await count(pool, "ledger_rejected_trades") == 1


async def test_a_balance_beyond_what_the_ledger_can_hold_rejects_its_trade_alone(
    pool: asyncpg.Pool, settlement: Settlement
) -> None:
    whole = {"price": "1", "qty": "10000000000000000000", "buyer_fee": "0", "seller_fee": "0"}
    trades = [trade(number, **whole) for number in range(1, 13)]  # type: ignore[arg-type]
    trades.append(trade(13, "cat", "dan"))
    rejected = await settlement.settle(trades)
    assert 1 <= len(rejected) < 12
    assert "epoch-13" not in rejected
    await assert_books_are_right(pool)


async def test_sound_and_unsound_trades_of_one_id_do_not_hide_each_other(
    pool: asyncpg.Pool, settlement: Settlement
) -> None:
    assert await settlement.settle([trade(1, price="x"), trade(1), trade(1, qty="9"), trade(1, price="y")]) == set()
    assert await available(pool, "ann", "BTC") == "2"
    assert await count(pool, "ledger_rejected_trades") == 1
    await assert_books_are_right(pool)


async def test_an_account_below_zero_is_settled_all_the_same_and_counted(
    pool: asyncpg.Pool, settlement: Settlement
) -> None:
    before = NEGATIVE_BALANCES._value.get()
    await settlement.settle([trade(1)])
    assert NEGATIVE_BALANCES._value.get() == before + 2
    assert await available(pool, "ann", "USD") == "-200.5"


@pytest.mark.spec("A6.1-34")
async def test_a_settled_batch_is_announced_without_what_was_rejected(bus: Bus, settlement: Settlement) -> None:
    seen: list[TradesSettled] = []

    async def note(_: str, event: TradesSettled) -> None:
        seen.append(event)

    await bus.subscribe(subjects.TRADES_SETTLED, TradesSettled, note)
    await bus.check()
    trades = [trade(4), trade(7), trade(5, price="x")]
    await settlement.announce(trades, await settlement.settle(trades))
    await eventually(lambda: seen)
    assert (seen[0].trade_ids, seen[0].count, seen[0].last_sequence) == (["epoch-4", "epoch-7"], 2, 7)
    assert abs(seen[0].timestamp - system_clock() // 1_000_000) < 60_000


async def test_consumers_of_several_processes_share_the_trades(
    bus: Bus, pool: asyncpg.Pool, settings: Settings, settlement: Settlement
) -> None:
    other = await Bus.connect(settings, "other")
    try:
        async with consuming(bus, settlement), consuming(other, settlement):
            await publish(bus, *(trade(number, f"user{number % 7}", "maker") for number in range(300)))
            await entries_are(pool, 2400)
    finally:
        await other.close()
    await assert_books_are_right(pool)


async def test_a_failing_database_delays_trades_and_loses_none(
    bus: Bus, pool: asyncpg.Pool, settlement: Settlement
) -> None:
    await pool.execute("ALTER TABLE ledger_entries RENAME TO away")
    await publish(bus, trade(1))
    async with consuming(bus, settlement) as consumer:

        async def fails() -> bool:
            try:
                await consumer.check()
            except ConsumerError:
                return True
            return False

        await eventually(fails)
        await pool.execute("ALTER TABLE away RENAME TO ledger_entries")
        await entries_are(pool, 8)

        async def recovered() -> bool:
            return not await fails()

        await eventually(recovered)
