"""`openspot monitoring`: the files with which Prometheus and Grafana watch this platform."""

from pathlib import Path
from typing import Annotated, Any

import typer

from openspot.cli.common import fail, platform_settings, running_settings

Folder = Annotated[Path, typer.Argument(help="Folder to write to; files of the same names are replaced")]


def monitoring(folder: Folder) -> None:
    """Write the files with which Prometheus and Grafana watch this platform: targets, alert rules, dashboards.

    The targets are the services that `openspot up` runs with these settings, at their ports.
    """
    from openspot.monitoring.files import write_files
    from openspot.up.services import metrics_addresses

    settings: Any = running_settings(type(platform_settings()))
    try:
        written = write_files(folder, metrics_addresses(settings))
    except OSError as error:
        raise fail(f"{folder} cannot be written: {error}") from error
    for path in written:
        typer.echo(str(path))
