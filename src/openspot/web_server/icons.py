"""The icons that browsers and phones ask for at fixed addresses, made from the build's touch icon."""

import re
import struct
from collections.abc import Mapping

from openspot.web_server.files import HASHED_FOLDER, PageFile, plain_file

PATHS = ("favicon.ico", "apple-touch-icon.png", "apple-touch-icon-precomposed.png")
_TOUCH_ICON = re.compile(rf"{HASHED_FOLDER}/touch-icon(-[^/]+)?\.png")
_PNG = b"\x89PNG\r\n\x1a\n"
_SIZE_AT = slice(16, 24)


def icons(files: Mapping[str, PageFile]) -> dict[str, PageFile]:
    """The icons by path. Empty for a build without a touch icon."""
    names = sorted(name for name in files if _TOUCH_ICON.fullmatch(name))
    if not names:
        return {}
    png = files[names[0]].variants[-1].body
    touch_icon = plain_file("image/png", png)
    favicon = plain_file("image/vnd.microsoft.icon", favicon_of(png))
    return {path: favicon if path.endswith(".ico") else touch_icon for path in PATHS}


def favicon_of(png: bytes) -> bytes:
    """A favicon file that holds this one picture. Raises ValueError for what is no PNG of at most 256 pixels."""
    if not png.startswith(_PNG) or len(png) < _SIZE_AT.stop:
        raise ValueError("the touch icon is not a PNG file")
    width, height = struct.unpack(">II", png[_SIZE_AT])
    if not (0 < width <= 256 and 0 < height <= 256):
        raise ValueError(f"the touch icon has {width} x {height} pixels: a favicon has at most 256 x 256")
    folder = struct.pack("<HHH", 0, 1, 1)
    # In one byte, 256 is written as 0. The picture begins behind the folder of 6 and its entry of 16 bytes.
    entry = struct.pack("<BBBBHHII", width % 256, height % 256, 0, 0, 1, 32, len(png), 22)
    return folder + entry + png
