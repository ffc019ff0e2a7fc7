"""The passwords of the embedded bus, in a file that only its owner can read.

They stay the same from one start to the next, so that a service on another host keeps working. A process that is new
in a release gets one at the next start. Removing the file makes all of them new.
"""

import json
import os
from pathlib import Path

from openspot.up.bus_users import new_passwords

FILE_NAME = "bus-passwords.json"


class BusPasswordsError(Exception):
    """The file of passwords is damaged; the message names it and says what to do."""


def kept_passwords(folder: Path) -> dict[str, str]:
    """The password of every user of the bus, by its name. Makes those that are missing.

    Raises BusPasswordsError if the file is damaged, OSError if it cannot be read or written.
    """
    path = folder / FILE_NAME
    known = _read(path)
    passwords = new_passwords(known)
    if passwords != known:
        _write(path, passwords)
    return passwords


def _read(path: Path) -> dict[str, str]:
    try:
        known: dict[str, str] = json.loads(path.read_text("utf-8"))
        if not isinstance(known, dict) or not all(isinstance(value, str) for value in known.values()):
            raise ValueError("not an object of texts")
    except FileNotFoundError:
        return {}
    except ValueError as error:
        raise BusPasswordsError(
            f"{path} is damaged ({error}): restore it, or remove it to have new passwords"
        ) from error
    return known


def _write(path: Path, passwords: dict[str, str]) -> None:
    draft = path.with_suffix(".tmp")
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        json.dump(passwords, file, indent=1)
    draft.replace(path)
