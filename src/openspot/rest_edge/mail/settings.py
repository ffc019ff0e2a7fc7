"""Settings of the mail to users."""

from pydantic import Field

from openspot.http.brand import BrandSettings
from openspot.kit.mail.settings import MailServerSettings


class MailSettings(MailServerSettings, BrandSettings):
    """Settings of the mail to users."""

    mail_link_base: str = Field(
        default="", description="URL of the web pages that mails link to; empty: mails show the bare token"
    )
    mail_queue_max: int = Field(
        default=10_000,
        ge=1,
        description="Mails waiting; a fifth is kept for mail of security, and beyond the rest requests get 503",
    )
