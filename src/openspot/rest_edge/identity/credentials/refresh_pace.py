"""How often a session may be refreshed, without IO.

A client needs one refresh in the life of an access token. Every refresh leaves a used token until it expires, by which
a second use is noticed. So a session has an allowance: some refreshes at once, and then as many as come back with time.
Otherwise a stolen session would fill the table, as fast as the throttle of its network lets it.
"""

from datetime import datetime, timedelta

AT_ONCE = 30
"""So many refreshes a session has that was not refreshed for long."""
PER_LIFE = 10
"""So many come back in the life of an access token."""


def after_refresh(full_at: datetime | None, now: datetime, access_life: timedelta) -> tuple[timedelta, datetime]:
    """Return (0, when the allowance is complete after one refresh), or (the wait, `full_at`) if it is used up.

    `full_at` is when the allowance is complete before the refresh, None for a session that was never refreshed.
    """
    gap = access_life / PER_LIFE
    from_then = now if full_at is None else max(full_at, now)
    wait = from_then - now - gap * (AT_ONCE - 1)
    if wait > timedelta(0):
        return wait, from_then
    return timedelta(0), from_then + gap
