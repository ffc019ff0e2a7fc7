"""The order book on screen is the engine's, through updates and reconnects."""

import json
import random
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal

import pytest
from playwright.sync_api import WebSocket, expect

from openspot.up.child_platform import ChildPlatform
from tests.support.operator import Operator
from tests.support.trading_screen import NewWindow, TradingScreen
from tests.support.waiting import stretched

pytestmark = pytest.mark.proof

UPDATES = 1000
LIVES = 3
"""Of the WebSocket edge: it is killed between two of them."""
ROUNDS_MAX = 200
LEVELS = 80
"""Prices on each side. The screen shows the best `ROWS` of them."""
ROWS = 40
STEP = Decimal("0.05")
RESTING_MAX = 300
ENGINE_DEPTH = 100
RESTART_MS = 1000 * stretched(180)
"""A killed process comes back in seconds; on a machine that does much else it takes longer."""


class Quoter:
    """A participant whose orders come and go around a price of 100, without meeting each other."""

    name = "quoter"

    def __init__(self, operator: Operator, symbol: str) -> None:
        self._operator = operator
        self._symbol = symbol
        self._random = random.Random(7)
        operator.create(self.name)
        operator.fund(self.name, **dict.fromkeys(symbol.split("-"), "100000000"))
        levels = [(side, distance) for side in ("buy", "sell") for distance in range(1, LEVELS + 1)]
        self._resting = operator.place_all(self.name, [self._order(*level) for level in levels], symbol)

    def move(self) -> None:
        """Sixty new orders, and some old ones less."""
        orders = [self._order(self._random.choice(("buy", "sell")), self._random.randint(1, LEVELS)) for _ in range(60)]
        self._resting += self._operator.place_all(self.name, orders, self._symbol)
        self._random.shuffle(self._resting)
        for _ in range(10 if len(self._resting) <= RESTING_MAX else 30):
            self._operator.cancel(self.name, self._resting.pop(), self._symbol)

    def _order(self, side: str, steps: int) -> tuple[str, str, str]:
        distance = steps * STEP
        price = Decimal(100) + (distance if side == "sell" else -distance)
        return side, str(price), str(Decimal(self._random.randint(1, 9_999_999)) / 10_000)


class Updates:
    """Counts the updates of a market's book that a page receives."""

    def __init__(self, screen: TradingScreen, symbol: str) -> None:
        self.count = 0
        self._screen = screen
        self._channel = f"orderbook:{symbol}"
        screen.page.on("websocket", lambda socket: self._follow(socket))

    def now(self) -> int:
        """How many have come."""
        # Playwright hands over events during calls alone.
        self._screen.page.evaluate("null")
        return self.count

    def _follow(self, socket: WebSocket) -> None:
        socket.on("framereceived", self._note)

    def _note(self, payload: str | bytes) -> None:
        message = json.loads(payload)
        self.count += message.get("channel") == self._channel and message.get("type") == "update"


def expected_rows(operator: Operator, symbol: str, step: Decimal) -> dict[str, list[str]]:
    """The rows that the screen must show of the engine's book: price, amount and total of the best ones."""
    book = operator.read(f"/api/v1/marketdata/orderbook/{symbol}?depth={ENGINE_DEPTH}")
    found = {}
    for side, rounding in (("Asks", ROUND_CEILING), ("Bids", ROUND_FLOOR)):
        levels = book[side.lower()]
        assert len(levels) < ENGINE_DEPTH, "the engine has shown the whole book"
        grouped: dict[Decimal, Decimal] = {}
        for price, amount in levels:
            row = (Decimal(price) / step).to_integral_value(rounding) * step
            grouped[row] = grouped.get(row, Decimal(0)) + Decimal(amount)
        total, rows = Decimal(0), []
        for price, amount in list(grouped.items())[:ROWS]:
            total += amount
            rows.append(f"{price.quantize(step):,} {amount:,.4f} {total:,.4f}")
        found[side] = rows
    return found


def assert_shows_the_engines_book(screen: TradingScreen, operator: Operator, symbol: str) -> None:
    """Every row, with prices as they are and grouped."""
    for step in (Decimal("0.1"), Decimal("0.5"), Decimal("0.01")):
        screen.page.get_by_role("combobox", name="Group prices by").select_option(str(step))
        for side, rows in expected_rows(operator, symbol, step).items():
            assert len(rows) == ROWS or step != Decimal("0.01"), "more levels than the screen shows"
            shown = screen.page.get_by_role("list", name=side).get_by_role("button")
            expect(shown).to_have_text(rows, use_inner_text=True)


def test_the_book_on_screen_is_the_engines_after_a_thousand_updates_and_two_reconnects(
    new_window: NewWindow, operator: Operator, platform: ChildPlatform, market: str
) -> None:
    quoter = Quoter(operator, market)
    # Tall enough for every row that the book can have.
    screen = new_window(viewport={"width": 1440, "height": 2400})
    screen.expect_complaint("WebSocket connection")
    updates = Updates(screen, market)
    screen.go(f"/{market}", market)
    expect(screen.link("Live")).to_be_visible()
    for life in range(1, LIVES + 1):
        if life > 1:
            platform.kill("ws-edge")
            expect(screen.link("Reconnecting")).to_be_visible()
            # What the page cannot see happens meanwhile.
            quoter.move()
            expect(screen.link("Live")).to_be_visible(timeout=RESTART_MS)
        for _ in range(ROUNDS_MAX):
            quoter.move()
            if updates.now() >= UPDATES * life / LIVES:
                break
        else:
            raise AssertionError(f"{updates.count} updates came in life {life} of the edge")
        assert_shows_the_engines_book(screen, operator, market)
    print(f"\n{updates.count} updates of the book, {LIVES - 1} reconnects")
    assert updates.count >= UPDATES
