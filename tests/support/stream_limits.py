"""A bus whose streams refuse some subjects, as when a stream has no leader."""

from openspot.contracts.streams import StreamDefinition
from openspot.kit.bus import Bus


async def limit_stream(bus: Bus, stream: StreamDefinition, *subjects: str) -> None:
    """Let a stream take `subjects` only. A service that starts gives it its full list again."""
    jetstream = bus.connection.jetstream
    configuration = (await jetstream.stream_info(stream.name)).config
    await jetstream.update_stream(configuration.evolve(subjects=list(subjects)))
