"""The work of the process that holds the lease: scans, interest, and unfinished work of other processes.

A scan reads the mark prices and the changed accounts, and checks the accounts whose level can have changed. It reads
balances of changed accounts only, and of a few others in turn, because an event may be lost. Before a liquidation
begins, the account's exact balances decide again.
"""

import asyncio
import time
from collections.abc import Iterable, Sequence
from contextlib import suppress

from openspot.contracts import subjects
from openspot.contracts.messages import MarginWarning
from openspot.domain.money import amount_to_text
from openspot.engine_client.errors import EngineError
from openspot.kit.bus import BusError
from openspot.kit.database import TRANSIENT_ERRORS
from openspot.kit.leader import LeaderLease
from openspot.kit.log import get_logger
from openspot.kit.tasks import is_set_within
from openspot.margin import loan_store, store
from openspot.margin.crossings import RiskBand
from openspot.margin.dependencies import Dependencies
from openspot.margin.figures import Marks
from openspot.margin.holdings import holdings_of
from openspot.margin.interest import accrue
from openspot.margin.lifecycle import AccountStatus
from openspot.margin.liquidator import Liquidator
from openspot.margin.metrics import HELD_BACK, INDEBTED, SCANS, UNPRICED, WARNINGS, WORK_FAILURES
from openspot.margin.orders import OrderRefusedError, OrderUndecidedError
from openspot.margin.positions import Positions
from openspot.margin.records import MarginAccountRow
from openspot.margin.scan import Finding, IndebtedAccounts, changed_marks

log = get_logger("margin")

WORK_PAUSE_S = 1.0
WORK_MAX = 200
CHANGED_PAGE = 1000
CHANGES_OVERLAP = 1000
"""Change numbers that are read again: a transaction may commit after one with a higher number."""
READ_AT_ONCE = 16
REREAD_MAX = 50
ACCRUE_PAGE = 1000
NAMED_MAX = 20
"""A line of the log names at most this many accounts."""
FAILURES = (EngineError, BusError, OrderUndecidedError, *TRANSIENT_ERRORS)
"""Errors that pass by themselves. The same work is tried again."""


class Scanner:
    """One leader session of the process that scans. `run` works until cancelled, or raises LeaseLostError."""

    def __init__(
        self, dependencies: Dependencies, positions: Positions, liquidator: Liquidator, lease: LeaderLease
    ) -> None:
        self._dependencies = dependencies
        self._positions = positions
        self._liquidator = liquidator
        self._lease = lease
        self._accounts = IndebtedAccounts()
        self._known: dict[str, MarginAccountRow] = {}
        self._change_of: dict[str, int] = {}
        self._newest_change = 0
        self._marked: set[str] = set()
        self._marks: Marks = {}
        self._reread: list[str] = []
        self._news = asyncio.Event()
        self.scanned_at = float("-inf")
        """The end of the newest scan, in seconds of time.monotonic()."""
        self.fault = "no scan has ended yet"
        self._held_back: list[str] = []

    def mark(self, account_ids: Iterable[str]) -> None:
        """Check these accounts at once."""
        self._marked.update(account_ids)
        self._news.set()

    def wake(self) -> None:
        """Scan at once."""
        self._news.set()

    async def run(self) -> None:
        """Scan, post interest and finish unfinished work, each at its own interval."""
        async with asyncio.TaskGroup() as group:
            group.create_task(self._scans())
            group.create_task(self._interest())
            group.create_task(self._work())

    async def _scans(self) -> None:
        while True:
            self._lease.check()
            self._news.clear()
            try:
                with SCANS.time():
                    await self.scan()
            except FAILURES as error:
                self.fault = repr(error)
                log.warning("scan failed", error=repr(error))
                # Without this pause, each changed account would repeat a failing scan at once.
                await asyncio.sleep(min(self._dependencies.settings.margin_scan_s, WORK_PAUSE_S))
            await is_set_within(self._news, self._dependencies.settings.margin_scan_s)

    async def scan(self) -> None:
        """Check every account whose level can have changed. Publish warnings and begin liquidations.

        Warnings that cannot be published keep no liquidation back: the next scan finds them again, and this one raises
        one of FAILURES at its end.
        """
        marks = self._dependencies.marks.current()
        await self._read_changes()
        result = self._accounts.scan(changed_marks(self._marks, marks), marks)
        self._marks = marks
        INDEBTED.set(len(self._accounts))
        UNPRICED.set(len(result.unpriced))
        HELD_BACK.set(len(result.held_back))
        if result.held_back and result.held_back != self._held_back:
            named = ", ".join(result.held_back[:NAMED_MAX])
            log.warning("liquidations wait: nothing outside confirms the price", account_ids=named)
        self._held_back = result.held_back
        unpublished = await self._publish(result.warnings)
        await self._store_risk_bands()
        for finding in result.liquidations:
            if await self._liquidator.begin(finding.account_id):
                await self._advance(finding.account_id)
        if unpublished is not None:
            raise unpublished
        self.scanned_at = time.monotonic()

    async def _read_changes(self) -> None:
        """Read the changed accounts, the marked ones, and a few others in turn."""
        pool = self._dependencies.pool
        after = max(self._newest_change - CHANGES_OVERLAP, 0)
        while page := await store.changed_accounts(pool, after, CHANGED_PAGE):
            for account_id, number in page:
                if self._change_of.get(account_id) != number:
                    self._change_of[account_id] = number
                    self._marked.add(account_id)
            after = page[-1][1]
        self._newest_change = max(self._newest_change, after)
        if not self._reread:
            self._reread = sorted(self._accounts.risk_bands())
        self._marked.update(self._reread[-REREAD_MAX:])
        del self._reread[-REREAD_MAX:]
        while self._marked:
            some = sorted(self._marked)[:CHANGED_PAGE]
            await self._read(some)
            self._marked.difference_update(some)

    async def _read(self, account_ids: list[str]) -> None:
        found = await store.accounts_by_id(self._dependencies.pool, account_ids)
        loans = await loan_store.loans_of_accounts(self._dependencies.pool, account_ids)
        scanned = self._accounts.risk_bands()
        gate = asyncio.Semaphore(READ_AT_ONCE)

        async def read(account: MarginAccountRow) -> None:
            account_id = account.account_id
            if account.status is not AccountStatus.ACTIVE or account_id not in loans:
                self._accounts.put(account_id, {})
                return
            async with gate:
                offered = self._dependencies.offer.assets
                holdings = await holdings_of(self._dependencies.queries, account_id, loans[account_id], offered)
            self._accounts.put(account_id, holdings.balances())
            if account_id not in scanned:
                self._accounts.restore_risk_bands({account_id: account.risk_band})

        await asyncio.gather(*(read(account) for account in found.values()))
        self._known.update(found)

    async def _publish(self, warnings: Sequence[Finding]) -> Exception | None:
        """Publish warnings up to the first that cannot be. Returns why, None if all are published."""
        for number, finding in enumerate(warnings):
            try:
                await self._warn(finding)
            except FAILURES as error:
                self._accounts.not_warned(left.account_id for left in warnings[number:])
                return error
        return None

    async def _warn(self, finding: Finding) -> None:
        """Publish a warning. Its id has the warning's number in the account, so a repetition has the same id."""
        account = self._known[finding.account_id]
        figures = finding.figures
        message_id = f"{account.account_id}:warning:{account.warnings + 1}"
        level = figures.level
        assert level is not None, "an account without debt is not at risk"
        event = MarginWarning(
            message_id,
            account.account_id,
            account.user_id,
            amount_to_text(level),
            amount_to_text(figures.equity),
            amount_to_text(figures.debt_amount),
            self._dependencies.now_ms(),
        )
        await self._dependencies.bus.publish(subjects.MARGIN_LIQUIDATION_WARNING, event, message_id)
        async with self._dependencies.pool.acquire() as connection:
            await store.set_risk_band(connection, account.account_id, RiskBand.WARNING, warned=True)
        account.warnings += 1
        account.risk_band = RiskBand.WARNING
        WARNINGS.inc()

    async def _store_risk_bands(self) -> None:
        risk_bands = self._accounts.risk_bands()
        for account_id, account in self._known.items():
            risk_band = risk_bands.get(account_id, RiskBand.SAFE)
            if risk_band is not account.risk_band:
                async with self._dependencies.pool.acquire() as connection:
                    await store.set_risk_band(connection, account_id, risk_band, warned=False)
                account.risk_band = risk_band

    async def _interest(self) -> None:
        while True:
            self._lease.check()
            try:
                await self.post_interest()
            except FAILURES as error:
                log.warning("interest not posted; the next time posts it", error=repr(error))
            await asyncio.sleep(self._dependencies.settings.margin_interest_s)

    async def post_interest(self) -> int:
        """Add the interest of whole minutes to every loan's debt. Returns how many loans changed."""
        dependencies, after, count = self._dependencies, "", 0
        while True:
            async with dependencies.pool.acquire() as connection, connection.transaction():
                loans = await loan_store.loans_to_accrue(connection, after, ACCRUE_PAGE)
                now_ms = dependencies.now_ms()
                postings = []
                for loan in loans:
                    accrued = accrue(loan.accrual, now_ms)
                    if accrued.posting is not None:
                        posting_id, amount = accrued.posting
                        postings.append((posting_id, loan.loan_id, loan.account_id, amount, accrued.loan.posted))
                await loan_store.post_interest(connection, postings, now_ms)
                await store.touch_many(connection, [account_id for _, _, account_id, _, _ in postings])
            count += len(postings)
            if len(loans) < ACCRUE_PAGE:
                break
            after = loans[-1].loan_id
        if count:
            self.wake()
        return count

    async def _work(self) -> None:
        while True:
            self._lease.check()
            try:
                for account_id in await store.accounts_with_work(
                    self._dependencies.pool, self._dependencies.now_ms(), WORK_MAX
                ):
                    self._lease.check()
                    await self._advance(account_id)
            except TRANSIENT_ERRORS as error:
                log.warning("work under way not read", error=repr(error))
            await asyncio.sleep(WORK_PAUSE_S)

    async def _advance(self, account_id: str) -> None:
        """Do the next steps of an account's orders, transfers and liquidation. A failure stops no other account."""
        try:
            # What becomes of a refused order is decided at a later call.
            with suppress(OrderRefusedError):
                await self._positions.advance(account_id)
            await self._liquidator.advance(account_id)
        except FAILURES as error:
            WORK_FAILURES.inc()
            log.warning("work on an account will be tried again", account_id=account_id, error=repr(error))
        except Exception:
            WORK_FAILURES.inc()
            log.exception("work on an account failed", account_id=account_id)
        self.mark([account_id])
