"""An event on its way to a stream."""

import msgspec


class OutgoingEvent(msgspec.Struct, frozen=True):
    """An event to publish. A second event with the same `message_id` within the duplicate window is dropped.

    Events with the same `key` keep their order, whatever their subjects: if one is held back, later ones are held back
    too. Without a key, only events of the same subject keep their order.
    """

    subject: str
    payload: bytes
    message_id: str
    key: str = ""

    @property
    def order_key(self) -> str:
        """Events with the same order key keep their order."""
        return self.key or self.subject
