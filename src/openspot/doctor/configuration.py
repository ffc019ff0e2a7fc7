"""Settings that contradict each other, or are dangerous once money is real. Pure."""

from collections.abc import Iterator
from typing import Any
from urllib.parse import urlsplit

from openspot.doctor.findings import Finding, or_fine, problem, warning
from openspot.kit.settings import DEVELOPMENT_PRICES, generated_secrets, variable
from openspot.up.exposure import dangers, is_loopback
from openspot.up.services import enabled


def is_public(settings: Any) -> bool:
    """Whether a process of the platform listens on an address that others reach."""
    return any(not is_loopback(process.listening_host(settings)) for process in enabled(settings).values())


def setting_findings(settings: Any) -> Iterator[Finding]:
    """What is wrong with settings that are valid each by itself."""
    yield from or_fine("exposure", "nothing is open to strangers that should not be", _exposure(settings))
    yield from or_fine("settings", "no settings contradict each other", _contradictions(settings))
    yield from or_fine("secret-lengths", "the secrets are long enough", _short_secrets(settings))
    yield from or_fine("mail", "mails are sent", _mail(settings))
    yield from _development(settings)


def _exposure(settings: Any) -> Iterator[Finding]:
    for danger in dict.fromkeys(dangers(settings, enabled(settings))):
        yield problem("exposure", danger.rstrip("."), "`openspot up` refuses to start like this")
    if not is_public(settings):
        return
    if not settings.trusted_proxies:
        yield warning("exposure", "the platform listens for strangers without a proxy, so passwords and tokens cross "
                      "the network unencrypted", "put a proxy with TLS before it, and name it in "
                      "OPENSPOT_TRUSTED_PROXIES")  # fmt: skip
    if not settings.throttle_enabled:
        yield problem("exposure", "strangers may send as many requests as they like (OPENSPOT_THROTTLE_ENABLED=false)",
                      "set it to true")  # fmt: skip
    if settings.trusted_network:
        yield warning("exposure", "OPENSPOT_TRUSTED_NETWORK=true lets engine credentials cross the network",
                      "make sure that a firewall keeps strangers away")  # fmt: skip


def _contradictions(settings: Any) -> Iterator[Finding]:
    if settings.volatility_move_bps and not settings.has_complete_rules:
        yield warning("settings", "OPENSPOT_VOLATILITY_MOVE_BPS has no effect under the rules of the specification",
                      "set OPENSPOT_RULES=complete, or leave it away")  # fmt: skip
    if not settings.embedded_postgres_synced and not settings.database_url:
        yield problem("settings", "OPENSPOT_EMBEDDED_POSTGRES_SYNCED=false: a power cut may damage the database",
                      "set it to true; false is for tests")  # fmt: skip
    if settings.nats_url and not settings.nats_synced:
        yield warning("settings", "the bus of NATS_URL may acknowledge what a power cut loses", "give it "
                      "`jetstream { sync_interval: always }` and set OPENSPOT_NATS_SYNCED=true")  # fmt: skip
    if settings.bus_replicas > 1 and not settings.nats_url:
        yield problem("settings", f"OPENSPOT_BUS_REPLICAS={settings.bus_replicas}, and the embedded bus is one server",
                      "set NATS_URL to a cluster, or leave it away")  # fmt: skip
    host = urlsplit(settings.database_url).hostname
    if host and not is_loopback(host) and "sslmode=" not in settings.database_url:
        yield warning("settings", "DATABASE_URL names another machine without `sslmode=`, so the connection may be "
                      "unencrypted", "add `?sslmode=verify-full`")  # fmt: skip
    if not settings.throttle_enabled and not is_public(settings):
        yield warning("settings", "OPENSPOT_THROTTLE_ENABLED=false: a client may send as many requests as it likes",
                      "set it to true, unless this is a measurement")  # fmt: skip


def _short_secrets(settings: Any) -> Iterator[Finding]:
    kind = type(settings)
    for name, mark in generated_secrets(kind).items():
        value = getattr(settings, name)
        if value and (len(value.encode()) < mark.length_min or len(set(value)) <= 4):
            least = max(mark.length_min, 16)
            yield problem("secret-lengths", f"{variable(name, kind)} can be guessed", f"set one with {least} random "
                          "characters, or none to have one generated")  # fmt: skip


def _mail(settings: Any) -> Iterator[Finding]:
    if not settings.smtp_host:
        yield warning("mail", "mails go to a file: nobody can confirm an address or reset a password", "set "
                      "OPENSPOT_SMTP_HOST")  # fmt: skip
        return
    if settings.smtp_security == "none" and not is_loopback(settings.smtp_host):
        yield problem("mail", "mails with tokens and the password of the mail server cross the network unencrypted",
                      "set OPENSPOT_SMTP_SECURITY to starttls or tls")  # fmt: skip
    if settings.mail_from.rstrip(">").endswith(".invalid"):
        yield warning("mail", f"mails come from {settings.mail_from}, which no server takes", "set OPENSPOT_MAIL_FROM")


def _development(settings: Any) -> Iterator[Finding]:
    if not is_public(settings):
        return
    if settings.demo:
        yield warning("demo", "the demo market runs on an address that others reach: its prices are invented", "start "
                      "without OPENSPOT_DEMO before money is real")  # fmt: skip
    if settings.custody_reference_prices == DEVELOPMENT_PRICES:
        yield warning("reference-prices", "the reference prices are those for development, and limits of withdrawals "
                      "follow from them", "set OPENSPOT_CUSTODY_REFERENCE_PRICES")  # fmt: skip
