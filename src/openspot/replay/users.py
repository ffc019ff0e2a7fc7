"""The users of a replay: registers them, logs them in, and funds them as the custody service would."""

import asyncio
import secrets
import time
from collections.abc import Sequence
from decimal import Decimal

from openspot.client import ApiError, OpenSpotClient
from openspot.contracts import subjects
from openspot.contracts.messages import DepositConfirmed
from openspot.domain.accounts import AccountKey
from openspot.domain.money import decimal_to_text
from openspot.kit.bus import Bus
from openspot.kit.clock import NANOSECONDS_PER_MS
from openspot.reconcile.store import EngineReader, MirrorReader
from openspot.replay.plan import NeededFunds
from openspot.replay.trader import Patience

FUNDING_TIMEOUT_S = 60.0
_POLL_S = 0.05
_EMAIL_HOST = "replay.invalid"


class FundingError(Exception):
    """Deposits did not arrive. The message says whose and where."""


async def make_user(client: OpenSpotClient, run_id: str, number: int, patience: Patience) -> str:
    """Register and log in one user. Returns its user id. Raises ApiError, UnreachableError."""
    email, password = f"{run_id}-{number}@{_EMAIL_HOST}", secrets.token_urlsafe(24)
    user = await patience.call(lambda: client.register(email, password))
    try:
        await patience.call(lambda: client.login(email, password))
    except ApiError as error:
        raise ApiError(error.status, error.code, f"login of a new user: {error.message}") from error
    return user.user_id


async def fund(
    bus: Bus,
    engine: EngineReader,
    mirror: MirrorReader,
    symbol: str,
    run_id: str,
    users: Sequence[str],
    funds: Sequence[NeededFunds],
) -> None:
    """Publish the confirmed deposits and wait until engine and ledger have them all.

    Raises FundingError, PublishError, EngineUnavailableError.
    """
    base, _, quote = symbol.partition("-")
    expected: dict[AccountKey, Decimal] = {}
    for user_id, needed in zip(users, funds, strict=True):
        for asset, amount in ((base, needed.base), (quote, needed.quote)):
            if amount:
                expected[AccountKey(user_id, asset)] = amount
    for account, amount in expected.items():
        tx_hash = f"{run_id}-{account.user_id}-{account.asset}"
        deposit = DepositConfirmed(
            tx_hash,
            account.user_id,
            account.asset,
            decimal_to_text(amount),
            timestamp=time.time_ns() // NANOSECONDS_PER_MS,
        )
        await bus.publish(subjects.CUSTODY_DEPOSIT_CONFIRMED, deposit, f"deposit-{tx_hash}")
    deadline = time.monotonic() + FUNDING_TIMEOUT_S
    while True:
        credited = await engine.balances(users)
        mirrored = await mirror.balances(users)
        late = [account for account, amount in expected.items() if credited.get(account) != amount]
        late = late or [account for account, amount in expected.items() if mirrored.get(account) != amount]
        if not late:
            return
        if time.monotonic() > deadline:
            where = "engine" if credited.get(late[0]) != expected[late[0]] else "ledger"
            raise FundingError(
                f"{len(late)} deposits did not arrive in the {where} within {FUNDING_TIMEOUT_S:g} s, "
                f"for example {late[0].asset} of user {late[0].user_id}: see the log of the router and the ledger"
            )
        await asyncio.sleep(_POLL_S)
