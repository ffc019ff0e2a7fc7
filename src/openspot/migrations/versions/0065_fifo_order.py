"""Fills of one millisecond count in FIFO as the engine made them.

The order within a millisecond was that of the external ids as texts, so trade 10 came before trade 9. Saved books of
that order are forgotten, and owners with several fills in one millisecond are computed again from their first one on,
when their results are next asked for.
"""

from alembic import op

revision = "0065"
down_revision = "0064"
branch_labels = None
depends_on = None

STATEMENTS = (
    "DELETE FROM fifo_checkpoints",
    """
    WITH several AS (
        SELECT user_id, executed_ms, min(external_id COLLATE "C") AS external_id FROM fifo_transactions
        GROUP BY user_id, executed_ms
        HAVING count(*) FILTER (WHERE external_id ~ '-[0-9]{1,18}:(buy|sell):(from|to)$') > 0 AND count(*) > 1
    ), first AS (SELECT DISTINCT ON (user_id) * FROM several ORDER BY user_id, executed_ms)
    UPDATE fifo_owners AS owner SET dirty_ms = first.executed_ms, dirty_id = first.external_id
    FROM first WHERE owner.user_id = first.user_id
        AND (owner.dirty_ms IS NULL OR owner.dirty_ms > first.executed_ms)
    """,
)


def upgrade() -> None:
    """Forget what was computed in the other order."""
    for statement in STATEMENTS:
        op.execute(statement)
