"""Events as the core emitted them, with the texts that the core does not know."""

from openspot.engine.core.records import EVENT_SIZE
from openspot.engine.state.directory import Note


class EventBatch:
    """Consecutive events. `texts` has one entry an event:

    ACCEPTED, REJECT, BALANCE: the note of its command (directory.Note)
    TRADE: (external id of the taker, external id of the maker)
    REDUCE, MOVED: (external id,)
    """

    __slots__ = ("first_sequence", "messages", "records", "texts")

    def __init__(self, first_sequence: int, records: bytes, texts: list[Note]) -> None:
        self.first_sequence = first_sequence
        self.records = records
        self.texts = texts
        self.messages: list[bytes] | None = None
        """The events as JSON, made at the first need (event_render.py) and kept for all consumers."""

    def __len__(self) -> int:
        return len(self.texts)

    @property
    def last_sequence(self) -> int:
        """The sequence of the last event, that before the first if there is none."""
        return self.first_sequence + len(self.texts) - 1

    def from_sequence(self, sequence: int) -> "EventBatch":
        """The part that begins with `sequence`; itself if all of it does."""
        skipped = sequence - self.first_sequence
        if skipped <= 0:
            return self
        return EventBatch(sequence, self.records[skipped * EVENT_SIZE :], self.texts[skipped:])
