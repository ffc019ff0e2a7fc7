"""Every HTTP route of every service, and the documents that are generated from them (tools/http_pages.py)."""

import json
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

from openspot.http.routing import Route, Router

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tools"))
from http_pages import FOLDER, services

_services = cache(services)


@cache
def documents() -> dict[str, dict[str, Any]]:
    """The committed OpenAPI document of each service: to make them takes seconds, and a check says if one is old."""
    return {name: json.loads((FOLDER / f"openapi/{name}.json").read_text("utf-8")) for name in _services()}


def routers() -> dict[str, list[Router]]:
    """The routers of each service, without the objects that handle their requests."""
    return {name: routers for name, (routers, _) in _services().items()}


def all_routes() -> Iterator[tuple[str, Route]]:
    """(service, route) of every route."""
    for service, found in routers().items():
        for router in found:
            for route in router.routes:
                yield service, route
