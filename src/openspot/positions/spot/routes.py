"""The paths of the results of what a user holds on the exchange."""

from starlette.requests import Request
from starlette.responses import Response

from openspot.http.context import caller
from openspot.http.responses import respond
from openspot.http.routing import Router
from openspot.positions.access import require_visible
from openspot.positions.holdings.routes import NOT_FOUND, READ, AssetPath, ParticipantPath
from openspot.positions.spot.schemas import SpotCostResponse, SpotMarketsResponse, SpotResultsResponse
from openspot.positions.spot.service import SpotService

_REFUSALS = NOT_FOUND | {
    503: "the engine does not respond: BALANCES_UNKNOWN, or costs are being computed: RESULTS_NOT_READY",
}


def spot_routes(prefix: str, spot: SpotService) -> Router:
    """The routes of `/spot`, below `prefix`."""
    router = Router(f"{prefix}/spot", tag="spot")

    @router.get(
        "/{participantId}", READ, response=SpotResultsResponse, refusals=_REFUSALS,
        summary="What a user holds on the exchange: cost, value at fair prices, results and fees by asset",
    )  # fmt: skip
    async def get_spot_results(request: Request, participant_id: ParticipantPath) -> Response:
        return respond(await spot.results(require_visible(caller(request), participant_id)))

    @router.get(
        "/{participantId}/markets", READ, response=SpotMarketsResponse, refusals=_REFUSALS,
        summary="What came of a user's fills on each market, and what is still held of what was bought there",
    )  # fmt: skip
    async def get_spot_markets(request: Request, participant_id: ParticipantPath) -> Response:
        return respond(await spot.markets(require_visible(caller(request), participant_id)))

    @router.get(
        "/{participantId}/{assetId}", READ, response=SpotCostResponse, refusals=_REFUSALS,
        summary="What a user holds of one asset, and what it cost",
    )  # fmt: skip
    async def get_spot_cost(request: Request, participant_id: ParticipantPath, asset: AssetPath) -> Response:
        return respond(await spot.cost(require_visible(caller(request), participant_id), asset))

    return router
