"""Every HTTP route of every service, from where the generated pages take them (tools/http_pages.py)."""

import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

from openspot.http.routing import Route, Router

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tools"))
from http_pages import services

_services = cache(services)
"""Made once: the documents of all services take a second."""


def documents() -> dict[str, dict[str, Any]]:
    """The OpenAPI document of each service."""
    return {name: document for name, (_, document) in _services().items()}


def routers() -> dict[str, list[Router]]:
    """The routers of each service, without the objects that handle their requests."""
    return {name: routers for name, (routers, _) in _services().items()}


def all_routes() -> Iterator[tuple[str, Route]]:
    """(service, route) of every route."""
    for service, found in routers().items():
        for router in found:
            for route in router.routes:
                yield service, route
