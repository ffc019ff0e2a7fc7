"""Makes FIFO transactions of what moved without a trade: conversions, rewards, deposits, payments and the like.

The ledger's entries are read in their order, again and again, and from the first one after every start. An entry gives
the same transaction id each time, and a transaction that is there stays. So nothing counts twice, and what was lost
comes back. An entry may become visible after a later one: each run begins some time before the end of the one before.
"""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from openspot.engine_transfers.runner import LONGEST_PAUSE_S
from openspot.kit.clock import Clock, datetime_from_ms, utc_datetime
from openspot.kit.database import Pool
from openspot.kit.log import get_logger
from openspot.market_data_client.errors import MarketDataUnavailableError
from openspot.positions.amounts import amount_of
from openspot.positions.cost_basis import store
from openspot.positions.fifo_transaction import FifoTransaction, TransactionError
from openspot.positions.import_rules import AcceptedTransaction, fingerprint
from openspot.positions.metrics import FOLLOWED_MOVEMENTS
from openspot.positions.movements import MINUTE_MS, AccountMovement, transaction_id, transactions_of_movement
from openspot.positions.prices import Prices
from openspot.positions.times import milliseconds_of

log = get_logger("positions")

PAGE = 500
OVERLAP = timedelta(minutes=2)
"""No transaction of the ledger takes longer."""
RECENT_MS = MINUTE_MS
"""What is younger is worth the present fair price, what is older the close of its candle."""
OWED_FOR = timedelta(seconds=LONGEST_PAUSE_S)
"""What the platform owes may have been asked for days before it had the money. Attempts lie this far apart at most."""
BEGIN = datetime(1970, 1, 1, tzinfo=UTC)

# Whole transactions of the ledger, along ledger_entries_movements. Only accounts of users have lots.
ENTRIES = """
    SELECT * FROM (
        SELECT created_at, transaction_id, user_id, asset, amount, entry_type, reference_id FROM ledger_entries
        WHERE reference_type <> 'trade' AND created_at > $1 ORDER BY created_at FETCH FIRST $2 ROWS WITH TIES
    ) AS entry
    ORDER BY created_at, transaction_id
"""
# When a transfer was asked for and decided, and when custody confirmed a deposit, by the reference of the entries.
_ASKED = """
    SELECT reference, created_at AS asked_at, decided_at FROM edge_transfers WHERE reference = ANY ($1::text[])
    UNION ALL
    SELECT reference, to_timestamp(at_ms / 1000.0), to_timestamp(at_ms / 1000.0) FROM margin_transfers
    WHERE reference = ANY ($1::text[])
    UNION ALL
    SELECT tx_hash, confirmed_at, confirmed_at FROM custody_deposits
    WHERE tx_hash = ANY ($1::text[]) AND confirmed_at IS NOT NULL
"""
_USERS = "SELECT user_id FROM users WHERE user_id = ANY ($1::text[])"
_KNOWN = """
    SELECT known.user_id, known.external_id FROM unnest($1::text[], $2::text[]) AS wanted (user_id, external_id)
    JOIN fifo_transactions AS known USING (user_id, external_id)
"""


class MovementFollower:
    """Follows the entries of all users."""

    def __init__(self, pool: Pool, prices: Prices, currency: str, clock: Clock) -> None:
        self._pool = pool
        self._prices = prices
        self._currency = currency
        self._clock = clock
        self.followed_until = BEGIN
        """The time of the newest entry that was followed."""

    async def run_once(self) -> int:
        """Make transactions of all entries that have none, and return how many were made.

        Without market data it ends, and begins there again.
        """
        place, made = self.followed_until - OVERLAP, 0
        while rows := await self._pool.fetch(ENTRIES, place, PAGE):
            try:
                made += await self._follow(rows)
            except MarketDataUnavailableError as error:
                log.warning("movements wait for market data", reason=str(error))
                break
            place = rows[-1]["created_at"]
            self.followed_until = max(self.followed_until, place)
        FOLLOWED_MOVEMENTS.inc(made)
        return made

    async def _follow(self, rows: Sequence[Any]) -> int:
        named = {row["user_id"] for row in rows}
        users = {row["user_id"] for row in await self._pool.fetch(_USERS, list(named))}
        ids = [
            (row["user_id"], transaction_id(row["transaction_id"], row["entry_type"], is_in=row["amount"] > 0))
            for row in rows
            if row["user_id"] in users and row["asset"] != self._currency
        ]
        if not ids:
            return 0
        known = {
            (row["user_id"], row["external_id"])
            for row in await self._pool.fetch(_KNOWN, [user for user, _ in ids], [name for _, name in ids])
        }
        new = set(ids) - known
        if not new:
            return 0
        references = list({row["reference_id"] for row in rows})
        asked = {row["reference"]: row for row in await self._pool.fetch(_ASKED, references)}
        fair = await self._prices.of_assets(self._currency)
        groups: dict[tuple[str, str, datetime], list[AccountMovement]] = {}
        for row in rows:
            if row["user_id"] in users:
                movement = AccountMovement(
                    row["transaction_id"],
                    milliseconds_of(row["created_at"]),
                    row["entry_type"],
                    row["asset"],
                    amount_of(row["amount"]),
                    _asked_ms(asked.get(row["reference_id"]), row["created_at"]),
                )
                key = row["user_id"], row["reference_id"], row["created_at"]
                groups.setdefault(key, []).append(movement)
        found: dict[str, list[FifoTransaction]] = {}
        for (user_id, _, _), movements in groups.items():
            wanted = [one for one in await self._transactions(movements, fair) if (user_id, one.external_id) in new]
            if wanted:
                found.setdefault(user_id, []).extend(wanted)
        return sum([await self._store(user_id, transactions) for user_id, transactions in sorted(found.items())])

    async def _transactions(
        self, movements: Sequence[AccountMovement], fair: Mapping[str, int]
    ) -> list[FifoTransaction]:
        prices = {movement.asset: await self._price(movement.asset, movement.valued_at, fair) for movement in movements}
        try:
            return transactions_of_movement(movements, prices, self._currency)
        except TransactionError as error:
            log.error("movement is no FIFO transaction", entry=movements[0].entry_id, reason=str(error))
            return []

    async def _price(self, asset: str, timestamp: int, fair: Mapping[str, int]) -> int | None:
        age = milliseconds_of(utc_datetime(self._clock)) - timestamp
        if age <= RECENT_MS and asset in fair:
            return fair[asset]
        if asset == self._currency:
            return None
        return await self._prices.price_at(f"{asset}-{self._currency}", datetime_from_ms(timestamp))

    async def _store(self, user_id: str, transactions: Sequence[FifoTransaction]) -> int:
        async with self._pool.acquire() as connection, connection.transaction():
            await store.lock_owner(connection, user_id)
            # Another process may have stored some of them meanwhile.
            known = await store.fingerprints(connection, user_id, [one.external_id for one in transactions])
            new = [
                AcceptedTransaction(0, one, fingerprint(one)) for one in transactions if one.external_id not in known
            ]
            await store.add_transactions(connection, user_id, new)
        return len(new)


def _asked_ms(asked: Any, entered_at: datetime) -> int | None:
    """When the transfer or deposit of an entry was asked for, in milliseconds. None if nobody has noted it."""
    if asked is None:
        return None
    decided_at = min(asked["decided_at"] or entered_at, entered_at)
    return milliseconds_of(max(asked["asked_at"], decided_at - OWED_FOR))
