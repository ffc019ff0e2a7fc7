"""Events of the bus that let a scan look at an account at once (facts A6.2-02, A6.2-03)."""

from types import SimpleNamespace
from typing import Any

from openspot.contracts import subjects
from openspot.contracts.messages import MarginPositionUpdated
from openspot.margin.service import MarginLeader
from openspot.margin.settings import MarginSettings
from tests.support.ledger import trade


class NotingScanner:
    """Notes the accounts that are marked."""

    def __init__(self) -> None:
        self.marked: list[str] = []

    def mark(self, account_ids: list[str]) -> None:
        self.marked += account_ids


class FakeBus:
    """Notes what is subscribed to, and hands events over."""

    def __init__(self) -> None:
        self.handlers: dict[str, Any] = {}

    def key_value(self, bucket: str, value_type: Any, life_s: float) -> None:
        """The lease is not asked for."""

    async def subscribe(self, subject: str, event_type: Any, handler: Any) -> None:
        self.handlers[subject] = handler


async def test_trades_and_positions_of_margin_accounts_are_looked_at_and_no_others() -> None:
    unused: Any = None
    bus, scanner = FakeBus(), NotingScanner()
    fake: Any = bus
    dependencies: Any = SimpleNamespace(settings=MarginSettings())
    leader = MarginLeader(dependencies, unused, fake)
    await leader.follow()
    take_trade = bus.handlers[subjects.TRADES_EXECUTED]
    take_position = bus.handlers[subjects.MARGIN_POSITION_UPDATED]
    await take_trade(subjects.TRADES_EXECUTED, trade(buyer="margin:ann"))
    leader._scanner = scanner  # type: ignore[assignment]
    await take_trade(subjects.TRADES_EXECUTED, trade(buyer="ann", seller="bob"))
    assert scanner.marked == []
    await take_trade(subjects.TRADES_EXECUTED, trade(buyer="margin:ann", seller="margin:bob"))
    assert scanner.marked == ["margin:ann", "margin:bob"]
    event = MarginPositionUpdated("id", "margin:cat", "cat", "position", "open", "1", 1)
    await take_position(subjects.MARGIN_POSITION_UPDATED, event)
    assert scanner.marked[2:] == ["margin:cat"]
