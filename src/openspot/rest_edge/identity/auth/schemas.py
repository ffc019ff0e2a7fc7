"""Request and response bodies of the auth routes."""

from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from openspot.contracts.messages.message import TimeText
from openspot.http.validation import Body, ResponseBody, example
from openspot.rest_edge.identity.credentials.fields import CurrentPassword, Email, MfaCode, Password


class RegisterBody(Body):
    """A new user. The password has 10 to 128 characters and is not the email address."""

    model_config = example({"email": "ada@example.org", "password": "a long pass phrase"})

    email: Email
    password: Password


class LoginBody(Body):
    """Credentials."""

    model_config = example({"email": "ada@example.org", "password": "a long pass phrase"})

    email: Email
    password: CurrentPassword


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
"""A token from a mail."""


class ForgotPasswordBody(Body):
    """The address of the account. The response is the same if no account has it."""

    model_config = example({"email": "ada@example.org"})

    email: Email


class ResetPasswordBody(Body):
    """A token from a mail, which works once within 30 minutes, and the new password."""

    model_config = example({"token": "Jx0c…", "newPassword": "another long pass phrase"})

    token: MailToken
    new_password: Password


class VerifyEmailBody(Body):
    """A token from a mail, which works once within 24 hours."""

    model_config = example({"token": "Jx0c…"})

    token: MailToken


class UserResponse(ResponseBody):
    """A user. `role` is `user` or `admin`; `createdAt` is ISO 8601 in UTC."""

    user_id: str
    email: str
    role: str
    created_at: TimeText


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
    expires_at: TimeText


class LogoutResponse(ResponseBody):
    """The session has ended. Its tokens no longer work."""

    success: bool
