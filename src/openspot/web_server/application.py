"""Serves the pages over HTTP: the files of a build, and the deep links of its applications.

- `/config.json` tells a page where the edges are.
- Every folder with an index.html is an application. A path below it that is no file opens its page.
- Names in /assets carry a hash of their content and are cached for ever. `/favicon.ico` and the touch icons are cached
  for a day. Browsers ask for everything else again.
- An unknown address gets a page that says so. A missing file gets a line of text, because nobody reads it.
- A strict content security policy: scripts from here alone, connections to the configured edges alone.
- `/brand/coins/<name>` is the picture of a coin. What an operator drew runs nothing, also where it is opened by itself.
"""

from http import HTTPStatus
from pathlib import Path, PurePosixPath

from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from openspot.http.coin_pictures import PictureError
from openspot.web_server.branding import COINS, LOGO, branded
from openspot.web_server.files import PageFile, plain_file, read_files
from openspot.web_server.icons import PATHS, icons
from openspot.web_server.negotiation import choose, has_already
from openspot.web_server.page_config import PageConfig

FOREVER = "public, max-age=31536000, immutable"
ASK_AGAIN = "no-cache"
A_DAY = "public, max-age=86400"
PICTURE_POLICY = "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'; sandbox"
"""Of an operator's SVG: it has styles, and no script runs in it."""
NOT_BUILT = "The pages are not built. Run `python3 tools/web.py build`, which says what it lacks, and start again.\n"
_METHODS = ("GET", "HEAD")
_TEXT = "text/plain; charset=utf-8"
_HTML = "text/html; charset=utf-8"
_NOT_FOUND_PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="robots" content="noindex">
<title>Page not found - OpenSpot</title>
<style>
body { font-family: system-ui, sans-serif; line-height: 1.5; margin: 20vh auto; max-width: 30rem; padding: 0 1rem }
a { display: inline-block; padding: 0.75rem 0 }
</style>
</head>
<body>
<h1>Page not found</h1>
<p>There is no page at this address. It may be misspelt, or the page may have moved.</p>
<p><a href="/">Go to the start page</a></p>
</body>
</html>
"""


class WebPages:
    """An ASGI application for the files of one build."""

    def __init__(self, folder: Path, config: PageConfig) -> None:
        """Read the files. Raises ValueError for a configuration that holds no addresses, or a build with a bad icon."""
        self._files = branded(read_files(folder), config.brand)
        self._applications = sorted(
            str(PurePosixPath(name).parent)
            for name in self._files
            if PurePosixPath(name).name == "index.html" and len(PurePosixPath(name).parts) == 2
        )
        self._files |= icons(self._files)
        self._files["config.json"] = plain_file("application/json", config.to_json())
        self._pictures = config.coin_pictures
        self._headers = security_headers(config)

    @property
    def is_built(self) -> bool:
        """Whether there is an application to serve."""
        return bool(self._applications)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        request = Request(scope)
        response = self._respond(request)
        for name, value in self._headers.items():
            response.headers[name] = value
        if _is_drawn(request.scope["path"].removeprefix("/")):
            response.headers["Content-Security-Policy"] = PICTURE_POLICY
        if request.method == "HEAD":
            # The header keeps the length that a GET would send.
            response.body = b""
        await response(scope, receive, send)

    def _respond(self, request: Request) -> Response:
        if request.method not in _METHODS:
            headers = {"Allow": ", ".join(_METHODS)}
            return _text(HTTPStatus.METHOD_NOT_ALLOWED, "Only GET and HEAD are served here.\n", headers)
        path = request.scope["path"].removeprefix("/")
        file = self._picture(path) if path.startswith(COINS) else self._files.get(path)
        if file is None and path == "" and self._applications:
            # The last application in order: /trade if it is built, otherwise /console.
            return Response(None, HTTPStatus.TEMPORARY_REDIRECT, {"Location": f"/{self._applications[-1]}/"})
        if file is None:
            file = self._page_of(path)
        if file is not None:
            return _file(file, request, A_DAY if path in PATHS else ASK_AGAIN)
        if not self.is_built:
            return _text(HTTPStatus.SERVICE_UNAVAILABLE, NOT_BUILT)
        if "." in PurePosixPath(path).name or path.startswith(COINS):
            return _text(HTTPStatus.NOT_FOUND, "There is nothing at this address.\n")
        return _text(HTTPStatus.NOT_FOUND, _NOT_FOUND_PAGE, {"Content-Type": _HTML})

    def _picture(self, path: str) -> PageFile | None:
        try:
            return plain_file(*self._pictures.read(path.removeprefix(COINS)))
        except PictureError:
            return None

    def _page_of(self, path: str) -> PageFile | None:
        """The page that a deep link opens: the console's for /console/orders. A missing file is not a deep link."""
        application = path.partition("/")[0]
        if application not in self._applications or "." in PurePosixPath(path).name:
            return None
        return self._files[f"{application}/index.html"]


def _is_drawn(path: str) -> bool:
    """Whether an operator drew what is there."""
    return path == LOGO or path.startswith(COINS)


def security_headers(config: PageConfig) -> dict[str, str]:
    """The headers of every response. Raises ValueError for a configuration that holds no addresses."""
    policy = {
        "default-src": "'none'",
        "script-src": "'self'",
        # Components set styles of elements at run time. A style cannot run code.
        "style-src": "'self' 'unsafe-inline'",
        "img-src": "'self'",
        "font-src": "'self'",
        "manifest-src": "'self'",
        "worker-src": "'self'",
        "connect-src": " ".join(["'self'", *config.origins()]),
        "base-uri": "'none'",
        "form-action": "'none'",
        "frame-ancestors": "'none'",
    }
    return {
        "Content-Security-Policy": "; ".join(f"{name} {value}" for name, value in policy.items()),
        "X-Content-Type-Options": "nosniff",
        "Referrer-Policy": "no-referrer",
        "Cross-Origin-Opener-Policy": "same-origin",
        "Cross-Origin-Resource-Policy": "same-origin",
        "Permissions-Policy": "camera=(), geolocation=(), microphone=(), payment=(), usb=()",
    }


def _file(file: PageFile, request: Request, caching: str) -> Response:
    variant = choose(file.variants, request.headers.get("accept-encoding"))
    headers = {
        "Cache-Control": FOREVER if file.is_hashed else caching,
        "ETag": variant.etag,
        "Vary": "Accept-Encoding",
    }
    if has_already(request.headers.get("if-none-match"), variant.etag):
        return Response(None, HTTPStatus.NOT_MODIFIED, headers)
    if variant.encoding:
        headers["Content-Encoding"] = variant.encoding
    return Response(variant.body, HTTPStatus.OK, headers | {"Content-Type": file.content_type})


def _text(status: HTTPStatus, text: str, headers: dict[str, str] | None = None) -> Response:
    return Response(text, status, {"Cache-Control": ASK_AGAIN, "Content-Type": _TEXT} | (headers or {}))
