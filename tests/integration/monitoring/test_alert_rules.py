"""Every alert fires at what it is for, and is silent beside it, as Prometheus's own promtool finds."""

import subprocess
from pathlib import Path

import pytest
import yaml

from openspot.monitoring.files import RULES, write_files
from openspot.monitoring.files import rules as all_rules
from tests.integration.monitoring.alert_cases import CASES, COARSE, Series
from tests.support.prometheus import program

pytestmark = pytest.mark.proof

ALERTS = {rule["alert"]: rule for group in all_rules()["groups"] for rule in group["rules"] if "alert" in rule}


def expected(name: str) -> list[dict[str, dict[str, str]]]:
    """The alert as it must be found, with its texts filled in."""
    labels = dict(CASES[name].labels)
    texts = {}
    for key, text in ALERTS[name]["annotations"].items():
        for label, value in labels.items():
            text = text.replace(f"{{{{ $labels.{label} }}}}", value)
        texts[key] = text.replace("{{ $value }}", "2")
    return [{"exp_labels": labels | ALERTS[name]["labels"], "exp_annotations": texts}]


def rule_test(name: str, series: Series, alerts: list[dict[str, dict[str, str]]]) -> dict[str, object]:
    case = CASES[name]
    minutes = COARSE if case.is_coarse else 1
    return {
        "interval": f"{minutes}m",
        "input_series": [{"series": metric, "values": values} for metric, values in series.items()],
        "alert_rule_test": [{"eval_time": f"{case.at_step * minutes}m", "alertname": name, "exp_alerts": alerts}],
    }


def promtool(folder: Path, minutes: int, tests: list[dict[str, object]]) -> subprocess.CompletedProcess[str]:
    """Run the tests, with rules that are evaluated every so many minutes."""
    write_files(folder, {"engine": "http://127.0.0.1:1"})
    (folder / "tests.yml").write_text(
        yaml.safe_dump({"rule_files": [RULES], "evaluation_interval": f"{minutes}m", "tests": tests}), "utf-8"
    )
    return subprocess.run(
        [program("promtool"), "test", "rules", str(folder / "tests.yml")], capture_output=True, text=True, check=False
    )


def test_every_alert_has_a_case() -> None:
    assert sorted(CASES) == sorted(ALERTS)


@pytest.mark.parametrize("minutes", [1, COARSE])
def test_every_alert_fires_at_its_fault_and_is_silent_without_it(tmp_path: Path, minutes: int) -> None:
    cases = {name: case for name, case in CASES.items() if case.is_coarse == (minutes == COARSE)}
    tests = [
        rule_test(name, flow, expected(name)) for name, case in cases.items() for flow in (case.wrong, *case.also_wrong)
    ]
    tests += [rule_test(name, flow, []) for name, case in cases.items() for flow in (case.right, *case.also_right)]
    done = promtool(tmp_path, minutes, tests)
    assert done.returncode == 0, done.stdout + done.stderr


def test_promtool_notices_an_alert_that_does_not_fire(tmp_path: Path) -> None:
    name = "OpenSpotServiceDown"
    done = promtool(tmp_path, 1, [rule_test(name, CASES[name].right, expected(name))])
    assert done.returncode != 0
    assert name in done.stdout + done.stderr


def test_prometheus_takes_the_configuration(tmp_path: Path) -> None:
    write_files(tmp_path, {"engine": "http://127.0.0.1:1"})
    done = subprocess.run(
        [program("promtool"), "check", "config", str(tmp_path / "prometheus.yml")],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
