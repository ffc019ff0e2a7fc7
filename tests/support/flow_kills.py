"""Has the edge of this process kill itself at a chosen step of a house flow."""

import os
import signal
from typing import Any

from openspot.engine_client.commands import EngineCommands
from openspot.engine_transfers.runner import TransferRunner
from openspot.engine_transfers.store import TransferStore

BEGUN = "begun"
"""Row, transfer and trail are written, and nothing is sent."""
ANNOUNCED = "announced"
"""What comes in is on the bus, and the engine is not asked."""
RESERVED = "reserved"
"""The engine holds what goes out, and nobody has read its answer."""
ANSWERED = "answered"
"""The engine has answered, and the outcome is not written."""
_BEFORE = {
    BEGUN: (TransferRunner, "attempt"),
    ANNOUNCED: (EngineCommands, "deposit"),
    ANSWERED: (TransferStore, "decide"),
}
_AFTER = {RESERVED: (EngineCommands, "reserve_withdrawal")}


def die_when(step: str) -> None:
    """Let the first flow of this process come so far, and no further."""
    owner, name = (_BEFORE | _AFTER)[step]
    work = getattr(owner, name)

    async def deadly(*arguments: Any, **named: Any) -> Any:
        if step in _AFTER:
            await work(*arguments, **named)
        os.kill(os.getpid(), signal.SIGKILL)

    setattr(owner, name, deadly)
