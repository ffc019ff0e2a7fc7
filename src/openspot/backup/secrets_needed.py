"""Which sealing secrets the rows of a backup need. A secret that the environment gives is in no backup.

The names of the keys are a file of the backup, so a restore can say what is missing before it begins.
"""

import json
from collections.abc import Iterable
from typing import Any

import psycopg

from openspot.backup.errors import BackupError
from openspot.backup.manifest import Manifest, Place
from openspot.backup.postgres import connected
from openspot.http.api_keys.settings import former_secrets
from openspot.kit.sealing import key_id_of
from openspot.kit.secrets_file import FILE_NAME as SECRETS
from openspot.resealing.columns import FIRST_KEYS, IS_THERE, USES

KEYS_FILE = "sealing-keys.json"


def keys_needed(url: str) -> set[str]:
    """The names of the sealing keys that rows of the platform's database need. Raises BackupError."""
    with connected(url) as connection:
        try:
            row = connection.execute(IS_THERE).fetchone()
            if row is None or not row[0]:
                return set()
            found = {key_id for _, key_id, _ in connection.execute(USES)}
            # Contents without a name are from before keys had names.
            first = {key_id for (key_id,) in connection.execute(FIRST_KEYS)} if "" in found else set()
        except psycopg.Error as error:
            raise BackupError(f"the sealed columns cannot be read: {error}") from error
    return found - {""} | first


def keys_file(key_ids: Iterable[str]) -> bytes:
    """The content of KEYS_FILE."""
    return json.dumps(sorted(key_ids)).encode()


def require_secrets(place: Place, manifest: Manifest, settings: Any) -> None:
    """Raise BackupError if rows of the backup need a sealing secret that neither it nor the settings have."""
    files = {file.path: file for file in manifest.files}
    if f"data/{KEYS_FILE}" not in files:
        return
    try:
        needed = set(json.loads(place.read(files[f"data/{KEYS_FILE}"])))
        kept = json.loads(place.read(files[f"data/{SECRETS}"])) if f"data/{SECRETS}" in files else {}
    except ValueError as error:
        raise BackupError(f"the secrets of the backup {manifest.name} cannot be read: {error}") from error
    given = [
        settings.sealing_secret or kept.get("sealing_secret", ""),
        *former_secrets(settings.sealing_secrets_former or kept.get("sealing_secrets_former", "")),
    ]
    missing = sorted(needed - {key_id_of(secret) for secret in given if secret})
    if missing:
        raise BackupError(
            f"the backup {manifest.name} has rows that are sealed with a secret that is not here, key "
            f"{', '.join(missing)}: set OPENSPOT_SEALING_SECRET or OPENSPOT_SEALING_SECRETS_FORMER to what the "
            "platform had, or restore with --without-secrets, and these API keys, second factors and documents "
            "stay closed"
        )
