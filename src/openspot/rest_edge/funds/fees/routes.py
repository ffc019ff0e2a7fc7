"""The routes of the fee lookups and of the estimate (facts B4.1-03, B4.1-04 and B4.1-58 to B4.1-61)."""

from typing import Annotated

from fastapi import Query
from starlette.requests import Request
from starlette.responses import Response

from openspot.domain.money import amount_to_text
from openspot.http.context import caller
from openspot.http.errors import validation_error
from openspot.http.policy import PUBLIC, Access, Policy, Scope
from openspot.http.responses import body_of, json_response
from openspot.http.routing import Router
from openspot.http.validation import Currency, PositiveDecimal
from openspot.rest_edge.funds.fees.estimate import UnknownPriceError, estimate
from openspot.rest_edge.funds.fees.schemas import (
    EstimateBody,
    EstimateResponse,
    NetworkFeeQuoteResponse,
    NetworkFeeResponse,
    PaymentFeeResponse,
    TradingFeesResponse,
)
from openspot.rest_edge.funds.fees.service import FeeServices

AssetQuery = Annotated[Currency, Query(description="The asset to withdraw")]
NetworkQuery = Annotated[
    str, Query(max_length=32, pattern="^[a-z0-9-]+$", description="The network to send it on", examples=["bitcoin"])
]
AmountQuery = Annotated[PositiveDecimal, Query(description="How much of the asset")]

_READ = Policy(Access.USER, Scope.READ)


def fee_routes(prefix: str, fees: FeeServices) -> Router:
    """`/fees/...` and `/orders/estimate`, below `prefix`."""
    router = Router(prefix, tag="fees")

    @router.get(
        "/fees/trading", _READ, response=TradingFeesResponse,
        refusals={503: "the matching engine does not respond, and your token cannot be counted"},
        summary="Trading fee tiers",
    )  # fmt: skip
    async def get_trading_fees(request: Request) -> Response:
        return json_response(body_of(await fees.trading.lookup(caller(request).user_id)))

    @router.get(
        "/fees/network", _READ, response=NetworkFeeQuoteResponse,
        refusals={
            400: "a parameter is not valid, or the amount is below the minimum",
            404: "the asset cannot be withdrawn over the network",
        },
        summary="The fee of a withdrawal, pinned for five minutes",
    )  # fmt: skip
    async def get_network_fee(
        request: Request, asset: AssetQuery, network: NetworkQuery, amount: AmountQuery
    ) -> Response:
        return json_response(body_of(await fees.network.quote(caller(request).user_id, asset, network, amount)))

    @router.get("/fees/network/all", PUBLIC, response=list[NetworkFeeResponse], summary="The fees of all withdrawals")
    async def list_network_fees() -> Response:
        return json_response([body_of(row) for row in fees.network.all()])

    @router.get(
        "/fees/payment", PUBLIC, response=list[PaymentFeeResponse],
        refusals={503: "the matching engine has not said yet what its markets offer"}, summary="The fees of payments",
    )  # fmt: skip
    async def list_payment_fees() -> Response:
        rows = [
            PaymentFeeResponse(
                route_id=route.route_id,
                currency=route.asset,
                fee_bps=route.fee_bps,
                fee_fixed=amount_to_text(route.fee_fixed),
            )
            for route in fees.payment()
        ]
        return json_response([body_of(row) for row in rows])

    @router.post(
        "/orders/estimate", _READ, response=EstimateResponse,
        refusals={400: "the body is not valid, or there is no price for the symbol"},
        summary="What an order would come to, at fixed rates and prices",
    )  # fmt: skip
    async def estimate_order(body: EstimateBody) -> Response:
        try:
            response = estimate(body)
        except UnknownPriceError as error:
            message = f"price is required: there is no price for {error.symbol}"
            raise validation_error([message]) from error
        return json_response(response.model_dump(by_alias=True, mode="json"))

    return router
