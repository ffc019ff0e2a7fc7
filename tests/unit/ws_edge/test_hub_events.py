"""What the hub forwards to whom: newer balances, each event once, and nothing that names another user or market."""

from typing import Any

import msgspec
import pytest

from openspot.kit.bus import MalformedEventError
from openspot.kit.tokens import Claims
from openspot.ws_edge.channels import market_channel
from openspot.ws_edge.hub import Hub
from tests.unit.ws_edge.frames import content_of
from tests.unit.ws_edge.test_ended_sessions import Connection


class Client(Connection):
    """A connection that keeps what is pushed to it."""

    def __init__(self, user_id: str | None = None) -> None:
        super().__init__(claims=None if user_id is None else Claims(user_id, "user", 1))
        self.pushed: list[bytes] = []
        self.forgotten: list[str] = []

    def push(self, frame: bytes) -> None:
        """Take a frame."""
        self.pushed.append(frame)

    def forget(self, channel: str) -> None:
        """Send nothing more of a channel."""
        self.forgotten.append(channel)

    @property
    def contents(self) -> list[dict[str, Any]]:
        """What the frames say."""
        return [content_of(frame) for frame in self.pushed]


def joined(hub: Hub, user_id: str | None = None) -> Any:
    client: Any = Client(user_id)
    hub.join(client)
    return client


def balance(version: int, user_id: str = "alice") -> bytes:
    fields = {"userId": user_id, "asset": "USD", "total": "1", "locked": "0", "available": "1", "transactionId": "t",
              "timestamp": 5, "version": version}  # fmt: skip
    return msgspec.json.encode(fields)


def order(sequence: int, user_id: str = "alice", event: str = "updated") -> bytes:
    fields = {"event": event, "sequence": sequence, "timestamp": 5, "order": {"orderId": "o1", "userId": user_id}}
    return msgspec.json.encode(fields)


def test_a_balance_reaches_its_user_only_if_it_is_newer() -> None:
    hub = Hub(lambda: 0)
    alice, bob = joined(hub, "alice"), joined(hub, "bob")
    for version in (5, 5, 4, 6):
        hub.balance_event("balances.updated.alice", balance(version))
    assert (len(alice.pushed), len(bob.pushed)) == (2, 0)
    with pytest.raises(MalformedEventError, match=r"^the user is not the subject's$"):
        hub.balance_event("balances.updated.alice", balance(7, "bob"))
    assert (len(alice.pushed), len(bob.pushed)) == (2, 0)


def test_an_order_event_reaches_its_user_once_and_never_under_anothers_subject() -> None:
    hub = Hub(lambda: 0)
    alice, bob = joined(hub, "alice"), joined(hub, "bob")
    for subject in ("orders.updated", "orders.updated.alice", "orders.updated.alice"):
        hub.order_event(subject, order(7))
    assert (len(alice.pushed), len(bob.pushed)) == (1, 0)
    with pytest.raises(MalformedEventError, match=r"^the user is not the subject's$"):
        hub.order_event("orders.updated.bob", order(8))
    assert (len(alice.pushed), len(bob.pushed)) == (1, 0)


def test_a_notification_reaches_its_user_once() -> None:
    hub = Hub(lambda: 0)
    alice, bob = joined(hub, "alice"), joined(hub, "bob")
    payload = msgspec.json.encode({"id": "n1", "createdAt": 5})
    for _ in range(2):
        hub.notification_event("notifications.user.alice", payload)
    assert (len(alice.pushed), len(bob.pushed)) == (1, 0)


def test_a_connection_by_an_api_key_gets_orders_and_balances_and_no_notification() -> None:
    hub = Hub(lambda: 0)
    person, program = joined(hub, "alice"), joined(hub, "alice")
    program.api_key = object()
    hub.notification_event("notifications.user.alice", msgspec.json.encode({"id": "n1", "createdAt": 5}))
    assert (len(person.pushed), len(program.pushed)) == (1, 0)
    hub.order_event("orders.updated.alice", order(7))
    hub.balance_event("balances.updated.alice", balance(1))
    assert (len(person.pushed), len(program.pushed)) == (3, 2)


def test_a_trade_of_another_market_than_its_subjects_is_not_forwarded() -> None:
    hub = Hub(lambda: 0)
    client = joined(hub)
    hub.subscribe(client, market_channel("trades:BTC-USD"))
    payload = msgspec.json.encode({"symbol": "ETH-USD", "seq": 1, "timestamp": 5})
    with pytest.raises(MalformedEventError, match=r"^the symbol is not the subject's$"):
        hub.market_event("marketdata.trade.BTC-USD", payload)
    assert client.pushed == []


def test_a_balance_push_is_numbered_for_its_user_and_one_without_a_version_always_counts() -> None:
    hub = Hub(lambda: 0)
    alice = joined(hub, "alice")
    for version in (3, 0, 0):
        hub.balance_event("balances.updated.alice", balance(version))
    assert [(each["channel"], each["event"], each["seq"]) for each in alice.contents] == [
        ("balances", "balance.updated", number) for number in (1, 2, 3)
    ]
    assert alice.contents[0]["data"] == msgspec.json.decode(balance(3))


def test_another_asset_has_versions_of_its_own() -> None:
    hub = Hub(lambda: 0)
    alice = joined(hub, "alice")
    hub.balance_event("balances.updated.alice", balance(9))
    hub.balance_event("balances.updated.alice", balance(1).replace(b"USD", b"BTC"))
    assert [each["data"]["asset"] for each in alice.contents] == ["USD", "BTC"]


def test_two_events_of_an_order_are_two_pushes_even_with_the_same_sequence() -> None:
    """A fill is an `updated` and a `filled` of one engine event, and an order has many `updated`."""
    hub = Hub(lambda: 0)
    alice = joined(hub, "alice")
    for event, sequence in (("updated", 7), ("filled", 7), ("updated", 8)):
        hub.order_event(f"orders.{event}", order(sequence, event=event))
    assert [(each["event"], each["seq"], each["data"]) for each in alice.contents] == [
        (f"order.{event}", sequence, {"orderId": "o1", "userId": "alice"})
        for event, sequence in (("updated", 7), ("filled", 7), ("updated", 8))
    ]


def test_users_have_notifications_of_their_own_with_the_same_id() -> None:
    hub = Hub(lambda: 0)
    alice, bob = joined(hub, "alice"), joined(hub, "bob")
    payload = msgspec.json.encode({"id": "n1", "createdAt": 5})
    for user in ("alice", "bob"):
        hub.notification_event(f"notifications.user.{user}", payload)
    hub.notification_event("notifications.user.alice", payload.replace(b"n1", b"n2"))
    assert [each["seq"] for each in alice.contents] == [1, 2]
    assert [(each["seq"], each["ts"], each["data"]["id"]) for each in bob.contents] == [(1, 5, "n1")]


def test_what_has_left_gets_nothing_more_and_its_channel_ends_with_its_last_client() -> None:
    hub = Hub(lambda: 0)
    first, second = joined(hub), joined(hub)
    for client in (first, second):
        hub.subscribe(client, market_channel("trades:BTC-USD"))
    payload = msgspec.json.encode({"symbol": "BTC-USD", "seq": 1, "timestamp": 5})
    hub.leave(first)
    hub.market_event("marketdata.trade.BTC-USD", payload)
    assert (len(first.pushed), len(second.pushed)) == (0, 1)
    assert first.forgotten == ["trades:BTC-USD"]
    hub.unsubscribe(second, "trades:BTC-USD")
    assert second.forgotten == ["trades:BTC-USD"]
    assert hub._channels == {}


def test_a_user_who_comes_back_is_counted_from_the_beginning() -> None:
    hub = Hub(lambda: 0)
    before = joined(hub, "alice")
    hub.balance_event("balances.updated.alice", balance(5))
    hub.leave(before)
    after = joined(hub, "alice")
    hub.balance_event("balances.updated.alice", balance(5))
    assert ([each["seq"] for each in after.contents], len(before.pushed)) == ([1], 1)
