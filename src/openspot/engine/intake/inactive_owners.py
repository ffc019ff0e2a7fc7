"""What participants that are not active may do with the orders that they have: cancel them, or make them smaller.

An amendment by which an order enters the book again is a new order in all but name, and the core refuses no inactive
account one: journals of before have such commands, and must replay unchanged. So the intake refuses them.
"""

from openspot.domain.result_code import ResultCode
from openspot.engine import metrics
from openspot.engine.intake.order_requests import AmendmentRequest
from openspot.engine.intake.refusal import IntakeRefusal
from openspot.engine.state.order_memory import ACCOUNT, is_open
from openspot.engine.state.state_machine import StateMachine


class InactiveOwners:
    """Looks at the participants and orders of one engine as its applied commands have left them.

    What was submitted and is not applied yet is not seen. It makes no order larger than it was when it was looked at.
    """

    def __init__(self, machine: StateMachine) -> None:
        self._machine = machine

    def includes(self, participant_id: str) -> bool:
        """Whether the participant exists and is not active."""
        profile = self._machine.participants.profiles.get(self._machine.directory.account(participant_id))
        return profile is not None and not profile.active

    def refuse_move(self, order_id: int, participant_id: str) -> None:
        """Raise IntakeRefusal (PARTICIPANT_INACTIVE) for an open order of theirs. A MOVE always enters again.

        Of anybody else's order, and of one that is not open, the core says what it is.
        """
        if self.includes(participant_id) and self._owns(order_id, participant_id):
            raise _refusal()

    def refuse_amendment(self, request: AmendmentRequest) -> None:
        """As `refuse_move`, unless the order stays where it is: the same price and trigger, and no larger quantity."""
        order_id = request.order_id
        if not self.includes(request.participant_id) or not self._owns(order_id, request.participant_id):
            return
        order, waiting = self._machine.core.order(order_id), self._machine.core.waiting_order(order_id)
        # An exit that is only planned is no open order of the core, and keeps what it has.
        is_kept = (
            order is not None
            and request.price in (0, order.price if waiting is None else waiting.limit)
            and request.quantity <= order.quantity
            and (waiting is None or request.trigger_price in (0, waiting.value))
        )
        if not is_kept:
            raise _refusal()

    def _owns(self, order_id: int, participant_id: str) -> bool:
        entry = self._machine.orders.entries.get(order_id)
        account = self._machine.directory.account(participant_id)
        return entry is not None and is_open(entry) and entry[ACCOUNT] == account


def _refusal() -> IntakeRefusal:
    code = ResultCode.PARTICIPANT_INACTIVE
    metrics.REFUSED.labels(code.name).inc()
    return IntakeRefusal(code)
