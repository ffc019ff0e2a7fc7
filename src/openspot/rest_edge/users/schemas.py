"""Request and response bodies of the routes below `/users/me`."""

import unicodedata
from typing import Annotated
from zoneinfo import available_timezones

from pydantic import AfterValidator, Field, StringConstraints
from pydantic_core import PydanticCustomError

from openspot.http.validation import Body, ResponseBody, example
from openspot.rest_edge.auth.schemas import PASSWORD_LENGTH_MAX, MfaCode, OptionalMfaCode, Password
from openspot.rest_edge.users.activity import ActivityKind

CurrentPassword = Annotated[str, StringConstraints(min_length=1, max_length=PASSWORD_LENGTH_MAX), Field(repr=False)]


def _printable(text: str) -> str:
    """NFC, without blanks at the ends. Refuses control, format and private characters, which can hide what it says."""
    text = unicodedata.normalize("NFC", text).strip()
    if not text or any(unicodedata.category(letter)[0] == "C" for letter in text):
        raise PydanticCustomError("printable", "must be printable text")
    return text


def _time_zone(name: str) -> str:
    if name not in available_timezones():
        raise PydanticCustomError("time_zone", "must be a time zone such as Europe/Berlin")
    return name


DisplayName = Annotated[
    str, StringConstraints(min_length=1, max_length=64), AfterValidator(_printable), Field(examples=["Ada L."])
]
Language = Annotated[
    str, StringConstraints(max_length=35, pattern=r"^[A-Za-z]{2,3}(-[A-Za-z0-9]{2,8})*$"), Field(examples=["en-GB"])
]
"""A language tag (BCP 47)."""
TimeZone = Annotated[
    str, StringConstraints(max_length=64), AfterValidator(_time_zone), Field(examples=["Europe/Berlin"])
]
AntiPhishingCode = Annotated[
    str, StringConstraints(min_length=4, max_length=32), AfterValidator(_printable), Field(examples=["blue heron"])
]


class ProfileBody(Body):
    """The fields to change; null empties one. Address, role and id cannot be changed."""

    model_config = example({"displayName": "Ada L.", "timeZone": "Europe/London"})

    display_name: DisplayName | None = None
    language: Language | None = None
    time_zone: TimeZone | None = None


class ProfileResponse(ResponseBody):
    """Your account. `createdAt` is ISO 8601 in UTC."""

    user_id: str
    email: str
    email_verified: bool
    role: str
    display_name: str | None
    language: str | None
    time_zone: str | None
    mfa_enabled: bool
    anti_phishing_code: str | None
    created_at: str


class AntiPhishingBody(Body):
    """4 to 32 printable characters, which every mail of ours shows from now on; null for none."""

    model_config = example({"code": "blue heron"})

    code: AntiPhishingCode | None


class AntiPhishingResponse(ResponseBody):
    """What every mail of ours shows, null for nothing."""

    code: str | None


class ActivityResponse(ResponseBody):
    """Something that happened to your account. `createdAt` is ISO 8601 in UTC."""

    id: str
    kind: ActivityKind
    address: str
    user_agent: str
    created_at: str


class ToldResponse(ResponseBody):
    """Something that you were told on the screen. `createdAt` is ISO 8601 in UTC."""

    id: str
    kind: str
    title: str
    text: str
    created_at: str


class CheckInResponse(ResponseBody):
    """Today's date in UTC, whether you have checked in, the days in a row, and the days altogether."""

    date: str
    checked_in: bool
    streak: int
    total: int


class SessionResponse(ResponseBody):
    """A session. `current` is the one that asks; `lastUsedAt` is its login or last refresh.

    Times are ISO 8601 in UTC.
    """

    session_id: str
    current: bool
    address: str
    user_agent: str
    created_at: str
    last_used_at: str
    expires_at: str


class SessionsEndedResponse(ResponseBody):
    """How many sessions were ended."""

    ended: int


class PasswordBody(Body):
    """The current password, the new one, and with MFA a TOTP or recovery code."""

    model_config = example({"currentPassword": "a long pass phrase", "newPassword": "another long pass phrase"})

    current_password: CurrentPassword
    new_password: Password
    mfa_code: OptionalMfaCode = None


class DeletionBody(Body):
    """The current password, and with MFA a TOTP or recovery code."""

    model_config = example({"password": "a long pass phrase"})

    password: CurrentPassword
    mfa_code: OptionalMfaCode = None


class MfaSetupBody(Body):
    """The current password: a stolen session must not be able to lock its owner out."""

    model_config = example({"password": "a long pass phrase"})

    password: CurrentPassword


class MfaCodeBody(Body):
    """A code of the authenticator app, or where MFA is enabled a recovery code."""

    model_config = example({"code": "123456"})

    code: MfaCode


class MfaDisableBody(Body):
    """The current password and a TOTP or recovery code."""

    model_config = example({"password": "a long pass phrase", "code": "123456"})

    password: CurrentPassword
    code: MfaCode


class MfaStatusResponse(ResponseBody):
    """Whether MFA is enabled, since when (ISO 8601 in UTC), and how many recovery codes have not been used."""

    enabled: bool
    enabled_at: str | None
    recovery_codes_left: int


class MfaSetupResponse(ResponseBody):
    """The new secret in base32, its otpauth URI, and that URI as a QR code in SVG. They are shown once."""

    secret: str
    otpauth_uri: str
    qr_svg: str


class RecoveryCodesResponse(ResponseBody):
    """Ten recovery codes. Each works once in place of a TOTP code. They are shown once."""

    recovery_codes: list[str]


class MfaVerifiedResponse(ResponseBody):
    """The code was right, and cannot be used again."""

    verified: bool
