"""What a canvas shows."""

from io import BytesIO

from PIL import Image
from playwright.sync_api import Locator


def drawn_pixels(area: Locator, colour: tuple[int, int, int], *, left: float = 1) -> int:
    """How many pixels of the first canvas in `area` look like the colour; a line has softer ones at its edges.

    Only in the share `left` of its width, from the left.
    """
    picture = Image.open(BytesIO(area.locator("canvas").first.screenshot())).convert("RGB")
    picture = picture.crop((0, 0, int(picture.width * left), picture.height))
    red, green, blue = colour
    return sum(
        count
        for count, (r, g, b) in picture.getcolors(picture.width * picture.height) or []
        if abs(r - red) + abs(g - green) + abs(b - blue) < 30
    )
