"""The present triggers of a user's orders. That of a trailing order moves without events, so they are asked for."""

from collections.abc import Sequence

from openspot.contracts import subjects
from openspot.contracts.messages import GetTriggers, GetTriggersReply, OrderTrigger
from openspot.http.errors import service_unavailable, validation_error
from openspot.kit.bus import Bus, MalformedRequestError, RequestFailedError
from openspot.rest_edge.orders.refusals import INVALID


class OrderTriggers:
    """Asks the router for triggers."""

    def __init__(self, bus: Bus) -> None:
        self._bus = bus

    async def of(self, user_id: str, order_ids: Sequence[str]) -> tuple[OrderTrigger, ...]:
        """The prices that fire these orders of the caller now; of those that wait for a price.

        Raises HttpError: 400 for a request that is not valid, 503 if nobody knows.
        """
        request = GetTriggers(user_id, tuple(order_ids))
        try:
            reply = await self._bus.request(subjects.ORDERS_GET_TRIGGERS, request, GetTriggersReply)
        except MalformedRequestError as error:
            raise validation_error([str(error)]) from error
        except RequestFailedError as error:
            raise service_unavailable("triggers cannot be read at this moment: no order router") from error
        if reply.error is None:
            return reply.triggers
        if reply.code in INVALID:
            raise validation_error([reply.error])
        raise service_unavailable("triggers cannot be read at this moment")
