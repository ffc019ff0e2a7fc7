"""How accounts are named."""

from typing import NamedTuple

MARGIN_PREFIX = "margin:"
"""The ids of margin accounts begin with this. A user's own id has no colon, so it is never one of them."""

USER_OF_ACCOUNT_SQL = f"""
    CASE WHEN starts_with(user_id, '{MARGIN_PREFIX}')
        THEN split_part(substr(user_id, {len(MARGIN_PREFIX) + 1}), ':', 1) ELSE user_id END
"""
"""`user_of_account` of the column `user_id`, for PostgreSQL."""


def margin_account_id(user_id: str, number: int) -> str:
    """The participant id of a user's margin account. `number` is 1, and one more for each account that was closed."""
    return f"{MARGIN_PREFIX}{user_id}" if number == 1 else f"{MARGIN_PREFIX}{user_id}:{number}"


def user_of_account(participant_id: str) -> str:
    """The user whose account this is: a margin account's user, or the participant itself."""
    if not participant_id.startswith(MARGIN_PREFIX):
        return participant_id
    return participant_id.removeprefix(MARGIN_PREFIX).partition(":")[0]


class AccountKey(NamedTuple):
    """Names an account: a participant's balance of one asset."""

    user_id: str
    asset: str
