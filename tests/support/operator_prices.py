"""A price that the operator sets on a running platform, so that a market has a certain fair price at once."""

import asyncpg

from openspot.up.child_platform import ChildPlatform


async def set_operator_price(platform: ChildPlatform, symbol: str, price: str) -> None:
    """Let a market's fair price be this for an hour."""
    connection = await asyncpg.connect(platform.settings.database_url)
    try:
        await connection.execute(
            """
            INSERT INTO operator_prices (symbol, price, ends_at, reason, set_by)
            VALUES ($1, $2::text::numeric, now() + interval '1 hour', 'a test', 'test')
            """,
            symbol,
            price,
        )
    finally:
        await connection.close()
