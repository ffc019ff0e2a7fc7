"""Reports for operators: exchange statistics, balances and risk metrics."""

import asyncio
import time
from collections import Counter
from collections.abc import AsyncIterator
from decimal import Decimal
from heapq import heappush, heappushpop
from pathlib import Path

import psutil

from openspot import __version__
from openspot.contracts.gen.exchange.v1 import admin_pb2 as pb
from openspot.domain.money import EXACT, amount_to_text, decimal_to_text, scaled_to_text
from openspot.engine.admin.balance_pages import ACCOUNTS_A_TURN, BalancePages, BalancePlace
from openspot.engine.admin.errors import resource_exhausted
from openspot.engine.admin.order_list import OrderQueries
from openspot.engine.core.protocol import CoreBalance
from openspot.engine.engine import Engine
from openspot.engine.state.directory import UNKNOWN_ACCOUNT
from openspot.engine_client.participant_schemas import LISTED_MAX
from openspot.kit.kept_answers import KeptAnswers

ROWS_MAX = 100_000
"""The most rows of one response. A caller who would get more must name a participant."""
_MILLISECONDS = 1000

_Entry = tuple[int, int, str, CoreBalance]
"""(what the list is ordered by, minus the count so far, participant, balance)"""
_FirstBalances = tuple[list[tuple[str, CoreBalance]], int]
"""(participant, balance) of the first balances of a list, and how many there are in all."""


class Reports:
    """Reports of one engine, from its current state."""

    def __init__(self, engine: Engine, orders: OrderQueries) -> None:
        self._engine = engine
        self._machine = engine.machine
        self._orders = orders
        self._pages = BalancePages(engine.machine)
        self._started = time.monotonic()
        self._process = psutil.Process()
        # A screen asks for these again and again, and each looks through all orders or all balances.
        self._open_counts = KeptAnswers[None, Counter[tuple[int, int]]](lambda _: orders.open_counts())
        self._most_used = KeptAnswers[None, _FirstBalances](lambda _: self._find_most_used(""))
        self._some_balances = KeptAnswers[int | None, _FirstBalances](
            lambda currency: self._find_balances("", currency)
        )

    def exchange(self) -> pb.GetExchangeStatsResponse:
        """The response of GetExchangeStats."""
        engine, core, totals = self._engine, self._machine.core, self._machine.totals
        pending = len(engine.sequencer.pending_engine_order_ids())
        return pb.GetExchangeStatsResponse(
            matching=pb.MatchingStats(
                core=core.name,
                commands=core.command_sequence,
                events=core.event_sequence,
                symbols=len(self._machine.directory.symbols),
                state_hash=engine.state_hash,
                state_hash_commands=engine.state_hash_commands,
            ),
            orders=pb.OrderStats(
                open=self._machine.orders.open_count - pending,
                placed=totals.placed,
                rejected=totals.rejected,
                cancelled=totals.cancelled,
            ),
            trades=self._trades(),
            participants=pb.ParticipantStats(
                total=len(self._machine.participants.profiles), active=self._machine.participants.active_count
            ),
            system=pb.SystemStats(
                uptime_ms=int((time.monotonic() - self._started) * _MILLISECONDS),
                memory_bytes=self._process.memory_info().rss,
                journal_bytes=_journal_bytes(engine.journal_path),
                queue_depth=engine.sequencer.depth,
                version=__version__,
            ),
        )

    def _trades(self) -> pb.TradeStats:
        volumes: dict[str, Decimal] = {}
        notionals: dict[str, Decimal] = {}
        count = 0
        for number, tally in self._machine.totals.tallies.items():
            spec = self._machine.directory.symbol(number)
            assert spec is not None, "a symbol number keeps its name forever"
            count += tally.trades
            # Two numbers can share a name, if a symbol was deleted and created again.
            for sums, value, scale in (
                (volumes, tally.quantity, spec.base_scale_k),
                (notionals, tally.notional, spec.base_scale_k * spec.quote_scale_k),
            ):
                sums[spec.symbol] = EXACT.add(sums.get(spec.symbol, Decimal(0)), Decimal(scaled_to_text(value, scale)))
        return pb.TradeStats(
            count=count,
            volume_by_symbol={symbol: decimal_to_text(volume) for symbol, volume in volumes.items()},
            notional_by_symbol={symbol: decimal_to_text(notional) for symbol, notional in notionals.items()},
        )

    # Balances

    async def balances(self, participant_id: str) -> list[pb.AdminBalance]:
        """The balances of one participant, or of all without one. Raises AdminError if there are too many."""
        rows: list[pb.AdminBalance] = []
        async for name, balance in self._balances(participant_id):
            _check_room(rows)
            rows.append(self._balance(name, balance))
        return rows

    async def some_balances(
        self, participant_id: str, currency: int | None, limit: int
    ) -> tuple[list[pb.AdminBalance], int]:
        """Balances of one participant or of all, at most `limit`, and of how many these are.

        With the number of a currency those in it, the largest first; else all in the order of their accounts. Those of
        all are found at most a tenth of the time, so they can be some seconds old where there are very many.
        """
        rows, total = (
            await self._find_balances(participant_id, currency)
            if participant_id
            else await self._some_balances.get(currency)
        )
        return [self._balance(name, balance) for name, balance in rows[:limit]], total

    async def balance_page(
        self, participant_id: str, currency: int | None, start: BalancePlace, limit: int
    ) -> tuple[list[pb.AdminBalance], BalancePlace | None]:
        """The balances from `start` on in the order of their accounts, at most `limit`, and where the next page begins.

        Of one participant or of all, in the currency with a number or in all. None says that no page follows.
        """
        balances, following = await self._pages.page(participant_id, currency, start, limit)
        return [self._balance(name, balance) for name, balance in balances], following

    async def _find_balances(self, participant_id: str, currency: int | None) -> _FirstBalances:
        first: list[_Entry] = []
        total = 0
        async for name, balance in self._balances(participant_id):
            if currency in (None, balance.currency):
                total += 1
                _keep_largest(first, (0 if currency is None else balance.total, -total, name, balance))
        return _in_order(first), total

    def _balance(self, name: str, balance: CoreBalance) -> pb.AdminBalance:
        return pb.AdminBalance(
            participant_id=name,
            currency=self._machine.directory.currency_text(balance.currency),
            total=amount_to_text(balance.total),
            available=amount_to_text(balance.total - balance.locked),
            locked=amount_to_text(balance.locked),
            reserved=amount_to_text(balance.reserved),
        )

    async def risk(self, participant_id: str) -> list[pb.RiskMetric]:
        """How much of each balance is locked by open orders, of one participant or of all.

        Raises AdminError if there are too many.
        """
        rows: list[pb.RiskMetric] = []
        counts = await self._orders.open_counts()
        async for name, balance in self._balances(participant_id):
            _check_room(rows)
            rows.append(self._metric(name, balance, counts))
        return rows

    async def most_used(self, participant_id: str, limit: int) -> tuple[list[pb.RiskMetric], int]:
        """The balances of which open orders lock the largest share, at most `limit`, and of how many these are.

        Of one participant, or of all. Among equals, who has come first is first. As old as `some_balances`.
        """
        counts = await self._open_counts.get(None)
        rows, total = await self._find_most_used(participant_id) if participant_id else await self._most_used.get(None)
        return [self._metric(name, balance, counts) for name, balance in rows[:limit]], total

    async def risk_page(
        self, participant_id: str, start: BalancePlace, limit: int
    ) -> tuple[list[pb.RiskMetric], BalancePlace | None]:
        """How much of each balance open orders lock, of the balances that `balance_page` gives."""
        balances, following = await self._pages.page(participant_id, None, start, limit)
        metrics: list[pb.RiskMetric] = []
        for first in range(0, len(balances), ACCOUNTS_A_TURN):
            some = balances[first : first + ACCOUNTS_A_TURN]
            counts = self._orders.open_counts_of({balance.account for _, balance in some})
            metrics += [self._metric(name, balance, counts) for name, balance in some]
            await asyncio.sleep(0)
        return metrics, following

    async def _find_most_used(self, participant_id: str) -> _FirstBalances:
        largest: list[_Entry] = []
        total = 0
        async for name, balance in self._balances(participant_id):
            total += 1
            _keep_largest(largest, (_utilisation_bps(balance.locked, balance.total), -total, name, balance))
        return _in_order(largest), total

    def _metric(self, name: str, balance: CoreBalance, counts: Counter[tuple[int, int]]) -> pb.RiskMetric:
        return pb.RiskMetric(
            participant_id=name,
            currency=self._machine.directory.currency_text(balance.currency),
            total=amount_to_text(balance.total),
            locked=amount_to_text(balance.locked),
            utilisation_percent=utilisation_percent(balance.locked, balance.total),
            open_orders=counts[balance.account, balance.currency],
        )

    async def _balances(self, participant_id: str) -> AsyncIterator[tuple[str, CoreBalance]]:
        """(participant, balance). Balances can change meanwhile: the event loop runs between accounts."""
        directory = self._machine.directory
        accounts = {participant_id: directory.account(participant_id)} if participant_id else dict(directory.accounts)
        for count, (name, account) in enumerate(accounts.items(), 1):
            if account != UNKNOWN_ACCOUNT:
                for balance in self._machine.core.balances(account):
                    yield name, balance
            if count % ACCOUNTS_A_TURN == 0:
                await asyncio.sleep(0)


def utilisation_percent(locked: int, total: int) -> str:
    """Locked ÷ total in percent with two decimal places, rounded down; "0.00" if the total is zero."""
    hundredths = _utilisation_bps(locked, total)
    return f"{hundredths // 100}.{hundredths % 100:02d}"


def _utilisation_bps(locked: int, total: int) -> int:
    return locked * 10_000 // total if total else 0


def _keep_largest(kept: list[_Entry], entry: _Entry) -> None:
    """Keep the largest entries in a heap, as many as a response may list."""
    (heappush if len(kept) < LISTED_MAX else heappushpop)(kept, entry)


def _in_order(kept: list[_Entry]) -> list[tuple[str, CoreBalance]]:
    return [(name, balance) for _, _, name, balance in sorted(kept, reverse=True)]


def _check_room(rows: list[pb.AdminBalance] | list[pb.RiskMetric]) -> None:
    if len(rows) >= ROWS_MAX:
        raise resource_exhausted(f"participantId: there are more than {ROWS_MAX} rows, name a participant")


def _journal_bytes(path: Path) -> int:
    """The size of the journal including its write-ahead log."""
    total = 0
    for ending in ("", "-wal"):
        try:
            total += path.with_name(path.name + ending).stat().st_size
        except FileNotFoundError:
            continue
    return total
