"""Which core runs: the Rust one, the Python reference, or the first of the two that is there."""

import importlib
from typing import cast

from openspot.engine.core.protocol import MatchingCore
from openspot.engine.core.reference import ReferenceCore

RUST_MODULE = "openspot_matching"
CHOICES = ("auto", "rust", "reference")


class CoreUnavailableError(RuntimeError):
    """The core that was asked for is not installed; the message says how to get it."""


def make_core(choice: str) -> MatchingCore:
    """A new, empty core; its `name` says which one it is, and the caller shows it.

    `auto` takes the Rust core where its wheel is installed, else the reference. `rust` never falls back.
    A wheel that is there but does not load is an error for both, since hiding it would hide a broken build.

    Raises CoreUnavailableError if `rust` is asked for without its wheel, ValueError for an unknown choice.
    """
    if choice not in CHOICES:
        raise ValueError(f"unknown core {choice!r}: it must be one of {', '.join(CHOICES)}")
    if choice == "reference":
        return ReferenceCore()
    try:
        module = importlib.import_module(RUST_MODULE)
    except ModuleNotFoundError as error:
        if error.name != RUST_MODULE:
            raise
        if choice == "auto":
            return ReferenceCore()
        raise CoreUnavailableError(
            f"the Rust core is not installed: the wheel {RUST_MODULE.replace('_', '-')} is missing. "
            "Build it with `maturin develop --release -m rust/matching/Cargo.toml`, "
            "or set the core to `reference` or `auto`."
        ) from error
    return cast(MatchingCore, module.RustCore())
