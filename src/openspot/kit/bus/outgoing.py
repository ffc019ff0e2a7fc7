"""An event on its way to a stream."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class OutgoingEvent:
    """An event to publish. A second event with the same `message_id` within the duplicate window is dropped.

    With `acknowledged=False` the server sends no reply for an event in the middle of a batch. A single server handles
    the messages of one connection in order. So it has this event if it has the ones before and after it in the stream.

    Events with the same `key` keep their order, whatever their subjects: if one is held back, later ones are held back
    too. Without a key, only events of the same subject keep their order.
    """

    subject: str
    payload: bytes
    message_id: str
    acknowledged: bool = True
    key: str = ""

    @property
    def order_key(self) -> str:
        """Events with the same order key keep their order."""
        return self.key or self.subject
