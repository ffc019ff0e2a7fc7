"""The routes of the conversions (facts B4.1-70 to B4.1-74)."""

from typing import Annotated

from fastapi import Path
from starlette.requests import Request
from starlette.responses import Response

from openspot.http.context import caller
from openspot.http.lists import LIMIT_DEFAULT, NEXT_CURSOR_HEADER, Cursor, Limit
from openspot.http.paging import respond_with_page
from openspot.http.policy import PUBLIC, Access, Policy, Scope
from openspot.http.responses import body_of, json_response
from openspot.http.routing import Router
from openspot.rest_edge.products.conversions.schemas import (
    ConversionBody,
    ConversionResponse,
    PairResponse,
    QuoteBody,
    QuoteResponse,
)
from openspot.rest_edge.products.conversions.service import ConversionService
from openspot.rest_edge.products.known_offers import OFFERS_UNKNOWN

ConversionId = Annotated[
    str, Path(description="Id of the conversion", alias="id", max_length=40, pattern="^[A-Za-z0-9]+$")
]

_READ = Policy(Access.USER, Scope.READ)
_QUOTE = Policy(Access.USER, Scope.TRADE, audit=True)
_CONVERT = Policy(Access.USER, Scope.TRADE, audit=True, idempotency=True)


def conversion_routes(prefix: str, conversions: ConversionService) -> Router:
    """The routes of `/conversions`, below `prefix`."""
    router = Router(f"{prefix}/conversions", tag="conversions")

    @router.get("/pairs", PUBLIC, response=list[PairResponse], refusals=OFFERS_UNKNOWN, summary="Conversions on offer")
    async def list_conversion_pairs() -> Response:
        return json_response([body_of(pair) for pair in conversions.pairs()])

    @router.post(
        "/quote", _QUOTE, response=QuoteResponse, status=201,
        refusals={
            400: "the body is not valid, or the amount is outside the pair's bounds",
            404: "the pair is not on offer",
            409: "the price is not certain now, the order book or the platform's inventory does not cover the whole "
            "amount, you or the asset have reached the limit of an hour, or your account is frozen or inactive: "
            "PARTICIPANT_INACTIVE",
            503: "the matching engine does not respond, or has not said yet what its markets offer",
        },
        summary="Price a conversion for its whole amount",
    )  # fmt: skip
    async def quote_conversion(request: Request, body: QuoteBody) -> Response:
        return json_response(body_of(await conversions.quote(caller(request).user_id, body)), 201)

    @router.post(
        "", _CONVERT, response=ConversionResponse, status=201,
        refusals={
            400: "the body is not valid, or the engine refused: RISK_NSF for too little money",
            404: "there is no such quote of yours",
            409: "the quote has expired, the platform's inventory no longer covers it, a limit of an hour is reached, "
            "or your account is frozen or inactive: PARTICIPANT_INACTIVE",
            503: "the matching engine does not respond; nothing was moved",
        },
        summary="Execute a quote; a repeated call returns the same conversion",
    )  # fmt: skip
    async def execute_conversion(request: Request, body: ConversionBody) -> Response:
        return json_response(body_of(await conversions.convert(caller(request).user_id, body.quote_id)), 201)

    @router.get(
        "", _READ, response=list[ConversionResponse], headers=NEXT_CURSOR_HEADER,
        refusals={400: "a parameter is not valid"}, summary="Your conversions, newest first",
    )  # fmt: skip
    async def list_conversions(request: Request, limit: Limit = LIMIT_DEFAULT, cursor: Cursor = None) -> Response:
        return respond_with_page(await conversions.conversions(caller(request).user_id, limit, cursor))

    @router.get(
        "/{id}", _READ, response=ConversionResponse,
        refusals={400: "the id is not valid", 404: "there is no such conversion of yours"},
        summary="One of your conversions",
    )  # fmt: skip
    async def get_conversion(request: Request, conversion_id: ConversionId) -> Response:
        return json_response(body_of(await conversions.conversion(caller(request).user_id, conversion_id)))

    return router
