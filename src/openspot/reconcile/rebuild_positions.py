"""`openspot positions rebuild`: makes positions, their balances and FIFO what the trade rows say.

The position service counts each trade of the bus once. What the bus lost is read again from the trade rows. A damaged
position is computed again from all its trades, in the order in which the exchange made them, under the locks that the
service takes; so the service may run. Trades of a broker of record and of close requests are the service's own, and
stay. With `is_plan` each transaction is rolled back.
"""

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import asyncpg

from openspot.domain.money import decimal_to_text
from openspot.domain.order import Side
from openspot.kit.clock import ms_from_datetime
from openspot.kit.database import TRANSIENT_ERRORS, Connection
from openspot.kit.sql import numeric
from openspot.positions.amounts import amount_of
from openspot.positions.cost_basis import store as cost_basis
from openspot.positions.cost_basis.computation import compute
from openspot.positions.following import KEPT
from openspot.positions.lifecycle import PositionTrigger
from openspot.positions.position import PositionKeeper, PositionTrade
from openspot.positions.settings import PositionSettings
from openspot.reconcile.outcome import NotRebuiltError, Rebuilt
from openspot.reconcile.position_queries import FIFO_FILLS, FIFO_RESULTS, POSITION_BALANCES, SIDES_OF_TRADES
from openspot.reconcile.progress import wait_for_mirrors
from openspot.reconcile.rebuild import repair_session, require_no_archive
from openspot.router.rows_position import rows_position

# ruff: noqa: S608  (the texts are made of constants only)

TRADE = "position trade"
POSITION = "position"
BALANCE = "position balance"
FILL = "FIFO fill"
RESULTS = "FIFO results"
CHECKPOINT = "position checkpoint"
POSITIONS_AT_A_TIME = 100
"""So many positions are mended in one transaction, with the balances that they share."""
_TIMEOUT_S = 3600.0
_CONTENT = ("participant_id", "symbol", "side", "quantity", "notional", "fee")
_FIGURES = ("quantity", "cost", "realised", "fees", "cash_flow", "trade_count", "opened_at", "closed_at")

# Every fill up to the event $1 as it must be (`made`) and as it was counted (`kept`), where the two differ.
_FIND_TRADES = f"""
    CREATE TEMPORARY TABLE rebuild_fills ON COMMIT PRESERVE ROWS AS
    SELECT CASE WHEN kept.trade_id IS NULL THEN 'write' WHEN made.trade_id IS NULL THEN 'remove' ELSE 'set' END
            AS action, coalesce(made.trade_id, kept.trade_id) AS trade_id,
        {", ".join(f"made.{name}" for name in _CONTENT)}, made.executed_at,
        kept.participant_id AS kept_participant_id, kept.symbol AS kept_symbol
    FROM (SELECT * FROM ({SIDES_OF_TRADES}) AS sides WHERE sequence <= $1::bigint) AS made
    FULL JOIN (
        SELECT * FROM position_trades WHERE source = 'fill'
            AND coalesce(substring(trade_id FROM '-([0-9]{{1,18}}):')::bigint, 0) <= $1
    ) AS kept ON kept.trade_id = made.trade_id
    WHERE ({", ".join(f"made.{name}" for name in _CONTENT)})
        IS DISTINCT FROM ({", ".join(f"kept.{name}" for name in _CONTENT)})
        AND NOT EXISTS (SELECT FROM position_refused_trades AS refused
            WHERE refused.trade_id = regexp_replace(made.trade_id, ':[a-z]*$', ''))
"""
_FIND_KEYS = f"""
    SELECT participant_id, symbol FROM rebuild_fills WHERE participant_id IS NOT NULL
    UNION SELECT kept_participant_id, kept_symbol FROM rebuild_fills WHERE kept_participant_id IS NOT NULL
    UNION
    SELECT participant_id, symbol FROM positions AS position
    FULL JOIN (
        SELECT participant_id, symbol, count(*) AS trades,
            sum(CASE side WHEN 'buy' THEN quantity ELSE -quantity END) AS quantity, sum(fee) AS fees,
            sum(CASE side WHEN 'buy' THEN -notional ELSE notional END - fee) AS cash_flow, sum(realised) AS realised
        FROM position_trades GROUP BY participant_id, symbol
    ) AS summed USING (participant_id, symbol)
    WHERE (position.trade_count, position.quantity, position.fees, position.cash_flow, position.realised, position.cost)
        IS DISTINCT FROM (coalesce(summed.trades, 0), coalesce(summed.quantity, 0), coalesce(summed.fees, 0),
            coalesce(summed.cash_flow, 0), coalesce(summed.realised, 0),
            coalesce(summed.realised - summed.cash_flow, 0))
    UNION
    SELECT fill.participant_id, fill.symbol FROM ({FIFO_FILLS}) AS fill
    LEFT JOIN fifo_transactions AS known
        ON known.user_id = fill.participant_id AND known.external_id = fill.external_id
    WHERE known.quantity IS DISTINCT FROM fill.quantity AND NOT EXISTS (
        SELECT FROM fifo_pending_fills AS waiting WHERE waiting.trade_id = fill.trade_id
            AND waiting.user_id = fill.participant_id AND waiting.quantity = fill.quantity
    )
    ORDER BY 1, 2
"""
_MAKE_POSITION = "INSERT INTO positions (participant_id, symbol) VALUES ($1, $2) ON CONFLICT DO NOTHING"
_LOCK_POSITION = "SELECT * FROM positions WHERE participant_id = $1 AND symbol = $2 FOR UPDATE"
_OF_KEY = """
    SELECT * FROM rebuild_fills
    WHERE (participant_id, symbol) = ($1, $2) OR (kept_participant_id, kept_symbol) = ($1, $2) ORDER BY trade_id
"""
_REMOVE_TRADES = """
    DELETE FROM position_trades AS kept USING rebuild_fills AS fill
    WHERE kept.trade_id = fill.trade_id AND kept.participant_id = $1 AND kept.symbol = $2
        AND (fill.action = 'remove' OR (fill.participant_id, fill.symbol) <> ($1, $2))
"""
_WRITE_TRADES = """
    INSERT INTO position_trades AS kept
        (trade_id, participant_id, symbol, side, quantity, notional, fee, realised, source, executed_at)
    SELECT trade_id, participant_id, symbol, side, quantity, notional, fee, 0, 'fill', executed_at
    FROM rebuild_fills WHERE action <> 'remove' AND participant_id = $1 AND symbol = $2
    ON CONFLICT (trade_id) DO UPDATE SET participant_id = excluded.participant_id, symbol = excluded.symbol,
        side = excluded.side, quantity = excluded.quantity, notional = excluded.notional, fee = excluded.fee
"""
# A fill has its place by the engine's sequence. A trade of another source follows the fills that were booked before.
_IN_ORDER = """
    SELECT serial, trade_id, side, quantity, notional, fee, realised, executed_at
    FROM (
        SELECT *, CASE source WHEN 'fill' THEN coalesce(number, 0)
            ELSE coalesce(max(number) OVER (ORDER BY serial), 0) END AS place
        FROM (
            SELECT *, CASE source WHEN 'fill' THEN substring(trade_id FROM '-([0-9]{1,18}):')::bigint END AS number
            FROM position_trades WHERE participant_id = $1 AND symbol = $2
        ) AS numbered
    ) AS placed
    ORDER BY place, source <> 'fill', CASE WHEN source = 'fill' THEN trade_id END, serial
"""
_SET_REALISED = "UPDATE position_trades SET realised = $2 WHERE serial = $1"
_SET_POSITION = """
    UPDATE positions SET quantity = $3, cost = $4, realised = $5, fees = $6, cash_flow = $7, trade_count = $8,
        opened_at = $9, closed_at = $10, updated_at = now()
    WHERE participant_id = $1 AND symbol = $2
"""
_REMOVE_POSITION = "DELETE FROM positions WHERE participant_id = $1 AND symbol = $2"
_FIND_BALANCES = f"""
    SELECT participant_id, asset FROM position_balances AS balance
    FULL JOIN ({POSITION_BALANCES}) AS summed USING (participant_id, asset)
    WHERE (coalesce(summed.available, 0), coalesce(summed.locked, 0))
        IS DISTINCT FROM (coalesce(balance.available, 0), coalesce(balance.locked, 0))
    ORDER BY 1, 2
"""
_MAKE_BALANCE = "INSERT INTO position_balances (participant_id, asset) VALUES ($1, $2) ON CONFLICT DO NOTHING"
_LOCK_BALANCE = """
    SELECT available, locked FROM position_balances WHERE participant_id = $1 AND asset = $2 FOR UPDATE
"""
_SUM_BALANCE = f"SELECT * FROM ({POSITION_BALANCES}) AS summed WHERE participant_id = $1 AND asset = $2"
_SET_BALANCE = """
    UPDATE position_balances SET available = $3, locked = $4, updated_at = now()
    WHERE participant_id = $1 AND asset = $2
"""
_REMOVE_BALANCE = "DELETE FROM position_balances WHERE participant_id = $1 AND asset = $2"
# Fills of a position that are no FIFO transaction, or one of another quantity, and do not wait to become one.
_LACKING_FILLS = f"""
    SELECT fill.*, known.external_id AS known_id
    FROM ({FIFO_FILLS}) AS fill
    LEFT JOIN fifo_transactions AS known
        ON known.user_id = fill.participant_id AND known.external_id = fill.external_id
    WHERE fill.participant_id = $1 AND fill.symbol = $2 AND known.quantity IS DISTINCT FROM fill.quantity
        AND NOT EXISTS (
            SELECT FROM fifo_pending_fills AS waiting WHERE waiting.trade_id = fill.trade_id
                AND waiting.user_id = $1 AND waiting.quantity = fill.quantity
        )
    ORDER BY fill.trade_id
"""
_FORGET_FILL = """
    WITH gone AS (
        DELETE FROM fifo_transactions WHERE user_id = $1 AND external_id IN ($2 || ':from', $2 || ':to')
        RETURNING executed_ms, external_id
    ), first AS (SELECT executed_ms, external_id FROM gone ORDER BY 1, 2 LIMIT 1)
    UPDATE fifo_owners SET dirty_ms = first.executed_ms, dirty_id = first.external_id FROM first
    WHERE user_id = $1 AND (dirty_ms IS NULL OR (dirty_ms, dirty_id) > (first.executed_ms, first.external_id))
"""
_AWAIT_VALUATION = """
    INSERT INTO fifo_pending_fills (trade_id, user_id, symbol, side, quantity, notional, fee, executed_ms)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
    ON CONFLICT (trade_id, user_id, side) DO UPDATE
        SET quantity = excluded.quantity, notional = excluded.notional, fee = excluded.fee
"""
_WRONG_OWNERS = f"SELECT DISTINCT user_id FROM ({FIFO_RESULTS}) AS differing ORDER BY 1"
# In a plan, $1 says, the fills are not changed yet.
_COUNT = """
    SELECT (count(*) + CASE WHEN $1::boolean THEN (
            SELECT count(*) FILTER (WHERE action = 'write') - count(*) FILTER (WHERE action = 'remove')
            FROM rebuild_fills
        ) ELSE 0 END) / 2 AS trades, max(substring(trade_id FROM '-([0-9]{1,18}):')::bigint) AS sequence
    FROM position_trades WHERE source = 'fill'
"""
_SET_CHECKPOINT = """
    INSERT INTO position_checkpoints AS known (name, sequence, trade_id, trade_count)
    VALUES ('exchange', $1, $2, $3)
    ON CONFLICT (name) DO UPDATE SET trade_count = excluded.trade_count, updated_at = now(),
        sequence = greatest(known.sequence, excluded.sequence)
"""


class Key(NamedTuple):
    """A position."""

    participant_id: str
    symbol: str


class _RolledBackError(Exception):
    """Ends a transaction of a plan."""


async def rebuild_positions(settings: PositionSettings, *, is_plan: bool, wait_s: float = 0) -> Rebuilt:
    """Repair what the position service has counted, or only name the changes. Raises NotRebuiltError.

    The trade rows must be right: `openspot ledger rebuild` makes them so.
    """
    try:
        async with repair_session(settings) as connection:
            return await _rebuild(settings, connection, is_plan=is_plan, wait_s=wait_s)
    except (asyncpg.PostgresError, *TRANSIENT_ERRORS) as error:
        raise NotRebuiltError(f"the database does not answer: {error!r}") from error


async def _rebuild(settings: PositionSettings, connection: Connection, *, is_plan: bool, wait_s: float) -> Rebuilt:
    await require_no_archive(connection, "trades")
    checkpoint = await connection.fetchval("SELECT sequence FROM position_checkpoints WHERE name = 'exchange'")
    if not await _follows(connection, settings, has_counted=checkpoint is not None):
        raise NotRebuiltError("the position service follows no trades: OPENSPOT_FOLLOW_FILLS is off")
    position = await rows_position(connection)
    until = 0 if position is None else position.least
    progress = await wait_for_mirrors(settings, until, wait_s)
    if not progress.counted and checkpoint is not None:
        # The service still has trades before it. It counts those after its checkpoint itself.
        until = min(until, checkpoint)
    repair = _PositionsRepair(connection, Rebuilt(until), is_plan=is_plan)
    await repair.run()
    return repair.rebuilt


async def _follows(connection: Connection, settings: PositionSettings, *, has_counted: bool) -> bool:
    """As the setting says; without one as the service does. One of an earlier release has counted trades."""
    if settings.follow_fills is not None:
        return settings.follow_fills
    kept = await connection.fetchval(KEPT)
    return has_counted if kept is None else bool(kept)


class _PositionsRepair:
    def __init__(self, connection: Connection, rebuilt: Rebuilt, *, is_plan: bool) -> None:
        self.rebuilt = rebuilt
        self._connection = connection
        self._is_plan = is_plan
        self._balances: set[Key] = set()

    async def run(self) -> None:
        fetch = self._connection.fetch
        await self._connection.execute(_FIND_TRADES.replace("$1", str(int(self.rebuilt.until))), timeout=_TIMEOUT_S)
        keys = [Key(*row) for row in await fetch(_FIND_KEYS, timeout=_TIMEOUT_S)]
        for at in range(0, len(keys), POSITIONS_AT_A_TIME):
            await self._at_once(self._mend_positions, keys[at : at + POSITIONS_AT_A_TIME])
        for row in await fetch(_FIND_BALANCES, timeout=_TIMEOUT_S):
            if tuple(row) not in self._balances:
                await self._at_once(self._mend_balances, [Key(*row)])
        for row in await fetch(_WRONG_OWNERS, timeout=_TIMEOUT_S):
            await self._at_once(self._compute_again, row["user_id"])
        await self._at_once(self._count_again)

    async def _at_once(self, step: Any, *arguments: Any) -> None:
        """Do a step in a transaction, which a plan rolls back."""
        try:
            async with self._connection.transaction():
                await step(*arguments)
                if self._is_plan:
                    raise _RolledBackError
        except _RolledBackError:
            return

    # Positions

    async def _mend_positions(self, keys: Sequence[Key]) -> None:
        """Mend positions, then the balances that they share. The service locks in this order, too."""
        for key in keys:
            await self._mend_position(key)
        accounts = {Key(key.participant_id, asset) for key in keys for asset in key.symbol.split("-")}
        await self._mend_balances(sorted(accounts))
        for key in keys:
            await self._mend_fills(key)

    async def _mend_position(self, key: Key) -> None:
        await self._connection.execute(_MAKE_POSITION, *key)
        before: Any = await self._connection.fetchrow(_LOCK_POSITION, *key)
        for fill in await self._connection.fetch(_OF_KEY, *key):
            self._name_trade(key, fill)
        await self._connection.execute(_REMOVE_TRADES, *key)
        await self._connection.execute(_WRITE_TRADES, *key)
        figures = await self._replay(key)
        if not figures[_FIGURES.index("trade_count")]:
            # A position that never had a trade has no row.
            await self._connection.execute(_REMOVE_POSITION, *key)
        else:
            await self._connection.execute(_SET_POSITION, *key, *figures)
        self._name(POSITION, " ".join(key), zip(_FIGURES, [before[name] for name in _FIGURES], figures, strict=True))

    def _name_trade(self, key: Key, fill: Any) -> None:
        own = (fill["participant_id"], fill["symbol"]) == key
        content = " ".join(_text(fill[name]) for name in _CONTENT) if own else ""
        if fill["action"] == "write":
            self.rebuilt.change(TRADE, fill["trade_id"], f"count it, it is missing: {content}")
        elif fill["action"] == "remove" or not own:
            self.rebuilt.change(TRADE, fill["trade_id"], f"take it out of {' '.join(key)}")
        else:
            self.rebuilt.change(TRADE, fill["trade_id"], f"becomes {content}")

    async def _replay(self, key: Key) -> tuple[Any, ...]:
        """Compute a position from its trades, and correct what each realised. Returns its figures."""
        keeper = PositionKeeper()
        opened_at = closed_at = None
        wrong: list[tuple[int, Any]] = []
        async for row in self._connection.cursor(_IN_ORDER, *key, timeout=_TIMEOUT_S):
            at = row["executed_at"]
            trade = PositionTrade(
                row["trade_id"], ms_from_datetime(at), Side[row["side"].upper()], amount_of(row["quantity"]),
                amount_of(row["notional"]), amount_of(row["fee"]),
            )  # fmt: skip
            applied = keeper.apply(trade)
            for trigger in applied.triggers:
                if trigger is PositionTrigger.OPENING_TRADE:
                    opened_at, closed_at = at, None
                elif trigger is PositionTrigger.FLATTENING_TRADE:
                    closed_at = at
            if amount_of(row["realised"]) != applied.realised:
                wrong.append((row["serial"], numeric(applied.realised)))
        await self._connection.executemany(_SET_REALISED, wrong)
        found = keeper.position
        amounts = (found.quantity, found.cost, found.realised, found.fees, found.cash_flow)
        return (*map(numeric, amounts), found.trades, opened_at, closed_at)

    # Balances

    async def _mend_balances(self, accounts: Iterable[Key]) -> None:
        """Make balances the sums of trades and transfers. Locks them in the order of their keys."""
        for account in accounts:
            self._balances.add(account)
            await self._connection.execute(_MAKE_BALANCE, *account)
            before: Any = await self._connection.fetchrow(_LOCK_BALANCE, *account)
            after = await self._connection.fetchrow(_SUM_BALANCE, *account, timeout=_TIMEOUT_S)
            if after is None:
                await self._connection.execute(_REMOVE_BALANCE, *account)
            elif tuple(before) != (after["available"], after["locked"]):
                await self._connection.execute(_SET_BALANCE, *account, after["available"], after["locked"])
            figures = [(name, before[name], after[name] if after else 0) for name in ("available", "locked")]
            self._name(BALANCE, " ".join(account), figures)

    # FIFO

    async def _mend_fills(self, key: Key) -> None:
        """Let fills that FIFO lacks, or has with another quantity, become transactions again. The service does it."""
        lacking = await self._connection.fetch(_LACKING_FILLS, *key, timeout=_TIMEOUT_S)
        if not lacking:
            return
        await cost_basis.lock_owner(self._connection, key.participant_id)
        for fill in lacking:
            self.rebuilt.change(FILL, fill["trade_id"], "let it become a FIFO transaction (the position service does)")
            if fill["known_id"] is not None:
                await self._connection.execute(_FORGET_FILL, key.participant_id, fill["trade_id"])
            await self._connection.execute(
                _AWAIT_VALUATION, fill["trade_id"], *key, fill["side"], fill["quantity"], fill["notional"],
                fill["fee"], ms_from_datetime(fill["executed_at"]),
            )  # fmt: skip

    async def _compute_again(self, user_id: str) -> None:
        """Compute an owner's lots and disposals from the first transaction on."""
        await cost_basis.lock_owner(self._connection, user_id)
        self.rebuilt.change(RESULTS, user_id, "compute them again from all transactions")
        if not self._is_plan:
            await self._connection.execute("DELETE FROM fifo_checkpoints WHERE user_id = $1", user_id)
            await compute(self._connection, user_id, 0)

    async def _count_again(self) -> None:
        known = await self._connection.fetchrow("SELECT * FROM position_checkpoints WHERE name = 'exchange' FOR UPDATE")
        counted: Any = await self._connection.fetchrow(_COUNT, self._is_plan, timeout=_TIMEOUT_S)
        has = 0 if known is None else known["trade_count"]
        if counted["trades"] == has:
            return
        self.rebuilt.change(CHECKPOINT, "exchange", f"trades {has} becomes {counted['trades']}")
        trade_id = "" if known is None else known["trade_id"]
        await self._connection.execute(_SET_CHECKPOINT, counted["sequence"] or 0, trade_id, counted["trades"])

    def _name(self, kind: str, name: str, figures: Iterable[tuple[str, Any, Any]]) -> None:
        words = [f"{field} {_text(has)} becomes {_text(to)}" for field, has, to in figures if has != to]
        if words:
            self.rebuilt.change(kind, name, ", ".join(words))


def _text(value: Any) -> str:
    if value is None:
        return "nothing"
    return decimal_to_text(value) if hasattr(value, "as_tuple") else str(value)
