"""Request and response bodies of the routes of the second factor."""

from openspot.contracts.messages.message import TimeText
from openspot.http.validation import Body, ResponseBody, example
from openspot.rest_edge.identity.credentials.fields import CurrentPassword, MfaCode


class MfaSetupBody(Body):
    """The current password, so that a stolen session cannot lock its owner out."""

    model_config = example({"password": "a long pass phrase"})

    password: CurrentPassword


class MfaCodeBody(Body):
    """A code of the authenticator app or, if MFA is enabled, a recovery code."""

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
    enabled_at: TimeText | None
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
