"""The bus: requests, events, durable consumers and key-value buckets over NATS (design section 7).

- A request has one reply, or an error that says whether it may have been handled (`errors`).
- An event of a stream has a message id, and the server acknowledges it before the publisher goes on. A subject that
  fails holds back itself alone, behind its circuit breaker.
- A durable consumer hands over batches and acknowledges them after the handler's own commit.

No other package imports `nats`.
"""

from openspot.kit.bus.bus import Bus
from openspot.kit.bus.codec import encode
from openspot.kit.bus.consumer import Consumption, DurableConsumer
from openspot.kit.bus.errors import (
    BusError,
    BusUnavailableError,
    BusyError,
    CircuitOpenError,
    ConsumerError,
    HandlerFailedError,
    KeyValueError,
    MalformedRequestError,
    NoAnswerError,
    NotSentError,
    PublishError,
    RequestFailedError,
    StreamError,
    WrongRevisionError,
)
from openspot.kit.bus.holding import HoldingPublisher, PendingEvent
from openspot.kit.bus.key_value import Entry, KeyValueBucket
from openspot.kit.bus.outgoing import Outgoing
from openspot.kit.bus.streams import ConsumerState
from openspot.kit.bus.subscriptions import MalformedEventError

__all__ = [
    "Bus",
    "BusError",
    "BusUnavailableError",
    "BusyError",
    "CircuitOpenError",
    "ConsumerError",
    "ConsumerState",
    "Consumption",
    "DurableConsumer",
    "Entry",
    "HandlerFailedError",
    "HoldingPublisher",
    "KeyValueBucket",
    "KeyValueError",
    "MalformedEventError",
    "MalformedRequestError",
    "NoAnswerError",
    "NotSentError",
    "Outgoing",
    "PendingEvent",
    "PublishError",
    "RequestFailedError",
    "StreamError",
    "WrongRevisionError",
    "encode",
]
