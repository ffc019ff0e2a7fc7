"""The composition root of operators' alerts.

It uses neither bus nor database: it must speak while they are away.
"""

import asyncio
import time

import aiohttp

from openspot.http.edge_settings import ALERTS_KEY
from openspot.http.server import http_server
from openspot.kit.disk import MEBIBYTE
from openspot.kit.log import get_logger
from openspot.kit.mail.transports import make_transport
from openspot.kit.secrets_file import with_secrets
from openspot.kit.service_frame import ServiceFrame
from openspot.operator_alerts.alerting import Alerting
from openspot.operator_alerts.app import make_app
from openspot.operator_alerts.descriptor import TITLE
from openspot.operator_alerts.destinations import Destination, MailDestination, WebhookDestination
from openspot.operator_alerts.keeper import Keeper
from openspot.operator_alerts.observer import Observer
from openspot.operator_alerts.rules import Rules, Thresholds
from openspot.operator_alerts.settings import OperatorAlertSettings
from openspot.operator_alerts.webhook import Webhook

log = get_logger("alerts")


async def run(settings: OperatorAlertSettings, stop: asyncio.Event) -> None:
    """Watch and tell until `stop` is set. Raises PortTakenError, or ValueError for a wrong setting."""
    settings = with_secrets(settings)
    async with ServiceFrame("operator-alerts", settings, stop) as frame:
        # Connections are not kept: a look comes seldom, and a call must find a receiver that has moved.
        client = await frame.enter(aiohttp.ClientSession(connector=aiohttp.TCPConnector(force_close=True)))
        destinations = destinations_of(settings, client)
        alerting = Alerting(
            Observer(
                client,
                {title: url for title, url in settings.watched.items() if title != TITLE},
                settings.rest_url,
                settings.data_dir,
                settings.disk_reserve_mib,
                settings.readiness_timeout_s,
            ),
            Rules(
                Thresholds(
                    settings.alert_disk_free_mib * MEBIBYTE,
                    settings.alert_consumer_lag,
                    settings.alert_failed_logins,
                    settings.reconcile_plan,
                    settings.backup_plan,
                ),
                time.time(),
            ),
            Keeper(settings.data_dir),
            destinations,
            check_s=settings.alert_check_s,
            repeat_s=settings.alert_repeat_s,
            per_hour=settings.alert_messages_per_hour,
        )
        frame.health.add("destinations", alerting.check)
        application = make_app(alerting, frame.health, ALERTS_KEY, settings.alerts_secret)
        await frame.serve(http_server(application, settings, settings.alerts_port, settings.alerts_host))
        log.info("listening", port=settings.alerts_port, destinations=len(destinations))
        frame.start("watch", alerting.watch(stop))
        for destination in destinations:
            frame.start(f"send to {destination.name}", alerting.send(destination, stop))
        await frame.until_stopped()


def destinations_of(settings: OperatorAlertSettings, client: aiohttp.ClientSession) -> list[Destination]:
    """Everybody who is told."""
    transport, name = make_transport(settings), settings.brand.name
    found: list[Destination] = [
        MailDestination(address, transport, settings.mail_from, name) for address in settings.alert_addresses
    ]
    if settings.alert_webhook_url:
        webhook = Webhook(client, settings.alert_webhook_url, settings.alert_webhook_secret)
        found.append(WebhookDestination(webhook, settings.alert_webhook_url))
    return found
