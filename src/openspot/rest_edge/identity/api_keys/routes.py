"""The routes of the API keys (facts B4.1-80 to B4.1-83)."""

from typing import Annotated

from fastapi import Path
from starlette.requests import Request
from starlette.responses import Response

from openspot.http.context import caller, context_of
from openspot.http.policy import Access, Policy, Scope
from openspot.http.responses import json_response
from openspot.http.routing import Router
from openspot.rest_edge.identity.activity.log import origin_of
from openspot.rest_edge.identity.api_keys.schemas import (
    KEY_ID_PATTERN,
    ApiKeyResponse,
    ApiKeySecretResponse,
    CreateApiKeyBody,
    RevokedApiKeyResponse,
    RotateApiKeyBody,
)
from openspot.rest_edge.identity.api_keys.service import ApiKeyService

KeyIdPath = Annotated[str, Path(alias="id", pattern=KEY_ID_PATTERN, description="Id of the API key")]

_READ = Policy(Access.USER, Scope.READ)
_CHANGE = Policy(Access.USER, audit=True)
"""There is no scope: keys are changed with a user's token, never with a key."""
_NO_SUCH_KEY = {404: "you have no such key"}


def api_key_routes(prefix: str, keys: ApiKeyService) -> Router:
    """The routes of `/api-keys`, below `prefix`."""
    router = Router(f"{prefix}/api-keys", tag="api-keys")

    @router.post(
        "", _CHANGE, status=201, response=ApiKeySecretResponse,
        refusals={
            400: "the body is not valid", 404: "the user of the token does not exist any more",
            409: "you have as many keys as a user may have",
        },
        summary="Create an API key; its secret is shown this once",
    )  # fmt: skip
    async def create_api_key(request: Request, body: CreateApiKeyBody) -> Response:
        asking = caller(request)
        created = await keys.create(asking.user_id, body, origin_of(context_of(request)), asking.session_id)
        return json_response(created.model_dump(mode="json", by_alias=True), 201)

    @router.get("", _READ, response=list[ApiKeyResponse], summary="Your API keys, newest first, without secrets")
    async def list_api_keys(request: Request) -> Response:
        listed = await keys.list_of(caller(request).user_id)
        return json_response([key.model_dump(mode="json", by_alias=True) for key in listed])

    @router.delete(
        "/{id}", _CHANGE, response=RevokedApiKeyResponse,
        refusals=_NO_SUCH_KEY | {503: "not every process could be told: send it again"},
        summary="Revoke an API key: no process takes it any more",
    )  # fmt: skip
    async def revoke_api_key(request: Request, key_id: KeyIdPath) -> Response:
        revoked = await keys.revoke(caller(request).user_id, key_id, origin_of(context_of(request)))
        return json_response(revoked.model_dump(mode="json", by_alias=True))

    @router.post(
        "/{id}/rotate", _CHANGE, response=ApiKeySecretResponse,
        refusals=_NO_SUCH_KEY | {400: "the body is not valid", 503: "not every process could be told: send it again"},
        summary="Give an API key a new secret; the old one stops at once",
    )  # fmt: skip
    async def rotate_api_key(request: Request, key_id: KeyIdPath, body: RotateApiKeyBody) -> Response:
        rotated = await keys.rotate(caller(request).user_id, key_id, body, origin_of(context_of(request)))
        return json_response(rotated.model_dump(mode="json", by_alias=True))

    return router
