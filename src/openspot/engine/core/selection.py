"""Chooses the core: the Rust core, the Python reference, or the Rust core if it is installed."""

from typing import cast

from openspot.engine.core.protocol import MatchingCore
from openspot.engine.core.reference import ReferenceCore

CHOICES = ("auto", "rust", "reference")

_RUST_MODULE = "openspot_matching"


class CoreUnavailableError(RuntimeError):
    """The chosen core is not installed. The message says how to install it."""


def make_core(choice: str, open_orders_expected: int = 65_536) -> MatchingCore:
    """Return a new, empty core. Its `name` says which one it is.

    The Rust core sets aside address space for `open_orders_expected` open orders.

    `auto` returns the Rust core if its wheel is installed, else the reference. `rust` never falls back. Both
    raise ImportError if the wheel is installed but does not load: a fallback would hide a broken build.

    Raises CoreUnavailableError if `choice` is `rust` and the wheel is missing, ValueError for another choice.
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
    return cast(MatchingCore, RustCore(open_orders_expected))
