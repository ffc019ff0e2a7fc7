"""The engine as what carries transfers out."""

from collections.abc import Sequence

from openspot.engine_client.commands import EngineCommands
from openspot.engine_client.errors import EngineUnreachableError
from openspot.rest_edge.transfers.model import Movement, TransferKind, TransferResult


class EngineTransfers:
    """Sends transfers to the engine over gRPC."""

    def __init__(self, engine: EngineCommands) -> None:
        self._engine = engine

    async def transfer(self, reference: str, movements: Sequence[Movement], kind: TransferKind) -> TransferResult:
        """Move everything or nothing, once for each reference."""
        raise EngineUnreachableError("this engine does not know transfers")
