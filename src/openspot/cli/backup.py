"""`openspot backup` and `openspot restore`."""

import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from openspot.cli.common import error_console, fail, platform_settings, running_settings
from openspot.kit.alone import BUSY
from openspot.kit.log import configure_log

if TYPE_CHECKING:
    from openspot.backup.manifest import Place
    from openspot.backup.sealing import Seal
    from openspot.backup.storage import Storage

_NS = 1_000_000_000
BackupName = Annotated[str, typer.Argument(help="Name of a backup, as `openspot backup list` shows it")]

backup_app = typer.Typer(
    invoke_without_command=True, help="Back up the running platform; list, check and encrypt backups."
)


@backup_app.callback()
def backup(context: typer.Context) -> None:
    """Back up engine, databases, secrets and archive while the platform runs, and remove old backups.

    Run it from cron, or set OPENSPOT_BACKUP_EVERY_S. Exit code 1: no backup was made, and the message says why; 3:
    another one is under way.
    """
    if context.invoked_subcommand is not None:
        return
    from openspot.backup.create import back_up
    from openspot.backup.errors import BackupBusyError, BackupError
    from openspot.engine.engine import journal_path
    from openspot.kit.backup_outcome import backup_outcome

    settings: Any = _settings()
    storage = _storage(settings)
    began = datetime.now(UTC)
    if not settings.backup_key_file:
        error_console.print("note: OPENSPOT_BACKUP_KEY_FILE is not set: the secrets in the backup are not encrypted")
    try:
        manifest = back_up(
            data_dir=settings.data_dir,
            journal=journal_path(settings),
            databases=_databases(settings),
            archive=settings.archive_folder,
            storage=storage,
            seal=_seal(settings),
            keep=settings.backup_keep,
        )
    except BackupBusyError as error:
        fail(str(error))
        raise typer.Exit(BUSY) from error
    except BackupError as error:
        raise fail(str(error)) from error
    seconds = (datetime.now(UTC) - began).total_seconds()
    new = backup_outcome(settings.data_dir).new_bytes or 0
    typer.echo(
        f"{manifest.name}: command {manifest.journal.last:,}, databases at event {manifest.known_event:,} or before, "
        f"{manifest.stored_bytes:,} bytes, of which {new:,} are new, in {seconds:.1f} s, in {storage.where}"
    )


@backup_app.command("list")
def list_backups() -> None:
    """Show the backups: when, up to which command, how large, and what each had to add to those before it."""
    from openspot.backup.errors import BackupError
    from openspot.backup.manifest import Manifest

    place = _place(_settings())
    try:
        names = place.names()
        earlier: list[Manifest] = []
        for name in names:
            manifest = place.manifest(name)
            new = manifest.new_bytes(earlier)
            earlier.append(manifest)
            typer.echo(
                f"{name}  taken {manifest.taken_at}  command {manifest.journal.last:,}  databases at event "
                f"{manifest.known_event:,}  {manifest.stored_bytes:,} bytes, {new:,} new  release {manifest.release}"
                f"{'  encrypted' if manifest.key_id else ''}"
            )
    except BackupError as error:
        raise fail(str(error)) from error
    if not names:
        typer.echo(f"there is no backup in {place.where}")


@backup_app.command()
def verify(
    name: BackupName = "",
    every: Annotated[bool, typer.Option("--all", help="Check all backups; what they share is read once")] = False,
) -> None:
    """Read every object of a backup, and follow the journal's checksums. Exit code 1: something is wrong."""
    from openspot.backup.errors import BackupError
    from openspot.backup.verify import verify as check

    place = _place(_settings())
    try:
        names = place.names()
        if not names:
            raise fail(f"there is no backup in {place.where}")
        if every and name:
            raise fail("name a backup, or ask for --all")
        sound: dict[str, int] = {}
        checked = [check(place, each, sound) for each in (names if every else [name or names[-1]])]
    except BackupError as error:
        raise fail(str(error)) from error
    for each in checked:
        for problem in each.problems:
            error_console.print(
                f"problem: {each.manifest.name}: {problem}", highlight=False, markup=False, soft_wrap=True
            )
        if not each.problems:
            typer.echo(f"{each.manifest.name} is sound: {each.files:,} files, {each.commands:,} commands")
    if any(each.problems for each in checked):
        raise typer.Exit(1)


@backup_app.command()
def key(path: Annotated[Path, typer.Argument(help="File to make; only its owner may read it")]) -> None:
    """Make a key for OPENSPOT_BACKUP_KEY_FILE. Keep a copy where the backups are not."""
    from openspot.backup.sealing import make_key_file

    try:
        make_key_file(path)
    except OSError as error:
        raise fail(f"the key was not made: {error}") from error
    typer.echo(f"{path} holds a new key. Without it, no backup that it encrypts can be read: keep a copy elsewhere")


def restore(
    name: BackupName = "",
    event: Annotated[int, typer.Option(help="Up to this event of the engine", min=0)] = 0,
    time: Annotated[str, typer.Option(help="Up to this time, such as 2026-01-31T12:00:00Z")] = "",
    skip_events: Annotated[
        int, typer.Option(help="Event numbers to leave out, because clients may have seen them", min=0)
    ] = 100_000,
    without_secrets: Annotated[
        bool, typer.Option("--without-secrets", help="Restore also if the secret is lost that opens sealed rows")
    ] = False,
) -> None:
    """Restore a backup to an empty data directory, and to an empty database if DATABASE_URL is set.

    The files of the archive go to OPENSPOT_ARCHIVE_DIR if it is set, which must be empty, too.

    Withdrawals are held afterwards: docs/operations/backup.md says what to do before `openspot custody release`.
    """
    from openspot.backup.errors import BackupError
    from openspot.backup.restore import DRAFT, EngineTerms, Point, Target, choose
    from openspot.backup.restore import restore as bring_back
    from openspot.backup.secrets_needed import require_secrets
    from openspot.engine.core.selection import make_core
    from openspot.engine.engine import journal_path
    from openspot.up.embedded_nats import EmbeddedServerError
    from openspot.up.embedded_postgres import EmbeddedPostgres
    from openspot.up.state import running_state

    settings: Any = platform_settings()
    configure_log(settings.model_copy(update={"log_level": "ERROR"}), "restore")
    data_dir = settings.data_dir.resolve()
    if running_state(data_dir) is not None:
        raise fail(f"a platform is running for {data_dir}: restore to another OPENSPOT_DATA_DIR")
    place = _place(settings)
    point = Point(event, _nanoseconds(time))
    draft = data_dir.with_name(data_dir.name + DRAFT)
    there = settings.model_copy(update={"data_dir": data_dir})

    def clear() -> None:
        if draft.exists():
            EmbeddedPostgres(draft / "postgres").end_leftover()
            shutil.rmtree(draft)

    try:
        chosen = choose(place, point, name)
        if not without_secrets:
            require_secrets(place, chosen[0], settings)
        restored = bring_back(
            place,
            chosen,
            point,
            Target(
                data_dir,
                journal_path(there),
                there.archive_folder.resolve(),
                partial(_empty_databases, settings),
                clear,
            ),
            EngineTerms(
                partial(make_core, settings.engine_core),
                settings.engine_orders_remembered,
                settings.engine_event_retention,
            ),
            skip_events,
        )
    except (BackupError, EmbeddedServerError) as error:
        raise fail(str(error)) from error
    typer.echo(
        f"restored {data_dir}: databases of {restored.databases_of}, journal of {restored.journal_of} up to command "
        f"{restored.command:,}\n"
        f"epoch {restored.epoch}, event {restored.event:,} with state hash {restored.state_hash}, "
        f"rows at event {restored.rows_event:,}; the next event is {restored.next_event:,}\n"
        "Withdrawals are held. Next: `openspot up`, `openspot ledger rebuild`, `openspot positions rebuild`, "
        "`openspot reconcile`; then compare the open withdrawals with the chains, and `openspot custody release`"
    )


@contextmanager
def _empty_databases(settings: Any, draft: Path, names: list[str]) -> Iterator[Mapping[str, str]]:
    """The databases of DATABASE_URL if it is set, or those of an embedded server that runs meanwhile."""
    from openspot.up.embedded_postgres import EmbeddedPostgres

    if settings.database_url:
        yield _databases(settings)
        return
    server = EmbeddedPostgres(draft / "postgres", durable=settings.embedded_postgres_synced)
    server.start()
    try:
        yield {name: _made(server, name) for name in names}
    finally:
        server.stop()


def _made(server: Any, name: str) -> str:
    from openspot.backup.create import PLATFORM

    database = PLATFORM if name == PLATFORM else f"{PLATFORM}_{name}"
    server.ensure_database(database)
    return str(server.url(database))


def _databases(settings: Any) -> dict[str, str]:
    """The address of every database of the platform, by the name that it has in backups."""
    from openspot.backup.create import PLATFORM
    from openspot.up.services import DESCRIPTORS

    if not settings.database_url:
        raise fail("the database is not known: the platform does not run for this data directory, or set DATABASE_URL")
    own = {each.name: each.database.address(settings) for each in DESCRIPTORS if each.database is not None}
    return {PLATFORM: settings.database_url, **own}


def _settings() -> Any:
    from openspot.up.services import PlatformSettings

    settings = running_settings(PlatformSettings)
    configure_log(settings.model_copy(update={"log_level": "ERROR"}), "backup")
    return settings


def _seal(settings: Any) -> "Seal":
    from openspot.backup.errors import BackupError
    from openspot.backup.sealing import read_seal

    try:
        return read_seal(settings.backup_key_file)
    except BackupError as error:
        raise fail(str(error)) from error


def _place(settings: Any) -> "Place":
    from openspot.backup.manifest import Place

    return Place(_storage(settings), _seal(settings))


def _storage(settings: Any) -> "Storage":
    from openspot.backup.errors import BackupError

    try:
        storage: Storage = settings.backup_storage()
    except BackupError as error:
        raise fail(str(error)) from error
    return storage


def _nanoseconds(text: str) -> int:
    if not text:
        return 0
    try:
        given = datetime.fromisoformat(text)
    except ValueError as error:
        raise fail(f"--time {text!r} is no time such as 2026-01-31T12:00:00Z") from error
    return int((given if given.tzinfo else given.replace(tzinfo=UTC)).timestamp() * _NS)
