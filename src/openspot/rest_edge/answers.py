"""Answers of routes that FastAPI runs, and how those routes read their bodies."""

from collections.abc import Callable, Coroutine
from typing import Any

import msgspec
from fastapi.routing import APIRoute
from starlette.requests import Request
from starlette.responses import Response

from openspot.rest_edge.context import context_of
from openspot.rest_edge.errors import EdgeError
from openspot.rest_edge.lists import NEXT_CURSOR
from openspot.rest_edge.validation import Answer, MalformedJsonError, decode_json

encode_json = msgspec.json.Encoder().encode


def json_response(value: Any, status: int = 200) -> Response:
    """An answer whose body is `value` as JSON."""
    return Response(encode_json(value), status, media_type="application/json")


def page_response(entries: Any, next_cursor: str | None) -> Response:
    """One page of a list."""
    response = json_response(entries)
    if next_cursor is not None:
        response.headers[NEXT_CURSOR] = next_cursor
    return response


def read_json(body: bytes) -> Any:
    """The value of a request body. Raises EdgeError (400) if it is no JSON."""
    try:
        return decode_json(body)
    except MalformedJsonError as error:
        raise EdgeError(400, f"the body is not valid JSON: {error}", "MALFORMED_JSON") from error


class _ExactRequest(Request):
    """A request whose JSON keeps every digit of its numbers."""

    async def json(self) -> Any:
        return read_json(context_of(self).body)


class ExactRoute(APIRoute):
    """A route whose body is read by `read_json`."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """FastAPI's handler, given a request that reads JSON exactly."""
        handler = super().get_route_handler()

        async def handle(request: Request) -> Response:
            return await handler(_ExactRequest(request.scope, request.receive))

        return handle


class ErrorAnswer(Answer):
    """The body of every refusal."""

    status_code: int
    message: str | list[str]
    error: str
    code: str
    request_id: str
    details: dict[str, Any] | None = None


def refusals(**reasons: str) -> dict[int | str, dict[str, Any]]:
    """What OpenAPI says of refusals: `refusals(_404="no such order")`."""
    return {int(key[1:]): {"model": ErrorAnswer, "description": reason} for key, reason in reasons.items()}
