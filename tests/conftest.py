"""Fixtures of the whole suite: one NATS and one PostgreSQL a run, a fresh database and bus a test."""

from tests.support.fixtures import (  # noqa: F401  (fixtures are found by name)
    bus,
    database_url,
    nats_server,
    nats_url,
    pool,
    postgres_server,
    run_folder,
    settings,
)
