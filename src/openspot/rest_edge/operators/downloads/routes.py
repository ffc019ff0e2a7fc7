"""The routes of links to files: `/operator/downloads` makes one, `/downloads/{ticket}` is one."""

from typing import Annotated, Any
from urllib.parse import parse_qs, quote

from fastapi import Path
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Message, Receive, Scope, Send

from openspot.http.context import context_of
from openspot.http.pipeline import PIPELINE_KEY, REFUSED_FILE
from openspot.http.policy import Access, Permission, Policy
from openspot.http.responses import respond
from openspot.http.routing import Router
from openspot.kit.clock import iso_of
from openspot.rest_edge.operators.downloads.schemas import DownloadBody, DownloadResponse
from openspot.rest_edge.operators.downloads.service import Download, DownloadLinks, no_link
from openspot.rest_edge.operators.table_files import TABLE_FILE, FileFormat, require_writable

TicketPath = Annotated[str, Path(pattern="^[A-Za-z0-9_-]{43}$", description="What the link was made with")]

_MAKE = Policy(Access.OPERATOR, permission=Permission.CONSOLE_USE)
"""It changes nothing, and opens nothing that the caller could not read: the export itself checks and notes it."""
_SAVE = Policy(Access.PUBLIC, is_download=True)
_KEPT_OF_SCOPE = ("asgi", "http_version", "scheme", "server", "client")
_KEPT_OF_HEADERS = (b"content-type", b"content-length", b"retry-after")
_REFUSALS = {
    400: "a parameter of the export is not valid",
    401: "the session of whoever made the link has ended",
    403: "whoever made the link has not, or no longer, the permission",
    404: "the link is unknown, was used or has expired: DOWNLOAD_LINK_UNKNOWN",
}


def download_routes(prefix: str, links: DownloadLinks) -> Router:
    """The routes of links to files, below `prefix`."""
    router = Router(prefix, tag="operator")

    @router.post(
        "/operator/downloads", _MAKE, response=DownloadResponse, status=201,
        refusals={400: "the body is not valid, or the format cannot be written here"},
        summary="Make a link by which a browser saves an export to its disk: for one use, within a minute",
    )  # fmt: skip
    async def make_download_link(request: Request, body: DownloadBody) -> Response:
        if FileFormat.PARQUET.value in parse_qs(body.query).get("format", ()):
            require_writable(FileFormat.PARQUET)
        authorization = context_of(request).authorization
        assert authorization is not None, "operators have bearer tokens only"
        ticket, expires_at = await links.make(Download(body.path, body.query, authorization, body.name))
        return respond(DownloadResponse(path=f"/downloads/{ticket}", expires_at=iso_of(expires_at)), 201)

    @router.get(
        "/downloads/{ticket}", _SAVE, responses=TABLE_FILE, refusals=_REFUSALS,
        summary="The file that a link is for, once. It takes no header: the link is the credential",
    )  # fmt: skip
    async def download_by_link(request: Request, ticket: TicketPath) -> Response:
        context = context_of(request)
        if context.method != "GET":
            # A HEAD would use the link up, and give nothing.
            raise no_link()
        is_navigation = context.header(b"sec-fetch-mode") == "navigate"
        return _Forwarded(prefix, await links.take(ticket), is_navigation=is_navigation)

    return router


class _Forwarded(Response):
    """The response of an export, as the operator who made the link gets it, to be saved under the link's name.

    A browser that navigates shows a page of its own, in place of the one that it is at, for any status of a refusal.
    So it gets 200, and the refusal as a file.
    """

    def __init__(self, prefix: str, download: Download, *, is_navigation: bool) -> None:
        super().__init__()
        self._is_navigation = is_navigation
        self._path = f"{prefix}{download.path}"
        self._download = download

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        download = self._download
        inner: dict[str, Any] = {name: scope[name] for name in _KEPT_OF_SCOPE if name in scope} | {
            "type": "http",
            "method": "GET",
            "path": self._path,
            "raw_path": quote(self._path, safe="/:").encode(),
            "query_string": download.query.encode(),
            "headers": [(b"authorization", download.authorization)],
        }
        saved = (
            (b"content-disposition", f'attachment; filename="{download.name}"'.encode()),
            (b"referrer-policy", b"no-referrer"),
        )

        async def forward(message: Message) -> None:
            if message["type"] == "http.response.start":
                own = [header for header in message.get("headers", ()) if header[0].lower() in _KEPT_OF_HEADERS]
                is_refused = message["status"] >= 400
                status = 200 if is_refused and self._is_navigation else message["status"]
                added = REFUSED_FILE if is_refused else saved
                message = {**message, "status": status, "headers": [*own, *added]}
            await send(message)

        # The whole pipeline again: session, roles, address, permission, throttle, and the entry in the trail.
        await scope[PIPELINE_KEY](inner, receive, forward)
