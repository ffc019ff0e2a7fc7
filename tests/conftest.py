"""Fixtures of the whole suite: a PostgreSQL a process, a fresh database and bus a test; how processes share tests."""

from typing import Any

import hypothesis
import pytest
import structlog

from tests.support.fixtures import (  # noqa: F401  (fixtures are found by name)
    bus,
    cheap_passwords,
    database_url,
    nats_server,
    nats_url,
    pool,
    postgres_server,
    run_folder,
    settings,
)

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


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Share the tests out among the processes of `pytest -n` as `tests.support.distribution` says."""
    from tests.support.distribution import Distribution

    return Distribution(config, log)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """In a process of `pytest -n` the longest tests begin first."""
    if hasattr(config, "workerinput"):
        from tests.support.distribution import rank

        items.sort(key=lambda item: rank(item.nodeid))
