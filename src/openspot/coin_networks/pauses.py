"""The table `transfer_pauses`: which deposits and withdrawals operators have paused.

A pause is of a coin on one network, of a coin on all networks, or of all coins of a network. Custody asks in the
transaction in which it decides, so its decision and the pause never contradict each other. The edges read the pauses
once a second: what they show and refuse early is at most that old.
"""

import asyncio
from collections.abc import Sequence
from datetime import datetime
from enum import StrEnum
from typing import Any, NamedTuple

from openspot.kit.database import TRANSIENT_ERRORS, Connection, Pool
from openspot.kit.log import get_logger
from openspot.kit.service_frame import ServiceFrame

log = get_logger("networks")

EVERY = "*"
"""Stands in the table for every coin, or for every network."""
PAUSE_S = 1.0
_COLUMNS = "asset, network, direction, notice, reason, paused_by, paused_at"
_OF = "asset IN ($1, '*') AND network IN ($2, '*') AND direction = $3"


class Direction(StrEnum):
    """What is paused."""

    DEPOSITS = "deposits"
    WITHDRAWALS = "withdrawals"


class Pause(NamedTuple):
    """A row. `notice` is what users read, empty for nothing; `reason` is for operators."""

    asset: str
    network: str
    direction: Direction
    notice: str
    reason: str
    paused_by: str
    paused_at: datetime

    def concerns(self, asset: str, network: str, direction: Direction) -> bool:
        """Whether deposits or withdrawals of the coin over the network are paused by it."""
        return direction is self.direction and self.asset in (asset, EVERY) and self.network in (network, EVERY)


def is_paused_sql(direction: Direction, table: str) -> str:
    """The condition that a row of `table`, with its `asset` and `network`, is paused."""
    return (
        f"EXISTS (SELECT FROM transfer_pauses AS pause WHERE pause.direction = '{direction.value}'"
        f" AND pause.asset IN ({table}.asset, '*') AND pause.network IN ({table}.network, '*'))"
    )


async def pauses(connection: Connection | Pool) -> list[Pause]:
    """All pauses, the oldest first."""
    rows = await connection.fetch(
        f"SELECT {_COLUMNS} FROM transfer_pauses ORDER BY paused_at, asset, network, direction"  # noqa: S608
    )
    return [_pause(row) for row in rows]


async def pause_of(connection: Connection, asset: str, network: str, direction: Direction) -> Pause | None:
    """The pause that concerns a coin on a network, None if there is none."""
    row = await connection.fetchrow(
        f"SELECT {_COLUMNS} FROM transfer_pauses WHERE {_OF} ORDER BY paused_at LIMIT 1",  # noqa: S608
        asset,
        network,
        direction.value,
    )
    return None if row is None else _pause(row)


async def begin(connection: Connection, pause: Pause) -> None:
    """Write a pause, or the new notice and reason of one that is there."""
    await connection.execute(
        """
        INSERT INTO transfer_pauses (asset, network, direction, notice, reason, paused_by, paused_at)
        VALUES ($1, $2, $3, $4, $5, $6, $7)
        ON CONFLICT (asset, network, direction) DO UPDATE SET notice = excluded.notice, reason = excluded.reason
        """,
        pause.asset, pause.network, pause.direction.value, pause.notice, pause.reason, pause.paused_by, pause.paused_at,
    )  # fmt: skip


async def end(connection: Connection, asset: str, network: str, direction: Direction) -> Pause | None:
    """End the pause of exactly these names. Returns it, None if there was none."""
    row = await connection.fetchrow(
        "DELETE FROM transfer_pauses WHERE asset = $1 AND network = $2 AND direction = $3"  # noqa: S608
        f" RETURNING {_COLUMNS}",
        asset,
        network,
        direction.value,
    )
    return None if row is None else _pause(row)


def refusal_text(pause: Pause, asset: str, network: str) -> str:
    """What a user is told whose request is refused because of a pause."""
    text = f"{pause.direction.value} of {asset} over {network} are paused"
    return f"{text}: {pause.notice}" if pause.notice else text


class FollowedPauses:
    """The pauses as an edge knows them. While the database does not answer, they stay as they were."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool
        self._known: Sequence[Pause] = ()

    def find(self, asset: str, network: str, direction: Direction) -> Pause | None:
        """The pause that concerns a coin on a network, None if there is none."""
        return next((each for each in self._known if each.concerns(asset, network, direction)), None)

    async def refresh(self) -> None:
        """Read them now."""
        try:
            self._known = await pauses(self._pool)
        except TRANSIENT_ERRORS as error:
            log.warning("the pauses of deposits and withdrawals are not read", error=repr(error))

    async def follow(self) -> None:
        """Read them again and again."""
        while True:
            await asyncio.sleep(PAUSE_S)
            await self.refresh()


async def followed_pauses(frame: ServiceFrame, pool: Pool) -> FollowedPauses:
    """The pauses of a service, which follow the table until it ends."""
    known = FollowedPauses(pool)
    await known.refresh()
    frame.start("pauses", known.follow())
    return known


def _pause(row: Any) -> Pause:
    return Pause(**dict(row) | {"direction": Direction(row["direction"])})
