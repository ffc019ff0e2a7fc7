"""Settings of the services that take API keys."""

from typing import Annotated

from pydantic import AfterValidator, Field, field_validator

from openspot.kit.addresses import sound_address
from openspot.kit.settings import Generated, Settings

SEALING_SECRET_LENGTH_MIN = 32
FORMER_SECRETS_MAX = 8
SEPARATOR = ","
STORAGES = (
    "memory", "redis", "rediss", "redis+unix", "redis+cluster", "redis+sentinel", "valkey", "valkeys", "valkey+unix",
    "valkey+cluster", "valkey+sentinel", "memcached", "mongodb", "mongodb+srv",
)  # fmt: skip
"""The kinds of stores that the library `limits` can use."""


class ApiKeySettings(Settings):
    """What the services that take API keys share."""

    sealing_secret: Annotated[str, Generated(length_min=SEALING_SECRET_LENGTH_MIN)] = Field(
        default="",
        description="Encrypts the secrets of API keys and second factors and what users say about themselves for "
        "verification, in the database; with another one none of them opens; empty: generated into the data directory",
    )
    sealing_secrets_former: Annotated[str, Generated(random_bytes=0)] = Field(
        default="",
        description=f"Up to {FORMER_SECRETS_MAX} sealing secrets of earlier, or of a change that other processes have "
        "begun, with commas between them: what they sealed can be opened; empty: those that `openspot secrets rotate` "
        "kept in the data directory",
    )
    throttle_storage: Annotated[str, AfterValidator(sound_address(*STORAGES))] = Field(
        default="memory://",
        description="Where counts and used signatures live: memory://, redis:// (extra redis), valkey:// (extra "
        "valkey). Edges that run side by side need a shared one",
    )

    @property
    def sealing_secrets(self) -> tuple[str, ...]:
        """The sealing secret, then the former ones. Not to be asked before missing secrets were filled in."""
        return (self.sealing_secret, *former_secrets(self.sealing_secrets_former, self.sealing_secret))

    @field_validator("sealing_secrets_former")
    @classmethod
    def _check_former(cls, value: str) -> str:
        former = former_secrets(value)
        if len(former) > FORMER_SECRETS_MAX:
            raise ValueError(f"has {len(former)} secrets, at most {FORMER_SECRETS_MAX} are kept")
        if any(len(secret.encode()) < SEALING_SECRET_LENGTH_MIN for secret in former):
            raise ValueError(f"each secret needs at least {SEALING_SECRET_LENGTH_MIN} characters")
        return value


def former_secrets(text: str, current: str = "") -> list[str]:
    """The secrets in the setting `sealing_secrets_former`, each once and without the current one."""
    found = dict.fromkeys(secret.strip() for secret in text.split(SEPARATOR))
    return [secret for secret in found if secret not in ("", current)]
