"""Who may run under an `Idempotency-Key`: one request at a time, and a lapsed claim goes to the same request only."""

import asyncio
from typing import Any

import asyncpg
import pytest

from openspot.http.context import BodyLimits, Identity, RequestContext
from openspot.http.errors import HttpError
from openspot.http.idempotency import DatabaseIdempotency, StoredResponse
from openspot.http.policy import Access

DONE = StoredResponse(201, ((b"x-made", b"1"),), b'{"id":"1"}')


def context(body: bytes = b"a", user_id: str = "alice") -> RequestContext:
    receive: Any = None
    scope = {"type": "http", "method": "POST", "path": "/a", "raw_path": b"/a", "query_string": b"", "headers": [],
             "client": None}  # fmt: skip
    made = RequestContext("r", scope, receive, BodyLimits(100, 1))
    made.body = body
    made.identity = Identity(user_id, Access.USER)
    return made


class Runs:
    """The handler: it keeps the operations under which it ran."""

    def __init__(self) -> None:
        self.operations: list[tuple[str, bool]] = []

    async def run(self, keys: DatabaseIdempotency, own: RequestContext) -> StoredResponse:
        """Run a request with the key `k1`."""

        async def execute() -> StoredResponse:
            assert own.operation is not None
            self.operations.append((own.operation.operation_id, own.operation.is_resumed))
            return DONE

        return await keys.run("k1", own, execute)


async def died(keys: DatabaseIdempotency) -> None:
    """A request whose process dies while it runs: its claim stays."""

    async def execute() -> StoredResponse:
        raise asyncio.CancelledError

    with pytest.raises(asyncio.CancelledError):
        await keys.run("k1", context(), execute)


async def refused(runs: Runs, keys: DatabaseIdempotency, own: RequestContext) -> tuple[int, str | None]:
    with pytest.raises(HttpError) as error:
        await runs.run(keys, own)
    return error.value.status_code, error.value.code


async def test_a_claim_that_has_not_lapsed_keeps_the_same_request_and_others_out(pool: asyncpg.Pool) -> None:
    keys, runs = DatabaseIdempotency(pool, claim_s=60), Runs()
    await died(keys)
    assert await refused(runs, keys, context()) == (409, "IDEMPOTENCY_KEY_IN_USE")
    assert await refused(runs, keys, context(b"b")) == (409, "IDEMPOTENCY_KEY_REUSED")
    assert runs.operations == []


async def test_a_lapsed_claim_is_taken_over_by_the_same_request_and_by_no_other(pool: asyncpg.Pool) -> None:
    keys, runs = DatabaseIdempotency(pool, claim_s=0), Runs()
    await died(keys)
    first = await pool.fetchval("SELECT operation_id FROM idempotency_keys")
    assert await refused(runs, keys, context(b"b")) == (409, "IDEMPOTENCY_KEY_REUSED")
    assert await pool.fetchval("SELECT operation_id FROM idempotency_keys") == first
    assert await runs.run(keys, context()) == DONE
    assert runs.operations == [(first, True)]


async def test_a_stored_response_is_repeated_after_its_claim_has_lapsed(pool: asyncpg.Pool) -> None:
    keys, runs = DatabaseIdempotency(pool, claim_s=0), Runs()
    assert await runs.run(keys, context()) == DONE
    again = await runs.run(keys, context())
    assert (again.status, again.body, again.headers) == (201, DONE.body, (*DONE.headers, (b"idempotency-hit", b"true")))
    assert await refused(runs, keys, context(b"b")) == (409, "IDEMPOTENCY_KEY_REUSED")
    assert len(runs.operations) == 1
    # Another user's keys are other keys.
    assert await runs.run(keys, context(user_id="bob")) == DONE
    assert len(runs.operations) == 2


async def test_an_expired_key_is_a_new_operation_whatever_comes_with_it(pool: asyncpg.Pool) -> None:
    keys, runs = DatabaseIdempotency(pool, claim_s=60, kept_s=0), Runs()
    assert await runs.run(keys, context()) == DONE
    assert await runs.run(keys, context(b"b")) == DONE
    assert [is_resumed for _, is_resumed in runs.operations] == [False, False]
    assert len({operation_id for operation_id, _ in runs.operations}) == 2
