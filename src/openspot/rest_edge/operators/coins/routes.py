"""The routes of `/operator/coins/{asset}/networks`: over which networks a coin comes and goes, and at what terms."""

from typing import Annotated

from fastapi import Path
from starlette.requests import Request
from starlette.responses import Response

from openspot.http.policy import Access, Permission, Policy
from openspot.http.responses import json_response
from openspot.http.routing import Router
from openspot.http.validation import Currency
from openspot.rest_edge.operators.acting import acting
from openspot.rest_edge.operators.coins.schemas import CoinNetworkBody, CoinNetworkResponse, NetworkName
from openspot.rest_edge.operators.coins.service import CoinNetworks
from openspot.rest_edge.operators.schemas import ReasonBody

AssetPath = Annotated[Currency, Path(description="The coin, for example BTC")]
NetworkPath = Annotated[NetworkName, Path(description="The network, for example bitcoin")]

_READ = Policy(Access.OPERATOR, permission=Permission.MARKETS_READ)
_CHANGE = Policy(Access.OPERATOR, permission=Permission.CURRENCIES_UPDATE, audit=True)
_INVALID = {400: "a field breaks a rule, and the message names each; or the networks are fixed: UNSUPPORTED_COMMAND"}


def coin_network_routes(prefix: str, coins: CoinNetworks) -> Router:
    """The routes, below `prefix`."""
    router = Router(f"{prefix}/operator/coins", tag="operators")

    @router.get(
        "/{asset}/networks", _READ, response=list[CoinNetworkResponse], refusals={404: "no such coin"},
        summary="The networks of a coin, and its terms on each",
    )  # fmt: skip
    async def list_coin_networks(asset: AssetPath) -> Response:
        return json_response([each.model_dump(by_alias=True) for each in await coins.of_coin(asset)])

    @router.put(
        "/{asset}/networks/{network}", _CHANGE, response=CoinNetworkResponse,
        refusals=_INVALID | {404: "no such coin"}, summary="Give a coin a network, or change its terms there",
    )  # fmt: skip
    async def put_coin_network(
        request: Request, asset: AssetPath, network: NetworkPath, body: CoinNetworkBody
    ) -> Response:
        changed = await coins.change(asset, network, body, acting(request, body.reason))
        return json_response(changed.model_dump(by_alias=True))

    @router.post(
        "/{asset}/networks/{network}/removal", _CHANGE, response=list[CoinNetworkResponse],
        refusals=_INVALID
        | {404: "no operator gave it this network", 409: "the coin has moved over it, or users have addresses there"},
        summary="Take away a network that was added, or go back to the platform's own terms",
    )  # fmt: skip
    async def remove_coin_network(
        request: Request, asset: AssetPath, network: NetworkPath, body: ReasonBody
    ) -> Response:
        await coins.remove(asset, network, acting(request, body.reason))
        return json_response([each.model_dump(by_alias=True) for each in await coins.of_coin(asset)])

    return router
