"""Writes the files for Prometheus and Grafana."""

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import yaml

from openspot.monitoring import alerts, objectives
from openspot.monitoring.dashboards import DASHBOARDS, grafana
from openspot.monitoring.rules import Alert, Record

RULES = "openspot-rules.yml"
SCRAPE_INTERVAL = "15s"


def write_files(folder: Path, services: Mapping[str, str]) -> list[Path]:
    """Write the files, and return their paths. `services` holds addresses (http://host:port) by name.

    Raises OSError.
    """
    folder.mkdir(parents=True, exist_ok=True)
    contents = {
        "prometheus.yml": _yaml(scrape_configuration(services)),
        RULES: _yaml(rules()),
        **{f"{board.name}.json": json.dumps(grafana(board), indent=2) + "\n" for board in DASHBOARDS},
    }
    for name, content in contents.items():
        (folder / name).write_text(content, "utf-8")
    return [folder / name for name in contents]


def scrape_configuration(services: Mapping[str, str]) -> dict[str, Any]:
    """The configuration of a Prometheus that asks each service for its metrics."""
    return {
        "global": {"scrape_interval": SCRAPE_INTERVAL, "evaluation_interval": SCRAPE_INTERVAL},
        "rule_files": [RULES],
        "scrape_configs": [
            {
                "job_name": "openspot",
                "static_configs": [
                    {"targets": [urlsplit(address).netloc], "labels": {"service": name}}
                    for name, address in services.items()
                ],
            }
        ],
    }


def rules() -> dict[str, Any]:
    """Recorded figures and alerts, as Prometheus reads them."""
    groups = [_group("objectives", objectives.records(), objectives.alerts())]
    groups += [_group(name, (), found) for name, found in alerts.GROUPS.items()]
    return {"groups": groups}


def _group(name: str, records: Iterable[Record], found: Iterable[Alert]) -> dict[str, Any]:
    recorded = [{"record": record.name, "expr": record.expression, "labels": dict(record.labels)} for record in records]
    return {"name": f"openspot-{name}", "rules": recorded + [_rule(alert) for alert in found]}


def _rule(alert: Alert) -> dict[str, Any]:
    return {
        "alert": alert.name,
        "expr": alert.expression,
        "for": alert.lasts,
        "labels": {"severity": alert.severity.value},
        "annotations": {"summary": alert.summary, "action": alert.action},
    }


def _yaml(content: Mapping[str, Any]) -> str:
    text: str = yaml.safe_dump(content, sort_keys=False, allow_unicode=True, width=110)
    return text
