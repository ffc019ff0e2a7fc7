"""The routes of the devices that users are notified on."""

from typing import Annotated

from fastapi import Path
from starlette.requests import Request
from starlette.responses import Response

from openspot.http.context import caller
from openspot.http.policy import Access, Policy
from openspot.http.responses import json_response
from openspot.http.routing import Router
from openspot.rest_edge.push.schemas import (
    SUBSCRIPTION_ID_PATTERN,
    PushDone,
    PushKey,
    PushRenewalBody,
    PushSubscription,
    PushSubscriptionBody,
)
from openspot.rest_edge.push.service import DeviceService

SubscriptionPath = Annotated[
    str, Path(alias="subscriptionId", pattern=SUBSCRIPTION_ID_PATTERN, description="Id of the device's subscription")
]

_READ = Policy(Access.USER)
_CHANGE = Policy(Access.USER, audit=True)
"""There is no scope: a device belongs to a session, and an API key has none."""
_RENEW = Policy(Access.PUBLIC, audit=True)
"""A browser renews a subscription while no page is open. Its worker has no session, but the subscription's secret."""


def push_routes(prefix: str, devices: DeviceService) -> Router:
    """The routes of `/push-subscriptions`, below `prefix`."""
    router = Router(f"{prefix}/push-subscriptions", tag="users")

    @router.get("", _READ, response=list[PushSubscription], summary="The devices that you are notified on")
    async def list_push_subscriptions(request: Request) -> Response:
        return json_response(await devices.all_of(caller(request)))

    @router.get("/key", _READ, response=PushKey, summary="The key that a browser subscribes with")
    async def push_key() -> Response:
        return json_response(PushKey(devices.public_key))

    @router.post(
        "", _CHANGE, status=201, response=PushSubscription,
        refusals={
            400: "the body is not valid, or the endpoint is of no push service that this exchange sends to",
            409: "TOO_MANY_DEVICES, SESSION_OVER, or this exchange notifies no devices: PUSH_OFF",
        },
        summary="Be notified on this device until the session ends",
    )  # fmt: skip
    async def add_push_subscription(request: Request, body: PushSubscriptionBody) -> Response:
        return json_response(await devices.add(caller(request), body), 201)

    @router.post(
        "/renewal", _RENEW, response=PushDone,
        refusals={
            400: "the body is not valid, or the endpoint is of no push service that this exchange sends to",
            404: "nobody is notified by the old subscription, or its keys are others, or its session has ended",
            409: "this exchange notifies no devices: PUSH_OFF",
        },
        summary="Replace a subscription by the one that the browser has renewed it with",
    )  # fmt: skip
    async def renew_push_subscription(body: PushRenewalBody) -> Response:
        await devices.renew(body)
        return json_response(PushDone(True))

    @router.post(
        "/{subscriptionId}/test", _CHANGE, status=202, response=PushDone,
        refusals={404: "you have no such device", 409: "too many messages wait for it: PUSH_QUEUE_FULL"},
        summary="Send a test message to a device",
    )  # fmt: skip
    async def test_push_subscription(request: Request, subscription_id: SubscriptionPath) -> Response:
        await devices.test(caller(request).user_id, subscription_id)
        return json_response(PushDone(True), 202)

    @router.delete(
        "/{subscriptionId}", _CHANGE, response=PushDone, refusals={404: "you have no such device"},
        summary="Be notified on a device no more",
    )  # fmt: skip
    async def delete_push_subscription(request: Request, subscription_id: SubscriptionPath) -> Response:
        await devices.delete(caller(request).user_id, subscription_id)
        return json_response(PushDone(True))

    return router
