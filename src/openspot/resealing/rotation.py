"""`openspot secrets rotate` and `forget`: the sealing secrets that the data directory keeps."""

import secrets
from pathlib import Path

from openspot.http.api_keys.settings import FORMER_SECRETS_MAX, SEPARATOR, former_secrets
from openspot.kit.sealing import key_id_of
from openspot.kit.secrets_file import change_secrets

CURRENT, FORMER = "sealing_secret", "sealing_secrets_former"
_RANDOM_BYTES = 48


class RotationError(Exception):
    """The secrets stay as they are. The message says why."""


def rotate(data_dir: Path) -> tuple[str, str]:
    """Make a new sealing secret, and keep the one before as a former one. Returns the names of both keys, new and old.

    Processes take it when they start. Raises RotationError, OSError, SecretsFileError.
    """
    made = secrets.token_urlsafe(_RANDOM_BYTES)
    before = ""

    def change(kept: dict[str, str]) -> dict[str, str]:
        nonlocal before
        before = kept.get(CURRENT, "")
        if not before:
            raise RotationError("the data directory keeps no sealing secret: there is nothing to rotate")
        former = [before, *former_secrets(kept.get(FORMER, ""), before)]
        if len(former) > FORMER_SECRETS_MAX:
            raise RotationError(
                f"{FORMER_SECRETS_MAX} former secrets are kept already: `openspot secrets reseal`, then `forget`"
            )
        return kept | {CURRENT: made, FORMER: SEPARATOR.join(former)}

    change_secrets(data_dir, change)
    return key_id_of(made), key_id_of(before)


def forget(data_dir: Path) -> list[str]:
    """Forget the former secrets. Returns the names of their keys. Raises OSError, SecretsFileError."""
    gone: list[str] = []

    def change(kept: dict[str, str]) -> dict[str, str]:
        gone.extend(map(key_id_of, former_secrets(kept.get(FORMER, ""))))
        return kept | {FORMER: ""}

    change_secrets(data_dir, change)
    return gone
