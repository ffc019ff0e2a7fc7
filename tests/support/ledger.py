"""Trades as the router publishes them, balance events as clients get them, queries of the ledger's tables."""

from decimal import Decimal
from typing import Any

import asyncpg
import msgspec
import nats

from openspot.contracts.messages import BalanceUpdated, ExecutedTrade, LedgerPosting, TradeFee, TradeFees
from openspot.contracts.streams import BALANCES
from tests.support.waiting import eventually


def trade(
    number: int = 1,
    buyer: str = "ann",
    seller: str = "bob",
    price: str = "100",
    qty: str = "2",
    buyer_fee: str = "0.5",
    seller_fee: str = "0.3",
    symbol: str = "BTC-USD",
    **changes: Any,
) -> ExecutedTrade:
    """A trade; its fees are in the quote asset."""
    base, _, quote = symbol.partition("-")
    fields: dict[str, Any] = {
        "id": f"epoch-{number}",
        "symbol": symbol,
        "base_asset": base,
        "quote_asset": quote,
        "buyer_id": buyer,
        "seller_id": seller,
        "price": price,
        "quantity": qty,
        "fees": TradeFees(TradeFee(buyer, buyer_fee, quote), TradeFee(seller, seller_fee, quote)),
        "taker_side": "buy",
        "taker_order_id": "taker-order",
        "maker_order_id": "maker-order",
        "is_taker_completed": True,
        "is_maker_completed": False,
        "sequence": number,
        "timestamp": 1_700_000_000_000 + number,
    }
    return ExecutedTrade(**fields | changes)


def posting(
    transaction_id: str, user_id: str = "ann", asset: str = "USD", amount: str = "10", *, already_moved: bool = False
) -> LedgerPosting:
    """A credit or debit as the custody bridge asks for it."""
    return LedgerPosting(
        transaction_id, user_id, asset, amount, "deposit", "custody", transaction_id, already_moved=already_moved
    )


class BalanceFeed:
    """Every `balances.updated.*` event that the stream has, in order."""

    def __init__(self, nats_url: str) -> None:
        self._nats_url = nats_url

    async def events(self) -> list[tuple[str, BalanceUpdated]]:
        """(message id, event) of all that the stream holds now."""
        client = await nats.connect(self._nats_url)
        try:
            jetstream = client.jetstream()
            state = (await jetstream.stream_info(BALANCES.name)).state
            found = []
            for sequence in range(1, state.last_seq + 1):
                message = await jetstream.get_msg(BALANCES.name, sequence)
                event = msgspec.json.decode(message.data or b"", type=BalanceUpdated)
                assert message.subject == f"balances.updated.{event.user_id}"
                found.append(((message.headers or {})["Nats-Msg-Id"], event))
            return found
        finally:
            await client.close()

    async def expect(self, *wanted: tuple[str, str, str, str]) -> list[BalanceUpdated]:
        """Await exactly these (message id, user id, asset, available), in any order."""

        async def found() -> bool:
            events = await self.events()
            return sorted((name, e.user_id, e.asset, e.available) for name, e in events) == sorted(wanted)

        try:
            await eventually(found)
        except AssertionError:
            raise AssertionError(f"wanted {wanted}, found {await self.events()}") from None
        return [event for _, event in await self.events()]


async def balance(pool: asyncpg.Pool, user_id: str, asset: str) -> tuple[Decimal, Decimal] | None:
    """(available, locked) of an account, None if there is none."""
    row = await pool.fetchrow(
        "SELECT available, locked FROM ledger_accounts WHERE user_id = $1 AND asset = $2", user_id, asset
    )
    return None if row is None else (row["available"], row["locked"])


async def available(pool: asyncpg.Pool, user_id: str, asset: str) -> str:
    """What an account has available, as the shortest text; 0 if there is no account."""
    found = await balance(pool, user_id, asset)
    return format(found[0].normalize(), "f") if found is not None else "0"


async def count(pool: asyncpg.Pool, table: str = "ledger_entries") -> int:
    """How many rows `table` has."""
    return int(await pool.fetchval(f"SELECT count(*) FROM {table}"))


async def assert_books_are_right(pool: asyncpg.Pool) -> None:
    """Every asset sums to zero, and every account is the sum of its entries, whose running balances agree."""
    unbalanced = await pool.fetch(
        "SELECT asset, sum(available + locked) FROM ledger_accounts GROUP BY asset HAVING sum(available + locked) <> 0"
    )
    assert not unbalanced, unbalanced
    wrong_totals = await pool.fetch(
        """
        SELECT user_id, asset, available + locked AS total, entries.total AS posted
        FROM ledger_accounts
        FULL JOIN (SELECT user_id, asset, sum(amount) AS total FROM ledger_entries GROUP BY user_id, asset) AS entries
            USING (user_id, asset)
        WHERE available + locked <> coalesce(entries.total, 0) OR available IS NULL
        """
    )
    assert not wrong_totals, wrong_totals
    wrong_balances = await pool.fetch(
        """
        SELECT transaction_id, balance, running FROM (
            SELECT *, sum(amount) OVER (PARTITION BY user_id, asset ORDER BY entry_id) AS running FROM ledger_entries
        ) AS entry
        WHERE balance <> running
        """
    )
    assert not wrong_balances, wrong_balances
    assert not await pool.fetch(
        """
        SELECT reference_id, asset FROM ledger_entries WHERE reference_type = 'trade'
        GROUP BY reference_id, asset HAVING sum(amount) <> 0
        """
    )
    assert not await pool.fetch(
        """
        SELECT reference_id FROM ledger_entries WHERE reference_type = 'trade'
        GROUP BY reference_id HAVING count(*) <> 8
        """
    )
