"""The pace of the scanner in virtual time, and what makes it look at once (facts A6.2-02, A6.2-03, A8-18)."""

import asyncio
import random
from collections.abc import Iterator
from datetime import UTC, datetime
from decimal import Decimal
from types import SimpleNamespace
from typing import Any
from unittest.mock import patch

import pytest

from openspot.contracts import subjects
from openspot.contracts.messages import MarginPositionUpdated
from openspot.contracts.refusals import InvalidRequestError, Refusal, RefusalCode
from openspot.domain.fair_price.crossing import AssetPrice
from openspot.domain.fair_price.model import PriceState
from openspot.domain.margin_offer import margin_offer
from openspot.domain.money import AMOUNT_SCALE
from openspot.domain.order import Side
from openspot.engine_client.queries import EngineBalance
from openspot.kit.bus import BusUnavailableError
from openspot.margin import scanner as scanner_module
from openspot.margin.crossings import RiskBand
from openspot.margin.interest import new_loan, yearly_rate
from openspot.margin.lifecycle import AccountStatus, LoanStatus, MarginPositionStatus
from openspot.margin.limits import WAITS_FOR_A_MARKET
from openspot.margin.liquidator import Liquidator
from openspot.margin.loans import Loans
from openspot.margin.records import MarginAccountRow, MarginLoanRow, MarginPositionRow
from openspot.margin.scanner import Scanner
from openspot.margin.service import MarginLeader
from openspot.margin.settings import MarginSettings
from tests.simulation.loop import VirtualLoop
from tests.simulation.margin_tables import AccountRow, MarginTables, SimulatedPool, stored_in_memory
from tests.simulation.process import Process, Weather
from tests.simulation.rows import Rows
from tests.support.ledger import trade
from tests.support.marks import mark, marks_of

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
        self.message_ids: list[str] = []

    async def publish(self, subject: str, message: Any, message_id: str) -> None:
        self.published.append(subject)
        self.message_ids.append(message_id)

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
        self.usd, self.btc, self.doge = "300", "0", "0"
        self.marks = marks_of(USD=AMOUNT_SCALE, BTC=100 * AMOUNT_SCALE)
        self.bus = NotingBus()
        pool: Any = SimulatedPool(self.tables, Rows(), self.process, weather)
        self.dependencies: Any = SimpleNamespace(
            settings=MarginSettings(),
            clock=lambda: NOW_MS * 1_000_000,
            wake=lambda: None,
            pool=pool,
            bus=self.bus,
            commands=None,
            queries=self,
            marks=self,
            now_ms=lambda: NOW_MS,
            offer=margin_offer(),
            turn=lambda _: asyncio.Lock(),
        )  # fmt: skip
        lease: Any = HeldLease()
        unused: Any = None
        bus: Any = self.bus
        self.scanner = Scanner(self.dependencies, unused, Liquidator(self.dependencies), lease)
        self.leader = MarginLeader(self.dependencies, unused, bus)
        self.leader._scanner = self.scanner

    async def balances(self, account_id: str) -> list[EngineBalance]:
        held = {"USD": self.usd, "BTC": self.btc, "DOGE": self.doge}
        return [EngineBalance(asset, amount, amount, "0", "0") for asset, amount in held.items()]

    async def participant_state(self, _: str) -> str:
        return "active"

    def current(self) -> dict[str, AssetPrice]:
        return self.marks

    def outcome(self, work: Any) -> Any:
        """What a request returns, or raises."""
        found: list[Any] = []

        async def note() -> None:
            try:
                found.append(await work)
            except InvalidRequestError as error:
                found.append(error.refusal)

        self.run(note())
        return found[0]

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


def test_each_warning_has_an_id_of_its_own(account: Account100) -> None:
    account.run(account.scanner._scans())
    for usd in ("140", "300", "140"):
        account.usd = usd
        account.run(account.scanner.scan())
    assert account.bus.published == [subjects.MARGIN_LIQUIDATION_WARNING] * 2
    assert account.bus.message_ids == ["margin:ann:warning:1", "margin:ann:warning:2"]


@pytest.mark.parametrize(("usd", "is_liquidated"), [("140", False), ("105", True)])
def test_a_warning_that_the_bus_did_not_take_comes_with_the_next_scan_and_keeps_no_liquidation_back(
    account: Account100, monkeypatch: pytest.MonkeyPatch, usd: str, is_liquidated: bool
) -> None:
    taken = account.bus.publish

    async def lost(subject: str, message: Any, message_id: str) -> None:
        raise BusUnavailableError("away")

    account.run(account.scanner._scans())
    monkeypatch.setattr(account.bus, "publish", lost)
    account.usd = usd
    account.loop.advance(5.0)
    assert account.has_liquidation is is_liquidated
    assert "away" in account.scanner.fault
    monkeypatch.setattr(account.bus, "publish", taken)
    # The level stays as it is, and so does the price.
    account.loop.advance(15.0)
    assert account.bus.message_ids == ([] if is_liquidated else ["margin:ann:warning:1"])


def test_an_account_is_read_again_although_no_event_told_of_it(account: Account100) -> None:
    account.run(account.scanner._scans())
    account.usd = "140"
    account.loop.advance(5.0)
    assert account.bus.published == [subjects.MARGIN_LIQUIDATION_WARNING]


@pytest.mark.parametrize("state", [PriceState.DISPUTED, PriceState.STALE])
def test_nobody_is_warned_or_liquidated_until_the_price_is_sure_again(account: Account100, state: PriceState) -> None:
    account.usd, account.btc = "0", "2"
    account.run(account.scanner._scans())
    for price in (60, 1):
        account.marks["BTC"] = mark(price * AMOUNT_SCALE, state=state, day_median=100 * AMOUNT_SCALE)
        account.loop.advance(5.0)
    assert account.bus.published == []
    assert not account.has_liquidation
    account.marks["BTC"] = mark(52 * AMOUNT_SCALE)
    account.loop.advance(5.0)
    assert account.bus.published == [subjects.MARGIN_LIQUIDATION_WARNING]
    assert account.has_liquidation


def test_a_coin_that_margin_does_not_offer_neither_secures_a_debt_nor_keeps_a_liquidation_back(
    account: Account100,
) -> None:
    account.usd, account.doge = "105", "1000000"
    account.run(account.scanner._scans())
    assert account.bus.published == [subjects.MARGIN_LIQUIDATION_WARNING]
    assert account.has_liquidation


def test_a_user_does_not_repay_while_the_liquidation_settles(account: Account100) -> None:
    account.tables.rows["accounts", "margin:ann"].account.status = AccountStatus.LIQUIDATING
    refusal = account.outcome(Loans(account.dependencies).repay("request", "ann", "loan", None))
    assert refusal == Refusal(RefusalCode.MARGIN_REFUSED, "the margin account is liquidating")
    assert account.tables.transfers == []


def test_collateral_that_positions_need_does_not_leave(account: Account100) -> None:
    moment = datetime.now(UTC)
    account.tables.rows["positions", "position"] = MarginPositionRow(
        position_id="position",
        account_id="margin:ann",
        symbol="BTC-USD",
        side=Side.BUY,
        quantity=AMOUNT_SCALE,
        leverage=Decimal(2),
        required_margin=160 * AMOUNT_SCALE,
        own_funds=0,
        entry_price=Decimal(100),
        status=MarginPositionStatus.OPEN,
        reason=None,
        loan_id=None,
        closings=0,
        close_request=None,
        closing_quantity=None,
        opened_at=moment,
        closed_at=None,
    )
    # The equity of 200 less 41 is below the margin of 160. The level stays far above the warning.
    refusal = account.outcome(Loans(account.dependencies).transfer("request", "ann", "USD", -41 * AMOUNT_SCALE))
    reason = "the equity would not cover the margin of the open positions"
    assert refusal == Refusal(RefusalCode.MARGIN_REFUSED, reason)
    assert account.tables.transfers == []


@pytest.mark.parametrize("state", [PriceState.DISPUTED, PriceState.STALE])
def test_at_an_unsure_price_nothing_is_borrowed_or_moved_out(account: Account100, state: PriceState) -> None:
    account.btc = "1"
    account.marks["BTC"] = mark(100 * AMOUNT_SCALE, state=state, reason="wait for its sources")
    loans = Loans(account.dependencies)
    refused = Refusal(RefusalCode.PRICE_NOT_SURE, f"the price of BTC is {state}: wait for its sources")
    assert account.outcome(loans.borrow("one", "ann", "USD", AMOUNT_SCALE)) == refused
    assert account.outcome(loans.transfer("two", "ann", "USD", -AMOUNT_SCALE)) == refused
    assert account.tables.transfers == []


def test_collateral_without_any_price_does_not_come_in(account: Account100) -> None:
    refusal = account.outcome(Loans(account.dependencies).transfer("one", "ann", "SOL", AMOUNT_SCALE))
    assert refusal.code is RefusalCode.NO_MARK_PRICE
    assert account.tables.transfers == []


def test_the_accounts_of_one_owner_share_what_a_market_absorbs(account: Account100) -> None:
    """The other account holds 3 BTC as well, of the 4 that the market absorbs. So one of them counts here."""

    async def linked(connection: Any, user_id: str) -> list[str]:
        return ["margin:bob"] if user_id == "ann" else []

    account.usd, account.btc = "0", "3"
    account.marks["BTC"] = mark(100 * AMOUNT_SCALE, sellable=4 * AMOUNT_SCALE)
    loans = Loans(account.dependencies)
    with patch("openspot.margin.store.accounts_of_same_owner", linked):
        refusal = account.outcome(loans.borrow("one", "ann", "USD", AMOUNT_SCALE))
    assert refusal == Refusal(
        RefusalCode.MARGIN_REFUSED,
        "the debt would be more than 10 times the equity; only 1 BTC of 3 BTC count, because its market could not"
        f" absorb more near the fair price. {WAITS_FOR_A_MARKET}",
    )


def test_an_account_that_is_being_liquidated_is_not_warned_and_one_that_was_warned_before_is_not_warned_again(
    account: Account100,
) -> None:
    """The band of the last scan is stored, so a process that starts repeats no warning."""
    account.usd = "140"
    row = account.tables.rows["accounts", "margin:ann"]
    row.account.status = AccountStatus.LIQUIDATING
    account.run(account.scanner.scan())
    assert account.bus.published == []
    row.account.status, row.account.risk_band = AccountStatus.ACTIVE, RiskBand.WARNING
    account.scanner.mark(["margin:ann"])
    account.run(account.scanner.scan())
    assert account.bus.published == []
