"""Generates missing secrets once, into a file of the data directory that only its owner can read."""

import fcntl
import json
import os
import secrets
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from openspot.kit.folders import sync_folder
from openspot.kit.settings import AnySettings, Generated, Settings, generated_secrets

FILE_NAME = "secrets.json"


class SecretsFileError(ValueError):
    """The secrets file is damaged; the message names it and says what to do."""


def with_secrets(settings: AnySettings) -> AnySettings:
    """`settings`, with missing secrets from the data directory. Generates secrets that are not there yet.

    Processes that start at the same time get the same secrets. Raises OSError if the directory cannot be written,
    SecretsFileError if the file is damaged.
    """
    path = settings.data_dir / FILE_NAME
    completed = with_known_secrets(settings)
    if any(_missing(completed)):
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with _lock_of(path.parent):
            kept = _read(path) or {}
            completed = _completed(settings, kept)
            generated = {name: secrets.token_urlsafe(mark.random_bytes) for name, mark in _missing(completed)}
            if generated:
                _write(path, kept | generated)
                completed = completed.model_copy(update=generated)
    return completed


def _missing(settings: Settings) -> Iterator[tuple[str, Generated]]:
    return (
        (name, mark)
        for name, mark in generated_secrets(type(settings)).items()
        if mark.random_bytes and not getattr(settings, name)
    )


def change_secrets(data_dir: Path, change: Callable[[dict[str, str]], dict[str, str]]) -> None:
    """Replace secrets of the file: `change` takes those that are there and returns them all.

    What `change` raises leaves the file as it is. Durable on return. Raises OSError, SecretsFileError.
    """
    path = data_dir / FILE_NAME
    with _lock_of(data_dir):
        _write(path, {name: secret for name, secret in change(_read(path) or {}).items() if secret})


def with_known_secrets(settings: AnySettings) -> AnySettings:
    """`settings`, with missing secrets from the data directory. Secrets that are not there stay empty.

    Raises OSError if the file cannot be read, SecretsFileError if it is damaged.
    """
    return _completed(settings, _read(settings.data_dir / FILE_NAME) or {})


def _completed(settings: AnySettings, kept: dict[str, str]) -> AnySettings:
    names = generated_secrets(type(settings))
    return settings.model_copy(update={name: getattr(settings, name) or kept.get(name, "") for name in names})


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


def _write(path: Path, kept: dict[str, str]) -> None:
    draft = path.with_name(f"{path.name}.{os.getpid()}-{secrets.token_hex(4)}")
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            json.dump(kept, file, indent=1)
            file.flush()
            os.fsync(file.fileno())
        draft.replace(path)
        sync_folder(path.parent)
    finally:
        draft.unlink(missing_ok=True)


@contextmanager
def _lock_of(folder: Path) -> Iterator[None]:
    """Lock the file. Each process adds its own service's secrets and rewrites the whole file."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)
