"""Paths of the settings (Document B 4.1)."""

from typing import Annotated

from fastapi import Path, Query
from starlette.requests import Request
from starlette.responses import Response

from openspot.http.context import caller
from openspot.http.errors import HttpError
from openspot.http.policy import PUBLIC, Access, Policy, Scope
from openspot.http.responses import json_response
from openspot.http.routing import Router
from openspot.rest_edge.notifications.wishes import NotificationEvent
from openspot.rest_edge.paging import body_of
from openspot.rest_edge.site_settings.notifications import NotificationService
from openspot.rest_edge.site_settings.places import countries, provinces
from openspot.rest_edge.site_settings.schemas import (
    CountryResponse,
    NotificationBody,
    NotificationResponse,
    ProvinceResponse,
    SsoResponse,
    SystemResponse,
)
from openspot.rest_edge.site_settings.system import SystemSettings

CountryQuery = Annotated[str, Query(pattern="^[A-Z]{2}$", description="ISO 3166-1 alpha-2", examples=["CA"])]
EventPath = Annotated[NotificationEvent, Path()]

_READ = Policy(Access.USER, Scope.READ)
_CHANGE = Policy(Access.USER, audit=True)


def settings_routes(prefix: str, system: SystemSettings, notifications: NotificationService) -> Router:
    """The routes of `/settings`, below `prefix`."""
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

    @router.get(
        "/notifications", _READ, response=list[NotificationResponse], summary="Which messages you want, by event"
    )
    async def list_notification_settings(request: Request) -> Response:
        return json_response([body_of(row) for row in await notifications.settings_of(caller(request).user_id)])

    @router.put(
        "/notifications/{event}", _CHANGE, response=NotificationResponse,
        refusals={400: "the event or the body is not valid", 409: "security mail cannot be turned off"},
        summary="Set which messages you want of an event",
    )  # fmt: skip
    async def set_notification(request: Request, event: EventPath, body: NotificationBody) -> Response:
        return json_response(body_of(await notifications.change(caller(request).user_id, event, body)))

    @router.get("/sso", PUBLIC, response=SsoResponse, summary="Sign-in through other parties")
    async def get_sso_settings() -> Response:
        return json_response(body_of(SsoResponse(enabled=False, providers=[])))

    @router.get("/system", PUBLIC, response=SystemResponse, summary="The settings that clients meet")
    async def get_system_settings() -> Response:
        return json_response(body_of(system.current()))

    return router
