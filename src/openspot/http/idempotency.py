"""Requests that may be repeated safely: a store of responses by caller and `Idempotency-Key`.

A route declares `idempotency=True`. Before the first request with a key runs, the key is stored with the id of the
request's operation. Afterwards the response is stored, and repeated for a day. If the process dies in between, or
nobody knows how the request ended, the next request with the key resumes the same operation, and its handler looks
whether the work was done. So every handler of such a route works under `operation_of(context)`, and does the work of
an operation once.
"""

import hashlib
import json
import re
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from openspot.http.context import IdempotentOperation, RequestContext, identity_of, new_operation
from openspot.http.errors import HttpError, validation_error
from openspot.kit.database import TRANSIENT_ERRORS, Connection, Pool
from openspot.kit.log import get_logger
from openspot.kit.sql import rows_changed

log = get_logger("idempotency")

HEADER = b"idempotency-key"
KEPT_S = 86_400
"""How long a response is repeated."""
CLAIM_S = 15
"""A run keeps others with its key out for this long, more than any handler takes. A run that died does so too."""
DELETED_AT_A_TIME = 5_000
KEY_TEXT = re.compile(r"[\x21-\x7e]{1,255}")
_HIT = (b"idempotency-hit", b"true")
_TRIES = 3

_NOT_BEGUN = frozenset({401, 403, 405, 408, 413, 415, 429, 431})
_UNDONE_CODES = frozenset({"ENGINE_UNREACHABLE"})
"""After a refusal with one of these codes nothing was done: the next request with the key is a new operation."""
_NOT_BEGUN_CODES = frozenset(
    {"VALIDATION_FAILED", "MALFORMED_JSON", "REPEATED_HEADER", "MFA_CODE_INVALID", "TRANSACTION_IN_PROGRESS"}
)


@dataclass(frozen=True, slots=True)
class StoredResponse:
    """A whole response: status, the handler's own headers, body."""

    status: int
    headers: tuple[tuple[bytes, bytes], ...]
    body: bytes


class IdempotencyStore(Protocol):
    """Responses by caller and key."""

    async def run(
        self, key: str, context: RequestContext, execute: Callable[[], Awaitable[StoredResponse]]
    ) -> StoredResponse:
        """Return the stored response for this caller and `key`, or else run `execute` and return its response.

        Raises HttpError: 400 for a malformed key, 409 for a key that came with another request or whose first request
        still runs; and what `execute` raises.
        """


def is_outcome(error: HttpError) -> bool:
    """Whether a refusal is the operation's outcome, which a repetition gets again.

    It is not the outcome if the request was refused before anything began, for example by validation, or if nobody
    knows how the operation ended (any 5xx).
    """
    return error.status_code < 500 and error.status_code not in _NOT_BEGUN and error.code not in _NOT_BEGUN_CODES


def request_hash(context: RequestContext) -> bytes:
    """What tells two requests apart: method, path with query, and body."""
    digest = hashlib.sha256()
    for part in (context.method.encode(), context.target, context.body):
        digest.update(b"%d:" % len(part) + part)
    return digest.digest()


async def forget_responses(connection: Connection | Pool, user_ids: Sequence[str]) -> None:
    """Delete every key and stored response of these users."""
    await connection.execute("DELETE FROM idempotency_keys WHERE user_id = ANY($1::text[])", list(user_ids))


class DatabaseIdempotency:
    """Keeps responses in PostgreSQL, for all processes of a service. Times are those of the database's clock."""

    def __init__(self, pool: Pool, *, claim_s: float = CLAIM_S, kept_s: float = KEPT_S) -> None:
        self._pool = pool
        self._claim_s = claim_s
        self._kept_s = kept_s

    async def run(
        self, key: str, context: RequestContext, execute: Callable[[], Awaitable[StoredResponse]]
    ) -> StoredResponse:
        """Return the stored response for this caller and `key`, or else run `execute` and return its response."""
        if not KEY_TEXT.fullmatch(key):
            raise validation_error(["Idempotency-Key must be 1 to 255 visible ASCII characters"])
        user_id = identity_of(context).user_id
        claimed = await self._claim(user_id, key, context)
        if isinstance(claimed, StoredResponse):
            return claimed
        context.operation = claimed
        try:
            response = await execute()
        except HttpError as error:
            # An earlier run may have done the work of a resumed operation, so the operation keeps its id.
            is_over = (error.status_code < 500 and not claimed.is_resumed) or error.code in _UNDONE_CODES
            await self._release(user_id, key, claimed, forget=is_over)
            raise
        except Exception:
            await self._release(user_id, key, claimed, forget=False)
            raise
        await self._keep(user_id, key, claimed, response)
        return response

    async def delete_expired(self) -> int:
        """Delete the rows that are older than a day, and return their number."""
        deleted = 0
        while True:
            outcome = await self._pool.execute(
                """
                DELETE FROM idempotency_keys WHERE (user_id, key) IN (
                    SELECT user_id, key FROM idempotency_keys WHERE expires_at < now() LIMIT $1
                )
                """,
                DELETED_AT_A_TIME,
            )
            number = rows_changed(outcome)
            deleted += number
            if number < DELETED_AT_A_TIME:
                return deleted

    async def _claim(self, user_id: str, key: str, context: RequestContext) -> IdempotentOperation | StoredResponse:
        """Begin or take over the operation of `key`, or return its response. Raises HttpError (409)."""
        wanted = request_hash(context)
        fresh = new_operation().operation_id
        for _ in range(_TRIES):
            # One statement, so that of several processes exactly one runs the operation.
            claimed = await self._pool.fetchval(
                """
                INSERT INTO idempotency_keys AS known
                    (user_id, key, request_hash, operation_id, method, path, claimed_until, expires_at)
                VALUES ($1, $2, $3, $4, $5, $6, now() + make_interval(secs => $7), now() + make_interval(secs => $8))
                ON CONFLICT (user_id, key) DO UPDATE SET
                    request_hash = excluded.request_hash, method = excluded.method, path = excluded.path,
                    operation_id = CASE WHEN known.expires_at <= now()
                        THEN excluded.operation_id ELSE known.operation_id END,
                    expires_at = CASE WHEN known.expires_at <= now()
                        THEN excluded.expires_at ELSE known.expires_at END,
                    claimed_until = excluded.claimed_until, status = NULL, headers = NULL, body = NULL
                WHERE known.expires_at <= now() OR (
                    known.status IS NULL AND known.claimed_until <= now() AND known.request_hash = excluded.request_hash
                )
                RETURNING operation_id
                """,
                user_id,
                key,
                wanted,
                fresh,
                context.method,
                context.path,
                self._claim_s,
                self._kept_s,
            )
            if claimed is not None:
                return IdempotentOperation(claimed, is_resumed=claimed != fresh)
            row = await self._pool.fetchrow(
                """
                SELECT request_hash, status, headers, body FROM idempotency_keys
                WHERE user_id = $1 AND key = $2 AND expires_at > now()
                """,
                user_id,
                key,
            )
            if row is None:
                continue
            if row["request_hash"] != wanted:
                raise HttpError(409, "this Idempotency-Key came with another request", "IDEMPOTENCY_KEY_REUSED")
            if row["status"] is not None:
                return StoredResponse(row["status"], (*_headers_of(row["headers"]), _HIT), row["body"])
            break
        raise HttpError(
            409,
            "the first request with this Idempotency-Key is still being worked on",
            "IDEMPOTENCY_KEY_IN_USE",
            headers={"Retry-After": "1"},
        )

    async def _keep(self, user_id: str, key: str, operation: IdempotentOperation, response: StoredResponse) -> None:
        headers = [[name.decode("latin-1"), value.decode("latin-1")] for name, value in response.headers]
        await self._after(
            """
            UPDATE idempotency_keys SET status = $4, headers = $5, body = $6
            WHERE user_id = $1 AND key = $2 AND operation_id = $3 AND status IS NULL
            """,
            user_id,
            key,
            operation.operation_id,
            response.status,
            json.dumps(headers),
            response.body,
        )

    async def _release(self, user_id: str, key: str, operation: IdempotentOperation, *, forget: bool) -> None:
        """Let the next request with this key run at once, as a new operation if `forget`, else as the same one."""
        statement = "DELETE FROM idempotency_keys" if forget else "UPDATE idempotency_keys SET claimed_until = now()"
        await self._after(
            f"{statement} WHERE user_id = $1 AND key = $2 AND operation_id = $3 AND status IS NULL",
            user_id,
            key,
            operation.operation_id,
        )

    async def _after(self, statement: str, *values: Any) -> None:
        try:
            await self._pool.execute(statement, *values)
        except TRANSIENT_ERRORS as error:
            # The client still gets its response. A repetition takes the operation over when the claim has lapsed.
            log.warning("the end of an idempotent request was not stored", error=repr(error))


def _headers_of(stored: str) -> tuple[tuple[bytes, bytes], ...]:
    return tuple((name.encode("latin-1"), value.encode("latin-1")) for name, value in json.loads(stored))
