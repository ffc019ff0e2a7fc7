"""What the OpenAPI documents promise, asked of running services with thousands of requests made from the documents.

Schemathesis makes them: the boundaries of every field, values next to the schema, wrong types, wrong methods, and some
at random. A fault is repeated by the request that its message prints.
"""

import itertools
import re
from collections.abc import Iterator
from typing import Any

import pytest
import requests
import schemathesis
from hypothesis import HealthCheck, settings
from schemathesis import Case, GenerationMode, Response
from schemathesis.checks import CheckFunction, load_all_checks
from schemathesis.core.failures import FailureGroup

from openspot.http.errors import ErrorBody
from tests.integration.whole_edge.conftest import WholeEdge
from tests.integration.whole_edge.leaks import LEAKS
from tests.support.document_tests import operations, try_requests

load_all_checks()

OTHER_CALLERS_EVERY = 8
"""The user sends every request, the other callers every eighth."""
TRIES = 5
"""A 503 or 504 is a reason to ask again. The last one counts."""
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


few_examples = settings(deadline=None, suppress_health_check=list(HealthCheck), database=None, derandomize=True)


@pytest.fixture(scope="module")
def session() -> Iterator[requests.Session]:
    """Connections that are used again."""
    with requests.Session() as connections:
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

    Margin was asked for an asset that has never traded here, or not for long, or the position service has no engine.
    """
    lacking = ("NO_MARK_PRICE", "PRICE_NOT_SURE", "BALANCES_UNKNOWN")
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


@pytest.mark.parametrize("operation", operations("rest-edge"))
def test_the_rest_edge_keeps_to_its_document(operation: str, whole_edge: WholeEdge, session: requests.Session) -> None:
    @few_examples
    def send(case: Case) -> None:
        check_as_callers(case, whole_edge, whole_edge.url, session)

    try_requests("rest-edge", operation, send)


@pytest.mark.parametrize("operation", operations("subscriptions"))
def test_the_subscription_service_keeps_to_its_document(
    operation: str, whole_edge: WholeEdge, session: requests.Session
) -> None:
    @few_examples
    def send(case: Case) -> None:
        check_as_callers(case, whole_edge, whole_edge.subscriptions_url, session)

    try_requests("subscriptions", operation, send)


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


@pytest.mark.parametrize("operation", operations("engine"))
def test_the_engine_keeps_to_its_document(operation: str, whole_edge: WholeEdge, session: requests.Session) -> None:
    @few_examples
    def send(case: Case) -> None:
        for caller in who_sends(next(_serial), ("service", "anonymous")):
            headers = whole_edge.service_headers if caller == "service" else {}
            check(case, sent(case, whole_edge.engine_url, session, headers))

    try_requests("engine", operation, send)
