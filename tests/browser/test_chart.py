"""The chart of the trading screen: indicators, scale, full screen, keys, and the reader's own orders and fills."""

import re
import secrets
from datetime import UTC, datetime

import pytest
from playwright.sync_api import Locator, expect

from tests.support.canvas import drawn_pixels
from tests.support.stub_orders import fulfil
from tests.support.trading_screen import Exchange, NewWindow, Trader, TradingScreen
from tests.support.waiting import until

SYMBOL = "SOL-BRL"


def chart(screen: TradingScreen, words: str) -> Locator:
    """The chart, whose description has `words`."""
    return screen.page.get_by_role("group", name=re.compile(f"^Candles of .*{words}"))


@pytest.fixture
def traders(exchange: Exchange) -> tuple[Trader, Trader]:
    """Two users who made the market's newest trade with each other, at 799."""
    number = secrets.token_hex(4)
    buyer, seller = (exchange.register(f"chart-{side}-{number}@example.com") for side in ("buyer", "seller"))
    exchange.deposit([(buyer, "BRL", "5000"), (seller, "SOL", "5")])
    exchange.set_price(SYMBOL, "800")
    place(exchange, buyer, "buy", "799")
    place(exchange, seller, "sell", "799")
    # The page reads its fills once, and the rows come a moment after the trade.
    token = buyer.tokens["accessToken"]
    until(lambda: exchange.call("GET", f"orders/trades?symbol={SYMBOL}", token=token), "the trade has a row")
    return buyer, seller


def place(exchange: Exchange, trader: Trader, side: str, price: str) -> None:
    """Place a limit order of 1 SOL."""
    order = {"symbol": SYMBOL, "side": side, "type": "limit", "price": price, "quantity": "1"}
    exchange.call("POST", "orders", order, trader.tokens["accessToken"])


@pytest.mark.proof
@pytest.mark.usefixtures("traders")
def test_chosen_indicators_are_drawn_and_kept_and_a_wrong_period_is_refused(new_window: NewWindow) -> None:
    screen = new_window()
    page = screen.page
    screen.go(f"/{SYMBOL}", SYMBOL)
    expect(chart(screen, "")).to_be_visible()
    page.get_by_role("button", name="Indicators", exact=True).click()
    for name in ("SMA 20", "Volume profile 24", "MACD 12 26 9"):
        page.get_by_role("checkbox", name=name, exact=True).check()
    screen.assert_accessible("the list of indicators")
    expect(chart(screen, r"SMA 20: .*MACD 12 26 9: ")).to_be_visible()

    period = page.get_by_role("group", name="SMA 20", exact=True).get_by_label("Period")
    period.fill("0")
    expect(page.get_by_text("1 to 500")).to_be_visible()
    # What is refused changes nothing.
    expect(chart(screen, "SMA 20: ")).to_be_visible()
    period.fill("1")
    # The mean of one close is the close.
    expect(chart(screen, r"to ([0-9.]+)\. SMA 1: \1")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.get_by_role("button", name="Indicators (3)")).to_be_focused()

    page.get_by_role("button", name="Logarithmic scale").click()
    page.reload()
    expect(chart(screen, r"SMA 1: .*MACD 12 26 9: ")).to_be_visible()
    expect(page.get_by_role("button", name="Logarithmic scale")).to_have_attribute("aria-pressed", "true")

    page.get_by_role("button", name="Full screen").click()
    expect(page.get_by_role("button", name="Leave full screen")).to_be_visible()
    page.get_by_role("button", name="Indicators (3)").click()
    page.get_by_role("button", name="Hide all and reset").click()
    expect(chart(screen, "SMA")).to_have_count(0)
    expect(page.get_by_role("checkbox", name="SMA 20", exact=True)).not_to_be_checked()


def test_own_orders_and_fills_are_on_the_chart_of_their_reader_alone(
    new_window: NewWindow, exchange: Exchange, traders: tuple[Trader, Trader]
) -> None:
    buyer, seller = traders
    screen = new_window(buyer)
    screen.go(f"/{SYMBOL}", SYMBOL)
    expect(screen.link("Live")).to_be_visible()
    expect(chart(screen, r"Your 1 fill as marks\.")).to_be_visible()
    place(exchange, buyer, "buy", "798")
    expect(chart(screen, r"Your 1 open order as lines\. Your 1 fill as marks\.")).to_be_visible()
    place(exchange, seller, "sell", "798")
    expect(chart(screen, r"[0-9]\. Your 2 fills as marks\.")).to_be_visible()

    other = new_window()
    other.go(f"/{SYMBOL}", SYMBOL)
    expect(chart(other, "")).to_be_visible()
    expect(chart(other, "Your")).to_have_count(0)


@pytest.mark.proof
@pytest.mark.usefixtures("traders")
def test_keys_move_and_zoom_the_chart(new_window: NewWindow) -> None:
    screen = new_window()
    screen.go(f"/{SYMBOL}", SYMBOL)
    area = chart(screen, "to 799")
    expect(area).to_be_visible()
    area.focus()
    for key in ("-", "ArrowLeft", "End"):
        before = area.screenshot()
        screen.page.keyboard.press(key)
        changes(area, before, key)


def changes(area: Locator, before: bytes, key: str) -> None:
    """Wait until the picture of `area` is another one than `before`."""
    until(lambda: area.screenshot() != before, f"{key} changes the chart")


SMA_COLOURS = {"light": (0x28, 0x50, 0xC8), "dark": (0x8F, 0xB0, 0xFF)}
"""Of "sma-1" in indicators/palette.ts."""


@pytest.mark.proof
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_chosen_indicator_colours_pixels_of_the_canvas(new_window: NewWindow, scheme: str) -> None:
    screen = new_window(color_scheme=scheme)
    page = screen.page
    # A day of candles that rise and fall: a new market has too few for a mean of twenty.
    begin = int(datetime.now(UTC).timestamp()) // 3600 * 3600 - 60 * 3600
    candles = [hour_of(begin + number * 3600, 790 + 10 * (number % 7)) for number in range(60)]
    page.route(re.compile(f"/markets/{SYMBOL}/candles"), lambda route: fulfil(route, candles))
    screen.go(f"/{SYMBOL}", SYMBOL)
    area = chart(screen, "")
    expect(area).to_be_visible()
    assert drawn_pixels(area, SMA_COLOURS[scheme]) < 10
    page.get_by_role("button", name="Indicators", exact=True).click()
    page.get_by_role("checkbox", name="SMA 20", exact=True).check()
    page.keyboard.press("Escape")
    # A line across more than half of the chart.
    until(lambda: drawn_pixels(area, SMA_COLOURS[scheme]) > 200, "the mean is drawn in its colour")
    page.get_by_role("button", name="Indicators (1)").click()
    page.get_by_role("checkbox", name="SMA 20", exact=True).uncheck()
    page.keyboard.press("Escape")
    until(lambda: drawn_pixels(area, SMA_COLOURS[scheme]) < 10, "the mean is gone")


def hour_of(seconds: int, price: int) -> dict[str, object]:
    """A candle of an hour that begins then, with all its trades near a price."""
    prices = {"open": f"{price}", "high": f"{price + 5}", "low": f"{price - 5}", "close": f"{price + 1}"}
    return {"timestamp": seconds * 1000, **prices, "volume": "10", "trades": 4}
