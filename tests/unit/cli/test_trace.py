"""`openspot trace`: which order it shows, and in which form."""

import json
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from typer.testing import CliRunner

from openspot.cli import app
from openspot.kit.tracing.files import FOLDER, SpanLine
from openspot.kit.tracing.steps import trace_id_of

MS = 1_000_000


def span(order_id: str, service: str, name: str, began: int, ended: int) -> SpanLine:
    trace_id = f"{trace_id_of(order_id):032x}"
    return SpanLine(trace_id, f"openspot-{service}", name, began * MS, ended * MS, {"order.id": order_id})


OLD = [span("o1", "rest-edge", "place order", 1, 5), span("o1", "ledger", "settle", 60, 90)]
NEW = [span("o2", "rest-edge", "place order", 50, 54), span("o2", "engine", "engine", 52, 53)]


class Trace:
    """The command, on the spans of a data directory."""

    def __init__(self, data_dir: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self._data_dir, self._capsys = data_dir, capsys
        (data_dir / FOLDER).mkdir()
        lines = (json.dumps(each._asdict()) for each in (*NEW, *OLD))
        (data_dir / FOLDER / "test.jsonl").write_text("\n".join(lines) + "\n")

    def __call__(self, *arguments: str) -> tuple[int, str]:
        environment = {"OPENSPOT_DATA_DIR": str(self._data_dir), "COLUMNS": "120"}
        outcome = CliRunner().invoke(app, ["trace", *arguments], env=environment)
        said = self._capsys.readouterr()
        return outcome.exit_code, outcome.stdout + outcome.stderr + said.out + said.err


@pytest.fixture
def trace(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Trace:
    return Trace(tmp_path, capsys)


def test_the_newest_order_is_shown_unless_another_is_named(trace: Trace) -> None:
    code, newest = trace()
    # A trade of o1 is settled after all of o2: what counts is when an order was placed.
    assert (code, newest.splitlines()[0]) == (0, "order o2: 4.00 ms until the end of its last step")
    assert len(newest.splitlines()) == 3 and "█" in newest
    code, named = trace("o1")
    assert (code, named.splitlines()[0]) == (0, "order o1: 89.00 ms until the end of its last step")


def test_spans_are_printed_as_json(trace: Trace) -> None:
    code, printed = trace("o2", "--json")
    found: list[dict[str, Any]] = json.loads(printed)
    assert (code, found) == (0, [each._asdict() for each in NEW])


def test_a_picture_is_written(trace: Trace, tmp_path: Path) -> None:
    code, _ = trace("o1", "--svg", str(tmp_path / "order.svg"))
    root = ElementTree.fromstring((tmp_path / "order.svg").read_text(encoding="utf-8"))
    assert code == 0 and root.tag.endswith("svg")
    assert any("Order o1" in (text.text or "") for text in root.iter("{http://www.w3.org/2000/svg}text"))


def test_an_order_that_was_not_traced_is_a_failure(trace: Trace, tmp_path: Path) -> None:
    code, said = trace("o3")
    assert (code, said.startswith("openspot: no span of order o3 is there. ")) == (1, True)
    (tmp_path / FOLDER / "test.jsonl").unlink()
    code, said = trace()
    assert (code, said.startswith("openspot: no span of any order is there. ")) == (1, True)
