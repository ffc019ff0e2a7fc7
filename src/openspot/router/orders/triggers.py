"""The request `orders.get_triggers`: the prices that fire orders now.

The trigger of a trailing order moves without events, so only the engine knows it.
"""

import asyncio
from collections.abc import Mapping

from openspot.contracts.gen.exchange.v1 import orders_pb2
from openspot.contracts.messages import GetTriggers, GetTriggersReply, OrderTrigger
from openspot.contracts.refusals import InvalidRequestError, Refusal, RefusalCode
from openspot.domain.money import decimal_to_text
from openspot.domain.symbol import SymbolSpec
from openspot.engine_client.commands import EngineCommands
from openspot.engine_client.errors import EngineError
from openspot.router.orders.draft import check_ids, check_user_id
from openspot.router.orders.engine_orders import price_of

TRIGGERS_MAX = 20
"""Orders of one request at most."""


class Triggers:
    """Reads the triggers of orders in the engine."""

    def __init__(self, *, specs: Mapping[str, SymbolSpec], engine: EngineCommands) -> None:
        self._specs = specs
        self._engine = engine

    async def get(self, request: GetTriggers) -> GetTriggersReply:
        """Reply to `orders.get_triggers`, with those orders of the user that wait for a price."""
        try:
            check_user_id(request.user_id)
            if not 1 <= len(request.order_ids) <= TRIGGERS_MAX:
                raise InvalidRequestError(f"orderIds must have 1 to {TRIGGERS_MAX} entries")
            for order_id in request.order_ids:
                check_ids(request.user_id, order_id)
            found = await asyncio.gather(*map(self._engine.get_order, dict.fromkeys(request.order_ids)))
        except InvalidRequestError as error:
            return GetTriggersReply.refused(error.refusal)
        except EngineError as error:
            return GetTriggersReply.refused(Refusal(RefusalCode.UNAVAILABLE, str(error)))
        own = [order for order in found if order.found and order.participant_id == request.user_id]
        return GetTriggersReply(tuple(trigger for order in own if (trigger := self._trigger_of(order))))

    def _trigger_of(self, order: orders_pb2.GetOrderResponse) -> OrderTrigger | None:
        spec = self._specs.get(order.symbol)
        if spec is None or order.status != "WAITING" or not order.trigger_price:
            return None
        prices = (price_of(order.trigger_price, spec), price_of(order.trigger_limit, spec))
        return OrderTrigger(order.external_id, *map(decimal_to_text, prices))
