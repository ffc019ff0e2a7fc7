"""Settings of the notifications that browsers show (Web Push)."""

from typing import Annotated

from pydantic import Field

from openspot.kit.settings import Generated, Settings

KNOWN_PUSH_HOSTS = "fcm.googleapis.com,updates.push.services.mozilla.com,*.push.apple.com,*.notify.windows.com"
"""The push services of Chrome, Firefox, Safari and Edge."""


class PushSettings(Settings):
    """Settings of the notifications that browsers show."""

    push_hosts: str = Field(
        default=KNOWN_PUSH_HOSTS,
        description="Push services, with commas, that notifications may be sent to; `*.` before a name takes every "
        "host below it, `*` alone every public host; empty: no notifications on devices",
    )
    push_key: Annotated[str, Generated(random_bytes=32, length_min=43)] = Field(
        default="",
        description="Private key that signs what push services get: 32 bytes of the curve P-256 in base64url, without "
        "padding. Another key ends the notifications on all devices; empty: generated into the data directory",
    )
    push_contact: str = Field(
        default="",
        pattern=r"^(|mailto:[!-~]{3,200}|https://[!-~]{3,200})$",
        description="`mailto:` or `https:` address at which a push service finds the operator; empty: the sender of "
        "mails",
    )
    push_queue_max: int = Field(
        default=10_000,
        ge=1,
        le=10**7,
        description="Notifications waiting for push services; beyond it devices are not notified, and mails and screen "
        "as before",
    )
    push_private_addresses: bool = Field(
        default=False,
        description="Also send to push services at private addresses and other ports than 443, for tests. Users choose "
        "the address: with this they reach what only this machine should reach",
    )
