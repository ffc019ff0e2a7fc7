"""Alembic's entry point: runs the migrations on the address that `openspot.migrations.upgrade` was given."""

import time

from alembic import context
from sqlalchemy import Connection, create_engine, text
from sqlalchemy.pool import NullPool

from openspot.migrations import driver_url

_LOCK_KEY = 0x0BE2_5907
_POLL_INTERVAL_S = 0.1


def run() -> None:
    """Run the migrations, one process at a time: in one transaction, but for those that commit (indexes.py)."""
    url = driver_url(context.config.attributes["database_url"])
    engine = create_engine(url, poolclass=NullPool)
    with engine.connect() as connection:
        # The session's, because a migration may commit. If this process is killed while PostgreSQL makes an index, the
        # lock is held until the server is done with it, so that nobody makes it a second time meanwhile.
        while not _has_locked(connection):
            time.sleep(_POLL_INTERVAL_S)
        context.configure(connection=connection, transactional_ddl=True)
        with context.begin_transaction():
            context.run_migrations()
        connection.commit()


def _has_locked(connection: Connection) -> bool:
    """Try to lock. To wait for the lock would be a statement that CREATE INDEX CONCURRENTLY waits for: a deadlock."""
    with connection.begin():
        query = text("SELECT pg_try_advisory_lock(:key)")
        return bool(connection.execute(query, {"key": _LOCK_KEY}).scalar_one())


run()
