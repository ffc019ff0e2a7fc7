"""The alerts: what each means, how urgent it is, how long it must last, and what to do first. Pure."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

from openspot.http.operator_alerts import AlertKind, Severity


class About(NamedTuple):
    """What an alert means. It is raised once its condition has lasted `lasts_s` seconds."""

    title: str
    severity: Severity
    lasts_s: float
    condition: str
    action: str


PAGE, TICKET = Severity.PAGE, Severity.TICKET
_ABOUT = {
    AlertKind.DISK_LOW: About(
        "The disk is nearly full", PAGE, 0,
        "less is free on the disk of the data directory than OPENSPOT_ALERT_DISK_FREE_MIB",
        "Add space, or let `openspot archive` move old rows away. Below OPENSPOT_DISK_RESERVE_MIB no orders are taken.",
    ),
    AlertKind.SERVICE_DOWN: About(
        "A service is down", PAGE, 60,
        "a service does not answer, or says that it is not ready, for a minute",
        "`openspot status` says what runs; the log of the service says why it does not.",
    ),
    AlertKind.SERVICE_RESTARTED: About(
        "A service ended and was started again", TICKET, 0,
        "a process ended by itself within the last half hour",
        "The log has the end of the process with its cause. Memory that ran out is in the log of the system.",
    ),
    AlertKind.CONSUMER_LAGS: About(
        "A consumer lags", PAGE, 60,
        "a durable consumer is stuck, or has OPENSPOT_ALERT_CONSUMER_LAG messages before it, for a minute",
        "The readiness of the service says for how long and why. docs/operations/health.md#durable-consumers",
    ),
    AlertKind.BREAKER_OPEN: About(
        "A circuit breaker is open", TICKET, 0,
        "publishes to a subject were refused by an open breaker within two minutes",
        "The bus does not confirm in time. Look at NATS: disk, followers, connection.",
    ),
    AlertKind.BOOKS_DIFFER: About(
        "The books differ", PAGE, 0,
        "the newest comparison of engine, ledger and rows found differences",
        "The health page of the console and `openspot reconcile` name them. docs/guides/reconcile.md",
    ),
    AlertKind.COMPARISON_FAILS: About(
        "The books could not be compared", TICKET, 900,
        "engine, ledger and rows could not be compared since the newest comparison, for a quarter of an hour",
        "The health page of the console and `openspot reconcile` say why. It is tried again; docs/guides/reconcile.md",
    ),
    AlertKind.COMPARISON_LATE: About(
        "The books have not been compared for long", TICKET, 0,
        "no comparison has succeeded for OPENSPOT_ALERT_RECONCILE_INTERVALS times OPENSPOT_RECONCILE_EVERY_S",
        "Look at the readiness and the log of the timetable, or run `openspot reconcile`. docs/guides/reconcile.md",
    ),
    AlertKind.BACKUP_FAILS: About(
        "A backup failed", TICKET, 900,
        "the newest attempt to make a backup failed, for a quarter of an hour",
        "`openspot status` and the health page say why. It is tried again; docs/operations/backup.md",
    ),
    AlertKind.BACKUP_LATE: About(
        "No backup was made for long", TICKET, 0,
        "no backup has succeeded for OPENSPOT_ALERT_BACKUP_INTERVALS times OPENSPOT_BACKUP_EVERY_S",
        "Look at the readiness and the log of the timetable, or run `openspot backup`. docs/operations/backup.md",
    ),
    AlertKind.HOUSE_ACCOUNT_LOW: About(
        "An account of the house is below its level", PAGE, 0,
        "an account of the house has less of an asset than the level that operators have set",
        "Fund it on the treasury page of the console, or by a deposit. What is owed from it waits until then.",
    ),
    AlertKind.PRICE_DISPUTED: About(
        "The sources of a price contradict each other", PAGE, 300,
        "the fair price of a market is disputed for five minutes",
        "Stops and liquidations of the market wait. docs/protocol/fair-price.md; `openspot price` sets one by hand.",
    ),
    AlertKind.PRICE_STALE: About(
        "A market has no present fair price", TICKET, 900,
        "the fair price of a market is stale for a quarter of an hour",
        "Nobody trades or quotes there, or the venue adapter is silent. docs/protocol/fair-price.md",
    ),
    AlertKind.LOGINS_FAIL: About(
        "Many logins fail", PAGE, 0,
        "OPENSPOT_ALERT_FAILED_LOGINS logins failed within ten minutes, of users or at the engine",
        "Somebody guesses. The edge slows them down by itself; docs/operations/security.md",
    ),
    AlertKind.LARGE_WITHDRAWAL: About(
        "A large withdrawal was asked for", TICKET, 0,
        "a withdrawal worth OPENSPOT_ALERT_WITHDRAWAL_USD or more was asked for within a day",
        "Look at it among all withdrawals of the console, before it is approved.",
    ),
    AlertKind.DOCUMENTS_FILL: About(
        "The place for documents fills", TICKET, 0,
        "documents of verifications take four fifths of OPENSPOT_KYC_DOCUMENTS_BYTES_MAX or more",
        "Decide what waits, or raise the setting where the disk has room. When it is full, uploads are refused.",
    ),
    AlertKind.MARKET_INTERRUPTED: About(
        "A market is interrupted", TICKET, 0,
        "the exchange itself has let a market enter an auction, because its price moved too far",
        "Nothing has to be done: the auction ends by itself. See that the price is that of the world.",
    ),
}  # fmt: skip
ABOUT: Mapping[AlertKind, About] = MappingProxyType(_ABOUT)
"""What each alert means."""
