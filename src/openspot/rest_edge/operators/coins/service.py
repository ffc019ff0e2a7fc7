"""Gives coins their networks for operators, and writes each change into their trail, in the same transaction."""

from collections.abc import Callable, Mapping
from datetime import datetime

from openspot.coin_networks import store
from openspot.contracts.listings import differences
from openspot.domain.market import AssetScale
from openspot.domain.money import decimal_to_text
from openspot.domain.networks import Network, load_networks
from openspot.http.errors import HttpError, validation_error
from openspot.kit.database import Connection, Pool
from openspot.rest_edge.operators.acting import Acting, record
from openspot.rest_edge.operators.coins.rules import network_of, terms_of
from openspot.rest_edge.operators.coins.schemas import CoinNetworkBody, CoinNetworkResponse


class CoinNetworks:
    """Handles the requests about networks of coins. Methods raise HttpError to refuse one."""

    def __init__(
        self, pool: Pool, assets: Mapping[str, AssetScale], now: Callable[[], datetime], *, is_open: bool
    ) -> None:
        """Changes are taken if `is_open`: else no service would follow them."""
        self._pool = pool
        self._assets = assets
        self._now = now
        self._is_open = is_open
        self._seed = load_networks()

    async def of_coin(self, asset: str) -> list[CoinNetworkResponse]:
        """The networks of a coin, by name. 404 for an unknown coin."""
        self._scale(asset)
        async with self._pool.acquire() as connection:
            known = await self._known(connection)
        found = (self._shown(asset, network) for network in known.values())
        return sorted((each for each in found if each is not None), key=lambda each: each.network)

    async def change(self, asset: str, name: str, body: CoinNetworkBody, who: Acting) -> CoinNetworkResponse:
        """Give a coin a network, or change the terms of one that it has. The same terms again change nothing."""
        self._require_open()
        terms, faults = terms_of(self._scale(asset), body)
        async with self._pool.acquire() as connection, connection.transaction():
            await store.lock(connection)
            known = await self._known(connection)
            network, more = network_of(name, body, known, self._seed)
            if faults or more:
                raise validation_error([*faults, *more])
            before = self._shown(asset, known[name]) if name in known else None
            if network is not None:
                await store.write_network(connection, network, self._now())
            await store.write_asset(connection, name, terms, self._now())
            after = self._shown(asset, (await self._known(connection))[name])
            assert after is not None, "the terms were just written"
            if before != after:
                await self._record(connection, who, "coins.network", before, after)
        return after

    async def remove(self, asset: str, name: str, who: Acting) -> None:
        """Take a network away that was added by mistake, or go back to the platform's own terms.

        404 if no operator added it; 409 if the coin has come or gone over it, or somebody has a deposit address there,
        where it may still come.
        """
        self._require_open()
        async with self._pool.acquire() as connection, connection.transaction():
            await store.lock(connection)
            known = await self._known(connection)
            before = self._shown(asset, known[name]) if name in known else None
            if before is None or not before.listed:
                raise HttpError(404, f"no operator gave {asset} the network {name}", "NETWORK_NOT_FOUND")
            falls_back = name in self._seed and asset in self._seed[name].assets
            if not falls_back and await store.is_used(connection, name, asset):
                raise HttpError(
                    409,
                    f"{asset} has come or gone over {name}, so it stays: delist its market and pause its deposits, and "
                    "what still comes waits among the deposits until the pause ends",
                    "NETWORK_IN_USE",
                )
            users = 0 if falls_back else await store.addresses_on(connection, name)
            if users:
                raise HttpError(
                    409, f"{users:,} users have a deposit address on {name}, where {asset} may still come, so it "
                    "stays: delist its market and pause its deposits, and what still comes waits among the deposits "
                    "until the pause ends", "NETWORK_HAS_ADDRESSES", details={"users": users},
                )  # fmt: skip
            await store.delete_asset(connection, name, asset)
            left = (await self._known(connection)).get(name)
            after = None if left is None else self._shown(asset, left)
            await self._record(connection, who, "coins.network_removed", before, after)

    async def _known(self, connection: Connection) -> dict[str, Network]:
        # What was added while markets were live counts for no service once they are fixed.
        return await store.networks(connection, self._seed, self._assets) if self._is_open else self._seed

    def _shown(self, asset: str, network: Network) -> CoinNetworkResponse | None:
        terms = network.assets.get(asset)
        if terms is None:
            return None
        own = self._seed.get(network.name)
        return CoinNetworkResponse(
            asset=asset,
            network=network.name,
            address_form=network.family,
            confirmations=network.confirmations,
            takes_tag=network.takes_tag,
            withdrawal_fee=decimal_to_text(terms.fee),
            withdrawal_minimum=decimal_to_text(terms.minimum),
            deposit_minimum=decimal_to_text(terms.deposit_minimum),
            listed=own is None or own.assets.get(asset) != terms,
        )

    def _scale(self, asset: str) -> AssetScale:
        scale = self._assets.get(asset)
        if scale is None:
            raise HttpError(404, f"asset {asset} is not listed", "ASSET_NOT_FOUND")
        return scale

    def _require_open(self) -> None:
        if not self._is_open:
            raise HttpError(
                400, "networks are fixed here: they change with OPENSPOT_MARKETS=live alone", "UNSUPPORTED_COMMAND"
            )

    async def _record(
        self,
        connection: Connection,
        who: Acting,
        action: str,
        before: CoinNetworkResponse | None,
        after: CoinNetworkResponse | None,
    ) -> None:
        shown = before or after
        assert shown is not None, "something was there before or is there now"
        old, new = differences(_fields(before), _fields(after))
        await record(connection, who, action, "coin_network", f"{shown.asset}@{shown.network}", old, new)


def _fields(shown: CoinNetworkResponse | None) -> dict[str, object]:
    return {} if shown is None else shown.model_dump(by_alias=True)
