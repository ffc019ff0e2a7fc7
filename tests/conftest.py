"""Fixtures of the whole suite, and how the processes of `pytest -n` share the tests.

Each process has its own PostgreSQL, each test its own database and bus.
"""

import hypothesis
import pytest
import structlog

from tests.support.fixtures import (  # noqa: F401  (fixtures are found by name)
    bus,
    bus_accounts,
    cheap_passwords,
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

# An example may take as long as the machine needs: a neighbour's load is not a failure.
hypothesis.settings.register_profile("openspot", deadline=None)
hypothesis.settings.load_profile("openspot")

# Tracebacks without the values of all variables, which take seconds to render.
structlog.configure(
    processors=[
        *structlog.get_config()["processors"][:-1],
        structlog.dev.ConsoleRenderer(exception_formatter=structlog.dev.plain_traceback),
    ]
)


FIRST = (
    "tests/external/",
    "tests/e2e/",
    "tests/browser/",
    "tests/integration/engine/",
    "tests/integration/ledger/",
    "tests/integration/reconcile/",
    "tests/contract/",
    "tests/simulation/",
    "tests/integration/",
)
"""What begins first, so that the processes end together: long tests that wait, then long tests that compute. The rest,
thousands of short tests, evens out."""


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """In a process of `pytest -n`, which runs whole files: begin with those that take longest."""
    if hasattr(config, "workerinput"):
        items.sort(key=_rank)


def _rank(item: pytest.Item) -> int:
    return next((rank for rank, start in enumerate(FIRST) if item.nodeid.startswith(start)), len(FIRST))
