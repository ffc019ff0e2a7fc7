"""Request and response bodies of the routes below `/users/me`."""

import unicodedata
from typing import Annotated
from zoneinfo import available_timezones

from pydantic import AfterValidator, Field, StringConstraints
from pydantic_core import PydanticCustomError

from openspot.contracts.messages.message import DayText, TimeText
from openspot.http.validation import Body, ResponseBody, example
from openspot.rest_edge.identity.credentials.fields import CurrentPassword, OptionalMfaCode, Password
from openspot.rest_edge.identity.users.roles import Role


def _printable(text: str) -> str:
    """Return the text in NFC without blanks at the ends. Refuses characters that can hide a part of it."""
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
    """The fields to change. Null empties a field. Address, role and id cannot be changed."""

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
    created_at: TimeText


class RoleBody(Body):
    """The role that a user is to have. The administrator who has MFA gives a code."""

    model_config = example({"role": "admin", "mfaCode": "123456"})

    role: Role
    mfa_code: OptionalMfaCode = None


class RoleResponse(ResponseBody):
    """A user's role. `changed` is false if the user had it already."""

    user_id: str
    role: Role
    changed: bool


class AntiPhishingBody(Body):
    """4 to 32 printable characters that every mail of the platform shows from now on. Null removes them."""

    model_config = example({"code": "blue heron"})

    code: AntiPhishingCode | None


class AntiPhishingResponse(ResponseBody):
    """The text that every mail of the platform shows, null without one."""

    code: str | None


class CheckInResponse(ResponseBody):
    """Today's date in UTC, whether you have checked in, the number of days in a row, and the number of all days."""

    date: DayText
    checked_in: bool
    streak: int
    total: int


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
