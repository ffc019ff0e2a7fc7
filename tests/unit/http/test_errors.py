"""What a client is told of an exception."""

import json

import asyncpg
import pytest
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException

from openspot.http.errors import HttpError, as_http_error, error_body, service_unavailable


@pytest.mark.spec("A7-19")
@pytest.mark.parametrize(
    ("error", "status", "code", "message"),
    [
        (HttpError(409, "taken", "EMAIL_TAKEN"), 409, "EMAIL_TAKEN", "taken"),
        (HTTPException(404, "gone"), 404, "NOT_FOUND", "gone"),
        (HTTPException(418, "teapot"), 418, "HTTP_418", "teapot"),
        (
            RequestValidationError([{"type": "missing", "loc": ("body", "a", "b"), "msg": "m"}]),
            400, "VALIDATION_FAILED", ["a.b is required"],
        ),
        (RequestValidationError([{"type": "odd", "loc": (), "msg": "is odd"}]), 400, "VALIDATION_FAILED",
         ["body is odd"]),
        (asyncpg.ConnectionDoesNotExistError("gone"), 503, "SERVICE_UNAVAILABLE",
         "the database does not respond now"),
        (ConnectionRefusedError("10.0.0.1"), 503, "SERVICE_UNAVAILABLE", "the database does not respond now"),
        (asyncpg.UndefinedTableError("orders"), 500, "INTERNAL_ERROR", "internal error"),
        (KeyError("secret"), 500, "INTERNAL_ERROR", "internal error"),
    ],
)  # fmt: skip
def test_an_exception_becomes_a_refusal_that_shows_nothing_inside(
    error: Exception, status: int, code: str, message: object
) -> None:
    known = as_http_error(error, {})
    assert (known.status_code, known.code, known.message) == (status, code, message)


@pytest.mark.spec("A7-19")
def test_the_body_has_one_shape() -> None:
    body = json.loads(error_body(HttpError(504, "late", "ORDER_STATUS_UNKNOWN", details={"orderId": "x"}), "r-1"))
    assert body == {
        "statusCode": 504, "message": "late", "error": "Gateway Timeout", "code": "ORDER_STATUS_UNKNOWN",
        "requestId": "r-1", "details": {"orderId": "x"},
    }  # fmt: skip
    assert json.loads(error_body(HttpError(400, ["a", "b"]), "r-2")) == {
        "statusCode": 400, "message": ["a", "b"], "error": "Bad Request", "code": "BAD_REQUEST", "requestId": "r-2",
    }  # fmt: skip
    assert json.loads(error_body(HttpError(599, "odd"), "")) == {
        "statusCode": 599, "message": "odd", "error": "Error", "code": "HTTP_599", "requestId": "",
    }  # fmt: skip


def test_a_refusal_keeps_its_headers_and_its_text() -> None:
    assert service_unavailable("later").headers == {"Retry-After": "1"}
    assert as_http_error(HTTPException(405, "no", headers={"Allow": "GET"}), {}).headers == {"Allow": "GET"}
    assert as_http_error(HTTPException(404, "gone"), {}).headers is None
    assert HttpError(400, ["a is required", "b is odd"]).detail == "a is required; b is odd"
    assert HttpError(409, "taken").detail == "taken"


class _OwnError(Exception):
    pass


class _NarrowerError(_OwnError):
    pass


def test_a_service_translates_its_own_exceptions_the_nearest_class_first() -> None:
    translations = {
        _OwnError: lambda error: HttpError(409, str(error), "OWN"),
        _NarrowerError: lambda _: service_unavailable("later"),
    }
    assert as_http_error(_OwnError("taken"), translations).code == "OWN"
    assert as_http_error(_NarrowerError("taken"), translations).status_code == 503
    assert as_http_error(KeyError("secret"), translations).status_code == 500
