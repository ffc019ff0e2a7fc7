"""Which refusals are stored for repetitions, and what makes two requests different."""

from typing import Any

import pytest

from openspot.http.context import BodyLimits, Identity, RequestContext
from openspot.http.errors import HttpError, validation_error
from openspot.http.idempotency import DatabaseIdempotency, StoredResponse, is_outcome, request_hash
from openspot.http.policy import Access, Policy


@pytest.mark.parametrize(
    ("error", "stored"),
    [
        (HttpError(400, "no", "RISK_NSF"), True),
        (HttpError(409, "no", "QUOTE_EXPIRED"), True),
        (HttpError(404, "no"), True),
        (validation_error(["no"]), False),
        (HttpError(400, "no", "MALFORMED_JSON"), False),
        (HttpError(400, "no", "REPEATED_HEADER"), False),
        # Otherwise a mistyped code could never be corrected under the same key.
        (HttpError(400, "no", "MFA_CODE_INVALID"), False),
        (HttpError(409, "no", "TRANSACTION_IN_PROGRESS"), False),
        *((HttpError(status, "no"), False) for status in (401, 403, 405, 408, 413, 415, 429, 431, 500, 502, 503, 504)),
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


class Rows:
    """The table: every claim succeeds, with the operation that is known already if there is one."""

    def __init__(self, known: str | None) -> None:
        self.known = known
        self.statements: list[str] = []

    async def fetchval(self, _statement: str, *values: Any) -> str:
        return self.known or values[3]  # type: ignore[no-any-return]

    async def execute(self, statement: str, *_: Any) -> None:
        self.statements.append(" ".join(statement.split()[:4]))


FORGOTTEN = "DELETE FROM idempotency_keys WHERE"
KEPT = "UPDATE idempotency_keys SET claimed_until"


@pytest.mark.parametrize(
    ("known", "error", "statement"),
    [
        # The first run was refused: nothing was done, so the next request is a new operation.
        (None, HttpError(400, "no", "MFA_CODE_INVALID"), FORGOTTEN),
        (None, HttpError(499, "no"), FORGOTTEN),
        # Nobody knows what the first run did.
        (None, HttpError(500, "no"), KEPT),
        (None, HttpError(503, "no", "ENGINE_UNAVAILABLE"), KEPT),
        (None, HttpError(504, "no", "WITHDRAWAL_STATUS_UNKNOWN"), KEPT),
        (None, ValueError("a fault"), KEPT),
        # A resumed run was refused, which says nothing about what the earlier run did.
        ("op1", HttpError(400, "no", "MFA_CODE_INVALID"), KEPT),
        ("op1", HttpError(409, "no", "QUOTE_EXPIRED"), KEPT),
        ("op1", HttpError(503, "no"), KEPT),
        # With this code the work of the operation was certainly undone, in whichever run.
        (None, HttpError(503, "no", "ENGINE_UNREACHABLE"), FORGOTTEN),
        ("op1", HttpError(503, "no", "ENGINE_UNREACHABLE"), FORGOTTEN),
    ],
)
async def test_a_key_is_a_new_operation_only_after_a_refusal_that_undid_everything(
    known: str | None, error: Exception, statement: str
) -> None:
    rows: Any = Rows(known)
    request = context()
    request.identity = Identity("alice", Access.USER)

    async def execute() -> StoredResponse:
        assert request.operation is not None
        assert request.operation.is_resumed is (known is not None)
        raise error

    with pytest.raises(type(error)):
        await DatabaseIdempotency(rows).run("k1", request, execute)
    assert rows.statements == [statement]


@pytest.mark.parametrize("key", ["", "a b", "ä", "x" * 256, "a\n"])
async def test_a_key_that_is_none_is_refused_before_anything_runs(key: str) -> None:
    rows: Any = Rows(None)
    with pytest.raises(HttpError) as refused:
        await DatabaseIdempotency(rows).run(key, context(), _never)
    assert (refused.value.status_code, refused.value.code) == (400, "VALIDATION_FAILED")
    assert refused.value.message == ["Idempotency-Key must be 1 to 255 visible ASCII characters"]


async def _never() -> StoredResponse:
    raise AssertionError("the request ran")
