"""The trading screen in German, Spanish and Brazilian Portuguese: journeys in them, and every page without English.

The catalogues are compared with the sources by `web/trade/languages/catalogues.test.ts`; here the pages show them.
"""

import json
import re
import secrets
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect

from tests.browser.test_every_page import LOGGED_OUT_PAGES, PAGES
from tests.support.console import DESK, PHONE
from tests.support.trading_screen import PASSWORD, Exchange, NewWindow, Trader, TradingScreen, window

CATALOGUES = Path(__file__).resolve().parents[2] / "web/trade/languages"
SYMBOL = "USDT-USD"
BASE = "USDT"
PROFILE = re.compile("/users/me/profile$")
KINDS = {"de": "Limit", "es": "límite", "pt-BR": "limite"}
LOCALES = {"de": "de-DE", "es": "es-ES", "pt-BR": "pt-BR"}
PLANS = {"Basic"}
"""Names of plans are the operator's own, and one of them is a text of the page elsewhere."""
SHOWN = """() => {
    const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    const found = [];
    while (texts.nextNode()) if (texts.currentNode.parentElement.closest("noscript") === null)
        found.push(texts.currentNode.data);
    for (const name of ["aria-label", "title", "placeholder", "alt"])
        for (const element of document.querySelectorAll(`[${name}]`)) found.push(element.getAttribute(name));
    return [...new Set(found.map((text) => text.trim()))];
}"""
"""Every text of the page, also those that are only spoken."""


class Words:
    """The texts of a language."""

    def __init__(self, language: str) -> None:
        self.texts: dict[str, Any] = json.loads((CATALOGUES / f"{language}.json").read_text("utf-8"))

    def __call__(self, english: str, **values: str) -> str:
        """A text with its values, as the page shows it; one that has no translation, such as a market, as it is."""
        text: str = self.texts.get(english, english)
        return text.format(**values)

    def english_only(self) -> set[str]:
        """The English texts that this language never shows, so that none of them may be on a page."""
        own = {text for text in self.texts.values() if isinstance(text, str)}
        return {english for english in self.texts if "{" not in english and english not in own} - PLANS


def choose_language(page: Page, name: str) -> None:
    """Choose a language in the display settings of a page that is in English."""
    page.get_by_role("button", name="Display settings").click()
    page.get_by_role("dialog", name="Display settings").get_by_role("combobox", name="Language").click()
    page.get_by_role("option", name=name).click()


@pytest.fixture
def words(language: str) -> Words:
    """The texts of the test's language."""
    return Words(language)


@pytest.mark.parametrize(
    ("language", "price"),
    [
        ("de", "101,5"),
        pytest.param("pt-BR", "102,5", marks=pytest.mark.proof),
        pytest.param("es", "103,5", marks=pytest.mark.proof),
    ],
)
def test_a_trader_logs_in_places_an_order_with_a_comma_and_logs_out(
    new_window: NewWindow, exchange: Exchange, words: Words, language: str, price: str
) -> None:
    trader = exchange.register(f"{language.lower()}.trader@example.com")
    exchange.deposit([(trader, "USD", "1000")])
    screen = new_window(locale=LOCALES[language])
    page = screen.page
    screen.go(f"/login?next=/{SYMBOL}", words("Log in"))
    expect(page.locator("html")).to_have_attribute("lang", language)
    expect(page).to_have_title(re.compile(f"^{re.escape(words('Log in'))} · "))
    page.get_by_role("textbox", name=words("Email")).fill(trader.email)
    page.get_by_role("textbox", name=words("Password")).fill(PASSWORD)
    page.get_by_role("button", name=words("Log in")).click()
    expect(screen.heading(SYMBOL)).to_be_visible()
    screen.segment(words("Order type"), words("Limit"))
    form = page.get_by_role("form", name=words("Order form"))
    form.get_by_role("textbox", name=words("Price"), exact=False).first.fill(price)
    form.get_by_role("textbox", name=words("Amount"), exact=False).first.fill("2,5")
    form.get_by_role("button", name=words("Buy {asset}, {type}", asset=BASE, type=KINDS[language])).click()
    expect(page.get_by_text(words("Order placed"))).to_be_visible()
    row = screen.row(words("Open orders"), SYMBOL)
    expect(row).to_contain_text(price)
    expect(row).to_contain_text("2,5")
    [order] = exchange.call("GET", "orders", token=trader.tokens["accessToken"])
    assert (order["price"], order["quantity"]) == (price.replace(",", "."), "2.5")
    # The market is other tests' too.
    exchange.call("DELETE", "orders", token=trader.tokens["accessToken"])
    # What is asked while the session ends is refused, which the browser reports.
    screen.expect_complaint("status of 401")
    page.get_by_role("button", name=words("Account of {name}", name=trader.email)).click()
    page.get_by_role("menuitem", name=words("Log out")).click()
    expect(page.get_by_role("link", name=words("Log in to trade"))).to_be_visible()


@pytest.mark.parametrize("language", ["de"])
def test_a_refusal_is_told_in_the_language_of_the_page_and_what_has_no_words_is_marked_as_english(
    new_window: NewWindow, words: Words
) -> None:
    screen = new_window(locale=LOCALES["de"])
    page = screen.page
    screen.expect_complaint("status of 401")
    screen.go("/login", words("Log in"))
    page.wait_for_load_state("networkidle")
    page.get_by_role("textbox", name=words("Email")).fill("nobody.at.all@example.com")
    page.get_by_role("textbox", name=words("Password")).fill(PASSWORD)
    page.get_by_role("button", name=words("Log in")).click()
    told = page.get_by_role("alert").filter(has_text=words("Not logged in"))
    expect(told.get_by_text("E-Mail-Adresse oder Passwort ist falsch", exact=True)).not_to_have_attribute("lang", "en")
    refusal = json.dumps({"statusCode": 401, "message": "the moon is full", "code": "INVALID_CREDENTIALS"})
    headers = {"Access-Control-Allow-Origin": "*", "Content-Type": "application/json"}
    page.route(re.compile("/auth/login$"), lambda route: route.fulfill(status=401, headers=headers, body=refusal))
    page.get_by_role("textbox", name=words("Password")).fill(PASSWORD)
    page.get_by_role("button", name=words("Log in")).click()
    expect(told.get_by_text("the moon is full", exact=True)).to_have_attribute("lang", "en")


@pytest.mark.proof
@pytest.mark.parametrize("language", ["de"])
def test_what_is_wrong_with_a_file_of_transactions_is_told_in_the_language_of_the_page(
    new_window: NewWindow, exchange: Exchange, words: Words, tmp_path: Path
) -> None:
    trader = exchange.register(f"{secrets.token_hex(6)}@example.com")
    screen = new_window(trader, locale=LOCALES["de"])
    page = screen.page
    screen.expect_complaint("status of 400")
    screen.go("/positions", words("Positions"))
    screen.tab(words("Tax lots"))
    file = tmp_path / "history.csv"
    file.write_text(
        "externalId,timestamp,type,account,asset,quantity,value\n"
        "uncovered,2024-06-01T00:00:00Z,sell,main,BTC,1.5,30000\n"
        "broken,2024-06-02T00:00:00Z,gift,main,BTC,many,1\n"
    )
    page.get_by_label(words("File of transactions")).set_input_files(file)
    refused = page.get_by_role("list", name=words("Refused lines"))
    expect(refused).to_contain_text("(broken): Art: 'gift' ist keines von diesen: acquisition, buy")
    expect(refused).to_contain_text("; Menge: ist keine Dezimalzahl")
    expect(refused.locator("[lang=en]")).to_have_count(0)
    missing = page.get_by_role("note").filter(has_text="Transaktion uncovered")
    expect(missing).to_contain_text("Die erste: Transaktion uncovered nimmt 1,5 BTC aus dem Konto main, das 0 hält.")
    file.write_text("colour,shape\nred,round\n")
    page.get_by_label(words("File of transactions")).set_input_files(file)
    expect(screen.problem()).to_contain_text("Der Aufbau der Kopfzeile ist nicht bekannt: colour, shape")


@pytest.mark.parametrize("language", ["de"])
def test_the_country_of_the_owner_of_an_address_is_chosen_by_its_name_in_the_language_and_sent_as_its_code(
    new_window: NewWindow, exchange: Exchange, words: Words
) -> None:
    trader = exchange.register(f"{secrets.token_hex(6)}@example.com")
    screen = new_window(trader, locale=LOCALES["de"])
    page = screen.page
    screen.go("/withdrawals?withdraw=SOL", words("Withdraw"))
    page.get_by_role("button", name=words("Add"), exact=True).click()
    dialog = screen.dialog(words("New address"))
    dialog.get_by_role("textbox", name=words("Name"), exact=True).fill("Bob")
    dialog.get_by_role("textbox", name=words("{asset} address on {network}", asset="SOL", network="solana")).fill(
        "9WzDXwBbmkg8ZTbNMqUxvQRAyrZzDsGYdLVL9zYtAWWM"
    )
    dialog.get_by_role("checkbox", name=words("It is my own address")).uncheck()
    dialog.get_by_role("textbox", name=words("Owner's name")).fill("Bob Builder")
    screen.choose(words("Owner's country"), "Österreich", dialog)
    dialog.get_by_role("button", name=words("Save it")).click()
    expect(dialog).to_be_hidden()
    [saved] = exchange.call("GET", "users/me/withdrawal-addresses", token=trader.tokens["accessToken"])
    assert saved["beneficiary"] == {"name": "Bob Builder", "country": "AT", "vaspId": None}


def test_a_language_is_chosen_before_the_login_without_a_reload_and_stays(new_window: NewWindow) -> None:
    screen = new_window()
    page = screen.page
    screen.go("/login", "Log in")
    page.evaluate("window.isSamePage = true")
    choose_language(page, "Deutsch")
    expect(screen.heading("Anmelden")).to_be_visible()
    assert page.evaluate("window.isSamePage") is True
    expect(page.locator("html")).to_have_attribute("lang", "de")
    page.reload()
    expect(screen.heading("Anmelden")).to_be_visible()


@pytest.mark.proof
def test_the_profile_keeps_the_language_and_brings_it_to_another_browser(
    new_window: NewWindow, exchange: Exchange
) -> None:
    trader = exchange.register(f"{secrets.token_hex(6)}@example.com")
    screen = new_window(trader)
    page = screen.page
    screen.go("/account/profile", "Profile")
    with page.expect_response(PROFILE):
        choose_language(page, "Português (Brasil)")
    expect(screen.heading("Perfil")).to_be_visible()
    assert exchange.call("GET", "users/me/profile", token=trader.tokens["accessToken"])["language"] == "pt-BR"
    elsewhere = new_window(trader, locale="de-DE")
    elsewhere.go("/wallet", "Carteira")
    expect(elsewhere.page.locator("html")).to_have_attribute("lang", "pt-BR")


@pytest.mark.proof
def test_a_language_that_the_exchange_did_not_hear_of_is_kept_in_the_profile_later(
    new_window: NewWindow, exchange: Exchange
) -> None:
    trader = exchange.register(f"{secrets.token_hex(6)}@example.com")
    screen = new_window(trader)
    page = screen.page
    screen.go("/account/profile", "Profile")
    page.route(PROFILE, lambda route: route.abort() if route.request.method == "PATCH" else route.fallback())
    screen.expect_complaint("net::ERR_FAILED")
    with page.expect_event("requestfailed"):
        choose_language(page, "Deutsch")
    expect(screen.heading("Profil")).to_be_visible()
    page.unroute(PROFILE)
    with page.expect_response(lambda response: response.request.method == "PATCH"):
        page.reload()
    expect(screen.heading("Profil")).to_be_visible()
    assert exchange.call("GET", "users/me/profile", token=trader.tokens["accessToken"])["language"] == "de"
    # What the profile has is not told again: a choice of another browser stays.
    page.wait_for_function("localStorage.getItem('openspot.language.untold') === null")


@pytest.fixture(scope="module")
def trader(exchange: Exchange) -> Trader:
    """The user whose pages are looked at."""
    return exchange.register(f"{secrets.token_hex(6)}@example.com")


@pytest.fixture(scope="module")
def contexts(
    browser: Browser, browser_context_args: dict[str, Any]
) -> Iterator[dict[tuple[str, bool], BrowserContext]]:
    """Browsers of each language that keep what they have loaded: one without a session, one with it."""
    opened = {
        (language, has_session): browser.new_context(**browser_context_args | {"locale": locale})
        for language, locale in LOCALES.items()
        for has_session in (False, True)
    }
    yield opened
    for context in opened.values():
        context.close()


@pytest.fixture
def screen(
    contexts: dict[tuple[str, bool], BrowserContext],
    pages_url: str,
    trader: Trader,
    words: Words,
    language: str,
    path: str,
    heading: str,
    has_session: bool,
) -> Iterator[TradingScreen]:
    """The page in its language, with everything that it loads."""
    shown = window(contexts[language, has_session].new_page(), pages_url, trader if has_session else None)
    if path == "/margin":
        # The browser reports by itself that there is no margin account yet.
        shown.expect_complaint("status of 404")
    shown.go(path, words(heading))
    expect(shown.page.locator("[aria-busy=true], [class*=Skeleton-root]")).to_have_count(0)
    yield shown
    shown.assert_quiet()
    shown.page.close()


@pytest.mark.proof
@pytest.mark.parametrize("language", LOCALES)
@pytest.mark.parametrize(
    ("path", "heading", "has_session"),
    [*((*page, False) for page in LOGGED_OUT_PAGES), *((*page, True) for page in PAGES)],
)
def test_every_page_is_in_the_language_and_fits(screen: TradingScreen, words: Words, heading: str) -> None:
    assert words.english_only().intersection(screen.page.evaluate(SHOWN)) == set()
    for size in (DESK, PHONE):
        screen.page.set_viewport_size(size)
        screen.assert_fits(f"{heading}, {size['width']} px")
    screen.assert_accessible(heading)
