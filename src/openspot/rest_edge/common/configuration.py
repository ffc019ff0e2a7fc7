"""Configuration files of the edge: the file that a setting names, or the package's own."""

import re
import tomllib
from collections.abc import Iterable
from importlib.resources import files
from pathlib import Path
from typing import Any

from openspot.domain.listing import ListingCheck

_CAPITAL = re.compile("[A-Z]")


class ConfigurationError(ValueError):
    """A configuration file is not valid. The message names the file, the entry and the reason."""


def read_configuration(given: str, name: str) -> dict[str, Any]:
    """The content of the file `given`, or of the package's file `name`. Raises ConfigurationError."""
    try:
        text = Path(given).read_text("utf-8") if given else files("openspot.domain").joinpath(name).read_text("utf-8")
        return tomllib.loads(text)
    except (OSError, ValueError) as error:
        raise ConfigurationError(f"{given or name} cannot be read: {error}") from error


def require_sound(checks: Iterable[ListingCheck]) -> None:
    """Raise ValueError with the first fault of `checks`, behind its field as a file calls it: `fee_bps`."""
    for check in checks:
        if check.fault:
            field = _CAPITAL.sub(lambda capital: f"_{capital[0].lower()}", check.field.partition(".")[2])
            raise ValueError(f"{field} {check.fault}")
