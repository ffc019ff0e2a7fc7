"""The OpenAPI document at `/openapi.json` and the interactive page at `/docs`, both without any outside address.

The page is Swagger UI, whose files the wheel `fastapi-offline` ships, so that it works without the internet.
"""

from importlib.resources import files
from typing import Any

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

from openspot.rest_edge.answers import json_response
from openspot.rest_edge.authentication import is_public

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
<title>OpenSpot API</title>
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
# Swagger UI sets styles and draws icons from its own data addresses; everything else comes from here.
_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; "
    "connect-src 'self'; frame-ancestors 'none'; base-uri 'none'"
)

_DESCRIPTION = """The public interface of an OpenSpot exchange.

Decimals are texts in answers; in requests they may be texts or JSON numbers, and every digit counts. Times are
ISO 8601 in UTC, in market data milliseconds since 1970. Every refusal has the body `{"statusCode", "message",
"error", "code", "requestId", "details"?}`; `message` is a list where a request has several faults. Lists take
`limit` and `cursor`; the next cursor is in `X-Next-Cursor`. Over the limits of requests (10 a second, 50 in ten
seconds, 200 a minute) the answer is 429 with `Retry-After`.
"""


def add_documentation(app: FastAPI) -> None:
    """Serve the document and the page, and make the document say what needs a token."""

    def document() -> dict[str, Any]:
        if app.openapi_schema is None:
            app.openapi_schema = _document(app)
        return app.openapi_schema

    app.openapi = document  # type: ignore[method-assign]

    async def openapi(_: Request) -> Response:
        return json_response(document())

    async def page(_: Request) -> Response:
        return HTMLResponse(_PAGE, headers={"Content-Security-Policy": _POLICY})

    async def start(_: Request) -> Response:
        return Response(_START, media_type="text/javascript")

    app.add_route("/openapi.json", openapi, include_in_schema=False)
    app.add_route("/docs", page, include_in_schema=False)
    app.add_route("/docs/start.js", start, include_in_schema=False)
    for name, media_type in _ASSETS.items():
        app.add_route(f"/docs/{name}", _asset(name, media_type), include_in_schema=False)


def _asset(name: str, media_type: str) -> Any:
    content = files("fastapi_offline").joinpath("static", name).read_bytes()

    async def asset(_: Request) -> Response:
        return Response(content, media_type=media_type, headers={"Cache-Control": "public, max-age=86400"})

    return asset


def _document(app: FastAPI) -> dict[str, Any]:
    document = get_openapi(title=app.title, version=app.version, description=_DESCRIPTION, routes=app.routes)
    schemes = document.setdefault("components", {}).setdefault("securitySchemes", {})
    schemes["accessToken"] = {"type": "http", "scheme": "bearer", "bearerFormat": "JWT"}
    for path, operations in document["paths"].items():
        for method, operation in operations.items():
            operation["security"] = [] if is_public(method.upper(), path) else [{"accessToken": []}]
            # Validation is refused with 400 here, and needs a body of its own shape.
            operation["responses"].pop("422", None)
    for unused in ("HTTPValidationError", "ValidationError"):
        document["components"].get("schemas", {}).pop(unused, None)
    return document
