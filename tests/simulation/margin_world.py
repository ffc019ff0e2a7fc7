"""A platform with margin: a world whose users also borrow, and two processes of the margin service."""

import functools
from collections import Counter
from collections.abc import Callable
from decimal import Decimal
from typing import Any

from openspot.contracts.messages import OrderRequest, SubmitOrder
from openspot.domain.accounts import margin_account_id
from openspot.domain.fair_price.model import PriceState
from openspot.margin.lifecycle import AccountStatus, MarginPositionStatus
from openspot.margin.settings import MarginSettings
from openspot.up.services import PlatformSettings
from tests.simulation.auditor import units
from tests.simulation.clients import USERS
from tests.simulation.engine import SYMBOLS
from tests.simulation.fair_prices import AGAIN_S, PLENTY, MarketData
from tests.simulation.history import History
from tests.simulation.margin import INSURANCE, POOL, PRICES, Borrowers, Margin
from tests.simulation.margin_auditor import MarginAuditor
from tests.simulation.margin_tables import MarginTables
from tests.simulation.process import Place, Process, Trap
from tests.simulation.router import Router
from tests.simulation.storm import LEASE_S, WEIGHTS, Steps, step
from tests.simulation.transfers import ToldOfTransfers
from tests.simulation.world import World

MARGINS = 2
LENT = {"USD": "900.00", "BTC": "3", "ETH": "3"}
INSURED = {"USD": "5.00", "BTC": "0.01", "ETH": "0.01"}
TOP_UP = {"USD": "9000.00", "BTC": "90", "ETH": "90"}
MAKER, TAKER = "zoe", "yan"
MAKERS_FUNDS = {"USD": "900000.00", "BTC": "9000", "ETH": "9000"}
COLLATERAL = {"ann": "40.00", "bob": "90.50", "cem": "250.00", "dua": "61.20"}
LONG_S = (600.0, 3_600.0, 86_400.0)
ENDINGS_MAX = 60
STATES = (PriceState.DISPUTED, PriceState.STALE, PriceState.GOOD, PriceState.GOOD, PriceState.THIN)
ABSORBED = ("0", "0.1", "0.4", PLENTY)
LINKED = ("eve", "eva")
"""Two accounts of one person."""
TRAPS = {Place.ENGINE: 12, Place.PUBLISH: 4, Place.REQUEST: 6, Place.ROWS: 60, Place.KEY: 3}
"""Where a trap waits for a margin process, and for at most how many calls."""


@functools.cache
def _settings() -> MarginSettings:
    return PlatformSettings(margin_lease_s=LEASE_S, margin_scan_s=1.0)


class MarginWorld(World):
    """One run."""

    test = "tests/simulation/test_margin.py"
    may_be_complete = False

    def __init__(self, seed: int, *, margin_tables: Callable[[], MarginTables] = MarginTables) -> None:
        super().__init__(seed)
        self.margin_tables = margin_tables()
        self._told_of_transfers = ToldOfTransfers()
        self.market_data = MarketData(Process("market-data", self.weather), self.server, self.engine.now)
        self.borrowers = Borrowers(self.edge, self.server, self.chance)
        self.margins = [self._new_margin() for _ in range(MARGINS)]
        self._quotes = 0

    # Running

    def take_step(self) -> None:
        """Have one thing happen."""
        step(self, _STEPS)

    def _prepare(self) -> None:
        super()._prepare()
        rich = [(MAKERS_FUNDS, owner) for owner in (MAKER, TAKER, *LINKED)]
        for funds, owner in ((LENT, POOL), (INSURED, INSURANCE), *rich):
            for asset, amount in funds.items():
                self.custody.deposit(owner, asset, amount)
        for user, amount in COLLATERAL.items():
            self.borrowers.move_in(user, "USD", amount)
        super().come_to_rest()
        self.quote()
        super().come_to_rest()

    def quote(self) -> None:
        """Let the maker offer more than anybody needs, next to the price at which the others trade, and trade once."""
        for symbol in SYMBOLS:
            self._place(MAKER, symbol, "buy", "40", "99.75")
            self._place(MAKER, symbol, "sell", "40", "100.25")
        self.loop.run_ready()
        self.commit()
        for symbol in SYMBOLS:
            self._place(TAKER, symbol, "buy", "0.05", "100.25", "ioc")

    def _place(self, user: str, symbol: str, side: str, quantity: str, price: str, time_in_force: str = "gtc") -> None:
        self._quotes += 1
        order_id = f"quote-{self._quotes}"
        order = OrderRequest(order_id, symbol, side, "limit", quantity, price, time_in_force=time_in_force)
        self.traders.submit(SubmitOrder(user, order))

    def print_at(self, symbol: str, price: str) -> None:
        """Let two accounts of one person trade a little at `price`, after taking away whatever stands before it."""
        buyer, seller = LINKED
        side = "buy" if Decimal(price) > 100 else "sell"
        self._place(seller, symbol, side, "60", price)
        self._place(buyer, symbol, "sell" if side == "buy" else "buy", "0.05", price)
        self.loop.run_ready()
        self.commit()

    def come_to_rest(self) -> None:
        """As `World.come_to_rest`; the insurance account is funded, and the fair price is that of a liquid market."""
        self.market_data.be_sound()
        for asset, amount in TOP_UP.items():
            self.custody.deposit(INSURANCE, asset, amount)
        for _ in range(ENDINGS_MAX):
            super().come_to_rest()
            if not self._margin_is_unfinished():
                return
            self.quote()
            super().come_to_rest()
            # Rounds of a liquidation have pauses of up to a minute.
            self.loop.leap(61.0)
            # After the sleep every price is stale until it comes again.
            self.loop.advance(AGAIN_S + 1.0)
        raise AssertionError(f"margin is not finished: {self._margin_is_unfinished()}")

    def _margin_is_unfinished(self) -> list[str]:
        tables = self.margin_tables
        unfinished = {
            "requests": self.borrowers.waiting or list(self.borrowers.told.unknown),
            "transfers": [each.reference for each in tables.transfers if each.status == "pending"],
            "positions": [
                each.position_id
                for each in tables.positions
                if each.status
                in (MarginPositionStatus.OPENING, MarginPositionStatus.CLOSING, MarginPositionStatus.LIQUIDATING)
            ],
            "accounts": [
                row.account.account_id
                for row in tables.all("accounts")
                if row.account.status is AccountStatus.LIQUIDATING
            ],
            "scans": not any(margin.scans for margin in self.margins),
            "levels": self._levels(),
        }
        return [f"{name} {left}" for name, left in unfinished.items() if left]

    def _levels(self) -> list[str]:
        auditor = MarginAuditor(self.history(), self.margin_tables, self.borrowers.told)
        auditor.look_at_levels(self.market_data.prices)
        return auditor.findings

    def history(self) -> History:
        """What has happened so far."""
        return History(self.engine.journal, self.engine.records)

    def _mend(self) -> None:
        super()._mend()
        self.borrowers.repeat_unknown()

    @property
    def told_of_transfers(self) -> ToldOfTransfers:
        """What the margin service and the others were told."""
        own, others = self._told_of_transfers, self.transfers.told
        return ToldOfTransfers(own.asked + others.asked, own.answers + others.answers, others.unknown)

    # Processes

    def _new_router(self) -> Router:
        router = super()._new_router()
        for symbol in SYMBOLS:
            # The service reads the last trades when it begins.
            router.note_price(symbol, Decimal(100))
        return router

    def _new_margin(self) -> Margin:
        return Margin(
            self._new_process("margin"),
            _settings(),
            self.server,
            self.engine,
            self.margin_tables,
            self.rows,
            self.told,
            self._told_of_transfers,
        )

    @property
    def processes(self) -> list[Process]:
        """Routers, ledgers and margin processes."""
        return super().processes + [margin.process for margin in self.margins]

    def revive(self) -> None:
        """Restart what is dead."""
        super().revive()
        for margin in [margin for margin in self.margins if not margin.process.is_alive]:
            self.server.disconnect(margin.process)
            self.margins[self.margins.index(margin)] = self._new_margin()

    # Judgement

    def further_findings(self, history: History) -> list[str]:
        """What is wrong with margin accounts."""
        auditor = MarginAuditor(history, self.margin_tables, self.borrowers.told)
        auditor.look_at_pool(Counter({asset: units(amount) for asset, amount in LENT.items()}))
        auditor.look_at_transfers()
        auditor.look_at_loans()
        auditor.look_at_positions()
        auditor.look_at_requests()
        auditor.look_at_levels(self.market_data.prices)
        auditor.look_at_liquidations(self.server.stored)
        auditor.look_at_prices(self.server.stored, self.market_data)
        return auditor.findings


# Steps


def ask(world: Any) -> None:
    """A user asks the margin service for something."""
    world.borrowers.ask()


def move_price(world: Any) -> None:
    """A price jumps, and the margin service looks."""
    world.market_data.set(world.chance.choice(SYMBOLS), price=world.chance.choice(PRICES))
    if world.chance.random() < 0.5:
        world.loop.advance(1.1)


def doubt_price(world: Any) -> None:
    """A price becomes disputed or stale, or sure again; or a market absorbs less, or everything again."""
    symbol, chance = world.chance.choice(SYMBOLS), world.chance
    if chance.random() < 0.5:
        world.market_data.set(symbol, state=chance.choice(STATES))
    else:
        world.market_data.set(symbol, absorbed=chance.choice(ABSORBED))
    if chance.random() < 0.3:
        world.loop.advance(chance.choice((1.1, 20.0)))


def sleep_long(world: Any) -> None:
    """The whole machine sleeps, so that loans earn interest."""
    world.loop.leap(world.chance.choice(LONG_S))


def lose_money(world: Any) -> None:
    """A margin account loses money, as if it had traded badly, so that it may not be able to pay its loans."""
    user, asset = world.chance.choice(USERS), world.chance.choice(("USD", "USD", "BTC", "ETH"))
    world.transfers.take(margin_account_id(user, 1), user, asset, world.chance.choice(("0.3", "30", "120")))


def trap_margin(world: Any) -> None:
    """A margin process, most often the one that scans, dies or freezes in the middle of its work."""
    scanning = [margin.process for margin in world.margins if margin.scans]
    process = world.chance.choice(scanning or [margin.process for margin in world.margins])
    place = world.chance.choice(list(TRAPS))
    is_deadly = world.chance.random() < 0.7
    process.trap = Trap(place, world.chance.randint(1, TRAPS[place]), is_deadly)


_WEIGHTS: dict[Callable[[Any], None], int] = {
    **WEIGHTS,
    ask: 45,
    move_price: 12,
    doubt_price: 6,
    sleep_long: 3,
    lose_money: 8,
    trap_margin: 8,
}
_STEPS: Steps = list(_WEIGHTS), list(_WEIGHTS.values())
