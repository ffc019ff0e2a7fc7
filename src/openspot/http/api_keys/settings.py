"""Settings of the services that take API keys."""

from typing import Annotated

from pydantic import Field

from openspot.kit.settings import Generated, Settings

SEALING_SECRET_LENGTH_MIN = 32


class ApiKeySettings(Settings):
    """What the services that take API keys share."""

    sealing_secret: Annotated[str, Generated(length_min=SEALING_SECRET_LENGTH_MIN)] = Field(
        default="",
        description="Encrypts the secrets of API keys and second factors and what users say about themselves for "
        "verification, in the database; with another one none of them opens; empty: generated into the data directory",
    )
    throttle_storage: str = Field(
        default="memory://",
        description="Where counts and used signatures live: memory://, redis:// (extra redis), valkey:// (extra "
        "valkey). Edges that run side by side need a shared one",
    )
