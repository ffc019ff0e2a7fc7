"""Requests between services that share a process: they go to the provider directly, without the bus.

The services have a connection each. Both must be up, as for a request over the bus: a provider without the bus does
not hear what its answers depend on. Request and reply are encoded and decoded all the same, so that the provider gets
what its decoder accepts, and neither side keeps an object of the other.
"""

import asyncio

from openspot.kit.bus.connection import Connection
from openspot.kit.bus.errors import NoAnswerError
from openspot.kit.bus.provider import Answer, Provider
from openspot.kit.tasks import result_within


class LocalSubjects:
    """The subjects that the services of one process serve to each other. They serve them on the bus as well."""

    def __init__(self) -> None:
        self._providers: dict[str, tuple[Provider, Connection]] = {}

    def open(self, subject: str, provider: Provider, connection: Connection) -> None:
        """Serve `subject` from now on, while `connection` is up. Raises ValueError if another provider serves it."""
        if subject in self._providers:
            raise ValueError(f"{subject} has a provider in this process")
        self._providers[subject] = provider, connection

    def close(self, provider: Provider) -> None:
        """Serve nothing by `provider` any more. Requests go over the bus from now on, to other providers."""
        self._providers = {
            subject: (other, connection)
            for subject, (other, connection) in self._providers.items()
            if other is not provider
        }

    def provider(self, subject: str) -> Provider | None:
        """Who serves `subject` in this process now; None: a request goes over the bus."""
        provider, connection = self._providers.get(subject, (None, None))
        return provider if connection is not None and connection.is_connected else None


async def ask(provider: Provider, subject: str, payload: bytes, timeout_s: float) -> Answer:
    """Have `provider` handle a request. Raises NoAnswerError after `timeout_s`, while the handler goes on."""
    reply: asyncio.Future[Answer] = asyncio.get_running_loop().create_future()

    async def respond(answer: Answer) -> None:
        if not reply.done():
            reply.set_result(answer)

    await provider.take(payload, respond)
    try:
        return await result_within(reply, timeout_s)
    except TimeoutError as error:
        raise NoAnswerError(f"no answer to {subject} within {timeout_s} s") from error
