"""The frames of documents, byte by byte: what is at the edge of each rule is taken, and what is beyond is not."""

import zlib

import pytest

from openspot.rest_edge.funds.documents.content import ContentError, media_type_of
from openspot.rest_edge.funds.documents.rules import ENDINGS, DocumentKind, MediaType

FRAMES = (0xC0, 0xC1, 0xC2, 0xC3, 0xC5, 0xC6, 0xC7, 0xC9, 0xCA, 0xCB, 0xCD, 0xCE, 0xCF)
TOO_LARGE = "the picture has {} × {} pixels: at most 30,000 a side, 100,000,000 together"
JPEG_DAMAGED = "the JPEG image is damaged or cut off"
WEBP_DAMAGED = "the WebP image is damaged"
SCAN = b"\xff\xda\x00\x08\x01\x01\x00\x00\x3f\x00data"
END = b"\xff\xd9"


def refusal(content: bytes) -> str:
    """Why a content is refused."""
    with pytest.raises(ContentError) as refused:
        media_type_of(content)
    return str(refused.value)


def segment(marker: int, data: bytes) -> bytes:
    return bytes((0xFF, marker)) + (len(data) + 2).to_bytes(2, "big") + data


def frame(width: int, height: int, marker: int = 0xC0) -> bytes:
    """The segment of a JPEG that says how large it is."""
    return segment(marker, b"\x08" + height.to_bytes(2, "big") + width.to_bytes(2, "big") + b"\x01\x01\x11\x00")


def jpeg(*segments: bytes, scan: bytes = SCAN, end: bytes = END) -> bytes:
    return b"\xff\xd8" + b"".join(segments) + scan + end


@pytest.mark.parametrize("marker", FRAMES)
def test_a_jpeg_of_every_kind_of_frame_is_taken(marker: int) -> None:
    assert media_type_of(jpeg(frame(640, 480, marker))) is MediaType.JPEG
    assert refusal(jpeg(frame(30_001, 1, marker))) == TOO_LARGE.format("30001", "1")


def test_the_segments_of_a_jpeg_are_walked() -> None:
    table, shortest = segment(0xC4, bytes(20)), segment(0xFE, b"")
    assert media_type_of(jpeg(shortest, table, b"\xff\xff" + frame(1, 1), table)) is MediaType.JPEG
    assert media_type_of(jpeg(segment(0xE1, b"\xff\xd9" * 4), frame(10_000, 10_000))) is MediaType.JPEG
    assert media_type_of(jpeg(segment(0xFE, b"x" * 300), frame(1, 30_000))) is MediaType.JPEG
    for size in ((10_000, 10_001), (0, 9), (9, 0), (30_001, 1), (1, 30_001)):
        assert refusal(jpeg(frame(*size))) == TOO_LARGE.format(*size)
    # The largest of several frames decides.
    assert refusal(jpeg(frame(1, 1), frame(40_000, 2))) == TOO_LARGE.format(40_000, 2)


@pytest.mark.parametrize(
    "content",
    [
        jpeg(),
        jpeg(segment(0xC4, bytes(8))),
        jpeg(segment(0xC8, bytes(8))),
        jpeg(segment(0xCC, bytes(8))),
        jpeg(frame(1, 1), end=b""),
        jpeg(frame(1, 1), scan=b""),
        jpeg(frame(1, 1), b"x"),
        jpeg(frame(1, 1), b"\xff\xfe\x00\x01"),
        jpeg(frame(1, 1), b"\xff\xfe\x00\x00"),
        jpeg(frame(1, 1), b"\xff\xfe\xff\xff"),
        *(jpeg(frame(1, 1), segment(marker, b"ab")) for marker in (0x01, *range(0xD0, 0xDA))),
        # The end inside a segment, and not behind the picture, is none.
        jpeg(frame(1, 1), segment(0xE1, END), end=b""),
    ],
)  # fmt: skip
def test_a_jpeg_without_frame_or_end_or_with_segments_that_cannot_be_is_refused(content: bytes) -> None:
    assert refusal(content) == JPEG_DAMAGED


def test_a_segment_may_end_with_the_file_and_no_further() -> None:
    whole = b"\xff\xd8" + frame(1, 1) + segment(0xDA, b"abc" + END)
    # The scan's header takes the rest of the file, so that there is no end behind it.
    assert refusal(whole) == JPEG_DAMAGED
    assert media_type_of(whole + END) is MediaType.JPEG
    assert refusal(whole[:-1]) == JPEG_DAMAGED


def chunk(kind: bytes, data: bytes) -> bytes:
    """A chunk of a PNG."""
    body = kind + data
    return len(data).to_bytes(4, "big") + body + zlib.crc32(body).to_bytes(4, "big")


def head(width: int, height: int) -> bytes:
    return chunk(b"IHDR", width.to_bytes(4, "big") + height.to_bytes(4, "big") + b"\x08\x02\x00\x00\x00")


def png(*chunks: bytes) -> bytes:
    return b"\x89PNG\r\n\x1a\n" + b"".join(chunks)


PIXELS, LAST = chunk(b"IDAT", b"pixels"), chunk(b"IEND", b"")
MISPLACED = "the PNG image is damaged: its head is not where it belongs"


def test_the_chunks_of_a_png_are_walked() -> None:
    assert media_type_of(png(head(5, 7), chunk(b"tEXt", b""), PIXELS, PIXELS, LAST)) is MediaType.PNG
    assert refusal(png(head(5, 30_001), PIXELS, LAST)) == TOO_LARGE.format(5, 30_001)
    assert refusal(png(head(5, 2**24 + 7), PIXELS, LAST)) == TOO_LARGE.format(5, 2**24 + 7)
    assert refusal(png(head(2**32 - 1, 1), PIXELS, LAST)) == TOO_LARGE.format(2**32 - 1, 1)
    assert refusal(png(head(5, 7), LAST)) == "the PNG image is damaged: it has no picture"
    assert refusal(png(head(5, 7), chunk(b"IDAX", b"x"), LAST)) == "the PNG image is damaged: it has no picture"
    assert refusal(png(PIXELS, head(5, 7), LAST)) == MISPLACED
    assert refusal(png(head(5, 7), head(5, 7), PIXELS, LAST)) == MISPLACED
    for length in (12, 14):
        assert refusal(png(chunk(b"IHDR", bytes(length)), PIXELS, LAST)) == MISPLACED
    for cut in (png(head(5, 7), PIXELS), png(head(5, 7), PIXELS)[:-1], png(head(5, 7), PIXELS, LAST)[:-1]):
        assert refusal(cut) == "the PNG image is cut off"
    assert refusal(png(head(5, 7), PIXELS, LAST, b"x")) == "the PNG image has other data behind its end"
    damaged = bytearray(png(head(5, 7), PIXELS, LAST))
    for place in (len(damaged) - 1, len(damaged) - 4, 16, 28):
        copy = bytearray(damaged)
        copy[place] ^= 1
        assert refusal(bytes(copy)) == "the PNG image is damaged: a checksum is wrong"


def riff(*chunks: tuple[bytes, bytes]) -> bytes:
    """A WebP image of these chunks."""
    body = b"WEBP"
    for kind, data in chunks:
        body += kind + len(data).to_bytes(4, "little") + data + b"\x00" * (len(data) % 2)
    return b"RIFF" + len(body).to_bytes(4, "little") + body


def lossless(width: int, height: int) -> bytes:
    return b"\x2f" + ((width - 1) | (height - 1) << 14).to_bytes(4, "little")


def lossy(width: int, height: int, scale: int = 0) -> bytes:
    sides = (side | scale << 14 for side in (width, height))
    return b"\x30\x01\x00\x9d\x01\x2a" + b"".join(side.to_bytes(2, "little") for side in sides)


def canvas(width: int, height: int) -> bytes:
    return bytes(4) + (width - 1).to_bytes(3, "little") + (height - 1).to_bytes(3, "little")


def test_the_chunks_of_a_webp_are_walked() -> None:
    for picture in ((b"VP8L", lossless(16_384, 6_103)), (b"VP8 ", lossy(16_383, 6_103)), (b"VP8 ", lossy(3, 4, 3))):
        assert media_type_of(riff(picture)) is MediaType.WEBP
        assert media_type_of(riff((b"VP8X", canvas(30_000, 3)), (b"EXIF", b"odd"), picture)) is MediaType.WEBP
    assert refusal(riff((b"VP8L", lossless(16_384, 6_104)))) == TOO_LARGE.format(16_384, 6_104)
    assert refusal(riff((b"VP8L", lossless(6_104, 16_384)))) == TOO_LARGE.format(6_104, 16_384)
    assert refusal(riff((b"VP8 ", lossy(16_383, 6_105)))) == TOO_LARGE.format(16_383, 6_105)
    assert refusal(riff((b"VP8 ", lossy(0, 5)))) == TOO_LARGE.format(0, 5)
    assert refusal(riff((b"VP8 ", lossy(5, 0, 1)))) == TOO_LARGE.format(5, 0)
    for size in ((30_001, 2), (2, 30_001), (2**24, 1), (1, 2**24)):
        assert refusal(riff((b"VP8X", canvas(*size)), (b"VP8L", lossless(1, 1)))) == TOO_LARGE.format(*size)


def test_a_webp_that_cannot_be_is_refused() -> None:
    assert refusal(riff((b"VP8X", canvas(2, 2)))) == "the WebP image has no still picture"
    assert refusal(riff((b"ANMF", bytes(20)))) == "the WebP image has no still picture"
    assert refusal(riff((b"VP8L", lossless(2, 2)[:4]))) == WEBP_DAMAGED
    assert refusal(riff((b"VP8L", b"\x2e" + lossless(2, 2)[1:]))) == WEBP_DAMAGED
    assert refusal(riff((b"VP8 ", lossy(2, 2)[:9]))) == WEBP_DAMAGED
    assert refusal(riff((b"VP8 ", lossy(2, 2).replace(b"\x2a", b"\x2b")))) == WEBP_DAMAGED
    whole = riff((b"VP8L", lossless(2, 2)))
    assert refusal(whole + b"xx") == "the WebP image is cut off, or has other data behind its end"
    # The last chunk promises more than there is.
    longer = whole[:16] + (100).to_bytes(4, "little") + whole[20:]
    assert refusal(longer) == "the WebP image is damaged or cut off"
    short = b"WEBP" + b"VP8L" + (5).to_bytes(4, "little") + lossless(2, 2) + b"\x00" + b"AB"
    assert refusal(b"RIFF" + len(short).to_bytes(4, "little") + short) == "the WebP image is damaged or cut off"
    assert refusal(b"RIFF" + whole[4:8] + b"WAVE" + whole[12:]) == "the content is none of JPEG, PNG, WebP and PDF"
    assert refusal(b"RIFX" + whole[4:]) == "the content is none of JPEG, PNG, WebP and PDF"


def test_a_pdf_has_its_head_first_and_its_end_among_the_last_bytes() -> None:
    tail = b"startxref\n9\n%%EOF"
    for version in ("1.0", "1.7", "2.0"):
        for blank in b"\r\n\t ":
            assert media_type_of(f"%PDF-{version}".encode() + bytes((blank,)) + tail) is MediaType.PDF
    for version in ("1.8", "2.1", "3.0", "1x7", "2x0"):
        assert refusal(f"%PDF-{version}\n".encode() + tail) == "the PDF is of a version that is not known"
    assert refusal(b"%PDF-1.7x" + tail) == "the PDF is of a version that is not known"
    beyond = "the PDF is cut off, or has other data behind its end"
    start, end = b"%PDF-1.7\nstartxref", b"%%EOF"
    for space, last, is_taken in (
        (0, 1019, True), (0, 1020, False), (1015, 1019, True), (2034, 0, True), (2035, 0, False), (0, 0, True),
    ):  # fmt: skip
        content = start + b" " * space + end + b" " * last
        if is_taken:
            assert media_type_of(content) is MediaType.PDF
        else:
            assert refusal(content) == beyond
    assert refusal(b"%PDF-1.7\n%%EOF") == beyond
    assert refusal(b"%PDF-1.7\nstartxref") == beyond


def test_kinds_types_and_endings_are_what_routes_and_tables_say() -> None:
    assert list(DocumentKind) == ["identity_front", "identity_back", "proof_of_address", "selfie"]
    assert ENDINGS == {"image/jpeg": "jpg", "image/png": "png", "image/webp": "webp", "application/pdf": "pdf"}
