"""A process that has imported every service, and forks the children of `openspot up` from itself.

The imports of a service cost seconds of processor time. This process makes them once for all children. So a platform
starts several times faster, and a killed child comes back several times faster. The children share the imported memory.
The server has one thread and opens nothing, so a fork of it is as good as a new process (docs/adr/0024).

It serves one socket of messages. `{"run": [service], "environment": {…}}` comes with the descriptors of the child's
stdin and of its output, and returns `{"pid": …}`. `{"reap": pid}` waits for the end of that child and returns
`{"code": …}`. The server ends when the socket closes. `launch.py` has the other side.
"""

import contextlib
import gc
import json
import os
import select
import socket
import sys
import traceback
from typing import Any, NoReturn

from setproctitle import setproctitle

from openspot.up.run import RunError, run
from openspot.up.services import SERVICES

MESSAGE_BYTES_MAX = 128 * 1024
"""The largest message. A socket's buffer takes more."""
_STDIN, _STDOUT, _STDERR = 0, 1, 2


def main(descriptor: int) -> None:
    """Serve the socket of this number until it closes. A request waits until everything is imported."""
    setproctitle("openspot fork server")
    os.umask(0o077)
    # Imports leave little to collect: searching for it, again and again, would take a sixth of their time.
    gc.disable()
    with socket.socket(fileno=descriptor) as connection:
        for service in SERVICES.values():
            # The child imports a faulty service again, and logs the fault.
            with contextlib.suppress(Exception):
                service.main()
            if _has_ended(connection):
                return
        # Otherwise a collection in a child would write to the shared memory, and so copy it.
        gc.collect()
        gc.freeze()
        gc.enable()
        while (request := _received(connection)) is not None:
            message, descriptors = request
            if "reap" in message:
                _, status = os.waitpid(message["reap"], 0)
                _send(connection, {"code": os.waitstatus_to_exitcode(status)})
            elif pid := os.fork():
                for number in descriptors:
                    os.close(number)
                _send(connection, {"pid": pid})
            else:
                break
    if request is not None:
        _become_child(message["run"], message["environment"], *descriptors)
        _run_child(message["run"])


def _has_ended(connection: socket.socket) -> bool:
    readable, _, _ = select.select([connection], [], [], 0)
    return bool(readable) and not connection.recv(1, socket.MSG_PEEK)


def _received(connection: socket.socket) -> tuple[dict[str, Any], list[int]] | None:
    try:
        data, descriptors, _, _ = socket.recv_fds(connection, MESSAGE_BYTES_MAX, 2)
    except ConnectionResetError:
        return None
    return (json.loads(data), descriptors) if data else None


def _send(connection: socket.socket, message: dict[str, Any]) -> None:
    # The supervisor was killed and no longer reads. The next read ends this server.
    with contextlib.suppress(BrokenPipeError, ConnectionResetError):
        connection.send(json.dumps(message).encode())


def _become_child(services: list[str], environment: dict[str, str], stdin: int, output: int) -> None:
    os.setsid()
    for number, stream in ((stdin, _STDIN), (output, _STDOUT), (output, _STDERR)):
        os.dup2(number, stream)
    os.close(stdin)
    os.close(output)
    os.environ.clear()
    os.environ.update(environment)
    setproctitle(f"openspot run {' '.join(services)}")


def _run_child(services: list[str]) -> NoReturn:
    code = 1
    try:
        code = run(services)
    except RunError as error:
        sys.stderr.write(f"openspot: {error}\n")
    except BaseException:
        traceback.print_exc()
    finally:
        # Otherwise the interpreter would dismantle everything that was imported, and so copy the shared memory.
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


if __name__ == "__main__":
    main(int(sys.argv[1]))
