"""Settings of the service of operators' alerts."""

from email.utils import parseaddr
from typing import Annotated

from pydantic import Field, field_validator

from openspot.http.brand import BrandSettings
from openspot.http.edge_settings import AlertServiceSettings, RestAddressSettings, WatchedServicesSettings
from openspot.kit.intervals import IntervalSettings
from openspot.kit.mail.settings import MailServerSettings
from openspot.kit.settings import Generated
from openspot.operator_alerts.webhook_url import url_fault

MAILS_MAX = 10
"""So many addresses may be told. A list of the mail server tells more people."""


class OperatorAlertSettings(
    MailServerSettings,
    BrandSettings,
    RestAddressSettings,
    AlertServiceSettings,
    WatchedServicesSettings,
    IntervalSettings,
):
    """The settings of the service of operators' alerts. `openspot up` runs it only if it has somebody to tell."""

    alert_mails: str = Field(
        default="", description="Addresses, with commas, that operators' alerts are mailed to; empty: none"
    )
    alert_webhook_url: str = Field(
        default="",
        description="URL that operators' alerts are sent to, signed: https, or http on this computer; empty: none",
    )
    alert_webhook_secret: Annotated[str, Generated(length_min=32)] = Field(
        default="", description="… secret of the signatures; empty: generated into the data directory"
    )
    alert_check_s: float = Field(default=10.0, gt=0, le=300, description="Seconds between two looks at the platform")
    alert_repeat_s: int = Field(
        default=3600, ge=60, le=604_800, description="An alert that lasts is told again after this many seconds"
    )
    alert_messages_per_hour: int = Field(
        default=20,
        ge=1,
        le=1000,
        description="Mails to one address, or calls of the webhook, within an hour. What comes beyond it waits, and "
        "goes together",
    )
    alert_disk_free_mib: int = Field(
        default=5120, ge=0, description="Free MiB on the disk of the data directory below which an alert is raised"
    )
    alert_consumer_lag: int = Field(
        default=10_000, ge=1, description="Messages that a consumer has not dealt with, from which an alert is raised"
    )
    alert_failed_logins: int = Field(
        default=50, ge=1, description="Failed logins within ten minutes from which an alert is raised"
    )

    @field_validator("alert_mails")
    @classmethod
    def _are_addresses(cls, value: str) -> str:
        addresses = listed(value)
        for address in addresses:
            if parseaddr(address) != ("", address) or address.count("@") != 1 or not address.isprintable():
                raise ValueError(f"{address!r} is not a plain mail address")
        if len(addresses) > MAILS_MAX:
            raise ValueError(f"at most {MAILS_MAX} addresses")
        return value

    @field_validator("alert_webhook_url")
    @classmethod
    def _is_safe(cls, value: str) -> str:
        fault = url_fault(value) if value else ""
        if fault:
            raise ValueError(fault)
        return value

    @property
    def alert_addresses(self) -> list[str]:
        """The addresses that alerts are mailed to, each once."""
        return list(dict.fromkeys(listed(self.alert_mails)))


def listed(text: str) -> list[str]:
    """The parts of a text between commas, without those that are empty."""
    return [part for part in (each.strip() for each in text.split(",")) if part]
