"""What the hub pushes, message by message, and who is still asked after somebody left."""

import msgspec

from openspot.ws_edge.channels import market_channel
from openspot.ws_edge.hub import Hub
from tests.unit.ws_edge.scripted_connection import counted
from tests.unit.ws_edge.test_hub_events import balance, joined, order


def pushed(client: object) -> list[object]:
    """The messages of the frames that a client got, without the frames' heads."""
    return [msgspec.json.decode(frame[frame.index(b"{") :]) for frame in client.pushed]  # type: ignore[attr-defined]


def trade(sequence: int) -> bytes:
    return msgspec.json.encode({"seq": sequence, "symbol": "BTC-USD", "timestamp": 9, "price": "1"})


def test_each_push_says_channel_event_number_time_and_data() -> None:
    hub = Hub(lambda: 0)
    alice = joined(hub, "alice")
    for version in (5, 6):
        hub.balance_event("balances.updated.alice", balance(version))
    hub.order_event("orders.updated.alice", order(7))
    first, second, third = pushed(alice)
    expected = {
        "channel": "balances",
        "type": "update",
        "event": "balance.updated",
        "seq": 1,
        "ts": 5,
        "data": msgspec.json.decode(balance(5)),
    }
    assert first == expected
    assert second == {**expected, "seq": 2, "data": msgspec.json.decode(balance(6))}
    assert third == {
        "channel": "orders",
        "type": "update",
        "event": "order.updated",
        "seq": 7,
        "ts": 5,
        "data": {"orderId": "o1", "userId": "alice"},
    }


def test_a_trade_reaches_exactly_those_who_follow_its_market() -> None:
    hub = Hub(lambda: 0)
    clients = [joined(hub) for _ in range(3)]
    channel, other = market_channel("trades:BTC-USD"), market_channel("trades:ETH-USD")
    assert channel is not None
    assert other is not None
    hub.subscribe(clients[0], channel)
    hub.subscribe(clients[1], channel)
    hub.subscribe(clients[2], other)
    hub.market_event("marketdata.trade.BTC-USD", trade(3))
    hub.unsubscribe(clients[1], channel.name)
    hub.market_event("marketdata.trade.BTC-USD", trade(4))
    assert [len(client.pushed) for client in clients] == [2, 1, 0]
    assert clients[1].forgotten == ["trades:BTC-USD"]
    assert pushed(clients[0])[0] == {
        "channel": "trades:BTC-USD",
        "type": "update",
        "seq": 3,
        "ts": 9,
        "data": msgspec.json.decode(trade(3)),
    }


def test_a_user_who_left_gets_nothing_and_one_of_two_connections_that_stays_does() -> None:
    hub = Hub(lambda: 0)
    first, second = joined(hub, "alice"), joined(hub, "alice")
    hub.leave(first)
    hub.balance_event("balances.updated.alice", balance(1))
    assert (len(first.pushed), len(second.pushed)) == (0, 1)


def test_a_notification_says_channel_event_number_time_and_data() -> None:
    hub = Hub(lambda: 0)
    alice = joined(hub, "alice")
    hub.notification_event("notifications.user.alice", msgspec.json.encode({"id": "n1", "createdAt": 5, "text": "x"}))
    assert pushed(alice) == [
        {
            "channel": "notifications",
            "type": "update",
            "event": "notification",
            "seq": 1,
            "ts": 5,
            "data": {"id": "n1", "createdAt": 5, "text": "x"},
        }
    ]


def test_pushes_are_counted_by_their_channel_for_each_connection() -> None:
    hub = Hub(lambda: 0)
    channels = ("orders", "balances", "notifications")
    before = [counted("pushes", channel=channel) for channel in channels]
    for _ in range(3):
        joined(hub, "alice")
    joined(hub, "bob")
    hub.order_event("orders.updated.alice", order(7))
    hub.balance_event("balances.updated.alice", balance(1))
    hub.notification_event("notifications.user.alice", msgspec.json.encode({"id": "n1", "createdAt": 5}))
    assert [counted("pushes", channel=channel) for channel in channels] == [count + 3 for count in before]


def test_what_is_no_order_event_reaches_nobody() -> None:
    hub = Hub(lambda: 0)
    alice = joined(hub, "alice")
    hub.order_event("orders.submit.alice", order(7))
    assert alice.pushed == []
