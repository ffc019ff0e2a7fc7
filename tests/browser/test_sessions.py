"""Logging in and out of the console, and every way in which a session ends (facts A5-23 to A5-30)."""

import json
import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, Route, expect

from openspot.up.child_platform import ChildPlatform
from tests.support.console import Console
from tests.support.operator import Operator

PASSWORD = "a-long-password"


@pytest.fixture(scope="module")
def clerk(operator: Operator) -> str:
    """An administrator beside the first."""
    operator.create("clerk", kind="SUPER_ADMIN", password=PASSWORD, name="The Clerk")
    return "clerk"


@pytest.mark.proof
@pytest.mark.spec("A1.1-19", "A5-24", "B4.4-36", "B4.4-33", "B4.4-34", "B4.4-35")
def test_a_super_administrator_logs_in_and_calls_the_engine_with_the_token(visitor: Console, clerk: str) -> None:
    visitor.open("/", "OpenSpot console")
    visitor.assert_accessible("login")
    visitor.log_in(clerk, PASSWORD)
    expect(visitor.heading("Dashboard")).to_be_visible()
    login, *others = [request for request in visitor.requests if "AdminService" in request.url]
    assert login.url.endswith("/exchange.v1.AdminService/Login")
    assert json.loads(login.post_data or "") == {"participantId": "clerk", "password": PASSWORD}
    assert "authorization" not in login.all_headers()
    assert others
    for request in others:
        headers = request.all_headers()
        assert request.method == "POST"
        assert headers["content-type"] == headers["accept"] == "application/json"
        assert re.fullmatch(r"Bearer \S+", headers["authorization"])
        assert isinstance(json.loads(request.post_data or ""), dict)


@pytest.mark.proof
@pytest.mark.spec("A5-25")
def test_a_system_participant_logs_in(visitor: Console, operator: Operator) -> None:
    operator.create("robot", kind="SYSTEM", password=PASSWORD)
    visitor.open("/", "OpenSpot console")
    visitor.log_in("robot", PASSWORD)
    expect(visitor.heading("Dashboard")).to_be_visible()


@pytest.mark.proof
@pytest.mark.spec("A5-26")
@pytest.mark.parametrize("kind", ["MAKER", "TAKER", "BOTH", "BROKER"])
def test_a_session_of_another_type_is_refused_and_ended(visitor: Console, operator: Operator, kind: str) -> None:
    operator.create(f"other-{kind}", kind=kind, password=PASSWORD)
    visitor.open("/", "OpenSpot console")
    with visitor.page.expect_response("**/*AdminService/Login") as answered:
        visitor.log_in(f"other-{kind}", PASSWORD)
    expect(visitor.problem()).to_contain_text(f"A session of type {kind} may not use the console.")
    expect(visitor.problem()).to_contain_text("Log in as a participant of type SUPER_ADMIN or SYSTEM.")
    expect(visitor.heading("OpenSpot console")).to_be_visible()
    assert visitor.admin_calls() == ["Login", "Logout"]
    token = answered.value.json()["token"]
    assert operator.call("ValidateToken", token=token) == {"valid": False, "participantId": "", "type": ""}


@pytest.mark.proof
@pytest.mark.spec("B4.4-37")
def test_a_wrong_password_says_so_and_empties_the_field(visitor: Console, clerk: str) -> None:
    visitor.open("/", "OpenSpot console")
    visitor.log_in(clerk, "not-the-password")
    expect(visitor.problem()).to_contain_text("participantId or password is wrong")
    expect(visitor.page.get_by_role("textbox", name="Password")).to_have_value("")
    expect(visitor.page.get_by_label("Participant id")).to_have_value(clerk)
    visitor.assert_accessible("wrong password")
    visitor.log_in(clerk, PASSWORD)
    expect(visitor.heading("Dashboard")).to_be_visible()


@pytest.mark.proof
def test_an_inactive_administrator_is_told_so(visitor: Console, operator: Operator) -> None:
    operator.create("retired", kind="SUPER_ADMIN", password=PASSWORD)
    operator.call("DeactivateParticipant", participantId="retired")
    visitor.open("/", "OpenSpot console")
    visitor.log_in("retired", PASSWORD)
    expect(visitor.problem()).to_contain_text("This participant is not active")


@pytest.mark.proof
def test_too_many_logins_say_how_long_to_wait_and_count_down(visitor: Console) -> None:
    # The engine's own refusal comes only to whoever logs in faster than its allowance grows, which a slow machine
    # cannot. The engine's tests hold the refusal itself.
    visitor.page.route(
        "**/*AdminService/Login",
        lambda route: route.fulfill(
            status=429,
            content_type="application/json",
            headers={"Access-Control-Allow-Origin": visitor.url},
            body='{"code": "resource_exhausted", "message": "too many logins, try again in 3 s"}',
        ),
    )
    visitor.expect_complaint("429")
    visitor.open("/", "OpenSpot console")
    visitor.log_in("hasty", PASSWORD)
    expect(visitor.problem()).to_contain_text(re.compile(r"gRPC error: RESOURCE_EXHAUSTED - too many logins"))
    expect(visitor.page.get_by_role("button", name=re.compile(r"Try again in \d+ second"))).to_be_disabled()
    visitor.page.get_by_role("textbox", name="Password").fill(PASSWORD)
    expect(visitor.page.get_by_role("button", name="Log in")).to_be_enabled()


@pytest.mark.proof
@pytest.mark.spec("A5-28")
def test_logout_ends_the_session_at_the_engine(visitor: Console, operator: Operator, clerk: str) -> None:
    login = operator.log_in(clerk, PASSWORD)
    visitor.bring_session(login)
    visitor.open("/", "Dashboard")
    visitor.page.get_by_role("button", name="Account of clerk").click()
    visitor.assert_accessible("account menu")
    visitor.page.get_by_role("menuitem", name="Log out").click()
    expect(visitor.page.get_by_role("note")).to_contain_text("You are logged out.")
    assert operator.call("ValidateToken", token=login.token)["valid"] is False
    visitor.page.reload()
    expect(visitor.heading("OpenSpot console")).to_be_visible()


@pytest.mark.proof
@pytest.mark.spec("A5-30")
def test_validate_token_is_never_called(visitor: Console, operator: Operator, clerk: str) -> None:
    visitor.open("/", "OpenSpot console")
    visitor.log_in(clerk, PASSWORD)
    expect(visitor.heading("Dashboard")).to_be_visible()
    for name in ("Orders", "Trades", "Participants", "Balances", "Risk", "Symbols", "Currencies"):
        visitor.page.get_by_role("navigation").get_by_role("link", name=name, exact=True).click()
        expect(visitor.heading(name)).to_be_visible()
    visitor.page.reload()
    expect(visitor.heading("Currencies")).to_be_visible()
    calls = visitor.admin_calls()
    assert {"Login", "GetExchangeStats", "ListOrders"} <= set(calls)
    assert "ValidateToken" not in calls


@pytest.mark.proof
@pytest.mark.spec("A5-29")
def test_a_session_that_expires_is_announced_and_then_cleared(console: Console, operator: Operator) -> None:
    console.page.clock.install()
    console.open("/participants", "Participants")
    expect(console.row("Participants", "admin", "SUPER_ADMIN").first).to_be_visible()
    notice = console.page.get_by_text("Your session ends at")
    expect(notice).to_be_hidden()
    left_ms = operator.login.expires_at - console.page.evaluate("Date.now()")
    console.page.clock.fast_forward(left_ms - 4 * 60_000)
    expect(notice).to_be_visible()
    console.assert_accessible("session about to end")
    console.page.clock.fast_forward(5 * 60_000)
    expect(console.page.get_by_role("note")).to_contain_text("Your session has expired.")
    # Nothing of the session is left on the page, and its address waits for the next one.
    expect(console.table("Participants")).to_be_hidden()
    assert console.page.url.endswith("/console/participants")
    assert console.page.evaluate("sessionStorage.getItem('openspot.console.session')") is None


@pytest.mark.proof
def test_a_session_can_be_prolonged_without_leaving_the_page(visitor: Console, operator: Operator, clerk: str) -> None:
    login = operator.log_in(clerk, PASSWORD)
    visitor.bring_session(login)
    visitor.page.clock.install()
    visitor.open("/orders?status=OPEN", "Orders")
    left_ms = login.expires_at - visitor.page.evaluate("Date.now()")
    visitor.page.clock.fast_forward(left_ms - 4 * 60_000)
    visitor.page.get_by_role("button", name="Stay logged in").click()
    dialog = visitor.dialog("Stay logged in")
    dialog.get_by_label("Password of clerk").fill(PASSWORD)
    with visitor.page.expect_response("**/*AdminService/Logout"):
        dialog.get_by_role("button", name="Go on").click()
    expect(visitor.toast("You stay logged in")).to_be_visible()
    expect(dialog).to_be_hidden()
    expect(visitor.heading("Orders")).to_be_visible()
    kept = json.loads(visitor.page.evaluate("sessionStorage.getItem('openspot.console.session')"))
    assert kept["token"] != login.token
    assert operator.call("ValidateToken", token=kept["token"])["valid"] is True
    assert operator.call("ValidateToken", token=login.token)["valid"] is False


@pytest.mark.proof
@pytest.mark.spec("A5-23", "A7-17")
def test_a_session_that_the_engine_ended_leads_to_the_login_and_back(
    visitor: Console, operator: Operator, clerk: str
) -> None:
    login = operator.log_in(clerk, PASSWORD)
    visitor.bring_session(login)
    visitor.expect_complaint("401")
    visitor.open("/balances?participant=admin", "Balances")
    operator.log_out(login.token)
    expect(visitor.page.get_by_role("note")).to_contain_text("The engine ended your session.")
    visitor.log_in(clerk, PASSWORD)
    expect(visitor.heading("Balances")).to_be_visible()
    assert visitor.page.url.endswith("/console/balances?participant=admin")


@pytest.fixture
def _without_logout(page: Page) -> Iterator[None]:
    def refuse(route: Route) -> None:
        route.abort()

    page.route("**/*AdminService/Logout", refuse)
    yield
    page.unroute("**/*AdminService/Logout", refuse)


@pytest.mark.proof
@pytest.mark.usefixtures("_without_logout")
def test_a_logout_that_the_engine_does_not_confirm_says_so(visitor: Console, operator: Operator, clerk: str) -> None:
    login = operator.log_in(clerk, PASSWORD)
    visitor.bring_session(login)
    visitor.expect_complaint("ERR_FAILED")
    visitor.open("/", "Dashboard")
    visitor.page.get_by_role("button", name="Account of clerk").click()
    visitor.page.get_by_role("menuitem", name="Log out").click()
    expect(visitor.page.get_by_role("note")).to_contain_text("the engine did not confirm it")
    assert operator.call("ValidateToken", token=login.token)["valid"] is True


@pytest.mark.spec("A1-05")
def test_the_console_speaks_to_its_server_and_to_the_engine_alone(console: Console, platform: ChildPlatform) -> None:
    console.open("/", "Dashboard")
    for name in (
        "Orders",
        "Trades",
        "Participants",
        "Balances",
        "Risk",
        "Symbols",
        "Currencies",
        "Withdrawals",
        "Health",
    ):
        console.page.get_by_role("navigation").get_by_role("link", name=name, exact=True).click()
        expect(console.heading(name)).to_be_visible()
    origins = {console.url, platform.settings.engine_url}
    elsewhere = {request.url for request in console.requests if "/".join(request.url.split("/")[:3]) not in origins}
    # The REST edge has the operator's own views of lists, and who is to decide on a withdrawal.
    asked = ("views", "withdrawals/assignees")
    assert elsewhere == {f"{platform.settings.rest_url}/api/v1/operator/{path}" for path in asked}
