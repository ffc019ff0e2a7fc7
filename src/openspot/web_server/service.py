"""The composition root of the web server: the pages, with health and metrics beside them."""

import asyncio

import aiohttp
from starlette.types import ASGIApp, Receive, Scope, Send

from openspot.engine_client.administrators import EngineSessions
from openspot.http.api_keys.networks import AllowedNetworks
from openspot.http.app import make_http_app
from openspot.http.server import http_server
from openspot.kit.health import Health
from openspot.kit.log import get_logger
from openspot.kit.service_frame import ServiceFrame
from openspot.web_server.application import WebPages
from openspot.web_server.booking import Booking
from openspot.web_server.console_routes import console_routes
from openspot.web_server.custody_gateway import CustodyGateway
from openspot.web_server.health_report import HealthReporter
from openspot.web_server.operators import Operators, UserSessions
from openspot.web_server.outcomes import show_outcomes
from openspot.web_server.public_status import PublicStatus
from openspot.web_server.reconciliation import Reconciliation
from openspot.web_server.reserves import Proving
from openspot.web_server.run_notes import RunNotes
from openspot.web_server.settings import WebServerSettings
from openspot.web_server.simulated_deposits import SimulatedDeposits
from openspot.web_server.supervised import Supervised

log = get_logger("web")

SILENT_S_MAX = 10.0
"""A service counts as silent after this at the latest: the console's page waits for the report for twice as long."""
STATUS_REUSED_S = 5.0
"""What everybody may read asks the services this often at most."""
HEALTH_PATHS = frozenset({"/health", "/health/live", "/ready", "/metrics"})


async def run(settings: WebServerSettings, stop: asyncio.Event) -> None:
    """Serve until `stop` is set.

    Raises PortTakenError, or ValueError for a wrong address of an edge or of a watched service. The server also starts
    if the pages are not built: then the log and every page say so.
    """
    pages = WebPages(settings.pages_folder, settings.page_config)
    if not pages.is_built:
        log.warning("the pages are not built", folder=str(settings.pages_folder))
    async with ServiceFrame("web", settings, stop) as frame:
        client = await frame.enter(aiohttp.ClientSession())
        reconciliation = Reconciliation(settings.data_dir)
        show_outcomes(settings)
        frame.at_end(reconciliation.stop)
        proving = Proving(settings.data_dir)
        frame.at_end(proving.stop)
        booking = Booking(settings.data_dir)
        frame.at_end(booking.stop)
        # Longer than a service needs that asks another: it replies itself that it waited too long.
        wait_s = settings.request_timeout_s * 3
        reporter = HealthReporter(
            client,
            settings.watched,
            settings.data_dir,
            min(settings.readiness_timeout_s, SILENT_S_MAX),
            reconciliation,
            settings,
        )
        status = PublicStatus(lambda: reporter.services(STATUS_REUSED_S, with_lags=False))
        frame.start("watch the services", status.watch(), is_essential=False)
        console = console_routes(
            reporter,
            Operators(
                EngineSessions(client, settings.engine_url, settings.request_timeout_s),
                UserSessions(client, settings.rest_url, settings.request_timeout_s),
                AllowedNetworks(settings.operator_network_list),
            ),
            reconciliation,
            proving,
            booking,
            RunNotes(client, settings.rest_url, settings.request_timeout_s),
            CustodyGateway(client, settings.custody_url, wait_s),
            status,
            Supervised(settings.data_dir),
            otherwise=pages,
            deposits=SimulatedDeposits(client, settings.rest_url, settings.data_dir, wait_s)
            if settings.simulates_deposits
            else None,
        )
        application = by_path(console, frame.health)
        await frame.serve(http_server(application, settings, settings.web_port, settings.web_host))
        await frame.until_stopped()


def by_path(console: ASGIApp, checks: Health) -> ASGIApp:
    """`console`, with health and metrics at the paths that every service has."""
    health = make_http_app([], title="OpenSpot web server", health=checks)

    async def application(scope: Scope, receive: Receive, send: Send) -> None:
        await (health if scope.get("path") in HEALTH_PATHS else console)(scope, receive, send)

    return application
