"""What the OpenAPI documents promise, asked of running services with thousands of requests made from the documents.

Schemathesis makes them: the boundaries of every field, values next to the schema, wrong types, wrong methods, and, in
`make proof`, some at random, and those that only operators may send. A fault is repeated by the request that its
message prints.

They are made when a test runs, by the one process that runs it: to make all of them takes seconds, and each process of
`pytest -n` collects every test. So a test has the operations whose paths begin alike, and reports each operation apart.
"""

import itertools
import json
import re
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import requests
import schemathesis
from hypothesis import HealthCheck, Phase, settings
from schemathesis import Case, GenerationMode, Response
from schemathesis.checks import CheckFunction, load_all_checks
from schemathesis.config import SchemathesisConfig
from schemathesis.core.failures import FailureGroup
from schemathesis.pytest import from_fixture
from schemathesis.schemas import BaseSchema

from openspot.http.errors import ErrorBody
from tests.integration.whole_edge.conftest import WholeEdge
from tests.integration.whole_edge.leaks import LEAKS
from tests.support.http_routes import documents

load_all_checks()

OTHER_CALLERS_EVERY = 8
"""The user sends every request, the other callers every eighth."""
TRIES = 5
"""A 503 or 504 is a reason to ask again. The last one counts."""
CONFIGURATION = SchemathesisConfig.from_dict(
    {
        "seed": 20261122,
        "generation": {"max-examples": 3, "database": "none", "with-security-parameters": False},
        "phases": {"coverage": {"unexpected-methods": ["DELETE", "TRACE"]}},
    }
)
CHECKS: list[CheckFunction] = schemathesis.checks.CHECKS.get_by_names(
    [
        "status_code_conformance",
        "content_type_conformance",
        "response_schema_conformance",
        "response_headers_conformance",
        "unsupported_method",
    ]
)
REFUSED = schemathesis.checks.CHECKS.get_by_names(["negative_data_rejection"])
PROSE = ("/metrics",)
"""Responses that are no JSON, and name what the process measures."""

_serial = itertools.count()


def who_sends(number: int, callers: tuple[str, ...]) -> tuple[str, ...]:
    """Who sends the request of that number."""
    return callers if number % OTHER_CALLERS_EVERY == 0 else callers[:1]


TWO_WORDS = ("operator", "admin", "orders")
"""What paths begin with of which there are so many that the second word tells them apart too."""


def first_words(path: str) -> str:
    """What the path of an operation begins with: a word, or two where there are many."""
    words = path.removeprefix("/api/v1/").removeprefix("/").split("/")
    return "/".join(words[:2] if words[0] in TWO_WORDS else words[:1])


def is_in_make_test(service: str, group: str) -> bool:
    """Whether `make test` asks for these paths: those where sessions and orders begin, and the smaller documents."""
    return group in ("auth", "orders") if service == "rest-edge" else group != "admin/listings"


def groups(service: str) -> list[str]:
    """What the paths of a service begin with."""
    return sorted({first_words(path) for path in documents()[service]["paths"]})


def may_answer(other: str, path: str) -> bool:
    """Whether another path has a parameter where this one has a word, so that it answers methods that this one lacks.

    `DELETE /orders/{orderId}` answers `DELETE /orders/batch`.
    """
    pairs = list(zip(other.split("/"), path.split("/"), strict=False))
    return other.count("/") == path.count("/") and all(one == two or one.startswith("{") for one, two in pairs)


def schema_of(service: str, group: str) -> BaseSchema:
    """The document of a service, with the paths of a group, and those that may answer them, which are not asked.

    The tests bring the credentials: they are not among what is made up. With all paths each check takes ten times as
    long.
    """
    document = documents()[service]
    asked = [path for path in document["paths"] if first_words(path) == group]
    kept = [other for other in document["paths"] if any(may_answer(other, path) for path in asked)]
    document = json.loads(json.dumps(document | {"paths": {path: document["paths"][path] for path in kept}}))
    for operations in document["paths"].values():
        for operation in operations.values():
            operation["security"] = []
    return schemathesis.openapi.from_dict(document, config=CONFIGURATION).include(path=asked)


def schema_fixture(service: str) -> Callable[[pytest.FixtureRequest], BaseSchema]:
    """A fixture of the documents of a service, one for each group of its paths."""

    marks = {name: () if is_in_make_test(service, name) else pytest.mark.proof for name in groups(service)}

    @pytest.fixture(scope="module", params=[pytest.param(name, marks=marks[name]) for name in marks])
    def schema(request: pytest.FixtureRequest) -> BaseSchema:
        return schema_of(service, request.param)

    return schema


rest_edge, engine, subscriptions = (
    schema_fixture("rest-edge"),
    schema_fixture("engine"),
    schema_fixture("subscriptions"),
)
_usual = settings(deadline=None, suppress_health_check=list(HealthCheck), database=None, derandomize=True)
at_the_boundaries = settings(_usual, phases=(Phase.explicit,))
"""The requests that follow from the document: each boundary, wrong type, missing field and wrong method."""
at_random = settings(_usual, phases=(Phase.generate,))
"""Some made at random, which take three tenths of the time of both at the position service."""


@pytest.fixture(autouse=True)
def node_id(request: pytest.FixtureRequest) -> None:
    """Give the test the attribute by which Schemathesis names each operation; pytest 9.2 does not have it any more."""
    request.node._nodeid = request.node.nodeid


@pytest.fixture(scope="module")
def session() -> Iterator[requests.Session]:
    """Connections that are used again."""
    with requests.Session() as connections:
        # Or each request reads all variables of the environment, twice, in search of a proxy.
        connections.trust_env = False
        yield connections


def sent(case: Case, url: str, session: requests.Session, headers: dict[str, str]) -> Response:
    """Send a request, again if the service says that it cannot now."""
    for _ in range(TRIES):
        response = case.call(base_url=url, session=session, headers=headers)
        if response.status_code not in (503, 504):
            break
    return response


def check(case: Case, response: Response) -> None:
    """Fail unless the response is one that the document names, in its shape, and shows nothing of the inside."""
    assert response.status_code < 500 or lacks_something(response), response.text
    case.validate_response(response, checks=CHECKS)
    if not response.request.url.endswith(PROSE):
        assert not LEAKS.search(response.text), response.text
    if response.status_code >= 400 and response.request.method != "HEAD":
        error = ErrorBody.model_validate_json(response.content)
        assert error.status_code == response.status_code
        assert error.request_id
    if case.meta is not None and case.meta.generation.mode is GenerationMode.NEGATIVE:
        check_refused(case, response)


def lacks_something(response: Response) -> bool:
    """Whether what the service needs is not here, a documented 503.

    Margin was asked for an asset that has never traded here, or not for long, the position service has no engine, or
    nobody is told of alerts.
    """
    lacking = ("NO_MARK_PRICE", "PRICE_NOT_SURE", "BALANCES_UNKNOWN", "ALERTS_SILENT")
    return response.status_code == 503 and response.json()["code"] in lacking


def check_refused(case: Case, response: Response) -> None:
    """Fail if what breaks the schema was taken, but for numbers in the place of texts: they are made texts."""
    try:
        case.validate_response(response, checks=REFUSED)
    except FailureGroup:
        if not holds_number_for_text(case.body) and not refuses_each_order(response):
            raise


def holds_number_for_text(body: Any) -> bool:
    return isinstance(body, dict) and any(type(value) in (int, float) for value in body.values())


def refuses_each_order(response: Response) -> bool:
    """Whether this is the response to a batch, in which every order has a refusal of its own."""
    if not response.request.url.endswith("/orders/batch") or response.status_code != 200:
        return False
    return any(outcome["status"] == 400 for outcome in response.json())


@from_fixture("rest_edge").parametrize()
@at_the_boundaries
def test_the_rest_edge_keeps_to_its_document(case: Case, whole_edge: WholeEdge, session: requests.Session) -> None:
    check_as_callers(case, whole_edge, whole_edge.url, session)


@from_fixture("subscriptions").parametrize()
@at_the_boundaries
def test_the_subscription_service_keeps_to_its_document(
    case: Case, whole_edge: WholeEdge, session: requests.Session
) -> None:
    check_as_callers(case, whole_edge, whole_edge.subscriptions_url, session)


@pytest.mark.proof
@from_fixture("rest_edge").parametrize()
@at_random
def test_the_rest_edge_keeps_to_its_document_at_random(
    case: Case, whole_edge: WholeEdge, session: requests.Session
) -> None:
    check_as_callers(case, whole_edge, whole_edge.url, session)


@pytest.mark.proof
@from_fixture("subscriptions").parametrize()
@at_random
def test_the_subscription_service_keeps_to_its_document_at_random(
    case: Case, whole_edge: WholeEdge, session: requests.Session
) -> None:
    check_as_callers(case, whole_edge, whole_edge.subscriptions_url, session)


def check_as_callers(case: Case, whole_edge: WholeEdge, url: str, session: requests.Session) -> None:
    """Send a request with the tokens of those callers whose turn it is, and check each response."""
    number = next(_serial)
    for caller in who_sends(number, ("user", "anonymous", "admin")):
        token = whole_edge.tokens[caller]
        headers = {} if token is None else {"Authorization": f"Bearer {token}"}
        key = case.headers.get("Idempotency-Key", "")
        if re.fullmatch(r"[\x21-\x7e]{1,200}", key):
            # The same key with another request would be refused before anything else is looked at.
            headers["Idempotency-Key"] = f"{key}-{number}"
        check(case, sent(case, url, session, headers))


@from_fixture("engine").parametrize()
@at_the_boundaries
def test_the_engine_keeps_to_its_document(case: Case, whole_edge: WholeEdge, session: requests.Session) -> None:
    check_engine(case, whole_edge, session)


@pytest.mark.proof
@from_fixture("engine").parametrize()
@at_random
def test_the_engine_keeps_to_its_document_at_random(
    case: Case, whole_edge: WholeEdge, session: requests.Session
) -> None:
    check_engine(case, whole_edge, session)


def check_engine(case: Case, whole_edge: WholeEdge, session: requests.Session) -> None:
    """Send a request with and, if it is its turn, without the service's credentials, and check each response."""
    for caller in who_sends(next(_serial), ("service", "anonymous")):
        headers = whole_edge.service_headers if caller == "service" else {}
        check(case, sent(case, whole_edge.engine_url, session, headers))
