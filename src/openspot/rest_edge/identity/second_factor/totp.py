"""Time-based one-time passwords (RFC 6238): finds the step that a code belongs to. Pure."""

import hmac
from datetime import datetime

import pyotp

STEP_S = 30
DIGITS = 6
STEPS_OFF = 1
"""A client's clock may be this many steps ahead or behind (RFC 6238, 5.2)."""


def matching_step(secret: str, code: str, now: datetime, last_step: int) -> int | None:
    """The step of `code`, None if it is wrong.

    Steps up to `last_step` do not match, so that each code works once (ASVS 5, 6.5.1). The code is compared with every
    step of the window, so that the time does not tell which one matched.
    """
    totp = pyotp.TOTP(secret, digits=DIGITS, interval=STEP_S)
    current = int(now.timestamp()) // STEP_S
    found = None
    for step in range(current - STEPS_OFF, current + STEPS_OFF + 1):
        is_equal = hmac.compare_digest(totp.generate_otp(step).encode(), code.encode())
        if is_equal and step > last_step:
            found = step
    return found


def provisioning_uri(secret: str, account: str, issuer: str) -> str:
    """The otpauth URI that authenticator apps read. They show the name `issuer` beside the account."""
    return pyotp.TOTP(secret, digits=DIGITS, interval=STEP_S).provisioning_uri(name=account, issuer_name=issuer)
