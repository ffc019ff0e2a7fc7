"""The HTTP application of custody: health, metrics, and the routes for operators."""

from collections.abc import Callable
from functools import partial
from typing import Any

from starlette.types import ASGIApp

from openspot.contracts.refusals import RefusalCode
from openspot.custody.operator_routes import operator_routes
from openspot.custody.withdrawals import WithdrawalError
from openspot.engine_client.operators import OperatorSessions
from openspot.http.app import make_http_app
from openspot.http.audit import AuditSink
from openspot.http.documentation import openapi_document
from openspot.http.errors import ErrorTranslation, HttpError
from openspot.http.idempotency import IdempotencyStore
from openspot.http.routing import Router
from openspot.kit.health import Health

TITLE = "OpenSpot custody simulator"
DESCRIPTION = """Decisions on withdrawals, for operators: users with roles, and administrators of the engine.

Users withdraw through the REST edge, which asks custody on the bus.
"""
REQUESTS_MAX = 64
BODY_BYTES_MAX = 4096


def _refusal(error: Exception) -> HttpError:
    code = error.refusal.code if isinstance(error, WithdrawalError) else RefusalCode.VALIDATION
    return HttpError(404 if code is RefusalCode.NOT_FOUND else 400, str(error), code.value)


TRANSLATIONS: dict[type[Exception], ErrorTranslation] = {WithdrawalError: _refusal}


def make_app(
    router: Router, health: Health, sessions: OperatorSessions, audit: AuditSink, idempotency: IdempotencyStore
) -> ASGIApp:
    """The application of the operators' routes."""
    return make_http_app(
        [router],
        title=TITLE,
        description=DESCRIPTION,
        health=health,
        authenticators=[sessions],
        audit=audit,
        idempotency=idempotency,
        translations=TRANSLATIONS,
        body_bytes_max=BODY_BYTES_MAX,
        requests_max=REQUESTS_MAX,
    )


def documented(stand_in: Any) -> tuple[list[Router], Callable[[], dict[str, Any]]]:
    """Routers and the function that makes the OpenAPI document; `stand_in` stands for what is behind the routes."""
    sessions = OperatorSessions(stand_in, stand_in, stand_in, stand_in)
    routers = [operator_routes(stand_in, stand_in, stand_in, b"", sessions)]
    return routers, partial(openapi_document, TITLE, DESCRIPTION, routers, [sessions], {}, idempotency=True)
