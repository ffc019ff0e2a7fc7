"""A user who is frozen or deactivated takes no new risk on margin, and may get out of what there is.

The margin account itself stays active, because closing, reducing and liquidating need its orders. So the engine takes
those of a new position, too, and only who asks for the user knows better (docs/adr/0138).
"""

from openspot.contracts.refusals import RefusalCode
from openspot.engine_client.participant_schemas import ACTIVE
from openspot.margin.accounts import LockedAccount, MarginRefusedError
from openspot.margin.dependencies import Dependencies


async def refuse_inactive_user(dependencies: Dependencies, account: LockedAccount) -> None:
    """Raise MarginRefusedError (`PARTICIPANT_INACTIVE`) unless the account's user may place orders.

    Raises EngineError if the engine does not say. A user whom it does not know cannot be frozen.
    """
    state = await dependencies.queries.participant_state(account.account.user_id)
    if state not in (ACTIVE, None):
        raise MarginRefusedError(
            f"your account is {state}: you can close positions, repay and move out, and nothing else",
            RefusalCode.PARTICIPANT_INACTIVE,
        )
