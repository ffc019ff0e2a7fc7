"""The rules of watchlists: what a change makes of a list, and how many there may be. Pure."""

from collections.abc import Sequence

LISTS_MAX = 20
"""Lists of one user."""
MARKETS_MAX = 500
"""Markets of one list."""


class WatchlistFullError(Exception):
    """The list would hold more than MARKETS_MAX markets."""


def changed(before: Sequence[str], added: Sequence[str], removed: Sequence[str]) -> list[str]:
    """The markets after a change: those that stay in their order, then the new ones. Raises WatchlistFullError.

    It adds no market twice, and to remove one that is not there changes nothing: a change may be repeated.
    """
    gone = set(removed)
    after = list(dict.fromkeys([*(symbol for symbol in before if symbol not in gone), *added]))
    if len(after) > max(MARKETS_MAX, len(before)):
        raise WatchlistFullError
    return after
