"""Requests that Schemathesis makes from the OpenAPI documents, one operation a test.

Its own `parametrize` makes the requests of all operations while tests are collected, which each process of `pytest -n`
does, also for tests that it never runs. Here only the names of the operations are known before a test runs.
"""

import json
from collections.abc import Callable
from typing import Any

import pytest
import schemathesis
from schemathesis import Case
from schemathesis.config import SchemathesisConfig
from schemathesis.core.control import SkipTest
from schemathesis.generation.feedback import FeedbackSources
from schemathesis.pytest._test_builder import build_operation_test
from schemathesis.schemas import BaseSchema

from tests.support.http_routes import documents

CONFIGURATION = SchemathesisConfig.from_dict(
    {
        "seed": 20261122,
        "generation": {"max-examples": 3, "database": "none", "with-security-parameters": False},
        "phases": {"coverage": {"unexpected-methods": ["DELETE", "TRACE"]}},
    }
)


def operations(service: str) -> list[str]:
    """Method and path of every operation of a service."""
    return [f"{method.upper()} {path}" for path, found in documents()[service]["paths"].items() for method in found]


def schema_of(service: str, operation: str) -> BaseSchema:
    """The document of a service, with one operation. The tests bring the credentials: they are not made up."""
    method, path = operation.split(" ", 1)
    document: dict[str, Any] = documents()[service]
    # The methods beside it are not among the unexpected ones.
    beside = json.loads(json.dumps(document["paths"][path]))
    for found in beside.values():
        found["security"] = []
    schema = schemathesis.openapi.from_dict(document | {"paths": {path: beside}}, config=CONFIGURATION)
    return schema.include(path=path, method=method)


def try_requests(service: str, operation: str, send: Callable[[Case], None]) -> None:
    """Call `send`, which is decorated with hypothesis' settings, with every request that is made of an operation."""
    schema = schema_of(service, operation)
    (found,) = schema.get_all_operations()
    # What Schemathesis' own plugin calls. Its public `from_fixture` does not run with pytest 9.
    test = build_operation_test(
        config=schema.config, operation=found.ok(), test_func=send, given_kwargs={}, feedback=FeedbackSources()
    )
    try:
        test()
    except SkipTest as reason:
        pytest.skip(str(reason))
