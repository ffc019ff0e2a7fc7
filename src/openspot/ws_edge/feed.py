"""The edge's ear on the bus: raw events of the subjects of Document A 6.2 and 6.3, and word of every gap.

Core subscriptions keep nothing for a time without connection, and drop events when the edge falls behind. Both
are told to `on_gap`, for a client must never miss an event without noticing. That, and that payloads are
forwarded without being decoded twice, is why the edge does not listen through `kit.bus`.

All per-user order events come through one subscription: the client library keeps order within a subscription
only, and an order's `filled` must not overtake its `created`.
"""

from collections.abc import Callable

import nats.errors
import nats.js.errors
from nats.aio.client import Client
from nats.aio.msg import Msg
from nats.js.kv import KeyValue

from openspot.contracts import subjects
from openspot.kit.bus_connection import PING_INTERVAL_S, BusUnavailableError, check_connection
from openspot.kit.log import get_logger
from openspot.kit.metrics import BUS_HANDLER_FAILURES, BUS_MALFORMED
from openspot.kit.settings import Settings
from openspot.ws_edge.channels import MARKET_SUBJECTS
from openspot.ws_edge.hub import Hub, MalformedEventError
from openspot.ws_edge.metrics import BUS_GAPS

PENDING_MESSAGES_MAX = 65_536
PENDING_BYTES_MAX = 64 * 1024 * 1024
"""What may wait of one subscription; beyond it the library drops events, which is a gap."""
SESSION_CHECK_TIMEOUT_S = 2.0
_LOGGED_BYTES_MAX = 200

Forward = Callable[[str, bytes], None]

log = get_logger("ws_edge.feed")


class Feed:
    """A connection to the bus that hands events to the hub. `on_gap` is called when events may have been missed."""

    def __init__(self, settings: Settings, hub: Hub, on_gap: Callable[[str], None]) -> None:
        self._addresses = settings.nats_servers
        self._hub = hub
        self._on_gap = on_gap
        self._client = Client()
        self._ended_sessions: KeyValue | None = None
        self._ready = False

    async def start(self) -> None:
        """Connect, as long as that takes, and subscribe; then every event is heard."""

        async def note_error(error: Exception) -> None:
            if isinstance(error, nats.errors.SlowConsumerError):
                self._note_gap("the edge fell behind the bus")
            else:
                log.warning("bus connection", error=repr(error))

        async def note_disconnect() -> None:
            if self._ready:
                self._note_gap("the connection to the bus was lost")

        async def note_reconnect() -> None:
            log.info("bus reconnected")

        await self._client.connect(
            self._addresses,
            name="openspot-ws-edge",
            connect_timeout=2,
            reconnect_time_wait=0.25,  # type: ignore[arg-type]
            max_reconnect_attempts=-1,
            ping_interval=PING_INTERVAL_S,
            error_cb=note_error,
            disconnected_cb=note_disconnect,
            reconnected_cb=note_reconnect,
        )
        for subject in MARKET_SUBJECTS:
            await self._subscribe(f"{subject}.*", self._hub.market_event)
        await self._subscribe("orders.*.>", self._hub.order_event)
        await self._subscribe(subjects.ORDERS_CREATED, self._hub.order_event)
        await self._subscribe(f"{subjects.BALANCES_UPDATED}.*", self._hub.balance_event)
        await self._subscribe(f"$KV.{subjects.SESSIONS_REVOKED_BUCKET}.*", self._hub.session_ended)
        await self._client.flush()
        self._ready = True

    async def session_has_ended(self, session_id: str) -> bool:
        """Whether a session was ended within the life of its access tokens. Raises BusUnavailableError."""
        try:
            if self._ended_sessions is None:
                jetstream = self._client.jetstream(timeout=SESSION_CHECK_TIMEOUT_S)
                self._ended_sessions = await jetstream.key_value(subjects.SESSIONS_REVOKED_BUCKET)
            await self._ended_sessions.get(session_id)
        except (nats.js.errors.BucketNotFoundError, nats.js.errors.KeyNotFoundError):
            return False
        except (nats.errors.Error, nats.js.errors.Error, OSError, TimeoutError) as error:
            raise BusUnavailableError(f"ended sessions cannot be looked up: {error!r}") from error
        return True

    def _note_gap(self, reason: str) -> None:
        BUS_GAPS.inc()
        self._on_gap(reason)

    async def _subscribe(self, subject: str, forward: Forward) -> None:
        async def take(message: Msg) -> None:
            try:
                forward(message.subject, message.data)
            except MalformedEventError as error:
                BUS_MALFORMED.labels(subject).inc()
                data = message.data[:_LOGGED_BYTES_MAX]
                log.warning("malformed message dropped", subject=message.subject, error=str(error), data=data)
            except Exception:
                # The event is lost to its clients: that is a gap like any other.
                BUS_HANDLER_FAILURES.labels(subject).inc()
                log.exception("event not forwarded", subject=message.subject)
                self._note_gap("an event could not be forwarded")

        await self._client.subscribe(
            subject, cb=take, pending_msgs_limit=PENDING_MESSAGES_MAX, pending_bytes_limit=PENDING_BYTES_MAX
        )

    @property
    def is_listening(self) -> bool:
        """Whether every event is heard now."""
        return self._ready and bool(self._client.is_connected)

    async def check(self) -> None:
        """Raise BusUnavailableError unless the bus responds within a second."""
        if not self.is_listening:
            raise BusUnavailableError("not connected")
        await check_connection(self._client)

    async def close(self) -> None:
        """Stop listening."""
        self._ready = False
        if not self._client.is_closed:
            await self._client.close()
