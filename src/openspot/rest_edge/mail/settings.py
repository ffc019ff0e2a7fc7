"""Settings of the mail to users."""

from typing import Literal

from pydantic import Field

from openspot.http.brand import BrandSettings
from openspot.kit.settings import Port


class MailSettings(BrandSettings):
    """Settings of the mail to users."""

    smtp_host: str = Field(
        default="", description="Mail server; empty: mails go to a file that `openspot mailbox` shows, for development"
    )
    smtp_port: Port = Field(default=587, description="… and its port")
    smtp_user: str = Field(default="", description="User at the mail server; empty: no login")
    smtp_password: str = Field(default="", description="… and its password")
    smtp_security: Literal["starttls", "tls", "none"] = Field(
        default="starttls", description="How the connection to the mail server is encrypted"
    )
    mail_from: str = Field(default="OpenSpot <no-reply@openspot.invalid>", description="Sender of mails")
    mail_link_base: str = Field(
        default="", description="URL of the web pages that mails link to; empty: mails show the bare token"
    )
    mail_queue_max: int = Field(default=10_000, ge=1, description="Mails waiting; beyond it requests get 503")
