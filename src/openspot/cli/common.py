"""What every command needs: the terminal, an orderly failure, and the settings of the running platform."""

import typer
from rich.console import Console

from openspot.kit.settings import AnySettings, Settings, SettingsError, as_part, load

console = Console()
error_console = Console(stderr=True)


def fail(reason: str, code: int = 1) -> typer.Exit:
    """Print the reason to standard error and return the exception to raise, with that exit code."""
    # Whole lines, because the console shows operators the last line of a command.
    error_console.print(f"openspot: {reason}", highlight=False, markup=False, soft_wrap=True)
    return typer.Exit(code)


def load_settings(kind: type[AnySettings]) -> AnySettings:
    """The settings from the environment. Ends the command if some are invalid, and names each variable and reason."""
    try:
        return load(kind)
    except SettingsError as error:
        raise fail(f"bad settings\n{error}") from error


def platform_settings() -> Settings:
    """The settings of every service, from the environment."""
    from openspot.up.services import PlatformSettings

    settings: Settings = load_settings(PlatformSettings)
    return settings


def running_settings(kind: type[AnySettings]) -> AnySettings:
    """The settings from the environment, completed by those of the platform that runs for this data directory."""
    from openspot.kit.secrets_file import SecretsFileError, with_known_secrets
    from openspot.up.state import settings_of_running

    settings = platform_settings()
    try:
        return as_part(with_known_secrets(settings_of_running(settings)), kind)
    except SecretsFileError as error:
        raise fail(str(error)) from error
    except OSError as error:
        raise fail(f"the data directory {settings.data_dir.resolve()} cannot be read: {error}") from error


def database_settings(kind: type[AnySettings], code: int = 1) -> AnySettings:
    """As `running_settings`, for a command that needs the database. Ends it with `code` if no database is known."""
    settings = running_settings(kind)
    if not settings.database_url:
        place = settings.data_dir.resolve()
        raise fail(f"nothing runs for {place}: `openspot up` starts it; or set DATABASE_URL", code)
    return settings
