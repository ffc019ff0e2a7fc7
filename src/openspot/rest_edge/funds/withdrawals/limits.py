"""The amount that a user may withdraw within 24 hours, by level of verification. Pure."""

from openspot.http.errors import HttpError

CENTS = 100
LEVEL_NAMES = ("none", "basic", "verified")


def limit_in_cents(level: int, dollars_by_level: tuple[int, int, int], own_dollars: int | None = None) -> int:
    """The limit in US cents at a level (0 none, 1 basic, 2 verified). Raises HttpError (403) if it is 0.

    `own_dollars` is what an operator has given to this user instead.
    """
    if own_dollars == 0:
        raise HttpError(403, "this account cannot withdraw: ask the platform's support", "WITHDRAWALS_DISABLED")
    dollars = dollars_by_level[level] if own_dollars is None else own_dollars
    if not dollars:
        needed = next((name for name, given in zip(LEVEL_NAMES, dollars_by_level, strict=True) if given), None)
        if needed is None:
            raise HttpError(403, "withdrawals are turned off", "WITHDRAWALS_DISABLED")
        raise HttpError(
            403,
            f"withdrawals need verification level {needed}",
            "KYC_REQUIRED",
            details={"level": LEVEL_NAMES[level], "needed": needed},
        )
    return dollars * CENTS
