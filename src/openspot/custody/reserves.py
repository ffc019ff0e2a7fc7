"""What custody holds, by its own account: what the chains have brought and what they have taken.

A deposit counts from its confirmation on. A withdrawal counts as gone, with its fee, from the moment in which the chain
takes its transaction. Until the engine has taken its funds, too, it is `leaving`: the user is still owed it, though it
is not held any more.
"""

from openspot.contracts.messages import CustodyReserve
from openspot.kit.database import Pool, text_of

_HELD = """
    SELECT asset, network, sum(arrived) - sum(sent) AS held, sum(leaving) AS leaving FROM (
        SELECT asset, network, sum(amount) AS arrived, 0 AS sent, 0 AS leaving
        FROM custody_deposits WHERE confirmed_at IS NOT NULL GROUP BY asset, network
        UNION ALL
        SELECT withdrawal.asset, withdrawal.network, 0, sum(withdrawal.amount),
            coalesce(sum(withdrawal.amount) FILTER (WHERE withdrawal.funds <> 'taken'), 0)
        FROM custody_chain_transactions AS sent
        JOIN custody_withdrawals AS withdrawal ON withdrawal.tx_hash = sent.tx_hash
        GROUP BY withdrawal.asset, withdrawal.network
    ) AS part
    GROUP BY asset, network ORDER BY asset, network
"""


async def reserves_of(pool: Pool) -> list[CustodyReserve]:
    """What is held of each asset on each network. Raises what asyncpg raises."""
    return [
        CustodyReserve(row["asset"], row["network"], text_of(row["held"]), text_of(row["leaving"]))
        for row in await pool.fetch(_HELD)
    ]
