"""Pictures of coins, in the folder `coins` of the operator's brand: `coins/doge.svg` or `coins/doge.png` for "doge".

They are read when they are asked for, because a coin is listed on a platform that runs.
"""

from pathlib import Path
from typing import NamedTuple

from openspot.domain.listing import LOGO_TEXT

PICTURE_BYTES_MAX = 100_000
_PNG_BEGINS = b"\x89PNG\r\n\x1a\n"
_CONTENT_TYPES = {".svg": "image/svg+xml", ".png": "image/png"}
"""By the ending of a file; the first that is there counts."""


class PictureError(Exception):
    """There is no such picture, or it is none; the message says what a logo must be."""


class CoinPicture(NamedTuple):
    """A picture as it is served."""

    content_type: str
    body: bytes


class CoinPictures:
    """The pictures that an operator gave."""

    def __init__(self, brand_folder: str) -> None:
        """Those of the brand in a folder; without one there are none."""
        self._folder = Path(brand_folder) / "coins" if brand_folder else None

    def read(self, name: str) -> CoinPicture:
        """The picture of this name. Raises PictureError."""
        if not LOGO_TEXT.fullmatch(name):
            raise PictureError("must be 1 to 32 small letters, digits or -")
        if self._folder is None:
            raise PictureError("must be empty: OPENSPOT_BRAND names no folder of pictures")
        for ending, content_type in _CONTENT_TYPES.items():
            path = self._folder / f"{name}{ending}"
            if path.is_file():
                return CoinPicture(content_type, _content(path))
        raise PictureError(f"must name a picture: there is no {name}.svg and no {name}.png in {self._folder}")

    def fault(self, name: str) -> str:
        """What is wrong with the name of a logo; empty for a picture that is there, and for no logo at all."""
        if not name:
            return ""
        try:
            self.read(name)
        except PictureError as error:
            return str(error)
        return ""


def _content(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            content = file.read(PICTURE_BYTES_MAX + 1)
    except OSError as error:
        raise PictureError(f"must name a picture: {path} cannot be read: {error.strerror}") from error
    if len(content) > PICTURE_BYTES_MAX:
        raise PictureError(f"must name a picture of at most {PICTURE_BYTES_MAX} bytes: {path} has more")
    if not (content.startswith(_PNG_BEGINS) if path.suffix == ".png" else b"<svg" in content):
        raise PictureError(f"must name a picture: {path} is no {path.suffix[1:].upper()} file")
    return content
