"""Which refusals are stored for repetitions, and what makes two requests different."""

from typing import Any

import pytest

from openspot.http.context import BodyLimits, RequestContext
from openspot.http.errors import HttpError, validation_error
from openspot.http.idempotency import is_outcome, request_hash
from openspot.http.policy import Access, Policy


@pytest.mark.parametrize(
    ("error", "stored"),
    [
        (HttpError(400, "no", "RISK_NSF"), True),
        (HttpError(409, "no", "QUOTE_EXPIRED"), True),
        (HttpError(404, "no"), True),
        (validation_error(["no"]), False),
        (HttpError(400, "no", "MALFORMED_JSON"), False),
        # Otherwise a mistyped code could never be corrected under the same key.
        (HttpError(400, "no", "MFA_CODE_INVALID"), False),
        *((HttpError(status, "no"), False) for status in (401, 403, 408, 413, 415, 429, 500, 502, 503, 504)),
    ],
)
def test_a_refusal_is_stored_if_the_operation_ended_with_it(error: HttpError, stored: bool) -> None:
    assert is_outcome(error) is stored


def context(method: str = "POST", path: bytes = b"/a", query: bytes = b"", body: bytes = b"") -> RequestContext:
    receive: Any = None
    scope = {"type": "http", "method": method, "path": path.decode(), "raw_path": path, "query_string": query,
             "headers": [], "client": None}  # fmt: skip
    made = RequestContext("r", scope, receive, BodyLimits(100, 1))
    made.body = body
    return made


def test_requests_that_differ_in_any_part_have_different_hashes() -> None:
    requests = [
        context(), context("PUT"), context(path=b"/b"), context(query=b"x"), context(body=b"x"),
        context(path=b"/a1", body=b"x"), context(path=b"/a", body=b"1x"),
    ]  # fmt: skip
    assert len({request_hash(request) for request in requests}) == len(requests)
    assert request_hash(context(body=b"x")) == request_hash(context(body=b"x"))


def test_an_open_route_has_no_caller_to_keep_keys_for() -> None:
    with pytest.raises(ValueError, match="belongs to a caller"):
        Policy(Access.PUBLIC, idempotency=True)
