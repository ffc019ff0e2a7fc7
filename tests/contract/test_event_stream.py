"""Who reads the engine's event stream, and who turns it into events on the bus (fact A6.4-01)."""

import ast
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parents[2] / "src" / "openspot"
TRANSLATED_EVENTS = {"OrderEvent", "ExecutedTrade", "SideTrade", "ExecutedTransfer"}
"""The messages of `orders.*`, `trades.executed` and `transfers.executed`: who publishes one has to make it first."""


def calls_one_of(names: set[str], path: Path) -> bool:
    """Whether a module calls one of `names`."""
    text = path.read_text("utf-8")
    if not any(name in text for name in names):
        return False
    calls = [node.func for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Call)]
    return not names.isdisjoint(
        call.id if isinstance(call, ast.Name) else call.attr
        for call in calls
        if isinstance(call, ast.Name | ast.Attribute)
    )


def packages_that_call(names: set[str]) -> set[str]:
    """The packages of openspot in which a module calls one of `names`."""
    return {
        path.relative_to(PACKAGE).parts[0]
        for path in sorted(PACKAGE.rglob("*.py"))
        if "gen" not in path.parts and calls_one_of(names, path)
    }


@pytest.mark.spec("A6.4-01")
def test_only_the_router_makes_order_and_trade_events_of_the_engines_stream() -> None:
    assert packages_that_call(TRANSLATED_EVENTS) == {"router"}
    # Market data reads the stream too, and makes messages of its own. Reconciliation publishes nothing.
    assert packages_that_call({"EngineStream"}) == {"router", "reconcile", "market_data"}
    publishing = {"publish", "publish_many", "announce"}
    assert not any(calls_one_of(publishing, path) for path in (PACKAGE / "reconcile").glob("*.py"))
