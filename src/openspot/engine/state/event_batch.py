"""Event records of the core, with the texts that the core does not know."""

from openspot.engine.core.records import EVENT_SIZE
from openspot.engine.state.directory import Note


class EventBatch:
    """Consecutive events. `texts` has one entry for each event:

    ACCEPTED, REJECT, BALANCE, TRANSFER: the note of the command (directory.Note)
    TRADE: (the taker's order id, the maker's order id)
    REDUCE, MOVED: (order id,)
    """

    __slots__ = ("first_sequence", "messages", "records", "symbols", "texts")

    def __init__(self, first_sequence: int, records: bytes, texts: list[Note]) -> None:
        self.first_sequence = first_sequence
        self.records = records
        self.texts = texts
        self.messages: list[bytes] | None = None
        """The events as JSON. EventRenderer creates it on first use, and all consumers share it."""
        self.symbols: list[str] = []
        """The symbol of each event, empty for an event of none. EventRenderer sets it together with `messages`."""

    def __len__(self) -> int:
        return len(self.texts)

    @property
    def last_sequence(self) -> int:
        """The sequence of the last event; of an empty batch, one less than `first_sequence`."""
        return self.first_sequence + len(self.texts) - 1

    def from_sequence(self, sequence: int) -> "EventBatch":
        """The events from `sequence` on. Returns this batch if none comes before."""
        skipped = sequence - self.first_sequence
        if skipped <= 0:
            return self
        return EventBatch(sequence, self.records[skipped * EVENT_SIZE :], self.texts[skipped:])
