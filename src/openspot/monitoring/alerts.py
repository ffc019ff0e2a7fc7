"""The alerts about single parts of the platform.

A counter with labels does not exist before its first event, so a first event shows no increase. A counter also begins
anew with its process, maybe at the very value that its predecessor had. Rules about events that must never happen
therefore ask for an increase, for a counter that was not there an hour ago, and for one that was made within the hour.
"""

from openspot.monitoring.rules import Alert, Severity

PAGE, TICKET = Severity.PAGE, Severity.TICKET


def _happened(counter: str, by: str) -> str:
    """Whether a counter that must stay as it is has grown in the last hour, also from nothing or in a new process."""
    made = counter.replace("_total", "_created")
    found = (
        f"increase({counter}[1h])",
        f"{counter} unless {counter} offset 1h",
        f"{counter} and {made} > time() - 3600",
    )
    return " or ".join(f"sum by ({by}) ({each}) > 0" for each in found)


PLATFORM = (
    Alert(
        "OpenSpotServiceDown",
        'up{job="openspot"} == 0',
        "1m",
        PAGE,
        "{{ $labels.service }} does not answer",
        "`openspot status` says what runs; the log of the service says why it does not. Its supervisor starts it again "
        "after a crash.",
    ),
    Alert(
        "OpenSpotServiceRestarts",
        'changes(process_start_time_seconds{job="openspot"}[30m]) > 2',
        "0m",
        TICKET,
        "{{ $labels.service }} has started more than twice in half an hour",
        "The end of each process is in the log with its cause. Memory that ran out is in the log of the system.",
    ),
    Alert(
        "OpenSpotDiskReadOnly",
        "min(openspot_disk_writable) == 0",
        "0m",
        PAGE,
        "The platform has stopped writing, because the disk is nearly full",
        "Free space on the disk of the data directory. New orders are taken again by themselves.",
    ),
    Alert(
        "OpenSpotDiskFills",
        "openspot_disk_free_bytes < 5e9"
        " or (predict_linear(openspot_disk_free_bytes[6h], 86400) < 0 and openspot_disk_free_bytes offset 6h)",
        "10m",
        TICKET,
        "The disk of the data directory is full within a day, or has less than 5 GB left",
        "Add space, or let `openspot archive` move old rows away.",
    ),
    Alert(
        "OpenSpotAuditRefused",
        "increase(openspot_audit_refused_total[10m]) > 0",
        "0m",
        PAGE,
        "{{ $labels.service }} refuses requests, because their audit records cannot be written",
        "Look at PostgreSQL: the queue of audit records is full.",
    ),
    Alert(
        "OpenSpotMailsGivenUp",
        "increase(openspot_mails_given_up_total[1h]) > 0",
        "0m",
        TICKET,
        "Mails could not be delivered and were given up",
        "The log of the REST edge names the answer of the mail server.",
    ),
)
"""Processes, disk, audit and mail."""

EVENTS = (
    Alert(
        "OpenSpotNobodyTranslates",
        "sum(openspot_router_translator_leads) < 1",
        "1m",
        PAGE,
        "No router translates the engine's events: rows, fills and settlement wait",
        "Look at the routers' readiness; the lease of the last one ends by itself.",
    ),
    Alert(
        "OpenSpotTranslationLags",
        "sum(openspot_router_translator_lag_events) > 10000",
        "5m",
        TICKET,
        "Ten thousand events of the engine wait for their translation",
        "Look at the processor time of the router and at NATS. More partitions: docs/operations/several-routers.md.",
    ),
    Alert(
        "OpenSpotEventsHeld",
        "sum(openspot_router_held_events) > 0",
        "2m",
        PAGE,
        "The bus does not take events of the engine",
        "Look at NATS: disk, limits of the streams, connection. Nothing is lost; the events go on in order.",
    ),
    Alert(
        "OpenSpotEventContradicts",
        _happened("openspot_router_translator_faults_total", "kind"),
        "0m",
        PAGE,
        "An event of the engine contradicts earlier ones ({{ $labels.kind }})",
        "Run `openspot reconcile`. Keep the log of the router and the journal.",
    ),
    Alert(
        "OpenSpotRowsDropped",
        _happened("openspot_router_rows_dropped_total", "table"),
        "0m",
        PAGE,
        "The database refuses rows of {{ $labels.table }} for good",
        "The log of the router has the rows and the reason. `openspot reconcile rebuild` writes what is missing.",
    ),
    Alert(
        "OpenSpotConsumerStuck",
        "max by (durable) (openspot_bus_consumer_stuck) == 1",
        "2m",
        PAGE,
        "{{ $labels.durable }} does not deal with its messages",
        "The service's readiness says for how long and why. docs/operations/health.md#durable-consumers",
    ),
    Alert(
        "OpenSpotConsumerReset",
        _happened("openspot_bus_consumer_resets_total", "durable"),
        "0m",
        PAGE,
        "The bus lost the consumer {{ $labels.durable }}: what it had not taken may be missing",
        "docs/operations/faults.md says how to find out, then restart the service.",
    ),
    Alert(
        "OpenSpotBreakerOpen",
        "sum by (subject) (rate(openspot_bus_breaker_open_total[5m])) > 0",
        "2m",
        TICKET,
        "Publishes to {{ $labels.subject }} are refused by an open circuit breaker",
        "The bus does not confirm in time. Look at NATS: disk, followers, connection.",
    ),
)
"""The way of an event from the engine to rows and messages."""

MONEY = (
    Alert(
        "OpenSpotSettlementStopped",
        "max(openspot_router_trade_sequence) > max(openspot_ledger_settled_sequence)"
        " and max(openspot_ledger_settled_sequence) == max(openspot_ledger_settled_sequence offset 3m)",
        "2m",
        PAGE,
        "Trades are not settled in the ledger",
        "Look at the readiness of the ledger worker and at PostgreSQL. Nothing is lost: the stream keeps the trades.",
    ),
    Alert(
        "OpenSpotTradesRejected",
        _happened('openspot_ledger_trades_total{outcome="rejected"}', "outcome"),
        "0m",
        PAGE,
        "The ledger rejected trades",
        "They are in `ledger_rejected_trades` with the reason. `openspot reconcile` shows what differs.",
    ),
    Alert(
        "OpenSpotNegativeBalance",
        "increase(openspot_ledger_negative_balances_total[1h]) > 0",
        "0m",
        PAGE,
        "A posting left an account of the ledger below zero",
        "Run `openspot reconcile`; its differences name the account.",
    ),
    Alert(
        "OpenSpotCustodyPostingFailed",
        _happened("openspot_router_ledger_failures_total", "kind"),
        "0m",
        PAGE,
        "A deposit or withdrawal was not posted in the ledger ({{ $labels.kind }})",
        "The log of the router names it. It is tried again; `openspot reconcile` shows whether it is still missing.",
    ),
    Alert(
        "OpenSpotTransfersWait",
        'sum by (__name__) ({__name__=~"openspot_(edge|subscription)_transfers_pending"}) > 0',
        "15m",
        TICKET,
        "Transfers have waited for their outcome for a quarter of an hour",
        "The engine does not answer, or refuses what the platform owes. The log of the service names the transfers.",
    ),
    Alert(
        "OpenSpotHouseOwes",
        'sum by (__name__) ({__name__=~"openspot_(edge|subscription)_transfers_owed"}) > 0',
        "5m",
        PAGE,
        "The house cannot pay what it owes: a house account lacks funds",
        "The log of the service names account and asset. Fund it; the transfers are tried again.",
    ),
    Alert(
        "OpenSpotBooksDiffer",
        "openspot_reconcile_differences > 0",
        "0m",
        PAGE,
        "The last comparison of engine, ledger and rows found {{ $value }} differences",
        "The health page of the console and `openspot reconcile` name them. docs/guides/reconcile.md",
    ),
    Alert(
        "OpenSpotComparisonFails",
        "max(openspot_reconcile_failing) == 1",
        "15m",
        TICKET,
        "Engine, ledger and rows could not be compared",
        "The health page of the console and `openspot reconcile` say why. It is tried again; docs/guides/reconcile.md",
    ),
    Alert(
        "OpenSpotComparisonLate",
        "max(openspot_reconcile_late) == 1",
        "0m",
        TICKET,
        "No comparison of engine, ledger and rows has succeeded for OPENSPOT_ALERT_RECONCILE_INTERVALS",
        "Look at the readiness and the log of the timetable, or run `openspot reconcile`. docs/guides/reconcile.md",
    ),
    Alert(
        "OpenSpotBackupFails",
        "max(openspot_backup_failing) == 1",
        "15m",
        TICKET,
        "The newest backup was not made",
        "`openspot status` and the health page say why. It is tried again; docs/operations/backup.md",
    ),
    Alert(
        "OpenSpotBackupLate",
        "max(openspot_backup_late) == 1",
        "0m",
        TICKET,
        "No backup of the timetable has succeeded for OPENSPOT_ALERT_BACKUP_INTERVALS",
        "Look at the readiness and the log of the timetable. docs/operations/backup.md",
    ),
    Alert(
        "OpenSpotBackupOld",
        "time() - openspot_backup_time_seconds > 2 * 86400"
        ' unless on () max(openspot_timetable_interval_seconds{work="backup"}) > 0',
        "10m",
        TICKET,
        "Nobody's timetable makes backups, and the newest is older than two days",
        "Run `openspot backup` and read what it says. docs/operations/backup.md",
    ),
)
"""Ledger, custody, transfers, comparison and backup."""

ENGINE = (
    Alert(
        "OpenSpotCommitsSlow",
        "histogram_quantile(0.99, sum by (le) (rate(openspot_engine_commit_seconds_bucket[5m]))) > 0.05",
        "10m",
        TICKET,
        "One of a hundred commits of the journal takes more than 50 ms",
        "The disk of the journal is slow, or others use it.",
    ),
    Alert(
        "OpenSpotEngineQueue",
        "max(openspot_engine_queue_depth) > 1000",
        "1m",
        PAGE,
        "More than a thousand commands have waited for the engine for a minute",
        "Look at the commits' time and at the processor time of the engine.",
    ),
    Alert(
        "OpenSpotStreamReadersCut",
        "increase(openspot_engine_stream_consumers_cut_total[10m]) > 2",
        "0m",
        TICKET,
        "Readers of the engine's stream are cut for being slow, again and again",
        "Router or market data does not keep up: look at their processor time.",
    ),
    Alert(
        "OpenSpotLoginsFail",
        'sum(increase(openspot_engine_logins_total{outcome="failed"}[10m])) > 20',
        "0m",
        PAGE,
        "More than twenty logins to the engine's administration failed in ten minutes",
        "Somebody guesses. The engine's log names the addresses; docs/operations/security.md",
    ),
)
"""The engine and its administration."""

MARKETS = (
    Alert(
        "OpenSpotNoMarketData",
        "sum(openspot_market_data_leads) < 1",
        "1m",
        PAGE,
        "Nobody publishes market data",
        "Look at the readiness of market data; the lease of the last process ends by itself.",
    ),
    Alert(
        "OpenSpotPriceDisputed",
        'openspot_market_data_fair_price_state{state="disputed"} == 1',
        "5m",
        PAGE,
        "The sources of the fair price of {{ $labels.symbol }} contradict each other",
        "Stops and liquidations of the market wait. docs/protocol/fair-price.md; `openspot price` sets one by hand.",
    ),
    Alert(
        "OpenSpotMarketInterrupted",
        _happened('openspot_engine_volatility_interruptions_total{cause="volatility"}', "symbol"),
        "0m",
        TICKET,
        "The fair price of {{ $labels.symbol }} moved so fast that an auction interrupted its market",
        "Compare the fair price with other venues. `openspot market phase` ends the auction or halts the market: "
        "docs/guides/order-rules.md",
    ),
    Alert(
        "OpenSpotInterruptionExtended",
        _happened('openspot_engine_volatility_interruptions_total{cause="volatility-extension"}', "symbol"),
        "0m",
        PAGE,
        "The auction of {{ $labels.symbol }} would have ended far from its fair price, and went on once",
        "At its end the market opens where the orders meet. Decide before that whether `openspot market phase` shall "
        "halt it: docs/guides/order-rules.md",
    ),
    Alert(
        "OpenSpotMarginUnpriced",
        "max(openspot_margin_unpriced_accounts) > 0",
        "15m",
        TICKET,
        "Indebted margin accounts hold an asset without a sure price",
        "Look at the fair prices. Until there is one, these accounts are not liquidated.",
    ),
    Alert(
        "OpenSpotMarginHeldBack",
        "max(openspot_margin_held_back_accounts) > 0",
        "5m",
        PAGE,
        "Liquidations are held back, because only a price far from its day's median would cause them",
        "docs/guides/margin.md says how to decide.",
    ),
    Alert(
        "OpenSpotMarginStopped",
        "sum(openspot_margin_leads) < 1",
        "1m",
        PAGE,
        "Nobody scans the margin accounts",
        "Look at the readiness of the margin risk service.",
    ),
)
"""Market data, prices and margin."""

GROUPS = {"platform": PLATFORM, "events": EVENTS, "money": MONEY, "engine": ENGINE, "markets": MARKETS}
