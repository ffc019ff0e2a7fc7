"""The tables `listed_networks` and `listed_network_assets`: what operators added to `domain/networks.toml`."""

from collections.abc import Collection, Mapping
from datetime import datetime

from openspot.domain.networks import Network, NetworkAsset, with_listed
from openspot.kit.database import Connection, Pool

_LOCK = "SELECT pg_advisory_xact_lock(hashtextextended('openspot-coin-networks', 0))"
_LOCK_TOGETHER = "SELECT pg_advisory_xact_lock_shared(hashtextextended('openspot-coin-networks', 0))"
_IS_USED = """
    SELECT EXISTS (SELECT FROM custody_deposits WHERE network = $1 AND asset = $2)
        OR EXISTS (SELECT FROM custody_withdrawals WHERE network = $1 AND asset = $2)
"""
_DROP_EMPTY = """
    DELETE FROM listed_networks WHERE network = $1
        AND NOT EXISTS (SELECT FROM listed_network_assets WHERE network = $1)
        AND NOT EXISTS (SELECT FROM custody_addresses WHERE network = $1)
"""


async def lock(connection: Connection) -> None:
    """Let nobody else change the networks until the end of the transaction."""
    await connection.execute(_LOCK)


async def networks(
    connection: Connection | Pool, seed: Mapping[str, Network], assets: Collection[str]
) -> dict[str, Network]:
    """The networks of `seed` with what operators added for the coins of `assets`."""
    listed = await connection.fetch(
        "SELECT network, family, confirmations, takes_tag FROM listed_networks ORDER BY listed_at, network"
    )
    rows = await connection.fetch(
        "SELECT network, asset, fee, minimum, deposit_minimum FROM listed_network_assets ORDER BY listed_at, asset"
    )
    added = [Network(row["network"], row["family"], row["confirmations"], row["takes_tag"], {}) for row in listed]
    terms = [
        (row["network"], NetworkAsset(row["asset"], row["fee"], row["minimum"], row["deposit_minimum"]))
        for row in rows
        if row["asset"] in assets
    ]
    return with_listed(seed, added, terms)


async def listed_assets(connection: Connection) -> set[str]:
    """The coins that operators gave a network."""
    return {row["asset"] for row in await connection.fetch("SELECT DISTINCT asset FROM listed_network_assets")}


async def write_network(connection: Connection, network: Network, now: datetime) -> None:
    """Write a network that operators added, or its new number of confirmations: nothing else of it changes."""
    await connection.execute(
        """
        INSERT INTO listed_networks (network, family, confirmations, takes_tag, listed_at)
        VALUES ($1, $2, $3, $4, $5)
        ON CONFLICT (network) DO UPDATE SET confirmations = excluded.confirmations
        """,
        network.name, network.family, network.confirmations, network.takes_tag, now,
    )  # fmt: skip


async def write_asset(connection: Connection, network: str, asset: NetworkAsset, now: datetime) -> None:
    """Write the terms of a coin on a network."""
    await connection.execute(
        """
        INSERT INTO listed_network_assets (network, asset, fee, minimum, deposit_minimum, listed_at)
        VALUES ($1, $2, $3, $4, $5, $6)
        ON CONFLICT (network, asset) DO UPDATE
        SET fee = excluded.fee, minimum = excluded.minimum, deposit_minimum = excluded.deposit_minimum
        """,
        network, asset.asset, asset.fee, asset.minimum, asset.deposit_minimum, now,
    )  # fmt: skip


async def is_used(connection: Connection, network: str, asset: str) -> bool:
    """Whether the coin has ever come or gone over the network."""
    return bool(await connection.fetchval(_IS_USED, network, asset))


async def stays_listed(connection: Connection, network: str, asset: str) -> bool:
    """Whether operators have the coin on the network, and will until the end of the transaction."""
    await connection.execute(_LOCK_TOGETHER)
    query = "SELECT EXISTS (SELECT FROM listed_network_assets WHERE network = $1 AND asset = $2)"
    return bool(await connection.fetchval(query, network, asset))


async def addresses_on(connection: Connection, network: str) -> int:
    """How many users have a deposit address on the network. It takes every coin of the network, and never changes."""
    return int(await connection.fetchval("SELECT count(*) FROM custody_addresses WHERE network = $1", network))


async def delete_asset(connection: Connection, network: str, asset: str) -> bool:
    """Take a coin off a network; the last one takes an added network with it, unless somebody has an address there.

    Returns whether operators had added the coin there.
    """
    deleted = await connection.fetchval(
        "DELETE FROM listed_network_assets WHERE network = $1 AND asset = $2 RETURNING asset", network, asset
    )
    await connection.execute(_DROP_EMPTY, network)
    return deleted is not None
