"""Finds what a file is by its content, and refuses what is cut off or is something else. Pure.

Each check reads the structure of its format as far as the frame of the file: lengths, checksums, the size of the
picture, the end. No picture is decoded, because decoders of pictures are what attackers aim at. What a file does in a
browser does not depend on these checks: it is always given as the type that was found here, and never run (routes).
"""

import re
import zlib

from openspot.rest_edge.funds.documents.active_content import ActiveContentError, check_active_content
from openspot.rest_edge.funds.documents.rules import MediaType

SIDE_PIXELS_MAX = 30_000
PIXELS_MAX = 100_000_000
"""A picture beyond this takes the memory of whoever looks at it."""

_PNG_SIGNATURE = b"\x89PNG\r\n\x1a\n"
_PDF_HEAD = re.compile(rb"%PDF-(1\.[0-7]|2\.0)[\r\n\t ]")
_PDF_TAIL_BYTES = 2048
_PDF_END_BYTES = 1024
_JPEG_WITHOUT_LENGTH = frozenset({0x01, *range(0xD0, 0xDA)})
_JPEG_FRAMES = frozenset(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC}


class ContentError(ValueError):
    """The content is of no type that is taken, or is not whole. The text says what is wrong."""


def media_type_of(content: bytes) -> MediaType:
    """The type of a file. Raises ContentError."""
    if content.startswith(b"\xff\xd8\xff"):
        _check_jpeg(content)
        return MediaType.JPEG
    if content.startswith(_PNG_SIGNATURE):
        _check_png(content)
        return MediaType.PNG
    if content[:4] == b"RIFF" and content[8:12] == b"WEBP":
        _check_webp(content)
        return MediaType.WEBP
    if content.startswith(b"%PDF-"):
        _check_pdf(content)
        return MediaType.PDF
    raise ContentError("the content is none of JPEG, PNG, WebP and PDF" if content else "the file is empty")


def _check_jpeg(content: bytes) -> None:
    """Walk the segments up to the data of the picture. Cameras put data of their own behind its end."""
    place, has_frame = 2, False
    while True:
        if content[place : place + 1] != b"\xff":
            raise ContentError("the JPEG image is damaged or cut off")
        while content[place : place + 1] == b"\xff":
            place += 1
        marker = content[place : place + 1]
        length = int.from_bytes(content[place + 1 : place + 3], "big")
        if not marker or marker[0] in _JPEG_WITHOUT_LENGTH or length < 2 or place + 1 + length > len(content):
            raise ContentError("the JPEG image is damaged or cut off")
        if marker[0] in _JPEG_FRAMES:
            height = int.from_bytes(content[place + 4 : place + 6], "big")
            _check_size(int.from_bytes(content[place + 6 : place + 8], "big"), height)
            has_frame = True
        place += 1 + length
        if marker == b"\xda":
            break
    if not has_frame or content.find(b"\xff\xd9", place) < 0:
        raise ContentError("the JPEG image is damaged or cut off")


def _check_png(content: bytes) -> None:
    """Walk all chunks with their checksums, from the first to the last."""
    place, has_data, is_first = len(_PNG_SIGNATURE), False, True
    while True:
        length, kind = int.from_bytes(content[place : place + 4], "big"), content[place + 4 : place + 8]
        end = place + 12 + length
        if end > len(content) or len(kind) < 4:
            raise ContentError("the PNG image is cut off")
        if zlib.crc32(content[place + 4 : end - 4]) != int.from_bytes(content[end - 4 : end], "big"):
            raise ContentError("the PNG image is damaged: a checksum is wrong")
        if is_first != (kind == b"IHDR") or (is_first and length != 13):
            raise ContentError("the PNG image is damaged: its head is not where it belongs")
        if is_first:
            _check_size(
                int.from_bytes(content[place + 8 : place + 12], "big"),
                int.from_bytes(content[place + 12 : place + 16], "big"),
            )
        has_data, is_first, place = has_data or kind == b"IDAT", False, end
        if kind == b"IEND":
            break
    if not has_data:
        raise ContentError("the PNG image is damaged: it has no picture")
    if place != len(content):
        raise ContentError("the PNG image has other data behind its end")


def _check_webp(content: bytes) -> None:
    """Walk all chunks; the first one, and the picture itself, say how large it is."""
    if int.from_bytes(content[4:8], "little") + 8 != len(content):
        raise ContentError("the WebP image is cut off, or has other data behind its end")
    place, has_picture = 12, False
    while place < len(content):
        kind, length = content[place : place + 4], int.from_bytes(content[place + 4 : place + 8], "little")
        data = content[place + 8 : place + 18]
        place += 8 + length + length % 2
        if place > len(content) or len(kind) < 4:
            raise ContentError("the WebP image is damaged or cut off")
        if kind == b"VP8X":
            _check_size(int.from_bytes(data[4:7], "little") + 1, int.from_bytes(data[7:10], "little") + 1)
        elif kind == b"VP8L":
            if length < 5 or data[:1] != b"\x2f":
                raise ContentError("the WebP image is damaged")
            bits = int.from_bytes(data[1:5], "little")
            _check_size((bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1)
        elif kind == b"VP8 ":
            if length < 10 or data[3:6] != b"\x9d\x01\x2a":
                raise ContentError("the WebP image is damaged")
            _check_size(int.from_bytes(data[6:8], "little") & 0x3FFF, int.from_bytes(data[8:10], "little") & 0x3FFF)
        has_picture = has_picture or kind in (b"VP8L", b"VP8 ")
    if not has_picture:
        raise ContentError("the WebP image has no still picture")


def _check_pdf(content: bytes) -> None:
    """Head at the first byte, end among the last ones, and nothing that acts or is hidden (`active_content`)."""
    if not _PDF_HEAD.match(content):
        raise ContentError("the PDF is of a version that is not known")
    if b"%%EOF" not in content[-_PDF_END_BYTES:] or b"startxref" not in content[-_PDF_TAIL_BYTES:]:
        raise ContentError("the PDF is cut off, or has other data behind its end")
    try:
        check_active_content(content)
    except ActiveContentError as error:
        raise ContentError(str(error)) from error


def _check_size(width: int, height: int) -> None:
    if not 0 < width <= SIDE_PIXELS_MAX or not 0 < height <= SIDE_PIXELS_MAX or width * height > PIXELS_MAX:
        raise ContentError(
            f"the picture has {width} × {height} pixels: at most {SIDE_PIXELS_MAX:,} a side, {PIXELS_MAX:,} together"
        )
