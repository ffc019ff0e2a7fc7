"""A folder of the brand with pictures of coins."""

from pathlib import Path

SVG = (
    b'<svg xmlns="http://www.w3.org/2000/svg" width="20" height="20"><circle cx="10" cy="10" r="10" fill="#c2a633"/>'
    b'<script>document.title = "it runs"</script></svg>'
)
"""A coin's picture, with a script that must not run."""
PNG = b"\x89PNG\r\n\x1a\n and the rest"


def brand_with_coins(folder: Path, **files: bytes) -> str:
    """The path of a new brand in `folder` with these pictures, by their file's name with `_` for its dot."""
    coins = folder / "brand/coins"
    coins.mkdir(parents=True)
    for name, content in files.items():
        (coins / name.replace("_", ".")).write_bytes(content)
    return str(folder / "brand")
