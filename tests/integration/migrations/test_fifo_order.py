"""After the upgrade, owners whose fills shared a millisecond are computed again from there, and no others."""

from importlib import import_module

import asyncpg

STATEMENTS = import_module("openspot.migrations.versions.0065_fifo_order").STATEMENTS
TRANSACTION = """
    INSERT INTO fifo_transactions (user_id, external_id, executed_ms, kind, account, asset, quantity, value, fee,
        fee_quantity, fingerprint)
    VALUES ($1, $2, $3, 'acquisition', 'main', 'BTC', 1, 1, 0, 0, 'f')
"""
HISTORIES = {
    # Apart, or without a fill: as before.
    "apart": [("e-9:buy:to", 1), ("e-10:buy:to", 2)],
    "imported": [("buy-1", 1), ("buy-2", 1)],
    "together": [("early", 1), ("e-9:buy:to", 5), ("e-10:sell:from", 5), ("e-11:buy:to", 7), ("x", 7)],
    "dirty": [("e-9:buy:to", 5), ("e-10:buy:to", 5)],
}


async def test_owners_with_fills_of_one_millisecond_are_computed_again_from_the_first(pool: asyncpg.Pool) -> None:
    for owner, history in HISTORIES.items():
        await pool.execute(
            "INSERT INTO fifo_owners (user_id, dirty_ms, dirty_id) VALUES ($1, $2, $3)",
            owner, *((3, "d") if owner == "dirty" else (None, None)),
        )  # fmt: skip
        await pool.execute("INSERT INTO fifo_checkpoints VALUES ($1, 1, 'x', true, '{}')", owner)
        await pool.executemany(TRANSACTION, [(owner, *each) for each in history])
    # The second time, it finds the same.
    for statement in STATEMENTS * 2:
        await pool.execute(statement)
    rows = await pool.fetch("SELECT user_id, dirty_ms, dirty_id FROM fifo_owners")
    assert {row["user_id"]: (row["dirty_ms"], row["dirty_id"]) for row in rows} == {
        "apart": (None, None), "imported": (None, None), "together": (5, "e-10:sell:from"), "dirty": (3, "d"),
    }  # fmt: skip
    assert await pool.fetchval("SELECT count(*) FROM fifo_checkpoints") == 0
