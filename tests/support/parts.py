"""A long run in parts, each a test: the first part runs in `make test`, the others in `make proof`."""

from typing import Any

import pytest


def first_then_proof(*parts: Any) -> list[Any]:
    """The values of `parametrize` for these parts."""
    first, *others = parts
    return [first, *(pytest.param(part, marks=pytest.mark.proof) for part in others)]
