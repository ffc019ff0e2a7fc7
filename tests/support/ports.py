"""TCP ports for tests that run beside other tests: no two processes ever pick from the same ones.

A port that the kernel names is free only for a moment: before a server listens on it, a connection of any process
may have taken it. So a process of tests claims a block of ports below those that the kernel hands out, by listening
on the first of the block until it ends, and hands the others out in turn.

What several tests share has ports that are handed out once: a service of it may begin to listen when the turn has come
round, and by then another server would have the port.
"""

import itertools
import os
import socket
from collections.abc import Iterator

from openspot.up.services import SERVICES

FIRST, END = 10_000, 32_000
"""Below the ports that Linux (32768 and up), macOS and Windows (49152 and up) give to outgoing connections."""
BLOCK = 1000
LASTING = 400
"""So many ports of a block are for what several tests share."""


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
            self._lasting = iter(range(first + 1, first + LASTING))
            self._passing = itertools.cycle(range(first + LASTING, first + BLOCK))
            return
        raise RuntimeError(f"every block of {BLOCK} ports from {FIRST} to {END} is claimed")

    def lasting(self) -> int:
        """A port that is handed out once. When those are used up, one like all others."""
        return _first_free(self._lasting) or self.passing()

    def passing(self) -> int:
        """A port that nobody listens on: the one that was handed out longest ago."""
        port = _first_free(itertools.islice(self._passing, BLOCK - LASTING))
        if port is None:
            raise RuntimeError("every port of this process's block is taken")
        return port


def _first_free(ports: Iterator[int]) -> int | None:
    for port in ports:
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
            return port
    return None


_block: PortBlock | None = None


def free_port(*, lasting: bool = False) -> int:
    """A TCP port of 127.0.0.1 that nobody listens on and no other process of tests hands out.

    `lasting` is for what several tests share.
    """
    global _block
    if _block is None:
        _block = PortBlock()
    return _block.lasting() if lasting else _block.passing()


def free_ports(*, lasting: bool = False) -> dict[str, int]:
    """A free port for every setting of a port that a process of the platform listens on."""
    return {
        listener.setting: free_port(lasting=lasting) for process in SERVICES.values() for listener in process.listeners
    }
