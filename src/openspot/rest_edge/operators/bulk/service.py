"""Does one thing for many users, one after the other, and says of each what became of it.

Each row is the single action, with its checks, its transaction and its entry in the trail. All entries of a bulk
action have the id of its operation as their request, so a repeated request does no row twice. A dry run does the same
up to the entry, and is undone there: so it refuses what the action would refuse.
"""

import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace

from openspot.http.authentication import CredentialsError
from openspot.http.context import IdempotentOperation
from openspot.http.errors import HttpError, service_unavailable
from openspot.kit.database import TRANSIENT_ERRORS, Pool
from openspot.kit.log import get_logger
from openspot.rest_edge.operators.acting import Acting, RehearsedError, record
from openspot.rest_edge.operators.bulk.schemas import BulkResponse, BulkRow
from openspot.rest_edge.operators.pending.rules import require_other_person
from openspot.rest_edge.operators.pending.store import linked_with
from openspot.rest_edge.operators.users.store import exists
from openspot.rest_edge.orders.service import OPEN_STATUSES, OrderService

log = get_logger("operators")

SECONDS_MAX = 10.0
"""Rows that have not begun by then are not tried. A repeated request is kept out for longer than that."""
Act = Callable[[str, Acting], Awaitable[object]]
Require = Callable[[], Awaitable[None]]
"""Raises CredentialsError or HttpError if the operator must do no row more, now."""


class BulkActions:
    """Runs bulk actions."""

    def __init__(
        self,
        pool: Pool,
        orders: OrderService,
        clock_s: Callable[[], float] = time.monotonic,
        seconds_max: float = SECONDS_MAX,
    ) -> None:
        self._pool = pool
        self._orders = orders
        self._clock_s = clock_s
        self._seconds_max = seconds_max

    async def run(
        self,
        user_ids: Sequence[str],
        acting: Acting,
        operation: IdempotentOperation,
        act: Act,
        require: Require,
        *,
        resumes: bool = False,
    ) -> BulkResponse:
        """Do `act` for each user, or rehearse it. What `require` raises before a row ends it: the rest is not done.

        An operation that was begun before leaves out the rows that it has done, unless the action `resumes` itself.
        """
        wanted = list(dict.fromkeys(user_ids))
        done: frozenset[str] = frozenset()
        if operation.is_resumed and not resumes:
            done = await self._done(operation.operation_id, wanted)
        until = self._clock_s() + self._seconds_max
        rows: list[BulkRow] = []
        end: BulkRow | None = None
        for user_id in wanted:
            if user_id in done:
                rows.append(_row(user_id, "changed"))
                continue
            end = end or await self._end(until, require)
            if end is not None:
                rows.append(end.model_copy(update={"id": user_id}))
            else:
                one = replace(acting, request_id=operation.operation_id, entries=[])
                rows.append(await self._one(user_id, one, act))
        return BulkResponse(dry_run=acting.is_rehearsal, rows=rows)

    async def _end(self, until: float, require: Require) -> BulkRow | None:
        """What becomes of all rows from now on; None as long as they are done."""
        if self._clock_s() >= until:
            return _row("", "not_tried")
        try:
            await require()
        except CredentialsError as error:
            return _row("", "refused", "SESSION_ENDED", str(error))
        except HttpError as error:
            return _row("", "not_tried" if error.status_code >= 500 else "refused", error.code, _text(error))
        except TRANSIENT_ERRORS as error:
            log.warning("a bulk action ends: the operator's roles cannot be read", error=repr(error))
            return _row("", "not_tried")
        return None

    async def cancel_orders(self, user_id: str, symbol: str | None, acting: Acting) -> None:
        """Cancel a user's open orders, on one market or on all. The trail notes it before the engine is asked.

        Orders of the user's margin accounts stay: closing the position cancels those. 404 for an unknown user, 403 for
        one's own account, 503 if some are left.
        """
        require_other_person(acting.operator.name, user_id, await linked_with(self._pool, acting.operator.name))
        async with self._pool.acquire() as connection, connection.transaction():
            if not await exists(connection, user_id):
                raise HttpError(404, f"user {user_id} not found", "USER_NOT_FOUND")
            count = await connection.fetchval(
                "SELECT count(*) FROM orders WHERE user_id = $1 AND status = ANY($2::text[])"
                " AND ($3::text IS NULL OR symbol = $3)",
                user_id,
                OPEN_STATUSES,
                symbol,
            )
            if acting.is_rehearsal and not count:
                return
            values = {"openOrders": str(count), "market": symbol}
            await record(connection, acting, "user.orders.cancelled", "user", user_id, values, {"openOrders": "0"})
        outcome = await self._orders.cancel_many(user_id, symbol, None, None)
        if outcome.failed:
            raise service_unavailable(f"{len(outcome.failed)} orders could not be cancelled now: send it again")

    async def _one(self, user_id: str, acting: Acting, act: Act) -> BulkRow:
        try:
            await act(user_id, acting)
        except RehearsedError:
            return _row(user_id, "would_change")
        except HttpError as error:
            outcome = "uncertain" if error.status_code >= 500 else "refused"
            return _row(user_id, outcome, error.code, _text(error))
        except TRANSIENT_ERRORS as error:
            log.warning("a row of a bulk action failed", user_id=user_id, error=repr(error))
            return _row(user_id, "uncertain", "SERVICE_UNAVAILABLE", "the database does not respond: send it again")
        return _row(user_id, "changed" if acting.entries else "unchanged")

    async def _done(self, operation_id: str, user_ids: Sequence[str]) -> frozenset[str]:
        rows = await self._pool.fetch(
            "SELECT subject_id FROM operator_actions WHERE subject_id = ANY($1::text[]) AND request_id = $2",
            list(user_ids),
            operation_id,
        )
        return frozenset(row["subject_id"] for row in rows)


def _row(user_id: str, outcome: str, code: str | None = None, message: str | None = None) -> BulkRow:
    return BulkRow(id=user_id, outcome=outcome, code=code, message=message)


def _text(error: HttpError) -> str:
    return error.message if isinstance(error.message, str) else "; ".join(error.message)
