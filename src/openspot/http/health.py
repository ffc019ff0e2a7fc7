"""Health, readiness and metrics over HTTP: the same routes on every service (facts A1.1-24 to A1.1-28).

`/health` and `/ready` return `{"status", "info", "error", "details"}`: 503 if a check is down, else 200. A degraded
check is in `details` with its reason, and does not change the status code.
"""

from typing import Any

from pydantic import BaseModel
from starlette.responses import JSONResponse, Response

from openspot.http.policy import UNTHROTTLED
from openspot.http.routing import Router
from openspot.kit.health import Health
from openspot.kit.metrics import exposition


class CheckResult(BaseModel):
    """The result of a check: `up`, or `down` or `degraded` with the reason. Some checks add the `name` of what runs."""

    status: str
    message: str | None = None
    name: str | None = None


class HealthResponse(BaseModel):
    """The results of all checks, and of those that failed."""

    status: str
    info: dict[str, CheckResult]
    error: dict[str, CheckResult]
    details: dict[str, CheckResult]


_ALIVE = {"status": "ok", "info": {}, "error": {}, "details": {}}
_DOWN: dict[int | str, dict[str, Any]] = {503: {"model": HealthResponse, "description": "a check failed"}}
_METRICS: dict[int | str, dict[str, Any]] = {200: {"content": {"text/plain": {}}}}


def health_routes(
    health: Health,
    prefix: str = "",
    *,
    ready_path: str = "/ready",
    documented: bool = False,
    aliases: tuple[str, ...] = (),
) -> Router:
    """`/health`, its `aliases`, `/health/live`, the readiness at `ready_path`, and `/metrics`, all below `prefix`."""
    router = Router(prefix, tag="health", documented=documented)

    async def get_health() -> Response:
        status, body = await health.report(vital_only=True)
        return JSONResponse(body, status)

    for path in ("/health", *aliases):
        router.get(
            path, UNTHROTTLED, response=HealthResponse, responses=_DOWN, summary="Whether the service is of use"
        )(get_health)

    @router.get("/health/live", UNTHROTTLED, response=HealthResponse, summary="Whether the process runs")
    async def get_live() -> Response:
        return JSONResponse(_ALIVE)

    @router.get(
        ready_path, UNTHROTTLED, response=HealthResponse, responses=_DOWN, summary="Whether all it needs is there"
    )
    async def get_ready() -> Response:
        status, body = await health.report(vital_only=False)
        return JSONResponse(body, status)

    @router.get("/metrics", UNTHROTTLED, responses=_METRICS, summary="Metrics in the Prometheus format")
    async def get_metrics() -> Response:
        body, content_type = exposition(health.shows)
        return Response(body, headers={"Content-Type": content_type})

    return router
