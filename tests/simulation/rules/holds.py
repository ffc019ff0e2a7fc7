"""The funds of open orders are held from their placement to their end, once, and never more than there is."""

from collections import Counter
from typing import NamedTuple

from openspot.engine.core.protocol import CoreBalance, DepthLevel
from openspot.engine.core.records import CommandKind, Event, EventType
from tests.simulation.rules.lists import ListRule
from tests.simulation.rules.story import LiveOrder, Rule, Story

Levels = list[DepthLevel]


class Shown(NamedTuple):
    """What the engine showed after its command with this sequence: balances, and by symbol the (bids, asks)."""

    sequence: int
    balances: list[CoreBalance]
    depths: dict[int, tuple[Levels, Levels]]


class HoldRule(Rule):
    """Adds up what orders and withdrawals hold, and compares the sums with the balances that the engine showed."""

    def __init__(self, story: Story, lists: ListRule, shown: list[Shown]) -> None:
        super().__init__(story)
        self._lists = lists
        self._shown = {each.sequence: each.balances for each in shown}
        self._reserved: Counter[tuple[int, int]] = Counter()

    def take(self, event: Event) -> None:
        """Withdrawals hold funds, too."""
        if event.type == EventType.BALANCE:
            account = event.account, event.currency
            if event.order_type == CommandKind.RESERVE:
                self._reserved[account] += event.amount
            elif event.order_type in (CommandKind.RELEASE, CommandKind.COMMIT):
                self._reserved[account] -= abs(event.amount)

    def end(self, number: int) -> None:
        """Compare, where the engine has shown its balances."""
        balances = self._shown.get(number)
        if balances is None:
            return
        real = self._holds()
        for balance in balances:
            account = balance.account, balance.currency
            held, right = balance.locked + balance.reserved, real.pop(account, 0)
            self.demand(held == right, f"account {account} holds {held} after command {number}, and {right} is right")
            self.demand(right <= balance.total, f"account {account} holds {right} of {balance.total}")
        for account, right in real.items():
            self.demand(right == 0, f"account {account}, which is empty, holds {right}")

    def _holds(self) -> Counter[tuple[int, int]]:
        held = Counter(self._reserved)
        paired: dict[int, tuple[tuple[int, int], list[int]]] = {}
        for order in self.story.live.values():
            account, amount = self._hold(order)
            pair = self._lists.pair_of(order.order_id)
            if pair is None:
                held[account] += amount
            else:
                paired.setdefault(pair, (account, []))[1].append(amount)
        for account, amounts in paired.values():
            # Two exits sell the same thing: the greater need is held for both.
            held[account] += max(amounts)
        return held

    def _hold(self, order: LiveOrder) -> tuple[tuple[int, int], int]:
        market = self.story.markets[order.symbol]
        if not order.is_buy:
            return (order.account, market.base), order.remaining * market.base_unit
        notional = order.reserve * order.remaining * market.quote_unit
        return (order.account, market.quote), notional + notional * order.worst_fee_bps // 10_000
