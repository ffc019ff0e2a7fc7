"""Secrets that were not given: generated once into the data directory, readable by its owner alone."""

import json
import os
import secrets
from pathlib import Path

from openspot.kit.settings import Settings

FILE_NAME = "secrets.json"
GENERATED = ("jwt_secret", "engine_api_key", "engine_api_secret", "admin_password", "admin_token_secret")


class SecretsFileError(ValueError):
    """The secrets file is damaged; the message names it and says what to do."""


def with_secrets(settings: Settings) -> Settings:
    """`settings` with every missing secret from the data directory; those that are not there yet are generated.

    Processes that start at the same time get the same secrets. Raises OSError if the directory cannot be written,
    SecretsFileError if the file is damaged.
    """
    path = settings.data_dir / FILE_NAME
    while True:
        found = _read(path)
        kept = found or {}
        missing = [name for name in GENERATED if not getattr(settings, name) and name not in kept]
        if not missing:
            return _completed(settings, kept)
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        generated = {name: secrets.token_urlsafe(24 if name == "admin_password" else 48) for name in missing}
        _write(path, kept | generated, is_new=found is None)


def with_known_secrets(settings: Settings) -> Settings:
    """`settings` with the missing secrets that the data directory has; the others stay empty and nothing is written.

    Raises OSError if the file cannot be read, SecretsFileError if it is damaged.
    """
    return _completed(settings, _read(settings.data_dir / FILE_NAME) or {})


def _completed(settings: Settings, kept: dict[str, str]) -> Settings:
    return settings.model_copy(update={name: getattr(settings, name) or kept.get(name, "") for name in GENERATED})


def _read(path: Path) -> dict[str, str] | None:
    """The secrets of the file, or None if there is no file."""
    try:
        kept: dict[str, str] = json.loads(path.read_text("utf-8"))
        if not isinstance(kept, dict) or not all(isinstance(value, str) and value for value in kept.values()):
            raise ValueError("not an object of texts")
    except FileNotFoundError:
        return None
    except ValueError as error:
        raise SecretsFileError(
            f"{path} is damaged ({error}): restore it, or move it away to have new secrets generated"
        ) from error
    return kept


def _write(path: Path, kept: dict[str, str], *, is_new: bool) -> None:
    draft = path.with_name(f"{path.name}.{os.getpid()}-{secrets.token_hex(4)}")
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            json.dump(kept, file, indent=1)
        if not is_new:
            draft.replace(path)
            return
        try:
            os.link(draft, path)
        except FileExistsError:
            return  # another process was first; its secrets hold
        except OSError:
            draft.replace(path)  # a file system without links
    finally:
        draft.unlink(missing_ok=True)
