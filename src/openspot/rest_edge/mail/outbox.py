"""The outbox: mails that are not sent yet, in the table `mail_outbox`.

A row names the kind of mail, not its text. A request for a mail to an address that no user has adds a row too. So it
takes the same work as any other, and tells nobody which addresses exist. The sender finds out later.
"""

import asyncio
from dataclasses import dataclass
from datetime import datetime, timedelta

from openspot.kit.clock import DateClock, utc_now
from openspot.kit.database import Connection, Pool
from openspot.kit.log import get_logger
from openspot.kit.sql import rows_changed
from openspot.rest_edge.mail.texts import SECURITY_KINDS, MailKind

log = get_logger("mail")


@dataclass(frozen=True, slots=True)
class QueuedMail:
    """A mail that a sender has claimed. `attempts` counts this one."""

    mail_id: int
    kind: MailKind
    email: str
    detail: str
    attempts: int
    created_at: datetime


RESERVED_PART = 5
"""One row in so many is kept for mail of security, so that ordinary mail cannot keep a warning from its reader."""


class Outbox:
    """The table `mail_outbox`, with at most `rows_max` rows. Mail of security takes all of them, other mail 80 %."""

    def __init__(self, pool: Pool, rows_max: int, now: DateClock = utc_now) -> None:
        self._pool = pool
        self._rows_max = rows_max
        self._now = now
        self.added = asyncio.Event()
        """Set when this process has added a mail."""

    async def add(
        self,
        kind: MailKind,
        email: str,
        detail: str = "",
        connection: Connection | None = None,
        *,
        is_security: bool = False,
    ) -> bool:
        """Queue a mail, within the transaction of `connection` if one is given. False if the outbox is full.

        `is_security` lets a kind that is not among SECURITY_KINDS use the reserved share.
        """
        may_use_reserve = is_security or kind in SECURITY_KINDS
        rows_max = self._rows_max if may_use_reserve else self._rows_max - self._rows_max // RESERVED_PART
        outcome = await (connection or self._pool).execute(
            """
            INSERT INTO mail_outbox (kind, email, detail, created_at, next_at)
            SELECT $1, $2, $3, $4, $4
            WHERE (SELECT count(*) FROM (SELECT FROM mail_outbox WHERE failed_at IS NULL LIMIT $5) AS waiting) < $5
            """,
            kind.value,
            email,
            detail,
            self._now(),
            rows_max,
        )
        self.added.set()
        is_queued = rows_changed(outcome) == 1
        if not is_queued:
            log.error("mail not queued: the outbox is full", kind=kind.value)
        return is_queued

    async def claim(self, lease: timedelta) -> QueuedMail | None:
        """Take the mail that has been due for longest. No other sender takes it before `lease` is over."""
        now = self._now()
        row = await self._pool.fetchrow(
            """
            UPDATE mail_outbox SET attempts = attempts + 1, next_at = $2 WHERE mail_id = (
                SELECT mail_id FROM mail_outbox WHERE next_at <= $1 AND failed_at IS NULL
                ORDER BY next_at, mail_id LIMIT 1 FOR UPDATE SKIP LOCKED
            )
            RETURNING mail_id, kind, email, detail, attempts, created_at
            """,
            now,
            now + lease,
        )
        return None if row is None else QueuedMail(**(dict(row) | {"kind": MailKind(row["kind"])}))

    async def remove(self, mail_id: int) -> None:
        """Delete a mail that was sent or has no recipient."""
        await self._pool.execute("DELETE FROM mail_outbox WHERE mail_id = $1", mail_id)

    async def postpone(self, mail_id: int, pause_s: float) -> None:
        """Make the mail due again after `pause_s` seconds."""
        await self._pool.execute(
            "UPDATE mail_outbox SET next_at = $2 WHERE mail_id = $1", mail_id, self._now() + timedelta(seconds=pause_s)
        )

    async def give_up(self, mail_id: int) -> None:
        """Never send the mail. The row stays for a while, so that the operator can see it."""
        await self._pool.execute("UPDATE mail_outbox SET failed_at = $2 WHERE mail_id = $1", mail_id, self._now())

    async def delete_failed(self, before: datetime) -> int:
        """Delete mails that were given up before that time, and return their number."""
        outcome = await self._pool.execute("DELETE FROM mail_outbox WHERE failed_at < $1", before)
        return rows_changed(outcome)
