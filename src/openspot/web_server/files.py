"""The files of a build, read once at the start. A request can reach nothing but these."""

import hashlib
from pathlib import Path, PurePosixPath
from typing import NamedTuple

ENCODINGS = {"br": ".br", "gzip": ".gz"}
"""The variants that a build writes beside a file, best first: content coding → ending of the name."""
CONTENT_TYPES = {
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".json": "application/json",
    ".svg": "image/svg+xml",
    ".txt": "text/plain; charset=utf-8",
    ".png": "image/png",
    ".webmanifest": "application/manifest+json",
    ".woff2": "font/woff2",
}
HASHED_FOLDER = "assets"
"""Names in this folder carry a hash of their content."""


class Variant(NamedTuple):
    """One encoding of a file. `encoding` is empty for the file as it is."""

    encoding: str
    body: bytes
    etag: str


class PageFile(NamedTuple):
    """A file with its variants, the best encoding first and the plain one last."""

    content_type: str
    is_hashed: bool
    variants: tuple[Variant, ...]


def read_files(folder: Path) -> dict[str, PageFile]:
    """The files below `folder` by path, such as "console/index.html". Empty if nothing is built there."""
    contents = {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file() and not any(part.startswith(".") for part in path.relative_to(folder).parts)
    }
    files = {}
    for name, body in contents.items():
        if PurePosixPath(name).suffix in ENCODINGS.values():
            continue
        encoded = [(encoding, contents.get(name + ending)) for encoding, ending in ENCODINGS.items()]
        variants = [_variant(encoding, content) for encoding, content in encoded if content is not None]
        files[name] = PageFile(
            CONTENT_TYPES.get(PurePosixPath(name).suffix, "application/octet-stream"),
            name.startswith(f"{HASHED_FOLDER}/"),
            (*variants, _variant("", body)),
        )
    return files


def plain_file(content_type: str, body: bytes) -> PageFile:
    """A file that exists in memory alone."""
    return PageFile(content_type, False, (_variant("", body),))


def _variant(encoding: str, body: bytes) -> Variant:
    digest = hashlib.sha256(body).hexdigest()[:32]
    return Variant(encoding, body, f'"{digest}"')
