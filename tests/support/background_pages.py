"""The pages on a port of this process, in a thread: for tests and pictures beside a child platform."""

import socket
import threading
from pathlib import Path

import uvicorn

from openspot.web_server.application import WebPages
from openspot.web_server.page_config import PageConfig


class BackgroundPages:
    """A web server that listens from `start` to `stop`."""

    def __init__(self, folder: Path, config: PageConfig, listener: socket.socket) -> None:
        """`listener` is a bound socket. Raises ValueError for a configuration that holds no addresses."""
        self._listener = listener
        self._server = uvicorn.Server(
            uvicorn.Config(WebPages(folder, config), log_level="warning", access_log=False, lifespan="off")
        )
        self._thread = threading.Thread(target=self._server.run, args=([listener],), daemon=True)

    @property
    def url(self) -> str:
        """The address of the pages."""
        host, port = self._listener.getsockname()[:2]
        return f"http://{host}:{port}"

    def start(self) -> None:
        """Begin to serve: what connects from now on is served as soon as the thread runs."""
        self._listener.listen()
        self._thread.start()

    def stop(self) -> None:
        """Stop listening, and finish what is under way."""
        self._server.should_exit = True
        self._thread.join()
        self._listener.close()


def bound_socket(host: str = "127.0.0.1", port: int = 0) -> socket.socket:
    """A TCP socket bound to a port, by default a free one."""
    listener = socket.socket()
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listener.bind((host, port))
    return listener
