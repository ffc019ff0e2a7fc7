"""What is told of a mail server and a webhook that do not take an alert: where, and what is wrong, and no secret."""

import asyncio
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

import aiohttp
import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

from openspot.kit.mail.message import Mail, message_of
from openspot.kit.mail.settings import MailServerSettings
from openspot.kit.mail.transports import MailRefusedError, MailUnavailableError, SmtpTransport
from openspot.kit.settings import load
from openspot.operator_alerts.webhook import Webhook, WebhookError
from tests.support.ports import free_port
from tests.support.smtp_sink import Inbox, mail_server

PATH = "/services/secret-of-the-receiver"
PASSWORD = "password-of-the-mail-server"


@asynccontextmanager
async def closing(context: ssl.SSLContext | None = None) -> AsyncIterator[int]:
    """A server that closes each connection at once."""

    async def close(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.close()

    server = await asyncio.start_server(close, "127.0.0.1", 0, ssl=context)
    async with server:
        yield server.sockets[0].getsockname()[1]


def self_signed(folder: Path) -> ssl.SSLContext:
    """The context of a server whose certificate nobody vouches for."""
    key, name = ec.generate_private_key(ec.SECP256R1()), x509.Name([])
    now = datetime.now(UTC)
    built = x509.CertificateBuilder().subject_name(name).issuer_name(name).public_key(key.public_key())
    built = built.serial_number(1).not_valid_before(now).not_valid_after(now + timedelta(days=1))
    encoding = serialization.Encoding.PEM
    (folder / "certificate").write_bytes(built.sign(key, hashes.SHA256()).public_bytes(encoding))
    private = key.private_bytes(encoding, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    (folder / "key").write_bytes(private)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(folder / "certificate", folder / "key")
    return context


async def webhook_fault(origin: str) -> str:
    async with aiohttp.ClientSession() as client:
        with pytest.raises(WebhookError) as failed:
            await Webhook(client, origin + PATH, "secret", timeout_s=5).call("id", b"{}", 1)
    return str(failed.value)


async def mail_fault(port: int, host: str = "127.0.0.1", security: str = "none") -> str:
    settings = load(
        MailServerSettings, smtp_host=host, smtp_port=port, smtp_security=security, smtp_user="", smtp_password=PASSWORD
    )
    mail = message_of(Mail("ada@example.org", "s", "t"), "ops@example.org", "<1@example.org>", datetime.now(UTC))
    with pytest.raises((MailUnavailableError, MailRefusedError)) as failed:
        await SmtpTransport(settings).send(mail)
    return str(failed.value)


async def test_a_webhook_that_is_not_reached_is_named_with_what_is_wrong_and_without_its_path(tmp_path: Path) -> None:
    port = free_port()
    assert await webhook_fault(f"http://127.0.0.1:{port}") == f"http://127.0.0.1:{port}: it refuses the connection"
    assert await webhook_fault("http://nobody.invalid") == "http://nobody.invalid: its name is not known"
    async with closing() as port:
        assert await webhook_fault(f"http://127.0.0.1:{port}") == f"http://127.0.0.1:{port}: it closed the connection"
    async with closing(self_signed(tmp_path)) as port:
        assert await webhook_fault(f"https://127.0.0.1:{port}") == (
            f"https://127.0.0.1:{port}: its certificate is not accepted: self-signed certificate"
        )


async def test_a_mail_server_that_takes_no_mail_is_named_with_what_is_wrong(tmp_path: Path) -> None:
    port = free_port()
    assert await mail_fault(port) == f"127.0.0.1:{port}: it refuses the connection"
    assert await mail_fault(25, "nobody.invalid") == "nobody.invalid:25: its name is not known"
    async with closing() as port:
        assert await mail_fault(port) == f"127.0.0.1:{port}: it closed the connection"
    async with closing(self_signed(tmp_path)) as port:
        assert await mail_fault(port, security="tls") == (
            f"127.0.0.1:{port}: its certificate is not accepted: self-signed certificate"
        )
    inbox = Inbox()
    async with mail_server(inbox) as port:
        inbox.refusal = "550 no such user"
        assert await mail_fault(port) == f"127.0.0.1:{port} refuses the recipient: 550"
        inbox.refusal = "451 later"
        assert await mail_fault(port) == f"127.0.0.1:{port} does not take the recipient now: 451"
        assert await mail_fault(port, security="starttls") == f"127.0.0.1:{port}: it does not offer STARTTLS"
