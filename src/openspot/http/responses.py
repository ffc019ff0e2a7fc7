"""The responses that handlers return."""

from dataclasses import dataclass
from typing import Any

import msgspec
from pydantic import BaseModel
from starlette.responses import Response

from openspot.http.lists import NEXT_CURSOR

encode_json = msgspec.json.Encoder().encode


@dataclass(frozen=True, slots=True)
class FastPathResponse:
    """What the handler of a fast path returns: a status, a JSON body, and headers with names in lower case."""

    status: int
    body: bytes
    headers: tuple[tuple[bytes, bytes], ...] = ()


def json_response(value: Any, status: int = 200) -> Response:
    """A response whose body is `value` as JSON."""
    return Response(encode_json(value), status, media_type="application/json")


def body_of(entry: BaseModel) -> Any:
    """The JSON value of a documented response."""
    return entry.model_dump(by_alias=True, mode="json")


def respond(entry: BaseModel, status: int = 200) -> Response:
    """A response whose body is `entry`."""
    return json_response(body_of(entry), status)


def page_response(entries: Any, next_cursor: str | None) -> Response:
    """One page of a list."""
    response = json_response(entries)
    if next_cursor is not None:
        response.headers[NEXT_CURSOR] = next_cursor
    return response
