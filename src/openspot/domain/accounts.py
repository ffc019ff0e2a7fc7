"""How accounts are named."""

from typing import NamedTuple


class AccountKey(NamedTuple):
    """Names an account: a participant's balance of one asset."""

    user_id: str
    asset: str
