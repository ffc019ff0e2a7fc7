"""Follows the trades of the exchange (setting `follow_fills`): each moves two positions, exactly once.

A batch is one database transaction, which also moves the checkpoint. The bus delivers a trade again until its batch is
acknowledged, and a trade that is booked already changes nothing. Fills become FIFO transactions later, in
`fill_valuation`, so that a long computation for one user does not delay the positions of others.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import msgspec

from openspot.contracts import subjects
from openspot.contracts.messages import ExecutedTrade, TradeFee
from openspot.contracts.streams import TRADES
from openspot.domain.ids import PARTICIPANT_ID_TEXT, REFERENCE_TEXT
from openspot.domain.money import AMOUNT_SCALE, MoneyError, parse_decimal, to_amount
from openspot.domain.order import Side
from openspot.domain.symbol import SYMBOL_TEXT
from openspot.kit.bus import Bus, Consumption, DurableConsumer
from openspot.kit.database import Connection, Pool
from openspot.kit.log import get_logger
from openspot.kit.sql import numeric
from openspot.positions.descriptor import DURABLE
from openspot.positions.fifo_transaction import TIMESTAMP_MAX
from openspot.positions.holdings.trade_store import NewTrade, PositionKey, book_trades, side_text
from openspot.positions.metrics import FOLLOWED, FOLLOWED_SEQUENCE
from openspot.positions.position import PositionTrade, TradeError

log = get_logger("positions")

BATCH_MAX = 500
INTERVAL_S = 0.1
ACKNOWLEDGE_WAIT_S = 30.0
LOGGED_LENGTH_MAX = 200


class UnusableTradeError(ValueError):
    """A trade from the bus cannot be booked. The message names the field and the reason."""


@dataclass(frozen=True, slots=True)
class FollowedTrade:
    """A trade of the exchange as the two participants see it."""

    trade_id: str
    sequence: int
    sides: tuple[NewTrade, NewTrade]


def trade_consumer(bus: Bus, pool: Pool) -> DurableConsumer[ExecutedTrade]:
    """The durable consumer of the trades, shared by all position processes."""
    consumption = Consumption(
        TRADES,
        subjects.TRADES_EXECUTED,
        DURABLE,
        ExecutedTrade,
        BATCH_MAX,
        acknowledge_wait_s=ACKNOWLEDGE_WAIT_S,
        interval_s=INTERVAL_S,
    )

    async def take(trades: list[ExecutedTrade]) -> None:
        await follow(pool, trades)

    return DurableConsumer(bus, consumption, take)


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


def followed_trade(trade: ExecutedTrade) -> FollowedTrade:
    """The two sides of a trade. Raises UnusableTradeError."""
    if not REFERENCE_TEXT.fullmatch(trade.id):
        raise UnusableTradeError("id is not a trade id")
    if not SYMBOL_TEXT.fullmatch(trade.symbol):
        raise UnusableTradeError("symbol is not <BASE>-<QUOTE>")
    if not 0 <= trade.timestamp <= TIMESTAMP_MAX:
        raise UnusableTradeError("timestamp is out of range")
    quantity, price = _amount("qty", trade.quantity), _amount("price", trade.price)
    notional = quantity * price // AMOUNT_SCALE
    quote = trade.symbol.split("-")[1]

    def side_of(side: Side, user_id: str, fee: TradeFee) -> NewTrade:
        if not PARTICIPANT_ID_TEXT.fullmatch(user_id):
            raise UnusableTradeError(f"the {side_text(side)}er's id is not one")
        if fee.asset != quote:
            raise UnusableTradeError(f"the fee is in {fee.asset}, not in {quote}")
        try:
            booked = PositionTrade(
                f"{trade.id}:{side_text(side)}", trade.timestamp, side, quantity, notional, _amount("fee", fee.amount)
            )
        except TradeError as error:
            raise UnusableTradeError(str(error)) from error
        return NewTrade(PositionKey(user_id, trade.symbol), booked, "fill")

    buyer = side_of(Side.BUY, trade.buyer_id, trade.fees.buyer)
    seller = side_of(Side.SELL, trade.seller_id, trade.fees.seller)
    return FollowedTrade(trade.id, trade.sequence, (buyer, seller))


def _amount(field: str, text: str) -> int:
    try:
        return to_amount(parse_decimal(text))
    except MoneyError as error:
        raise UnusableTradeError(f"{field} {error}") from error


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
