"""Deposit addresses of users: one for each user and network. It never changes."""

from collections.abc import Mapping

from openspot.coin_networks.pauses import Direction, pause_of, pauses, refusal_text
from openspot.coin_networks.store import stays_listed
from openspot.contracts.messages import CustodyAddress
from openspot.contracts.refusals import InvalidRequestError
from openspot.custody import withdrawal_store as store
from openspot.custody.derivation import deposit_address
from openspot.domain.money import decimal_to_text
from openspot.domain.networks import Network, load_networks
from openspot.kit.clock import Clock, utc_datetime
from openspot.kit.database import Pool


class DepositsPausedError(Exception):
    """Operators have paused the deposits, so no new address is given. The message is for the user."""


class DepositAddressBook:
    """The table `custody_addresses`."""

    def __init__(
        self,
        pool: Pool,
        seed: bytes,
        networks: Mapping[str, Network],
        clock: Clock,
        *,
        confirmations: int | None = None,
    ) -> None:
        self._pool = pool
        self._seed = seed
        self._networks = networks
        self._clock = clock
        self._confirmations = confirmations
        self._own = load_networks()

    async def assign(self, user_id: str, asset: str, network: Network) -> CustodyAddress:
        """The user's address on `network`. The first call derives and stores it.

        While deposits of the coin are paused, no new one is made: raises DepositsPausedError. Raises
        InvalidRequestError if operators have just taken the coin off the network.
        """
        async with store.transaction(self._pool) as connection:
            await store.lock_named(connection, f"openspot-custody-addresses:{user_id}")
            address = await connection.fetchval(
                "SELECT address FROM custody_addresses WHERE user_id = $1 AND network = $2", user_id, network.name
            )
            pause = await pause_of(connection, asset, network.name, Direction.DEPOSITS)
            if address is None and pause is not None:
                raise DepositsPausedError(refusal_text(pause, asset, network.name))
            if address is None:
                if not self._is_ours(network.name, asset) and not await stays_listed(connection, network.name, asset):
                    raise InvalidRequestError(f"asset {asset} is not on network {network.name} any more")
                number = await connection.fetchval(
                    "SELECT nextval(pg_get_serial_sequence('custody_addresses', 'address_number'))"
                )
                address = deposit_address(self._seed, network, number)
                await connection.execute(
                    """
                    INSERT INTO custody_addresses (network, user_id, address, address_number, created_at)
                    VALUES ($1, $2, $3, $4, $5)
                    """,
                    network.name, user_id, address, number, utc_datetime(self._clock),
                )  # fmt: skip
        return self._described(user_id, asset, network, address, deposits_enabled=pause is None)

    async def of_user(self, user_id: str, asset: str | None) -> list[CustodyAddress]:
        """The addresses that were assigned to the user: one entry for each asset that they take."""
        rows = await self._pool.fetch(
            "SELECT network, address FROM custody_addresses WHERE user_id = $1 ORDER BY network", user_id
        )
        every = await pauses(self._pool)

        def is_enabled(carried: str, network: str) -> bool:
            return not any(pause.concerns(carried, network, Direction.DEPOSITS) for pause in every)

        return [
            self._described(
                user_id, carried, network, row["address"], deposits_enabled=is_enabled(carried, network.name)
            )
            for row in rows
            if (network := self._networks.get(row["network"])) is not None
            for carried in network.assets
            if asset in (None, carried)
        ]

    async def owner(self, network: str, address: str) -> str | None:
        """The user who has this deposit address; None if no user has it."""
        owner: str | None = await self._pool.fetchval(
            "SELECT user_id FROM custody_addresses WHERE network = $1 AND address = $2", network, address
        )
        return owner

    def _is_ours(self, network: str, asset: str) -> bool:
        """Whether the platform itself has the coin on the network, so that operators cannot take it off."""
        return network in self._own and asset in self._own[network].assets

    def _described(
        self, user_id: str, asset: str, network: Network, address: str, *, deposits_enabled: bool
    ) -> CustodyAddress:
        minimum = decimal_to_text(network.assets[asset].deposit_minimum)
        required = network.confirmations if self._confirmations is None else self._confirmations
        return CustodyAddress(
            user_id, asset, network.name, address, None, required, minimum, deposits_enabled=deposits_enabled
        )
