"""What a minute of a busy market costs the trading screen, with the processor of the page slowed four times.

    .venv/bin/python -m benchmarks.trading_screen [--seconds 60] [--slowed 4] [--own-orders 20]

Starts a platform with the complete rules, whose market data gathers what a book changes in 10 ms, and a market in which
book and trades change fifty times a second. A browser shows that market to a user who is logged in, and whose open
orders are lines on the chart: first as quick as the machine is, then slowed. Printed for both: updates that the edge
sent to the page, the share of time that the main thread was busy, tasks of more than 50 ms, the heap after collection
at both ends, and what single interactions took until the next paint while the updates went on.

A trader's machine runs no exchange, and what slows the page counts the time in which other programs run as its own.
So the platform has the lowest priority: the browser runs whenever it can.
"""

import argparse
import itertools
import multiprocessing
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from decimal import Decimal
from multiprocessing.synchronize import Event
from pathlib import Path
from typing import Any

from playwright.sync_api import CDPSession, Page, expect, sync_playwright

from benchmarks.platform_metrics import counted
from benchmarks.priority import lower_priority, yield_to_others
from openspot.up.child_platform import ChildPlatform
from tests.support.operator import Operator
from tests.support.trading_screen import Exchange, TradingScreen, window

ROOT = Path(__file__).resolve().parent.parent
RATE = 50
"""Changes of the book and trades a second."""
LEVELS = 40
STEP = Decimal("0.05")
MIDDLE = Decimal(100)
RESTING_MAX = 300
WARM_UP_S = 10.0
START_S_MAX = 480.0
MEGABYTE = 1_000_000
BASE = "BUSY"
CHANNELS = ("orderbook", "trades")

OBSERVE = """() => {
    const seen = { tasks: [], interactions: new Map() };
    window.seenByBenchmark = seen;
    new PerformanceObserver((list) => {
        for (const { duration } of list.getEntries()) seen.tasks.push(duration);
    }).observe({ type: "longtask" });
    new PerformanceObserver((list) => {
        for (const { interactionId, name, duration, startTime } of list.getEntries()) {
            if (!interactionId) continue;
            const before = seen.interactions.get(interactionId)?.duration ?? 0;
            if (duration > before) seen.interactions.set(interactionId, { name, duration, startTime });
        }
    }).observe({ type: "event", durationThreshold: 16 });
}"""
"""Notes the page's long tasks, and what its interactions take."""
READ = """() => {
    const { tasks, interactions } = window.seenByBenchmark;
    return { tasks, interactions: [...interactions.values()] };
}"""


class Market:
    """A market whose book and trades change with every call of `change`."""

    def __init__(self, operator: Operator, symbol: str) -> None:
        self._operator = operator
        self._symbol = symbol
        self._random = random.Random(7)
        for name in ("busy-maker", "busy-taker"):
            operator.create(name)
            operator.fund(name, **dict.fromkeys(symbol.split("-"), "100000000"))
        levels = [(side, distance) for side in ("buy", "sell") for distance in range(1, LEVELS + 1)]
        self._resting = operator.place_all("busy-maker", [self._order(*level) for level in levels], symbol)

    def change(self, side: str) -> None:
        """One trade at the best price, which its maker offers again, and an order more or less behind it."""
        best = MIDDLE + STEP if side == "buy" else MIDDLE - STEP
        back = "sell" if side == "buy" else "buy"
        quantity = str(Decimal(self._random.randint(1, 9_999)) / 10_000)
        behind = self._order(back, self._random.randint(2, LEVELS))
        self._operator.place("busy-taker", side, str(best), quantity, self._symbol)
        offered = self._operator.place_all("busy-maker", [(back, str(best), quantity), behind], self._symbol)
        self._resting.append(offered[1])
        if len(self._resting) > RESTING_MAX:
            self._operator.cancel("busy-maker", self._resting.pop(2 * LEVELS), self._symbol)

    def _order(self, side: str, steps: int) -> tuple[str, str, str]:
        distance = steps * STEP
        price = MIDDLE + (distance if side == "sell" else -distance)
        return side, str(price), str(Decimal(self._random.randint(10_000, 9_999_999)) / 10_000)


def keep_moving(settings: Any, symbol: str, ready: Event, stop: Event) -> None:
    """Change the market at its pace until told to stop."""
    yield_to_others()
    operator = Operator(settings)
    market = Market(operator, symbol)
    ready.set()
    began = time.monotonic()
    for number in itertools.count(1):
        if stop.wait(max(0.0, began + number / RATE - time.monotonic())):
            break
        market.change("buy" if number % 2 else "sell")
    operator.close()


def pushed(platform: ChildPlatform, channel: str) -> float:
    """How many messages of a kind of channel the edge has sent. The page is its only client."""
    url = str(platform.settings.ws_url).replace("ws://", "http://")
    return counted(url, f'openspot_ws_pushes_total{{channel="{channel}"}}')


def heap(session: CDPSession) -> float:
    """Megabytes that live on the heap of the page."""
    session.send("HeapProfiler.collectGarbage")
    return metrics(session)["JSHeapUsedSize"] / MEGABYTE


def metrics(session: CDPSession) -> dict[str, float]:
    """The counters of the page's main thread."""
    return {entry["name"]: entry["value"] for entry in session.send("Performance.getMetrics")["metrics"]}


def interactions(screen: TradingScreen) -> dict[str, Callable[[], Any]]:
    """What a trader does on the page, one after the other, by what it is called here."""
    page = screen.page
    form = page.get_by_role("form", name="Order form")
    return {
        "side sell": lambda: screen.segment("Side", "Sell"),
        "type limit": lambda: screen.segment("Order type", "Limit"),
        "price": lambda: form.get_by_role("textbox", name="Price").press_sequentially("101.25"),
        "amount": lambda: form.get_by_role("textbox", name="Amount").press_sequentially("0.75"),
        "a bid": lambda: page.get_by_role("list", name="Bids").get_by_role("button").nth(3).click(),
        "tab history": lambda: screen.tab("History"),
        "tab balances": lambda: screen.tab("Balances"),
        "grouping": lambda: page.get_by_role("combobox", name="Group prices by").select_option("0.5"),
        "side buy": lambda: screen.segment("Side", "Buy"),
        "tab open orders": lambda: screen.tab("Open orders"),
    }


def measure(platform: ChildPlatform, screen: TradingScreen, session: CDPSession, seconds: float) -> dict[str, Any]:
    """A span of updates without anybody at the page, and then the interactions, while updates go on."""
    page = screen.page
    time.sleep(WARM_UP_S)
    heap_before = heap(session)
    pushed_before = [pushed(platform, channel) for channel in CHANNELS]
    seen_before, before, began = page.evaluate(READ), metrics(session), time.monotonic()
    time.sleep(seconds)
    lasted = time.monotonic() - began
    after, seen = metrics(session), page.evaluate(READ)
    book, trades = (
        (pushed(platform, channel) - count) / lasted for channel, count in zip(CHANNELS, pushed_before, strict=True)
    )
    heap_after = heap(session)
    count = len(page.evaluate(READ)["interactions"])
    begins = []
    for name, act in interactions(screen).items():
        begins.append((page.evaluate("performance.now()"), name))
        act()
    time.sleep(1)
    found = page.evaluate(READ)["interactions"][count:]
    for entry in found:
        entry["of"] = max(begin for begin in begins if begin[0] <= entry["startTime"])[1]
    return {
        "book": book,
        "trades": trades,
        "busy": (after["TaskDuration"] - before["TaskDuration"]) / lasted,
        "script": (after["ScriptDuration"] - before["ScriptDuration"]) / lasted,
        "layout": sum(after[name] - before[name] for name in ("LayoutDuration", "RecalcStyleDuration")) / lasted,
        "tasks": seen["tasks"][len(seen_before["tasks"]) :],
        "heap": (heap_before, heap_after),
        "interactions": sorted(found, key=lambda entry: -entry["duration"]),
    }


def show(title: str, found: dict[str, Any]) -> None:
    """Print what one side gave."""
    tasks, slow = found["tasks"], found["interactions"]
    print(title)
    print(f"  updates a second            book {found['book']:.1f}, trades {found['trades']:.1f}")
    parts = f"script {found['script']:.1%}, layout {found['layout']:.1%}"
    print(f"  main thread busy            {found['busy']:.1%} ({parts})")
    print(f"  tasks over 50 ms            {len(tasks)}, longest {max(tasks, default=0):.0f} ms")
    print(f"  heap after collection, MB   {found['heap'][0]:.1f} then {found['heap'][1]:.1f}")
    shown = ", ".join(f"{entry['of']} {entry['duration']:.0f}" for entry in slow[:5])
    print(f"  slowest interactions, ms    {shown or 'all below 16'} (of {len(slow)} of 16 ms or more)", flush=True)


def open_screen(page: Page, platform: ChildPlatform, symbol: str, own_orders: int) -> TradingScreen:
    """The market, with a user who has funds and open orders."""
    exchange = Exchange(platform)
    trader = exchange.register("busy@example.com")
    exchange.deposit([(trader, "USD", "100000")])
    for number in range(own_orders):
        price = MIDDLE - (LEVELS + 1 + number) * STEP
        order = {"symbol": symbol, "side": "buy", "type": "limit", "price": str(price), "quantity": "0.1"}
        exchange.call("POST", "orders", order, trader.tokens["accessToken"])
    screen = window(page, str(platform.settings.web_url), trader)
    page.add_init_script(f"({OBSERVE})()")
    screen.go(f"/{symbol}", symbol)
    expect(screen.link("Live")).to_be_visible()
    return screen


def main() -> None:
    """Start everything, measure both sides, print them."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=float, default=60.0, help="how long each side is measured")
    parser.add_argument("--slowed", type=float, default=4.0, help="how many times the page's processor is slowed")
    parser.add_argument("--own-orders", type=int, default=20, help="how many open orders the user has")
    options = parser.parse_args()
    browser_path = subprocess.run(
        [sys.executable, str(ROOT / "tools/browser.py")], check=True, capture_output=True, text=True
    ).stdout.splitlines()[-1]
    folder = Path(tempfile.mkdtemp(prefix="openspot-trading-screen-"))
    environment = {
        "OPENSPOT_MARKET_DATA_BOOK_MS": "10",
        "OPENSPOT_MARKETS": "live",
        "OPENSPOT_RULES": "complete",
        "OPENSPOT_THROTTLE_ENABLED": "false",
    }
    platform = ChildPlatform(folder, environment)
    context = multiprocessing.get_context("spawn")
    ready, stop = context.Event(), context.Event()
    try:
        platform.start(START_S_MAX)
        for pid in platform.state.processes.values():
            lower_priority(pid)
        operator = Operator(platform.settings)
        symbol = operator.list_for_traders(BASE)
        operator.await_market(symbol)
        operator.close()
        flow = context.Process(target=keep_moving, args=(platform.settings, symbol, ready, stop))
        flow.start()
        ready.wait(60)
        with sync_playwright() as playwright:
            arguments = ["--no-sandbox"] if os.geteuid() == 0 else []
            browser = playwright.chromium.launch(executable_path=browser_path, args=arguments)
            page = browser.new_context(viewport={"width": 1440, "height": 900}).new_page()
            screen = open_screen(page, platform, symbol, options.own_orders)
            session = page.context.new_cdp_session(page)
            session.send("Performance.enable")
            for rate in (1.0, options.slowed):
                session.send("Emulation.setCPUThrottlingRate", {"rate": rate})
                found = measure(platform, screen, session, options.seconds)
                show("as quick as the machine is" if rate == 1 else f"slowed {rate:g} times", found)
            print(f"load of the machine: {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")
            browser.close()
        stop.set()
        flow.join(30)
    finally:
        stop.set()
        platform.stop()
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
