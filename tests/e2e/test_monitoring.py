"""A real Prometheus with the written files watches a running platform: it sees every service, and a killed one."""

import json
import urllib.parse
import urllib.request
from pathlib import Path
from typing import Any

import pytest
import yaml

from openspot.monitoring.dashboards import DASHBOARDS
from openspot.monitoring.files import RULES, write_files
from openspot.monitoring.objectives import OBJECTIVES, ratio_name
from openspot.up.child_platform import ChildPlatform
from openspot.up.services import metrics_addresses
from tests.support.money_user import money_user, openspot
from tests.support.prometheus import running_prometheus
from tests.support.waiting import eventually, stretched

pytestmark = pytest.mark.proof

# Their metrics have a sample only after an event that this test does not cause, or from a service that is not run here.
WITHOUT_SAMPLES = {
    "Alerts", "Steps of withdrawals a second", "Liquidations a second", "Refused before the journal",
    "Handlers that failed a second", "Publishes that failed a second", "Mark prices told to the engine a second",
    "Trades settled a second", "Messages pushed a second", "Logins to the administration a second",
    "Volatility interruptions in an hour", "Runs of the timetable in a day",
}  # fmt: skip


class Prometheus:
    """Asks a running Prometheus."""

    def __init__(self, address: str) -> None:
        self._address = address

    def get(self, path: str, **query: str) -> Any:
        """The data of an answer, or None while it does not answer."""
        url = f"{self._address}/api/v1/{path}?{urllib.parse.urlencode(query)}"
        try:
            with urllib.request.urlopen(url, timeout=stretched(10)) as response:
                return json.load(response)["data"]
        except OSError:
            return None

    def value(self, expression: str) -> list[float]:
        """The present values of an expression."""
        found = self.get("query", query=expression)
        return [float(sample["value"][1]) for sample in found["result"]] if found else []

    def states(self) -> dict[str, str]:
        """The health of each target, by service."""
        found = self.get("targets") or {"activeTargets": []}
        return {target["labels"]["service"]: target["health"] for target in found["activeTargets"]}

    def firing(self) -> set[tuple[str, str]]:
        """Alerts that fire, with the service that they name."""
        found = self.get("alerts") or {"alerts": []}
        return {
            (alert["labels"]["alertname"], alert["labels"].get("service", ""))
            for alert in found["alerts"]
            if alert["state"] == "firing"
        }


def quick_files(folder: Path, platform: ChildPlatform) -> None:
    """The files as `openspot monitoring` writes them, but without waiting: each second, and alerts at once."""
    write_files(folder, metrics_addresses(platform.settings))
    configuration = yaml.safe_load((folder / "prometheus.yml").read_text("utf-8"))
    configuration["global"] = {"scrape_interval": "1s", "evaluation_interval": "1s"}
    (folder / "prometheus.yml").write_text(yaml.safe_dump(configuration), "utf-8")
    rules = yaml.safe_load((folder / RULES).read_text("utf-8"))
    for group in rules["groups"]:
        for rule in group["rules"]:
            if "alert" in rule:
                rule["for"] = "0s"
    (folder / RULES).write_text(yaml.safe_dump(rules), "utf-8")


async def test_the_command_writes_targets_that_are_the_running_services(
    platform: ChildPlatform, tmp_path: Path
) -> None:
    printed = await openspot(platform, "monitoring", str(tmp_path / "files"))
    assert str(tmp_path / "files" / RULES) in printed.splitlines()
    configuration = yaml.safe_load((tmp_path / "files/prometheus.yml").read_text("utf-8"))
    targets = {
        static["labels"]["service"]: f"http://{static['targets'][0]}"
        for static in configuration["scrape_configs"][0]["static_configs"]
    }
    assert targets == metrics_addresses(platform.settings)


async def test_prometheus_sees_orders_and_a_killed_service(breakable: ChildPlatform, tmp_path: Path) -> None:
    quick_files(tmp_path, breakable)
    names = set(metrics_addresses(breakable.settings))
    with running_prometheus(tmp_path) as address:
        prometheus = Prometheus(address)
        await eventually(lambda: prometheus.states() == dict.fromkeys(names, "up"), 60)
        async with money_user(breakable) as user:
            await user.credit("USD", "1000")

            async def placed_and_seen() -> bool:
                await user("POST", "/orders", {
                    "symbol": "BTC-USD", "side": "buy", "type": "limit", "price": "100", "quantity": "0.1",
                    "timeInForce": "gtc",
                }, status=201)  # fmt: skip
                return bool(prometheus.value("sum(rate(openspot_router_orders_total[5m]))"))

            await eventually(placed_and_seen, 60, pause_s=1)
        for objective in OBJECTIVES:
            ratio = f'{ratio_name("5m")}{{objective="{objective.name}"}}'
            await eventually(lambda ratio=ratio: prometheus.value(ratio), 60)  # type: ignore[misc]
        assert prometheus.value(f'{ratio_name("5m")}{{objective="orders"}}') == [0.0]

        rules = [rule for group in prometheus.get("rules")["groups"] for rule in group["rules"]]
        assert len(rules) == len(
            [r for g in yaml.safe_load((tmp_path / RULES).read_text())["groups"] for r in g["rules"]]
        )
        assert {rule["name"]: rule.get("lastError") for rule in rules if rule["health"] != "ok"} == {}
        empty = {
            panel.title
            for board in DASHBOARDS
            for panel in board.panels
            if not any(prometheus.value(query.replace("$__rate_interval", "5m")) for query in panel.queries.values())
        }
        assert empty <= WITHOUT_SAMPLES

        # How quickly it answers depends on what else the machine does.
        await eventually(lambda: not {name for name, _ in prometheus.firing() if "BudgetSpeed" not in name}, 60)

        await openspot(breakable, "stop", "positions")
        try:
            await eventually(lambda: ("OpenSpotServiceDown", "positions") in prometheus.firing(), 60)
        finally:
            await openspot(breakable, "start", "positions")
        await eventually(lambda: ("OpenSpotServiceDown", "positions") not in prometheus.firing(), 60)
