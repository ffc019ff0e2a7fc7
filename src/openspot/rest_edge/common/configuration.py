"""Configuration files of the edge: the file that a setting names, or the package's own."""

import tomllib
from importlib.resources import files
from pathlib import Path
from typing import Any


class ConfigurationError(ValueError):
    """A configuration file is not valid. The message names the file, the entry and the reason."""


def read_configuration(given: str, name: str) -> dict[str, Any]:
    """The content of the file `given`, or of the package's file `name`. Raises ConfigurationError."""
    try:
        text = Path(given).read_text("utf-8") if given else files("openspot.domain").joinpath(name).read_text("utf-8")
        return tomllib.loads(text)
    except (OSError, ValueError) as error:
        raise ConfigurationError(f"{given or name} cannot be read: {error}") from error
