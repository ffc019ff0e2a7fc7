"""What pip is configured to use, said to uv: index, links, certificates, proxy, timeouts.

pip reads configuration files and `PIP_…` variables; uv reads neither. `pip config list` merges them all.
Standard library only: this runs before anything is installed.
"""

from __future__ import annotations

import ast
import math
import ssl
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

SECTIONS = ("global", "install", ":env:")
"""Where `pip install` looks, each before the one on its left."""
INDEX_VARIABLES = ("UV_DEFAULT_INDEX", "UV_INDEX_URL", "UV_INDEX", "UV_EXTRA_INDEX_URL")
UNKNOWN_TO_UV = (
    "build-constraint",
    "config-settings",
    "constraint",
    "global-option",
    "no-binary",
    "only-binary",
    "prefix",
    "root",
    "target",
    "user",
)
"""Settings that change what pip installs, or where, and that this module does not translate."""


class NoCounterpartError(Exception):
    """pip has a setting that uv would not follow; the message names it."""


@dataclass(frozen=True)
class UvOptions:
    """What uv is started with so that it does what pip would do."""

    environment: dict[str, str] = field(default_factory=dict)
    arguments: tuple[str, ...] = ()


def read_settings(listing: str) -> dict[str, str]:
    """The settings of `pip install`, from the output of `pip config list`. Lines of another form are skipped."""
    sections: dict[str, dict[str, str]] = {section: {} for section in SECTIONS}
    for line in listing.splitlines():
        name, separator, quoted = line.partition("=")
        section, dot, key = name.rpartition(".")
        if separator and dot and section in sections:
            try:
                sections[section][key] = str(ast.literal_eval(quoted))
            except (ValueError, SyntaxError):
                continue
    return {key: value for section in SECTIONS for key, value in sections[section].items()}


def uv_options(settings: Mapping[str, str], environment: Mapping[str, str]) -> UvOptions:
    """Options for uv that follow pip's `settings`; the user's own `UV_…` variables go first.

    Raises NoCounterpartError if uv cannot follow one of them.
    """
    for key in UNKNOWN_TO_UV:
        if settings.get(key):
            raise NoCounterpartError(f"pip is configured with {key}")
    options = _index_options(settings, environment) | _transport_options(settings, environment)
    arguments = ("--no-index",) if _is_on(settings.get("no-index", "")) else ()
    own = {name for name in environment if name.startswith("UV_")}
    return UvOptions({name: value for name, value in options.items() if name not in own}, arguments)


def _index_options(settings: Mapping[str, str], environment: Mapping[str, str]) -> dict[str, str]:
    options = {}
    if not any(name in environment for name in INDEX_VARIABLES):
        if index := settings.get("index-url"):
            options["UV_DEFAULT_INDEX"] = index
        if extra := settings.get("extra-index-url"):
            options["UV_INDEX"] = " ".join(extra.split())
            # pip takes a file from whichever index has it; the hashes of the lock files say which file is right.
            options["UV_INDEX_STRATEGY"] = "unsafe-best-match"
    # pip passes over a folder that does not exist, uv stops.
    places = settings.get("find-links", "").split()
    links = [place for place in places if "://" in place or Path(place).expanduser().exists()]
    if any("," in link for link in links):
        raise NoCounterpartError("pip is configured with find-links that hold a comma")
    if links:
        options["UV_FIND_LINKS"] = ",".join(links)
    keyring = settings.get("keyring-provider", "auto")
    if keyring == "import":
        raise NoCounterpartError("pip is configured with keyring-provider import")
    if keyring == "subprocess":
        options["UV_KEYRING_PROVIDER"] = keyring
    if _is_on(settings.get("no-cache-dir", "")):
        options["UV_NO_CACHE"] = "1"
    return options


def _transport_options(settings: Mapping[str, str], environment: Mapping[str, str]) -> dict[str, str]:
    options = {}
    given = (settings.get("cert"), environment.get("REQUESTS_CA_BUNDLE"), environment.get("CURL_CA_BUNDLE"))
    if certificates := next((path for path in given if path), None):
        options["SSL_CERT_DIR" if Path(certificates).is_dir() else "SSL_CERT_FILE"] = certificates
    elif "SSL_CERT_FILE" not in environment and ssl.get_default_verify_paths().cafile:
        options["UV_SYSTEM_CERTS"] = "1"
    if certificate := settings.get("client-cert"):
        options["SSL_CLIENT_CERT"] = certificate
    if proxy := settings.get("proxy"):
        address = proxy if "://" in proxy else f"http://{proxy}"
        options |= {"HTTP_PROXY": address, "HTTPS_PROXY": address}
    if hosts := settings.get("trusted-host"):
        options["UV_INSECURE_HOST"] = " ".join(hosts.split())
    if seconds := settings.get("timeout") or settings.get("default-timeout"):
        options["UV_HTTP_TIMEOUT"] = str(math.ceil(float(seconds)))
    if retries := settings.get("retries"):
        options["UV_HTTP_RETRIES"] = retries
    return options


def _is_on(text: str) -> bool:
    return text.strip().lower() in ("1", "true", "yes", "on", "y", "t")
