"""Indexes of tables that may be large, made and dropped while the platform writes to them.

PostgreSQL does that only outside a transaction. So each call commits what the migration did before it, and a migration
that is interrupted starts again at its beginning: every statement of it must bear being repeated.
"""

from alembic import op
from sqlalchemy import text

_IS_VALID = "SELECT indisvalid FROM pg_index WHERE indexrelid = to_regclass(:name)"


def create_index(name: str, definition: str) -> None:
    """Create the index `name` without locking writers out; `definition` is what follows ON in CREATE INDEX.

    An index that is there already stays. One that an interrupted creation left behind is invalid: no query uses it and
    every write pays for it. It is dropped and made anew.
    """
    with op.get_context().autocommit_block():
        is_valid = op.get_bind().execute(text(_IS_VALID), {"name": name}).scalar()
        if is_valid is False:
            op.execute(f"DROP INDEX CONCURRENTLY {name}")
        if not is_valid:
            op.execute(f"CREATE INDEX CONCURRENTLY {name} ON {definition}")


def drop_index(name: str) -> None:
    """Drop the index `name` without locking anybody out, if it is there."""
    with op.get_context().autocommit_block():
        op.execute(f"DROP INDEX CONCURRENTLY IF EXISTS {name}")
