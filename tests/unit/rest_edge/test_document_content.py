"""What a document is, is found by its content; what is cut off or something else is refused."""

import itertools
import random

import pytest

from openspot.rest_edge.funds.documents.content import ContentError, media_type_of
from openspot.rest_edge.funds.documents.rules import MediaType, fault_of_name
from tests.support.sample_documents import pdf, picture, png_of_size

WHOLE = {
    MediaType.JPEG: picture("JPEG"),
    MediaType.PNG: picture("PNG"),
    MediaType.WEBP: picture("WEBP"),
    MediaType.PDF: pdf(),
}
SCRIPT = b"<script>alert(document.domain)</script>"
REFUSED = (
    (b"", "the file is empty"),
    (b"<svg xmlns='http://www.w3.org/2000/svg' onload='alert(1)'/>", "the content is none of JPEG, PNG, WebP and PDF"),
    (b"<!doctype html>" + SCRIPT, "the content is none of JPEG, PNG, WebP and PDF"),
    (b"GIF89a/*" + SCRIPT, "the content is none of JPEG, PNG, WebP and PDF"),
    (b"PK\x03\x04", "the content is none of JPEG, PNG, WebP and PDF"),
    (b"MZ\x90\x00", "the content is none of JPEG, PNG, WebP and PDF"),
    (b" " + pdf(), "the content is none of JPEG, PNG, WebP and PDF"),
    (b"%PDF-9.9\n%%EOF", "the PDF is of a version that is not known"),
    (pdf()[:200], "the PDF is cut off, or has other data behind its end"),
    (pdf() + SCRIPT * 40, "the PDF is cut off, or has other data behind its end"),
    (picture("PNG") + SCRIPT, "the PNG image has other data behind its end"),
    (picture("PNG").replace(b"IHDR", b"IHDX"), "the PNG image is damaged: a checksum is wrong"),
    (picture("WEBP") + SCRIPT, "the WebP image is cut off, or has other data behind its end"),
    (b"RIFF\x04\x00\x00\x00WEBP", "the WebP image has no still picture"),
    (b"\xff\xd8\xff\xe0" + SCRIPT, "the JPEG image is damaged or cut off"),
    (b"\xff\xd8\xff\xd9", "the JPEG image is damaged or cut off"),
    (b"\xff\xd8" + b"\xff" * 5000, "the JPEG image is damaged or cut off"),
    (b"\x89PNG\r\n\x1a\n", "the PNG image is cut off"),
)


@pytest.mark.parametrize("media_type", MediaType)
def test_each_type_is_known_by_its_content_and_refused_when_it_is_cut_off(media_type: MediaType) -> None:
    content = WHOLE[media_type]
    assert media_type_of(content) is media_type
    for length in (*range(min(len(content), 80)), *range(80, len(content) - 8, 7)):
        with pytest.raises(ContentError):
            media_type_of(content[:length])


@pytest.mark.parametrize(("content", "reason"), REFUSED)
def test_other_content_is_refused_with_the_reason(content: bytes, reason: str) -> None:
    with pytest.raises(ContentError) as refused:
        media_type_of(content)
    assert str(refused.value) == reason


def test_formats_of_cameras_and_scanners_are_taken() -> None:
    lossless = bytearray(picture("WEBP"))
    assert lossless[12:16] in (b"VP8 ", b"VP8L", b"VP8X")
    # Phones put data of their own behind the end of a JPEG.
    assert media_type_of(picture("JPEG") + b"SEFT" + bytes(64)) is MediaType.JPEG
    assert media_type_of(pdf().replace(b"%PDF-1.4", b"%PDF-2.0")) is MediaType.PDF


@pytest.mark.parametrize(
    ("size", "is_taken"),
    [((10_000, 10_000), True), ((10_000, 10_001), False), ((30_000, 1), True), ((30_001, 1), False), ((0, 1), False)],
)
def test_a_picture_that_would_fill_the_memory_of_who_looks_at_it_is_refused(
    size: tuple[int, int], is_taken: bool
) -> None:
    if is_taken:
        assert media_type_of(png_of_size(*size)) is MediaType.PNG
        return
    with pytest.raises(ContentError, match="at most 30,000 a side, 100,000,000 together"):
        media_type_of(png_of_size(*size))


def test_no_content_whatever_ends_in_another_error() -> None:
    """Single bytes of whole documents are exchanged, at random and reproducibly."""
    random_bytes = random.Random(112)
    for content, _ in itertools.product(WHOLE.values(), range(400)):
        changed = bytearray(content)
        for _ in range(random_bytes.randint(1, 4)):
            changed[random_bytes.randrange(len(changed))] = random_bytes.randrange(256)
        try:
            media_type_of(bytes(changed))
        except ContentError as error:
            assert str(error)


@pytest.mark.parametrize(
    ("name", "fault"),
    [
        ("passport.jpg", ""),
        ("Kontoauszug März – 2026 (1).pdf", ""),
        ("身分証明書.png", ""),
        ("a" * 255, ""),
        ("a" * 256, "must be at most 255 characters long"),
        ("../../etc/passwd", "must be the name of a file, without a path"),
        ("C:\\secret.jpg", "must be the name of a file, without a path"),
        (".", "must be the name of a file, without a path"),
        ("..", "must be the name of a file, without a path"),
        ("a\r\nSet-Cookie: b", "has characters that are not allowed"),
        ("a\x00.jpg", "has characters that are not allowed"),
        ("a\u2028b.jpg", "has characters that are not allowed"),
        ("a\u2029b.jpg", "has characters that are not allowed"),
        # Reads "evil-exe.jpg" where the direction of writing is turned.
        ("evil-\u202egpj.exe", "has characters that are not allowed"),
        ("\ud800.jpg", "has characters that are not allowed"),
    ],
)
def test_a_name_has_no_path_and_nothing_that_deceives(name: str, fault: str) -> None:
    assert fault_of_name(name) == fault
