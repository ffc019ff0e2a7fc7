"""For each alert a flow of samples at which it must fire, in the notation of promtool, and one at which it must not.

A step is a minute, or COARSE minutes. `x+yxn` are n steps of y from x on, `xxn` is x for n steps more.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

COARSE = 10
"""Minutes of a step where days are simulated."""
Series = Mapping[str, str]


class Case(NamedTuple):
    """Both flows, and the step at which the alert is looked for. `labels` are those that the alert carries.

    `also_wrong` and `also_right` are further flows of either kind.
    """

    wrong: Series
    right: Series
    at_step: int
    labels: Mapping[str, str] = {}
    is_coarse: bool = False
    also_wrong: Sequence[Series] = ()
    also_right: Sequence[Series] = ()


_STOPPED, _GOES_ON = "50x20", "50+1x20"


def _over_zero(metric: str) -> Case:
    return Case({metric: "0x5 3x30"}, {metric: "0x40"}, 30)


def _too_few(metric: str) -> Case:
    return Case({f'{metric}{{service="a"}}': "0x20", f'{metric}{{service="b"}}': "0x20"},
                {f'{metric}{{service="a"}}': "0x20", f'{metric}{{service="b"}}': "1x20"}, 10)  # fmt: skip


def _first_event(metric: str, label: str, value: str) -> Case:
    """A counter that appears with its first event, and one whose events are an old story."""
    series = f'{metric}{{{label}="{value}"}}'
    return _counted(series, Case({series: "_x40 1x60"}, {series: "4x100"}, 80, {label: value}))


def _counted(series: str, case: Case) -> Case:
    """Besides, the first event of a process that was started anew, with fewer or as many as its predecessor had."""
    made = series.replace("_total", "_created")
    fewer, as_many = {series: "3x40 _ 1x60"}, {series: "1x40 _ 1x60", made: "0x40 _ 2520x60"}
    long_ago = {series: "3x10 _ 1x90", made: "0x10 _ 720x90"}
    return case._replace(also_wrong=[fewer, as_many], also_right=[long_ago])


def _interruption(cause: str) -> Case:
    """A market's first interruption of this cause beside many of the other, and one that is an old story."""
    series = 'openspot_engine_volatility_interruptions_total{{symbol="BTC-USD",cause="{}"}}'
    other = next(each for each in ("volatility", "volatility-extension") if each != cause)
    case = Case({series.format(cause): "0x40 1x60"}, {series.format(cause): "1x100", series.format(other): "0+1x100"},
                80, {"symbol": "BTC-USD"})  # fmt: skip
    return _counted(series.format(cause), case)


_ANSWERED = 'openspot_http_seconds_count{service="rest-edge",outcome="answered"}'
_FAULTS = 'openspot_http_seconds_count{service="rest-edge",outcome="fault"}'
_QUICK = 'openspot_http_seconds_bucket{service="rest-edge",outcome="answered",le="0.5"}'
_COMMITS = 'openspot_engine_commit_seconds_bucket{{le="{}"}}'
_INTERVAL = 'openspot_timetable_interval_seconds{{work="{}"}}'
_PLACED = 'openspot_router_orders_total{outcome="placed"}'
_NOT_SENT = 'openspot_router_orders_total{outcome="not_sent"}'


def _burning(steps: int, bad_share: float) -> dict[str, Series]:
    """By objective, a flow of a thousand events a minute of which a share is bad."""
    bad = round(1000 * bad_share)
    return {
        "Requests": {_ANSWERED: f"0+{1000 - bad}x{steps}", _FAULTS: f"0+{bad}x{steps}"},
        "Orders": {_PLACED: f"0+{1000 - bad}x{steps}", _NOT_SENT: f"0+{bad}x{steps}"},
        "Speed": {_ANSWERED: f"0+1000x{steps}", _QUICK: f"0+{1000 - bad}x{steps}"},
    }


def _budgets() -> dict[str, Case]:
    shares = {"1H": (0.0150, 0.0140), "6H": (0.0070, 0.0050), "3D": (0.0020, 0.0001)}
    steps = {"1H": 70, "6H": 400, "3D": 440}
    found = {}
    for objective, factor in (("Requests", 1), ("Orders", 1), ("Speed", 10)):
        for window, (bad, good) in shares.items():
            wrong, right = (_burning(steps[window], factor * share)[objective] for share in (bad, good))
            labels = {"objective": objective.lower()}
            found[f"OpenSpotBudget{objective}{window}"] = Case(wrong, right, steps[window], labels, window == "3D")
    return found


CASES: dict[str, Case] = _budgets() | {
    "OpenSpotServiceDown": Case({'up{job="openspot",service="ledger"}': "1x5 0x10"},
                                {'up{job="openspot",service="ledger"}': "1x15", 'up{job="other"}': "0x15"}, 10,
                                {"job": "openspot", "service": "ledger"}),
    "OpenSpotServiceRestarts": Case({'process_start_time_seconds{job="openspot",service="ledger"}': "1x5 2x5 3x5 4x15"},
                                    {'process_start_time_seconds{job="openspot",service="ledger"}': "1x5 2x25"}, 25,
                                    {"job": "openspot", "service": "ledger"}),
    "OpenSpotDiskReadOnly": Case({'openspot_disk_writable{service="a"}': "1x5 0x10",
                                  'openspot_disk_writable{service="b"}': "1x15"},
                                 {'openspot_disk_writable{service="a"}': "1x15"}, 10),
    "OpenSpotDiskFills": Case({"openspot_disk_free_bytes": "90000000000-100000000x400"},
                              {"openspot_disk_free_bytes": "_x350 90000000000-100000000x50"}, 400),
    "OpenSpotAuditRefused": Case({'openspot_audit_refused_total{service="rest-edge"}': "0x5 2x10"},
                                 {'openspot_audit_refused_total{service="rest-edge"}': "2x15"}, 10,
                                 {"service": "rest-edge"}),
    "OpenSpotMailsGivenUp": Case({"openspot_mails_given_up_total": "0x5 1x10"},
                                 {"openspot_mails_given_up_total": "7x15"}, 10),
    "OpenSpotNobodyTranslates": _too_few("openspot_router_translator_leads"),
    "OpenSpotTranslationLags": Case({"openspot_router_translator_lag_events": "20000x20"},
                                    {"openspot_router_translator_lag_events": "900x20"}, 15),
    "OpenSpotEventsHeld": _over_zero("openspot_router_held_events"),
    "OpenSpotEventContradicts": _first_event("openspot_router_translator_faults_total", "kind", "unknown_order"),
    "OpenSpotRowsDropped": _first_event("openspot_router_rows_dropped_total", "table", "orders"),
    "OpenSpotConsumerStuck": Case({'openspot_bus_consumer_stuck{durable="ledger-settlement"}': "0x5 1x10"},
                                  {'openspot_bus_consumer_stuck{durable="ledger-settlement"}': "0x15"}, 12,
                                  {"durable": "ledger-settlement"}),
    "OpenSpotConsumerReset": _first_event("openspot_bus_consumer_resets_total", "durable", "ledger-settlement"),
    "OpenSpotBreakerOpen": Case({'openspot_bus_breaker_open_total{subject="orders"}': "0+5x20"},
                                {'openspot_bus_breaker_open_total{subject="orders"}': "5x20"}, 15,
                                {"subject": "orders"}),
    "OpenSpotSettlementStopped": Case(
        {"openspot_router_trade_sequence": _GOES_ON, "openspot_ledger_settled_sequence": _STOPPED},
        {"openspot_router_trade_sequence": _GOES_ON, "openspot_ledger_settled_sequence": "49+1x20"}, 15),
    "OpenSpotTradesRejected": _first_event("openspot_ledger_trades_total", "outcome", "rejected"),
    "OpenSpotNegativeBalance": Case({"openspot_ledger_negative_balances_total": "0x5 1x10"},
                                    {"openspot_ledger_negative_balances_total": "3x15"}, 10),
    "OpenSpotCustodyPostingFailed": _first_event("openspot_router_ledger_failures_total", "kind", "deposit"),
    "OpenSpotTransfersWait": _over_zero("openspot_edge_transfers_pending"),
    "OpenSpotHouseOwes": _over_zero("openspot_subscription_transfers_owed"),
    "OpenSpotBooksDiffer": Case({"openspot_reconcile_differences": "0x5 2x10"},
                                {"openspot_reconcile_differences": "0x15"}, 10),
    "OpenSpotComparisonFails": Case({"openspot_reconcile_failing": "0x5 1x30"},
                                    {"openspot_reconcile_failing": "0x5 1x12 0x30"}, 30),
    "OpenSpotComparisonLate": Case({"openspot_reconcile_late": "0x5 1x10"}, {"openspot_reconcile_late": "0x15"}, 10),
    "OpenSpotBackupFails": Case({"openspot_backup_failing": "0x5 1x30"}, {"openspot_backup_failing": "0x40"}, 30),
    "OpenSpotBackupLate": Case({"openspot_backup_late": "0x5 1x10"}, {"openspot_backup_late": "0x15"}, 10),
    "OpenSpotBackupOld": Case(
        {"openspot_backup_time_seconds": "0x300"}, {"openspot_backup_time_seconds": "60000x300"}, 290, is_coarse=True,
        also_wrong=[{"openspot_backup_time_seconds": "0x300", _INTERVAL.format("comparison"): "86400x300"}],
        also_right=[{"openspot_backup_time_seconds": "0x300", _INTERVAL.format("backup"): "604800x300"}],
    ),
    "OpenSpotCommitsSlow": Case({_COMMITS.format("0.025"): "0+10x30", _COMMITS.format("0.1"): "0+50x30",
                                 _COMMITS.format("+Inf"): "0+50x30"},
                                {_COMMITS.format("0.025"): "0+50x30", _COMMITS.format("0.1"): "0+50x30",
                                 _COMMITS.format("+Inf"): "0+50x30"}, 20),
    "OpenSpotEngineQueue": Case({"openspot_engine_queue_depth": "5000x10"},
                                {"openspot_engine_queue_depth": "500x10"}, 5),
    "OpenSpotStreamReadersCut": Case({"openspot_engine_stream_consumers_cut_total": "0+1x15"},
                                     {"openspot_engine_stream_consumers_cut_total": "0x5 1x10"}, 12),
    "OpenSpotLoginsFail": Case({'openspot_engine_logins_total{outcome="failed"}': "0+4x15"},
                               {'openspot_engine_logins_total{outcome="failed"}': "0+1x15",
                                'openspot_engine_logins_total{outcome="succeeded"}': "0+50x15"}, 12),
    "OpenSpotNoMarketData": _too_few("openspot_market_data_leads"),
    "OpenSpotPriceDisputed": Case({'openspot_market_data_fair_price_state{symbol="BTC-USD",state="disputed"}': "1x15"},
                                  {'openspot_market_data_fair_price_state{symbol="BTC-USD",state="disputed"}': "0x15",
                                   'openspot_market_data_fair_price_state{symbol="BTC-USD",state="good"}': "1x15"}, 10,
                                  {"symbol": "BTC-USD", "state": "disputed"}),
    "OpenSpotMarketInterrupted": _interruption("volatility"),
    "OpenSpotInterruptionExtended": _interruption("volatility-extension"),
    "OpenSpotMarginUnpriced": _over_zero("openspot_margin_unpriced_accounts"),
    "OpenSpotMarginHeldBack": _over_zero("openspot_margin_held_back_accounts"),
    "OpenSpotMarginStopped": _too_few("openspot_margin_leads"),
}  # fmt: skip
