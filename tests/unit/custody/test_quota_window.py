"""The sums that limits compare reach back exactly 24 hours, for a user as for a wallet."""

from datetime import UTC, datetime, timedelta
from typing import Any

from openspot.custody.wallet_policy import Wallet
from openspot.custody.withdrawal_store import sum_of_user, sum_of_user_in_wallet, sum_of_wallet

NOW = datetime(2026, 3, 2, 12, tzinfo=UTC)


class Heard:
    """A database connection that keeps what it is asked."""

    def __init__(self) -> None:
        self.asked: tuple[Any, ...] = ()

    async def fetchval(self, _query: str, *values: Any) -> int:
        self.asked = values
        return 7


async def test_the_window_of_users_and_of_wallets_is_24_hours() -> None:
    heard: Any = Heard()
    unsent = ["cancelled", "failed", "rejected"]
    assert await sum_of_user(heard, "alice", NOW) == 7
    assert (heard.asked[:2], sorted(heard.asked[2])) == (("alice", NOW - timedelta(hours=24)), unsent)
    assert await sum_of_wallet(heard, Wallet.HOT, NOW) == 7
    assert (heard.asked[:2], sorted(heard.asked[2])) == (("HOT", NOW - timedelta(hours=24)), unsent)
    assert await sum_of_user_in_wallet(heard, "alice", Wallet.HOT, NOW) == 7
    assert (heard.asked[:2], heard.asked[3]) == (("alice", NOW - timedelta(hours=24)), "HOT")
    assert sorted(heard.asked[2]) == unsent
