"""Fixtures of the whole suite, and how the processes of `pytest -n` share the tests.

Each process has its own PostgreSQL and its own NATS, each test its own database and account of the bus.
"""

import contextlib
import gc
import importlib
import os
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, TextIO, cast

import argon2
import hypothesis
import pytest
import structlog
from xdist.remote import Producer
from xdist.scheduler.loadfile import LoadFileScheduling

from openspot.kit import passwords
from tests.support.fixtures import (  # noqa: F401  (fixtures are found by name)
    bus,
    bus_accounts,
    costly_passwords,
    database_url,
    databases,
    disk_folder,
    nats_server,
    nats_url,
    pool,
    postgres_server,
    run_folder,
    settings,
    subscriptions_database_url,
    subscriptions_databases,
)
from tests.support.memory_disk import set_temporary_folder

set_temporary_folder()

# Hundreds of engines begin in one process. In large pages each of them keeps 12 MiB, in small ones 2.
os.environ.setdefault("MIMALLOC_ALLOW_THP", "0")

# An example may take as long as the machine needs, and so may making ten of them: a neighbour's load is not a failure.
hypothesis.settings.register_profile("openspot", deadline=None, suppress_health_check=[hypothesis.HealthCheck.too_slow])
hypothesis.settings.load_profile("openspot")


class PresentOutput:
    """Writes to what is `sys.stdout` at the moment.

    Services log in threads, while a test exchanges `sys.stdout`. The `print` of Python 3.11 holds no reference to it,
    so that the process could end with a segmentation fault.
    """

    def write(self, text: str) -> int:
        """Write `text`."""
        return sys.stdout.write(text)

    def flush(self) -> None:
        """Write what waits."""
        sys.stdout.flush()


# Tracebacks without the values of all variables, which take seconds to render.
structlog.configure(
    processors=[
        *structlog.get_config()["processors"][:-1],
        structlog.dev.ConsoleRenderer(exception_formatter=structlog.dev.plain_traceback),
    ],
    logger_factory=structlog.PrintLoggerFactory(cast(TextIO, PresentOutput())),
)

_configure_log = structlog.configure


def configure_log_without_cache(**given: Any) -> None:
    """Configure the log so that no logger keeps level and output: a command, run inside a test, sets others."""
    _configure_log(**(given | {"cache_logger_on_first_use": False}))


structlog.configure = configure_log_without_cache
_LOG = structlog.get_config()

# A hash of the platform's cost takes a tenth of a second of both cores, and each engine begins with one.
passwords._HASHER = argon2.PasswordHasher(time_cost=1, memory_cost=8, parallelism=1)

# What is imported and collected stays until the end: nothing of it is garbage, and searching it takes seconds.
gc.disable()


def pytest_collection_finish() -> None:
    """Let the garbage collector search only what the tests make from now on."""
    gc.collect()
    gc.freeze()
    gc.enable()


_UMASK = os.umask(0o022)
os.umask(_UMASK)


@pytest.fixture(autouse=True)
def own_umask_and_log() -> Iterator[None]:
    """Give the next test umask and log of the start: the command `openspot`, run inside a test, sets others."""
    yield
    os.umask(_UMASK)
    structlog.configure(**_LOG)


FOLDERS_SHOWN = 12
PROCESSES_PER_CORE = 2
"""A test waits half of its time, for a server, a timer or a page: with one process a core, cores would be half idle."""
PROOF_PROCESSES_PER_CORE = 1.5
"""The proofs compute, or run a whole platform each. With one process a core, two cores were busy for 73 % of the time
of `browser` and `e2e`, with three processes for 98 %.
"""
PROCESSES_MAX = 8
"""With more, the folders of TOGETHER would still run when all others had ended."""

TOGETHER = (
    "tests/browser/",
    "tests/e2e/",
    "tests/integration/hostile/",
    "tests/integration/margin/",
    "tests/integration/positions/",
    "tests/integration/whole_edge/",
)
"""Folders that one process runs, because their tests share a platform, a service or a browser."""
FIRST = (
    "tests/external/",
    *TOGETHER,
    "tests/integration/engine/",
    "tests/integration/ledger/",
    "tests/integration/reconcile/",
    "tests/integration/ws_edge/",
    "tests/integration/venue/",
    "tests/integration/up/",
    "tests/contract/",
    "tests/simulation/",
    "tests/integration/",
    "tests/unit/ws_edge/",
    "tests/unit/venue_simulator/",
    "tests/unit/client/",
    "tests/unit/monitoring/",
    "tests/unit/integrations/",
    "tests/unit/engine/",
)
"""What begins first, so that the processes end together: what cannot be divided, then long tests that wait, then long
tests that compute, then unit tests of files that take seconds. The rest, thousands of short tests, evens out."""


class FilesAndFolders(LoadFileScheduling):
    """Hands out whole files, and the folders of TOGETHER whole."""

    def _split_scope(self, nodeid: str) -> str:
        folder = next((folder for folder in TOGETHER if nodeid.startswith(folder)), None)
        return folder or str(super()._split_scope(nodeid))


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Leave out files without proofs when only proofs run: nine of ten, and each process would read them all."""
    is_candidate = config.option.markexpr == "proof" and collection_path.match("test_*.py")
    return True if is_candidate and "proof" not in collection_path.read_text("utf-8") else None


@pytest.hookimpl(tryfirst=True)
def pytest_collection(session: pytest.Session) -> None:
    """In a process of `pytest -n` that collects all tests: begin with a share of the files.

    In a fresh clone each file is compiled with its assertions rewritten: 10 s of processor time for all of them. The
    processes collect in the same order, at the same time, so without shares each of them would compile everything.
    """
    worker = getattr(session.config, "workerinput", None)
    if worker is None or session.config.args != session.config.getini("testpaths"):
        return
    root = session.config.rootpath
    files = sorted(path for folder in session.config.args for path in (root / folder).rglob("test_*.py"))
    wanted = [path for path in files if not pytest_ignore_collect(path, session.config)]
    for path in wanted[int(worker["workerid"].removeprefix("gw")) :: worker["workercount"]]:
        # What is wrong with a file, or skips it, is told when it is collected.
        with contextlib.suppress(Exception, pytest.skip.Exception):
            importlib.import_module(".".join(path.relative_to(root).with_suffix("").parts))


def pytest_xdist_auto_num_workers(config: pytest.Config) -> int:
    """How many processes `pytest -n auto` starts."""
    per_core = PROOF_PROCESSES_PER_CORE if config.option.markexpr == "proof" else PROCESSES_PER_CORE
    return min(int(per_core * (os.cpu_count() or 1)), PROCESSES_MAX)


def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> FilesAndFolders:
    """How tests are spread over the processes of `pytest -n`."""
    return FilesAndFolders(config, log)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """In a process of `pytest -n`: begin with what takes longest."""
    if hasattr(config, "workerinput"):
        items.sort(key=_rank)


def _rank(item: pytest.Item) -> int:
    return next((rank for rank, start in enumerate(FIRST) if item.nodeid.startswith(start)), len(FIRST))


def _folder(nodeid: str) -> str:
    """The kind of a test, of integration tests with the service."""
    _, *folders = Path(nodeid.split("::")[0]).parent.parts
    return "/".join(folders[:2] if folders[:1] == ["integration"] else folders[:1])


@pytest.hookimpl(trylast=True)
def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say in which folders the time went, and how long each process of `pytest -n` was at work."""
    reports = [one for kind in terminalreporter.stats.values() for one in kind if isinstance(one, pytest.TestReport)]
    folders, processes = Counter[str](), Counter[str]()
    for report in reports:
        folders[_folder(report.nodeid)] += report.duration
        processes[getattr(report, "worker_id", "alone")] += report.duration
    for title, seconds in (("folders", folders), ("processes", processes)):
        terminalreporter.write_sep("=", f"time of {title}")
        lines = [f"{spent:8.0f}s {name}" for name, spent in seconds.most_common(FOLDERS_SHOWN)]
        terminalreporter.write_line("\n".join(lines))
