"""exchange.v1.AdminService over Connect JSON and gRPC-Web: `POST /exchange.v1.AdminService/<Method>`."""

from collections.abc import Awaitable, Callable
from http import HTTPStatus
from types import SimpleNamespace
from typing import Any, cast

from connectrpc.code import Code
from connectrpc.compat import google_protobuf_binary_codec
from connectrpc.errors import ConnectError
from connectrpc.request import RequestContext
from google.protobuf.message import Message
from starlette.datastructures import Headers
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from openspot.contracts.gen.exchange.v1.admin_connect import AdminService, AdminServiceASGIApplication
from openspot.engine.admin.dispatch import METHODS, SERVICE, Dispatch, snake_case
from openspot.engine.admin.errors import AdminError
from openspot.engine.admin.json_codec import AdminJsonCodec
from openspot.engine_client.operator_headers import REASON_HEADER

PATH = f"/{SERVICE.full_name}"
REQUEST_BYTES_MAX = 65_536
CONTENT_TYPES = (
    "application/json",
    "application/proto",
    "application/grpc-web",
    "application/grpc-web+proto",
    "application/grpc-web+json",
)


def admin_application(dispatch: Dispatch) -> ASGIApp:
    """The ASGI application for requests below PATH."""
    service = SimpleNamespace(**{snake_case(name): _method(dispatch, name) for name in METHODS})
    application = AdminServiceASGIApplication(
        cast(AdminService, service),
        read_max_bytes=REQUEST_BYTES_MAX,
        codecs=[google_protobuf_binary_codec(), AdminJsonCodec()],
    )
    return _OnlyKnownContent(cast(ASGIApp, application))


def _method(dispatch: Dispatch, name: str) -> Callable[[Message, RequestContext[Any, Any]], Awaitable[Message]]:
    async def method(request: Message, context: RequestContext[Any, Any]) -> Message:
        address = (context.client_address or "").rpartition(":")[0]
        try:
            headers = context.request_headers
            reason = headers.get(REASON_HEADER.lower(), "")
            return await dispatch.call(name, request, headers.get("authorization", ""), address, reason)
        except AdminError as error:
            raise ConnectError(Code[error.status.name], str(error)) from error

    return method


class _OnlyKnownContent:
    """Refuses requests whose content is neither Connect nor gRPC-Web (415) or whose headers are not UTF-8 (400)."""

    def __init__(self, application: ASGIApp) -> None:
        self._application = application

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        fault = _fault(scope)
        if fault is None:
            await self._application(scope, receive, send)
            return
        status, code, message = fault
        headers = {"Accept-Post": ", ".join(CONTENT_TYPES)} if status == HTTPStatus.UNSUPPORTED_MEDIA_TYPE else {}
        await JSONResponse({"code": code, "message": message}, status, headers)(scope, receive, send)


def _fault(scope: Scope) -> tuple[int, str, str] | None:
    """Return (HTTP status, Connect code, reason) if the request must be refused, otherwise None."""
    try:
        for name, value in scope["headers"]:
            (name + value).decode("utf-8")
    except UnicodeDecodeError:
        return HTTPStatus.BAD_REQUEST, Code.INVALID_ARGUMENT.value, "a header is not UTF-8"
    content_type = Headers(scope=scope).get("content-type", "").partition(";")[0].strip().lower()
    if content_type in CONTENT_TYPES:
        return None
    reason = f"Content-Type must be one of {', '.join(CONTENT_TYPES)}"
    return HTTPStatus.UNSUPPORTED_MEDIA_TYPE, Code.UNKNOWN.value, reason
