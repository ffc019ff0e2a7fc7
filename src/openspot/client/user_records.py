"""The platform's replies about a user, typed as in `records`."""

from datetime import date as calendar_date
from datetime import datetime
from decimal import Decimal

from openspot.client.records import Record


class Profile(Record, frozen=True):
    """The user's account."""

    user_id: str
    email: str
    email_verified: bool
    role: str
    display_name: str | None
    language: str | None
    time_zone: str | None
    mfa_enabled: bool
    anti_phishing_code: str | None
    created_at: datetime


class Activity(Record, frozen=True):
    """An entry of the account's activity log."""

    id: str
    kind: str
    address: str
    user_agent: str
    created_at: datetime


class ToldNotification(Record, frozen=True):
    """A notification that the user got on the screen."""

    id: str
    kind: str
    title: str
    text: str
    created_at: datetime


class CheckIn(Record, frozen=True):
    """Whether the user has checked in on a day (UTC), and how often."""

    date: calendar_date
    checked_in: bool
    streak: int
    total: int


class LoginSession(Record, frozen=True):
    """A session of the user; `current` is the one that asks."""

    session_id: str
    current: bool
    address: str
    user_agent: str
    created_at: datetime
    last_used_at: datetime
    expires_at: datetime


class MfaStatus(Record, frozen=True):
    """Whether the user has MFA."""

    enabled: bool
    enabled_at: datetime | None
    recovery_codes_left: int


class MfaSecret(Record, frozen=True):
    """A TOTP secret: as text, as an address for an authenticator app, and as a QR code of that address."""

    secret: str
    otpauth_uri: str
    qr_svg: str


class ApiKey(Record, frozen=True):
    """An API key, without its secret."""

    id: str
    name: str
    scopes: list[str]
    ip_allow_list: list[str]
    algorithm: str
    public_key: str | None
    created_at: datetime
    rotated_at: datetime | None
    last_used_at: datetime | None


class ApiKeySecret(ApiKey, frozen=True):
    """A new API key. Only this record shows `secret`, which is None for Ed25519."""

    secret: str | None = None


class KycStatus(Record, frozen=True):
    """The user's verification. `daily_withdrawal_limit` is in US dollars."""

    level: str
    status: str
    requested_level: str | None
    has_basic_information: bool
    daily_withdrawal_limit: Decimal
    updated_at: datetime | None


class KycSession(Record, frozen=True):
    """A check that was started at the provider."""

    reference: str
    provider: str
    status: str
    level: str
    url: str | None
    instructions: str


class Country(Record, frozen=True):
    """A country of ISO 3166-1."""

    code: str
    alpha3: str
    numeric: str
    name: str


class Province(Record, frozen=True):
    """A part of a country, of ISO 3166-2."""

    code: str
    name: str
    type: str
    parent: str | None


class NotificationSetting(Record, frozen=True):
    """How the user is notified of an event."""

    event: str
    email: bool
    websocket: bool
    email_is_required: bool


class SignInProviders(Record, frozen=True):
    """The parties through which a user can sign in."""

    enabled: bool
    providers: list[str]


class ThrottleTier(Record, frozen=True):
    """A limit on the number of requests within a number of seconds."""

    name: str
    requests: int
    seconds: int


class SystemSettings(Record, frozen=True):
    """The settings of the platform that concern clients."""

    version: str
    server_time: datetime
    throttling_enabled: bool
    throttle_tiers: list[ThrottleTier]
    body_bytes_max: int
    list_limit_default: int
    list_limit_max: int
    access_token_seconds: int
    refresh_token_seconds: int
    conversion_spread_bps: int
    conversion_quote_seconds: int
    payment_session_seconds: int
    network_fee_quote_seconds: int
