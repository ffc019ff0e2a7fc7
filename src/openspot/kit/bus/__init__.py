"""The bus: requests, events, durable consumers and key-value buckets over NATS.

- A request returns one reply, or raises an error that says whether it may have been handled (`errors`).
- Publishing to a stream takes a message id and waits until the server has acknowledged the event. If a subject fails,
  its circuit breaker holds back that subject only.
- A durable consumer passes batches to a handler, and acknowledges each batch after the handler has committed it.

No other package imports `nats`.
"""

from openspot.kit.bus.bus import Bus
from openspot.kit.bus.codec import encode
from openspot.kit.bus.consumer import Consumption, DurableConsumer
from openspot.kit.bus.errors import (
    BusError,
    BusStreamError,
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
    WrongRevisionError,
)
from openspot.kit.bus.kept_writes import KeptWrites
from openspot.kit.bus.key_value import Entry, KeyValueBucket
from openspot.kit.bus.local_subjects import LocalSubjects
from openspot.kit.bus.outgoing import OutgoingEvent
from openspot.kit.bus.preparation import BucketNeed, BusNeeds
from openspot.kit.bus.retrying_publisher import PendingEvent, RetryingPublisher
from openspot.kit.bus.streams import ConsumerState
from openspot.kit.bus.subscriptions import MalformedEventError

__all__ = [
    "BucketNeed",
    "Bus",
    "BusError",
    "BusNeeds",
    "BusStreamError",
    "BusUnavailableError",
    "BusyError",
    "CircuitOpenError",
    "ConsumerError",
    "ConsumerState",
    "Consumption",
    "DurableConsumer",
    "Entry",
    "HandlerFailedError",
    "KeptWrites",
    "KeyValueBucket",
    "KeyValueError",
    "LocalSubjects",
    "MalformedEventError",
    "MalformedRequestError",
    "NoAnswerError",
    "NotSentError",
    "OutgoingEvent",
    "PendingEvent",
    "PublishError",
    "RequestFailedError",
    "RetryingPublisher",
    "WrongRevisionError",
    "encode",
]
