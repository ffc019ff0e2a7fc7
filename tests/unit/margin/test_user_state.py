"""A user who may not place orders takes no new risk on margin."""

from types import SimpleNamespace
from typing import Any

import pytest

from openspot.contracts.refusals import Refusal, RefusalCode
from openspot.engine_client.errors import EngineUnreachableError
from openspot.margin.accounts import MarginRefusedError
from openspot.margin.user_state import refuse_inactive_user


class Engine:
    """Knows the state of one user, or does not respond."""

    def __init__(self, state: str | None, fault: Exception | None = None) -> None:
        self.state = state
        self.fault = fault
        self.asked: list[str] = []

    async def participant_state(self, participant_id: str) -> str | None:
        self.asked.append(participant_id)
        if self.fault is not None:
            raise self.fault
        return self.state


async def ask(engine: Engine) -> None:
    dependencies: Any = SimpleNamespace(queries=engine)
    account: Any = SimpleNamespace(account_id="margin:ann", account=SimpleNamespace(user_id="ann"))
    await refuse_inactive_user(dependencies, account)


@pytest.mark.parametrize("state", ["active", None])
async def test_an_active_user_and_one_without_a_spot_account_are_not_refused(state: str | None) -> None:
    engine = Engine(state)
    await ask(engine)
    assert engine.asked == ["ann"]


@pytest.mark.parametrize("state", ["frozen", "inactive", "of a newer engine"])
async def test_any_other_state_is_refused_and_named(state: str) -> None:
    with pytest.raises(MarginRefusedError) as refused:
        await ask(Engine(state))
    assert refused.value.refusal == Refusal(
        RefusalCode.PARTICIPANT_INACTIVE,
        f"your account is {state}: you can close positions, repay and move out, and nothing else",
    )


async def test_an_engine_that_does_not_respond_lets_nobody_through() -> None:
    with pytest.raises(EngineUnreachableError):
        await ask(Engine("active", EngineUnreachableError("away")))
