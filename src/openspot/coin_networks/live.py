"""The networks as a service knows them: those of `domain/networks.toml`, and with `OPENSPOT_MARKETS=live` those that
operators added.

They are read once a second, because nothing on the bus tells of them; it is one small page of rows. While the database
does not answer, they stay as they were.
"""

import asyncio
from collections.abc import Collection

from openspot.coin_networks.store import networks
from openspot.domain.networks import Network, load_networks
from openspot.kit.database import TRANSIENT_ERRORS, Pool
from openspot.kit.log import get_logger
from openspot.kit.service_frame import ServiceFrame

log = get_logger("networks")

PAUSE_S = 1.0


async def followed_networks(
    frame: ServiceFrame, pool: Pool, assets: Collection[str], *, follows: bool
) -> dict[str, Network]:
    """The networks of a service, which change in place if `follows`. `assets` are the coins that it knows now."""
    known = load_networks()
    if follows:
        seed = dict(known)
        await _refresh(pool, seed, known, assets)
        frame.start("networks", _follow(pool, seed, known, assets))
    return known


async def _follow(pool: Pool, seed: dict[str, Network], known: dict[str, Network], assets: Collection[str]) -> None:
    while True:
        await asyncio.sleep(PAUSE_S)
        await _refresh(pool, seed, known, assets)


async def _refresh(pool: Pool, seed: dict[str, Network], known: dict[str, Network], assets: Collection[str]) -> None:
    try:
        now = await networks(pool, seed, assets)
    except TRANSIENT_ERRORS as error:
        log.warning("the networks of coins are not read", error=repr(error))
        return
    known.clear()
    known.update(now)
