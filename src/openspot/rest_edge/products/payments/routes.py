"""The routes of the payments (facts B4.1-53 to B4.1-57), and the provider's callback."""

from typing import Annotated

from fastapi import Header, Path
from starlette.requests import Request
from starlette.responses import Response

from openspot.http.context import caller, context_of, operation_of
from openspot.http.lists import LIMIT_DEFAULT, NEXT_CURSOR_HEADER, Cursor, Limit
from openspot.http.paging import respond_with_page
from openspot.http.policy import PUBLIC, Access, Policy, Scope
from openspot.http.responses import body_of, json_response
from openspot.http.routing import Router
from openspot.rest_edge.products.known_offers import OFFERS_UNKNOWN
from openspot.rest_edge.products.payments.schemas import (
    CallbackBody,
    CallbackResponse,
    PaymentPageResponse,
    PaymentResponse,
    PaymentRouteResponse,
    PaymentSessionResponse,
    SessionBody,
)
from openspot.rest_edge.products.payments.service import PaymentService

RouteId = Annotated[
    str, Path(description="Id of the payment route", alias="routeId", max_length=64, pattern="^[a-z0-9-]+$")
]
PaymentId = Annotated[str, Path(description="Id of the payment", alias="id", max_length=40, pattern="^[A-Za-z0-9]+$")]
Digest = Annotated[
    str | None, Header(alias="X-Payload-Digest", description="Hex HMAC-SHA256 of the raw body; required")
]

_READ = Policy(Access.USER, Scope.READ)
_OPEN = Policy(Access.USER, Scope.TRADE, audit=True, idempotency=True)
_CALLBACK = Policy(Access.PUBLIC, audit=True)


def payment_routes(prefix: str, payments: PaymentService) -> Router:
    """The routes of `/payments`, below `prefix`."""
    router = Router(f"{prefix}/payments", tag="payments")

    @router.get(
        "/routes", PUBLIC, response=list[PaymentRouteResponse], refusals=OFFERS_UNKNOWN, summary="Ways to pay in"
    )
    async def list_payment_routes() -> Response:
        return json_response([body_of(route) for route in payments.routes()])

    @router.get(
        "/routes/{routeId}", PUBLIC, response=PaymentRouteResponse,
        refusals={400: "the id is not valid", 404: "there is no such route"} | OFFERS_UNKNOWN,
        summary="One way to pay in",
    )  # fmt: skip
    async def get_payment_route(route_id: RouteId) -> Response:
        return json_response(body_of(payments.route(route_id)))

    @router.post(
        "/session", _OPEN, response=PaymentSessionResponse, status=201,
        refusals={
            400: "the body is not valid, or the amount is outside the route's bounds",
            404: "there is no such route",
        } | OFFERS_UNKNOWN,
        summary="Open a payment",
    )  # fmt: skip
    async def open_payment_session(request: Request, body: SessionBody) -> Response:
        operation = operation_of(context_of(request))
        return json_response(body_of(await payments.open_session(caller(request).user_id, body, operation)), 201)

    @router.post(
        "/callback", _CALLBACK, response=CallbackResponse,
        refusals={
            400: "the body is not valid",
            401: "the signature is missing or wrong",
            404: "there is no such payment",
            409: "the payment is of another amount or currency, or was cancelled: PAYMENT_CANCELLED",
        },
        summary="A provider tells how a payment went",
    )  # fmt: skip
    async def take_payment_callback(request: Request, body: CallbackBody, digest: Digest = None) -> Response:
        return json_response(body_of(await payments.take_callback(context_of(request).body, digest, body)))

    @router.get(
        "/development/{id}", PUBLIC, response=PaymentPageResponse,
        refusals={400: "the id is not valid", 404: "there is no such payment"},
        summary="The development provider's page of a payment",
    )  # fmt: skip
    async def get_development_payment(payment_id: PaymentId) -> Response:
        return json_response(body_of(await payments.page(payment_id)))

    @router.get(
        "", _READ, response=list[PaymentResponse], headers=NEXT_CURSOR_HEADER,
        refusals={400: "a parameter is not valid"}, summary="Your payments, newest first",
    )  # fmt: skip
    async def list_payments(request: Request, limit: Limit = LIMIT_DEFAULT, cursor: Cursor = None) -> Response:
        return respond_with_page(await payments.payments(caller(request).user_id, limit, cursor))

    @router.get(
        "/{id}", _READ, response=PaymentResponse,
        refusals={400: "the id is not valid", 404: "there is no such payment of yours"}, summary="One of your payments",
    )  # fmt: skip
    async def get_payment(request: Request, payment_id: PaymentId) -> Response:
        return json_response(body_of(await payments.payment(caller(request).user_id, payment_id)))

    return router
