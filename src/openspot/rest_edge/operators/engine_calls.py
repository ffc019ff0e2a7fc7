"""Calls of the engine's administration for an operator: on whose behalf, and what a refusal becomes."""

from collections.abc import Awaitable
from typing import TypeVar

from starlette.requests import Request

from openspot.engine_client.administration import Behalf, ChangeRefusedError
from openspot.engine_client.errors import EngineError
from openspot.http.context import context_of, operator
from openspot.http.errors import HttpError, service_unavailable
from openspot.kit.log import get_logger

log = get_logger("operators")

Value = TypeVar("Value")

_UNKNOWN_ROUTE = "ROUTE_NOT_FOUND"


def behalf_of(request: Request) -> Behalf:
    """For whom the engine is called: the operator who sends this request."""
    context = context_of(request)
    return Behalf(operator(request).name, context.request_id, context.address)


async def asked(answer: Awaitable[Value]) -> Value:
    """The engine's answer. Raises HttpError with the engine's own refusal, or 503 if it does not answer.

    An engine of an earlier release may not have the route: that is 503, too.
    """
    try:
        return await answer
    except ChangeRefusedError as error:
        if error.code == _UNKNOWN_ROUTE:
            raise service_unavailable("the matching engine is of an earlier release, which cannot do this") from error
        messages: str | list[str] = error.messages if error.status == 400 else str(error)
        raise HttpError(error.status, messages, error.code) from error
    except EngineError as error:
        log.warning("the engine does not answer an operator", error=str(error))
        raise service_unavailable("the matching engine does not respond: look whether the change was made") from error
