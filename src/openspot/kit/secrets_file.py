"""Secrets that were not given: generated once into the data directory, readable by its owner alone."""

import json
import os
import secrets

from openspot.kit.settings import Settings

FILE_NAME = "secrets.json"
GENERATED = ("jwt_secret", "engine_api_key", "engine_api_secret", "admin_password", "admin_token_secret")


def with_secrets(settings: Settings) -> Settings:
    """`settings` with every missing secret filled in from the data directory, made there if new.

    Raises OSError if the directory cannot be written, ValueError if its file is damaged.
    """
    path = settings.data_dir / FILE_NAME
    kept: dict[str, str] = json.loads(path.read_text("utf-8")) if path.exists() else {}
    missing = [name for name in GENERATED if not getattr(settings, name) and name not in kept]
    if missing:
        kept |= {name: secrets.token_urlsafe(24 if name == "admin_password" else 48) for name in missing}
        settings.data_dir.mkdir(parents=True, exist_ok=True)
        draft = path.with_suffix(".tmp")
        descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            json.dump(kept, file, indent=1)
        draft.replace(path)
    return settings.model_copy(update={name: getattr(settings, name) or kept[name] for name in GENERATED})
