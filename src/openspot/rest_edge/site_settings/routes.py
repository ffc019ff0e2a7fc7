"""The routes of the settings that are the same for all users (facts B4.1-75 to B4.1-79)."""

from typing import Annotated

from fastapi import Query
from starlette.responses import Response

from openspot.http.errors import HttpError
from openspot.http.policy import PUBLIC
from openspot.http.responses import body_of, json_response
from openspot.http.routing import Router
from openspot.rest_edge.site_settings.places import countries, provinces
from openspot.rest_edge.site_settings.schemas import (
    CountryResponse,
    ProvinceResponse,
    SsoResponse,
    SystemResponse,
    TradingResponse,
)
from openspot.rest_edge.site_settings.system import SystemSettings

CountryQuery = Annotated[str, Query(pattern="^[A-Z]{2}$", description="ISO 3166-1 alpha-2", examples=["CA"])]


def settings_routes(prefix: str, system: SystemSettings, trading: TradingResponse) -> Router:
    """The public routes of `/settings`, below `prefix`."""
    router = Router(f"{prefix}/settings", tag="settings")

    @router.get("/countries", PUBLIC, response=list[CountryResponse], summary="Countries (ISO 3166-1)")
    async def list_countries() -> Response:
        return json_response([body_of(country) for country in countries()])

    @router.get(
        "/provinces", PUBLIC, response=list[ProvinceResponse],
        refusals={400: "country is missing or not valid", 404: "there is no such country"},
        summary="The provinces of a country (ISO 3166-2)",
    )  # fmt: skip
    async def list_provinces(country: CountryQuery) -> Response:
        found = provinces(country)
        if found is None:
            raise HttpError(404, f"country {country} not found", "COUNTRY_NOT_FOUND")
        return json_response([body_of(province) for province in found])

    @router.get("/sso", PUBLIC, response=SsoResponse, summary="Sign-in through other parties")
    async def get_sso_settings() -> Response:
        return json_response(body_of(SsoResponse(enabled=False, providers=[])))

    @router.get("/system", PUBLIC, response=SystemResponse, summary="The settings that clients meet")
    async def get_system_settings() -> Response:
        return json_response(body_of(system.current()))

    @router.get("/trading", PUBLIC, response=TradingResponse, summary="The rules of orders that are on")
    async def get_trading_settings() -> Response:
        return json_response(body_of(trading))

    return router
