"""What an account holds and owes: what orders and reservations hold is not free, and every active loan counts."""

from dataclasses import replace
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

from openspot.engine_client.queries import EngineBalance
from openspot.margin.figures import AssetBalance
from openspot.margin.holdings import Held, Holdings, holdings_of
from openspot.margin.interest import MINUTE_MS, Rate, new_loan
from openspot.margin.lifecycle import LoanStatus
from openspot.margin.records import MarginLoanRow

ONE = 10**18
OFFERED = frozenset({"USD", "BTC"})
NOON = datetime(2026, 5, 1, 12, tzinfo=UTC)
NOON_MS = round(NOON.timestamp()) * 1000
LOAN = MarginLoanRow(
    account_id="m1", asset="USD", borrowed=525_600, accrual=new_loan("l1", 525_600, Rate(1, 1), NOON_MS),
    yearly_rate=Decimal(1), repaying=None, status=LoanStatus.ACTIVE, created_at=NOON, ended_at=None,
)  # fmt: skip


class Engine:
    """The engine's balances of one account."""

    async def balances(self, account_id: str) -> list[EngineBalance]:
        assert account_id == "m1"
        return [
            EngineBalance("USD", total="10", available="10", locked="0", reserved="0"),
            EngineBalance("BTC", total="10", available="7", locked="3", reserved="0"),
            EngineBalance("ETH", total="10", available="10", locked="0", reserved="4"),
        ]


async def test_what_orders_and_reservations_hold_is_not_free() -> None:
    queries: Any = Engine()
    holdings = await holdings_of(queries, "m1", [LOAN], OFFERED)
    assert holdings.held == {
        "USD": Held(10 * ONE, 10 * ONE, False),
        "BTC": Held(10 * ONE, 7 * ONE, True),
        "ETH": Held(10 * ONE, 6 * ONE, True),
    }
    assert [holdings.free(asset) for asset in ("USD", "BTC", "ETH", "SOL")] == [10 * ONE, 7 * ONE, 6 * ONE, 0]
    assert holdings.has_locked
    assert not Holdings({"USD": holdings.held["USD"]}, [], OFFERED).has_locked
    assert holdings.loans == [LOAN]


def test_the_loans_of_an_asset_add_up_and_only_active_ones_count() -> None:
    earning = replace(LOAN.accrual, posted=7, paid=2)
    loans = [
        replace(LOAN, status=LoanStatus.REPAID),
        LOAN,
        replace(LOAN, accrual=earning),
        replace(LOAN, asset="BTC"),
        *(replace(LOAN, status=status) for status in set(LoanStatus) - {LoanStatus.ACTIVE}),
    ]
    holdings = Holdings({"USD": Held(10, 10, False)}, loans, OFFERED)
    assert holdings.balances() == {
        "USD": AssetBalance(10, 2 * 525_600, 5),
        "BTC": AssetBalance(0, 525_600, 0),
    }
    # A repayment counts the minute that has begun: 1 for the first loan, and 7 that are posted less 2 for the second.
    assert holdings.balances(NOON_MS + MINUTE_MS // 2)["USD"] == AssetBalance(10, 2 * 525_600, 1 + 5)


def test_what_margin_does_not_offer_counts_nothing_and_is_still_there_to_leave() -> None:
    holdings = Holdings(
        {"USD": Held(10, 10, False), "DOGE": Held(7, 5, True), "ADA": Held(0, 0, False)}, [LOAN], OFFERED
    )
    assert holdings.balances() == {"USD": AssetBalance(10, 525_600, 0)}
    assert (holdings.uncounted(), holdings.free("DOGE")) == ({"DOGE": 7}, 5)
    # An order that holds it is cancelled in a liquidation, as any other.
    assert holdings.has_locked
