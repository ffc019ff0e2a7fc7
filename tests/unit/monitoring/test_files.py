"""The files for Prometheus and Grafana say what they should, of metrics that there are."""

import itertools
import re
from collections import Counter
from pathlib import Path

import pytest

from openspot.monitoring import alerts, objectives
from openspot.monitoring.dashboards import DASHBOARDS, Dashboard, grafana
from openspot.monitoring.files import rules, scrape_configuration
from openspot.monitoring.rules import Alert

ROOT = Path(__file__).resolve().parents[3]
PAGE = ROOT / "docs/operations/monitoring.md"
OF_LIBRARIES = {"process_cpu_seconds_total", "process_resident_memory_bytes", "process_start_time_seconds"}
ALERTS = [*objectives.alerts(), *itertools.chain(*alerts.GROUPS.values())]
_NAME = re.compile(r"\b(?:openspot|process)_[a-z0-9_]+")
_PATTERN = re.compile(r'__name__=~"openspot_\(edge\|subscription\)_transfers_\(?([a-z|]+)\)?"')


def declared() -> set[str]:
    """The names that the sources give to metrics, with the endings that samples have."""
    texts = [
        path.read_text("utf-8") for path in (ROOT / "src/openspot").rglob("*.py") if "monitoring" not in path.parts
    ]
    names = {name for text in texts for name in re.findall(r'"(openspot_[a-z0-9_]+)"', text)}
    names |= {f"{name}_{end}" for name in names for end in ("bucket", "count", "sum")}
    names |= {f"{name.removesuffix('_total')}_created" for name in names if name.endswith("_total")}
    return names | {
        f"openspot_{owner}_transfers_{kind}" for owner in ("edge", "subscription") for kind in ("pending", "owed")
    }


def used(expression: str) -> set[str]:
    """The metrics that an expression names."""
    found = {f"openspot_edge_transfers_{kind}" for kinds in _PATTERN.findall(expression) for kind in kinds.split("|")}
    return found | set(_NAME.findall(_PATTERN.sub("", expression)))


EXPRESSIONS = [
    *(record.expression for record in objectives.records()),
    *(alert.expression for alert in ALERTS),
    *(query for board in DASHBOARDS for panel in board.panels for query in panel.queries.values()),
]


@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_an_expression_names_metrics_that_a_service_has(expression: str) -> None:
    recorded = {record.name for record in objectives.records()}
    plain = expression
    for name in recorded:
        plain = plain.replace(name, "")
    names = used(plain)
    assert names <= declared() | OF_LIBRARIES, names - declared()
    assert names or plain != expression or 'job="openspot"' in expression or "ALERTS" in expression


def test_a_metric_that_does_not_exist_is_noticed() -> None:
    assert not used("sum(openspot_engine_queue_deep)") <= declared()


def test_no_two_alerts_have_one_name() -> None:
    assert [name for name, count in Counter(alert.name for alert in ALERTS).items() if count > 1] == []


@pytest.mark.parametrize("alert", ALERTS, ids=lambda alert: alert.name)
def test_an_alert_stands_in_the_document_with_its_severity(alert: Alert) -> None:
    assert re.search(rf"^\| `{alert.name}` \| {alert.severity.value} \|", PAGE.read_text("utf-8"), re.MULTILINE)


def test_the_document_names_no_other_alert() -> None:
    listed = re.findall(r"^\| `(OpenSpot\w+)` \|", PAGE.read_text("utf-8"), re.MULTILINE)
    assert sorted(listed) == sorted(alert.name for alert in ALERTS)


@pytest.mark.parametrize("alert", ALERTS, ids=lambda alert: alert.name)
def test_the_pages_that_an_alert_leads_to_exist(alert: Alert) -> None:
    for path in re.findall(r"docs/[\w/.-]+\.md", alert.action):
        assert (ROOT / path).is_file(), path


@pytest.mark.parametrize("board", DASHBOARDS, ids=lambda board: board.name)
def test_the_panels_of_a_dashboard_do_not_overlap(board: Dashboard) -> None:
    places = [panel["gridPos"] for panel in grafana(board)["panels"]]
    for one, other in itertools.combinations(places, 2):
        beside = one["x"] + one["w"] <= other["x"] or other["x"] + other["w"] <= one["x"]
        assert beside or one["y"] + one["h"] <= other["y"] or other["y"] + other["h"] <= one["y"]
    assert all(place["x"] + place["w"] <= 24 for place in places)


def test_a_dashboard_asks_for_its_source_and_keeps_its_address() -> None:
    content = grafana(DASHBOARDS[0])
    assert content["uid"] == "openspot-overview"
    assert content["templating"]["list"][0]["name"] == "source"
    assert {panel["datasource"]["uid"] for panel in content["panels"]} == {"${source}"}


def test_a_target_is_the_address_of_a_service_under_its_name() -> None:
    configuration = scrape_configuration({"engine": "http://127.0.0.1:8090", "ledger": "http://[::1]:3007"})
    assert configuration["scrape_configs"][0]["static_configs"] == [
        {"targets": ["127.0.0.1:8090"], "labels": {"service": "engine"}},
        {"targets": ["[::1]:3007"], "labels": {"service": "ledger"}},
    ]


def test_a_budget_that_is_used_up_in_two_days_wakes_somebody() -> None:
    found = {rule["alert"]: rule for rule in rules()["groups"][0]["rules"] if "alert" in rule}
    # A budget of 0.1 % in 30 days burns up in 50 hours at 14.4 times its rate.
    assert "> 0.0144 and" in found["OpenSpotBudgetRequests1H"]["expr"]
    assert found["OpenSpotBudgetRequests1H"]["labels"] == {"severity": "page"}
    assert found["OpenSpotBudgetRequests3D"]["labels"] == {"severity": "ticket"}
