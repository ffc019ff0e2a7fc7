"""Deposits on the simulated chains. A block includes them, later blocks confirm them, then custody announces them."""

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal

from openspot.coin_networks.pauses import Direction, is_paused_sql
from openspot.contracts import subjects
from openspot.contracts.messages import DepositConfirmed
from openspot.custody import withdrawal_store as store
from openspot.custody.chain import Chain, confirmations
from openspot.custody.metrics import DEPOSITS
from openspot.custody.progress import EventPublisher
from openspot.domain.market import AssetScale
from openspot.domain.money import MoneyError, decimal_to_text, parse_decimal, to_amount, to_scaled
from openspot.domain.networks import Network
from openspot.kit.clock import NANOSECONDS_PER_MS, Clock, utc_datetime
from openspot.kit.database import Pool, text_of

BATCH_MAX = 100
_IS_PAUSED = is_paused_sql(Direction.DEPOSITS, "deposit")


class ChainDepositError(ValueError):
    """A deposit cannot be made. The message names the field and the reason."""


@dataclass(frozen=True, slots=True)
class ChainDeposit:
    """A payment to a deposit address."""

    tx_hash: str
    network: str
    address: str
    asset: str
    amount: str


class Deposits:
    """Takes deposits, and announces those with enough confirmations."""

    def __init__(
        self,
        pool: Pool,
        chain: Chain,
        networks: Mapping[str, Network],
        assets: Mapping[str, AssetScale],
        clock: Clock,
        *,
        confirmations_required: int | None = None,
    ) -> None:
        self._pool = pool
        self._chain = chain
        self._networks = networks
        self._assets = assets
        self._clock = clock
        self._required = confirmations_required

    async def include(self, deposit: ChainDeposit) -> str:
        """Include a deposit in the next block and return the user's id. A hash counts once. Raises DepositError."""
        network = self._networks.get(deposit.network)
        if network is None or network.is_fiat:
            raise ChainDepositError(f"network must be one of {', '.join(_chains(self._networks))}")
        if deposit.asset not in network.assets:
            raise ChainDepositError(f"asset must be one of {', '.join(network.assets)} on {network.name}")
        amount = self._amount(deposit, network)
        now = utc_datetime(self._clock)
        async with store.transaction(self._pool) as connection:
            user_id: str | None = await connection.fetchval(
                "SELECT user_id FROM custody_addresses WHERE network = $1 AND address = $2",
                deposit.network,
                deposit.address,
            )
            if user_id is None:
                raise ChainDepositError(f"address is no deposit address on {deposit.network}")
            required = network.confirmations if self._required is None else self._required
            await connection.execute(
                """
                INSERT INTO custody_deposits VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, NULL)
                ON CONFLICT (tx_hash) DO NOTHING
                """,
                deposit.tx_hash, user_id, deposit.asset, deposit.network, deposit.address, amount,
                self._chain.height(now) + 1, required, now,
            )  # fmt: skip
        return user_id

    async def announce_confirmed(self, bus: EventPublisher) -> int:
        """Publish the deposits with enough confirmations, and return their number. After a BusError, call it again.

        Those that operators have paused wait: the first call after the pause publishes them.
        """
        # Nearly always nothing waits, and this takes one round trip instead of three.
        if not await self._pool.fetchval("SELECT EXISTS (SELECT FROM custody_deposits WHERE confirmed_at IS NULL)"):
            return 0
        now = utc_datetime(self._clock)
        height = self._chain.height(now)
        announced = 0
        async with store.transaction(self._pool) as connection:
            rows = await connection.fetch(
                f"""
                SELECT tx_hash, user_id, asset, network, address, amount, height FROM custody_deposits AS deposit
                WHERE confirmed_at IS NULL AND $1 - height + 1 >= required_confirmations AND NOT {_IS_PAUSED}
                ORDER BY created_at LIMIT $2 FOR UPDATE SKIP LOCKED
                """,  # noqa: S608  (constant text)
                height,
                BATCH_MAX,
            )
            for row in rows:
                event = DepositConfirmed(
                    tx_hash=row["tx_hash"],
                    user_id=row["user_id"],
                    asset=row["asset"],
                    amount=text_of(row["amount"]),
                    address=row["address"],
                    network=row["network"],
                    confirmations=confirmations(height, row["height"]),
                    timestamp=self._clock() // NANOSECONDS_PER_MS,
                )
                # If a kill prevents the commit, the deposit is published again. The bridge counts its hash once.
                await bus.publish(subjects.CUSTODY_DEPOSIT_CONFIRMED, event, f"deposit-{row['tx_hash']}")
                await connection.execute(
                    "UPDATE custody_deposits SET confirmed_at = $2 WHERE tx_hash = $1", row["tx_hash"], now
                )
                announced += 1
        DEPOSITS.inc(announced)
        return announced

    def _amount(self, deposit: ChainDeposit, network: Network) -> Decimal:
        minimum = network.assets[deposit.asset].deposit_minimum
        try:
            amount = parse_decimal(deposit.amount)
            to_amount(amount)
            to_scaled(amount, 10 ** self._assets[deposit.asset].places)
        except MoneyError as error:
            raise ChainDepositError(f"amount {error}") from error
        if amount < minimum:
            raise ChainDepositError(f"amount must be at least {decimal_to_text(minimum)} {deposit.asset}")
        return amount


def _chains(networks: Mapping[str, Network]) -> list[str]:
    return [name for name, network in networks.items() if not network.is_fiat]
