"""The API key of a trader's commands: from the environment, or from a file that no other account can read.

Never from the command line, which every account of the machine can see.
"""

import json
import os
import stat
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from openspot.client.signing import Ed25519Key, HmacKey, RequestSigner

KEY_ID = "OPENSPOT_API_KEY"
SECRET = "OPENSPOT_API_SECRET"  # noqa: S105  (the name of a variable)
KEY_FILE = "OPENSPOT_API_KEY_FILE"
FILE_BYTES_MAX = 16_384
_OF_OTHERS = stat.S_IRWXG | stat.S_IRWXO


class TraderKeyError(Exception):
    """There is no key, or it cannot be used. The message says why, and never has a secret."""


def read_key(file: Path | None, environment: Mapping[str, str]) -> RequestSigner:
    """The key of `file`, else of the variables of `environment`. Raises TraderKeyError.

    A file named on the command line comes first, then OPENSPOT_API_KEY with OPENSPOT_API_SECRET, then
    OPENSPOT_API_KEY_FILE.
    """
    if file is None and (environment.get(KEY_ID) or environment.get(SECRET)):
        missing = next((name for name in (KEY_ID, SECRET) if not environment.get(name)), None)
        if missing is not None:
            raise TraderKeyError(f"{missing} is not set: a key has an id and a secret")
        return _signer(environment[KEY_ID], environment[SECRET], SECRET)
    if file is None and environment.get(KEY_FILE):
        file = Path(environment[KEY_FILE])
    if file is None:
        raise TraderKeyError(
            f"no API key: set {KEY_ID} and {SECRET}, or name a file with --key-file or {KEY_FILE} "
            "(docs/guides/orders-command.md)"
        )
    held = _read(file)
    key_id, secret = held.get("id"), held.get("secret")
    for name, value in (("id", key_id), ("secret", secret)):
        if not isinstance(value, str) or not value:
            raise TraderKeyError(f"{file} has no text named {name}")
    return _signer(str(key_id), str(secret), f"secret of {file}")


def _read(file: Path) -> dict[str, Any]:
    """The object in a file of this account, which is open to no other one."""
    try:
        # What is checked is what is read, also if somebody replaces the file meanwhile.
        descriptor = os.open(file, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
        with os.fdopen(descriptor, "rb") as opened:
            found = os.fstat(descriptor)
            if not stat.S_ISREG(found.st_mode):
                raise TraderKeyError(f"{file} is no regular file")
            if found.st_uid not in (os.geteuid(), 0):
                raise TraderKeyError(f"{file} belongs to another account")
            if found.st_mode & _OF_OTHERS:
                mode = stat.S_IMODE(found.st_mode)
                raise TraderKeyError(
                    f"{file} has the mode {mode:04o}, so that others can use the key: chmod 600 {file}"
                )
            content = opened.read(FILE_BYTES_MAX + 1)
    except OSError as error:
        raise TraderKeyError(f"{file} cannot be read: {error.strerror or error}") from error
    if len(content) > FILE_BYTES_MAX:
        raise TraderKeyError(f"{file} has more than {FILE_BYTES_MAX} bytes")
    try:
        held = json.loads(content)
    except (ValueError, RecursionError) as error:
        raise TraderKeyError(f"{file} is no JSON") from error
    if not isinstance(held, dict):
        raise TraderKeyError(f"{file} holds no object with id and secret")
    return held


def _signer(key_id: str, secret: str, named: str) -> RequestSigner:
    if not (key_id.isascii() and key_id.isprintable()):
        raise TraderKeyError("the id of the API key has characters that no id has")
    if "PRIVATE KEY" not in secret:
        return HmacKey(key_id, secret)
    try:
        return Ed25519Key(key_id, secret)
    except ValueError as error:
        raise TraderKeyError(f"{named}: {error}") from error
