"""The pace of the scanner in virtual time, and what makes it look at once (facts A6.2-02, A6.2-03, A8-18)."""

import asyncio
import random
from collections.abc import Iterator
from datetime import UTC, datetime
from decimal import Decimal
from types import SimpleNamespace
from typing import Any

import pytest

from openspot.contracts import subjects
from openspot.contracts.messages import MarginPositionUpdated
from openspot.domain.money import AMOUNT_SCALE
from openspot.engine_client.queries import EngineBalance
from openspot.margin import scanner as scanner_module
from openspot.margin.crossings import RiskBand
from openspot.margin.interest import new_loan, yearly_rate
from openspot.margin.lifecycle import AccountStatus, LoanStatus
from openspot.margin.liquidator import Liquidator
from openspot.margin.records import MarginAccountRow, MarginLoanRow
from openspot.margin.scanner import Scanner
from openspot.margin.service import MarginLeader
from openspot.margin.settings import MarginSettings
from tests.simulation.loop import VirtualLoop
from tests.simulation.margin_tables import AccountRow, MarginTables, SimulatedPool, stored_in_memory
from tests.simulation.process import Process, Weather
from tests.simulation.rows import Rows
from tests.support.ledger import trade

NOW_MS = 1_800_000_000_000


class Clock:
    """The module `time` of the scanner, in virtual time."""

    @staticmethod
    def monotonic() -> float:
        return asyncio.get_running_loop().time()


class HeldLease:
    """A lease that is never lost."""

    def check(self) -> None:
        """It is held."""


class NotingBus:
    """Notes what is published."""

    def __init__(self) -> None:
        self.published: list[str] = []

    async def publish(self, subject: str, message: Any, message_id: str) -> None:
        self.published.append(subject)

    def key_value(self, bucket: str, value_type: Any, life_s: float) -> None:
        """The leader's lease is not asked for."""


class Account100:
    """An account that owes 100 USD and holds `usd`, in the places where a scan reads it."""

    def __init__(self) -> None:
        self.loop: Any = VirtualLoop()  # type: ignore[abstract]
        weather = Weather(self.loop, random.Random(1))
        self.process = Process("margin", weather)
        self.tables = MarginTables()
        account = MarginAccountRow("margin:ann", "ann", AccountStatus.ACTIVE, RiskBand.SAFE, 0)
        self.tables.rows["accounts", "margin:ann"] = AccountRow(account, self.tables.next_change())
        accrual = new_loan("loan", 100 * AMOUNT_SCALE, yearly_rate(Decimal("0.1")), NOW_MS)
        moment = datetime.now(UTC)
        self.tables.rows["loans", "loan"] = MarginLoanRow(
            account_id="margin:ann",
            asset="USD",
            borrowed=100 * AMOUNT_SCALE,
            accrual=accrual,
            yearly_rate=Decimal("0.1"),
            repaying=None,
            status=LoanStatus.ACTIVE,
            created_at=moment,
            ended_at=None,
        )
        self.usd = "300"
        self.bus = NotingBus()
        pool: Any = SimulatedPool(self.tables, Rows(), self.process, weather)
        self.dependencies: Any = SimpleNamespace(
            settings=MarginSettings(),
            pool=pool,
            bus=self.bus,
            commands=None,
            queries=self,
            marks=self,
            now_ms=lambda: NOW_MS,
        )  # fmt: skip
        lease: Any = HeldLease()
        unused: Any = None
        bus: Any = self.bus
        self.scanner = Scanner(self.dependencies, unused, Liquidator(self.dependencies), lease)
        self.leader = MarginLeader(self.dependencies, unused, bus)
        self.leader._scanner = self.scanner

    async def balances(self, account_id: str) -> list[EngineBalance]:
        return [EngineBalance("USD", self.usd, self.usd, "0", "0")]

    async def current(self, reused_s: float = 0.0) -> dict[str, int]:
        return {"USD": AMOUNT_SCALE}

    def run(self, work: Any) -> None:
        self.process.start(work)
        self.loop.run_ready()

    @property
    def has_liquidation(self) -> bool:
        return bool(self.tables.liquidations)


@pytest.fixture
def account(monkeypatch: pytest.MonkeyPatch) -> Iterator[Account100]:
    """The account, in a process that scans in virtual time."""
    monkeypatch.setattr(scanner_module, "time", Clock)
    with stored_in_memory():
        made = Account100()
        yield made
        made.process.kill()
        made.loop.run_ready()


@pytest.mark.spec("A8-18", "A8-19")
def test_a_scan_runs_every_5_s_and_interest_is_posted_every_60_s(
    account: Account100, monkeypatch: pytest.MonkeyPatch
) -> None:
    times: dict[str, list[float]] = {"scan": [], "interest": []}

    async def scan() -> None:
        times["scan"].append(account.loop.time())

    async def post_interest() -> int:
        times["interest"].append(account.loop.time())
        return 0

    monkeypatch.setattr(account.scanner, "scan", scan)
    monkeypatch.setattr(account.scanner, "post_interest", post_interest)
    account.run(account.scanner._scans())
    account.run(account.scanner._interest())
    account.loop.advance(121)
    assert times["scan"] == [5.0 * number for number in range(25)]
    assert times["interest"] == [0.0, 60.0, 120.0]


@pytest.mark.spec("A6.2-02")
def test_a_trade_of_a_margin_account_lets_its_level_be_computed_at_once(account: Account100) -> None:
    account.run(account.scanner._scans())
    assert account.bus.published == []
    # 140 % after the trade. No time passes, so only the event can show it.
    account.usd = "140"
    account.run(account.leader._take_trade("trades.executed", trade(buyer="ann", seller="bob")))
    assert account.bus.published == []
    account.run(account.leader._take_trade("trades.executed", trade(buyer="margin:ann", seller="bob")))
    assert account.bus.published == [subjects.MARGIN_LIQUIDATION_WARNING]
    assert not account.has_liquidation


@pytest.mark.spec("A6.2-03")
def test_a_changed_position_is_checked_for_liquidation_at_once(account: Account100) -> None:
    account.run(account.scanner._scans())
    account.usd = "105"
    event = MarginPositionUpdated("id", "margin:ann", "ann", "position", "open", "1", NOW_MS)
    account.run(account.leader._take_position(subjects.MARGIN_POSITION_UPDATED, event))
    assert account.has_liquidation
