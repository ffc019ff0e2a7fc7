"""Alembic's entry point: runs the migrations on the address that `openspot.migrations.upgrade` was given."""

from alembic import context
from sqlalchemy import create_engine, text
from sqlalchemy.pool import NullPool

from openspot.migrations import driver_url

_LOCK_KEY = 0x0BE2_5907


def run() -> None:
    """Run the migrations in one transaction, one process at a time."""
    url = driver_url(context.config.attributes["database_url"])
    engine = create_engine(url, poolclass=NullPool)
    with engine.connect() as connection:
        context.configure(connection=connection, transactional_ddl=True)
        with context.begin_transaction():
            connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": _LOCK_KEY})
            context.run_migrations()
        connection.commit()


run()
