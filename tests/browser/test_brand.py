"""An exchange in the brand of its operator, as the guide makes it: both pages and the mails, without a new build."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

from openspot.up.child_platform import ChildPlatform
from tests.browser.conftest import serving_platform
from tests.support.coin_pictures import SVG
from tests.support.console import Console
from tests.support.trading_screen import Exchange, NewWindow

pytestmark = pytest.mark.proof

GUIDE = Path(__file__).resolve().parents[2] / "docs/guides/brand.md"
NAME = "Example Exchange"
FILLED = {"light": "rgb(122, 31, 162)", "dark": "rgb(142, 53, 181)"}
"""The guide's colours of buttons, #7a1fa2 and #8e35b5."""


def examples() -> tuple[str, str]:
    """The guide's brand.toml, and its mail for a new password."""
    text = GUIDE.read_text("utf-8")
    toml = re.search(r"```toml\n(.*?)```", text, re.DOTALL)
    mail = re.search(r"```\n(A new password.*?)```", text, re.DOTALL)
    assert toml is not None
    assert mail is not None
    return toml[1], mail[1]


@pytest.fixture(scope="module")
def branded(pages_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ChildPlatform]:
    """A platform with a brand."""
    folder = tmp_path_factory.mktemp("brand")
    toml, mail = examples()
    (folder / "brand.toml").write_text(toml, "utf-8")
    (folder / "logo.svg").write_bytes(SVG)
    (folder / "legal").mkdir()
    (folder / "legal/terms.md").write_text("# Terms of use\n\nTrade *fairly*.\n", "utf-8")
    (folder / "mails").mkdir()
    (folder / "mails/reset_password.en.txt").write_text(mail, "utf-8")
    with serving_platform(pages_folder, {"OPENSPOT_BRAND": str(folder)}) as (platform, _):
        yield platform


@pytest.fixture(scope="module")
def exchange(branded: ChildPlatform) -> Exchange:
    """Its REST edge."""
    return Exchange(branded)


@pytest.fixture(scope="module")
def pages_url(branded: ChildPlatform) -> str:
    """Its pages."""
    return str(branded.settings.web_url)


def expect_the_logo(place: Locator) -> None:
    """Wait until the operator's picture stands there, and fail if it is none."""
    logo = place.locator("img[src$='/brand/logo.svg']")
    expect(logo).to_be_visible()
    logo.evaluate("image => image.decode()")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_trading_screen_has_name_logo_colours_links_and_legal_texts(
    new_window: NewWindow, exchange: Exchange, tmp_path: Path, scheme: str
) -> None:
    screen = new_window(color_scheme=scheme)
    page = screen.page
    screen.go("/markets", "Markets")
    expect(page).to_have_title(re.compile(NAME))
    expect(page.get_by_role("link", name=f"{NAME}, markets")).to_be_visible()
    expect_the_logo(page.get_by_role("banner"))
    assert "OpenSpot" not in page.locator("body").inner_text()
    button = page.get_by_role("link", name="Register", exact=True)
    expect(button).to_have_css("background-color", FILLED[scheme])
    page.screenshot(path=tmp_path / f"brand-{scheme}.png")
    expect(page.get_by_role("link", name="Help", exact=True)).to_have_attribute("href", "https://help.example.com")
    page.get_by_role("link", name="Terms of use").first.click()
    expect(page.get_by_role("heading", name="Terms of use")).to_be_visible()
    expect(page.locator("em")).to_have_text("fairly")

    screen.go("/register", "Create an account")
    expect(page.get_by_role("main").get_by_role("link", name="Terms of use")).to_be_visible()


def test_the_console_has_name_and_logo(page: Page, pages_url: str, tmp_path: Path) -> None:
    console = Console(page, pages_url)
    page.goto(f"{pages_url}/console")
    expect(page).to_have_title(re.compile(NAME))
    expect(console.heading(f"{NAME} console")).to_be_visible()
    expect_the_logo(page.locator("body"))
    page.screenshot(path=tmp_path / "brand-console.png")
    assert "OpenSpot" not in page.locator("body").inner_text()
    console.assert_quiet()


def test_mails_are_in_the_operators_words_or_end_with_the_signature(exchange: Exchange) -> None:
    trader = exchange.register("branded@example.com")
    verification = exchange.mail_text(trader.email, "Confirm your email address")
    assert verification.endswith("\nYour team of\nExample Exchange\n")
    assert "OpenSpot" not in verification
    exchange.call("POST", "auth/forgot-password", {"email": trader.email})
    text = exchange.mail_text(trader.email, f"A new password for {NAME}")
    assert text.startswith("Dear customer,")
    assert "OpenSpot" not in text
