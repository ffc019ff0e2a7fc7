"""The dashboards, as Grafana imports them."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from openspot.monitoring.objectives import OBJECTIVES, ratio_name

SCHEMA = 39
"""Grafana's version of the format; newer ones convert it."""
_COLUMNS = 3
_WIDTH, _HEIGHT = 24 // _COLUMNS, 8


class Panel(NamedTuple):
    """One picture. `queries` holds expressions by legend; `unit` is Grafana's name of it."""

    title: str
    unit: str
    queries: Mapping[str, str]
    kind: str = "timeseries"


class Dashboard(NamedTuple):
    """A page of pictures."""

    name: str
    title: str
    panels: Sequence[Panel]


def _rate(counter: str, by: str = "") -> str:
    clause = f" by ({by})" if by else ""
    return f"sum{clause} (rate({counter}[$__rate_interval]))"


def _quantile(histogram: str, share: float, selector: str = "") -> str:
    return f"histogram_quantile({share}, sum by (le) (rate({histogram}_bucket{selector}[$__rate_interval])))"


def _quantiles(histogram: str, selector: str = "") -> dict[str, str]:
    return {f"p{100 * share:g}": _quantile(histogram, share, selector) for share in (0.5, 0.99)}


_EDGE = '{service="rest-edge"}'
_BUDGETS = {
    objective.name: f'1 - {ratio_name("3d")}{{objective="{objective.name}"}} / {1 - objective.target:.6g}'
    for objective in OBJECTIVES
}

OVERVIEW = Dashboard(
    "openspot-overview", "OpenSpot: overview",
    (
        Panel("Services that answer", "short",
              {"up": 'sum(up{job="openspot"})', "of": 'count(up{job="openspot"})'}, "stat"),
        Panel("Error budget left at the rate of three days", "percentunit", _BUDGETS, "stat"),
        Panel("Alerts", "short", {"{{alertname}}": 'sum by (alertname) (ALERTS{alertstate="firing"})'}, "stat"),
        Panel("Orders a second, by outcome", "ops", {"{{outcome}}": _rate("openspot_router_orders_total", "outcome")}),
        Panel("Trades settled a second", "ops", {"{{outcome}}": _rate("openspot_ledger_trades_total", "outcome")}),
        Panel("Replies of the REST edge, by status", "reqps",
              {"{{status}}": _rate(f"openspot_http_responses_total{_EDGE}", "status")}),
        Panel("Time of a request to the REST edge", "s", _quantiles("openspot_http_seconds", _EDGE)),
        Panel("Time of a call to the engine", "s", _quantiles("openspot_router_engine_call_seconds")),
        Panel("Behind the engine", "short", {
            "events not translated": "sum(openspot_router_translator_lag_events)",
            "rows not written": "sum(openspot_router_row_queue_rows)",
            "trades not recorded": "sum(openspot_market_data_queue_trades)",
        }),
    ),
)  # fmt: skip
MONEY = Dashboard(
    "openspot-money", "OpenSpot: engine and money",
    (
        Panel("Commands a second, by result", "ops", {"{{code}}": _rate("openspot_engine_commands_total", "code")}),
        Panel("Time of a commit of the journal", "s", _quantiles("openspot_engine_commit_seconds")),
        Panel("Commands that wait", "short", {"waiting": "max(openspot_engine_queue_depth)"}),
        Panel("Refused before the journal", "ops", {"{{code}}": _rate("openspot_engine_refused_total", "code")}),
        Panel("Events between the newest trade and the newest settled one", "short",
              {"events": "max(openspot_router_trade_sequence) - max(openspot_ledger_settled_sequence)"}),
        Panel("Time of a settlement", "s", _quantiles("openspot_ledger_batch_seconds")),
        Panel("Transfers that wait or that the house owes", "short", {
            "{{__name__}}": 'sum by (__name__) ({__name__=~"openspot_(edge|subscription)_transfers_(pending|owed)"})'
        }),
        Panel("Differences of the last comparison", "short", {"differences": "openspot_reconcile_differences"}, "stat"),
        Panel("Since the last comparison and the last backup", "s", {
            "comparison": "time() - openspot_reconcile_time_seconds",
            "backup": "time() - openspot_backup_time_seconds",
        }, "stat"),
        Panel("Runs of the timetable in a day", "short", {
            "{{work}} {{outcome}}": "sum by (work, outcome) (increase(openspot_timetable_attempts_total[1d]))"
        }),
        Panel("Withdrawals that are not settled", "short", {"open": "sum(openspot_custody_open_withdrawals)"}),
        Panel("Steps of withdrawals a second", "ops",
              {"{{step}} {{outcome}}": _rate("openspot_custody_steps_total", "step, outcome")}),
        Panel("Logins to the administration a second", "ops",
              {"{{outcome}}": _rate("openspot_engine_logins_total", "outcome")}),
    ),
)  # fmt: skip
SERVICES = Dashboard(
    "openspot-services", "OpenSpot: services",
    (
        Panel("Processor time, of a core", "percentunit",
              {"{{service}}": _rate("process_cpu_seconds_total", "service")}),
        Panel("Memory", "bytes", {"{{service}}": "sum by (service) (process_resident_memory_bytes)"}),
        Panel("Starts in an hour", "short", {"{{service}}": "changes(process_start_time_seconds[1h])"}),
        Panel("Messages that durable consumers have not dealt with", "short",
              {"{{durable}}": "max by (durable) (openspot_bus_consumer_lag_messages)"}),
        Panel("Handlers that failed a second", "ops",
              {"{{subject}}": _rate("openspot_bus_handler_failures_total", "subject")}),
        Panel("Publishes that failed a second", "ops",
              {"{{subject}}": _rate("openspot_bus_publish_failures_total", "subject")}),
        Panel("Free on the disk of the data directory", "bytes", {"free": "min(openspot_disk_free_bytes)"}),
        Panel("Requests under way", "short", {"{{service}}": "sum by (service) (openspot_http_in_flight)"}),
        Panel("Requests throttled a second", "ops", {"throttled": _rate("openspot_http_throttled_total")}),
        Panel("WebSocket connections", "short", {"connections": "sum(openspot_ws_connections)"}),
        Panel("Messages pushed a second", "ops", {"{{channel}}": _rate("openspot_ws_pushes_total", "channel")}),
        Panel("Audit records that wait", "short", {"waiting": "sum(openspot_audit_waiting)"}),
    ),
)  # fmt: skip
MARKETS = Dashboard(
    "openspot-markets", "OpenSpot: market data and margin",
    (
        Panel("Market data published a second", "ops",
              {"{{kind}}": _rate("openspot_market_data_published_total", "kind")}),
        Panel("Events not applied yet", "short", {"events": "sum(openspot_market_data_lag_events)"}),
        Panel("Fair prices that are not good", "short", {
            "{{state}}": 'sum by (state) (openspot_market_data_fair_price_state{state!="good"})'
        }),
        Panel("Cost of moving a fair price by 10 %", "short",
              {"{{symbol}}": "min by (symbol) (openspot_market_data_fair_price_move_cost)"}),
        Panel("Mark prices told to the engine a second", "ops",
              {"{{outcome}}": _rate("openspot_market_data_mark_prices_total", "outcome")}),
        Panel("Volatility interruptions in an hour", "short", {
            "{{symbol}} {{cause}}":
                "sum by (symbol, cause) (increase(openspot_engine_volatility_interruptions_total[1h]))"
        }),
        Panel("Indebted margin accounts", "short", {
            "indebted": "max(openspot_margin_indebted_accounts)",
            "without a sure price": "max(openspot_margin_unpriced_accounts)",
            "held back": "max(openspot_margin_held_back_accounts)",
        }),
        Panel("Time of a scan", "s", _quantiles("openspot_margin_scan_seconds")),
        Panel("Liquidations a second", "ops", {"{{outcome}}": _rate("openspot_margin_liquidations_total", "outcome")}),
    ),
)  # fmt: skip
DASHBOARDS = (OVERVIEW, MONEY, SERVICES, MARKETS)


def grafana(dashboard: Dashboard) -> dict[str, Any]:
    """The dashboard in Grafana's format. It asks for the Prometheus to read from."""
    return {
        "uid": dashboard.name,
        "title": dashboard.title,
        "tags": ["openspot"],
        "schemaVersion": SCHEMA,
        "refresh": "15s",
        "time": {"from": "now-3h", "to": "now"},
        "templating": {
            "list": [{"name": "source", "label": "Prometheus", "type": "datasource", "query": "prometheus"}]
        },
        "panels": [_panel(number, panel) for number, panel in enumerate(dashboard.panels)],
    }


def _panel(number: int, panel: Panel) -> dict[str, Any]:
    source = {"type": "prometheus", "uid": "${source}"}
    row, column = divmod(number, _COLUMNS)
    return {
        "id": number + 1,
        "title": panel.title,
        "type": panel.kind,
        "datasource": source,
        "gridPos": {"x": column * _WIDTH, "y": row * _HEIGHT, "w": _WIDTH, "h": _HEIGHT},
        "fieldConfig": {"defaults": {"unit": panel.unit}, "overrides": []},
        "targets": [
            {"refId": f"Q{place}", "datasource": source, "expr": expression, "legendFormat": legend}
            for place, (legend, expression) in enumerate(panel.queries.items())
        ],
    }
