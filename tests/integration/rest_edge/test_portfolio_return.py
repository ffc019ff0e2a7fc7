"""The return of a portfolio, read from the ledger's entries and the trades."""

from datetime import UTC, datetime, timedelta
from decimal import Decimal

import asyncpg

from openspot.domain.fair_price.crossing import AssetPrice
from openspot.kit.clock import ms_from_datetime
from openspot.rest_edge.funds.accounts.portfolio_return import FLOW_POINTS_MAX
from openspot.rest_edge.funds.accounts.portfolio_service import MOVEMENTS_MAX, PortfolioService
from openspot.rest_edge.funds.accounts.portfolio_store import PortfolioStore
from openspot.rest_edge.funds.accounts.return_store import ReturnStore
from openspot.rest_edge.funds.accounts.schemas import PortfolioReturnResponse
from tests.support.fair_prices import asset_price

NOW = datetime(2026, 11, 22, 12, tzinfo=UTC)
DAY = timedelta(days=1)


class Prices:
    """The present price of BTC."""

    def of_assets(self, valuation_asset: str) -> dict[str, AssetPrice]:
        return {"BTC": asset_price("150")}


class Books:
    """Writes the entries of one user's account as the ledger does."""

    def __init__(self, pool: asyncpg.Pool, user_id: str = "ada") -> None:
        self._pool = pool
        self._user_id = user_id
        self._held: dict[str, Decimal] = {}
        self._number = 0

    async def enter(self, days_ago: float, entry_type: str, asset: str, amount: str) -> None:
        self._number += 1
        if asset not in self._held:
            await self._pool.execute(
                "INSERT INTO ledger_accounts (user_id, asset) VALUES ($1, $2)", self._user_id, asset
            )
        self._held[asset] = balance = self._held.get(asset, Decimal(0)) + Decimal(amount)
        await self._pool.execute(
            """
            INSERT INTO ledger_entries (transaction_id, user_id, asset, amount, balance, entry_type, reference_type,
                reference_id, created_at) VALUES ($1, $2, $3, $4, $5, $6, $7, 'r', $8)
            """,
            f"{self._user_id}-{self._number}", self._user_id, asset, Decimal(amount), balance, entry_type,
            "trade" if entry_type in ("trade", "fee") else "transfer", NOW - days_ago * DAY,
        )  # fmt: skip


async def price(pool: asyncpg.Pool, days_ago: float, value: str) -> None:
    """A trade of BTC."""
    await pool.execute(
        """
        INSERT INTO trades (trade_id, sequence, symbol, price, quantity, taker_side, taker_order_id, maker_order_id,
            buyer_id, seller_id, taker_fee, maker_fee, fee_currency, executed_at)
        VALUES ($1, 1, 'BTC-USD', $2, 1, 'buy', 'o1', 'o2', 'a', 'b', 0, 0, 'USD', $3)
        """,
        f"trade-{days_ago}", Decimal(value), NOW - days_ago * DAY,
    )  # fmt: skip


async def returned(pool: asyncpg.Pool, period: str, user_id: str = "ada") -> PortfolioReturnResponse:
    service = PortfolioService(
        PortfolioStore(pool), ReturnStore(pool), Prices(), lambda: ms_from_datetime(NOW) * 1_000_000
    )
    found = await service.period_return(user_id, period)
    flows = sum((Decimal(value) for value in found.flows.model_dump().values()), Decimal(0))
    assert Decimal(found.start_value) + flows + Decimal(found.result) == Decimal(found.end_value)
    return found


async def test_a_return_counts_every_kind_of_entry_where_it_belongs(pool: asyncpg.Pool) -> None:
    books = Books(pool)
    await price(pool, 60, "100")
    await price(pool, 10, "120")
    await books.enter(50, "deposit", "BTC", "10")
    await books.enter(50, "deposit", "USD", "1000")
    # Bought for 240 with a fee of 1, after that at 120.
    await books.enter(9, "trade", "USD", "-240")
    await books.enter(9, "trade", "BTC", "2")
    await books.enter(9, "fee", "USD", "-1")
    await books.enter(8, "withdrawal", "BTC", "-2")
    await books.enter(7, "staking", "BTC", "-4")
    await books.enter(6, "conversion", "BTC", "-1")
    await books.enter(6, "conversion", "USD", "118")
    await books.enter(5, "payment", "USD", "-50")
    await books.enter(4, "subscription", "USD", "-10")
    await books.enter(3, "adjustment", "USD", "5")
    await books.enter(2, "reward", "BTC", "0.5")
    found = await returned(pool, "month")
    assert found.start_value == "2000"
    # 5.5 BTC at the fair price of the present, and the dollars.
    assert found.end_value == "1647"
    assert found.flows.model_dump() == {
        "deposits": "0", "withdrawals": "-240", "payments": "-50", "moves": "-480", "subscriptions": "-10",
        "adjustments": "5",
    }  # fmt: skip
    # Prices 10·20 − 1 fee − 2 of the conversion + 0.5·120 + 5.5·30.
    assert (found.result, found.income) == ("422", "60")
    assert [movement.kind for movement in found.movements] == [
        "withdrawal", "move", "payment", "subscription", "adjustment", "income",
    ]  # fmt: skip
    assert found.begins_at == ms_from_datetime(NOW - 30 * DAY)

    whole = await returned(pool, "all")
    assert whole.begins_at == ms_from_datetime(NOW - 50 * DAY)
    assert (whole.start_value, whole.flows.deposits, whole.result) == ("0", "2000", "422")
    assert whole.percent == found.percent is not None
    assert (await returned(pool, "day")).flows.deposits == "0"


async def test_what_is_in_the_archive_was_held_before(pool: asyncpg.Pool) -> None:
    await price(pool, 60, "100")
    await Books(pool).enter(50, "deposit", "BTC", "10")
    # The entry that remains says what was held before it.
    await pool.execute("UPDATE ledger_entries SET balance = 13, amount = 1, entry_type = 'withdrawal'")
    found = await returned(pool, "all")
    assert (found.start_value, found.flows.withdrawals, found.end_value) == ("1200", "100", "1950")
    # There is no older price, so the first one counts: the time before it is neither gain nor loss.
    assert (await returned(pool, "year")).start_value == "1200"


async def test_whoever_never_had_anything_has_no_return(pool: asyncpg.Pool) -> None:
    found = await returned(pool, "all", "nobody")
    assert (found.start_value, found.result, found.end_value, found.percent) == ("0", "0", "0", None)
    assert found.movements == []


async def test_more_movements_than_a_page_has_points_are_grouped_and_still_add_up(pool: asyncpg.Pool) -> None:
    books = Books(pool)
    await price(pool, 60, "100")
    count = 2 * FLOW_POINTS_MAX
    for number in range(count):
        await books.enter(20 - number / 100, "deposit", "BTC", "0.01")
    found = await returned(pool, "month")
    assert found.grouped
    assert found.movement_count <= MOVEMENTS_MAX
    assert sum(Decimal(movement.amount) for movement in found.movements) == count * Decimal("0.01")
    assert found.flows.deposits == "732"
    assert found.percent == "50"
