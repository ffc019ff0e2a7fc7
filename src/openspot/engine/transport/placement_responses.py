"""The responses to placements, made of the records that the core wrote about them."""

import struct
from collections.abc import Sequence

from openspot.contracts.gen.exchange.v1 import orders_pb2 as pb
from openspot.domain.fees import fee_amount
from openspot.domain.ids import trade_id
from openspot.domain.money import amount_to_text
from openspot.domain.order import FILLS_LISTED_MAX
from openspot.domain.result_code import ResultCode
from openspot.engine.core.records import EVENT_SIZE, RESULT_SIZE, EventType, decode_events
from openspot.engine.intake.sequencer import CommandOutcome
from openspot.engine.intake.terms import TERMS_COMMAND
from openspot.kit.clock import NANOSECONDS_PER_MS

CODE_NAMES: dict[int, str] = {int(code): code.name for code in ResultCode}
SUCCESS = ResultCode.SUCCESS.name
_TRADE, _TRIGGERED = int(EventType.TRADE), int(EventType.TRIGGERED)
_OF_THE_ORDER = frozenset({int(EventType.ACCEPTED), _TRADE, int(EventType.REDUCE)})
"""The types of what a placement does to its own order."""
_TIME_AND_FEE = struct.Struct("<24xQ72xi")
"""Fields of an ACCEPTED or REJECT event, the first event of a PLACE: timestamp and the taker fee of the order."""
_TAKER = struct.Struct("<40xQ")
"""Field of an event: the order, of a TRADE the taker."""
_RESULT = struct.Struct("<HBxIqqQq")
"""The fields of a result, except the one that is always zero."""
assert _RESULT.size == RESULT_SIZE


def common_response(outcome: CommandOutcome | None) -> pb.PlaceOrderResponse:
    """The response to an accepted order without fills. Most responses differ from it only in ids and quantities."""
    timestamp = timestamp_ms(outcome)
    return pb.PlaceOrderResponse(status=pb.ACCEPTED, result_code=SUCCESS, timestamp=timestamp, notional="0", fee="0")


def timestamp_ms(outcome: CommandOutcome | None) -> int:
    """The time of a call's events: all of its commands have the same. 0 if there may be none."""
    if outcome is None:
        return 0
    records, offset = outcome.applied.events.records, outcome.event_index * EVENT_SIZE
    return _TIME_AND_FEE.unpack_from(records, offset)[0] // NANOSECONDS_PER_MS if offset < len(records) else 0


def fill_submitted(
    requests: Sequence[pb.PlaceOrderRequest],
    responses: Sequence[pb.PlaceOrderResponse],
    submitted_ids: Sequence[int],
    outcome: CommandOutcome,
    epoch: str,
) -> None:
    """Complete the common responses for orders that reached the core."""
    sequence, event_index = outcome.events_before, outcome.event_index
    records = outcome.applied.events.records
    pairs = iter(zip(requests, responses, strict=True))
    for submitted_id, (code, status, events, filled, remaining, low, high) in zip(
        submitted_ids, _RESULT.iter_unpack(outcome.results), strict=True
    ):
        if submitted_id == TERMS_COMMAND:
            sequence += events
            event_index += events
            continue
        request, response = next(pairs)
        # What activated orders did to others is no part of this order's outcome.
        own = events
        if events > 1:
            types = records[event_index * EVENT_SIZE : (event_index + events) * EVENT_SIZE : EVENT_SIZE]
            place = types.find(_TRIGGERED)
            own = place if place > 0 else events
        response.order_id = submitted_id
        response.sequence = sequence + own
        sequence += events
        if remaining:
            response.remaining_quantity = remaining
        if code or status != pb.ACCEPTED:
            response.status = status
            response.result_code = CODE_NAMES[code]
        elif request.post_only or request.budget:
            _note_adaptation(request, response, records, event_index)
        if filled:
            notional = low | high << 64
            own_records = records[event_index * EVENT_SIZE : (event_index + own) * EVENT_SIZE]
            # Nothing remains: the order's last event is its completing trade or the reduction of the unfilled rest.
            if not remaining and _ends_with_a_trade(own_records, submitted_id):
                response.is_order_completed = True
            _, fee_bps = _TIME_AND_FEE.unpack_from(records, event_index * EVENT_SIZE)
            response.filled_quantity = filled
            response.notional = amount_to_text(notional)
            response.fee = amount_to_text(fee_amount(notional, fee_bps))
            if request.with_fills:
                _list_fills(response, own_records, submitted_id, epoch)
        event_index += events


def _note_adaptation(
    request: pb.PlaceOrderRequest, response: pb.PlaceOrderResponse, records: bytes, event_index: int
) -> None:
    """Say with which limit and quantity the order was accepted, if the core changed them."""
    accepted = next(decode_events(records[event_index * EVENT_SIZE : (event_index + 1) * EVENT_SIZE]))
    if request.type != pb.FOK_BUDGET and accepted.price != request.price:
        response.accepted_price = accepted.price
    if accepted.quantity != request.quantity:
        response.accepted_quantity = accepted.quantity


def _ends_with_a_trade(records: bytes, engine_order_id: int) -> bool:
    """Whether an order's last event of one placement is a trade. What it did to lists of others may come behind it."""
    for offset in range(len(records) - EVENT_SIZE, -1, -EVENT_SIZE):
        # An event about a list has the list's id there.
        if records[offset] in _OF_THE_ORDER and _TAKER.unpack_from(records, offset)[0] == engine_order_id:
            return records[offset] == _TRADE
    return False


def _list_fills(response: pb.PlaceOrderResponse, records: bytes, engine_order_id: int, epoch: str) -> None:
    """List an order's trades among the events of one placement, FILLS_LISTED_MAX at most."""
    for event in decode_events(records):
        if event.type != EventType.TRADE or event.order_id != engine_order_id:
            continue
        if len(response.fills) == FILLS_LISTED_MAX:
            response.fills_truncated = True
            return
        response.fills.add(
            trade_id=trade_id(epoch, event.sequence),
            price=event.price,
            quantity=event.quantity,
            fee=amount_to_text(event.amount),
        )
