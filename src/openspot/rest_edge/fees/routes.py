"""Paths of the fee lookup and of the estimate (Document B 4.1)."""

from fastapi import APIRouter
from starlette.responses import Response

from openspot.rest_edge.answers import ExactRoute, json_response, refusals
from openspot.rest_edge.errors import validation_error
from openspot.rest_edge.fees.estimate import UnknownPriceError, estimate, trading_fees
from openspot.rest_edge.fees.schemas import EstimateAnswer, EstimateBody, TradingFeesAnswer


def fee_routes() -> APIRouter:
    """`/fees/trading` and `/orders/estimate`."""
    router = APIRouter(route_class=ExactRoute)

    @router.get("/fees/trading", response_model=TradingFeesAnswer, tags=["fees"], summary="Trading fee tiers")
    async def get_trading_fees() -> Response:
        return json_response(trading_fees().model_dump(by_alias=True))

    @router.post(
        "/orders/estimate", response_model=EstimateAnswer, tags=["orders"],
        responses=refusals(_400="the body is not valid, or there is no price for the symbol"),
        summary="What an order would come to, at fixed rates and prices",
    )  # fmt: skip
    async def estimate_order(body: EstimateBody) -> Response:
        try:
            answer = estimate(body)
        except UnknownPriceError as error:
            message = f"price is required: there is no price for {error.symbol}"
            raise validation_error([message]) from error
        return json_response(answer.model_dump(by_alias=True, mode="json"))

    return router
