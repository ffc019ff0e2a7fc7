"""How accounts are named."""

from typing import NamedTuple

MARGIN_PREFIX = "margin:"
"""Begins the ids of margin accounts. Users' own ids have no colon, so none of them is one."""


def margin_account_id(user_id: str, number: int) -> str:
    """The id of a user's margin account: a participant of its own. `number` counts from 1 as accounts are closed."""
    return f"{MARGIN_PREFIX}{user_id}" if number == 1 else f"{MARGIN_PREFIX}{user_id}:{number}"


class AccountKey(NamedTuple):
    """Names an account: a participant's balance of one asset."""

    user_id: str
    asset: str
