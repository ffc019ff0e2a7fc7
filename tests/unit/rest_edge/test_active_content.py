"""PDFs that act, carry files or hide something are refused, and looking at one takes bounded work."""

import base64
import random
import zlib

import pytest

from openspot.rest_edge.funds.documents import active_content
from openspot.rest_edge.funds.documents.active_content import ActiveContentError, check_active_content
from openspot.rest_edge.funds.documents.content import ContentError, media_type_of
from tests.support.sample_documents import pdf

REFUSED = {
    "JavaScript": "a script", "J#61vaScript": "a script", "#4aavaScri#70t": "a script", "JS": "a script",
    "J#53": "a script", "Rendition": "a script", "XFA": "a form with scripts",
    "Launch": "a command that starts a program", "ImportData": "a command that reads a file",
    "SubmitForm": "a command that sends data", "AA": "commands that run by themselves",
    "EmbeddedFile": "another file inside it", "EmbeddedFiles": "another file inside it",
    "GoToE": "another file inside it", "RichMedia": "films or programs", "Encrypt": "encryption",
    "LZWDecode": "a packing that is not looked into",
}  # fmt: skip


def stream(data: bytes, dictionary: bytes = b"<< /Type /ObjStm /N 1 /First 4 >>") -> bytes:
    """An object with a stream."""
    return b"1 0 obj " + dictionary + b"\nstream\n" + data + b"\nendstream endobj\n"


def refusal(content: bytes) -> str:
    """Why a PDF is refused; empty if it is not."""
    try:
        check_active_content(content)
    except ActiveContentError as error:
        return str(error)
    return ""


@pytest.mark.parametrize("name", REFUSED)
def test_a_name_is_found_wherever_it_is_written(name: str) -> None:
    text = f"1 0 << /S /{name} /X (y) >>".encode()
    packed = zlib.compress(text)
    for content in (
        text,
        text[:-9],
        stream(packed),
        stream(packed[:-4] + b"xxxx"),
        stream(packed, b"<< /Type /XObject /Subtype /Image >>"),
        stream(base64.a85encode(packed) + b"~>"),
        stream(packed.hex().encode() + b">"),
        # Within what is called a stream, too, if the name is long enough not to be there by chance.
        *([stream(text)] if len(name) > 4 else []),
    ):
        assert refusal(content).startswith(f"the PDF has {REFUSED[name]} (/"), content


def test_a_name_is_found_across_the_pieces_in_which_a_file_is_looked_at() -> None:
    for place in range(active_content._PIECE - 40, active_content._PIECE + 2):
        text = b" " * place + b"/J#61v#61Script "
        assert refusal(text) == refusal(stream(zlib.compress(text))) != ""


def test_what_a_reader_would_show_of_a_damaged_stream_is_looked_at() -> None:
    filler = random.Random(1).randbytes(500)
    packed = zlib.compress(b"<< /S /JavaScript >> " + filler)
    assert refusal(stream(packed[:200])) != ""
    assert refusal(stream(packed[:200] + b"\xff" * 50)) != ""
    assert refusal(stream(packed[:60])) != ""


def test_ordinary_files_are_taken() -> None:
    for content in (
        pdf(),
        b"%PDF-1.4\nstartxref\n0\n%%EOF\n",
        b"<< /OpenAction [3 0 R /XYZ null null 0] /A << /S /URI /URI (https://example.org) >> /JSX 1 /Launcher 2 >>",
        stream(random.Random(2).randbytes(300_000), b"<< /Filter /DCTDecode >>"),
        stream(zlib.compress(random.Random(3).randbytes(300_000)), b"<< /Subtype /Image >>"),
        stream(base64.a85encode(zlib.compress(b"BT (Bill) Tj ET")) + b"~>", b"<< >>"),
    ):
        assert refusal(content) == ""


def test_work_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(active_content, "UNPACKED_BYTES_MAX", 2**20)
    monkeypatch.setattr(active_content, "TEXT_BYTES_MAX", 1_000)
    monkeypatch.setattr(active_content, "STREAMS_MAX", 50)
    largest = stream(zlib.compress(b"\0" * (2**20 - 2**16)))
    assert refusal(largest) == ""
    assert refusal(largest + stream(zlib.compress(b"\0" * 2**17))).startswith("the PDF unpacks to more than 1 MB")
    assert refusal(stream(zlib.compress(b"/" * 2**18))).startswith("the PDF unpacks to more than 1 MB")
    assert refusal(b"/#41" * 2**16).startswith("the PDF unpacks to more than 1 MB")
    assert refusal(stream(zlib.compress(b"x")[:3] + b"\xff\xff") * 17).startswith("the PDF unpacks to more than 1 MB")
    for sign in (b"1", b"a", b"!"):
        assert refusal(stream(sign * 1_002 + b"~>")).startswith("the PDF has more than 0 MB of data that is written")
    assert refusal(stream(b"\xff") * 50) == ""
    assert refusal(stream(b"\xff") * 51) == "the PDF has more than 50 streams"


def test_a_packing_inside_a_packing_is_refused() -> None:
    twice = zlib.compress(zlib.compress(b"<< /S /JavaScript >>"))
    assert refusal(stream(twice)) == "the PDF has a packing inside a packing"


def test_no_content_makes_it_fail_otherwise() -> None:
    chance = random.Random(5)
    parts = (
        b"stream\n", b"endstream", b"/J", b"#", b"#6", b"/EmbeddedFile", b"~>", b">", b"x\x9c", b"<<", b"1 0 obj",
        zlib.compress(b"some text of a page"), base64.a85encode(b"some text"), b"\0\xff\x80",
    )  # fmt: skip
    for _ in range(2_000):
        refusal(b"".join(chance.choices(parts, k=chance.randrange(12))) + chance.randbytes(chance.randrange(30)))


def test_an_upload_says_why_it_is_refused() -> None:
    with pytest.raises(ContentError, match=r"a script \(/JavaScript\): send it without, or a picture of it"):
        media_type_of(pdf().replace(b"/Catalog", b"/Catalog /OpenAction << /S /JavaScript >>"))
