"""`openspot secrets`: exchange the secret under which the database holds what nobody else may read."""

import asyncio
from collections.abc import Coroutine
from typing import TYPE_CHECKING, Any, TypeVar

import typer

from openspot.cli.common import database_settings, error_console, fail, platform_settings
from openspot.kit.log import configure_log

if TYPE_CHECKING:
    from openspot.http.api_keys.settings import ApiKeySettings
    from openspot.resealing.run import Use

Value = TypeVar("Value")

secrets_app = typer.Typer(
    no_args_is_help=True,
    help="Exchange the sealing secret: make a new one, seal everything anew with it, forget the former one.",
)


@secrets_app.command()
def status() -> None:
    """Show how many rows each sealing secret has sealed, by the name of its key. Exit code 1: a secret is missing."""
    from openspot.kit.sealing import key_id_of
    from openspot.resealing.run import uses

    settings = _settings()
    found = _ended(uses(settings))
    current, *former = map(key_id_of, settings.sealing_secrets)
    typer.echo(f"current key {current}: {_counted(found, current)}")
    for key_id in former:
        typer.echo(f"former key {key_id}: {_counted(found, key_id)}")
    if any(not use.key_id for use in found):
        typer.echo(f"from before keys had names: {_counted(found, '')}; `openspot secrets reseal` names their key")
    missing = sorted({use.key_id for use in found} - {current, *former, ""})
    for key_id in missing:
        typer.echo(
            f"missing key {key_id}: {_counted(found, key_id)}; add its secret to OPENSPOT_SEALING_SECRETS_FORMER"
        )
    if former and not _needed(found, current):
        typer.echo("No row needs a former secret: `openspot secrets forget`, and keep it with the backups of before")
    raise typer.Exit(1 if missing else 0)


@secrets_app.command()
def rotate() -> None:
    """Make a new sealing secret in the data directory of a platform that stands still; the former one stays with it.

    Then start the platform, and run `openspot secrets reseal`. A secret that OPENSPOT_SEALING_SECRET gives is yours to
    change: put the new one there, and the one before into OPENSPOT_SEALING_SECRETS_FORMER.
    """
    from openspot.kit.secrets_file import SecretsFileError
    from openspot.resealing.rotation import RotationError
    from openspot.resealing.rotation import rotate as exchange
    from openspot.up.state import running_state

    settings: Any = platform_settings()
    _require_own(settings)
    if running_state(settings.data_dir.resolve()) is not None:
        raise fail("the platform runs, and its processes know the old secret only: stop it first")
    try:
        made, before = exchange(settings.data_dir)
    except (RotationError, SecretsFileError) as error:
        raise fail(str(error)) from error
    except OSError as error:
        raise fail(f"the secrets in {settings.data_dir.resolve()} cannot be changed: {error.strerror}") from error
    typer.echo(f"new key {made}, former key {before}; start the platform, then `openspot secrets reseal`")


@secrets_app.command()
def reseal() -> None:
    """Seal with the current secret what a former one has sealed, while the platform runs.

    Kill it and run it again: it goes on with what is left. Exit code 1: something is left that no secret opens.
    """
    from openspot.resealing.run import reseal as seal_anew

    settings = _settings()
    done = _ended(seal_anew(settings, lambda title, rows: error_console.print(f"{title}: {rows:,}", highlight=False)))
    for title, rows in done.rows.items():
        typer.echo(f"{rows:>12,} {title} sealed anew")
    if done.unopened:
        named = "; ".join(f"{title}: {', '.join(ids)}" for title, ids in done.unopened.items())
        raise fail(
            f"some rows were sealed with a secret that is not here ({named}): add it to "
            "OPENSPOT_SEALING_SECRETS_FORMER, and run this again"
        )
    typer.echo(
        "everything is sealed with the current secret: `openspot secrets forget` when no process has an older one"
    )


@secrets_app.command()
def forget() -> None:
    """Forget the former secrets that the data directory keeps, once no row needs one.

    Backups that were made before still do: keep the former secret with them.
    """
    from openspot.kit.sealing import key_id_of
    from openspot.kit.secrets_file import SecretsFileError
    from openspot.resealing.rotation import forget as drop
    from openspot.resealing.run import uses

    settings = _settings()
    _require_own(platform_settings())
    if needed := _needed(_ended(uses(settings)), key_id_of(settings.sealing_secret)):
        raise fail(f"{needed:,} rows are not sealed with the current secret yet: `openspot secrets reseal` first")
    try:
        gone = drop(settings.data_dir)
    except (OSError, SecretsFileError) as error:
        raise fail(f"the secrets in {settings.data_dir.resolve()} cannot be changed: {error}") from error
    typer.echo(f"forgotten: {', '.join(gone)}" if gone else "no former secret is kept")


def _needed(found: "list[Use]", current: str) -> int:
    """How many rows the current secret does not open, as far as their keys tell."""
    return sum(use.rows for use in found if use.key_id != current)


def _counted(found: "list[Use]", key_id: str) -> str:
    return ", ".join(f"{use.rows:,} {use.title}" for use in found if use.key_id == key_id) or "nothing"


def _require_own(settings: Any) -> None:
    """End the command if the environment gives the secrets: no file of ours decides then."""
    if settings.sealing_secret or settings.sealing_secrets_former:
        raise fail(
            "the environment gives the sealing secret: put a new one into OPENSPOT_SEALING_SECRET and the one before "
            "into OPENSPOT_SEALING_SECRETS_FORMER, or take it out of there when no row needs it"
        )


def _settings() -> "ApiKeySettings":
    from openspot.http.api_keys.settings import ApiKeySettings

    settings = database_settings(ApiKeySettings)
    configure_log(settings.model_copy(update={"log_level": "ERROR"}), "secrets")
    return settings


def _ended(work: Coroutine[Any, Any, Value]) -> Value:
    from openspot.resealing.run import ResealError

    try:
        return asyncio.run(work)
    except ResealError as error:
        raise fail(str(error)) from error
