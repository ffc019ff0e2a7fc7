"""The list of pages is that of the applications: tests visit each of them, the guide names it, and it has pictures."""

import re
from pathlib import Path

import page_pictures
import page_routes
import pytest
from page_routes import routes

from tests.browser import test_every_page, test_people, test_states

DOCS = Path(__file__).resolve().parents[3] / "docs"
GUIDE = DOCS / "guides/trading-screen.md"
PICTURES = DOCS / "pictures"
VISITED = {
    "console": {*(path for path, _ in (*test_states.PAGES, *test_people.PAGES)), test_people.USER_PAGE, "/login"},
    "trade": {path for path, _ in (*test_every_page.LOGGED_OUT_PAGES, *test_every_page.PAGES)},
}
CHOSEN = {"/participants/grace": "/participants/:participantId", "/listings/BTC-USD": "/listings/:symbol"}
NO_PAGES = {"/no/such/page"}


@pytest.mark.parametrize("application", page_routes.APPLICATIONS)
def test_the_browser_tests_visit_every_page(application: str) -> None:
    visited = {CHOSEN.get(path, path) for path in VISITED[application]} - NO_PAGES
    assert visited == set(routes(application))


def test_the_pictures_log_in_for_the_pages_that_need_a_session() -> None:
    paths = {path for path, _ in test_every_page.LOGGED_OUT_PAGES}
    assert set(page_pictures.WITHOUT_SESSION) == paths - {page_pictures.MARKETS}


def test_the_pages_of_the_account_stand_one_by_one() -> None:
    assert "/account/security" in routes("trade")
    assert page_routes.ACCOUNT not in routes("trade")


def test_the_guide_of_the_trading_screen_names_every_page() -> None:
    named = {f"/{path}" for path in re.findall(r"`/trade/([a-z/-]+)`", GUIDE.read_text("utf-8"))}
    assert set(routes("trade")) - {"/"} - named == set()


@pytest.mark.parametrize("application", page_routes.APPLICATIONS)
def test_every_page_has_its_pictures(application: str) -> None:
    drawn = {picture.name for picture in (PICTURES / application).iterdir()}
    names = {page_pictures.name_of(path) for path in set(routes(application)) - {page_pictures.MARKETS}}
    assert {f"{name}-390-dark.png" for name in names} - drawn == set()
