"""The order in which rows of a user are locked: the row in `users` first, then all others (docs/adr/0125).

Deleting an account locks the user's row and then deletes the others. Whoever changed another row first, and then told
the user or wrote what refers to the user, would wait for the deletion while the deletion waits for that row.
"""

from collections.abc import Iterable

from openspot.kit.database import Connection


async def lock_users(connection: Connection, user_ids: Iterable[str], *, to_change: bool = False) -> None:
    """Let nobody delete these users until the transaction ends. Called before any other row of theirs is locked.

    With `to_change` only this transaction changes their rows in `users`. Without it others may lock them too, so a
    transaction that changes them later could wait for itself. Users who do not exist are left out.
    """
    strength = "NO KEY UPDATE" if to_change else "SHARE"
    query = f"SELECT FROM users WHERE user_id = ANY($1::text[]) ORDER BY user_id FOR {strength}"
    await connection.execute(query, sorted(set(user_ids)))
