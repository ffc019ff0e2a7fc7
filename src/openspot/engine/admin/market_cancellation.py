"""Cancels the open orders of everybody on a market, some at a time, so that commands of others come between."""

from itertools import chain, islice

from openspot.domain.result_code import ResultCode
from openspot.domain.symbol import SymbolSpec
from openspot.engine.admin.acting import Acting
from openspot.engine.core.records import Command, CommandKind, decode_results
from openspot.engine.engine import Engine
from openspot.engine.intake.refusal import IntakeRefusal
from openspot.engine.intake.sequencer import EngineBusyError
from openspot.engine.state.directory import NOTE_ACTION, Note


class MarketCancellation:
    """The open orders of one engine's markets."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def count(self, spec: SymbolSpec) -> int:
        """How many orders are open on a market, those that wait for a trigger included."""
        open_orders = self._engine.machine.orders.open_orders
        return sum(
            len(side) for (_, symbol), sides in open_orders.items() if symbol == spec.symbol_id for side in sides
        )

    async def cancel(self, spec: SymbolSpec, orders_max: int, reason: str, acting: Acting) -> tuple[int, int]:
        """Cancel at most `orders_max` orders, in one commit: (how many were cancelled, how many are still open).

        Each commit has its own note, so whatever ends the engine, the journal says what was done. Raises IntakeRefusal
        (ENGINE_BUSY), EngineStoppedError.
        """
        sequencer = self._engine.sequencer
        await sequencer.settle()
        sides = (
            side
            for (_, symbol), sides in self._engine.machine.orders.open_orders.items()
            if symbol == spec.symbol_id
            for side in sides
        )
        chosen = list(islice(chain.from_iterable(sides), orders_max))
        if not chosen:
            return 0, 0
        before = self.count(spec)
        try:
            sequencer.admit(len(chosen) + 1)
        except EngineBusyError as error:
            raise IntakeRefusal(ResultCode.ENGINE_BUSY) from error
        now = sequencer.now()
        commands = [Command(CommandKind.CANCEL, timestamp=now, order_id=order_id) for order_id in chosen]
        commands.append(Command(NOTE_ACTION, timestamp=now, order_id=len(chosen)))
        note = acting.note(
            "markets.cancel_orders",
            ("market", spec.symbol),
            {"openOrders": before},
            {"openOrders": before - len(chosen)},
            reason,
        )
        notes: list[Note] = [()] * len(chosen)
        outcome = await sequencer.submit(b"".join(command.encode() for command in commands), [*notes, note])
        cancelled = sum(result.code == ResultCode.SUCCESS for result in decode_results(outcome.results))
        return cancelled, self.count(spec)
