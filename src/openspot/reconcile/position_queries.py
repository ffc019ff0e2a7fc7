"""SQL that compares what the position service has counted: trades, positions, balances and FIFO.

Each `…_DIFFER` is the query of a `MoneyCheck`; the others are parts that the repair of positions shares.
"""

# ruff: noqa: S608  (the texts are made of constants only)

from openspot.reconcile.queries import TRADES_FLOOR

# The two sides of each trade row, as the position service counts them.
SIDES_OF_TRADES = """
    SELECT trade.sequence, trade.trade_id || ':' || side.name AS trade_id, side.participant_id, trade.symbol,
        side.name AS side, trade.quantity, trunc(trade.price * trade.quantity, 18) AS notional,
        CASE trade.taker_side WHEN side.name THEN trade.taker_fee ELSE trade.maker_fee END AS fee, trade.executed_at
    FROM trades AS trade
    CROSS JOIN LATERAL (VALUES ('buy', trade.buyer_id), ('sell', trade.seller_id)) AS side (name, participant_id)
"""
FOLLOWS_FILLS = """(
    EXISTS (SELECT FROM position_checkpoints WHERE name = 'exchange')
    AND NOT EXISTS (SELECT FROM position_checkpoints WHERE name = 'following' AND sequence = 0)
)"""
"""Whether the service has followed trades, and has not ended that (`positions/following.py`)."""
_COUNTED = "participant_id, symbol, side, quantity, notional, fee"
POSITION_TRADES_DIFFER = f"""
    SELECT coalesce(made.trade_id, kept.trade_id) AS name, 'trade' AS field,
        CASE WHEN made.trade_id IS NULL THEN 'missing' ELSE concat_ws(' ', made.participant_id, made.side,
            trim_scale(made.quantity), trim_scale(made.notional), trim_scale(made.fee)) END AS engine,
        CASE WHEN kept.trade_id IS NOT NULL THEN concat_ws(' ', kept.participant_id, kept.side,
                trim_scale(kept.quantity), trim_scale(kept.notional), trim_scale(kept.fee))
            WHEN refused.reason IS NOT NULL THEN 'refused: ' || refused.reason
            WHEN scope.counted THEN 'not counted, though everything up to here was taken from the bus'
            ELSE 'not counted, or not yet' END AS mirror
    FROM ({SIDES_OF_TRADES}) AS made
    FULL JOIN (SELECT * FROM position_trades WHERE source = 'fill') AS kept ON kept.trade_id = made.trade_id
    LEFT JOIN position_refused_trades AS refused ON refused.trade_id = regexp_replace(made.trade_id, ':[a-z]*$', '')
    CROSS JOIN reconcile_scope AS scope
    WHERE {FOLLOWS_FILLS}
        AND (made.trade_id IS NULL OR made.sequence <= scope.mark OR kept.trade_id IS NOT NULL)
        -- The rows of older trades may be in the archive.
        AND coalesce(made.sequence, substring(kept.trade_id FROM '-([0-9]{{1,18}}):')::bigint, {TRADES_FLOOR} + 1)
            > {TRADES_FLOOR}
        -- The service is faster than the router's rows.
        AND (made.trade_id IS NOT NULL OR coalesce(substring(kept.trade_id FROM '-([0-9]{{1,18}}):')::bigint, 0)
            <= (SELECT coalesce(min(sequence), 0) FROM engine_cursors WHERE is_current))
        AND ({", ".join(f"made.{each.strip()}" for each in _COUNTED.split(","))})
            IS DISTINCT FROM ({", ".join(f"kept.{each.strip()}" for each in _COUNTED.split(","))})
"""
COUNT_DIFFERS = """
    SELECT name, 'trades' AS field, fills::text AS engine, trade_count::text AS mirror
    FROM position_checkpoints
    CROSS JOIN (SELECT count(*) / 2 AS fills FROM position_trades WHERE source = 'fill') AS counted
    WHERE name = 'exchange' AND fills <> trade_count
"""
POSITIONS_DIFFER = """
    SELECT concat_ws(' ', participant_id, symbol) AS name, field, trim_scale(needed)::text AS engine,
        trim_scale(kept)::text AS mirror
    FROM positions AS position
    FULL JOIN (
        SELECT participant_id, symbol, count(*) AS trades,
            sum(CASE side WHEN 'buy' THEN quantity ELSE -quantity END) AS quantity, sum(fee) AS fees,
            sum(CASE side WHEN 'buy' THEN -notional ELSE notional END - fee) AS cash_flow, sum(realised) AS realised
        FROM position_trades GROUP BY participant_id, symbol
    ) AS summed USING (participant_id, symbol)
    CROSS JOIN LATERAL (VALUES
        ('trades', coalesce(summed.trades, 0), coalesce(position.trade_count, 0)),
        ('quantity', coalesce(summed.quantity, 0), coalesce(position.quantity, 0)),
        ('fees', coalesce(summed.fees, 0), coalesce(position.fees, 0)),
        ('cash flow', coalesce(summed.cash_flow, 0), coalesce(position.cash_flow, 0)),
        ('realised result', coalesce(summed.realised, 0), coalesce(position.realised, 0)),
        ('cost', coalesce(summed.realised - summed.cash_flow, 0), coalesce(position.cost, 0))
    ) AS compared (field, needed, kept)
    WHERE needed <> kept
"""
POSITION_BALANCES = """
    SELECT participant_id, asset, sum(available) AS available, sum(locked) AS locked
    FROM (
        SELECT participant_id, split_part(symbol, '-', 1) AS asset,
            CASE side WHEN 'buy' THEN quantity ELSE -quantity END AS available, 0 AS locked
        FROM position_trades
        UNION ALL
        SELECT participant_id, split_part(symbol, '-', 2),
            CASE side WHEN 'buy' THEN -notional ELSE notional END - fee, 0
        FROM position_trades
        UNION ALL
        SELECT participant_id, asset, CASE kind WHEN 'withdrawal' THEN -amount ELSE amount END, 0
        FROM position_transfers WHERE status = 'completed'
        UNION ALL
        SELECT participant_id, asset, -amount, amount
        FROM position_transfers WHERE status = 'pending' AND kind = 'withdrawal'
    ) AS moved GROUP BY participant_id, asset
"""
POSITION_BALANCES_DIFFER = f"""
    SELECT concat_ws(' ', participant_id, asset) AS name, field, trim_scale(needed)::text AS engine,
        trim_scale(kept)::text AS mirror
    FROM position_balances AS balance FULL JOIN ({POSITION_BALANCES}) AS summed USING (participant_id, asset)
    CROSS JOIN LATERAL (VALUES
        ('available', coalesce(summed.available, 0), coalesce(balance.available, 0)),
        ('locked', coalesce(summed.locked, 0), coalesce(balance.locked, 0))
    ) AS compared (field, needed, kept)
    WHERE needed <> kept
"""
# A fill has the transaction of its base asset, or waits for one. Its leg is `to` for a buy and `from` for a sale.
FIFO_FILLS = """
    SELECT fill.*, fill.trade_id || CASE fill.side WHEN 'buy' THEN ':to' ELSE ':from' END AS external_id
    FROM position_trades AS fill WHERE fill.source = 'fill'
"""
FIFO_FILLS_DIFFER = f"""
    SELECT fill.trade_id AS name, 'FIFO transaction' AS field, trim_scale(fill.quantity)::text AS engine,
        coalesce(trim_scale(known.quantity)::text, 'missing') AS mirror
    FROM ({FIFO_FILLS}) AS fill
    LEFT JOIN fifo_transactions AS known
        ON known.user_id = fill.participant_id AND known.external_id = fill.external_id
    WHERE known.quantity IS DISTINCT FROM fill.quantity AND NOT EXISTS (
        SELECT FROM fifo_pending_fills AS waiting WHERE waiting.trade_id = fill.trade_id
            AND waiting.user_id = fill.participant_id AND waiting.quantity = fill.quantity
    )
"""
# Owners whose results are computed and cover everything.
FIFO_RESULTS = """
    SELECT user_id, asset, field, needed, kept
    FROM (
        SELECT user_id, asset, sum(acquired - disposed) AS left_over, sum(disposed) AS disposed
        FROM (
            SELECT user_id, asset, CASE kind WHEN 'acquisition' THEN quantity ELSE 0 END AS acquired,
                CASE kind WHEN 'disposal' THEN quantity ELSE 0 END AS disposed
            FROM fifo_transactions
            UNION ALL
            SELECT user_id, fee_asset, 0, fee_quantity FROM fifo_transactions WHERE fee_asset IS NOT NULL
        ) AS moved GROUP BY user_id, asset
    ) AS summed
    FULL JOIN (SELECT user_id, asset, sum(quantity) AS quantity FROM fifo_lots GROUP BY user_id, asset) AS lots
        USING (user_id, asset)
    FULL JOIN (SELECT user_id, asset, sum(quantity) AS quantity FROM fifo_disposals GROUP BY user_id, asset) AS gone
        USING (user_id, asset)
    CROSS JOIN LATERAL (VALUES
        ('quantity of the lots', coalesce(summed.left_over, 0), coalesce(lots.quantity, 0)),
        ('quantity of the disposals', coalesce(summed.disposed, 0), coalesce(gone.quantity, 0))
    ) AS compared (field, needed, kept)
    WHERE needed <> kept
        AND NOT EXISTS (SELECT FROM fifo_owners AS owner
            WHERE owner.user_id = coalesce(summed.user_id, lots.user_id, gone.user_id) AND owner.dirty_ms IS NOT NULL)
        AND NOT EXISTS (SELECT FROM fifo_transactions AS short
            WHERE short.user_id = coalesce(summed.user_id, lots.user_id, gone.user_id) AND short.shortfall IS NOT NULL)
"""
FIFO_RESULTS_DIFFER = f"""
    SELECT concat_ws(' ', user_id, asset) AS name, field, trim_scale(needed)::text AS engine,
        trim_scale(kept)::text AS mirror
    FROM ({FIFO_RESULTS}) AS differing
"""
