"""The commands `openspot coins …`: they pause deposits and withdrawals on the running platform's database."""

import getpass

from pydantic import ValidationError

from openspot.coin_networks import pauses
from openspot.coin_networks.pauses import Direction, FollowedPauses
from openspot.http.errors import HttpError
from openspot.http.operators import Operator
from openspot.kit.clock import utc_now
from openspot.kit.database import pool_of_command
from openspot.rest_edge.operators.acting import Acting
from openspot.rest_edge.operators.pauses.schemas import PauseBody, PauseResponse, ResumptionBody
from openspot.rest_edge.operators.pauses.service import TransferPauses, known_networks
from openspot.rest_edge.settings import RestEdgeSettings


class PauseError(Exception):
    """A command was not carried out. The message says why."""


async def networks_of(settings: RestEdgeSettings, asset: str) -> list[str]:
    """A line for each network of a coin: what is open there. Raises PauseError for an unknown coin."""
    async with pool_of_command(settings, PauseError) as pool, pool.acquire() as connection:
        found = await known_networks(connection)
        known = FollowedPauses(pool)
        await known.refresh()
        names = sorted(name for name, network in found.items() if asset in network.assets)
    if not names:
        raise PauseError(f"asset {asset} has no network")

    def state(name: str, direction: Direction) -> str:
        pause = known.find(asset, name, direction)
        return f"{direction.value} open" if pause is None else f"{pauses.refusal_text(pause, asset, name)}"

    return [f"{name:<12} {'; '.join(state(name, direction) for direction in Direction)}" for name in names]


async def change_pause(
    settings: RestEdgeSettings, asset: str, network: str, direction: str, reason: str, notice: str | None
) -> list[PauseResponse]:
    """Begin a pause with this notice, or without one (None) end it. Returns all pauses. Raises PauseError."""
    named = {"asset": asset or None, "network": network or None, "direction": direction, "reason": reason}
    who = Acting(Operator(f"shell:{getpass.getuser()}", frozenset(), frozenset()), reason, "", "")
    async with pool_of_command(settings, PauseError) as pool:
        service = TransferPauses(pool, utc_now, FollowedPauses(pool))
        try:
            if notice is None:
                await service.end(ResumptionBody.model_validate(named), who)
            else:
                await service.begin(PauseBody.model_validate(named | {"notice": notice}), who)
        except ValidationError as error:
            faults = [f"{each['loc'][0]}: {each['msg']}" for each in error.errors()]
            raise PauseError("; ".join(faults)) from error
        except HttpError as error:
            told = error.message
            raise PauseError(told if isinstance(told, str) else "; ".join(told)) from error
        return await service.all()


async def listed_pauses(settings: RestEdgeSettings) -> list[PauseResponse]:
    """All pauses. Raises PauseError."""
    async with pool_of_command(settings, PauseError) as pool:
        return await TransferPauses(pool, utc_now, FollowedPauses(pool)).all()
