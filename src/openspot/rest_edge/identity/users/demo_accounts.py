"""Makes sure that the users of the demo market's bots exist, with the password of the setting."""

import asyncpg

from openspot.kit.database import Pool
from openspot.kit.log import get_logger
from openspot.kit.passwords import Passwords
from openspot.rest_edge.common.demo_account_names import DEMO_ACCOUNTS

log = get_logger("demo-accounts")

_KEEP = """
    INSERT INTO users (user_id, email, password_hash, role, email_verified_at) VALUES ($1, $2, $3, 'user', now())
    ON CONFLICT (user_id) DO UPDATE SET password_hash = excluded.password_hash
"""


async def keep_demo_accounts(pool: Pool, password: str) -> None:
    """Add the missing accounts, and give all of them `password`. A repetition changes nothing.

    If somebody else has registered an account's address, it is left out. Its bot cannot log in, and logs that.
    """
    passwords = Passwords(1, 1, lambda: RuntimeError("passwords are hashed one after the other"))
    try:
        # One hash for all: a start does not wait for as many hashes as there are bots.
        password_hash = await passwords.hash(password)
        for account in DEMO_ACCOUNTS:
            try:
                await pool.execute(_KEEP, account.user_id, account.email, password_hash)
            except asyncpg.UniqueViolationError:
                log.error("a demo account is missing: its address is taken by another user", email=account.email)
    finally:
        passwords.close()
