"""Metrics of the margin risk service."""

from prometheus_client import Counter, Gauge, Histogram

LEADS = Gauge("openspot_margin_leads", "1 while this process scans the margin accounts")
INDEBTED = Gauge("openspot_margin_indebted_accounts", "Margin accounts with debt, as the scanning process knows them")
UNPRICED = Gauge(
    "openspot_margin_unpriced_accounts", "Indebted margin accounts that have an asset without a sure price"
)
HELD_BACK = Gauge(
    "openspot_margin_held_back_accounts",
    "Indebted margin accounts that only a price without an outside source, far from its day's median, would liquidate",
)
SCANS = Histogram("openspot_margin_scan_seconds", "Time that one scan takes")
WARNINGS = Counter("openspot_margin_warnings_total", "Published warnings of margin accounts")
LIQUIDATIONS = Counter("openspot_margin_liquidations_total", "Liquidations", ["outcome"])
TRANSFERS = Counter("openspot_margin_transfers_total", "Transfers of margin accounts", ["purpose", "outcome"])
WORK_FAILURES = Counter("openspot_margin_work_failures_total", "Accounts whose pending work failed and is tried again")
