"""`openspot secrets status` and `reseal`: which sealing secrets are needed, and rewriting what a former one has sealed.

A batch of rows is one transaction, and what it has rewritten begins with the name of the current key. So a run that is
killed loses nothing, and the next one goes on with what is left.
"""

import asyncio
import getpass
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from typing import Any, NamedTuple

from openspot.http.api_keys.settings import ApiKeySettings
from openspot.http.operators import Operator
from openspot.kit.database import Connection, pool_of_command
from openspot.kit.sealing import Sealer, UnsealError, key_id_of
from openspot.kit.sql import rows_changed
from openspot.resealing.columns import COLUMNS, IS_THERE, USES, Column
from openspot.rest_edge.operators.acting import Acting, record

SCAN_S_MAX = 3600.0
"""A table is read for at most so long: what is left to rewrite is found by looking at every row."""
BATCH_S_MAX = 300.0
REASON = "the sealing secret was exchanged"
NAMED_MAX = 5
"""So many of the rows that no secret opens are named."""
_LOCK = "SELECT pg_try_advisory_lock(hashtextextended('openspot-reseal', 0))"

_USED = "SELECT key_id FROM sealing_keys WHERE current_at IS NOT NULL ORDER BY current_at DESC LIMIT 1"

Step = Callable[[str, int], None]
"""Is told what a column holds, and how many of its rows are sealed anew so far."""


class ResealError(Exception):
    """Nothing was done, or not all. The message says why."""


class Use(NamedTuple):
    """So many `rows` of a column (`title`) were sealed with the key `key_id`; empty: from before keys had names."""

    title: str
    key_id: str
    rows: int


class Resealed(NamedTuple):
    """By what a column holds, the rows that were sealed anew, and some of those that no secret opens."""

    rows: dict[str, int]
    unopened: dict[str, list[str]]


async def uses(settings: ApiKeySettings) -> list[Use]:
    """What each sealing key has sealed. Raises ResealError."""
    async with _connection(settings) as connection:
        return [Use(*row) for row in await connection.fetch(USES, timeout=SCAN_S_MAX)]


async def reseal(settings: ApiKeySettings, step: Step = lambda *_: None) -> Resealed:
    """Seal with the current secret whatever a former one has sealed. Raises ResealError.

    What no secret opens stays as it is, and is named.
    """
    sealer = Sealer(*settings.sealing_secrets)
    async with _connection(settings) as connection:
        if not await connection.fetchval(_LOCK):
            raise ResealError("another run is under way")
        current = key_id_of(settings.sealing_secret)
        used = await connection.fetchval(_USED)
        if used != current:
            raise ResealError(
                f"the REST edge that started last seals with {f'key {used}' if used else 'no key that is known'}, and "
                f"the secret here has key {current}: start all edges with it first, or they could not open what is "
                "sealed anew"
            )
        outcome = Resealed({}, {})
        for column in COLUMNS:
            await _reseal_column(connection, sealer, column, outcome, step)
        if outcome.rows:
            who = Acting(Operator(f"shell:{getpass.getuser()}", frozenset(), frozenset()), REASON, "", "")
            async with connection.transaction():
                after = {"key": current, **{title: str(rows) for title, rows in outcome.rows.items()}}
                await record(connection, who, "secrets.resealed", "sealing_key", current, {}, after)
        return outcome


async def _reseal_column(connection: Connection, sealer: Sealer, column: Column, outcome: Resealed, step: Step) -> None:
    after = ""
    while rows := await connection.fetch(column.select, after, sealer.prefix, column.batch, timeout=SCAN_S_MAX):
        after = rows[-1]["id"]
        anew, unopened = await asyncio.to_thread(_sealed_anew, sealer, column, rows)
        async with connection.transaction():
            changed = 0
            for each in anew:
                changed += rows_changed(await connection.execute(column.update, *each, timeout=BATCH_S_MAX))
        if changed:
            outcome.rows[column.title] = outcome.rows.get(column.title, 0) + changed
            step(column.title, outcome.rows[column.title])
        if unopened:
            named = outcome.unopened.setdefault(column.title, [])
            named += unopened[: NAMED_MAX - len(named)]


def _sealed_anew(
    sealer: Sealer, column: Column, rows: Sequence[Any]
) -> tuple[list[tuple[str, bytes, bytes]], list[str]]:
    """(id, content, content sealed anew) of each row, and the ids of those that cannot be opened."""
    anew, unopened = [], []
    for row in rows:
        purpose = column.purpose(row)
        try:
            plain = sealer.open(row["sealed"], purpose)
        except UnsealError:
            unopened.append(row["id"])
            continue
        anew.append((row["id"], row["sealed"], sealer.seal(plain, purpose)))
    return anew, unopened


@asynccontextmanager
async def _connection(settings: ApiKeySettings) -> AsyncIterator[Connection]:
    if not settings.sealing_secret:
        raise ResealError("there is no sealing secret yet: `openspot up` makes one")
    async with pool_of_command(settings, ResealError, "; run it again") as pool, pool.acquire() as connection:
        if not await connection.fetchval(IS_THERE):
            raise ResealError("the database lacks migrations of this release: `openspot up` applies them")
        yield connection
