"""The open obligations to a user, which must be settled before the account can be deleted."""

from openspot.kit.database import Pool

_COUNTS = """
    SELECT
        (SELECT count(*) FROM staking_balances
            WHERE user_id = $1 AND status IN ('pending', 'active', 'unbonding')) AS stakes,
        (SELECT count(*) FROM staking_unstakes WHERE user_id = $1 AND status <> 'paid') AS unstakes,
        (SELECT count(*) FROM payments WHERE user_id = $1 AND payment_status = 'paid' AND NOT credited) AS payments,
        (SELECT count(*) FROM conversions WHERE user_id = $1 AND status = 'pending') AS conversions,
        (SELECT count(*) FROM custody_deposits WHERE user_id = $1 AND confirmed_at IS NULL) AS deposits,
        (SELECT count(*) FROM custody_withdrawals
            WHERE user_id = $1 AND funds NOT IN ('refused', 'released', 'taken')) AS withdrawals,
        (SELECT count(*) FROM margin_accounts WHERE user_id = $1 AND status <> 'closed') AS margin_accounts,
        (SELECT count(*) FROM operator_roles WHERE user_id = $1) AS operator_roles
"""


async def open_obligations(pool: Pool, user_id: str) -> dict[str, int]:
    """The number of open obligations by kind. Kinds without any are left out.

    A withdrawal is settled when its funds are taken or released, which can be later than its final status.
    """
    row = await pool.fetchrow(_COUNTS, user_id)
    assert row is not None, "a SELECT without a table has one row"
    return {kind: number for kind, number in row.items() if number}
