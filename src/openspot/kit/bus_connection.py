"""Connections to the bus: made, refused, looked at."""

import asyncio

import nats
import nats.errors
from nats.aio.client import Client
from nats.aio.msg import Msg

from openspot.kit.log import get_logger
from openspot.kit.settings import Settings
from openspot.kit.tasks import end_tasks

log = get_logger("bus")

PING_INTERVAL_S = 10
"""A connection whose third ping of this interval is not answered is made anew."""
_CHECK_TIMEOUT_S = 1.0


class BusUnavailableError(Exception):
    """Nobody answered: no provider, no connection, or no answer within the timeout."""


async def connect(settings: Settings, name: str) -> Client:
    """Connect, waiting for the server for as long as it takes to come up: who cannot wait sets a bound.

    Raises BusUnavailableError if the server is there and refuses the connection.
    """
    refused: asyncio.Future[Exception] = asyncio.get_running_loop().create_future()

    async def note_error(error: Exception) -> None:
        log.warning("bus connection", error=repr(error))
        if "authorization violation" in str(error).lower() and not refused.done():
            refused.set_result(error)

    async def note_reconnect() -> None:
        log.info("bus reconnected")

    connecting = asyncio.ensure_future(
        nats.connect(
            settings.nats_servers,
            name=f"openspot-{name}",
            connect_timeout=2,
            reconnect_time_wait=0.25,
            max_reconnect_attempts=-1,
            allow_reconnect=True,
            error_cb=note_error,
            reconnected_cb=note_reconnect,
            pending_size=64 * 1024 * 1024,
            ping_interval=PING_INTERVAL_S,
        )
    )
    try:
        # Left alone, the library goes on asking a server that has said no.
        await asyncio.wait((connecting, refused), return_when=asyncio.FIRST_COMPLETED)
        if not connecting.done():
            raise BusUnavailableError("NATS_URL: the server refuses these credentials")
        return connecting.result()
    except (OSError, nats.errors.Error, TimeoutError) as error:
        raise BusUnavailableError(f"no bus at the given address: {error!r}") from error
    finally:
        await end_tasks(connecting)


async def check_connection(client: Client) -> None:
    """Raise BusUnavailableError unless the server answers on this connection within a second.

    A message goes to an inbox of our own and comes back. To ask for somebody who is not there would not do: where
    an operator listens to everything, nobody says that nobody is there. Nor would a `flush`: one that times out
    leaves a future behind that its late answer cannot be set on, and that ends the library's reading for good.
    """
    if not client.is_connected:
        raise BusUnavailableError("not connected")
    returned = asyncio.Event()

    async def note(_: Msg) -> None:
        returned.set()

    inbox = client.new_inbox()
    try:
        subscription = await client.subscribe(inbox, cb=note)
        try:
            await client.publish(inbox, b"")
            async with asyncio.timeout(_CHECK_TIMEOUT_S):
                await returned.wait()
        finally:
            await subscription.unsubscribe()
    except Exception as error:
        raise BusUnavailableError(repr(error)) from error
