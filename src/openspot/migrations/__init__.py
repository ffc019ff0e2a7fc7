"""The database schemas, as Alembic migrations. `upgrade` brings a database to the newest one.

The platform's database follows the chain in `versions`. A service with a database of its own has a chain of its own, in
the folder that its descriptor names.
"""

from pathlib import Path
from urllib.parse import unquote, urlsplit

from alembic import command
from alembic.config import Config
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, create_engine, text
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.pool import NullPool

PLATFORM = "versions"
"""The chain of the platform's database."""
_FOLDER = Path(__file__).parent


def upgrade(database_url: str, chain: str = PLATFORM, revision: str = "head") -> None:
    """Apply the missing migrations of `chain`, up to `revision`, to the database at `database_url`.

    Doing it twice changes nothing. One that was interrupted goes on where it was when it is called again.
    """
    config = Config()
    config.set_main_option("script_location", str(_FOLDER))
    config.set_main_option("version_locations", str(_FOLDER / chain))
    # A path may hold spaces and colons.
    config.set_main_option("path_separator", "newline")
    config.attributes["database_url"] = database_url
    command.upgrade(config, revision)


def missing_migrations(revision: str, chain: str = PLATFORM) -> list[str] | None:
    """The names of the migrations of `chain` that come after `revision`, oldest first; None if it does not know it.

    An empty revision is that of an empty database.
    """
    config = Config()
    config.set_main_option("script_location", str(_FOLDER))
    config.set_main_option("version_locations", str(_FOLDER / chain))
    config.set_main_option("path_separator", "newline")
    newest_first = list(ScriptDirectory.from_config(config).walk_revisions())
    names = {script.revision: Path(script.path).stem for script in newest_first}
    if revision and revision not in names:
        return None
    later = list(names) if not revision else list(names)[: list(names).index(revision)]
    return [names[each] for each in reversed(later)]


def name_of(database_url: str) -> str:
    """The name of the database at `database_url`, empty if the URL names none."""
    return unquote(urlsplit(database_url).path.removeprefix("/"))


def create_database(name: str, beside_url: str) -> None:
    """Create the database `name` on the server of `beside_url`, unless it exists. Raises SQLAlchemyError."""
    engine = create_engine(driver_url(beside_url), poolclass=NullPool, isolation_level="AUTOCOMMIT")
    # The driver takes a lone percent sign for a placeholder.
    quoted = '"' + name.replace('"', '""').replace("%", "%%") + '"'
    with engine.connect() as connection:
        if _exists(connection, name):
            return
        try:
            connection.exec_driver_sql(f"CREATE DATABASE {quoted}")
        except SQLAlchemyError:
            # Another platform on the same server may have created it meanwhile.
            if not _exists(connection, name):
                raise


def _exists(connection: Connection, name: str) -> bool:
    found = connection.execute(text("SELECT true FROM pg_database WHERE datname = :name"), {"name": name})
    return found.scalar() is not None


def driver_url(database_url: str) -> str:
    """`database_url` as SQLAlchemy writes it for psycopg."""
    return database_url.replace("postgresql://", "postgresql+psycopg://", 1)
