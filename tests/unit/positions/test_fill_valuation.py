"""Followed fills become FIFO transactions at the value of their own minute, each once, and wait without a price."""

from collections.abc import Iterator
from contextlib import asynccontextmanager
from datetime import datetime
from decimal import Decimal
from typing import Any

import pytest

from openspot.domain.money import AMOUNT_SCALE
from openspot.market_data_client.errors import MarketDataUnavailableError
from openspot.positions import fill_valuation
from openspot.positions.fill_valuation import FillValuation

ONE = AMOUNT_SCALE
MINUTE_MS = 60_000


def fill(serial: int, symbol: str = "BTC-USDT", side: str = "buy", at: int = 90_000, user: str = "alice") -> Any:
    """A fill of 2 at 30 each, with a fee of 1."""
    return {
        "serial": serial, "trade_id": f"t{serial}:{side}", "user_id": user, "symbol": symbol, "side": side,
        "quantity": Decimal(2), "notional": Decimal(60), "fee": Decimal(1), "executed_ms": at,
    }  # fmt: skip


class Tables:
    """The tables in memory. It is its own connection."""

    def __init__(self, *waiting: Any) -> None:
        self.waiting = {row["serial"]: row for row in waiting}
        self.known: dict[str, str] = {}
        self.stored: list[tuple[str, Any]] = []
        self.taken_by_another: set[int] = set()

    @asynccontextmanager
    async def acquire(self) -> Any:
        yield self

    @asynccontextmanager
    async def transaction(self) -> Any:
        yield

    async def fetch(self, query: str, *values: Any) -> list[Any]:
        if query.startswith("SELECT"):
            place, limit = values
            return [row for serial, row in sorted(self.waiting.items()) if serial > place][:limit]
        gone = [serial for serial in values[0] if serial in self.waiting and serial not in self.taken_by_another]
        return [{"serial": serial, "row": self.waiting.pop(serial)} for serial in gone]

    async def fetchval(self, _query: str) -> int:
        return len(self.waiting)

    async def lock_owner(self, _connection: Any, _user_id: str) -> None:
        """One test at a time is here."""

    async def fingerprints(self, _connection: Any, _user_id: str, ids: list[str]) -> dict[str, str]:
        return {each: self.known[each] for each in ids if each in self.known}

    async def add_transactions(self, _connection: Any, user_id: str, accepted: Any) -> None:
        self.stored += [(user_id, item.transaction) for item in accepted]

    @property
    def shown(self) -> list[tuple[str, str, str, int, int, int]]:
        """Owner, id, asset, quantity, value and fee of each transaction, in whole units."""
        return [
            (user, each.external_id, each.asset, *(part // ONE for part in (each.quantity, each.value, each.fee)))
            for user, each in self.stored
        ]


class Prices:
    """The prices by minute; it keeps what it is asked."""

    def __init__(self, **by_symbol: int | Exception | None) -> None:
        self.by_symbol = by_symbol
        self.asked: list[tuple[str, int]] = []

    async def price_at(self, symbol: str, time: datetime) -> int | None:
        minute = round(time.timestamp()) // 60
        self.asked.append((symbol, minute))
        found = self.by_symbol.get(symbol.replace("-", "_"))
        if isinstance(found, Exception):
            raise found
        return None if found is None else found * (minute + 1) * ONE


@pytest.fixture
def valued(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """Values the fills of `tables` once, and returns how many moved."""

    async def once(tables: Any, prices: Any) -> int:
        monkeypatch.setattr(fill_valuation, "store", tables)
        return await FillValuation(tables, prices, "USD").run_once()

    yield once


async def test_a_fill_has_the_value_of_its_own_minute_with_its_fee(valued: Any) -> None:
    tables, prices = Tables(fill(1), fill(2, at=3 * MINUTE_MS), fill(3, side="sell", at=95_000)), Prices(USDT_USD=2)
    assert await valued(tables, prices) == 3
    assert prices.asked == [("USDT-USD", 1), ("USDT-USD", 3)]
    assert tables.shown == [
        ("alice", "t1:buy:from", "USDT", 61, 244, 0), ("alice", "t1:buy:to", "BTC", 2, 244, 0),
        ("alice", "t2:buy:from", "USDT", 61, 488, 0), ("alice", "t2:buy:to", "BTC", 2, 488, 0),
        ("alice", "t3:sell:from", "BTC", 2, 236, 0), ("alice", "t3:sell:to", "USDT", 59, 236, 0),
    ]  # fmt: skip


async def test_a_quote_in_the_accounting_currency_needs_no_price(valued: Any) -> None:
    tables, prices = Tables(fill(1, "BTC-USD")), Prices()
    assert await valued(tables, prices) == 1
    assert (prices.asked, tables.shown) == ([], [("alice", "t1:buy:to", "BTC", 2, 60, 1)])


async def test_quotes_of_one_minute_have_prices_of_their_own(valued: Any) -> None:
    tables, prices = Tables(fill(1), fill(2, "ETH-BTC")), Prices(USDT_USD=1, BTC_USD=100)
    await valued(tables, prices)
    assert [value for *_, value, _ in tables.shown] == [122, 122, 12_200, 12_200]


@pytest.mark.parametrize("price", [None, MarketDataUnavailableError("away")])
async def test_a_fill_without_a_price_waits_and_holds_up_no_other(valued: Any, price: Any) -> None:
    tables = Tables(fill(1), fill(2, "BTC-USD", user="bob"))
    assert await valued(tables, Prices(USDT_USD=price)) == 1
    assert (list(tables.waiting), tables.shown) == ([1], [("bob", "t2:buy:to", "BTC", 2, 60, 1)])
    assert await valued(tables, Prices(USDT_USD=1)) == 1
    assert [user for user, *_ in tables.shown] == ["bob", "alice", "alice"]


async def test_a_fill_that_another_process_stored_counts_once(valued: Any) -> None:
    tables = Tables(fill(1, "BTC-USD"), fill(2, "BTC-USD"), fill(3, "BTC-USD"))
    tables.taken_by_another = {1}
    tables.known = {"t2:buy:to": "stored before"}
    assert await valued(tables, Prices()) == 2
    assert [each for _, each, *_ in tables.shown] == ["t3:buy:to"]


async def test_every_page_is_read(valued: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fill_valuation, "BATCH", 2)
    tables = Tables(*(fill(serial, "BTC-USD") for serial in range(1, 6)))
    assert await valued(tables, Prices()) == 5
    assert (tables.waiting, len(tables.stored)) == ({}, 5)
