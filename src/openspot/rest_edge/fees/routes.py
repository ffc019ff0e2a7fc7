"""Paths of the fee lookup and of the estimate (Document B 4.1)."""

from starlette.responses import Response

from openspot.http.errors import validation_error
from openspot.http.policy import Access, Policy, Scope
from openspot.http.responses import json_response
from openspot.http.routing import Router
from openspot.rest_edge.fees.estimate import UnknownPriceError, estimate, trading_fees
from openspot.rest_edge.fees.schemas import EstimateBody, EstimateResponse, TradingFeesResponse

_READ = Policy(Access.USER, Scope.READ)


def fee_routes(prefix: str) -> Router:
    """`/fees/trading` and `/orders/estimate`, below `prefix`."""
    router = Router(prefix, tag="fees")

    @router.get("/fees/trading", _READ, response=TradingFeesResponse, summary="Trading fee tiers")
    async def get_trading_fees() -> Response:
        return json_response(trading_fees().model_dump(by_alias=True))

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
