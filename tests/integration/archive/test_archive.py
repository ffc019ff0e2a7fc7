"""Old rows leave into files: nothing is lost or doubled, whenever the run ends, and every mirror still agrees."""

import asyncio
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import asyncpg
import pytest

from openspot.archive import run as archive_run
from openspot.archive.files import NOT_REGISTERED, ArchiveError, found_rows, manifests, read
from openspot.archive.kinds import ENTRIES, KINDS, ORDERS, TRADES
from openspot.archive.restore import restore, verify
from openspot.archive.run import Moved, archive, compact
from openspot.contracts.messages import ExecutedTrade, TradeFee, TradeFees
from openspot.deposit.deposit import deposit
from openspot.kit.settings import Settings
from openspot.ledger.postings import trade_entry
from openspot.ledger.store import LedgerStore
from openspot.reconcile.outcome import NotRebuiltError, Rebuilt
from openspot.reconcile.rebuild import rebuild
from openspot.rest_edge.funds.accounts.portfolio_store import PortfolioStore
from openspot.rest_edge.operators.treasury.flow_store import known
from tests.support.histories import fill
from tests.support.mirrored_market import MirroredMarket

BEFORE = datetime(2026, 1, 1, tzinfo=UTC)
ALL = dict.fromkeys(KINDS, BEFORE)
TABLES = {"orders": "orders", "trades": "trades", "entries": "ledger_entries", "audit": "audit_records"}
AGE = """
    UPDATE orders SET created_at = '2025-03-01', updated_at = '2025-03-02 10:00:00.123';
    UPDATE trades SET executed_at = '2025-03-02 10:00:00.123';
    UPDATE ledger_entries SET created_at = '2025-03-31 23:59:59.9' WHERE entry_id % 2 = 0;
    UPDATE ledger_entries SET created_at = '2025-04-01' WHERE entry_id % 2 = 1;
    INSERT INTO audit_records (request_id, user_id, method, path, status, address, duration_ms, created_at)
    SELECT 'request', CASE WHEN n > 1 THEN 'alice' END, 'GET', E'/\\\\N", \\n', 200, '::1', 0.1 + n, '2025-05-01'
    FROM generate_series(1, 5) AS n
"""
"""Makes everything old that is there. The time of a row is compared with nothing."""


INDEXES = "SELECT indexrelid::regclass::text FROM pg_index WHERE indrelid = 'orders'::regclass ORDER BY 1"


class KilledError(Exception):
    """Ends a run in the middle."""


class Killer:
    """Ends a run after its step number `last`."""

    def __init__(self, last: int) -> None:
        self.steps: list[str] = []
        self._last = last

    def __call__(self, step: str) -> None:
        self.steps.append(step)
        if len(self.steps) == self._last:
            raise KilledError(step)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Where the archive is."""
    return tmp_path / "archive"


@pytest.fixture
async def aged(market: MirroredMarket, monkeypatch: pytest.MonkeyPatch) -> MirroredMarket:
    """A market with old rows, and newer ones on top of them. Files are small, so that there are several."""
    monkeypatch.setattr(archive_run, "ROWS_PER_FILE", 10)
    monkeypatch.setattr(archive_run, "PAGES_AT_A_TIME", 1)
    await market.trade(3)
    assert await market.differences() == []
    await market.pool.execute(AGE)
    await market.trade(2)
    assert await market.differences() == []
    return market


async def rows_of(pool: asyncpg.Pool) -> dict[str, set[tuple[Any, ...]]]:
    """Every row of the tables that rows leave."""
    return {name: {tuple(row) for row in await pool.fetch(f"SELECT * FROM {table}")} for name, table in TABLES.items()}


async def moved(market: MirroredMarket, folder: Path, **options: Any) -> Moved:
    return await archive(market.settings.database_url, folder, ALL, is_dry=options.pop("is_dry", False), **options)


def archived(folder: Path) -> dict[str, list[Sequence[str | None]]]:
    rows: dict[str, list[Sequence[str | None]]] = {name: [] for name in KINDS}
    for manifest in manifests(folder):
        rows[manifest.kind] += read(folder, manifest)
    return rows


def assert_only_times_differ(rebuilt: Rebuilt) -> None:
    """The test has changed the times of trade rows, which a rebuild compares."""
    assert rebuilt.counts.keys() == {"trade row"}
    assert all("executed_at" in change and change.count("becomes") == 1 for change in rebuilt.changes)


async def test_old_rows_leave_once_every_mirror_agrees_and_they_come_back_as_they_were(
    aged: MirroredMarket, folder: Path
) -> None:
    before = await rows_of(aged.pool)
    counted = await moved(aged, folder, is_dry=True)
    assert await rows_of(aged.pool) == before
    assert manifests(folder) == []
    outcome = await moved(aged, folder)
    after = await rows_of(aged.pool)
    assert outcome.rows == counted.rows
    assert {name: set(months) for name, months in outcome.rows.items()} == {
        "entries": {"2025-03", "2025-04"}, "trades": {"2025-03"}, "orders": {"2025-03"}, "audit": {"2025-05"},
    }  # fmt: skip
    for name, rows in archived(folder).items():
        assert rows, name
        assert len({KINDS[name].key_of(row) for row in rows}) == len(rows) == len(before[name] - after[name])
        assert after[name] < before[name]
    # Deposits stay, and the entry and the trade that say what an account and a market had at that time.
    assert await aged.pool.fetchval("SELECT count(*) FROM ledger_entries WHERE entry_type = 'deposit'")
    assert await aged.differences() == []
    assert (await verify(folder, aged.settings.database_url)).problems == []
    await aged.trade(1)
    assert await aged.differences() == []
    now = await rows_of(aged.pool)
    assert await moved(aged, folder) == Moved(is_dry=False)
    restored = await restore(aged.settings.database_url, folder, list(KINDS.values()))
    assert restored == {name: sum(months.values()) for name, months in outcome.rows.items()}
    assert {name: rows - now[name] for name, rows in (await rows_of(aged.pool)).items()} == {
        name: before[name] - after[name] for name in before
    }
    assert await aged.pool.fetchval("SELECT count(*) FROM ledger_carried") == 0
    assert await aged.differences() == []
    assert_only_times_differ(await rebuild(aged.settings, is_plan=True))


@pytest.mark.proof
async def test_a_run_that_ends_after_any_step_is_finished_by_the_next_and_nothing_is_lost_or_doubled(
    aged: MirroredMarket, folder: Path
) -> None:
    before = await rows_of(aged.pool)
    wanted = await moved(aged, folder, is_dry=True)
    seen: set[str] = set()
    for last in range(1, 1000):
        # Now after this step, now after that one.
        killer = Killer(1 + last % 7)
        try:
            await moved(aged, folder, step=killer)
        except KilledError as killed:
            seen |= {str(killed)} - {"room"}
            if last % 8 == 0:
                assert await aged.differences() == []
            continue
        break
    assert seen == {"floor", "written", "registered", "removed", "set aside"}
    after, rows = await rows_of(aged.pool), archived(folder)
    for name, months in wanted.rows.items():
        assert len(rows[name]) == len({KINDS[name].key_of(row) for row in rows[name]}) == sum(months.values())
        assert len(before[name]) - len(after[name]) == sum(months.values())
    assert (await verify(folder, aged.settings.database_url)).problems == []
    assert await aged.differences() == []
    await aged.trade(1)
    for last in range(1, 1000):
        try:
            await restore(aged.settings.database_url, folder, list(KINDS.values()), Killer(1 + last % 2))
        except KilledError:
            continue
        break
    # The orders that were open may have changed.
    assert all(before[name] - after[name] <= rows for name, rows in (await rows_of(aged.pool)).items())
    assert await aged.differences() == []


async def test_a_trade_whose_entries_left_is_not_settled_again(aged: MirroredMarket, folder: Path) -> None:
    trades = await aged.pool.fetch("SELECT * FROM trades ORDER BY sequence")
    await moved(aged, folder)
    floor = await aged.pool.fetchval("SELECT sequence FROM archive_floors WHERE kind = 'entries'")
    balances = await aged.pool.fetch("SELECT user_id, asset, available, locked FROM ledger_accounts ORDER BY 1, 2")
    entries = [trade_entry(_message(row)) for row in trades]
    assert any(row["sequence"] <= floor for row in trades)
    assert any(row["sequence"] > floor for row in trades)
    ledger = LedgerStore(aged.pool)
    # The second time it expects no repeats, and does not look first.
    for _ in range(2):
        assert (await ledger.post(entries)).ids == set()
    old = [entry for entry, row in zip(entries, trades, strict=True) if row["sequence"] <= floor]
    fresh = old[0]._replace(id=f"other-{floor}", marker=f"other-{floor}:buyer-quote", postings=(), house_postings=())
    assert (await ledger.post([*old, fresh])).ids == {fresh.id}
    assert balances == await aged.pool.fetch(
        "SELECT user_id, asset, available, locked FROM ledger_accounts ORDER BY 1, 2"
    )
    assert await aged.differences() == []


def _message(row: Any) -> ExecutedTrade:
    base, quote = row["symbol"].split("-")
    sides = ("taker", "maker") if row["taker_side"] == "buy" else ("maker", "taker")
    buyer_fee, seller_fee = (str(row[f"{side}_fee"]) for side in sides)
    fees = TradeFees(
        TradeFee(row["buyer_id"], buyer_fee, row["fee_currency"]),
        TradeFee(row["seller_id"], seller_fee, row["fee_currency"]),
    )
    return ExecutedTrade(
        id=row["trade_id"], symbol=row["symbol"], base_asset=base, quote_asset=quote, buyer_id=row["buyer_id"],
        seller_id=row["seller_id"], price=str(row["price"]), quantity=str(row["quantity"]), fees=fees,
        taker_side=row["taker_side"], taker_order_id=row["taker_order_id"], maker_order_id=row["maker_order_id"],
        is_taker_completed=True, is_maker_completed=True, sequence=row["sequence"], timestamp=0,
    )  # fmt: skip


@pytest.mark.proof
async def test_the_reference_of_an_old_deposit_counts_once_after_the_archive_too(
    aged: MirroredMarket, folder: Path
) -> None:
    old = "SELECT transaction_id, user_id FROM ledger_entries WHERE entry_type = 'deposit' AND created_at < $1"
    deposits = await aged.pool.fetch(old, BEFORE)
    assert deposits
    await moved(aged, folder)
    archived_ids = {row[1] for row in archived(folder)["entries"]}
    before = await aged.engine.balances("bob"), await aged.engine.balances("house:fees")
    for reference, user in deposits:
        assert reference not in archived_ids
        # Money of the house with this reference is refused, in capital letters too.
        async with aged.pool.acquire() as connection:
            for written in (reference, reference.upper()):
                found = await known(connection, written, datetime.now(UTC), except_request="")
                assert found is not None
                assert f" of {user}" in found.text
    # A second deposit with it gives nothing, to whomever it names.
    await deposit(aged.settings, "bob", "USD", "1000", deposits[0]["transaction_id"])
    assert (await aged.engine.balances("bob"), await aged.engine.balances("house:fees")) == before
    assert await aged.differences() == []


async def test_a_changed_row_stays_and_its_file_is_set_aside(aged: MirroredMarket, folder: Path) -> None:
    before = await rows_of(aged.pool)
    killer = Killer(3)
    with pytest.raises(KilledError, match="registered"):
        await moved(aged, folder, step=killer)
    (manifest,) = manifests(folder)
    key = ENTRIES.key_of(read(folder, manifest)[0])
    await aged.pool.execute("UPDATE ledger_entries SET amount = amount + 1 WHERE transaction_id = $1", key)
    with pytest.raises(ArchiveError, match=f"{manifest.file}: its rows have changed since it was written"):
        await moved(aged, folder)
    assert len((await rows_of(aged.pool))["entries"]) == len(before["entries"])
    assert len(list((folder / NOT_REGISTERED).iterdir())) == 2
    await aged.pool.execute("UPDATE ledger_entries SET amount = amount - 1 WHERE transaction_id = $1", key)
    await moved(aged, folder)
    assert await aged.differences() == []


@pytest.mark.proof
async def test_a_repair_says_that_it_needs_the_archive(aged: MirroredMarket, folder: Path) -> None:
    await moved(aged, folder)
    with pytest.raises(NotRebuiltError, match="`openspot archive restore` brings them back"):
        await rebuild(aged.settings, is_plan=True)
    await restore(aged.settings.database_url, folder, [ENTRIES, TRADES, ORDERS])
    assert_only_times_differ(await rebuild(aged.settings, is_plan=True))


@pytest.mark.proof
async def test_damage_after_an_archive_is_still_found(aged: MirroredMarket, folder: Path) -> None:
    await moved(aged, folder)
    await aged.pool.execute(
        "DELETE FROM ledger_entries WHERE entry_id = (SELECT max(entry_id) FROM ledger_entries WHERE user_id = 'bob');"
        "DELETE FROM trades WHERE sequence = (SELECT max(sequence) FROM trades);"
        "UPDATE orders SET fee = fee + 1 WHERE last_sequence = (SELECT max(last_sequence) FROM orders);"
        "UPDATE ledger_carried SET amount = amount + 1 WHERE user_id = 'alice' AND asset = 'BTC'"
    )
    kinds = {difference.split()[0] for difference in await aged.differences()}
    assert kinds == {"entry", "account", "trade", "order"}
    assert any("account alice BTC" in difference for difference in await aged.differences())


@pytest.mark.proof
async def test_a_portfolio_of_the_time_after_the_archive_is_what_it_was(aged: MirroredMarket, folder: Path) -> None:
    store = PortfolioStore(aged.pool)
    points = [BEFORE, datetime(2026, 6, 1, tzinfo=UTC)]
    before = await store.balances("alice", points), await store.prices(["BTC"], "USD", points)
    assert before[0]["BTC"]
    assert before[1]["BTC"]
    await moved(aged, folder)
    assert (await store.balances("alice", points), await store.prices(["BTC"], "USD", points)) == before


async def test_a_user_finds_what_left(aged: MirroredMarket, folder: Path) -> None:
    of_alice = await aged.pool.fetch(
        "SELECT trade_id FROM trades WHERE 'alice' IN (buyer_id, seller_id) AND executed_at < $1", BEFORE
    )
    await moved(aged, folder)
    left = {row["trade_id"] for row in await aged.pool.fetch("SELECT trade_id FROM trades")}
    found = [row["trade_id"] for row in found_rows(folder, TRADES, "alice")]
    assert set(found) == {row["trade_id"] for row in of_alice} - left
    assert list(found_rows(folder, TRADES, "alice", "2025-04")) == []
    assert list(found_rows(folder, TRADES, "alice", "", "2025-03-02")) == []
    assert len(list(found_rows(folder, TRADES, "alice", "2025-03", "2025-04"))) == len(found)
    paths = {row["path"] for row in found_rows(folder, KINDS["audit"], "alice")}
    assert paths == {'/\\N", \n'}


@pytest.mark.proof
async def test_indexes_are_made_anew_and_an_abandoned_one_goes(pool: asyncpg.Pool, settings: Settings) -> None:
    await fill(pool, 20_000)
    names = [row[0] for row in await pool.fetch(INDEXES)]
    assert "orders_by_client_id_ccnew" not in names
    # It stays and is invalid, as after a REINDEX that was interrupted.
    with pytest.raises(asyncpg.UniqueViolationError):
        await pool.execute("CREATE UNIQUE INDEX CONCURRENTLY orders_by_client_id_ccnew ON orders (side)")
    compacted = await compact(settings.database_url, {"orders", "entries"})
    assert {each.name for each in compacted} > {"orders_pkey", "orders_open", "ledger_entries_pkey"}
    assert not any(each.name.startswith(("trades", "audit")) for each in compacted)
    assert [row[0] for row in await pool.fetch(INDEXES)] == names
    sizes = {each.name: (each.before, each.after) for each in compacted}
    before, after = sizes["ledger_entries_of_account"]
    assert after < 0.8 * before


@pytest.mark.proof
async def test_only_one_changes_rows_at_a_time(aged: MirroredMarket, folder: Path) -> None:
    ended = await asyncio.gather(*(moved(aged, folder) for _ in range(2)), return_exceptions=True)
    assert sorted(isinstance(each, ArchiveError) for each in ended) == [False, True]
