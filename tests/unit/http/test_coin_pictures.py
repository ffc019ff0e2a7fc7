"""Pictures of coins: what the folder of the brand may hold, and what a logo that names none of them is told."""

from pathlib import Path

import pytest

from openspot.http.coin_pictures import PICTURE_BYTES_MAX, CoinPicture, CoinPictures
from tests.support.coin_pictures import PNG, SVG, brand_with_coins


def test_a_logo_names_an_svg_or_a_png_file_that_may_come_later(tmp_path: Path) -> None:
    pictures = CoinPictures(brand_with_coins(tmp_path, doge_svg=SVG, shib_png=PNG, both_svg=SVG, both_png=PNG))
    assert pictures.read("doge") == CoinPicture("image/svg+xml", SVG)
    assert pictures.read("shib") == CoinPicture("image/png", PNG)
    assert pictures.read("both").content_type == "image/svg+xml"
    assert (pictures.fault(""), pictures.fault("doge")) == ("", "")
    assert pictures.fault("pepe") != ""
    (tmp_path / "brand/coins/pepe.svg").write_bytes(SVG)
    assert pictures.fault("pepe") == ""


@pytest.mark.parametrize(
    ("logo", "reason"),
    [
        ("../logo", "must be 1 to 32 small letters, digits or -"),
        ("..", "must be 1 to 32 small letters, digits or -"),
        ("/etc/passwd", "must be 1 to 32 small letters, digits or -"),
        ("doge\n", "must be 1 to 32 small letters, digits or -"),
        ("large.svg", "must be 1 to 32 small letters, digits or -"),
        ("none", "must name a picture: there is no none.svg and no none.png in "),
        ("folder", "must name a picture: there is no folder.svg and no folder.png in "),
        ("large", f"must name a picture of at most {PICTURE_BYTES_MAX} bytes: "),
        ("text", "/text.svg is no SVG file"),
        ("photo", "/photo.png is no PNG file"),
    ],
)
def test_any_other_name_is_refused_with_its_reason(tmp_path: Path, logo: str, reason: str) -> None:
    folder = brand_with_coins(tmp_path, text_svg=b"a text", photo_png=SVG, large_svg=SVG + b" " * PICTURE_BYTES_MAX)
    (tmp_path / "brand/logo.svg").write_bytes(SVG)
    (tmp_path / "brand/coins/folder.svg").mkdir()
    assert reason in CoinPictures(folder).fault(logo)


def test_without_a_brand_there_is_no_picture() -> None:
    assert CoinPictures("").fault("doge") == "must be empty: OPENSPOT_BRAND names no folder of pictures"
    assert CoinPictures("").fault("") == ""
