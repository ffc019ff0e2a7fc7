"""Values everything at the honest price, which only the simulation knows.

What attackers own is looked at after every step: all their accounts, what they withdrew, less what they owe. A change
counts at the honest price of its moment, so neither luck nor the market's own moves are a gain. In the end, what a
margin account lacks is a gain, because its owner will not come back.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from openspot.custody.wallet_policy import RULES
from openspot.domain.accounts import margin_account_id, user_of_account
from openspot.domain.money import AMOUNT_SCALE, amount_to_text
from openspot.domain.order import Side
from tests.simulation.economics.desks import DAY_S, USER_LIMIT_CENTS
from tests.simulation.economics.exchange import Traded, total
from tests.simulation.economics.honest import INNOCENT_LEVELS, SHORT_LEVELS

if TYPE_CHECKING:
    from tests.simulation.economics.world import EconomicWorld

GAIN_MAX = 50 * AMOUNT_SCALE
"""What the house may lose to an attacker by roundings and small moves: a strategy with a larger bound says so."""
FROZEN_S_MAX = 120
"""A market takes honest prices again after this time at the latest."""
VALUE_PERCENT_MAX = 106
"""A withdrawal may be worth this part of a limit: honest prices move a little against the median of a day."""


class Auditor:
    """Judges one run."""

    def __init__(self, world: "EconomicWorld") -> None:
        self._world = world
        self.attackers: list[str] = []
        self.gain = 0
        """What the attackers gained, in dollars of 18 places."""
        self.spared = frozenset({*INNOCENT_LEVELS, *SHORT_LEVELS})
        """The innocent users who must not be liquidated."""
        self._before: dict[str, int] = {}
        self._frozen_s: dict[str, float] = {}
        self.frozen_s_max = 0.0
        self._of_withdrawals: list[str] = []
        self._of_trades: list[str] = []
        self._looked_at = 0

    def watch(self, users: list[str]) -> None:
        """From now on these users are attackers."""
        self.attackers += users
        self._before = self._owned()

    def look(self) -> None:
        """Look at everything after a step."""
        world = self._world
        if self.attackers:
            owned = self._owned()
            moved = {asset: owned.get(asset, 0) - self._before.get(asset, 0) for asset in {*owned, *self._before}}
            self.gain += total(moved, world.honest)
            self._before = owned
        for symbol in world.lives:
            price = world.honest_price(symbol)
            quantity = 100 * AMOUNT_SCALE * AMOUNT_SCALE // price
            # Nobody is kept out of a market where nobody is.
            if world.traders.makers_are_awake and any(
                world.refusal("honest", symbol, side, quantity, price) is not None for side in Side
            ):
                since = self._frozen_s.setdefault(symbol, world.now_s)
                self.frozen_s_max = max(self.frozen_s_max, world.now_s - since)
            else:
                self._frozen_s.pop(symbol, None)
        self._look_at_withdrawals()

    def note(self, traded: Traded) -> None:
        """Look at a trade."""
        if user_of_account(traded.taker) == user_of_account(traded.maker):
            self._of_trades.append("a user traded with themself")

    def findings(self, gain_max: int) -> list[str]:
        """What is wrong at the end of the run."""
        world = self._world
        found = list(dict.fromkeys(self._of_withdrawals + self._of_trades))
        for user in self.attackers:
            account = margin_account_id(user, 1)
            net = {asset: each.held - each.debt for asset, each in world.margin.balances(account).items()}
            self.gain += max(-total(net, world.honest), 0)
        if self.gain > gain_max:
            found.append(f"attackers gained {amount_to_text(self.gain)} USD")
        found += [
            f"{user}, who is innocent, was liquidated"
            for user in sorted(self.spared)
            if margin_account_id(user, 1) in world.margin.liquidated
        ]
        if self.frozen_s_max > FROZEN_S_MAX:
            found.append(f"honest prices were refused for {self.frozen_s_max:.0f} s")
        return found

    def _look_at_withdrawals(self) -> None:
        world = self._world
        left = world.custody.left
        for each in left[self._looked_at :]:
            worth = each.amount * world.honest[each.asset] * 100 // AMOUNT_SCALE**2
            alone = RULES[each.wallet].auto_approve_below or 0
            if worth * 100 > alone * VALUE_PERCENT_MAX:
                self._of_withdrawals.append(f"a withdrawal worth {worth} cents passed without a person")
            recent = sum(
                other.amount * world.honest[other.asset] * 100 // AMOUNT_SCALE**2
                for other in left
                if other.user == each.user and other.at_ms > each.at_ms - DAY_S * 1000
            )
            if recent * 100 > USER_LIMIT_CENTS * VALUE_PERCENT_MAX:
                self._of_withdrawals.append("a user's withdrawals passed the limit of a day")
        self._looked_at = len(left)

    def _owned(self) -> dict[str, int]:
        world, owned = self._world, dict[str, int]()
        for user in self.attackers:
            account = margin_account_id(user, 1)
            accounts: list[Mapping[str, int]] = [world.exchange.held(user)]
            if account in world.margin.debts:
                accounts.append(world.exchange.held(account))
                accounts.append({asset: -debt for asset, debt in world.margin.debts[account].items()})
            for balances in accounts:
                for asset, amount in balances.items():
                    owned[asset] = owned.get(asset, 0) + amount
        for each in world.custody.left:
            if each.user in self.attackers:
                owned[each.asset] = owned.get(each.asset, 0) + each.amount
        return owned
