"""Children of `openspot up`: whichever way they are started, they are processes of their own."""

import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator, Mapping
from pathlib import Path

import psutil
import pytest

from openspot.up import launch
from openspot.up.fork_server import MESSAGE_BYTES_MAX
from openspot.up.launch import UNKNOWN_CODE, ForkLauncher, Launcher, ProgramLauncher
from tests.support.waiting import eventually

pytestmark = [
    pytest.mark.proof,
    pytest.mark.skipif(sys.platform != "linux", reason="the fork server needs Linux"),
]

FAULTY = {"PATH": os.environ["PATH"], "OPENSPOT_SUPERVISED": "1", "OPENSPOT_LEDGER_PORT": "nowhere"}
"""With these settings the ledger ends at once."""

COLLECTING = """
import gc, sys
from openspot.up import fork_server
fork_server.SERVICES = {}
fork_server.run = lambda services: 0 if gc.isenabled() else 3
fork_server.main(int(sys.argv[1]))
"""
"""A fork server whose children end with 0 if they collect garbage."""


@pytest.fixture
def silent_database() -> Iterator[socket.socket]:
    """A server that takes a connection and says nothing, so that the ledger waits."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server


def waiting(database: socket.socket, tmp_path: Path) -> dict[str, str]:
    """An environment with which the ledger waits for that database."""
    return {
        "PATH": os.environ["PATH"], "OPENSPOT_SUPERVISED": "1", "OPENSPOT_DATA_DIR": str(tmp_path / "data"),
        "DATABASE_URL": f"postgresql://nobody@127.0.0.1:{database.getsockname()[1]}/nothing",
    }  # fmt: skip


@pytest.fixture(params=[ForkLauncher, ProgramLauncher], ids=["fork", "program"])
async def launcher(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[Launcher]:
    # A child has the environment that it is given, not that of the process that launches it.
    monkeypatch.setenv("OPENSPOT_LOG_LEVEL", "nonsense")
    started: Launcher = await request.param.start(tmp_path / "log")
    yield started
    await started.close()


@pytest.fixture
async def fork_launcher(tmp_path: Path) -> AsyncIterator[ForkLauncher]:
    launcher = await ForkLauncher.start(tmp_path / "log")
    yield launcher
    await launcher.close()


async def ends_at_once(launcher: Launcher, output: Path, environment: Mapping[str, str] = FAULTY) -> None:
    """Start a child that ends by itself, and see its exit code."""
    child = await launcher.launch(["ledger"], environment, output)
    assert await child.wait() == child.returncode == 1
    with pytest.raises(ProcessLookupError):
        child.terminate()


def printed(tmp_path: Path) -> str:
    """What the children printed."""
    return (tmp_path / "log").read_text("utf-8")


async def test_a_child_has_its_environment_its_output_its_session_and_its_exit_code(
    launcher: Launcher, silent_database: socket.socket, tmp_path: Path
) -> None:
    await ends_at_once(launcher, tmp_path / "log")
    assert "OPENSPOT_LEDGER_PORT" in printed(tmp_path)
    assert "OPENSPOT_LOG_LEVEL" not in printed(tmp_path)
    child = await launcher.launch(["ledger"], waiting(silent_database, tmp_path), tmp_path / "log")
    # Operators and `openspot up` know a child by its command line.
    await eventually(lambda: " run ledger" in " ".join(psutil.Process(child.pid).cmdline()))
    assert os.getsid(child.pid) == child.pid
    assert child.returncode is None
    child.kill()
    assert await child.wait() == child.returncode == -signal.SIGKILL


async def test_children_are_programs_of_their_own_until_a_killed_fork_server_is_back(
    fork_launcher: ForkLauncher, silent_database: socket.socket, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(launch, "RENEWED_S", 0.0)
    log = tmp_path / "log"
    child = await fork_launcher.launch(["ledger"], waiting(silent_database, tmp_path), log)
    server = psutil.Process(child.pid).parent()
    assert server is not None
    server.kill()
    await ends_at_once(fork_launcher, log)
    assert "OPENSPOT_LEDGER_PORT" in printed(tmp_path)
    # The child goes on; only its exit code is lost.
    assert psutil.Process(child.pid).is_running()
    await eventually(lambda: fork_launcher.server_pid not in (None, server.pid))
    later = await fork_launcher.launch(["ledger"], waiting(silent_database, tmp_path), log)
    parent = psutil.Process(later.pid).parent()
    assert parent is not None
    assert parent.pid == fork_launcher.server_pid
    later.kill()
    assert await later.wait() == -signal.SIGKILL
    silent_database.close()
    assert await child.wait() == UNKNOWN_CODE


async def test_an_environment_too_large_for_a_message_is_given_to_a_program(
    fork_launcher: ForkLauncher, tmp_path: Path
) -> None:
    large = {f"NAME_{number}": "x" * 1000 for number in range(MESSAGE_BYTES_MAX // 1000 + 1)}
    await ends_at_once(fork_launcher, tmp_path / "log", FAULTY | large)
    assert "OPENSPOT_LEDGER_PORT" in printed(tmp_path)


def test_the_imports_of_all_services_start_no_thread_and_open_nothing() -> None:
    # What a module starts or opens when it is imported, every fork would share.
    program = (
        "import os; from openspot.up import fork_server; before = set(os.listdir('/proc/self/fd'));"
        "[service.main() for service in fork_server.SERVICES.values()];"
        "print(len(os.listdir('/proc/self/task')), set(os.listdir('/proc/self/fd')) == before)"
    )
    run = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True, timeout=300)
    assert run.stdout.split() == ["1", "True"]


def test_a_child_collects_garbage_though_its_server_imported_without() -> None:
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    program = [sys.executable, "-c", COLLECTING, str(theirs.fileno())]
    # The server ends once our socket is closed, which happens before it is awaited.
    with (
        subprocess.Popen(program, pass_fds=[theirs.fileno()]),
        ours,
        Path(os.devnull).open("r+b", buffering=0) as nothing,
    ):
        theirs.close()
        wanted = json.dumps({"run": ["ledger"], "environment": {}}).encode()
        socket.send_fds(ours, [wanted], [nothing.fileno(), nothing.fileno()])
        child = json.loads(ours.recv(MESSAGE_BYTES_MAX))
        ours.send(json.dumps({"reap": child["pid"]}).encode())
        assert json.loads(ours.recv(MESSAGE_BYTES_MAX)) == {"code": 0}
