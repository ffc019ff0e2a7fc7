"""Request and response bodies of the auth routes."""

import re
import unicodedata
from typing import Annotated, Literal

from pydantic import BeforeValidator, Field, StringConstraints, WithJsonSchema
from pydantic_core import PydanticCustomError

from openspot.http.validation import Body, ResponseBody, example

EMAIL_LENGTH_MAX = 254
PASSWORD_LENGTH_MIN = 10
PASSWORD_LENGTH_MAX = 128

_EMAIL = re.compile(r"[a-z0-9.!#$%&'*+/=?^_`{|}~-]{1,64}@[a-z0-9](?:[a-z0-9.-]{0,250}[a-z0-9])?\.[a-z0-9-]{2,63}")


def _email(value: object) -> object:
    if not isinstance(value, str):
        raise PydanticCustomError("email", "must be an email address")
    # One address in many disguises is one user: full-width letters, ligatures, the Kelvin sign. Letters that only look
    # alike, such as Cyrillic ones, do not become ASCII and are refused below.
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


class RegisterBody(Body):
    """A new user. The password has 10 to 128 characters and is not the email address."""

    model_config = example({"email": "ada@example.org", "password": "a long pass phrase"})

    email: Email
    password: Password


class LoginBody(Body):
    """Credentials."""

    model_config = example({"email": "ada@example.org", "password": "a long pass phrase"})

    email: Email
    password: Annotated[str, StringConstraints(min_length=1, max_length=PASSWORD_LENGTH_MAX), Field(repr=False)]


_CodeText = Annotated[str, StringConstraints(min_length=6, max_length=40, pattern=r"^[0-9A-Za-z -]+$")]
MfaCode = Annotated[_CodeText, Field(repr=False, examples=["123456"])]
"""A TOTP code of six digits, or a recovery code. Blanks and hyphens do not matter."""
OptionalMfaCode = Annotated[_CodeText | None, Field(repr=False, examples=["123456"])]
"""The same, where only users with MFA need one."""


class LoginWithCodeBody(Body):
    """The second step of a login: the challenge of the first one, and a TOTP or recovery code."""

    model_config = example({"challengeToken": "kX3u…", "code": "123456"})

    challenge_token: Annotated[str, StringConstraints(min_length=1, max_length=256), Field(repr=False)]
    code: MfaCode


class RefreshBody(Body):
    """A refresh token that has not been used yet."""

    model_config = example({"refreshToken": "Jx0c…"})

    refresh_token: Annotated[str, StringConstraints(min_length=1, max_length=256), Field(repr=False)]


MailToken = Annotated[str, StringConstraints(min_length=1, max_length=256), Field(repr=False)]
"""A token that came by mail."""


class ForgotPasswordBody(Body):
    """The address of the account. The response is the same if no account has it."""

    model_config = example({"email": "ada@example.org"})

    email: Email


class ResetPasswordBody(Body):
    """A token of a mail, which works once within 30 minutes, and the new password."""

    model_config = example({"token": "Jx0c…", "newPassword": "another long pass phrase"})

    token: MailToken
    new_password: Password


class VerifyEmailBody(Body):
    """A token of a mail, which works once within 24 hours."""

    model_config = example({"token": "Jx0c…"})

    token: MailToken


class DoneResponse(ResponseBody):
    """It is done, or for a mail: it is queued."""

    success: bool


class UserResponse(ResponseBody):
    """A user. `createdAt` is ISO 8601 in UTC."""

    user_id: str
    email: str
    role: str
    created_at: str


class TokensResponse(ResponseBody):
    """A session's tokens. `expiresIn` is the access token's life in seconds."""

    access_token: str
    refresh_token: str
    token_type: str
    expires_in: int
    user_id: str


class ChallengeResponse(ResponseBody):
    """The password was right, and the user has MFA. Send `challengeToken` and a code to `/auth/login/mfa`.

    A challenge takes five codes and expires at `expiresAt`, ISO 8601 in UTC.
    """

    mfa_required: Literal[True]
    challenge_token: str
    methods: list[Literal["totp", "recovery_code"]]
    expires_at: str


class LogoutResponse(ResponseBody):
    """The session has ended: none of its tokens works any more."""

    success: bool
