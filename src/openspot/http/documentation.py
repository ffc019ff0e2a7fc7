"""OpenAPI, made from routes and their policies, and the interactive page at `/docs`.

The page is Swagger UI, whose files the wheel `fastapi-offline` ships, so that it works without the internet.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from html import escape
from importlib.resources import files
from typing import Any

from fastapi.openapi.utils import get_openapi
from starlette.responses import HTMLResponse, Response

from openspot import __version__
from openspot.http.authentication import Authenticator, may_fail, opens
from openspot.http.errors import ERROR_REFERENCE, ErrorBody
from openspot.http.idempotency import KEY_TEXT
from openspot.http.policy import UNTHROTTLED, Access, Policy, ThrottleClass
from openspot.http.record_schemas import schemas_of
from openspot.http.responses import json_response
from openspot.http.routing import BodyKind, Route, Router

_ASSETS = {
    "swagger-ui-bundle.js": "text/javascript",
    "swagger-ui.css": "text/css",
    "favicon.png": "image/png",
}
_START = """window.addEventListener("load", () => SwaggerUIBundle({
  url: "/openapi.json", dom_id: "#docs", deepLinking: true, persistAuthorization: true, displayRequestDuration: true,
}));
"""
_PAGE = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<link rel="stylesheet" href="/docs/swagger-ui.css">
<link rel="icon" href="/docs/favicon.png">
</head>
<body>
<div id="docs"></div>
<script src="/docs/swagger-ui-bundle.js"></script>
<script src="/docs/start.js"></script>
</body>
</html>
"""
# Swagger UI sets its own styles, and draws icons from `data:` addresses. Everything else comes from this server.
_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; "
    "connect-src 'self'; frame-ancestors 'none'; base-uri 'none'"
)
_ERROR_SCHEMA = {"$ref": ERROR_REFERENCE}
_LICENSE = {"name": "Apache License 2.0", "identifier": "Apache-2.0"}
_CONTACT = {"name": "The operator of this exchange"}
_SERVERS = [{"url": "/", "description": "The service that this document describes"}]
_CALLERS = {
    Access.USER: "a user",
    Access.ADMIN: "an administrator",
    Access.SERVICE: "another service",
    Access.OPERATOR: "an operator",
}
_PARTS_OF_SCHEMAS = ("items", "additionalProperties", "not")
_LISTS_OF_SCHEMAS = ("anyOf", "allOf", "oneOf", "prefixItems")
_IDEMPOTENCY_KEY = {
    "name": "Idempotency-Key",
    "in": "header",
    "required": False,
    "schema": {"type": "string", "pattern": f"^{KEY_TEXT.pattern}$"},
    "description": "A repeated request with the same key gets the first response again, for 24 hours",
}
_IDEMPOTENCY_HIT = {
    "description": "`true` if this is the response of an earlier request with the same Idempotency-Key",
    "schema": {"type": "string"},
}


def documentation_routes(title: str, make_document: Callable[[], dict[str, Any]]) -> Router:
    """`/openapi.json`, and the page that shows it. The first GET makes the document: that takes half a second."""
    router = Router(documented=False)
    page = _PAGE.format(title=escape(title))
    document = cache(make_document)

    @router.get("/openapi.json", UNTHROTTLED, summary="The OpenAPI document")
    async def get_document() -> Response:
        return json_response(document())

    @router.get("/docs", UNTHROTTLED, summary="The interactive page")
    async def get_page() -> Response:
        return HTMLResponse(page, headers={"Content-Security-Policy": _POLICY})

    @router.get("/docs/start.js", UNTHROTTLED, summary="The script of the page")
    async def get_script() -> Response:
        return Response(_START, media_type="text/javascript")

    for name, media_type in _ASSETS.items():
        router.get(f"/docs/{name}", UNTHROTTLED, summary=name)(_asset(name, media_type))
    return router


def _asset(name: str, media_type: str) -> Any:
    content = files("fastapi_offline").joinpath("static", name).read_bytes()

    async def get_asset() -> Response:
        return Response(content, media_type=media_type, headers={"Cache-Control": "public, max-age=86400"})

    return get_asset


def openapi_document(
    title: str,
    description: str,
    routers: Sequence[Router],
    authenticators: Sequence[Authenticator],
    throttles: Mapping[ThrottleClass, Any],
    idempotency: bool = False,
) -> dict[str, Any]:
    """The OpenAPI document of a service: its routes, who may call them, and every status that they can end with.

    Raises ValueError if two shapes have the same name.
    """
    routes = [route for router in routers for route in router.routes if route.documented is not None]
    document = get_openapi(
        title=title,
        version=__version__,
        description=description or None,
        routes=[route.documented for route in routes if route.documented is not None],
    )
    components = document.setdefault("components", {})
    schemas = components.setdefault("schemas", {})
    for unused in ("HTTPValidationError", "ValidationError"):
        schemas.pop(unused, None)
    schemas["ErrorBody"] = ErrorBody.model_json_schema(ref_template="#/components/schemas/{model}")
    _add_records(document, [route for route in routes if route.response is not None])
    if authenticators:
        components["securitySchemes"] = {kind.name: kind.scheme for kind in authenticators}
    for route in routes:
        operation = document["paths"].get(route.path, {}).get(route.method.lower())
        if operation is not None:
            _describe(operation, route, authenticators, throttles, idempotency)
    document["info"] |= {"license": _LICENSE, "contact": _CONTACT}
    document["servers"] = _SERVERS
    _name_only_the_components(document)
    return document


def _name_only_the_components(document: dict[str, Any]) -> None:
    """Leave a title to the components alone: pydantic gives one to every field, and hundreds of them are the same."""
    for schema in document["components"]["schemas"].values():
        name = schema.get("title")
        _remove_titles(schema)
        if name is not None:
            schema["title"] = name
    for item in document["paths"].values():
        for operation in item.values():
            holders = [*operation.get("parameters", ()), *operation.get("requestBody", {}).get("content", {}).values()]
            for response in operation["responses"].values():
                holders += [*response.get("content", {}).values(), *response.get("headers", {}).values()]
            for holder in holders:
                _remove_titles(holder.get("schema", {}))


def _remove_titles(schema: dict[str, Any]) -> None:
    schema.pop("title", None)
    parts = [*schema.get("properties", {}).values(), *(schema.get(name) for name in _PARTS_OF_SCHEMAS)]
    parts += [part for name in _LISTS_OF_SCHEMAS for part in schema.get(name, ())]
    for part in parts:
        if isinstance(part, dict):
            _remove_titles(part)


def _rules_of(policy: Policy, throttled: bool, idempotent: bool, takes_keys: bool) -> str:
    """What a caller has to know of a route's policy, as sentences."""
    if policy.is_open:
        sentences = ["Anybody may call it."]
    else:
        callers = " or ".join(text for access, text in _CALLERS.items() if access & policy.access)
        sentences = [f"Only {callers} may call it."]
        if policy.permission is not None:
            sentences = [f"Only an operator with the permission `{policy.permission.value}` may call it."]
        elif takes_keys and policy.scope is not None:
            sentences.append(f"An API key needs the scope `{policy.scope.value}`.")
        elif takes_keys:
            sentences.append("No API key opens it.")
    if throttled:
        sentences.append(f"The `{policy.throttle.value}` limits count the request.")
    if policy.audit:
        sentences.append("The request leaves an audit record.")
    if idempotent:
        sentences.append("It may be repeated under an `Idempotency-Key`.")
    return " ".join(sentences)


def _add_records(document: dict[str, Any], routes: Sequence[Route]) -> None:
    """Add the shapes of the routes whose responses are records."""
    schemas, components = schemas_of(route.response for route in routes)
    for route, schema in zip(routes, schemas, strict=True):
        assert route.documented is not None, "only documented routes declare a response"
        response = document["paths"][route.path][route.method.lower()]["responses"][str(route.documented.status_code)]
        response["content"] = {"application/json": {"schema": schema}}
    known = document["components"]["schemas"]
    twice = known.keys() & components.keys()
    if twice:
        raise ValueError(f"two shapes have the same name: {', '.join(sorted(twice))}")
    known.update(components)
    document["components"]["schemas"] = dict(sorted(known.items()))


def _describe(
    operation: dict[str, Any],
    route: Route,
    authenticators: Sequence[Authenticator],
    throttles: Mapping[ThrottleClass, Any],
    idempotency: bool,
) -> None:
    suitable = [kind for kind in authenticators if opens(kind, route.policy)]
    operation["security"] = [] if route.policy.is_open else [{kind.name: _scopes(kind, route)} for kind in suitable]
    if idempotency and route.policy.idempotency:
        operation.setdefault("parameters", []).append(_IDEMPOTENCY_KEY)
        for status, response in operation["responses"].items():
            if status.startswith("2"):
                response.setdefault("headers", {})["Idempotency-Hit"] = _IDEMPOTENCY_HIT
    rules = _rules_of(
        route.policy,
        route.policy.throttle in throttles,
        idempotency and route.policy.idempotency,
        any(kind.limited for kind in authenticators),
    )
    operation["description"] = "\n\n".join(text for text in (operation.get("description"), rules) if text)
    responses = operation["responses"]
    # FastAPI documents a failed validation as 422. Here it is 400.
    responses.pop("422", None)
    for status, reason in _refusals(operation, route, authenticators, throttles, idempotency):
        responses.setdefault(
            str(status), {"description": reason, "content": {"application/json": {"schema": _ERROR_SCHEMA}}}
        )
    operation["responses"] = dict(sorted(responses.items()))


def _scopes(kind: Authenticator, route: Route) -> list[str]:
    return [route.policy.scope.value] if kind.limited and route.policy.scope is not None else []


def _refusals(
    operation: Mapping[str, Any],
    route: Route,
    authenticators: Sequence[Authenticator],
    throttles: Mapping[ThrottleClass, Any],
    idempotency: bool,
) -> Iterator[tuple[int, str]]:
    """Each refusal of the pipeline on this route, as (status, reason)."""
    policy = route.policy
    if operation.get("parameters") or route.body is BodyKind.JSON or authenticators:
        yield 400, "a parameter, a property or a header is not valid"
    if not policy.is_open:
        yield 401, "no valid credential"
        if any(may_fail(kind, policy) for kind in authenticators):
            yield 403, "the credential does not open this route"
    if idempotency and policy.idempotency:
        yield 409, "the Idempotency-Key came with another request, or its first request still runs: Retry-After"
    if route.body is BodyKind.JSON:
        yield 408, "the body did not arrive in time"
        yield 413, "the body is too large"
        yield 415, "the body is not application/json"
    if policy.throttle in throttles:
        yield 429, "too many requests: Retry-After says when to come back"
    yield 503, "overloaded, or something that the service needs does not respond: nothing was done"
