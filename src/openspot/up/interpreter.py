"""Tells whether this Python was built without the compiler's profile, which makes the platform slower."""

import sys
import sysconfig
from dataclasses import dataclass

OPTIMIZED = "--enable-optimizations"
SLOW_BUILD = (
    f"this Python was built without {OPTIMIZED} and is slow: install one of your system or of uv, "
    "then `rm -r .venv; make setup PYTHON=python3.NN`"
)
_SYSTEM_PREFIXES = ("/usr",)
"""Debian, Ubuntu and others compile with a profile by means of their own, which the arguments do not show."""


@dataclass(frozen=True, slots=True)
class Build:
    """What an interpreter says about its build. `arguments` are those of its configure script, None if unknown."""

    implementation: str
    platform: str
    version: str
    prefix: str
    arguments: object

    @classmethod
    def of_this_python(cls) -> "Build":
        """The build of the interpreter that runs this."""
        arguments = sysconfig.get_config_var("CONFIG_ARGS")
        return cls(sys.implementation.name, sys.platform, sys.version, sys.base_prefix, arguments)


def slow_build(build: Build) -> str | None:
    """One line that says what to install, or None if the build is fast, or if it cannot be told."""
    is_judged = build.implementation == "cpython" and build.platform == "linux"
    if not is_judged or not isinstance(build.arguments, str) or not build.arguments.strip():
        return None
    if OPTIMIZED in build.arguments or build.prefix in _SYSTEM_PREFIXES or "conda" in build.version.lower():
        return None
    return SLOW_BUILD
