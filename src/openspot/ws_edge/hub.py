"""The fan-out: it passes each event to the clients that receive it. An event is encoded once for all its clients.

Nothing here waits: all clients of an event get it before the next one is read. So clients receive the events of a
channel in the order of the bus.
"""

from collections import Counter
from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass, field

import msgspec

from openspot.http.api_keys.store import Ended
from openspot.kit.bus import MalformedEventError
from openspot.kit.tokens import Claims
from openspot.ws_edge.books import Books
from openspot.ws_edge.candles import Candles
from openspot.ws_edge.channels import (
    BALANCE_EVENT,
    BALANCES_CHANNEL,
    NOTIFICATION_EVENT,
    NOTIFICATIONS_CHANNEL,
    ORDERS_CHANNEL,
    Channel,
    Kind,
    market_subject,
    order_event,
)
from openspot.ws_edge.connection import TOKEN_EXPIRED, EdgeConnection, text_frame
from openspot.ws_edge.login import SESSION_ENDED
from openspot.ws_edge.metrics import SUBSCRIPTIONS, pushes_of
from openspot.ws_edge.schemas import (
    BalanceHead,
    MarketPush,
    NotificationHead,
    OrderHead,
    OrderIdentity,
    UserPush,
    market_head,
    read_event,
)
from openspot.ws_edge.tickers import Tickers

RECENT_MAX = 16_384
"""The hub remembers this many order events, to drop repeats, and as many ended sessions, to refuse late connections."""

OF_BOOKS = (Kind.ORDERBOOK, Kind.BBO)
"""The kinds of channels whose data comes from the order books."""

API_KEY_ENDED = "the API key was rotated or revoked"

_encode = msgspec.json.Encoder().encode
_order_head = msgspec.json.Decoder(OrderHead).decode
_order_identity = msgspec.json.Decoder(OrderIdentity).decode
_balance_head = msgspec.json.Decoder(BalanceHead).decode
_notification_head = msgspec.json.Decoder(NotificationHead).decode


class RecentKeys:
    """The newest keys, at most `keys_max`."""

    def __init__(self, keys_max: int) -> None:
        self._keys: dict[Hashable, None] = {}
        self._keys_max = keys_max

    def __contains__(self, key: Hashable) -> bool:
        return key in self._keys

    def add(self, key: Hashable) -> bool:
        """Remember `key`. Returns False if it was remembered already."""
        if key in self._keys:
            return False
        self._keys[key] = None
        if len(self._keys) > self._keys_max:
            del self._keys[next(iter(self._keys))]
        return True


class _UserClients:
    """One user's connections, the counts of balance pushes and notifications, and the newest balance versions."""

    def __init__(self) -> None:
        self.connections: set[EdgeConnection] = set()
        self.balance_pushes = 0
        self.notifications = 0
        self._versions: dict[str, int] = {}

    def is_news(self, asset: str, version: int) -> bool:
        """Whether a balance is newer than the last push. A balance without a version (0) always counts as newer."""
        if not version:
            return True
        is_newer = version > self._versions.get(asset, 0)
        if is_newer:
            self._versions[asset] = version
        return is_newer


@dataclass(frozen=True, slots=True)
class _Followed:
    """A channel and its clients."""

    channel: Channel
    connections: set[EdgeConnection] = field(default_factory=set)


class Hub:
    """Clients by channel and by user. `now_ms` gives milliseconds since 1970."""

    def __init__(self, now_ms: Callable[[], int]) -> None:
        self._now_ms = now_ms
        self.books = Books(self)
        self.candles = Candles(self, now_ms)
        self.tickers = Tickers(self, now_ms)
        self._channels: dict[str, _Followed] = {}
        self._users: dict[str, _UserClients] = {}
        self._recent = RecentKeys(RECENT_MAX)
        self._ended_sessions = RecentKeys(RECENT_MAX)
        self.connections: set[EdgeConnection] = set()
        self.anonymous_connections = 0
        """The number of `connections` without a token."""
        self._networks: Counter[str] = Counter()

    # Clients

    def connections_of(self, network: str) -> int:
        """The number of connections that one network holds."""
        return self._networks[network]

    def join(self, connection: EdgeConnection) -> None:
        """Add a connection. If it has a token or a key, it receives its user's events from now on."""
        self.connections.add(connection)
        connection.snapshot_of = self._snapshot
        self._networks[connection.network] += 1
        if connection.claims is None:
            self.anonymous_connections += 1
        if connection.claims is not None:
            self._add_to_user(connection, connection.claims)

    def authenticate(self, connection: EdgeConnection, claims: Claims) -> None:
        """A connection has authenticated, or has done so again. It receives its user's events from now on."""
        before, connection.claims = connection.claims, claims
        assert before is None or before.user_id == claims.user_id, "a connection speaks for one user"
        if before is None:
            self.anonymous_connections -= 1
        self._add_to_user(connection, claims)

    def _add_to_user(self, connection: EdgeConnection, claims: Claims) -> None:
        self._users.setdefault(claims.user_id, _UserClients()).connections.add(connection)
        if claims.session_id in self._ended_sessions:
            connection.end(TOKEN_EXPIRED, SESSION_ENDED)

    def leave(self, connection: EdgeConnection) -> None:
        """Forget a connection and its subscriptions."""
        self.connections.discard(connection)
        self._networks[connection.network] -= 1
        if not self._networks[connection.network]:
            del self._networks[connection.network]
        if connection.claims is None:
            self.anonymous_connections -= 1
        for name in list(connection.channels):
            self.unsubscribe(connection, name)
        if connection.claims is not None:
            user = self._users.get(connection.claims.user_id)
            if user is not None:
                user.connections.discard(connection)
                if not user.connections:
                    del self._users[connection.claims.user_id]

    def subscribe(self, connection: EdgeConnection, channel: Channel) -> None:
        """Start a market channel's events. Each call sends a snapshot first, except for trades."""
        if channel.name not in connection.channels:
            connection.channels.add(channel.name)
            followed = self._channels.get(channel.name)
            if followed is None:
                followed = self._channels[channel.name] = _Followed(channel)
                if channel.kind in OF_BOOKS:
                    self.books.open(channel)
                elif channel.kind is Kind.CANDLES:
                    self.candles.open(channel)
                elif channel.kind is Kind.TICKER:
                    self.tickers.open(channel)
            followed.connections.add(connection)
            SUBSCRIPTIONS.inc()
        # If the ticker is not known yet, all clients that wait for it get it as soon as it is.
        is_ticker = channel.kind is Kind.TICKER
        if channel.kind in (*OF_BOOKS, Kind.CANDLES) or (is_ticker and self.tickers.snapshot(channel) is not None):
            connection.owe_snapshot(channel.name)

    def unsubscribe(self, connection: EdgeConnection, name: str) -> None:
        """Stop a market channel's events. Without a subscription nothing changes."""
        if name not in connection.channels:
            return
        connection.channels.remove(name)
        connection.forget(name)
        SUBSCRIPTIONS.dec()
        followed = self._channels[name]
        followed.connections.remove(connection)
        if not followed.connections:
            del self._channels[name]
            if followed.channel.kind in OF_BOOKS:
                self.books.close(followed.channel)
            elif followed.channel.kind is Kind.CANDLES:
                self.candles.close(followed.channel)
            elif followed.channel.kind is Kind.TICKER:
                self.tickers.close(followed.channel)

    def _snapshot(self, name: str) -> bytes | None:
        channel = self._channels[name].channel
        if channel.kind in OF_BOOKS:
            return self.books.snapshot(channel)
        return self.tickers.snapshot(channel) if channel.kind is Kind.TICKER else self.candles.snapshot(channel)

    # To the clients of a channel

    def send_update(self, channel: str, frame: bytes) -> None:
        """Send an update to the clients that have what comes before it."""
        connections = self._channels[channel].connections
        for connection in connections:
            connection.push_update(channel, frame)
        pushes_of(channel.partition(":")[0]).inc(len(connections))

    def send_latest(self, channel: str, part: Hashable, frame: bytes) -> None:
        """Send a message that replaces the previous one of the same part of the channel."""
        connections = self._channels[channel].connections
        for connection in connections:
            connection.push_latest(channel, part, frame)
        pushes_of(channel.partition(":")[0]).inc(len(connections))

    def send_snapshots(self, channel: str) -> None:
        """Send each client of the channel a fresh snapshot."""
        for connection in self._channels[channel].connections:
            connection.owe_snapshot(channel)

    def send_to_channel(self, channel: str, frame: bytes) -> None:
        """Send a message that must not be left out."""
        for connection in self._channels[channel].connections:
            connection.push(frame)

    def tell_all(self, frame: bytes) -> None:
        """Send every client a message."""
        for connection in self.connections:
            connection.push(frame)

    def end_all(self, code: int, reason: str) -> int:
        """Begin to close every connection, and return how many were open."""
        return sum(connection.end(code, reason) for connection in self.connections)

    def session_ended(self, session_id: str) -> None:
        """Begin to close the connections of a session."""
        self._ended_sessions.add(session_id)
        for connection in self.connections:
            if connection.claims is not None and connection.claims.session_id == session_id:
                connection.end(TOKEN_EXPIRED, SESSION_ENDED)

    def api_key_ended(self, ended: Ended) -> None:
        """Begin to close the connections of a rotated or revoked API key."""
        for connection in self.connections:
            key = connection.api_key
            if key is not None and key.key_id == ended.key_id and key.version < ended.first_valid:
                connection.end(TOKEN_EXPIRED, API_KEY_ENDED)

    def api_keys(self) -> dict[str, int]:
        """The API keys that connections have logged in with, each with the oldest version among them."""
        oldest: dict[str, int] = {}
        for connection in self.connections:
            key = connection.api_key
            if key is not None:
                oldest[key.key_id] = min(key.version, oldest.get(key.key_id, key.version))
        return oldest

    # Events. Each raises MalformedEventError for a payload that it cannot forward.

    def market_event(self, subject: str, payload: bytes) -> None:
        """Forward a `marketdata.*` event to its channels."""
        found = market_subject(subject)
        if found is None:
            return
        kind, symbol = found
        if kind is Kind.ORDERBOOK:
            self.books.take(symbol, payload)
            return
        if kind is Kind.CANDLES:
            self.candles.take(symbol, payload)
            return
        channel = f"{kind}:{symbol}"
        if kind is Kind.TICKER:
            self.tickers.take(channel, symbol, payload)
            return
        followed = self._channels.get(channel)
        if followed is None:
            return
        head = read_event(market_head, payload)
        if head.symbol != symbol:
            raise MalformedEventError("the symbol is not the subject's")
        stamp = head.timestamp if head.timestamp is not None else self._now_ms()
        message = _encode(MarketPush(channel, head.type, head.seq, stamp, msgspec.Raw(payload)))
        self._send(followed.connections, message, kind)

    def order_event(self, subject: str, payload: bytes) -> None:
        """Forward an `orders.*` event to its user. It comes on two subjects and is sent once."""
        known = order_event(subject)
        if known is None or not self._users:
            return
        event, subject_user = known
        if subject_user is not None and subject_user not in self._users:
            return
        head = read_event(_order_head, payload)
        identity = read_event(_order_identity, bytes(head.order))
        if subject_user is not None and identity.user_id != subject_user:
            raise MalformedEventError("the user is not the subject's")
        user = self._users.get(identity.user_id)
        if user is None or not self._recent.add((identity.order_id, event, head.sequence)):
            return
        push = UserPush(ORDERS_CHANNEL, "update", event, head.sequence, head.timestamp, head.order)
        self._send(user.connections, _encode(push), ORDERS_CHANNEL)

    def balance_event(self, subject: str, payload: bytes) -> None:
        """Forward a `balances.updated.<userId>` event to its user, unless it is out of date."""
        subject_user = subject.rpartition(".")[2]
        user = self._users.get(subject_user)
        if user is None:
            return
        head = read_event(_balance_head, payload)
        if head.user_id != subject_user:
            raise MalformedEventError("the user is not the subject's")
        if not user.is_news(head.asset, head.version):
            return
        user.balance_pushes += 1
        push = UserPush(
            BALANCES_CHANNEL, "update", BALANCE_EVENT, user.balance_pushes, head.timestamp, msgspec.Raw(payload)
        )
        self._send(user.connections, _encode(push), BALANCES_CHANNEL)

    def notification_event(self, subject: str, payload: bytes) -> None:
        """Forward a `notifications.user.<userId>` event to its user, once.

        It is personal data, so connections by an API key do not get it, as a key may not read it over REST.
        """
        subject_user = subject.rpartition(".")[2]
        user = self._users.get(subject_user)
        if user is None:
            return
        head = read_event(_notification_head, payload)
        if not self._recent.add((NOTIFICATION_EVENT, subject_user, head.id)):
            return
        user.notifications += 1
        push = UserPush(
            NOTIFICATIONS_CHANNEL, "update", NOTIFICATION_EVENT, user.notifications, head.created_at,
            msgspec.Raw(payload),
        )  # fmt: skip
        own = [connection for connection in user.connections if connection.api_key is None]
        self._send(own, _encode(push), NOTIFICATIONS_CHANNEL)

    def _send(self, clients: Iterable[EdgeConnection], message: bytes, kind: str) -> None:
        frame = text_frame(message)
        count = 0
        for connection in clients:
            connection.push(frame)
            count += 1
        pushes_of(kind).inc(count)
