"""Which core runs: the Rust one, the Python reference, or the first of the two that is there."""

from typing import cast

from openspot.engine.core.protocol import MatchingCore
from openspot.engine.core.reference import ReferenceCore

CHOICES = ("auto", "rust", "reference")

_RUST_MODULE = "openspot_matching"


class CoreUnavailableError(RuntimeError):
    """The core that was asked for is not installed; the message says how to get it."""


def make_core(choice: str) -> MatchingCore:
    """A new, empty core; its `name` says which one it is, and the caller shows it.

    `auto` takes the Rust core where its wheel is installed, else the reference. `rust` never falls back.
    A wheel that is there but does not load is an error for both: to pass over it would hide a broken build.

    Raises CoreUnavailableError if `rust` is asked for without its wheel, ValueError for an unknown choice.
    """
    if choice not in CHOICES:
        raise ValueError(f"unknown core {choice!r}: it must be one of {', '.join(CHOICES)}")
    if choice == "reference":
        return ReferenceCore()
    try:
        from openspot.engine.core.rust_core import RustCore
    except ModuleNotFoundError as error:
        if error.name != _RUST_MODULE:
            raise
        if choice == "auto":
            return ReferenceCore()
        raise CoreUnavailableError(
            "the Rust core is not installed (no module openspot_matching): build it with `make core`, "
            "which needs a Rust toolchain, or choose the core `reference` or `auto`"
        ) from error
    return cast(MatchingCore, RustCore())
