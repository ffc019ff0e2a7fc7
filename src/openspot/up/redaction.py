"""Keeps secrets out of what is shown of the log.

Services do not log secrets (`kit/log.py`). This is for what others write there: a library's error that quotes an
address with its password, a statement in the log of PostgreSQL, the output of a crash.
"""

import re
from collections.abc import Iterable, Mapping
from typing import Any
from urllib.parse import unquote, urlsplit

from openspot.kit.log import SECRET_WORDS
from openspot.kit.settings import Settings
from openspot.up.services import HIDDEN, without_password

SECRET_LENGTH_MAX = 1024
"""The end of a text that was cut shows no more than this of a secret."""
SECRET_LENGTH_MIN = 8
"""A shorter value is not looked for: it would be found in words that are none."""
_NAME = re.compile(r"secret|password|seed|webhook_url|_key$|^venue_config$")
_PATTERNS = (
    # The words of a JSON Web Token, which is what sessions are; and of a scheme of HTTP's Authorization.
    re.compile(r"\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}(\.[A-Za-z0-9_-]*)?"),
    re.compile(r"(?<=\bBearer )[^\s\"',]+|(?<=\bBasic )[A-Za-z0-9+/=]{8,}", re.IGNORECASE),
    # name=value and "name": "value", as errors and statements quote them.
    re.compile(
        rf"([A-Za-z_]{{0,40}}(?:{'|'.join(SECRET_WORDS)}|api[-_]key)[A-Za-z_]{{0,40}}[\"']?\s{{0,8}}[=:]\s{{0,8}}[\"']?)"
        r"[^\s\"',;&)}]+",
        re.IGNORECASE,
    ),
)


LISTS = ("sealing_secrets_former",)
"""Settings with several secrets, with commas between them."""


def secrets_of(settings: Settings) -> set[str]:
    """The values of settings that are secrets: those named like one, and the passwords in addresses."""
    found: set[str] = set()
    for name, value in settings.model_dump().items():
        if not isinstance(value, str):
            continue
        if _NAME.search(name) and not name.endswith("_file"):
            found |= {value, *value.split(",")} if name in LISTS else {value}
        if "://" in value:
            found |= passwords_in(value.split(","))
    return found


def passwords_in(addresses: Iterable[str]) -> set[str]:
    """The passwords in addresses, as they are written and as they are meant."""
    found: set[str] = set()
    for address in addresses:
        try:
            parts = urlsplit(address.strip())
        except ValueError:
            continue
        if password := parts.password or "":
            found |= {password, unquote(password)}
    return found


class Redactor:
    """Hides these secrets, and what looks like one."""

    def __init__(self, secrets: Iterable[str] = ()) -> None:
        known = sorted({each for each in secrets if len(each) >= SECRET_LENGTH_MIN}, key=len, reverse=True)
        self._known = re.compile("|".join(map(re.escape, known))) if known else None

    def __call__(self, text: str) -> str:
        """The text with secrets replaced by HIDDEN."""
        if self._known is not None:
            text = self._known.sub(HIDDEN, text)
        text = without_password(text)
        for pattern in _PATTERNS:
            text = pattern.sub(lambda found: f"{found[1]}{HIDDEN}" if _is_named(found) else HIDDEN, text)
        return text

    def values(self, fields: Mapping[str, Any]) -> dict[str, Any]:
        """The fields, with those hidden at any depth that are named like a secret."""
        return {name: HIDDEN if _is_secret(name) else self._value(value) for name, value in fields.items()}

    def _value(self, value: Any) -> Any:
        if isinstance(value, Mapping):
            return self.values(value)
        if isinstance(value, list):
            return [self._value(each) for each in value]
        return value


def _is_secret(name: str) -> bool:
    return any(word in name.lower() for word in SECRET_WORDS)


def _is_named(found: "re.Match[str]") -> bool:
    return found.re is _PATTERNS[-1]
