"""Carries money of the house in from outside and out again, the way that deposits and withdrawals go.

The engine has no account of the outside world, so such money is no transfer there. It is a deposit, or a withdrawal
that is reserved and completed. The ledger posts it against `house:external`. Each step counts once for the reference,
so an attempt is repeated as a whole. Whatever a kill leaves, the event on the bus or the next attempt ends it.
"""

from collections.abc import Sequence

from openspot.contracts import subjects
from openspot.contracts.messages import DepositConfirmed, WithdrawalOutcome
from openspot.domain.ids import EXTERNAL_ACCOUNT_ID
from openspot.domain.money import decimal_to_text
from openspot.domain.result_code import ResultCode
from openspot.domain.transfer import Movement, TransferKind
from openspot.engine_client.commands import EngineCommands
from openspot.engine_client.errors import EngineAmbiguousError, EngineRefusedError, EngineUnreachableError
from openspot.engine_transfers.model import TransferEngine, TransferResult
from openspot.kit.bus import Bus
from openspot.kit.clock import NANOSECONDS_PER_MS, Clock

REFERENCE_PREFIX = "house-flow:"
"""Before the id of a flow, it is the flow's reference at engine and ledger."""
_NOT_NOW = frozenset({ResultCode.ENGINE_BUSY.name, ResultCode.RATE_LIMITED.name})


class OutsideMoney:
    """The engine as what carries transfers out, those from and to the outside world among them."""

    def __init__(self, engine: TransferEngine, commands: EngineCommands, bus: Bus, clock: Clock) -> None:
        self._engine = engine
        self._commands = commands
        self._bus = bus
        self._clock = clock

    async def transfer(self, reference: str, movements: Sequence[Movement], kind: TransferKind) -> TransferResult:
        """Move everything or nothing, once for each reference. Raises EngineError or BusError if nothing is decided."""
        if not reference.startswith(REFERENCE_PREFIX):
            return await self._engine.transfer(reference, movements, kind)
        (movement,) = movements
        code = await (self._come_in if movement.source == EXTERNAL_ACCOUNT_ID else self._go_out)(reference, movement)
        if code in _NOT_NOW:
            raise EngineRefusedError(code)
        return TransferResult(code == ResultCode.SUCCESS.name, code)

    async def _come_in(self, reference: str, movement: Movement) -> str:
        account, asset, amount = movement.destination, movement.asset, decimal_to_text(movement.amount)
        event = DepositConfirmed(reference, account, asset, amount, timestamp=self._now_ms())
        # The event comes first: if the engine had the money already, a kill here would leave it without its entry.
        await self._bus.publish(subjects.CUSTODY_DEPOSIT_CONFIRMED, event, f"deposit-{reference}")
        try:
            return await self._commands.deposit(account, asset, amount, reference)
        except EngineUnreachableError as error:
            # The event is on its way, so it is not certain that nothing moves.
            raise EngineAmbiguousError(str(error)) from error

    async def _go_out(self, reference: str, movement: Movement) -> str:
        account, asset, amount = movement.source, movement.asset, decimal_to_text(movement.amount)
        code = await self._commands.reserve_withdrawal(account, asset, amount, reference)
        if code == ResultCode.SUCCESS.name:
            event = WithdrawalOutcome(reference, account, asset, amount, timestamp=self._now_ms())
            await self._bus.publish(subjects.CUSTODY_WITHDRAWAL_COMPLETED, event, f"{reference}-completed")
        return code

    def _now_ms(self) -> int:
        return self._clock() // NANOSECONDS_PER_MS
