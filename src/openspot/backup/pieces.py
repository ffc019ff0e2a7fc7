"""Cuts files into the pieces that backups share.

A cut follows from the line before it, not from its place in the file. So a row that was added, changed or removed in
the middle of a table's dump makes one or two new pieces, and all others stay what they were. Pieces of equal size would
all be new from there to the end of the file.
"""

import zlib
from collections.abc import Iterator
from typing import BinaryIO

PIECE_BYTES_MIN = 512 << 10
PIECE_BYTES_MAX = 4 << 20
"""A piece without a line that ends one is cut here: a file that is no text."""
LINES_BYTES = 1 << 20
"""After the least size, so many bytes of lines follow on average before one ends the piece."""
_CHECKSUMS = 1 << 32


def pieces_of(file: BinaryIO) -> Iterator[bytes]:
    """The content in pieces, in order; none of an empty file. It holds one piece in memory. Raises OSError."""
    content = b""
    while True:
        more = file.read(PIECE_BYTES_MAX - len(content))
        content += more
        if not content:
            return
        end = _end_of_piece(content)
        yield content[:end]
        content = content[end:]


def _end_of_piece(content: bytes) -> int:
    """How many bytes of the content are its first piece."""
    start = content.find(b"\n", PIECE_BYTES_MIN) + 1
    while start:
        end = content.find(b"\n", start) + 1
        # A longer line is more likely to end the piece, so that pieces of tables with short rows are as large.
        if end and zlib.crc32(content[start:end]) * LINES_BYTES < (end - start) * _CHECKSUMS:
            return end
        start = end
    return len(content)
