"""The fan-out: which client receives which event. Each event is encoded once for all its clients.

Nothing here waits: each event is passed to its clients before the next one is read, so clients receive events in the
order of the bus.
"""

from collections import Counter
from collections.abc import Callable, Hashable, Iterable
from typing import TypeVar

import msgspec

from openspot.http.api_keys.store import Ended
from openspot.kit.bus import MalformedEventError
from openspot.kit.tokens import Claims
from openspot.ws_edge.channels import BALANCE_EVENT, BALANCES_CHANNEL, ORDERS_CHANNEL, market_channel, order_event
from openspot.ws_edge.connection import TOKEN_EXPIRED, EdgeConnection, text_frame
from openspot.ws_edge.metrics import PUSHES, SUBSCRIPTIONS
from openspot.ws_edge.schemas import BalanceHead, MarketHead, MarketPush, OrderHead, OrderIdentity, UserPush

RECENT_MAX = 16_384
"""The hub remembers this many order events, to drop repeats, and ended sessions, to refuse late connections."""

Head = TypeVar("Head")

SESSION_ENDED = "the session has ended"
API_KEY_ENDED = "the API key was rotated or revoked"

_encode = msgspec.json.Encoder().encode
_market_head = msgspec.json.Decoder(MarketHead).decode
_order_head = msgspec.json.Decoder(OrderHead).decode
_order_identity = msgspec.json.Decoder(OrderIdentity).decode
_balance_head = msgspec.json.Decoder(BalanceHead).decode


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
    """The connections of one user, the number of balance pushes, and the newest version of each balance."""

    def __init__(self) -> None:
        self.connections: set[EdgeConnection] = set()
        self.balance_pushes = 0
        self._versions: dict[str, int] = {}

    def is_news(self, asset: str, version: int) -> bool:
        """Whether a balance is newer than the last push. A balance without a version (0) always is."""
        if not version:
            return True
        is_newer = version > self._versions.get(asset, 0)
        if is_newer:
            self._versions[asset] = version
        return is_newer


class Hub:
    """Clients by channel and by user. `now_ms` gives milliseconds since 1970."""

    def __init__(self, now_ms: Callable[[], int]) -> None:
        self._now_ms = now_ms
        self._channels: dict[str, set[EdgeConnection]] = {}
        self._users: dict[str, _UserClients] = {}
        self._recent = RecentKeys(RECENT_MAX)
        self._ended_sessions = RecentKeys(RECENT_MAX)
        self.connections: set[EdgeConnection] = set()
        self.anonymous_connections = 0
        """How many of `connections` have no token."""
        self._networks: Counter[str] = Counter()

    # Clients

    def connections_of(self, network: str) -> int:
        """How many connections one client address holds."""
        return self._networks[network]

    def join(self, connection: EdgeConnection) -> None:
        """Add a connection. If it has a token, it receives its user's events from now on."""
        self.connections.add(connection)
        self._networks[connection.network] += 1
        if connection.claims is None:
            self.anonymous_connections += 1
        if connection.claims is not None:
            self._users.setdefault(connection.claims.user_id, _UserClients()).connections.add(connection)
            if connection.claims.session_id in self._ended_sessions:
                connection.end(TOKEN_EXPIRED, SESSION_ENDED)

    def authenticate(self, connection: EdgeConnection, claims: Claims) -> None:
        """A connection without a token has proved whose it is: it receives that user's events from now on."""
        assert connection.claims is None, "a connection speaks for one user"
        connection.claims = claims
        self.anonymous_connections -= 1
        self._users.setdefault(claims.user_id, _UserClients()).connections.add(connection)

    def leave(self, connection: EdgeConnection) -> None:
        """Forget a connection and its subscriptions."""
        self.connections.discard(connection)
        self._networks[connection.network] -= 1
        if not self._networks[connection.network]:
            del self._networks[connection.network]
        if connection.claims is None:
            self.anonymous_connections -= 1
        for channel in list(connection.channels):
            self.unsubscribe(connection, channel)
        if connection.claims is not None:
            user = self._users.get(connection.claims.user_id)
            if user is not None:
                user.connections.discard(connection)
                if not user.connections:
                    del self._users[connection.claims.user_id]

    def subscribe(self, connection: EdgeConnection, channel: str) -> None:
        """Start a market channel's events. A second call changes nothing."""
        if channel not in connection.channels:
            connection.channels.add(channel)
            self._channels.setdefault(channel, set()).add(connection)
            SUBSCRIPTIONS.inc()

    def unsubscribe(self, connection: EdgeConnection, channel: str) -> None:
        """Stop a market channel's events. Without a subscription nothing changes."""
        if channel in connection.channels:
            connection.channels.remove(channel)
            clients = self._channels[channel]
            clients.remove(connection)
            if not clients:
                del self._channels[channel]
            SUBSCRIPTIONS.dec()

    def end_all(self, code: int, reason: str) -> int:
        """Begin to close every connection; returns how many of them were open."""
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

    # Events. Each raises MalformedEventError for a payload that it cannot forward.

    def market_event(self, subject: str, payload: bytes) -> None:
        """Forward a `marketdata.*` event to its channel."""
        channel = market_channel(subject)
        clients = self._channels.get(channel) if channel is not None else None
        if channel is None or not clients:
            return
        head = _read(_market_head, payload)
        if head.symbol != channel.partition(":")[2]:
            raise MalformedEventError("the symbol is not the subject's")
        stamp = head.timestamp if head.timestamp is not None else self._now_ms()
        push = MarketPush(channel, head.type, head.seq, stamp, msgspec.Raw(payload))
        self._send(clients, _encode(push), channel.partition(":")[0])

    def order_event(self, subject: str, payload: bytes) -> None:
        """Forward an `orders.*` event to its user, once, although it comes on two subjects."""
        known = order_event(subject)
        if known is None or not self._users:
            return
        event, subject_user = known
        if subject_user is not None and subject_user not in self._users:
            return
        head = _read(_order_head, payload)
        identity = _read(_order_identity, bytes(head.order))
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
        head = _read(_balance_head, payload)
        if head.user_id != subject_user:
            raise MalformedEventError("the user is not the subject's")
        if not user.is_news(head.asset, head.version):
            return
        user.balance_pushes += 1
        push = UserPush(
            BALANCES_CHANNEL, "update", BALANCE_EVENT, user.balance_pushes, head.timestamp, msgspec.Raw(payload)
        )
        self._send(user.connections, _encode(push), BALANCES_CHANNEL)

    def _send(self, clients: Iterable[EdgeConnection], message: bytes, kind: str) -> None:
        frame = text_frame(message)
        count = 0
        for connection in clients:
            connection.push(frame)
            count += 1
        PUSHES.labels(kind).inc(count)


def _read(decode: Callable[[bytes], Head], payload: bytes) -> Head:
    try:
        # The decoder does not check the parts that it skips. Invalid UTF-8 there would make clients close.
        payload.decode()
        return decode(payload)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise MalformedEventError(str(error)) from error
