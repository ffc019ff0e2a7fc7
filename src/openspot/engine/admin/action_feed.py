"""Hands the notes of operators' actions to whoever keeps the operators' trail, from any command of the journal on."""

import asyncio
from collections import deque
from itertools import islice

import msgspec

from openspot.contracts.engine_actions import EngineAction, EngineActions, JournalledAction
from openspot.engine.engine import Engine
from openspot.engine.journal.operator_actions import journalled_actions
from openspot.engine.state.operator_actions import NotedAction
from openspot.kit.clock import NANOSECONDS_PER_MS

_SERVED_MAX = 10_000
_read = msgspec.json.Decoder(EngineAction).decode


class ActionFeed:
    """The actions of one engine. The newest come from memory, older ones from the journal, in another thread."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._served: deque[tuple[int, str]] = deque(maxlen=_SERVED_MAX)
        """The words of addresses that were handed out; they are removed when the reader asks for what comes after."""
        self._turn = asyncio.Lock()

    async def page(self, epoch: str, after: int, limit: int) -> EngineActions:
        """Actions after the command `after`, for a reader of the journal `epoch`; none if that is another journal."""
        machine = self._engine.machine
        if epoch != self._engine.epoch:
            return EngineActions(epoch=self._engine.epoch, through=0, actions=[])
        self._forget(after)
        through = machine.core.command_sequence
        if after >= machine.actions.floor:
            newer = (action for action in machine.actions.recent if action.sequence > after)
            found = list(islice(newer, limit))
            if len(found) == limit:
                through = found[-1].sequence
        else:
            found, through = await self._from_journal(after, limit)
        return EngineActions(epoch=epoch, through=through, actions=self._shown(found))

    async def _from_journal(self, after: int, limit: int) -> tuple[list[NotedAction], int]:
        actions = self._engine.machine.actions
        async with self._turn:
            found, through = await asyncio.to_thread(
                journalled_actions, self._engine.journal_path, after, actions.floor, limit
            )
        outcomes = ((action, actions.outcome(action.sequence)) for action in found)
        return [action._replace(is_certain=done is True) for action, done in outcomes if done is not False], through

    def _shown(self, found: list[NotedAction]) -> list[JournalledAction]:
        read = [(noted, _read(noted.text)) for noted in found]
        words = [action.origin for _, action in read if action.origin]
        addresses = self._engine.origins.addresses(words)
        self._served += ((noted.sequence, action.origin) for noted, action in read if action.origin)
        return [
            JournalledAction(
                sequence=noted.sequence,
                at=noted.time_ns // NANOSECONDS_PER_MS,
                action=action,
                address=addresses.get(action.origin, ""),
                is_certain=noted.is_certain,
            )
            for noted, action in read
        ]

    def _forget(self, after: int) -> None:
        """Remove the addresses of actions that the reader has kept."""
        kept = {word for sequence, word in self._served if sequence <= after}
        if kept:
            self._engine.origins.forget(kept)
            left = [pair for pair in self._served if pair[0] > after]
            self._served.clear()
            self._served += left
