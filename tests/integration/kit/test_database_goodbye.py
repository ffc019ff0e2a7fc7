"""What a pool raises at the moment at which the server goes away."""

import struct

import asyncpg
import pytest

from openspot.kit.database import TRANSIENT_ERRORS


def goodbye() -> bytes:
    """The message of a server that is being shut down: an error that answers nothing."""
    fields = b"SFATAL\0VFATAL\0C57P02\0Mterminating connection because of crash of another server process\0\0"
    return b"E" + struct.pack(">i", len(fields) + 4) + fields


async def test_a_statement_after_the_servers_goodbye_fails_as_one_that_may_be_tried_again(pool: asyncpg.Pool) -> None:
    async with pool.acquire() as connection:
        # What the socket hands over when the goodbye arrives a moment before the end of the connection.
        connection._con._protocol.data_received(goodbye())
        with pytest.raises(TRANSIENT_ERRORS):
            await connection.fetchval("SELECT 1")
        connection.terminate()
    assert await pool.fetchval("SELECT 1") == 1
