"""Notifications on devices: the switch of the account's page, and the worker that shows what is pushed."""

import json
import secrets
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, expect

from tests.support.console import OPPOSITE_LOOKS
from tests.support.push_service import new_device
from tests.support.trading_screen import Exchange, NewWindow, Trader, TradingScreen
from tests.support.waiting import until

pytestmark = pytest.mark.proof

SUBSCRIBED = """({ endpoint, keys }) => {
    // No browser of a test reaches a push service: what its maker's would reply stands here.
    const kept = "test.subscribed";
    const subscription = {
        endpoint, options: { applicationServerKey: null }, toJSON: () => ({ endpoint, keys }),
        unsubscribe: async () => { sessionStorage.removeItem(kept); return true; },
    };
    PushManager.prototype.getSubscription = async () => sessionStorage.getItem(kept) ? subscription : null;
    PushManager.prototype.subscribe = async ({ userVisibleOnly, applicationServerKey }) => {
        if (!userVisibleOnly || applicationServerKey.length !== 65) throw new Error("not as browsers want it");
        sessionStorage.setItem(kept, "yes");
        return subscription;
    };
}"""
SHOWN = """async () => {
    const registration = await navigator.serviceWorker.ready;
    return (await registration.getNotifications()).map(({ title, body, tag }) => ({ title, body, tag }));
}"""
PUSH = "https://updates.push.services.mozilla.com/wpush/v2/"
RENEW = """async ([old, renewed]) => {
    // No browser of a test reaches a push service, and none ends a subscription when it is asked to.
    const device = await caches.open("device");
    await device.put("/trade/subscription.json", Response.json({ ...old, applicationKey: [4] }));
    const work = [];
    const event = new Event("pushsubscriptionchange");
    event.newSubscription = { toJSON: () => renewed };
    event.waitUntil = (promise) => work.push(promise);
    self.dispatchEvent(event);
    await Promise.all(work);
}"""
CLICK = """async () => {
    const [notification] = await self.registration.getNotifications();
    self.dispatchEvent(new NotificationEvent("notificationclick", { notification }));
}"""


@pytest.fixture(scope="module")
def browser(launch_browser: Callable[..., Browser], complete_chromium_path: str) -> Iterator[Browser]:
    """A browser with windows: one without them refuses notifications."""
    running = launch_browser(executable_path=complete_chromium_path)
    yield running
    running.close()


@pytest.fixture
def trader(exchange: Exchange) -> Trader:
    """A user of this test alone."""
    return exchange.register(f"{secrets.token_hex(6)}@example.com")


def push(screen: TradingScreen, message: Any) -> None:
    """Let the browser deliver a message to its worker, as its push service would."""
    browser = screen.page.context.new_cdp_session(screen.page)
    found: list[Any] = []
    browser.on("ServiceWorker.workerRegistrationUpdated", lambda event: found.extend(event["registrations"]))
    browser.send("ServiceWorker.enable")
    # A round trip, with which the browser's event comes.
    until(lambda: (screen.page.evaluate("0"), found)[1], "the worker's registration")
    browser.send(
        "ServiceWorker.deliverPushMessage",
        {
            "origin": screen.url,
            "registrationId": found[0]["registrationId"],
            "data": message if isinstance(message, str) else json.dumps(message),
        },
    )
    browser.detach()


def expect_shown(screen: TradingScreen, notifications: list[dict[str, str]]) -> None:
    """Wait until the device shows these notifications."""
    script = f"async wanted => JSON.stringify(await ({SHOWN})()) === JSON.stringify(wanted)"
    screen.page.wait_for_function(script, arg=notifications)


def test_a_device_is_turned_on_listed_and_off_again_with_the_logout(
    new_window: NewWindow, exchange: Exchange, trader: Trader
) -> None:
    screen = new_window(trader, service_workers="allow", permissions=["notifications"])
    page = screen.page
    page.add_init_script(f"({SUBSCRIBED})({json.dumps(new_device())})")
    screen.go("/account/notifications", "Notifications")
    switch = page.get_by_role("switch", name="Notify me on this device")
    expect(switch).to_be_enabled()
    expect(switch).not_to_be_checked()
    switch.click()
    expect(screen.toast("This device is notified")).to_be_visible()
    expect(switch).to_be_checked()
    devices = page.get_by_role("table", name="Devices that are notified")
    expect(devices.get_by_text("This one")).to_be_visible()
    screen.look_over("the devices of a user", OPPOSITE_LOOKS)
    [kept] = exchange.call("GET", "push-subscriptions", token=trader.tokens["accessToken"])
    assert kept["current"] is True
    switch.click()
    expect(switch).not_to_be_checked()
    assert exchange.call("GET", "push-subscriptions", token=trader.tokens["accessToken"]) == []
    # Another event than the default: refused orders come to devices when the user says so.
    refused = page.get_by_role("switch", name="Order refused, on devices")
    expect(refused).not_to_be_checked()
    refused.press("Space")
    expect(screen.toast("Order refused on devices is on.")).to_be_visible()
    switch.click()
    expect(switch).to_be_checked()
    page.get_by_role("button", name=trader.email).click()
    page.get_by_role("menuitem", name="Log out").click()
    expect(screen.heading("Log in")).to_be_visible()
    page.wait_for_function("() => sessionStorage.getItem('test.subscribed') === null")


def test_a_browser_that_forbids_notifications_is_told_where_to_allow_them(
    new_window: NewWindow, trader: Trader
) -> None:
    screen = new_window(trader, service_workers="allow")
    screen.page.add_init_script("Object.defineProperty(Notification, 'permission', { get: () => 'denied' })")
    screen.go("/account/notifications", "Notifications")
    switch = screen.page.get_by_role("switch", name="Notify me on this device")
    expect(switch).to_be_disabled()
    expect(switch).to_have_accessible_description(
        "The browser forbids it. Allow notifications of this site in its settings, then reload the page."
    )


def test_the_worker_shows_a_message_once_leads_to_it_and_renews_its_subscription(
    new_window: NewWindow, exchange: Exchange, trader: Trader
) -> None:
    screen = new_window(trader, service_workers="allow", permissions=["notifications"])
    page = screen.page
    screen.go("/wallet", "Wallet")
    page.evaluate("navigator.serviceWorker.ready.then(() => true)")
    message = {"id": "a:1", "kind": "price.alert", "title": "Preisalarm: BTC-USD", "text": "Bei 70000.", "createdAt": 1}
    push(screen, message)
    push(screen, message)
    shown = {"title": "Preisalarm: BTC-USD", "body": "Bei 70000.", "tag": "a:1"}
    expect_shown(screen, [shown])
    [worker] = page.context.service_workers
    worker.evaluate(CLICK)
    expect(screen.heading("Price alerts")).to_be_visible()
    expect_shown(screen, [])
    # The push service has ended the subscription: the worker brings the exchange another one, without the session.
    old, renewed = new_device(f"{PUSH}old"), new_device(f"{PUSH}renewed")
    token = trader.tokens["accessToken"]
    exchange.call("POST", "push-subscriptions", old, token)
    worker.evaluate(RENEW, [old, renewed])
    [device] = exchange.call("GET", "push-subscriptions", token=token)
    assert device["endpoint"] == renewed["endpoint"]
    # A message that cannot be read is shown without its text: a browser takes the right away from who shows nothing.
    push(screen, "no JSON")
    expect_shown(screen, [{"title": "OpenSpot", "body": "", "tag": "unread"}])


def test_an_address_of_a_notification_leads_to_its_page(new_window: NewWindow, trader: Trader) -> None:
    screen = new_window(trader)
    screen.go("/?notice=price.alert", "Price alerts")
    screen.go("/?notice=push.test", "Notifications")


def test_empty_funds_have_a_way_to_deposit_beside_them(new_window: NewWindow, trader: Trader, market: str) -> None:
    screen = new_window(trader)
    page = screen.page
    screen.go(f"/{market}", market)
    base, quote = market.split("-")
    form = page.get_by_role("form", name="Order form")
    form.get_by_role("button", name=f"Deposit {quote}").click()
    dialog = screen.dialog("Deposit")
    expect(dialog.get_by_role("combobox", name="Asset")).to_have_value(quote)
    screen.assert_accessible("the deposit from the order form")
    page.keyboard.press("Escape")
    screen.segment("Side", "Sell")
    expect(form.get_by_role("button", name=f"Deposit {base}")).to_be_visible()
