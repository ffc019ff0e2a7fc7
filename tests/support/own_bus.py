"""A NATS server for services that several tests use one after another."""

import itertools
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from openspot.up.embedded_nats import EmbeddedNats
from openspot.up.nats_configuration import NatsConfiguration
from tests.support.ports import free_port

_serial = itertools.count(1)


@contextmanager
def own_bus(run_folder: Path) -> Iterator[tuple[EmbeddedNats, Path]]:
    """A running server that does not wait for the disk, and an empty data directory for the services on it."""
    number = next(_serial)
    folder = run_folder / f"own-nats-{number}"
    data = run_folder / f"own-data-{number}"
    data.mkdir()
    server = EmbeddedNats(folder, free_port(lasting=True), configuration=NatsConfiguration(is_synced=False))
    server.start()
    try:
        yield server, data
    finally:
        server.stop()
        shutil.rmtree(folder, ignore_errors=True)
