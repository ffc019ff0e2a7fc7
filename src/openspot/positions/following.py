"""Decides whether the position service follows the trades of the exchange, and keeps that decision."""

from openspot.kit.database import Pool
from openspot.kit.log import get_logger
from openspot.positions.settings import PositionSettings

log = get_logger("positions")

# The checkpoint of the trades is the decision: while it is there, they are followed. Its time is the beginning of all
# times, as no trade is counted yet. What was booked otherwise may be the exchange's own trades and would count twice.
# Of an older platform the bus may have lost trades, of which the costs would be lacking.
_HAS_BEGUN = "SELECT EXISTS (SELECT FROM position_checkpoints WHERE name = 'exchange')"
_BEGIN_ON_A_NEW_PLATFORM = """
    INSERT INTO position_checkpoints (name, sequence, trade_id, trade_count, updated_at)
    SELECT 'exchange', 0, '', 0, to_timestamp(0)
    WHERE NOT EXISTS (SELECT FROM position_trades) AND NOT EXISTS (SELECT FROM fifo_transactions)
        AND NOT EXISTS (SELECT FROM trades WHERE executed_at < now() - interval '1 day')
    ON CONFLICT (name) DO NOTHING
"""


async def follows_fills(pool: Pool, settings: PositionSettings) -> bool:
    """Whether to follow the trades: as the setting says; without one, under the complete rules on a platform that
    followed them before or is new.

    New is a platform with no trade older than a day, and nothing that brokers or users booked.
    """
    if settings.follow_fills is not None:
        return settings.follow_fills
    if not settings.may_follow_fills:
        return False
    if await pool.fetchval(_HAS_BEGUN):
        return True
    await pool.execute(_BEGIN_ON_A_NEW_PLATFORM)
    has_begun: bool = await pool.fetchval(_HAS_BEGUN)
    if not has_begun:
        log.warning(
            "the trades of the exchange are not followed: this platform is older than the rules that follow them",
            to_follow="set OPENSPOT_FOLLOW_FILLS=true, then run `openspot positions rebuild`",
            to_stay="set OPENSPOT_FOLLOW_FILLS=false",
        )
    return has_begun
