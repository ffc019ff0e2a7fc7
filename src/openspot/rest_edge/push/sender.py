"""Sends the messages of the queue, in the background of every edge process.

If a push service does not respond, the message is tried again with pauses that double, until it is too old to be of
use. If a process dies while it sends, another one sends the message. So a push may come twice: both bear the same tag,
by which a device shows the second one in place of the first, and the same topic, by which a push service keeps one of
them for a device that is not on line. It is at least once, not exactly once: nothing more can be had by Web Push.
"""

import asyncio
import hashlib
import os
from datetime import timedelta

import msgspec
from cryptography.hazmat.primitives.asymmetric import ec

from openspot.kit.backoff import pause_s
from openspot.kit.clock import DateClock, ms_from_datetime, utc_now
from openspot.kit.database import TRANSIENT_ERRORS
from openspot.kit.log import get_logger
from openspot.kit.tasks import PollPauses
from openspot.rest_edge.push.encryption import (
    MESSAGE_BYTES_MAX,
    SALT_LENGTH,
    BadDeviceKeyError,
    encrypted,
)
from openspot.rest_edge.push.queue import OUTCOMES, PushQueue, QueuedPush
from openspot.rest_edge.push.transport import PushReply, PushTransport, PushUnavailableError
from openspot.rest_edge.push.vapid import PushKey, without_padding

log = get_logger("push")

SENDERS = 4
"""Messages that are sent at the same time, so that a slow push service holds up no other."""
LEASE = timedelta(minutes=1)
USEFUL = timedelta(hours=1)
"""A message that waits for longer is given up."""
KEPT_BY_SERVICE_S = 86_400
"""A push service keeps a message for this long for a device that is not on line."""
FIRST_PAUSE_S = 5.0
LONGEST_PAUSE_S = 600.0
POLL_INTERVAL_S = 2.0
"""The queue is read at least this often, because other processes add messages too."""
FILLED_TO = 2048
"""Shorter messages are filled up to this many bytes: their size tells the push service nothing."""
_GONE = frozenset({404, 410})
_LATER = frozenset({408, 425, 429})


class PushSender:
    """Closes and sends the messages of the queue."""

    def __init__(self, queue: PushQueue, key: PushKey, transport: PushTransport, now: DateClock = utc_now) -> None:
        self._queue = queue
        self._key = key
        self._transport = transport
        self._now = now

    async def run(self) -> None:
        """Send until cancelled. Messages that are not sent stay in the queue."""
        await asyncio.gather(*(self._run_one() for _ in range(SENDERS)))

    async def _run_one(self) -> None:
        pauses = PollPauses(self._queue.added, POLL_INTERVAL_S)
        while True:
            self._queue.added.clear()
            try:
                while await self.send_next():
                    pass
            except TRANSIENT_ERRORS as error:
                log.warning("the queue of pushes cannot be read now", error=repr(error))
            except Exception:
                # A fault in one message must not stop the others.
                log.exception("push failed")
            await pauses.pause()

    async def send_next(self) -> bool:
        """Send the next message that is due. False if there is none."""
        queued = await self._queue.claim(LEASE)
        if queued is None:
            return False
        # The session may have ended since the message was queued: whoever has the device must not read it then.
        if not await self._queue.is_alive(queued.subscription_id):
            await self._queue.forget_device(queued.subscription_id)
            OUTCOMES.labels("session_over").inc()
            return True
        try:
            reply = await self._transport.send(queued.endpoint, self._headers(queued), self._body(queued))
        except BadDeviceKeyError as error:
            await self._refused(queued, str(error))
        except PushUnavailableError as error:
            await self._later(queued, None, str(error))
        else:
            await self._note(queued, reply)
        return True

    async def _note(self, queued: QueuedPush, reply: PushReply) -> None:
        if 200 <= reply.status < 300:
            await self._queue.taken(queued)
            OUTCOMES.labels("taken").inc()
        elif reply.status in _GONE:
            await self._queue.forget_device(queued.subscription_id)
            OUTCOMES.labels("device_gone").inc()
            log.info("push subscription is gone", subscription_id=queued.subscription_id, status=reply.status)
        elif reply.status in _LATER or reply.status >= 500:
            await self._later(queued, reply.retry_after_s, f"status {reply.status}")
        else:
            await self._refused(queued, f"status {reply.status}")

    async def _later(self, queued: QueuedPush, retry_after_s: float | None, error: str) -> None:
        if self._now() - queued.created_at > USEFUL:
            await self._queue.drop(queued)
            OUTCOMES.labels("given_up").inc()
            log.warning("push given up", subscription_id=queued.subscription_id, error=error)
            return
        log.info("push not sent yet", subscription_id=queued.subscription_id, attempts=queued.attempts, error=error)
        pause = pause_s(queued.attempts, FIRST_PAUSE_S, LONGEST_PAUSE_S)
        await self._queue.postpone(queued, max(pause, retry_after_s or 0), pauses_device=retry_after_s is not None)

    async def _refused(self, queued: QueuedPush, error: str) -> None:
        is_deleted = await self._queue.refused(queued)
        OUTCOMES.labels("refused").inc()
        log.warning("push refused", subscription_id=queued.subscription_id, error=error, device_deleted=is_deleted)

    def _headers(self, queued: QueuedPush) -> dict[str, str]:
        now_s = ms_from_datetime(self._now()) // 1000
        return {
            "Authorization": self._key.authorization(queued.endpoint, now_s),
            "Content-Encoding": "aes128gcm",
            "Content-Type": "application/octet-stream",
            "TTL": str(KEPT_BY_SERVICE_S),
            # A fill or a price is news now, so a device that saves power is woken.
            "Urgency": "high",
            "Topic": topic_of(queued.message.reference),
        }

    def _body(self, queued: QueuedPush) -> bytes:
        message_key = ec.generate_private_key(ec.SECP256R1())
        return encrypted(content_of(queued), queued.keys, os.urandom(SALT_LENGTH), message_key, FILLED_TO)


def topic_of(reference: str) -> str:
    """The topic of a message: at most 32 letters that say nothing about it (RFC 8030, 5.4). Pure."""
    return without_padding(hashlib.sha256(reference.encode()).digest()[:24])


def content_of(queued: QueuedPush) -> bytes:
    """What the device's worker reads, as JSON. A text that is too long is cut. Pure."""
    message, text = queued.message, queued.message.text
    while True:
        shown = text if text == message.text else f"{text}…"
        content = msgspec.json.encode(
            {
                "id": message.reference,
                "kind": message.kind,
                "title": message.title,
                "text": shown,
                "createdAt": ms_from_datetime(queued.created_at),
            }
        )
        if len(content) <= MESSAGE_BYTES_MAX:
            return content
        text = text[: len(text) * 3 // 4]
