"""What the lines of a reader's open orders cost the chart while the price moves, and that far ones are not drawn."""

import re
import secrets
import time
from typing import Any, NamedTuple
from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import Locator, Route, expect

from tests.support.canvas import drawn_pixels
from tests.support.stub_orders import fulfil, waiting_order
from tests.support.trading_screen import Exchange, NewWindow
from tests.support.waiting import until

SYMBOL = "ETH-BTC"
"""A market in which no other file trades: the first price there may be any."""
SECONDS = 6
DRAWN = 50
FEW = 50
SOME = 200
"""Measured and printed, and nothing is held of it: with all of them drawn, frames stay below FRAME_FLOOR_MS, too."""
MANY = 1000
SLOWER_MAX = 4
"""So many times as long as with FEW orders a frame may take with MANY. If all of them are drawn it is ten times."""
PARTS = 3
FRAME_FLOOR_MS = 150
"""What is quick needs no comparison."""
BUY_COLOUR = (0x0A, 0x6E, 0x45)
"""Of "positive" in the light colours of lib/theme/tokens.ts."""
LINE_PIXELS = 40
"""A dashed line across a quarter of the chart has more."""
WATCH = """() => {
    const seen = { frames: [], tasks: [] };
    window.seen = seen;
    new PerformanceObserver((list) => list.getEntries().forEach(({ duration }) => seen.tasks.push(duration)))
        .observe({ type: "longtask" });
    let before = performance.now();
    const frame = (now) => {
        seen.frames.push(now - before);
        before = now;
        requestAnimationFrame(frame);
    };
    requestAnimationFrame(frame);
}"""


def words(count: int) -> str:
    """How the chart tells of the lines of so many orders."""
    if count > DRAWN:
        return f"The {DRAWN} of your {count:,} open orders nearest to the price as lines"
    return f"Your {count:,} open orders as lines" if count else ""


class Reader:
    """A user with many open orders on a market, 0.1 apart, and somebody else who moves its price."""

    def __init__(
        self, exchange: Exchange, new_window: NewWindow, count: int, lowest: int = 1950, **options: Any
    ) -> None:
        self._exchange = exchange
        self._maker, self._user = (
            exchange.register(f"{secrets.token_hex(4)}.{name}@example.com") for name in ("maker", "reader")
        )
        exchange.deposit([(self._maker, "ETH", "50"), (self._maker, "BTC", "10000")])
        self.trade("2000")
        self._lowest = lowest
        orders = [self._order(number) for number in range(count)]

        def answer(route: Route) -> None:
            if route.request.method != "GET":
                route.continue_()
                return
            of_market = parse_qs(urlsplit(route.request.url).query).get("symbol") == [SYMBOL]
            fulfil(route, orders if of_market else [])

        screen = new_window(self._user, **options)
        self.page = screen.page
        self.page.route(re.compile(r"/api/v1/orders\?"), answer)
        screen.go(f"/{SYMBOL}", SYMBOL)
        chart = self.page.get_by_role("group", name=re.compile(f"^Candles of .*{words(count)}"))
        expect(chart).to_be_visible()
        self.page.wait_for_load_state("networkidle")

    def _order(self, number: int) -> dict[str, Any]:
        price = f"{self._lowest + number / 10:.2f}"
        asked = {"symbol": SYMBOL, "side": "buy", "type": "limit", "price": price, "quantity": "1"}
        return waiting_order(self._user.user_id, asked, orderId=f"line-{number}", triggerStatus=None)

    def trade(self, price: str) -> None:
        """Let the market trade at a price."""
        for side in ("sell", "buy"):
            order = {"symbol": SYMBOL, "side": side, "type": "limit", "quantity": "0.1", "price": price}
            self._exchange.call("POST", "orders", order, token=self._maker.tokens["accessToken"])

    def line(self, price: str) -> Locator:
        """What moves the line at a price."""
        return self.page.locator(f"[role=slider][aria-valuenow='{price}']")


@pytest.mark.proof
def test_the_lines_nearest_to_the_price_are_drawn_and_others_once_the_price_is_there(
    new_window: NewWindow, exchange: Exchange
) -> None:
    reader = Reader(exchange, new_window, 600)
    lines = reader.page.locator("[role=slider]")
    expect(reader.page.get_by_text(words(600))).to_be_visible()
    expect(reader.line("2000.00")).to_have_count(1)
    expect(lines).to_have_count(DRAWN)
    expect(reader.line("1960.00")).to_have_count(0)
    reader.trade("1960")
    expect(reader.line("1960.00")).to_have_count(1)
    expect(reader.line("2000.00")).to_have_count(0)
    expect(lines).to_have_count(DRAWN)


@pytest.mark.proof
def test_a_line_far_out_of_sight_is_drawn_once_the_price_is_there(new_window: NewWindow, exchange: Exchange) -> None:
    reader = Reader(exchange, new_window, 2, lowest=1700, color_scheme="light")
    expect(reader.line("1700.00")).to_be_hidden()
    reader.trade("1700")
    expect(reader.line("1700.00")).to_be_visible()
    chart = reader.page.get_by_role("group", name=re.compile("^Candles of "))
    # The few candles are on the right.
    until(lambda: drawn_pixels(chart, BUY_COLOUR, left=0.25) > LINE_PIXELS, "the line of the order is drawn")


def within(frames: list[float], percent: int) -> float:
    """The time within which this share of the frames came."""
    return sorted(frames)[len(frames) * percent // 100]


class Moving(NamedTuple):
    """What the page did while trades moved the price for SECONDS."""

    trades: int
    frames: list[float]
    """Times between two frames in ms."""
    tasks: list[float]
    """Tasks of more than 50 ms, in ms."""

    def best(self) -> float:
        """Within so many ms came 95 % of the frames of the best part: other programs slow the others down."""
        parts: list[list[float]] = [[] for _ in range(PARTS)]
        passed, whole = 0.0, sum(self.frames)
        for frame in self.frames:
            parts[int(passed / whole * PARTS)].append(frame)
            passed += frame
        return min(within(part, 95) for part in parts if part)

    def text(self, count: int) -> str:
        """A line about it, for docs/performance.md."""
        return (
            f"{count} lines: {self.trades} trades, longest task {max(self.tasks, default=0):.0f} ms, "
            f"{len(self.tasks)} over 50 ms, frames: median {within(self.frames, 50):.0f} ms, "
            f"95 % {within(self.frames, 95):.0f} ms, at best {self.best():.0f} ms, longest {max(self.frames):.0f} ms"
        )


def while_the_price_moves(reader: Reader) -> Moving:
    """Let trades move the price for SECONDS, and look at what the page does."""
    reader.page.evaluate(WATCH)
    end, trades = time.monotonic() + SECONDS, 0
    while time.monotonic() < end:
        reader.trade(f"{2000 + trades % 20 / 10:.2f}")
        trades += 1
    frames, tasks = reader.page.evaluate("[window.seen.frames, window.seen.tasks]")
    return Moving(trades, frames, tasks)


@pytest.mark.proof
def test_lines_of_a_thousand_orders_leave_the_page_as_quick_as_those_of_fifty(
    new_window: NewWindow, exchange: Exchange
) -> None:
    """Prints the figures of docs/performance.md."""
    found = {}
    for count in (0, FEW, SOME, MANY):
        reader = Reader(exchange, new_window, count)
        found[count] = while_the_price_moves(reader)
        print(f"\n{found[count].text(count)}")
        assert reader.page.locator("[role=slider]").count() == min(count, DRAWN)
        # It would work beside the next one.
        reader.page.close()
    assert found[MANY].best() <= max(SLOWER_MAX * found[FEW].best(), FRAME_FLOOR_MS)
