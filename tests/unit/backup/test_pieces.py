"""A change in the middle of a file leaves all pieces as they were but those that it touches."""

import io
import random

import pytest

from openspot.backup import pieces
from openspot.backup.pieces import pieces_of

ROWS = [f"{number}\tuser{number % 97}\t{number * 7919 % 100_000}\n".encode() for number in range(20_000)]


@pytest.fixture(autouse=True)
def _small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pieces, "PIECE_BYTES_MIN", 2_000)
    monkeypatch.setattr(pieces, "LINES_BYTES", 4_000)
    monkeypatch.setattr(pieces, "PIECE_BYTES_MAX", 40_000)


def cut(content: bytes) -> list[bytes]:
    found = list(pieces_of(io.BytesIO(content)))
    assert b"".join(found) == content
    assert all(0 < len(piece) <= pieces.PIECE_BYTES_MAX for piece in found)
    return found


def test_pieces_end_with_a_line_and_have_the_size_that_was_asked_for() -> None:
    found = cut(b"".join(ROWS))
    assert all(piece.endswith(b"\n") and len(piece) >= pieces.PIECE_BYTES_MIN for piece in found[:-1])
    average = sum(map(len, found)) / len(found)
    assert 4_000 < average < 8_000


@pytest.mark.parametrize(
    "changed",
    [
        ROWS[1:],
        [b"-1\tuser0\t0\n", *ROWS],
        [*ROWS[:10_000], b"10000\tuser3\tanother\n", *ROWS[10_001:]],
        [*ROWS[:5_000], *ROWS[5_200:]],
        [*ROWS, *(b"new %d\n" % number for number in range(200))],
    ],
    ids=["first row removed", "row before the first", "row changed", "rows removed", "rows at the end"],
)
def test_a_change_makes_few_new_pieces(changed: list[bytes]) -> None:
    before, after = set(cut(b"".join(ROWS))), cut(b"".join(changed))
    assert len(before) > 50
    assert len([piece for piece in after if piece not in before]) <= 3


def test_what_is_no_text_is_cut_at_the_largest_size() -> None:
    content = random.Random(1).randbytes(100_000).replace(b"\n", b"n")
    assert [len(piece) for piece in cut(content)] == [40_000, 40_000, 20_000]
    assert cut(b"") == []
    assert cut(b"\n" * 2_000) == [b"\n" * 2_000]
