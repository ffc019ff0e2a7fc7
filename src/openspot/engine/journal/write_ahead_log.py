"""Inspects a SQLite write-ahead log without SQLite.

SQLite replays the frames of the log up to the first damaged one and silently ignores the rest. That is right after
a crash during a commit, because no caller got a response to that commit. After damage to the disk it would silently
lose commands that callers believe durable. The two cases differ: a crash leaves at most one unfinished commit, the
last one.

Format: https://www.sqlite.org/fileformat2.html#the_write_ahead_log. A frame belongs to the log if its salts equal
those of the header. Older frames may follow, left from before the log was last reset.
"""

import struct
from collections.abc import Iterator
from typing import NamedTuple

_HEADER = struct.Struct(">8I")
_FRAME = struct.Struct(">6I")
_MAGIC = 0x377F0682
_WORD_MASK = 0xFFFFFFFF


class LogReport(NamedTuple):
    """What a log contains.

    `commits` counts complete commits, `torn_frames` the frames after the last of them, and `torn_commits` how many
    of those frames end a commit.
    """

    commits: int
    torn_frames: int
    torn_commits: int


def inspect_log(content: bytes) -> LogReport:
    """Verify the frames of a log as SQLite does. A log that is empty or has a torn header contains nothing."""
    nothing = LogReport(0, 0, 0)
    if len(content) < _HEADER.size:
        return nothing
    magic, _, page_size, _, *salts, sum_1, sum_2 = _HEADER.unpack_from(content)
    if magic & ~1 != _MAGIC:
        return nothing
    order = ">" if magic & 1 else "<"
    sums = _checksum(content[: _HEADER.size - 8], order, (0, 0))
    if sums != (sum_1, sum_2):
        return nothing
    commits = torn_frames = torn_commits = behind_last_commit = 0
    broken = False
    step = _FRAME.size + page_size
    for start in range(_HEADER.size, len(content) - step + 1, step):
        _, commit_pages, *frame_salts, sum_1, sum_2 = _FRAME.unpack_from(content, start)
        if frame_salts != salts:
            break
        if not broken:
            sums = _checksum(content[start : start + 8], order, sums)
            sums = _checksum(content[start + _FRAME.size : start + step], order, sums)
            broken = sums != (sum_1, sum_2)
        if broken:
            torn_frames += 1
            torn_commits += 1 if commit_pages else 0
        elif commit_pages:
            commits += 1
            behind_last_commit = 0
        else:
            behind_last_commit += 1
    return LogReport(commits, torn_frames + behind_last_commit, torn_commits)


def pages(content: bytes) -> Iterator[tuple[int, bytes]]:
    """(number from 1, content) of each page that a log holds, in order, damaged or not. Without a header: none."""
    if len(content) < _HEADER.size:
        return
    _, _, page_size, _, *salts, _, _ = _HEADER.unpack_from(content)
    step = _FRAME.size + page_size
    for start in range(_HEADER.size, len(content) - step + 1, step):
        number, _, *frame_salts, _, _ = _FRAME.unpack_from(content, start)
        if frame_salts != salts:
            return
        yield number, content[start + _FRAME.size : start + step]


def _checksum(data: bytes, order: str, sums: tuple[int, int]) -> tuple[int, int]:
    first, second = sums
    words = struct.unpack(f"{order}{len(data) // 4}I", data)
    for even, odd in zip(words[::2], words[1::2], strict=True):
        first = (first + even + second) & _WORD_MASK
        second = (second + odd + first) & _WORD_MASK
    return first, second
