"""The operator's brand: what a folder may hold, and that a fault is named before the exchange starts with it."""

import re
from pathlib import Path

import pytest

from openspot.http.brand import (
    COLOURS,
    SURFACES,
    Brand,
    BrandLink,
    BrandSettings,
    LegalText,
    contrast,
    read_brand,
)
from openspot.http.brand_mails import BrandError

TOKENS = Path(__file__).parents[3] / "web/lib/theme/tokens.ts"
LOGO = b'<svg xmlns="http://www.w3.org/2000/svg"/>'
WHOLE = """
name = "Example Exchange"
mail_signature = "Yours\\nExample"
links = [{ title = "Help", url = "https://help.example.com" }]
[colours.light]
accent = "#7a1fa2"
filled = "#7a1fa2"
"""


def folder_with(folder: Path, **files: str | bytes) -> Path:
    """A brand's folder with these files, by their path with `__` for `/`."""
    for name, content in files.items():
        path = folder / name.replace("__", "/")
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return folder


def test_a_folder_gives_name_signature_links_colours_logo_and_legal_texts(tmp_path: Path) -> None:
    files = {"brand.toml": WHOLE, "logo.svg": LOGO, "legal__terms.md": "# Terms of use\n\nBe *fair*.\n"}
    assert read_brand(folder_with(tmp_path, **files)) == Brand(
        name="Example Exchange",
        mail_signature="Yours\nExample",
        links=(BrandLink("Help", "https://help.example.com"),),
        colours={"light": {"accent": "#7a1fa2", "filled": "#7a1fa2"}},
        logo=LOGO,
        legal=(LegalText("terms", "Terms of use", "\nBe *fair*.\n"),),
    )


def test_what_a_folder_does_not_hold_stays_as_it_is(tmp_path: Path) -> None:
    assert read_brand(tmp_path) == Brand()
    named = read_brand(folder_with(tmp_path, **{"brand.toml": 'name = "Example"'}))
    assert (named.name, named.mail_signature, named.links) == ("Example", "Example", ())


@pytest.mark.parametrize(
    ("file", "content", "reason"),
    [
        ("brand.toml", "name = ", "brand.toml"),
        ("brand.toml", "name = 1", "name must be a text"),
        ("brand.toml", f'name = "{"x" * 41}"', "name must be a text of at most 40"),
        ("brand.toml", 'name = "a\\u0007"', "name holds signs"),
        ("brand.toml", 'nmae = "x"', "nmae is unknown; known are name, mail_signature, links, colours"),
        ("brand.toml", 'links = "x"', "links must be a list"),
        ("brand.toml", 'links = [{ title = "x", url = "javascript:alert(1)" }]', "links must each have a url"),
        ("brand.toml", 'links = [{ url = "https://x.org" }]', "links must each have a title"),
        ("brand.toml", 'colours.blue.accent = "#000000"', "colours must be tables for light and dark"),
        ("brand.toml", 'colours.dark.shadow = "#000000"', "colours.dark takes accent"),
        ("brand.toml", 'colours.dark.accent = "blue"', "colours.dark.accent must be a colour"),
        ("brand.toml", 'colours.light.accent = "#ffff00"', r"colours.light.accent has a contrast of 1\.1"),
        ("brand.toml", 'colours.dark.filled = "#ffff00"', "colours.dark.filled has a contrast of 1.1 to #ffffff"),
        ("logo.svg", "a picture", "logo.svg: must be an SVG file"),
        ("legal__terms.md", "Terms of use\n", "must begin with its title"),
        ("legal__Terms Of Use.md", "# Terms of use\n", "its name becomes an address"),
        ("legal__terms.md", b"# \xff\n", "is not UTF-8"),
    ],
)
def test_a_fault_is_refused_with_its_place_and_reason(
    tmp_path: Path, file: str, content: str | bytes, reason: str
) -> None:
    with pytest.raises(BrandError, match=reason):
        read_brand(folder_with(tmp_path, **{file: content}))


def test_the_setting_names_the_folder(tmp_path: Path) -> None:
    folder_with(tmp_path, **{"brand.toml": 'name = "Example"'})
    assert BrandSettings(brand_folder=str(tmp_path)).brand.name == "Example"
    assert BrandSettings().brand == Brand()


def test_a_folder_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(BrandError, match="OPENSPOT_BRAND: there is no folder"):
        read_brand(tmp_path / "nowhere")


def test_contrast_is_that_of_wcag() -> None:
    assert contrast("#000000", "#ffffff") == pytest.approx(21.0)
    assert contrast("#767676", "#ffffff") == pytest.approx(4.54, abs=0.01)


def test_colours_and_surfaces_are_those_of_the_pages() -> None:
    light, dark = (part for part in re.split(r"export const (?:light|dark): Colours", TOKENS.read_text("utf-8"))[1:])
    for theme, text in (("light", light), ("dark", dark)):
        found = dict(re.findall(r'(\w+): "(#[0-9a-f]{6})"', text))
        assert found["surface"] == SURFACES[theme]
        assert {re.sub("[A-Z]", lambda sign: f"_{sign[0].lower()}", name) for name in found} >= set(COLOURS)
