"""Refuses common passwords at registration (NIST SP 800-63B: a list of common ones, no rules of composition).

The list comes from zxcvbn: 30,000 passwords from public leaks. Its scorer is not used, as it fails for long passwords.
"""

from zxcvbn.frequency_lists import FREQUENCY_LISTS

COMMON_PASSWORDS = frozenset(FREQUENCY_LISTS["passwords"])
DISTINCT_MIN = 3
_OWN_WORDS = frozenset({"openspot"})


def password_fault(password: str, email: str) -> str | None:
    """Why a password is refused, None if it is accepted. The body's schema checks its length."""
    text = password.strip().lower()
    if not text:
        return "password must not be blank"
    if text == email:
        return "password must not be the email address"
    if text in COMMON_PASSWORDS or text.strip("0123456789!.?*") in {email.partition("@")[0], *_OWN_WORDS}:
        return "password is too common: it is among the first that anybody tries"
    if len(set(text)) < DISTINCT_MIN:
        return f"password must have at least {DISTINCT_MIN} different characters"
    return None
