"""The workflow library looks for work that nobody gives it as rarely as it may."""

import threading
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any, cast

import pytest
from dbos import DBOS, _queue, _sys_db_postgres, _workflow_commands
from dbos._dbos import _get_dbos_instance
from sqlalchemy.exc import OperationalError

from openspot.kit.database import DatabaseUnavailableError
from openspot.ledger.settings import LedgerSettings
from openspot.ledger.worker import LOOK_S, Workflows


class Pauses(threading.Event):
    """A stop that notes how long it is waited for, and is set by the first wait."""

    def __init__(self) -> None:
        super().__init__()
        self.seconds: list[float] = []

    def wait(self, timeout: float | None = None) -> bool:
        """Do not wait."""
        self.seconds.append(timeout or 0.0)
        self.set()
        return True


class Lock:
    """A lock that is free."""

    def __enter__(self) -> bool:
        return True

    def __exit__(self, *_: object) -> None:
        pass


@pytest.fixture
def workflows() -> Iterator[Workflows]:
    """The workflows of a worker, and so the library as it configures it. Not launched, it needs no database."""
    yield Workflows(LedgerSettings(database_url="postgresql://nobody@127.0.0.1:1/nothing"), cast(Any, None))
    DBOS.destroy(destroy_registry=True)


@pytest.mark.usefixtures("workflows")
def test_the_library_looks_for_delayed_and_late_workflows_as_rarely_as_its_lock_allows() -> None:
    database = SimpleNamespace(
        background_job_lock=lambda _: Lock(),
        transition_delayed_workflows=lambda: None,
        cancel_timed_out_workflows=lambda _: [],
    )
    stop = Pauses()
    _workflow_commands.background_jobs_thread(stop, cast(Any, SimpleNamespace(_sys_db=database)))
    assert stop.seconds[0] == pytest.approx(LOOK_S, abs=0.5)
    assert LOOK_S * 1000 < _sys_db_postgres.BACKGROUND_JOB_LOCK_IDLE_TIMEOUT_MS


async def test_the_library_does_not_ask_the_database_for_queues(
    workflows: Workflows, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Database:
        app_name = ""

        def list_queues(self, **_: object) -> list[object]:
            raise AssertionError("the database was asked")

    async def nothing(self: Workflows) -> None:
        """No workflows are left behind."""

    monkeypatch.setattr(DBOS, "launch", lambda: None)
    monkeypatch.setattr(Workflows, "_delete_left_behind", nothing)
    library: Any = _get_dbos_instance()
    monkeypatch.setattr(library, "_sys_db_field", Database())
    monkeypatch.setattr(_queue, "queue_worker_thread", lambda *_: None)
    faults: list[str] = []
    monkeypatch.setattr(library.logger, "warning", faults.append)
    await workflows.start()
    _queue.queue_thread(Pauses(), library)
    assert faults == []


@pytest.mark.usefixtures("workflows")
def test_the_library_looks_into_its_own_queue_as_rarely() -> None:
    stop, library = Pauses(), _get_dbos_instance()
    _queue.queue_worker_thread(stop, library, library._registry.get_internal_queue())
    assert stop.seconds == [pytest.approx(LOOK_S, rel=0.06)]


async def test_a_database_that_ends_while_the_library_starts_is_said_to_be_away(
    workflows: Workflows, monkeypatch: pytest.MonkeyPatch
) -> None:
    def launch() -> None:
        raise OperationalError("SELECT version()", {}, ConnectionError("the server closed the connection"))

    monkeypatch.setattr(DBOS, "launch", launch)
    with pytest.raises(DatabaseUnavailableError, match="the server closed the connection"):
        await workflows.start()
