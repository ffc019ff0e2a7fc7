"""Attackers: several accounts of one person that nobody has linked, a budget, and patience."""

from openspot.domain.money import AMOUNT_SCALE, BASIS_POINTS
from openspot.domain.order import Side
from tests.simulation.economics.desks import RefusedError
from tests.simulation.economics.world import STEP_S, EconomicWorld

BUDGET = 500_000
"""What each account has, in dollars, and as much again in coins."""


class Team:
    """The attackers in the first market. They act between the honest ones and the products, whenever they like."""

    def __init__(self, world: EconomicWorld, size: int) -> None:
        self.world = world
        self.names = [f"mal{number}" for number in range(size)]
        self.symbol = next(iter(world.lives))
        self.base, _, self.quote = self.symbol.partition("-")
        for name in self.names:
            for asset in world.exchange.assets:
                amount = BUDGET * AMOUNT_SCALE * AMOUNT_SCALE // world.honest[asset]
                world.exchange.pay_in(name, asset, amount)
        world.auditor.watch(self.names)
        world.begin_step()

    @property
    def honest(self) -> int:
        """The honest price of the market."""
        return self.world.honest_price(self.symbol)

    @property
    def fair(self) -> int:
        """The price that the products believe."""
        price = self.world.of(self.symbol)
        return self.honest if price is None else price.price

    @property
    def last(self) -> int:
        """The last trade's price."""
        return self.world.exchange.last_trades.get(self.symbol, self.honest)

    def wait(self, seconds: int = STEP_S) -> None:
        """Let time pass."""
        for _ in range(seconds // STEP_S):
            self.world.end_step()
            self.world.begin_step()

    def quantity(self, dollars: int, price: int = 0) -> int:
        """As many coins as `dollars` are worth, honestly or at a price."""
        quote = self.world.honest[self.quote]
        return dollars * AMOUNT_SCALE * AMOUNT_SCALE // quote * AMOUNT_SCALE // (price or self.honest)

    def place(self, name: str, side: Side, quantity: int, price: int, *, is_immediate: bool = False) -> bool:
        """Place an order; False if the router refuses it."""
        return self.world.place(name, self.symbol, side, quantity, price, is_immediate=is_immediate)

    def print_at(self, price: int, dollars: int, first: int = 0, second: int = 1) -> bool:
        """Make a trade at this price between two accounts, through whatever stands before it."""
        side = Side.SELL if price < self.honest else Side.BUY
        other = Side.BUY if side is Side.SELL else Side.SELL
        quantity = self.quantity(dollars, price)
        before = self.world.exchange.depth(self.symbol, other, price)
        if not self.place(self.names[first], side, before + quantity, price):
            return False
        self.place(self.names[second], other, quantity, price, is_immediate=True)
        self.world.exchange.cancel_all(self.names[first], self.symbol)
        return True

    def print_round(self, price: int, dollars: int) -> None:
        """Let each account trade with the next one at this price."""
        for number in range(len(self.names)):
            self.print_at(price, dollars, number, (number + 1) % len(self.names))

    def paint(self, price: int, dollars: int, half_bps: int = 50, number: int = 0) -> None:
        """Put an account's orders on both sides of a price, in place of those it had."""
        name = self.names[number]
        self.world.exchange.cancel_all(name, self.symbol)
        for side, sign in ((Side.BUY, -1), (Side.SELL, 1)):
            self.place(
                name, side, self.quantity(dollars, price), price * (BASIS_POINTS + sign * half_bps) // BASIS_POINTS
            )

    def nearest(self, target: int) -> int:
        """The target, or what the band lets through of the way to it."""
        if self.world.refusal(self.names[0], self.symbol, Side.BUY, self.quantity(1), target) is None:
            return target
        return min(max(target, self.fair * 81 // 100), self.fair * 119 // 100)

    def push(self, target: int, seconds: int, dollars: int, *, depth: int = 5_000, each_s: int = 240) -> None:
        """Move book and trades towards a price, as far as bands let, and hold them there for the rest of the time."""
        for second in range(0, seconds, STEP_S):
            near = self.nearest(target)
            if second % each_s == 0:
                self.leave_book()
                self.print_round(near, dollars)
            self.paint(near, depth)
            self.wait()

    def leave_book(self) -> None:
        """Cancel everything."""
        for name in self.names:
            self.world.exchange.cancel_all(name)

    def borrow_and_leave(self, dollars: int, *, number: int = 0) -> int:
        """Give collateral, borrow as much as is lent, and move everything out that may leave."""
        user, margin = self.names[number], self.world.margin
        margin.move_in(user, self.base, self.quantity(dollars))
        return margin.borrow_and_leave(user, "USD", 10 * dollars * AMOUNT_SCALE)

    def open(self, dollars: int, side: Side, *, margin: int, number: int = 0) -> bool:
        """Bring dollars as margin, and open a position of the highest leverage; False if refused."""
        user, desk = self.names[number], self.world.margin
        desk.move_in(user, "USD", margin * AMOUNT_SCALE)
        try:
            desk.open(user, self.symbol, side, self.quantity(dollars, self.fair), 10)
        except RefusedError:
            return False
        return True

    def withdraw(self, dollars: int, number: int = 0, *, times: int = 1) -> int:
        """Withdraw coins worth so much, honestly, again and again. Returns how often nobody was asked."""
        passed = 0
        for _ in range(times):
            try:
                self.world.custody.withdraw(self.names[number], self.base, self.quantity(dollars))
                passed += 1
            except RefusedError:
                break
        return passed

    def convert(self, dollars: int, number: int = 0, *, sells: bool = True) -> bool:
        """Convert coins into dollars, or the other way around; False if refused."""
        amount = self.quantity(dollars) if sells else dollars * AMOUNT_SCALE
        try:
            quote = self.world.conversions.quote(self.names[number], self.symbol, sells_base=sells, amount=amount)
            self.world.conversions.accept(quote)
        except RefusedError:
            return False
        return True
