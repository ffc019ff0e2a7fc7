"""A mail server for tests: it keeps mails, or refuses them."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from email import message_from_bytes
from email.message import Message
from email.policy import default
from typing import Any

from aiosmtpd.smtp import SMTP


class Inbox:
    """What the SMTP server does with mails: keeps them, or refuses with `refusal`."""

    def __init__(self) -> None:
        self.mails: list[Message] = []
        self.refusal = ""

    async def handle_RCPT(self, _server: Any, _session: Any, envelope: Any, address: str, _options: Any) -> str:  # noqa: N802
        """Take the recipient or refuse it."""
        if self.refusal:
            return self.refusal
        envelope.rcpt_tos.append(address)
        return "250 OK"

    async def handle_DATA(self, _server: Any, _session: Any, envelope: Any) -> str:  # noqa: N802
        """Keep the mail."""
        self.mails.append(message_from_bytes(envelope.content, policy=default))
        return "250 OK"


@asynccontextmanager
async def mail_server(inbox: Inbox) -> AsyncIterator[int]:
    """Serve `inbox` on a port of this computer, which is returned."""
    server = await asyncio.get_running_loop().create_server(lambda: SMTP(inbox), "127.0.0.1", 0)
    yield server.sockets[0].getsockname()[1]
    server.close()
    await server.wait_closed()
