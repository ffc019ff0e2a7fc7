"""Settings of the way to the mail server, for every process that sends mail."""

from typing import Literal

from pydantic import Field

from openspot.kit.settings import Port, Settings


class MailServerSettings(Settings):
    """Where mails are handed over, and who sends them."""

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
