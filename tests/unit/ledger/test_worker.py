"""The workflow library looks for work that nobody gives it as rarely as it may."""

import threading
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any, cast

import pytest
from dbos import DBOS, _queue, _sys_db_postgres, _workflow_commands
from dbos._dbos import _get_dbos_instance

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
def library() -> Iterator[Any]:
    """The library as the worker configures it. It is not launched, so it needs no database."""
    Workflows(LedgerSettings(database_url="postgresql://nobody@127.0.0.1:1/nothing"), cast(Any, None))
    yield _get_dbos_instance()
    DBOS.destroy(destroy_registry=True)


@pytest.mark.usefixtures("library")
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


def test_the_library_looks_into_its_own_queue_as_rarely(library: Any) -> None:
    stop = Pauses()
    _queue.queue_worker_thread(stop, library, library._registry.get_internal_queue())
    assert stop.seconds == [pytest.approx(LOOK_S, rel=0.06)]
