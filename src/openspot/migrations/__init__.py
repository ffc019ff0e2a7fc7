"""The database schema, as Alembic migrations. `upgrade` brings a database to the newest one."""

from pathlib import Path

from alembic import command
from alembic.config import Config


def upgrade(database_url: str) -> None:
    """Apply all missing migrations to the database at `database_url`. Doing it twice changes nothing."""
    config = Config()
    config.set_main_option("script_location", str(Path(__file__).parent))
    config.attributes["database_url"] = database_url
    command.upgrade(config, "head")
