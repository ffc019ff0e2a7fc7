"""One reconciliation: compares the engine with all its mirrors.

1. The mark is the engine's newest event. The mirrors get a limited time to reach it.
2. One database snapshot gives the rows and the ledger at one moment. The rows are exactly at their cursor. The ledger
   must have everything up to the mark, and may have more.
3. The engine's balances and its position are not read in one step. So the reconciliation adds up the events until the
   sums equal the balances, to the last digit. That finds the event at which the balances were read.
"""

import time
from collections.abc import Sequence
from decimal import Decimal

import asyncpg

from openspot.contracts.engine_events import BalanceEvent, EngineEvent, Hello, TradeEvent, TransferEvent
from openspot.domain.accounts import AccountKey
from openspot.domain.money import EXACT
from openspot.engine_client.settings import EngineConnectionSettings
from openspot.kit.database import TRANSIENT_ERRORS
from openspot.reconcile import causes
from openspot.reconcile.comparison import compare_orders, compare_trades
from openspot.reconcile.house import house_accounts
from openspot.reconcile.money_checks import CHECKS, COPIED_TABLES
from openspot.reconcile.progress import MirrorProgress, wait_for_mirrors
from openspot.reconcile.projection import EngineProjection, movements, trade_facts
from openspot.reconcile.records import Difference
from openspot.reconcile.report import ReconcileReport
from openspot.reconcile.store import EngineReader, EngineUnavailableError
from openspot.reconcile.tables import ComparisonTables, open_tables
from openspot.router.rows_position import RowsPosition

DIFFERENCES_MAX = 1000
"""At most this many differences of one kind are listed. The rest are counted."""
STILL_ATTEMPTS_MAX = 20
"""If the engine's oldest events are gone, its balances must be read while no event happens; at most this often."""


class NotComparableError(Exception):
    """The sides could not be compared. The message says why."""


async def reconcile(settings: EngineConnectionSettings, wait_s: float) -> ReconcileReport:
    """Compare both sides. The mirrors get `wait_s` seconds to catch up. Raises NotComparableError."""
    began = time.monotonic()
    try:
        async with EngineReader(settings) as engine:
            mark = await engine.position()
            progress = await wait_for_mirrors(settings, mark.last_seq, wait_s)
            async with open_tables(settings.database_url, COPIED_TABLES) as tables:
                for table in COPIED_TABLES:
                    await tables.add_rows(table, getattr(settings, table.database, ""))
                comparison = _Comparison(engine, tables, mark, progress)
                await comparison.load()
                return await comparison.report(began)
    except EngineUnavailableError as error:
        raise NotComparableError(f"the engine does not answer: {error}") from error
    except (asyncpg.PostgresError, *TRANSIENT_ERRORS) as error:
        raise NotComparableError(f"the database does not answer: {error!r}") from error


class _Comparison:
    def __init__(self, engine: EngineReader, tables: ComparisonTables, mark: Hello, progress: MirrorProgress) -> None:
        self._engine = engine
        self._tables = tables
        self._mark = mark
        self._progress = progress
        self._rows = RowsPosition.at(mark.epoch, 0)
        self._later_trades: list[str] = []
        """The ids of trades whose rows are written while the rows of other partitions are still behind them."""
        self._first_sequence = 1
        self._cut = 0
        self._contradictions: dict[AccountKey, Decimal] = {}
        self._differences: list[Difference] = []
        self._unnamed = 0

    # Loading

    async def load(self) -> None:
        """Load the engine's side into the database, beside the mirrors."""
        position = await self._tables.rows_position()
        if position is not None and position.epoch != self._mark.epoch:
            raise NotComparableError(
                f"the engine's journal is {self._mark.epoch}, the rows are those of {position.epoch}: "
                "the engine has a new journal, the database is that of an old one"
            )
        if position is not None:
            self._rows = position
        before, balances, after = await self._balances()
        if self._rows.newest > before.last_seq:
            raise NotComparableError(
                f"the rows are at event {self._rows.newest}, the engine's newest is {before.last_seq}: "
                "its data directory is older than the database"
            )
        self._first_sequence = after.first_seq
        await self._tables.add_balances(balances)
        await self._load_events(before.last_seq)
        self._cut = before.last_seq
        if self._is_complete:
            await self._find_cut(after.last_seq)
        await self._tables.find_gaps(self._first_sequence)

    @property
    def _is_complete(self) -> bool:
        return self._first_sequence == 1

    async def _balances(self) -> tuple[Hello, dict[AccountKey, Decimal], Hello]:
        """The engine's balances, and its positions before and after they were read."""
        for _ in range(STILL_ATTEMPTS_MAX):
            before = await self._engine.position()
            balances = await self._engine.balances()
            after = await self._engine.position()
            if not self._mark.epoch == before.epoch == after.epoch:
                raise NotComparableError("the engine's journal was replaced meanwhile")
            if after.first_seq == 1 or before.last_seq == after.last_seq:
                return before, balances, after
        raise NotComparableError(
            f"the engine has only its events from {after.first_seq} on, and is too busy to be compared without the "
            "older ones: try again when it is less busy"
        )

    async def _load_events(self, until: int) -> None:
        projection = EngineProjection()
        archived = (await self._tables.floors()).get("orders", 0)
        async for batch in self._engine.events(self._first_sequence, until):
            written = [event for event in batch if self._rows.includes(event)]
            projection.apply_all(event for event in written if event.seq <= archived)
            # The rows of these may be in the archive.
            projection.take_finished()
            projection.apply_all(event for event in written if event.seq > archived)
            self._later_trades += [
                event.trade_id for event in written if isinstance(event, TradeEvent) and event.seq > self._rows.least
            ]
            ended, _ = projection.take_finished()
            await self._tables.add_orders(ended)
            await self._add(batch)
        await self._tables.add_orders(projection.orders.values())

    async def _add(self, events: Sequence[EngineEvent]) -> None:
        await self._tables.add_trades(trade_facts(event) for event in events if isinstance(event, TradeEvent))
        money = (event for event in events if isinstance(event, BalanceEvent))
        await self._tables.add_money(money, self._mark.epoch)
        await self._tables.add_transfers(event for event in events if isinstance(event, TransferEvent))

    async def _find_cut(self, until: int) -> None:
        """Find the event after which the sums equal the balances, and load the events up to it."""
        rest = await self._tables.unsummed()
        if not rest:
            return
        walked: list[EngineEvent] = []
        async for batch in self._engine.events(self._cut + 1, until):
            for event in batch:
                walked.append(event)
                for account, amount in movements(event):
                    rest[account] = EXACT.subtract(rest.get(account, Decimal(0)), amount)
                    if not rest[account]:
                        del rest[account]
                if not rest:
                    break
            if not rest:
                break
        await self._add(walked)
        self._cut = walked[-1].seq if walked else self._cut
        self._contradictions = rest

    # Comparing

    async def report(self, began: float) -> ReconcileReport:
        """Name every difference."""
        settled, mark = self._progress.settled, self._mark.last_seq
        if self._rows.least < mark:
            self._differences.append(causes.rows_difference(mark, self._rows.least))
        self._differences += [
            causes.engine_difference(*account, rest) for account, rest in sorted(self._contradictions.items())
        ]
        balances = await self._tables.balance_gaps(mark, DIFFERENCES_MAX)
        complete = self._is_complete
        self._name([causes.balance_difference(gap, settled, complete) for gap in balances.listed], balances.found)
        entries = await self._tables.entry_gaps(mark, DIFFERENCES_MAX)
        self._name([causes.entry_difference(gap, settled) for gap in entries.listed], entries.found)
        accounts = await self._tables.imbalances(DIFFERENCES_MAX)
        self._name([causes.account_difference(account) for account in accounts.listed], accounts.found)
        self._differences += [causes.asset_difference(*asset) for asset in await self._tables.unbalanced_assets()]
        await self._compare_rows()
        await self._check_money(mark, settled=bool(settled))
        counts = await self._tables.counts()
        return ReconcileReport(
            epoch=self._mark.epoch,
            first_sequence=self._first_sequence,
            engine_sequence=self._cut,
            rows_sequence=self._rows.least,
            settled_sequence=await self._tables.settled_sequence(),
            caught_up=self._progress.rows_reached and bool(settled),
            accounts=counts.accounts,
            orders=counts.orders,
            trades=counts.trades,
            entries=counts.entries,
            adjustments=counts.adjustments,
            unbooked_adjustments=counts.unbooked,
            seconds=round(time.monotonic() - began, 3),
            differences=self._differences,
            unnamed=self._unnamed,
            house_accounts=house_accounts(await self._tables.house_balances()),
        )

    async def _compare_rows(self) -> None:
        orders = await self._tables.order_pairs(self._is_complete, DIFFERENCES_MAX)
        for order, order_row in orders.listed:
            self._differences += compare_orders(
                {order.order_id: order} if order else {}, {order_row.order_id: order_row} if order_row else {}
            )
        self._unnamed += orders.found - len(orders.listed)
        trades = await self._tables.trade_pairs(
            self._rows.least, self._later_trades, self._first_sequence, DIFFERENCES_MAX
        )
        for trade, trade_row in trades.listed:
            self._differences += compare_trades(
                {trade.trade_id: trade} if trade else {}, {trade_row.trade_id: trade_row} if trade_row else {}
            )
        self._unnamed += trades.found - len(trades.listed)

    async def _check_money(self, mark: int, *, settled: bool) -> None:
        """Compare what the services wrote about money."""
        counted = bool(self._progress.counted)
        await self._tables.set_scope(mark, is_complete=self._is_complete, settled=settled, counted=counted)
        for check in CHECKS:
            found = await self._tables.check_money(check, DIFFERENCES_MAX)
            self._name(found.listed, found.found)

    def _name(self, differences: Sequence[Difference], found: int) -> None:
        self._differences += differences
        self._unnamed += found - len(differences)
