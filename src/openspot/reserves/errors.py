"""Why a proof was not made."""


class ReservesError(Exception):
    """The proof was not made, and nothing was changed. The message says why."""
