"""The services of the platform: their modules, their ports, and what must be ready before each."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module

from openspot.kit.service import ServiceMain
from openspot.kit.settings import Settings


@dataclass(frozen=True, slots=True)
class Service:
    """One process of the platform. `ports` are settings fields; the first one serves /ready."""

    name: str
    title: str
    module: str
    ports: tuple[str, ...]
    after: tuple[str, ...] = ()

    def main(self) -> ServiceMain:
        """The service's async function. Imported here, so that a process loads only its own service."""
        run: ServiceMain = import_module(self.module).run
        return run

    def ready_port(self, settings: Settings) -> int:
        """The port that answers /ready."""
        port: int = getattr(settings, self.ports[0])
        return port


SERVICES: dict[str, Service] = {
    service.name: service
    for service in (
        Service("engine", "Matching engine", "openspot.engine.service", ("engine_http_port", "engine_grpc_port")),
        Service("ledger", "Ledger", "openspot.ledger.service", ("ledger_port",)),
        Service("ledger-worker", "Ledger worker", "openspot.ledger.worker", ("ledger_worker_port",)),
        Service("router", "Order router", "openspot.router.service", ("router_port",), after=("engine",)),
        Service("rest-edge", "REST edge", "openspot.rest_edge.service", ("rest_port",)),
        Service("ws-edge", "WebSocket edge", "openspot.ws_edge.service", ("ws_port",)),
    )
}

AddressOf = Callable[[Settings], str]
_PASSWORD = re.compile(r"(?<=://)([^:@/?,]*):[^,]*@|(?<=[?&]password=)[^&,]*")
_TOKEN = re.compile(r"(?<=://)[^:@/?,]+@")
HIDDEN = "***"


def without_password(url: str) -> str:
    """A URL, or several with commas, as it may be shown: passwords are replaced."""
    return _PASSWORD.sub(lambda found: HIDDEN if found[1] is None else f"{found[1]}:{HIDDEN}@", url)


def _shown_nats_url(url: str) -> str:
    # A name without a password is a token, which is as secret.
    return _TOKEN.sub(f"{HIDDEN}@", without_password(url))


ADDRESSES: tuple[tuple[str, AddressOf], ...] = (
    ("REST edge", lambda settings: f"{settings.rest_url}/api/v1"),
    ("API documentation", lambda settings: f"{settings.rest_url}/docs"),
    ("WebSocket edge", lambda settings: settings.ws_url),
    ("Matching engine HTTP", lambda settings: settings.engine_url),
    ("Matching engine gRPC", lambda settings: settings.engine_grpc_address),
    ("Order router health", lambda settings: f"http://{settings.host}:{settings.router_port}/health"),
    ("Ledger health", lambda settings: f"http://{settings.host}:{settings.ledger_port}/health"),
    ("NATS", lambda settings: _shown_nats_url(settings.nats_url)),
    ("PostgreSQL", lambda settings: without_password(settings.database_url)),
)
"""What `openspot up` prints when all is ready."""
