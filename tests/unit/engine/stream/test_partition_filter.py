"""What a consumer of one partition is sent."""

import msgspec

from openspot.domain.partition import Partition
from openspot.engine.stream.partition_filter import SAY_S, PartitionFilter

MINE, OTHER = "ETH-USD", "BTC-USD"


def skipped(first: int, last: int) -> bytes:
    return msgspec.json.encode({"type": "skipped", "firstSeq": first, "lastSeq": last})


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def test_what_is_left_out_is_said_before_the_next_event_of_the_partition() -> None:
    selection = PartitionFilter(Partition(1, 2), Clock())
    sent = selection.select(7, [OTHER, OTHER, MINE, "", MINE], [b"7", b"8", b"9", b"10", b"11"])
    assert sent == [skipped(7, 8), b"9", skipped(10, 10), b"11"]
    assert selection.pause_s is None
    assert selection.rest() == []


def test_events_of_no_symbol_belong_to_the_first_partition() -> None:
    assert PartitionFilter(Partition(0, 2), Clock()).select(1, ["", MINE], [b"1", b"2"]) == [b"1"]


def test_a_quiet_partition_is_told_how_far_the_others_have_come() -> None:
    clock = Clock()
    selection = PartitionFilter(Partition(1, 2), clock)
    assert selection.select(1, [OTHER, OTHER], [b"1", b"2"]) == []
    assert selection.pause_s == SAY_S
    clock.now = SAY_S / 2
    assert selection.select(3, [OTHER], [b"3"]) == []
    assert selection.pause_s == SAY_S / 2
    # However busy the other partitions are, the time from the first event counts.
    clock.now = SAY_S
    assert selection.select(4, [OTHER], [b"4"]) == [skipped(1, 4)]
    assert selection.select(5, [OTHER], [b"5"]) == []
    assert selection.rest() == [skipped(5, 5)]
    assert selection.pause_s is None
