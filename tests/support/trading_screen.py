"""The trading screen in a browser, and the users who trade on it."""

import asyncio
import json
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from playwright.sync_api import Locator, Page, expect

from openspot.kit.mail.transports import StoredMail, read_mailbox
from openspot.up.child_platform import ChildPlatform
from tests.support.console import PHONE, WAIT_MS, Console
from tests.support.mailbox import token_of
from tests.support.money_user import credit
from tests.support.operator_prices import set_operator_price
from tests.support.own_thread import in_own_thread
from tests.support.waiting import STARVED, until

PASSWORD = "correct horse battery"


@dataclass
class Trader:
    """A user of the REST edge."""

    email: str
    user_id: str
    tokens: dict[str, Any]


class Exchange:
    """The REST edge beside the page, without asyncio."""

    def __init__(self, platform: ChildPlatform) -> None:
        self._platform = platform
        self.url = f"{platform.settings.rest_url}/api/v1"

    def call(self, method: str, path: str, body: Any = None, token: str = "") -> Any:
        """The response of a route. Raises urllib.error.HTTPError for a refusal, for "later" only when that lasts."""
        headers = {"Content-Type": "application/json"} | ({"Authorization": f"Bearer {token}"} if token else {})
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(f"{self.url}/{path}", data, headers, method=method)
        deadline = time.monotonic() + WAIT_MS / 1000
        while True:
            try:
                with urllib.request.urlopen(request, timeout=WAIT_MS / 1000) as response:
                    return json.loads(response.read())
            except urllib.error.HTTPError as error:
                # A starved platform does nothing and says so.
                if error.code not in STARVED or time.monotonic() > deadline:
                    raise
            time.sleep(0.1)

    def quoted(self, wanted: dict[str, str], token: str) -> Any:
        """A quote of a conversion, as soon as the orders that it needs have stood for long enough."""
        deadline = time.monotonic() + WAIT_MS / 1000
        while True:
            try:
                return self.call("POST", "conversions/quote", wanted, token)
            except urllib.error.HTTPError as error:
                if error.code != 409 or time.monotonic() > deadline:
                    raise
            time.sleep(0.2)

    def set_price(self, symbol: str, price: str) -> None:
        """Let the operator set the fair price of a market."""
        in_own_thread(lambda: set_operator_price(self._platform, symbol, price))

    def register(self, email: str) -> Trader:
        """A new user with a session."""
        body = {"email": email, "password": PASSWORD}
        self.call("POST", "auth/register", body)
        tokens = self.call("POST", "auth/login", body)
        return Trader(email, tokens["userId"], tokens)

    def deposit(self, amounts: list[tuple[Trader, str, str]], house: dict[str, tuple[str, str]] | None = None) -> None:
        """Confirmed deposits, as `openspot deposit` makes them, all at a time; `house` names accounts of the house."""
        wanted = [(trader.user_id, asset, amount) for trader, asset, amount in amounts]
        wanted += [(account, asset, amount) for account, (asset, amount) in (house or {}).items()]
        self.credit_all(wanted)

    def credit_all(self, wanted: list[tuple[str, str, str]]) -> None:
        """Confirmed deposits, each as account, asset and amount, all at a time."""

        async def all_of_them() -> None:
            await asyncio.gather(*(credit(self._platform, *one) for one in wanted))

        in_own_thread(all_of_them)

    def mail_token(self, recipient: str, subject: str) -> str:
        """The token of a mail, as soon as it is there."""
        return token_of(self._mail(recipient, subject))

    def mail_text(self, recipient: str, subject: str) -> str:
        """What a mail says, as soon as it is there."""
        return self._mail(recipient, subject).text

    def _mail(self, recipient: str, subject: str) -> StoredMail:
        def of_these() -> list[StoredMail]:
            mails = read_mailbox(self._platform.data_dir)
            return [mail for mail in mails if (mail.recipient, mail.subject) == (recipient, subject)]

        return until(of_these, f"a mail {subject!r} to {recipient}")[0]


class TradingScreen(Console):
    """One window of the trading screen."""

    def bring_trader(self, trader: Trader) -> None:
        """Let the browser have a session before its first page."""
        session = {
            "userId": trader.user_id,
            "email": trader.email,
            "accessToken": trader.tokens["accessToken"],
            "refreshToken": trader.tokens["refreshToken"],
            "expiresAt": int(time.time() * 1000) + trader.tokens["expiresIn"] * 1000,
        }
        script = """session => {
            if (sessionStorage.getItem("test.brought") !== null) return;
            sessionStorage.setItem("test.brought", "yes");
            localStorage.setItem("openspot.trade.session", session);
        }"""
        self.page.add_init_script(f"({script})({json.dumps(json.dumps(session))})")

    def go(self, path: str, heading: str) -> None:
        """Open a page by its address, and wait for its heading."""
        self.page.goto(f"{self.url}/trade{path}")
        expect(self.heading(heading)).to_be_visible()

    def link(self, state: str) -> Locator:
        """The sign of the connection, in this state."""
        return self.page.get_by_role("status", name=f"Connection: {state}")

    def rows(self, side: str) -> list[str]:
        """The rows of a side of the order book, each as price, amount and total."""
        return self.page.get_by_role("list", name=side).get_by_role("button").all_inner_texts()

    def fill_order(self, side: str, kind: str, amount: str, price: str = "") -> None:
        """Fill in the order form."""
        self.segment("Side", side)
        self.segment("Order type", kind)
        form = self.page.get_by_role("form", name="Order form")
        if price:
            form.get_by_role("textbox", name="Price").fill(price)
        form.get_by_role("textbox", name="Amount").fill(amount)

    def show_order_form(self) -> None:
        """On a phone, open the sheet with the order form. A wider window has the form beside the chart."""
        size = self.page.viewport_size
        if size is not None and size["width"] == PHONE["width"]:
            self.page.get_by_role("button", name="Open the form to buy").click()
            expect(self.dialog("Order form")).to_be_visible()

    def segment(self, group: str, choice: str) -> None:
        """Choose one of several that stand side by side."""
        self.page.get_by_role("radiogroup", name=group, exact=True).get_by_text(choice, exact=True).click()

    def tab(self, name: str) -> None:
        """Open a tab of the orders."""
        self.page.get_by_role("tab", name=name).click()


NewWindow = Callable[..., TradingScreen]
"""Opens a window: of a trader if one is given, with options of its browser context."""


def window(page: Page, url: str, trader: Trader | None = None) -> TradingScreen:
    """A window, with a user's session if one is given."""
    screen = TradingScreen(page, url)
    if trader is not None:
        screen.bring_trader(trader)
    return screen
