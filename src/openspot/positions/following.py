"""Decides whether the position service follows the trades of the exchange, and keeps what it has decided.

The row `following` of `position_checkpoints` has 1 while they are followed, and 0 once that has ended. A platform that
never followed has none. The row `exchange`, beside it, is the place of the last trade that was counted.
"""

from openspot.kit.database import Pool
from openspot.kit.log import get_logger
from openspot.positions.settings import PositionSettings

log = get_logger("positions")

KEPT = "SELECT sequence = 1 FROM position_checkpoints WHERE name = 'following'"
"""The decision that is kept; no row where there was none."""
# What was booked otherwise may be the exchange's own trades, and would count twice. Of an older platform the bus may
# have lost trades, of which the costs would be lacking.
_IS_NEW = """
    SELECT NOT EXISTS (SELECT FROM position_checkpoints WHERE name = 'exchange')
        AND NOT EXISTS (SELECT FROM position_trades) AND NOT EXISTS (SELECT FROM fifo_transactions)
        AND NOT EXISTS (SELECT FROM trades WHERE executed_at < now() - interval '1 day')
        AND NOT EXISTS (SELECT FROM archive_floors WHERE kind = 'trades')
"""
_BEGIN = """
    INSERT INTO position_checkpoints (name, sequence, trade_id, trade_count) VALUES ('following', 1, '', 0)
    ON CONFLICT (name) DO UPDATE SET sequence = 1, updated_at = now()
"""
# A platform that never followed keeps nothing: it may still be a new one when its rules become complete.
_END = """
    INSERT INTO position_checkpoints (name, sequence, trade_id, trade_count)
    SELECT 'following', 0, '', 0 FROM position_checkpoints WHERE name = 'exchange'
    UNION SELECT 'following', 0, '', 0 FROM position_checkpoints WHERE name = 'following'
    ON CONFLICT (name) DO UPDATE SET sequence = 0, updated_at = now()
"""


async def follows_fills(pool: Pool, settings: PositionSettings) -> bool:
    """Whether to follow the trades from now on; keeps the answer.

    As the setting says. Without one never under the rules of the specification; under the complete rules as before, or
    if the platform is new: no trade is older than a day, and brokers and users have booked nothing.
    """
    follows = await _decided(pool, settings)
    await pool.execute(_BEGIN if follows else _END)
    return follows


async def _decided(pool: Pool, settings: PositionSettings) -> bool:
    if settings.follow_fills is not None or not settings.has_complete_rules:
        return settings.may_follow_fills
    kept: bool | None = await pool.fetchval(KEPT)
    follows = bool(await pool.fetchval(_IS_NEW)) if kept is None else kept
    if not follows:
        log.warning(
            "the trades of the exchange are not followed: the platform was not new when its rules became complete",
            to_follow="set OPENSPOT_FOLLOW_FILLS=true, then run `openspot positions rebuild`",
            to_stay="set OPENSPOT_FOLLOW_FILLS=false",
        )
    return follows
