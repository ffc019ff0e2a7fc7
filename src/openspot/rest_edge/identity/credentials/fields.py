"""Fields of request bodies that hold credentials: email addresses, passwords and codes."""

import re
import unicodedata
from typing import Annotated

from pydantic import BeforeValidator, Field, StringConstraints, WithJsonSchema
from pydantic_core import PydanticCustomError

EMAIL_LENGTH_MAX = 254
PASSWORD_LENGTH_MIN = 10
PASSWORD_LENGTH_MAX = 128

_EMAIL = re.compile(r"[a-z0-9.!#$%&'*+/=?^_`{|}~-]{1,64}@[a-z0-9](?:[a-z0-9.-]{0,250}[a-z0-9])?\.[a-z0-9-]{2,63}")


def _email(value: object) -> object:
    if not isinstance(value, str):
        raise PydanticCustomError("email", "must be an email address")
    # Different forms of one letter are the same address: full-width letters, ligatures, the Kelvin sign. Letters that
    # only look alike, such as Cyrillic ones, do not become ASCII and are refused below.
    text = unicodedata.normalize("NFKC", value.strip()).casefold()
    if len(text) > EMAIL_LENGTH_MAX or not _EMAIL.fullmatch(text) or ".." in text:
        raise PydanticCustomError("email", "must be an email address")
    return text


Email = Annotated[
    str,
    BeforeValidator(_email),
    WithJsonSchema(
        {"type": "string", "format": "email", "maxLength": EMAIL_LENGTH_MAX, "examples": ["ada@example.org"]}
    ),
]
"""An email address, in lower case: `Ada@Example.org` and `ada@example.org` are one user."""

Password = Annotated[
    str, StringConstraints(min_length=PASSWORD_LENGTH_MIN, max_length=PASSWORD_LENGTH_MAX), Field(repr=False)
]

CurrentPassword = Annotated[str, StringConstraints(min_length=1, max_length=PASSWORD_LENGTH_MAX), Field(repr=False)]
"""The present password. It may be older than the rules for new passwords."""

_CodeText = Annotated[str, StringConstraints(min_length=6, max_length=40, pattern=r"^[0-9A-Za-z -]+$")]
MfaCode = Annotated[_CodeText, Field(repr=False, examples=["123456"])]
"""A TOTP code of six digits, or a recovery code. Blanks and hyphens do not matter."""
OptionalMfaCode = Annotated[_CodeText | None, Field(repr=False, examples=["123456"])]
"""A TOTP or recovery code that only users with MFA need."""
