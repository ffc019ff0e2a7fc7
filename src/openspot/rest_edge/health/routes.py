"""Health, readiness and metrics. The checks are the real state of this moment (Document A 7, repaired)."""

from typing import Any

from fastapi import APIRouter
from pydantic import BaseModel
from starlette.responses import JSONResponse, Response

from openspot.kit.health import Health
from openspot.kit.metrics import exposition


class Outcome(BaseModel):
    """One check: `up`, or `down` and why."""

    status: str
    message: str | None = None


class HealthAnswer(BaseModel):
    """All checks, and those that passed and failed."""

    status: str
    info: dict[str, Outcome]
    error: dict[str, Outcome]
    details: dict[str, Outcome]


_ALIVE = {"status": "ok", "info": {}, "error": {}, "details": {}}


def health_routes(health: Health, *, below_prefix: bool) -> APIRouter:
    """The routes at the root of the port, or those below the prefix, which the API's document shows."""
    router = APIRouter(tags=["health"], include_in_schema=below_prefix)

    async def report(*, vital_only: bool) -> Response:
        status, body = await health.report(vital_only=vital_only)
        return JSONResponse(body, status)

    down: dict[int | str, dict[str, Any]] = {503: {"model": HealthAnswer, "description": "a check failed"}}

    @router.get("/health", response_model=HealthAnswer, responses=down, summary="Whether the edge is of use")
    async def get_health() -> Response:
        return await report(vital_only=True)

    @router.get("/health/live", response_model=HealthAnswer, summary="Whether the process runs")
    async def get_live() -> Response:
        return JSONResponse(_ALIVE)

    ready_path = "/health/ready" if below_prefix else "/ready"

    @router.get(ready_path, response_model=HealthAnswer, responses=down, summary="Whether all it needs is there")
    async def get_ready() -> Response:
        return await report(vital_only=False)

    @router.get(
        "/metrics", response_class=Response, responses={200: {"content": {"text/plain": {}}}},
        summary="Metrics in the Prometheus format",
    )  # fmt: skip
    async def get_metrics() -> Response:
        body, content_type = exposition()
        return Response(body, headers={"Content-Type": content_type})

    return router
