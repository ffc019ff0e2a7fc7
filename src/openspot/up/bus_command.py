"""The commands `openspot bus`. They import what they need when they are called, so that `openspot` starts quickly."""

from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from openspot.kit.settings import Settings

app = typer.Typer(no_args_is_help=True, add_completion=False, help="The bus: its credentials, its streams.")


@app.command()
def credentials(service: Annotated[str, typer.Argument(help="Name of one service, for example: venue")]) -> None:
    """Print the variables with which one service on another host uses the embedded bus of `openspot up`."""
    from openspot.up.bus_tools import BusCommandError, credentials_of

    try:
        typer.echo(credentials_of(service, _settings()))
    except BusCommandError as error:
        raise _failed(error) from error


@app.command()
def prepare() -> None:
    """Make the streams, consumers and buckets on the NATS of NATS_URL, for services that may not make them."""
    from openspot.up.bus_tools import BusCommandError
    from openspot.up.bus_tools import prepare as make

    try:
        typer.echo(make(_settings()))
    except BusCommandError as error:
        raise _failed(error) from error


def _settings() -> "Settings":
    """The settings of every service, from the environment."""
    from openspot.kit.settings import SettingsError, load
    from openspot.up.services import PlatformSettings

    try:
        settings: Settings = load(PlatformSettings)
    except SettingsError as error:
        raise _failed(f"bad settings\n{error}") from error
    return settings


def _failed(reason: object) -> typer.Exit:
    """Print the reason to standard error and return the exception to raise."""
    typer.echo(f"openspot: {reason}", err=True)
    return typer.Exit(1)
