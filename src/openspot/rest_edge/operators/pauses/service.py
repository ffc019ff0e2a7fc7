"""Begins and ends pauses for operators, each with its entry in their trail in the same transaction."""

from collections.abc import Callable
from datetime import datetime

from openspot.coin_networks import pauses, store
from openspot.coin_networks.pauses import EVERY, Direction, FollowedPauses, Pause
from openspot.domain.networks import Network, load_networks
from openspot.http.errors import HttpError, validation_error
from openspot.kit.clock import iso_of
from openspot.kit.database import Connection, Pool
from openspot.rest_edge.operators.acting import Acting, record
from openspot.rest_edge.operators.pauses.schemas import PauseBody, PauseResponse, ResumptionBody

PAUSED, RESUMED = "transfers.paused", "transfers.resumed"
SUBJECT_KIND = "coin_network"


class TransferPauses:
    """Handles the requests about pauses. Methods raise HttpError to refuse one.

    `followed` are the pauses as this process knows them. They are read anew with each change, so whoever reads the
    exchange after the operator's answer finds the change; other edges follow within a second.
    """

    def __init__(self, pool: Pool, now: Callable[[], datetime], followed: FollowedPauses) -> None:
        self._pool = pool
        self._now = now
        self._followed = followed

    async def all(self) -> list[PauseResponse]:
        """Every pause, the oldest first."""
        return [described(pause) for pause in await pauses.pauses(self._pool)]

    async def begin(self, body: PauseBody, who: Acting) -> PauseResponse:
        """Pause deposits or withdrawals. 400 for a coin or network that is not there. A repeat changes nothing."""
        asset, network = _names(body)
        async with self._pool.acquire() as connection, connection.transaction():
            await store.lock(connection)
            _check(body, await known_networks(connection))
            before = await _exactly(connection, asset, network, body.direction)
            if before is not None and before.notice == body.notice:
                return described(before)
            by, at = (who.operator.name, self._now()) if before is None else (before.paused_by, before.paused_at)
            pause = Pause(asset, network, body.direction, body.notice, who.reason, by, at)
            await pauses.begin(connection, pause)
            await record(
                connection, who, PAUSED, SUBJECT_KIND, f"{asset}@{network}", _fields(before), _fields(pause)
            )  # fmt: skip
        await self._followed.refresh()
        return described(pause)

    async def end(self, body: ResumptionBody, who: Acting) -> None:
        """End a pause. 404 if there is none of exactly these names."""
        asset, network = _names(body)
        async with self._pool.acquire() as connection, connection.transaction():
            await store.lock(connection)
            ended = await pauses.end(connection, asset, network, body.direction)
            if ended is None:
                raise HttpError(
                    404, f"{body.direction} of {asset}@{network} are not paused under that name", "PAUSE_NOT_FOUND"
                )
            await record(connection, who, RESUMED, SUBJECT_KIND, f"{asset}@{network}", _fields(ended), {})
        await self._followed.refresh()


async def known_networks(connection: Connection) -> dict[str, Network]:
    """The networks of the platform with all that operators added."""
    return await store.networks(connection, load_networks(), await store.listed_assets(connection))


def described(pause: Pause) -> PauseResponse:
    """The pause as operators see it."""
    return PauseResponse(
        asset=None if pause.asset == EVERY else pause.asset,
        network=None if pause.network == EVERY else pause.network,
        direction=pause.direction,
        notice=pause.notice,
        reason=pause.reason,
        paused_by=pause.paused_by,
        paused_at=iso_of(pause.paused_at),
    )


async def _exactly(connection: Connection, asset: str, network: str, direction: Direction) -> Pause | None:
    every = await pauses.pauses(connection)
    return next((each for each in every if each[:3] == (asset, network, direction)), None)


def _names(body: ResumptionBody) -> tuple[str, str]:
    if body.asset is None and body.network is None:
        raise validation_error(["asset or network is needed"])
    return body.asset or EVERY, body.network or EVERY


def _check(body: ResumptionBody, networks: dict[str, Network]) -> None:
    if body.network is not None and body.network not in networks:
        raise validation_error([f"network must be one of {', '.join(sorted(networks))}"])
    carrying = [network for network in networks.values() if body.asset is None or body.asset in network.assets]
    if not carrying:
        raise validation_error([f"asset {body.asset} has no network"])
    if body.network is not None and networks[body.network] not in carrying:
        names = ", ".join(sorted(network.name for network in carrying))
        raise validation_error([f"network must be one of {names} for {body.asset}"])
    meant = carrying if body.network is None else [networks[body.network]]
    if body.direction is Direction.DEPOSITS and all(network.is_fiat for network in meant):
        # Custody sees no transfer of a bank before it is credited, so such a pause would hold nothing back.
        raise validation_error(["direction must be withdrawals: transfers of banks and payments cannot be paused"])


def _fields(pause: Pause | None) -> dict[str, str | None]:
    return {} if pause is None else {"direction": pause.direction.value, "notice": pause.notice}
