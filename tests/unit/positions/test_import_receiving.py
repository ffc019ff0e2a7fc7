"""Files of imports are received within bounds, whatever their senders do."""

import asyncio
from collections.abc import AsyncIterator

import pytest

from openspot.http.errors import HttpError
from openspot.positions.cost_basis import receiving
from openspot.positions.cost_basis.receiving import FULL_FILES_MAX, Receipts

BYTES_MAX = 1000


class Sender:
    """A client whose body comes in the pieces that the test sends; an empty one ends it."""

    def __init__(self) -> None:
        self.sent: asyncio.Queue[bytes] = asyncio.Queue()

    def send(self, *pieces: bytes) -> None:
        for piece in pieces:
            self.sent.put_nowait(piece)

    async def pieces(self) -> AsyncIterator[bytes]:
        while piece := await self.sent.get():
            yield piece


class Taken:
    """A file that is received in a task of its own, and then kept until the test lets it go."""

    def __init__(self, receipts: Receipts, user_id: str, *pieces: bytes) -> None:
        self.sender = Sender()
        self.sender.send(*pieces)
        self.is_received = asyncio.Event()
        self._release = asyncio.Event()
        self.task = asyncio.create_task(self._take(receipts, user_id))

    async def _take(self, receipts: Receipts, user_id: str) -> bytes:
        async with receipts.received(user_id, self.sender.pieces()) as file:
            self.is_received.set()
            await self._release.wait()
            return file.read()

    async def end(self) -> bytes:
        self._release.set()
        return await self.task


async def refusal(receipts: Receipts, user_id: str, *pieces: bytes) -> tuple[int, str, object]:
    sender = Sender()
    sender.send(*pieces)
    with pytest.raises(HttpError) as refused:
        async with receipts.received(user_id, sender.pieces()):
            raise AssertionError("it was received")
    return refused.value.status_code, refused.value.code, refused.value.message


IN_PROGRESS = (409, "IMPORT_IN_PROGRESS", "an import of this user is running: wait for its answer")
TOO_MANY = (503, "TOO_MANY_IMPORTS", "too many files are being received")


async def test_a_user_has_one_file_from_its_first_byte_to_the_end_of_its_import() -> None:
    receipts = Receipts(BYTES_MAX)
    first = Taken(receipts, "alice", b"ab")
    while not first.sender.sent.empty():
        await asyncio.sleep(0)
    assert await refusal(receipts, "alice", b"x", b"") == IN_PROGRESS
    first.sender.send(b"c", b"")
    await first.is_received.wait()
    assert await refusal(receipts, "alice", b"x", b"") == IN_PROGRESS
    assert await first.end() == b"abc"
    assert await refusal(receipts, "alice", b"") == (
        400, "EMPTY_FILE", "the body is empty: it must be a file of transactions"
    )  # fmt: skip


async def test_all_files_together_stay_within_the_bound_of_bytes_and_give_them_back() -> None:
    receipts = Receipts(BYTES_MAX)
    full = [Taken(receipts, f"u{number}", b"x" * BYTES_MAX, b"") for number in range(FULL_FILES_MAX)]
    for taken in full:
        await taken.is_received.wait()
    # A byte more is refused before it is written, until a file is gone.
    assert await refusal(receipts, "carol", b"x", b"") == TOO_MANY
    await full[0].end()
    assert (await refusal(receipts, "carol", b"x" * (BYTES_MAX + 1)))[0] == 413
    last = Taken(receipts, "carol", b"x" * BYTES_MAX, b"")
    await last.is_received.wait()
    assert await refusal(receipts, "dave", b"x", b"") == TOO_MANY
    for taken in (*full[1:], last):
        assert await taken.end() == b"x" * BYTES_MAX
    again = Taken(receipts, "u0", b"x", b"")
    await again.is_received.wait()
    assert await again.end() == b"x"


async def test_so_many_files_are_received_at_a_time_and_no_more(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(receiving, "FILES_MAX", 2)
    receipts = Receipts(BYTES_MAX)
    slow = [Taken(receipts, user_id) for user_id in ("alice", "bob")]
    await asyncio.sleep(0)
    assert await refusal(receipts, "carol", b"x", b"") == TOO_MANY
    slow[0].task.cancel()
    await asyncio.gather(slow[0].task, return_exceptions=True)
    carols = Taken(receipts, "carol", b"x", b"")
    await carols.is_received.wait()
    assert await carols.end() == b"x"
    slow[1].sender.send(b"y", b"")
    assert await slow[1].end() == b"y"


async def test_a_file_that_stops_is_given_up_and_its_place_is_free(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(receiving, "BODY_PAUSE_S_MAX", 0.01)
    receipts = Receipts(BYTES_MAX)
    assert await refusal(receipts, "alice", b"x") == (408, "BODY_TIMEOUT", "the body did not arrive in time")
    assert await refusal(receipts, "alice", b"x") == (408, "BODY_TIMEOUT", "the body did not arrive in time")


def test_the_bounds_by_default() -> None:
    assert (receiving.FILES_MAX, FULL_FILES_MAX) == (100, 4)
