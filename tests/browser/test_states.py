"""States that every page has: both themes, both widths, failure, silence, and the keyboard alone."""

import re
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from playwright.sync_api import Route, expect

from openspot.up.child_platform import ChildPlatform
from openspot.web_server.page_config import PageConfig
from tests.support.console import Console
from tests.support.operator import Operator
from tests.support.ports import free_port

PAGES = (
    ("/", "Dashboard"),
    ("/orders", "Orders"),
    ("/trades", "Trades"),
    ("/participants", "Participants"),
    ("/participants/new", "New participant"),
    ("/participants/grace", "grace"),
    ("/balances", "Balances"),
    ("/risk", "Risk"),
    ("/listings", "Listings"),
    ("/listings/new", "List a market"),
    ("/listings/BTC-USD", "Changes of BTC-USD"),
    ("/symbols", "Symbols"),
    ("/symbols/new", "New symbol"),
    ("/currencies", "Currencies"),
    ("/operators", "Operators"),
    ("/trail", "Audit trail"),
    ("/access", "Types and permissions"),
    ("/withdrawals", "Withdrawals"),
    ("/health", "Health"),
)
FIRST_PAGES = ("/orders", "/participants/new")
"""A list and a form. `make test` looks at these, `make proof` at the others."""
LISTS = (
    ("/orders", "Orders", "ListOrders", "order"),
    ("/trades", "Trades", "ListTrades", "trade"),
    ("/participants", "Participants", "ListParticipants", "SUPER_ADMIN"),
    ("/participants/grace", "grace", "GetParticipant", "BOTH"),
    ("/balances?participant=grace", "Balances", "ListBalances", "STATE"),
    ("/risk?participant=grace", "Risk", "ListRiskMetrics", "STATE"),
    ("/", "Dashboard", "GetExchangeStats", "Connected"),
)


@pytest.fixture(scope="module", autouse=True)
def _rows(operator: Operator) -> None:
    """Something to show on every page."""
    for name in ("grace", "heidi"):
        operator.create(name, name=f"{name.title()} of the tests")
        operator.fund(name, USD="100000")
    operator.create_market("STATE")
    operator.fund("grace", STATE="10")
    operator.place("grace", "sell", "123.45", "0.5", "STATE-USD")
    operator.place("heidi", "buy", "123.45", "0.2", "STATE-USD")


@pytest.mark.parametrize(
    ("path", "heading"),
    [pytest.param(*page, marks=[] if page[0] in FIRST_PAGES else [pytest.mark.proof]) for page in PAGES],
)
def test_every_page_fits_every_width_and_is_accessible(console: Console, path: str, heading: str) -> None:
    """In the dark theme: the states in other tests are looked at in the light one."""
    console.page.emulate_media(color_scheme="dark", reduced_motion="reduce")
    console.open(path, heading)
    expect(console.page.locator("[aria-busy=true]")).to_have_count(0)
    for width in (3840, 390, 1440):
        console.page.set_viewport_size({"width": width, "height": 900})
        console.assert_fits(f"{heading}, {width}")
    expect(console.page.locator("html")).to_have_attribute("data-mantine-color-scheme", "dark")
    console.assert_accessible(f"{heading}, dark, 1440")


@pytest.mark.proof
def test_on_a_phone_the_navigation_opens_and_closes(console: Console) -> None:
    console.page.set_viewport_size({"width": 390, "height": 844})
    console.open("/", "Dashboard")
    link = console.page.get_by_role("link", name="Orders", exact=True)
    expect(link).not_to_be_in_viewport()
    console.page.get_by_role("button", name="Open the navigation").click()
    expect(link).to_be_in_viewport()
    console.assert_accessible("navigation on a phone")
    link.click()
    expect(console.heading("Orders")).to_be_visible()
    expect(link).not_to_be_in_viewport()


@pytest.mark.proof
def test_the_theme_and_the_zone_are_kept(console: Console) -> None:
    console.open("/trades", "Trades")
    console.page.get_by_role("button", name="Display settings").click()
    console.page.get_by_text("Dark", exact=True).click()
    console.choose("Time zone", "Asia/Tokyo")
    expect(console.page.locator("html")).to_have_attribute("data-mantine-color-scheme", "dark")
    console.assert_accessible("display settings")
    console.page.reload()
    expect(console.page.locator("html")).to_have_attribute("data-mantine-color-scheme", "dark")
    time = console.row("Trades", "grace").first.locator("time")
    # The test's browser is in UTC: Tokyo is nine hours ahead of what the pointer shows.
    shown = time.inner_text()
    time.hover()
    tip = console.page.get_by_role("tooltip", name=re.compile("UTC$"))
    expect(tip).to_be_visible()
    utc = re.search(r" (\d\d):(\d\d)", tip.inner_text())
    tokyo = re.search(r" (\d\d):(\d\d)", shown)
    assert utc is not None and tokyo is not None
    assert (int(tokyo[1]) - int(utc[1])) % 24 == 9 and tokyo[2] == utc[2]


@pytest.mark.proof
def test_every_page_is_reached_and_left_by_keyboard_alone(console: Console, operator: Operator) -> None:
    console.open("/", "Dashboard")
    keyboard = console.page.keyboard
    for key, heading in (("o", "Orders"), ("t", "Trades"), ("p", "Participants"), ("a", "Types and permissions")):
        keyboard.press("g")
        keyboard.press(key)
        expect(console.heading(heading)).to_be_focused()
    keyboard.press("?")
    expect(console.dialog("Keyboard shortcuts")).to_be_visible()
    console.assert_accessible("shortcuts")
    keyboard.press("Escape")
    expect(console.dialog("Keyboard shortcuts")).to_be_hidden()
    keyboard.press("g")
    keyboard.press("o")
    expect(console.heading("Orders")).to_be_visible()
    keyboard.press("/")
    expect(console.page.get_by_role("textbox", name="Participant id")).to_be_focused()
    # Letters that are typed into a field are no shortcuts.
    keyboard.type("gt?")
    expect(console.page.get_by_role("textbox", name="Participant id")).to_have_value("gt?")
    expect(console.heading("Orders")).to_be_visible()


def _await_menu(console: Console) -> None:
    """Wait until a menu has taken the focus; a key that comes earlier is its button's."""
    expect(console.page.locator("[role=menu]:focus, [role=menu] :focus")).to_have_count(1)
    # The library sets the focus by two timers. An arrow key that comes between both is undone by the second.
    console.page.evaluate("() => new Promise((done) => window.setTimeout(done))")


@pytest.mark.proof
def test_a_row_is_acted_on_with_the_keyboard_alone(console: Console, operator: Operator) -> None:
    order_id = operator.place("grace", "buy", "5", "1", "STATE-USD")
    console.open("/orders?participant=grace&status=OPEN", "Orders")
    keyboard = console.page.keyboard
    button = console.page.get_by_role("button", name=f"Actions for order {order_id}", exact=True)
    button.focus()
    keyboard.press("Enter")
    _await_menu(console)
    keyboard.press("Escape")
    expect(button).to_be_focused()
    expect(button).to_have_attribute("aria-expanded", "false")
    keyboard.press("Enter")
    _await_menu(console)
    expect(button).to_have_attribute("aria-expanded", "true")
    keyboard.press("ArrowUp")
    expect(console.page.get_by_role("menuitem", name="Force-cancel…")).to_be_focused()
    keyboard.press("Enter")
    dialog = console.dialog(f"Force-cancel order {order_id}?")
    expect(dialog.get_by_label("Reason")).to_be_focused()
    keyboard.type("by keyboard")
    keyboard.press("Tab")
    keyboard.type("CANCEL")
    keyboard.press("Enter")
    expect(console.toast(f"Order {order_id} is cancelled")).to_be_visible()
    assert operator.order(order_id)["status"] == "CANCELLED"


@pytest.mark.proof
def test_the_menu_of_a_row_stays_in_sight_where_its_table_is_wider_than_its_place(
    console: Console, operator: Operator
) -> None:
    order_id = operator.place("grace", "buy", "6", "1", "STATE-USD")
    console.open("/orders?participant=grace&status=OPEN", "Orders")
    console.page.set_viewport_size({"width": 800, "height": 900})
    region = console.page.get_by_role("region", name="Orders, scrollable")
    expect(region).to_have_attribute("data-wide", "")
    button = console.page.get_by_role("button", name=f"Actions for order {order_id}", exact=True)
    for scrolled in (0, 10_000):
        region.evaluate("(element, left) => element.scrollTo({ left })", scrolled)
        place, found = region.bounding_box(), button.bounding_box()
        assert place is not None
        assert found is not None
        assert place["x"] <= found["x"]
        assert found["x"] + found["width"] <= place["x"] + place["width"]
    console.page.set_viewport_size({"width": 1920, "height": 900})
    expect(region).not_to_have_attribute("data-wide", "")


@pytest.mark.proof
def test_what_the_keyboard_is_on_is_visible(console: Console) -> None:
    console.open("/orders", "Orders")
    expect(console.row("Orders", "grace").first).to_be_visible()
    console.page.keyboard.press("Tab")
    for _ in range(15):
        focused = console.page.evaluate(
            """() => {
                const element = document.activeElement;
                const inside = element.closest("[class*=Input-wrapper]") ?? element;
                const style = getComputedStyle(element);
                const border = getComputedStyle(element).borderColor;
                const outlined = style.outlineStyle !== "none" && parseFloat(style.outlineWidth) >= 1;
                return { name: element.outerHTML.slice(0, 120), seen: outlined || inside !== element, border };
            }"""
        )
        assert focused["seen"], focused
        console.page.keyboard.press("Tab")


@pytest.mark.proof
@pytest.mark.spec("A7-17")
@pytest.mark.parametrize(("path", "heading", "method", "text"), LISTS)
def test_a_failure_before_any_data_is_explained_and_can_be_retried(
    console: Console, path: str, heading: str, method: str, text: str
) -> None:
    def fail(route: Route) -> None:
        route.fulfill(
            status=500,
            content_type="application/json",
            headers={"Access-Control-Allow-Origin": console.url},
            body='{"code": "internal", "message": "internal error"}',
        )

    console.expect_complaint("500")
    console.stop_polling()
    pattern = f"**/*AdminService/{method}"
    console.page.route(pattern, fail)
    console.open(path, heading)
    problem = console.problem().filter(has_text="gRPC error: INTERNAL - internal error").first
    expect(problem).to_contain_text("The engine failed at this request")
    console.assert_accessible(f"{heading}, failed")
    console.page.unroute(pattern, fail)
    problem.get_by_role("button", name="Try again").click()
    expect(problem).to_be_hidden()
    expect(console.page.get_by_text(text).first).to_be_visible()


@pytest.mark.proof
def test_old_data_stays_visible_and_marked_while_the_engine_is_silent(console: Console) -> None:
    console.expect_complaint("ERR_FAILED")
    console.open("/orders", "Orders")
    expect(console.row("Orders", "grace").first).to_be_visible()
    expect(console.page.get_by_role("status").filter(has_text="Connected")).to_be_visible()
    console.page.route("**/*AdminService/*", lambda route: route.abort())
    stale = console.problem().filter(has_text="Shown as of")
    expect(stale).to_contain_text("The engine does not respond")
    expect(stale).to_contain_text("OPENSPOT_CONSOLE_ORIGINS")
    expect(console.page.get_by_role("status").filter(has_text="No connection")).to_be_visible()
    expect(console.row("Orders", "grace").first).to_be_visible()
    console.assert_accessible("stale orders")
    console.page.unroute("**/*AdminService/*")
    expect(stale).to_be_hidden()
    expect(console.page.get_by_role("status").filter(has_text="Connected")).to_be_visible()


@pytest.mark.proof
def test_without_a_network_an_engine_of_this_computer_does_not_respond(console: Console) -> None:
    console.expect_complaint("ERR_INTERNET_DISCONNECTED")
    console.open("/risk?participant=grace", "Risk")
    expect(console.row("Risk metrics", "grace").first).to_be_visible()
    console.page.context.set_offline(True)
    stale = console.problem().filter(has_text="The engine does not respond")
    expect(stale).to_be_visible()
    console.page.context.set_offline(False)
    expect(stale).to_be_hidden()


@pytest.mark.proof
def test_an_engine_that_was_killed_and_came_back_needs_no_reload(console: Console, platform: ChildPlatform) -> None:
    console.expect_complaint("ERR_CONNECTION_REFUSED|ERR_CONNECTION_RESET|ERR_EMPTY_RESPONSE|ERR_SOCKET_NOT_CONNECTED")
    console.open("/participants", "Participants")
    expect(console.row("Participants", "SUPER_ADMIN").first).to_be_visible()
    killed = platform.kill("engine")
    # A killed engine is started again at once: without this, the page's next call may already find the new one.
    console.page.route("**/*AdminService/*", lambda route: route.abort("connectionrefused"))
    expect(console.page.get_by_role("status").filter(has_text="No connection")).to_be_visible()
    console.page.unroute("**/*AdminService/*")
    expect(console.page.get_by_role("status").filter(has_text="Connected")).to_be_visible()
    expect(console.row("Participants", "SUPER_ADMIN").first).to_be_visible()
    expect(console.heading("Participants")).to_be_visible()
    assert platform.pid("engine") != killed


@pytest.fixture
def gateway() -> Iterator[str]:
    """A gateway that speaks binary gRPC-Web alone: everything else gets 415."""

    class Gateway(BaseHTTPRequestHandler):
        def do_OPTIONS(self) -> None:
            self._respond(204)

        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["Content-Length"]))
            assert self.headers["Content-Type"] == "application/json"
            self._respond(415)

        def _respond(self, status: int) -> None:
            self.send_response(status)
            for name in ("Origin", "Headers", "Methods"):
                self.send_header(f"Access-Control-Allow-{name}", "*")
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *parts: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Gateway)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.mark.proof
@pytest.mark.spec("A7-16", "A7-17")
def test_a_gateway_that_takes_no_json_is_named(
    visitor: Console, serve: Callable[[PageConfig], str], gateway: str, platform: ChildPlatform
) -> None:
    visitor.url = serve(PageConfig(gateway, platform.settings.rest_url, platform.settings.ws_url))
    visitor.expect_complaint("415")
    visitor.open("/", "OpenSpot console")
    visitor.log_in("admin", "whatever-it-is")
    expect(visitor.problem()).to_contain_text("gRPC error: 415 - Unsupported Media Type")
    expect(visitor.problem()).to_contain_text("speaks binary gRPC-Web only")
    visitor.assert_accessible("415")


@pytest.mark.proof
def test_an_address_without_an_engine_is_named_at_login(
    visitor: Console, serve: Callable[[PageConfig], str], platform: ChildPlatform
) -> None:
    address = f"http://127.0.0.1:{free_port()}"
    visitor.url = serve(PageConfig(address, platform.settings.rest_url, platform.settings.ws_url))
    visitor.expect_complaint("ERR_CONNECTION_REFUSED")
    visitor.open("/", "OpenSpot console")
    visitor.log_in("admin", "whatever-it-is")
    expect(visitor.problem()).to_contain_text("The engine does not respond")
    expect(visitor.problem()).to_contain_text(address)


@pytest.mark.proof
def test_pages_without_a_configuration_say_so_and_try_again(visitor: Console) -> None:
    visitor.expect_complaint("503")
    visitor.page.route("**/config.json", lambda route: route.fulfill(status=503))
    visitor.page.goto(f"{visitor.url}/console/")
    expect(visitor.problem()).to_contain_text("The console has no configuration")
    expect(visitor.problem()).to_contain_text("the web server returned 503")
    visitor.assert_accessible("no configuration")
    visitor.page.unroute("**/config.json")
    visitor.page.get_by_role("button", name="Try again").click()
    expect(visitor.heading("OpenSpot console")).to_be_visible()


@pytest.mark.proof
@pytest.mark.spec("A2.6-10", "A2.6-11")
def test_the_catalogue_shows_types_and_permissions(console: Console) -> None:
    console.open("/access", "Types and permissions")
    types = console.page.get_by_role("region", name="Participant types").get_by_role("listitem")
    expect(types).to_have_count(14)
    expect(types.filter(has_text="Can be created")).to_have_count(6)
    permissions = console.page.get_by_role("region", name="Permissions")
    shown = permissions.get_by_role("rowheader")
    assert shown.count() >= 60
    console.choose("Held by", "TREASURER")
    expect(shown.filter(has_text="withdrawals.approve")).to_have_count(1)
    expect(shown.filter(has_text="orders.place")).to_have_count(0)
    assert "type=TREASURER" in console.page.url
