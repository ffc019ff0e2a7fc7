"""Settings of the services that take API keys."""

from typing import Annotated

from pydantic import Field

from openspot.kit.settings import Generated, Settings

API_KEY_SECRET_LENGTH_MIN = 32


class ApiKeySettings(Settings):
    """What the services that take API keys share."""

    api_key_secret: Annotated[str, Generated(length_min=API_KEY_SECRET_LENGTH_MIN)] = Field(
        default="",
        description="Encrypts the secrets of API keys; another one ends every key; empty: generated into the data "
        "directory",
    )
    throttle_storage: str = Field(
        default="memory://",
        description="Where counts and used signatures live: memory://, redis:// (extra redis), valkey:// (extra "
        "valkey). Edges that run side by side need a shared one",
    )
