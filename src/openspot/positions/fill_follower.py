"""Follows the trades of the exchange (setting `follow_fills`): each moves two positions, exactly once.

A batch is one database transaction, which also moves the checkpoint. The bus delivers a trade again until its batch is
acknowledged, and a trade that is booked already changes nothing. Fills become FIFO transactions later, in
`fill_valuation`, so that a long computation for one user does not delay the positions of others.
"""

from collections.abc import Sequence
from typing import Any

import msgspec

from openspot.contracts.messages import ExecutedTrade
from openspot.kit.bus import Bus, Consumption, DurableConsumer
from openspot.kit.database import Connection, Pool
from openspot.kit.log import get_logger
from openspot.kit.sql import numeric
from openspot.positions.descriptor import FILLS
from openspot.positions.followed_trade import FollowedTrade, UnusableTradeError, followed_trade
from openspot.positions.holdings.trade_store import NewTrade, book_trades, side_text
from openspot.positions.metrics import FOLLOWED, FOLLOWED_SEQUENCE

log = get_logger("positions")

INTERVAL_S = 0.1
LOGGED_LENGTH_MAX = 200


def trade_consumer(bus: Bus, pool: Pool) -> DurableConsumer[ExecutedTrade]:
    """The durable consumer of the trades, shared by all position processes."""

    async def take(trades: list[ExecutedTrade]) -> None:
        await follow(pool, trades)

    return DurableConsumer(bus, Consumption.of(FILLS, ExecutedTrade, interval_s=INTERVAL_S), take)


async def follow(pool: Pool, trades: Sequence[ExecutedTrade]) -> int:
    """Book a batch of trades, and return how many were new. Trades that cannot be booked are stored with the reason."""
    usable: dict[str, FollowedTrade] = {}
    refused: dict[str, tuple[ExecutedTrade, str]] = {}
    for trade in trades:
        try:
            usable.setdefault(trade.id, followed_trade(trade))
        except UnusableTradeError as error:
            refused.setdefault(trade.id, (trade, str(error)))
            log.error("trade cannot be followed", trade_id=trade.id[:LOGGED_LENGTH_MAX], reason=str(error))
    sides = [side for trade in usable.values() for side in trade.sides]
    async with pool.acquire() as connection, connection.transaction():
        booked = await book_trades(connection, sides) if sides else set[str]()
        await _await_valuation(connection, [side for side in sides if side.trade.trade_id in booked])
        await _keep_refused(connection, refused.values())
        new = [trade for trade in usable.values() if trade.sides[0].trade.trade_id in booked]
        if new:
            await _advance(connection, new)
    FOLLOWED.labels("booked").inc(len(new))
    FOLLOWED.labels("repeated").inc(len(usable) - len(new))
    FOLLOWED.labels("refused").inc(len(refused))
    if new:
        FOLLOWED_SEQUENCE.set(max(trade.sequence for trade in new))
    return len(new)


async def _await_valuation(connection: Connection, sides: Sequence[NewTrade]) -> None:
    await connection.executemany(
        """
        INSERT INTO fifo_pending_fills (trade_id, user_id, symbol, side, quantity, notional, fee, executed_ms)
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8) ON CONFLICT DO NOTHING
        """,
        [
            (
                side.trade.trade_id, *side.key, side_text(side.trade.side), numeric(side.trade.quantity),
                numeric(side.trade.notional), numeric(side.trade.fee), side.trade.timestamp,
            )
            for side in sides
        ],
    )  # fmt: skip


async def _keep_refused(connection: Connection, refused: Any) -> None:
    await connection.executemany(
        """
        INSERT INTO position_refused_trades (trade_id, trade, reason) VALUES ($1, $2::jsonb, $3) ON CONFLICT DO NOTHING
        """,
        [
            (_storable(trade.id), _storable(msgspec.json.encode(trade).decode()), _storable(reason))
            for trade, reason in refused
        ],
    )  # fmt: skip


def _storable(text: str) -> str:
    """The text without NUL, written as such or as JSON escapes it: PostgreSQL cannot store NUL."""
    return text.replace("\\u0000", "").replace("\x00", "")


async def _advance(connection: Connection, new: Sequence[FollowedTrade]) -> None:
    """Move the checkpoint to the last trade, even to a lower sequence: a new journal of the engine begins again."""
    last = new[-1]
    await connection.execute(
        """
        INSERT INTO position_checkpoints AS known (name, sequence, trade_id, trade_count)
        VALUES ('exchange', $1, $2, $3)
        ON CONFLICT (name) DO UPDATE SET sequence = excluded.sequence, trade_id = excluded.trade_id,
            trade_count = known.trade_count + excluded.trade_count, updated_at = now()
        """,
        last.sequence, last.trade_id, len(new),
    )  # fmt: skip
