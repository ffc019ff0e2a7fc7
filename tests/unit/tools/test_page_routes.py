"""The list of pages is that of the applications, and the tests that visit every page visit that list."""

import page_routes
import pytest
from page_routes import routes

from tests.browser import test_every_page, test_states

VISITED = {
    "console": {*(path for path, _ in test_states.PAGES), "/login"},
    "trade": {path for path, _ in (*test_every_page.LOGGED_OUT_PAGES, *test_every_page.PAGES)},
}
CHOSEN = {"/participants/grace": "/participants/:participantId"}
NO_PAGES = {"/no/such/page"}


@pytest.mark.parametrize("application", page_routes.APPLICATIONS)
def test_the_browser_tests_visit_every_page(application: str) -> None:
    visited = {CHOSEN.get(path, path) for path in VISITED[application]} - NO_PAGES
    assert visited == set(routes(application))


def test_the_pages_of_the_account_stand_one_by_one() -> None:
    assert "/account/security" in routes("trade")
    assert page_routes.ACCOUNT not in routes("trade")
