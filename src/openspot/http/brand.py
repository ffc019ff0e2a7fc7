"""The name and look of the exchange, as its operator gives them in one folder (OPENSPOT_BRAND).

The folder may hold:

- `brand.toml`: `name`, `mail_signature`, `[[links]]` with `title` and `url`, `[colours.light]` and `[colours.dark]`;
- `logo.svg`, which stands beside the name;
- `coins/<name>.svg` or `.png`: pictures of coins (`coin_pictures.py`), which are read when they are asked for;
- `legal/*.md`: legal texts in Markdown, each of which begins with its title (`# Terms of use`);
- `mails/<kind>.<language>.txt`: mails in the operator's words (`brand_mails.py`).

Everything else is read once, at the start.
"""

import re
import tomllib
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from pydantic import AliasChoices, Field

from openspot.http.brand_mails import BrandError, MailTemplates, read_mail_templates
from openspot.http.coin_pictures import CoinPictures
from openspot.kit.settings import PREFIX, Settings

NAME_LENGTH_MAX = 40
SIGNATURE_LENGTH_MAX = 1000
LINKS_MAX = 12
LOGO_BYTES_MAX = 200_000
TEXT_BYTES_MAX = 500_000
COLOURS = ("accent", "accent_soft", "filled", "filled_hover")
"""What a theme's colours are for: text and lines, their background, buttons, and buttons under the pointer."""
THEMES = ("light", "dark")
WHITE = "#ffffff"
SURFACES = {"light": "#ffffff", "dark": "#14181f"}
"""What text in the accent stands on, by theme (web/lib/theme/tokens.ts)."""
CONTRAST_MIN = 4.5
"""Of text (WCAG 2.2, 1.4.3)."""
_COLOUR = re.compile(r"#[0-9a-f]{6}")
_TEXT_NAME = re.compile(r"[a-z0-9-]{1,40}")
_SCHEMES = ("https", "http", "mailto")


class BrandSettings(Settings):
    """Where the brand is."""

    brand_folder: str = Field(
        default="",
        validation_alias=AliasChoices("brand_folder", f"{PREFIX}BRAND"),
        description="Folder with the name, logo, colours, links, legal texts, mails and coins' pictures of your "
        "exchange ([brand](../guides/brand.md)); empty: OpenSpot's own",
    )

    @property
    def brand(self) -> "Brand":
        """The brand in the folder. Raises BrandError."""
        return read_brand(Path(self.brand_folder)) if self.brand_folder else Brand()

    @property
    def coin_pictures(self) -> CoinPictures:
        """The pictures of coins in the folder."""
        return CoinPictures(self.brand_folder)


class BrandLink(NamedTuple):
    """A link at the foot of the pages."""

    title: str
    url: str


class LegalText(NamedTuple):
    """A legal text: the last part of its address, its title, and the Markdown below the title."""

    name: str
    title: str
    markdown: str


class Brand(NamedTuple):
    """Name and look of the exchange. `colours` are by theme and purpose; `mail_signature` ends every mail.

    `mails` are in the operator's words. Those without a template have the words of OpenSpot.
    """

    name: str = "OpenSpot"
    mail_signature: str = "OpenSpot"
    links: tuple[BrandLink, ...] = ()
    colours: Mapping[str, Mapping[str, str]] = {}
    logo: bytes = b""
    legal: tuple[LegalText, ...] = ()
    mails: MailTemplates = MappingProxyType({})


def read_brand(folder: Path) -> Brand:
    """The brand in `folder`. Raises BrandError."""
    if not folder.is_dir():
        raise BrandError(f"OPENSPOT_BRAND: there is no folder {folder}")
    content = _toml(folder / "brand.toml")
    name = _text(content, "name", NAME_LENGTH_MAX) or "OpenSpot"
    brand = Brand(
        name=name,
        mail_signature=_text(content, "mail_signature", SIGNATURE_LENGTH_MAX) or name,
        links=_links(content.pop("links", [])),
        colours=_colours(content.pop("colours", {})),
        logo=_logo(folder / "logo.svg"),
        legal=tuple(_legal(path) for path in sorted((folder / "legal").glob("*.md"))),
        mails=read_mail_templates(folder / "mails"),
    )
    if content:
        raise _fault(next(iter(content)), f"is unknown; known are {', '.join(Brand._fields[:4])}")
    return brand


def contrast(one: str, other: str) -> float:
    """The contrast of two colours from 1 to 21, as WCAG 2.2 defines it (relative luminance)."""
    bright, faint = sorted((_luminance(one), _luminance(other)), reverse=True)
    return (bright + 0.05) / (faint + 0.05)


def _fault(field: str, reason: str) -> BrandError:
    return BrandError(f"brand.toml: {field} {reason}")


def _toml(path: Path) -> dict[str, Any]:
    if not path.exists():
        return {}
    try:
        return tomllib.loads(path.read_text("utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise BrandError(f"{path}: {error}") from error


def _text(content: dict[str, Any], field: str, length_max: int) -> str:
    value = content.pop(field, "")
    if not isinstance(value, str) or len(value) > length_max:
        raise _fault(field, f"must be a text of at most {length_max} characters")
    if any(not sign.isprintable() and sign != "\n" for sign in value):
        raise _fault(field, "holds signs that cannot be printed")
    return value.strip()


def _links(value: Any) -> tuple[BrandLink, ...]:
    if not isinstance(value, list) or len(value) > LINKS_MAX:
        raise _fault("links", f"must be a list of at most {LINKS_MAX} tables")
    links = []
    for item in value:
        title, url = (item.get("title"), item.get("url")) if isinstance(item, dict) else (None, None)
        if not isinstance(title, str) or not 0 < len(title) <= NAME_LENGTH_MAX:
            raise _fault("links", f"must each have a title of at most {NAME_LENGTH_MAX} characters")
        if not isinstance(url, str) or urlsplit(url).scheme not in _SCHEMES:
            raise _fault("links", f"must each have a url that begins with {', '.join(_SCHEMES)}: {title!r} has not")
        links.append(BrandLink(title, url))
    return tuple(links)


def _colours(value: Any) -> dict[str, dict[str, str]]:
    if not isinstance(value, dict) or not set(value) <= set(THEMES):
        raise _fault("colours", f"must be tables for {' and '.join(THEMES)}")
    for theme, colours in value.items():
        field = f"colours.{theme}"
        if not isinstance(colours, dict) or not set(colours) <= set(COLOURS):
            raise _fault(field, f"takes {', '.join(COLOURS)}")
        for purpose, colour in colours.items():
            if not isinstance(colour, str) or not _COLOUR.fullmatch(colour.lower()):
                raise _fault(f"{field}.{purpose}", 'must be a colour such as "#2f5bd9"')
        _require_contrast(field, theme, colours)
    return value


def _require_contrast(field: str, theme: str, colours: Mapping[str, str]) -> None:
    stands_on = {"accent": colours.get("accent_soft", SURFACES[theme]), "filled": WHITE, "filled_hover": WHITE}
    for purpose, other in stands_on.items():
        if purpose in colours and contrast(colours[purpose], other) < CONTRAST_MIN:
            ratio = f"{contrast(colours[purpose], other):.1f}"
            raise _fault(f"{field}.{purpose}", f"has a contrast of {ratio} to {other}: text needs {CONTRAST_MIN}")


def _luminance(colour: str) -> float:
    red, green, blue = (_channel(int(colour[at : at + 2], 16) / 255) for at in (1, 3, 5))
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def _channel(value: float) -> float:
    return value / 12.92 if value <= 0.04045 else float(((value + 0.055) / 1.055) ** 2.4)


def _logo(path: Path) -> bytes:
    if not path.exists():
        return b""
    content = path.read_bytes()
    if len(content) > LOGO_BYTES_MAX or b"<svg" not in content:
        raise BrandError(f"{path}: must be an SVG file of at most {LOGO_BYTES_MAX} bytes")
    return content


def _legal(path: Path) -> LegalText:
    if not _TEXT_NAME.fullmatch(path.stem):
        raise BrandError(f"{path}: its name becomes an address: lower-case letters, digits and hyphens")
    content = path.read_bytes()
    if len(content) > TEXT_BYTES_MAX:
        raise BrandError(f"{path}: has more than {TEXT_BYTES_MAX} bytes")
    try:
        first, _, rest = content.decode("utf-8").partition("\n")
    except UnicodeDecodeError as error:
        raise BrandError(f"{path}: is not UTF-8: {error}") from error
    if not first.startswith("# ") or not first[2:].strip():
        raise BrandError(f"{path}: must begin with its title, such as `# Terms of use`")
    return LegalText(path.stem, first[2:].strip(), rest)
