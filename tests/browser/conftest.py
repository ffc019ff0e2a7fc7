"""A browser, a platform and the built pages, shared by the tests of this folder.

The browser lives as long as the folder, not as long as the session: while Playwright's own event loop runs in this
thread, no asynchronous test can.
"""

import itertools
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NoReturn
from urllib.error import HTTPError

import pytest
from playwright.sync_api import Browser, BrowserType, Page, Playwright, sync_playwright

from openspot.up.child_platform import ChildPlatform
from openspot.web_server.page_config import PageConfig
from tests.external.programs import must_run
from tests.support.background_pages import BackgroundPages, bound_socket
from tests.support.coin_pictures import SVG, brand_with_coins
from tests.support.console import Console
from tests.support.operator import Operator
from tests.support.platforms import child_platform
from tests.support.ports import free_port
from tests.support.trading_screen import Exchange, NewWindow, Trader, TradingScreen, window
from tests.support.waiting import START_S_MAX, stretched, until

ROOT = Path(__file__).resolve().parents[2]


def _tool(*command: str) -> subprocess.CompletedProcess[str]:
    tool, *arguments = command
    program = [sys.executable, str(ROOT / "tools" / tool), *arguments]
    return subprocess.run(program, cwd=ROOT, check=False, capture_output=True, text=True)


def _do_without(outcome: subprocess.CompletedProcess[str]) -> NoReturn:
    """Skip the tests, and say why; fail them in CI, where nobody would read it."""
    reason = f"BROWSER TESTS DO NOT RUN: {outcome.stdout[-2000:]}{outcome.stderr.strip()[-2000:]}"
    if must_run():
        pytest.fail(reason)
    pytest.skip(reason)


@pytest.fixture(scope="session")
def chromium_path() -> str:
    """A browser. Without one the tests are skipped, loudly; in CI they fail."""
    outcome = _tool("browser.py")
    if outcome.returncode != 0:
        _do_without(outcome)
    return outcome.stdout.splitlines()[-1]


@pytest.fixture(scope="session")
def complete_chromium_path() -> str:
    """A browser with windows, for what no other has. Without one the tests that ask for it are skipped as above."""
    outcome = _tool("browser.py", "--complete")
    if outcome.returncode != 0:
        _do_without(outcome)
    return outcome.stdout.splitlines()[-1]


@pytest.fixture(scope="session")
def pages_folder() -> Path:
    """The pages, built from the sources as they are. Without them the tests are skipped as without a browser."""
    outcome = _tool("web.py", "build")
    if outcome.returncode != 0:
        _do_without(outcome)
    return ROOT / "web/dist"


@pytest.fixture(scope="session")
def browser_type_launch_args(chromium_path: str) -> dict[str, Any]:
    """How the browser is started: as root without its sandbox, which root cannot have."""
    return {"executable_path": chromium_path, "args": ["--no-sandbox"] if os.geteuid() == 0 else []}


@pytest.fixture(scope="package")
def playwright() -> Iterator[Playwright]:
    """Playwright, until the last test of this folder."""
    driver = sync_playwright().start()
    yield driver
    driver.stop()


@pytest.fixture(scope="package")
def browser_type(playwright: Playwright) -> BrowserType:
    """Chromium: the tests of the pages do not ask for more."""
    return playwright.chromium


@pytest.fixture(scope="package")
def launch_browser(browser_type_launch_args: dict[str, Any], browser_type: BrowserType) -> Callable[..., Browser]:
    """Starts a browser."""
    return lambda **options: browser_type.launch(**(browser_type_launch_args | options))


@pytest.fixture(scope="package")
def browser(launch_browser: Callable[..., Browser]) -> Iterator[Browser]:
    """A browser, until the last test of this folder."""
    running = launch_browser()
    yield running
    running.close()


@pytest.fixture(scope="session")
def browser_context_args() -> dict[str, Any]:
    """A desk: wide, without moving parts, in UTC."""
    return {
        "viewport": {"width": 1440, "height": 900},
        "reduced_motion": "reduce",
        "timezone_id": "UTC",
        "locale": "en-GB",
        "permissions": ["clipboard-read", "clipboard-write"],
        "service_workers": "block",
    }


Served = tuple[ChildPlatform, Callable[[PageConfig], str]]
"""A platform that serves the built pages, and what serves them once more with another configuration."""


@pytest.fixture(scope="package")
def served(pages_folder: Path) -> Iterator[Served]:
    """The platform that the tests of this folder share."""
    with serving_platform(pages_folder) as both:
        yield both


@pytest.fixture
def own_platform(pages_folder: Path) -> Iterator[ChildPlatform]:
    """A platform of this test alone, for what other tests leave in engine and ledger would change."""
    with serving_platform(pages_folder) as (platform, _):
        yield platform


@contextmanager
def serving_platform(pages_folder: Path, changes: dict[str, str] | None = None) -> Iterator[Served]:
    """Start a platform that serves the built pages, and end it. `changes` replaces settings that are chosen here."""
    own, *ports = (free_port(lasting=True) for _ in range(7))
    origins = ",".join(f"http://127.0.0.1:{port}" for port in (own, *ports))
    folder = Path(tempfile.mkdtemp(prefix="openspot-browser-"))
    running: list[BackgroundPages] = []

    def serve(config: PageConfig) -> str:
        pages = BackgroundPages(pages_folder, config, bound_socket(port=ports[len(running)]))
        pages.start()
        running.append(pages)
        return pages.url

    environment = {
        # All browsers have one address, and act faster than people.
        "OPENSPOT_THROTTLE_ENABLED": "false",
        "OPENSPOT_SUBSCRIPTIONS_THROTTLE_ENABLED": "false",
        "OPENSPOT_POSITIONS_THROTTLE_ENABLED": "false",
        "OPENSPOT_CONSOLE_ORIGINS": origins,
        "OPENSPOT_WEB_PORT": str(own),
        # What a trader's form offers with it; what it does not offer without is tested apart.
        "OPENSPOT_RULES": "complete",
        # The tests record by hand what was bought, and close positions at their mark price.
        "OPENSPOT_FOLLOW_FILLS": "false",
        "OPENSPOT_MARKETS": "live",
        "OPENSPOT_BRAND": brand_with_coins(folder, doge_svg=SVG),
        "OPENSPOT_WITHDRAWAL_ADDRESS_WAIT_S": "0",
        "OPENSPOT_WITHDRAWAL_LIMIT_BASIC": "1000000",
        "OPENSPOT_CUSTODY_BLOCK_S": "0.05",
        "OPENSPOT_CONVERSION_STANDING_S": "2",
        "OPENSPOT_CORS_ORIGINS": origins,
        # Every change of a book is an update of its own.
        "OPENSPOT_MARKET_DATA_BOOK_MS": "0",
        # The page of alerts has somebody to tell: the file that `openspot mailbox` shows.
        "OPENSPOT_ALERT_MAILS": "night@example.org",
        # A quote must not expire between two clicks on a busy machine.
        "OPENSPOT_CONVERSION_QUOTE_S": "60",
        # What a market can absorb is known soon, and a liquidation need not wait for long between its slices.
        "OPENSPOT_FAIR_PRICE_STANDING_S": "2",
        "OPENSPOT_FAIR_PRICE_ABSORBED_SHARE_BPS": "10000",
        "OPENSPOT_MARGIN_LIQUIDATION_PAUSE_S": "1",
    }
    platform = child_platform(folder, environment | (changes or {}))
    try:
        platform.start(stretched(START_S_MAX))
        yield platform, serve
    finally:
        for pages in running:
            pages.stop()
        platform.stop()
        shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(scope="package")
def platform(served: Served) -> ChildPlatform:
    """The platform that the console administers."""
    return served[0]


@pytest.fixture(scope="package")
def serve(served: Served) -> Callable[[PageConfig], str]:
    """Serves the pages with a configuration; returns their address. The engine takes calls of six such addresses."""
    return served[1]


@pytest.fixture(scope="package")
def pages_url(platform: ChildPlatform) -> str:
    """The pages of the platform, from its own web server."""
    return str(platform.settings.web_url)


@pytest.fixture(scope="package")
def operator(platform: ChildPlatform) -> Iterator[Operator]:
    """The engine beside the page."""
    client = Operator(platform.settings)
    yield client
    client.close()


@pytest.fixture(scope="package")
def participants(operator: Operator) -> None:
    """Alice and Bob. Funds alone would make them, too, but without a password."""
    for name in ("alice", "bob"):
        operator.create(name)


@pytest.fixture(scope="package")
def markets(operator: Operator) -> Iterator[str]:
    """Markets that nobody has used. One more is listed ahead, so that the next test need not wait for it."""
    return _served_markets(operator)


def _served_markets(operator: Operator) -> Iterator[str]:
    ahead = operator.list_market("M1")
    for number in itertools.count(2):
        symbol, ahead = ahead, operator.list_market(f"M{number}")
        operator.await_market(symbol)
        yield symbol


@pytest.fixture
def market(markets: Iterator[str]) -> str:
    """A market of this test alone: what other tests left in their books does not trade with it."""
    return next(markets)


_coins = itertools.count(1)


@pytest.fixture
def coin(operator: Operator, exchange: Exchange) -> str:
    """A coin whose market in USD is of this test alone, with all that users need to trade there."""
    coin = f"OWN{next(_coins)}"
    symbol = operator.list_for_traders(coin)
    operator.await_market(symbol)
    trader = exchange.register(f"first-{coin.lower()}@example.com")
    exchange.deposit([(trader, "USD", "1000")])
    order = {"symbol": symbol, "side": "buy", "type": "limit", "quantity": "1", "price": "1"}

    def is_taken() -> bool:
        """Whether the router, too, knows the market."""
        try:
            exchange.call("POST", "orders", order, token=trader.tokens["accessToken"])
        except HTTPError:
            return False
        return True

    until(is_taken, f"the router takes orders of {symbol}")
    exchange.call("DELETE", "orders", token=trader.tokens["accessToken"])
    return coin


@pytest.fixture
def visitor(page: Page, pages_url: str) -> Iterator[Console]:
    """The console with nobody logged in. Its test fails for an error in the browser's console."""
    console = Console(page, pages_url)
    yield console
    console.assert_quiet()


@pytest.fixture
def console(visitor: Console, operator: Operator) -> Console:
    """The console with a session of the administrator, as a reload of the page finds it.

    The login itself has tests of its own: here it would run into the engine's limit of logins.
    """
    visitor.bring_session(operator.login)
    return visitor


@pytest.fixture(scope="package")
def exchange(platform: ChildPlatform) -> Exchange:
    """The REST edge of the platform."""
    return Exchange(platform)


@pytest.fixture
def new_window(browser: Browser, browser_context_args: dict[str, Any], pages_url: str) -> Iterator[NewWindow]:
    """Opens windows of browsers that share nothing. The test fails for an error in the console of any."""
    opened: list[TradingScreen] = []

    def new(trader: Trader | None = None, **options: Any) -> TradingScreen:
        context = browser.new_context(**(browser_context_args | options))
        screen = window(context.new_page(), pages_url, trader)
        opened.append(screen)
        return screen

    yield new
    for screen in opened:
        screen.assert_quiet()
        screen.page.context.close()
