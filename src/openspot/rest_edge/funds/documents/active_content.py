"""Finds what a PDF could do besides being read: scripts, launched programs, files inside it. Pure, within bounds.

Theory of operation. Readers of PDFs find objects by tables that a hostile file can bend, so this follows no table. It
looks for names that no such thing can do without, in the whole file and in whatever can be unpacked from its streams.
A name may have escapes (`/J#61vaScript`). Streams are unpacked wherever the word `stream` stands, whatever their
dictionary says, some bytes at a time, and the work is counted: a file that asks for more is refused.

Long names are refused wherever their bytes are; they do not come about by chance. Short ones would, in pictures, so
they are refused outside streams only, and in streams of text.
"""

import base64
import binascii
import re
import zlib
from collections.abc import Iterator

UNPACKED_BYTES_MAX = 128 * 2**20
"""All streams of a file together: five pages that were scanned in colours without a picture's own compression."""
STREAMS_MAX = 20_000
TEXT_BYTES_MAX = 2 * 2**20
"""Data of streams that is written as text (ASCII85, hexadecimal), all together."""
_PIECE = 2**16
_INPUT = 2**12
_FAULT_COST = 2**16
"""What a damaged stream costs of the bytes: its end is unpacked byte by byte."""
_SLASH_COST, _ESCAPE_COST, _HIT_COST = 8, 32, 64
"""What the begin of a name costs, an escape, and a name that only begins as one that is looked for."""
_OVERLAP = 64
"""Longer than any name that is looked for, with all of its letters escaped."""
_BLANKS = b"\x00\t\n\f\r "
_DIGITS = "0123456789abcdefABCDEF"
_NAME_ENDS = frozenset(b"\x00\t\n\f\r ()<>[]{}/%")

_LONG = {
    "JavaScript": "a script",
    "Rendition": "a script",
    "XFA": "a form with scripts",
    "Launch": "a command that starts a program",
    "ImportData": "a command that reads a file",
    "SubmitForm": "a command that sends data",
    "GoToE": "another file inside it",
    "EmbeddedFile": "another file inside it",
    "EmbeddedFiles": "another file inside it",
    "RichMedia": "films or programs",
    "RichMediaContent": "films or programs",
    "Encrypt": "encryption",
    "LZWDecode": "a packing that is not looked into",
    "LZW": "a packing that is not looked into",
    "RunLengthDecode": "a packing that is not looked into",
}
_SHORT = {"JS": "a script", "AA": "commands that run by themselves", "RL": "a packing that is not looked into"}


_ESCAPE = re.compile(rb"#[0-9A-Fa-f]{2}")
_ESCAPED = {f"#{high}{low}".encode(): bytes.fromhex(high + low) for high in _DIGITS for low in _DIGITS}
_STREAM = re.compile(rb"(?<!end)stream[ \t]{0,16}(?:\r\n|\r|\n)?")
_ASCII85 = re.compile(rb"[!-uz\x00\t\n\f\r ]*")
_HEXADECIMAL = re.compile(rb"[0-9A-Fa-f\x00\t\n\f\r ]*")


class ActiveContentError(ValueError):
    """A PDF has something that is not taken, or more than can be looked at. The text says what."""


def check_active_content(content: bytes) -> None:
    """Raises ActiveContentError if the PDF has active content, files, or encryption, or takes too long to look at."""
    work, end = _Work(), 0
    _refuse_in_pieces(_LONG, content, 0, len(content), work)
    for number, found in enumerate(_STREAM.finditer(content)):
        if number >= STREAMS_MAX:
            raise ActiveContentError(f"the PDF has more than {STREAMS_MAX:,} streams")
        if found.start() >= end:
            _refuse_in_pieces(_SHORT, content, end, found.start(), work)
            # Where a stream ends is a hint only: all that follows is looked at for long names, and for streams.
            closing = content.find(b"endstream", found.end())
            end = len(content) if closing < 0 else closing
        _look_into(content, found.end(), work)
    _refuse_in_pieces(_SHORT, content, end, len(content), work)


class _Work:
    """What was unpacked of one file."""

    def __init__(self) -> None:
        self._unpacked = 0
        self._text = 0

    def unpack(self, size: int) -> None:
        """Raises ActiveContentError beyond UNPACKED_BYTES_MAX."""
        self._unpacked += size
        if self._unpacked > UNPACKED_BYTES_MAX:
            raise ActiveContentError(
                f"the PDF unpacks to more than {UNPACKED_BYTES_MAX // 2**20} MB: send fewer pages, or a picture"
            )

    def read_text(self, size: int) -> None:
        """Raises ActiveContentError beyond TEXT_BYTES_MAX."""
        self._text += size
        if self._text > TEXT_BYTES_MAX:
            raise ActiveContentError(
                f"the PDF has more than {TEXT_BYTES_MAX // 2**20} MB of data that is written as text: send a picture"
            )


def _look_into(content: bytes, start: int, work: _Work) -> None:
    """Look at what the stream that begins at `start` unpacks to."""
    if _is_packed(content[start : start + 2]):
        _look_through(_unpacked(content, start, work), work)
        return
    for is_written, decode in ((_ASCII85, base64.a85decode), (_HEXADECIMAL, _from_hexadecimal)):
        written = is_written.match(content, start, start + TEXT_BYTES_MAX + 1)
        data = b"" if written is None else written[0].translate(None, _BLANKS)
        work.read_text(len(data))
        try:
            decoded = decode(data)
        except ValueError:
            continue
        _refuse(_LONG | _SHORT, decoded, work)
        if _is_packed(decoded[:2]):
            _look_through(_unpacked(decoded, 0, work), work)


def _from_hexadecimal(data: bytes) -> bytes:
    return binascii.unhexlify(data[: len(data) // 2 * 2])


def _look_through(pieces: Iterator[bytes], work: _Work) -> None:
    """Look at what a stream unpacks to. A second packing inside the first hides everything, and has no good use."""
    before, is_first = b"", True
    for piece in pieces:
        work.unpack(len(piece))
        if is_first and _is_packed(piece[:2]) and any(_unpacked(piece, 0, work)):
            raise ActiveContentError("the PDF has a packing inside a packing")
        is_text = is_first and not piece[:_PIECE].translate(None, bytes(range(32, 127)) + b"\t\n\f\r")
        _refuse(_LONG | _SHORT if is_text else _LONG, before + piece, work)
        before, is_first = piece[-_OVERLAP:], False


def _unpacked(content: bytes, start: int, work: _Work) -> Iterator[bytes]:
    """What can be unpacked, piece by piece, also of a damaged stream: readers show what they can."""
    # Without the head and the checksum at the end, which readers do not insist on.
    unpacking = zlib.decompressobj(-zlib.MAX_WBITS)
    place, waiting = start + 2, b""
    while not unpacking.eof:
        if not waiting:
            waiting, place = content[place : place + _INPUT], place + _INPUT
            if not waiting:
                return
        kept = unpacking.copy()
        try:
            piece = unpacking.decompress(waiting, _PIECE)
        except zlib.error:
            work.unpack(_FAULT_COST)
            yield _until_the_fault(kept, waiting)
            return
        waiting = unpacking.unconsumed_tail
        if piece:
            yield piece


def _until_the_fault(unpacking: "zlib._Decompress", data: bytes) -> bytes:
    """What can be unpacked before the byte at which the data is damaged."""
    found = bytearray()
    try:
        for place in range(len(data)):
            found += unpacking.decompress(data[place : place + 1], _PIECE)
    except zlib.error:
        pass
    return bytes(found)


def _is_packed(head: bytes) -> bool:
    """Whether data begins as one that is packed by zlib."""
    return len(head) == 2 and head[0] & 0x0F == 8 and int.from_bytes(head, "big") % 31 == 0


def _refuse(names: dict[str, str], data: bytes, work: "_Work") -> None:
    """Refuse data with one of the names."""
    slashes, escapes = data.count(b"/"), data.count(b"#")
    if not slashes:
        return
    work.unpack(slashes * _SLASH_COST)
    if escapes:
        work.unpack(escapes * _ESCAPE_COST)
        data = _ESCAPE.sub(lambda escape: _ESCAPED[escape[0]], data)
    for name, what in names.items():
        wanted = f"/{name}".encode()
        place = data.find(wanted)
        while place >= 0:
            end = place + len(wanted)
            if end == len(data) or data[end] in _NAME_ENDS:
                raise ActiveContentError(f"the PDF has {what} (/{name}): send it without, or a picture of it")
            work.unpack(_HIT_COST)
            place = data.find(wanted, end)


def _refuse_in_pieces(names: dict[str, str], content: bytes, start: int, end: int, work: "_Work") -> None:
    """Refuse a part of the file with one of the names. Pieces are short, since nothing else runs meanwhile."""
    for place in range(start, end, _PIECE):
        _refuse(names, content[place : min(place + _PIECE + _OVERLAP, end)], work)
