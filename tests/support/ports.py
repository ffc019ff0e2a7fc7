"""TCP ports for tests that run beside other tests: no two processes ever pick from the same ones.

A port that the kernel names is free only for a moment: before a server listens on it, a connection of any process
may have taken it. So a process of tests claims a block of ports below those that the kernel hands out, by listening
on the first of the block until it ends, and hands the others out in turn.
"""

import itertools
import os
import socket
from collections.abc import Iterator

from openspot.up.services import SERVICES

FIRST, END = 10_000, 32_000
"""Below the ports that Linux (32768 and up), macOS and Windows (49152 and up) give to outgoing connections."""
BLOCK = 500


class PortBlock:
    """A block of ports of this process, until it ends."""

    def __init__(self) -> None:
        """Claim a block that no other process has. Raises RuntimeError if there is none."""
        blocks = range(FIRST, END, BLOCK)
        begin = os.getpid() % len(blocks)
        for first in (*blocks[begin:], *blocks[:begin]):
            claim = socket.socket()
            try:
                claim.bind(("127.0.0.1", first))
                claim.listen(1)
            except OSError:
                claim.close()
                continue
            self._claim = claim
            self._ports: Iterator[int] = itertools.cycle(range(first + 1, first + BLOCK))
            return
        raise RuntimeError(f"every block of {BLOCK} ports from {FIRST} to {END} is claimed")

    def next(self) -> int:
        """A port that nobody listens on: the one that was handed out longest ago."""
        for port in itertools.islice(self._ports, BLOCK):
            with socket.socket() as probe:
                try:
                    probe.bind(("127.0.0.1", port))
                except OSError:
                    continue
                return port
        raise RuntimeError("every port of this process's block is taken")


_block: PortBlock | None = None


def free_port() -> int:
    """A TCP port of 127.0.0.1 that nobody listens on and no other process of tests hands out."""
    global _block
    if _block is None:
        _block = PortBlock()
    return _block.next()


def free_ports() -> dict[str, int]:
    """A free port for every setting of a port that a process of the platform listens on."""
    return {listener.setting: free_port() for process in SERVICES.values() for listener in process.listeners}
