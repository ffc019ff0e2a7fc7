"""Books trades. Each moves its position and two balances once, in one transaction."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple

from openspot.domain.accounts import AccountKey
from openspot.domain.order import Side
from openspot.kit.clock import datetime_from_ms
from openspot.kit.database import Connection
from openspot.kit.sql import numeric
from openspot.positions.amounts import amount_of
from openspot.positions.lifecycle import PositionTrigger
from openspot.positions.position import FLAT, Position, PositionKeeper, PositionTrade


class PositionKey(NamedTuple):
    """The key of a position."""

    participant_id: str
    symbol: str


@dataclass(frozen=True, slots=True)
class NewTrade:
    """A trade to book. `trade.trade_id` is unique over all participants.

    `source` is where it comes from: `fill` (the exchange), `broker` (a broker of record), or `close` (a request to
    close a position).
    """

    key: PositionKey
    trade: PositionTrade
    source: str


@dataclass(slots=True)
class _Held:
    """A position while trades are applied to it, with the times at which it was opened and closed."""

    keeper: PositionKeeper
    opened_at: datetime | None
    closed_at: datetime | None


async def book_trades(connection: Connection, trades: Sequence[NewTrade]) -> set[str]:
    """Book trades in their order, in the caller's transaction. Returns the ids of the trades that are new."""
    held = await _lock_positions(connection, sorted({trade.key for trade in trades}))
    # A trade id always belongs to one position, so that position's lock makes this look-up safe.
    known = {
        row["trade_id"]
        for row in await connection.fetch(
            "SELECT trade_id FROM position_trades WHERE trade_id = ANY($1::text[])",
            [new.trade.trade_id for new in trades],
        )
    }
    rows: list[tuple[Any, ...]] = []
    flows: defaultdict[AccountKey, int] = defaultdict(int)
    booked: set[str] = set()
    changed: set[PositionKey] = set()
    for new in trades:
        trade = new.trade
        if trade.trade_id in known or trade.trade_id in booked:
            continue
        booked.add(trade.trade_id)
        changed.add(new.key)
        applied = _apply(held[new.key], trade)
        base, quote = new.key.symbol.split("-")
        flows[AccountKey(new.key.participant_id, base)] += trade.signed_quantity
        flows[AccountKey(new.key.participant_id, quote)] += trade.cash_flow
        rows.append(
            (
                trade.trade_id, *new.key, side_text(trade.side), numeric(trade.quantity), numeric(trade.notional),
                numeric(trade.fee), numeric(applied), new.source, datetime_from_ms(trade.timestamp),
            )
        )  # fmt: skip
    if not booked:
        return booked
    await connection.executemany(
        """
        INSERT INTO position_trades
            (trade_id, participant_id, symbol, side, quantity, notional, fee, realised, source, executed_at)
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
        """,
        rows,
    )
    await connection.executemany(
        """
        UPDATE positions SET quantity = $3, cost = $4, realised = $5, fees = $6, cash_flow = $7, trade_count = $8,
            opened_at = $9, closed_at = $10, updated_at = now()
        WHERE participant_id = $1 AND symbol = $2
        """,
        [_position_row(key, held[key]) for key in sorted(changed)],
    )
    await add_to_balances(connection, {account: (amount, 0) for account, amount in flows.items()})
    return booked


async def add_to_balances(connection: Connection, changes: dict[AccountKey, tuple[int, int]]) -> None:
    """Add to available and locked balances. Locks the rows in the order of their keys."""
    await connection.executemany(
        "INSERT INTO position_balances (participant_id, asset) VALUES ($1, $2) ON CONFLICT DO NOTHING", sorted(changes)
    )
    await connection.executemany(
        """
        UPDATE position_balances SET available = available + $3, locked = locked + $4, updated_at = now()
        WHERE participant_id = $1 AND asset = $2
        """,
        [(*account, numeric(available), numeric(locked)) for account, (available, locked) in sorted(changes.items())],
    )


def position_of(row: Any) -> Position:
    """The position in a row of `positions`."""
    return Position(
        amount_of(row["quantity"]),
        amount_of(row["cost"]),
        amount_of(row["realised"]),
        amount_of(row["fees"]),
        amount_of(row["cash_flow"]),
        row["trade_count"],
    )


def side_text(side: Side) -> str:
    """The text of a side, in rows and for clients."""
    return side.name.lower()


async def _lock_positions(connection: Connection, keys: Sequence[PositionKey]) -> dict[PositionKey, _Held]:
    participants, symbols = [key.participant_id for key in keys], [key.symbol for key in keys]
    await connection.execute(
        """
        INSERT INTO positions (participant_id, symbol)
        SELECT * FROM unnest($1::text[], $2::text[]) ORDER BY 1, 2 ON CONFLICT DO NOTHING
        """,
        participants, symbols,
    )  # fmt: skip
    rows = await connection.fetch(
        """
        SELECT * FROM positions
        WHERE (participant_id, symbol) IN (SELECT * FROM unnest($1::text[], $2::text[]))
        ORDER BY participant_id, symbol FOR UPDATE
        """,
        participants, symbols,
    )  # fmt: skip
    held = {}
    for row in rows:
        position = position_of(row)
        keeper = PositionKeeper(position if position.trades else FLAT)
        held[PositionKey(row["participant_id"], row["symbol"])] = _Held(keeper, row["opened_at"], row["closed_at"])
    return held


def _apply(held: _Held, trade: PositionTrade) -> int:
    """Apply a trade, and return the result that it realises."""
    applied = held.keeper.apply(trade)
    for trigger in applied.triggers:
        if trigger is PositionTrigger.OPENING_TRADE:
            held.opened_at, held.closed_at = datetime_from_ms(trade.timestamp), None
        elif trigger is PositionTrigger.FLATTENING_TRADE:
            held.closed_at = datetime_from_ms(trade.timestamp)
    return applied.realised


def _position_row(key: PositionKey, held: _Held) -> tuple[Any, ...]:
    position = held.keeper.position
    return (
        *key, numeric(position.quantity), numeric(position.cost), numeric(position.realised), numeric(position.fees),
        numeric(position.cash_flow), position.trades, held.opened_at, held.closed_at,
    )  # fmt: skip
