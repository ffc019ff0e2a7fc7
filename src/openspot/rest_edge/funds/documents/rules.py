"""The rules of documents: their kinds, the types of file that are taken, and how a file may be called. Pure."""

import unicodedata
from enum import StrEnum

NAME_LENGTH_MAX = 255


class DocumentKind(StrEnum):
    """What a document shows."""

    IDENTITY_FRONT = "identity_front"
    """A passport's page with the picture, or the front of an identity card."""
    IDENTITY_BACK = "identity_back"
    PROOF_OF_ADDRESS = "proof_of_address"
    """A bill, or a statement of a bank, with name and address."""
    SELFIE = "selfie"


class MediaType(StrEnum):
    """The types of file that are taken."""

    JPEG = "image/jpeg"
    PNG = "image/png"
    WEBP = "image/webp"
    PDF = "application/pdf"


ENDINGS = {MediaType.JPEG: "jpg", MediaType.PNG: "png", MediaType.WEBP: "webp", MediaType.PDF: "pdf"}
"""The ending of a file's name, by its type."""


def fault_of_name(name: str) -> str:
    """What is wrong with the name of a file, as the end of a sentence; empty if nothing is.

    A name is shown to operators and opens nothing. Parts of a path, control characters and characters that turn the
    direction of writing are refused: `gpj.exe` must not read `exe.jpg`.
    """
    if len(name) > NAME_LENGTH_MAX:
        return f"must be at most {NAME_LENGTH_MAX} characters long"
    if "/" in name or "\\" in name or name in (".", ".."):
        return "must be the name of a file, without a path"
    # Cc control, Cf format (directions of writing among them), Cs half of a pair, Co and Cn without a meaning.
    if any(unicodedata.category(letter)[0] == "C" or unicodedata.category(letter) in ("Zl", "Zp") for letter in name):
        return "has characters that are not allowed"
    return ""
