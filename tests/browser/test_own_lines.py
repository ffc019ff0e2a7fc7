"""What the lines of a reader's open orders cost the chart while the price moves, and that far ones are not drawn."""

import re
import secrets
import time
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import Locator, Route, expect

from tests.support.stub_orders import fulfil, waiting_order
from tests.support.trading_screen import Exchange, NewWindow

SYMBOL = "ETH-BTC"
"""A market in which no other file trades: the first price there may be any."""
SECONDS = 6
DRAWN = 50
WATCH = """() => {
    const seen = { frames: [], tasks: [0] };
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
    """A user with many open orders on a market, 0.1 apart from 1950 on, and somebody else who moves its price."""

    def __init__(self, exchange: Exchange, new_window: NewWindow, count: int) -> None:
        self._exchange = exchange
        self._maker, self._user = (
            exchange.register(f"{secrets.token_hex(4)}.{name}@example.com") for name in ("maker", "reader")
        )
        exchange.deposit([(self._maker, "ETH", "50"), (self._maker, "BTC", "10000")])
        self.trade("2000")
        orders = [self._order(number) for number in range(count)]

        def answer(route: Route) -> None:
            if route.request.method != "GET":
                route.continue_()
                return
            of_market = parse_qs(urlsplit(route.request.url).query).get("symbol") == [SYMBOL]
            fulfil(route, orders if of_market else [])

        screen = new_window(self._user)
        self.page = screen.page
        self.page.route(re.compile(r"/api/v1/orders\?"), answer)
        screen.go(f"/{SYMBOL}", SYMBOL)
        chart = self.page.get_by_role("group", name=re.compile(f"^Candles of .*{words(count)}"))
        expect(chart).to_be_visible()
        self.page.wait_for_load_state("networkidle")

    def _order(self, number: int) -> dict[str, Any]:
        price = f"{1950 + number / 10:.2f}"
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
@pytest.mark.parametrize("count", [0, 50, 200, 1000])
def test_lines_of_many_orders_leave_the_page_quick(new_window: NewWindow, exchange: Exchange, count: int) -> None:
    """Prints the longest task and the times of frames while trades move the price."""
    reader = Reader(exchange, new_window, count)
    page = reader.page
    page.evaluate(WATCH)
    end, trades = time.monotonic() + SECONDS, 0
    while time.monotonic() < end:
        reader.trade(f"{2000 + trades % 20 / 10:.2f}")
        trades += 1
    frames, tasks = page.evaluate("[window.seen.frames, window.seen.tasks]")
    frames.sort()
    print(
        f"\n{count} lines: {trades} trades, longest task {max(tasks):.0f} ms, {len(tasks) - 1} over 50 ms, frames: "
        f"median {frames[len(frames) // 2]:.0f} ms, 95 % {frames[len(frames) * 95 // 100]:.0f} ms, "
        f"longest {frames[-1]:.0f} ms"
    )
    assert len(page.locator("[role=slider]").all()) == min(count, DRAWN)
