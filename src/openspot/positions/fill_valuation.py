"""Turns followed fills into FIFO transactions of their owners.

If the quote asset is not the accounting currency, it has lots and a value, too. The value comes from the candle of
`<QUOTE>-<ACCOUNTING CURRENCY>` at the time of the fill. Until there is such a price, the fill waits.
"""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from openspot.domain.money import AMOUNT_SCALE
from openspot.domain.order import Side
from openspot.kit.clock import datetime_from_ms
from openspot.kit.database import Pool
from openspot.kit.log import get_logger
from openspot.market_data_client.errors import MarketDataUnavailableError
from openspot.positions.amounts import amount_of
from openspot.positions.cost_basis import store
from openspot.positions.fifo_transaction import TransactionError
from openspot.positions.fills import Fill, moved_quote, transactions_of_fill
from openspot.positions.import_rules import AcceptedTransaction, fingerprint
from openspot.positions.metrics import PENDING_FILLS
from openspot.positions.movements import EXCHANGE, MINUTE_MS
from openspot.positions.prices import Prices

log = get_logger("positions")

BATCH = 500


class FillValuation:
    """Turns the fills of all users into FIFO transactions, again and again."""

    def __init__(self, pool: Pool, prices: Prices, currency: str) -> None:
        self._pool = pool
        self._prices = prices
        self._currency = currency

    async def run_once(self) -> int:
        """Turn every fill with a known value into FIFO transactions, and return how many fills that were."""
        moved, place = 0, 0
        while rows := await self._pool.fetch(
            "SELECT * FROM fifo_pending_fills WHERE serial > $1 ORDER BY serial LIMIT $2", place, BATCH
        ):
            place = rows[-1]["serial"]
            moved += await self._move(rows)
        PENDING_FILLS.set(await self._pool.fetchval("SELECT count(*) FROM fifo_pending_fills"))
        return moved

    async def _move(self, rows: Sequence[Any]) -> int:
        rates: dict[tuple[str, int], int | None] = {}
        by_user: dict[str, list[tuple[Any, list[AcceptedTransaction]]]] = {}
        for row in rows:
            quote = row["symbol"].split("-")[1]
            key = quote, row["executed_ms"] // MINUTE_MS
            if key not in rates:
                rates[key] = await self._rate(quote, datetime_from_ms(row["executed_ms"]))
            rate = rates[key]
            if rate is not None:
                by_user.setdefault(row["user_id"], []).append((row, self._transactions(row, rate)))
        moved = 0
        for user_id, fills in sorted(by_user.items()):
            moved += await self._store(user_id, fills)
        return moved

    async def _rate(self, quote: str, time: datetime) -> int | None:
        """The value of one `quote` in the accounting currency, at 18 places; None if it is not known yet."""
        if quote == self._currency:
            return AMOUNT_SCALE
        try:
            return await self._prices.price_at(f"{quote}-{self._currency}", time)
        except MarketDataUnavailableError:
            return None

    def _transactions(self, row: Any, rate: int) -> list[AcceptedTransaction]:
        base, quote = row["symbol"].split("-")
        side = Side[row["side"].upper()]
        notional, fee = amount_of(row["notional"]), amount_of(row["fee"])
        value = None if quote == self._currency else moved_quote(side, notional, fee) * rate // AMOUNT_SCALE
        trade_id = row["trade_id"].rpartition(":")[0]
        fill = Fill(
            trade_id=trade_id,
            timestamp=row["executed_ms"],
            account=EXCHANGE,
            base=base,
            quote=quote,
            side=side,
            quantity=amount_of(row["quantity"]),
            notional=notional,
            fee=fee,
            quote_value=value,
        )
        try:
            found = transactions_of_fill(fill, self._currency)
        except TransactionError as error:
            log.error("fill is no FIFO transaction", trade_id=trade_id, reason=str(error))
            return []
        return [AcceptedTransaction(0, transaction, fingerprint(transaction)) for transaction in found]

    async def _store(self, user_id: str, fills: Sequence[tuple[Any, list[AcceptedTransaction]]]) -> int:
        """Store the FIFO transactions of one user's fills, in one database transaction."""
        async with self._pool.acquire() as connection, connection.transaction():
            await store.lock_owner(connection, user_id)
            # Another process may have stored some of them meanwhile.
            waiting = {
                row["serial"]
                for row in await connection.fetch(
                    "DELETE FROM fifo_pending_fills WHERE serial = ANY($1::bigint[]) RETURNING serial",
                    [row["serial"] for row, _ in fills],
                )
            }
            accepted = [item for row, items in fills if row["serial"] in waiting for item in items]
            ids = [item.transaction.external_id for item in accepted]
            known = await store.fingerprints(connection, user_id, ids)
            await store.add_transactions(
                connection, user_id, [item for item in accepted if item.transaction.external_id not in known]
            )
        return len(waiting)
