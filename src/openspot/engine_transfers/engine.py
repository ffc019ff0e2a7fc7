"""The engine as what carries transfers out."""

from collections.abc import Sequence

from openspot.domain.transfer import Movement, TransferKind
from openspot.engine_client.commands import EngineCommands
from openspot.engine_client.errors import EngineRefusedError
from openspot.engine_transfers.model import TransferResult


class EngineTransfers:
    """Sends transfers to the engine."""

    def __init__(self, engine: EngineCommands) -> None:
        self._engine = engine

    async def transfer(self, reference: str, movements: Sequence[Movement], kind: TransferKind) -> TransferResult:
        """Move everything or nothing, once for each reference. Raises EngineError if nothing is decided yet."""
        outcome = await self._engine.transfer(reference, movements, kind)
        if outcome.may_be_repeated:
            raise EngineRefusedError(outcome.code.name)
        return TransferResult(outcome.is_done, outcome.code.name)
