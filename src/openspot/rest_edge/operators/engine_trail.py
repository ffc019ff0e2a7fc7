"""Takes over into the trail what operators did at the engine, from the engine's journal.

The journal notes an action in the commit that carries it out. The entry and the position up to which the journal has
been followed are written in one transaction, under a lock of the position. So an action has exactly one entry, whatever
is killed between the two, and however many edges follow (docs/adr/0102-the-journal-notes-who-acted.md).
"""

import asyncio

from openspot.contracts.engine_actions import SERVICE, JournalledAction
from openspot.engine_client.administration import ChangeRefusedError
from openspot.engine_client.errors import EngineError
from openspot.engine_client.listings import EngineListings
from openspot.kit.clock import iso_from_ms, ms_from_datetime, utc_now
from openspot.kit.database import TRANSIENT_ERRORS, Connection, Pool
from openspot.kit.log import get_logger
from openspot.rest_edge.operators.trail import REASON_LENGTH_MAX, REASON_LENGTH_MIN, OperatorAction, record_action

log = get_logger("operators")

FOLLOW_INTERVAL_S = 2.0
LATE_MS = 10_000
WAIT_S_MAX = 5.0
"""How long a request waits for the entry of what it has done; the timer writes one that comes later."""


class EngineTrail:
    """Follows the journal of one engine."""

    def __init__(self, pool: Pool, engine: EngineListings) -> None:
        self._pool = pool
        self._engine = engine
        self._epoch = ""
        self._turn = asyncio.Lock()
        self._is_silent = False

    async def follow(self) -> None:
        """Write an entry for every action that has none. Raises what the database raises.

        A silent engine is logged once, until it answers again.
        """
        try:
            async with self._turn:
                while await self._follow_page():
                    pass
        except (EngineError, ChangeRefusedError) as error:
            if not self._is_silent:
                log.warning("actions at the engine are not followed now", error=str(error))
            self._is_silent = True
        else:
            self._is_silent = False

    async def follow_now(self) -> None:
        """The same for a request that has just done something, as far as it is possible now. Raises nothing."""
        try:
            async with asyncio.timeout(WAIT_S_MAX):
                await self.follow()
        except TRANSIENT_ERRORS as error:
            log.warning("the entry of an action at the engine comes later", error=repr(error))
        except Exception:
            # The engine has done what it was asked for: the reply must say that.
            log.exception("the entry of an action at the engine comes later")

    async def _follow_page(self) -> bool:
        """Take over some actions. Returns whether there may be more."""
        known = await self._pool.fetchval("SELECT through FROM engine_action_positions WHERE epoch = $1", self._epoch)
        page = await self._engine.actions(self._epoch, known or 0)
        if page.epoch != self._epoch:
            self._epoch = page.epoch
            return True
        if page.through == known:
            return False
        if known is not None and page.through < known:
            log.warning("the engine's journal ends before what the trail has of it", through=page.through, known=known)
        async with self._pool.acquire() as connection, connection.transaction():
            if not await _holds(connection, self._epoch, known or 0):
                # Another edge was faster.
                return True
            for journalled in page.actions:
                await record_action(connection, entry_of(self._epoch, journalled))
            await connection.execute(
                "UPDATE engine_action_positions SET through = $2 WHERE epoch = $1", self._epoch, page.through
            )
        return known is None or page.through > known


async def _holds(connection: Connection, epoch: str, through: int) -> bool:
    """Lock the position of a journal. Returns whether it is still `through`."""
    await connection.execute("INSERT INTO engine_action_positions VALUES ($1, 0) ON CONFLICT DO NOTHING", epoch)
    held = await connection.fetchval("SELECT through FROM engine_action_positions WHERE epoch = $1 FOR UPDATE", epoch)
    return bool(held == through)


def entry_of(epoch: str, journalled: JournalledAction) -> OperatorAction:
    """The entry of an action; it says when that was done if it comes late.

    An action that the trail cannot take as it is gets an entry that says so: one must not keep out all that follow.
    """
    try:
        return _entry(epoch, journalled)
    except ValueError as error:
        log.error("an action at the engine has no whole entry", sequence=journalled.sequence, error=str(error))
        place = f"{epoch}:{journalled.sequence}"
        reason = f"the journal has it; the trail cannot take it: {error}"[:REASON_LENGTH_MAX]
        return OperatorAction(SERVICE, "engine.unreadable", "command", place, reason, request_id=place)


def _entry(epoch: str, journalled: JournalledAction) -> OperatorAction:
    action = journalled.action
    reason = action.reason if len(action.reason) >= REASON_LENGTH_MIN else f"reason: {action.reason}"
    after = dict(action.after)
    if not journalled.is_certain:
        after["outcome"] = "not known"
    if ms_from_datetime(utc_now()) - journalled.at > LATE_MS:
        after["doneAt"] = iso_from_ms(journalled.at)
    return OperatorAction(
        operator=action.operator,
        action=action.action,
        subject_kind=action.subject_kind,
        subject_id=action.subject_id,
        reason=reason,
        before=action.before,
        after=after,
        request_id=action.request_id or f"{epoch}:{journalled.sequence}",
        address=journalled.address,
    )
