"""Withdrawal fees by network (`domain/networks.toml`), and quotes that pin a fee for five minutes."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal

from openspot.coin_networks.pauses import Direction, FollowedPauses
from openspot.domain.ids import short_id
from openspot.domain.market import AssetScale
from openspot.domain.money import amount_to_text, to_amount
from openspot.domain.networks import Network, NetworkAsset
from openspot.http.errors import HttpError, validation_error
from openspot.kit.clock import Clock, iso_of, utc_datetime
from openspot.kit.database import Pool
from openspot.kit.sql import numeric
from openspot.rest_edge.common.amounts import amount_of_asset
from openspot.rest_edge.funds.fees.schemas import NetworkFeeQuoteResponse, NetworkFeeResponse

QUOTE_LIFE = timedelta(minutes=5)
_RANDOM_BYTES = 16


@dataclass(frozen=True, slots=True)
class PinnedFee:
    """The quoted fee and the least amount of a withdrawal, in units of 18 places."""

    fee: int
    minimum: int


class FeeQuotes:
    """The table `fee_quotes`. A quote may be used for several withdrawals until it expires."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    async def pin(self, user_id: str, asset: str, network: str, pinned: PinnedFee, expires_at: datetime) -> str:
        """Store a quote and return its id."""
        quote_id = short_id(os.urandom(_RANDOM_BYTES))
        await self._pool.execute(
            "INSERT INTO fee_quotes (quote_id, user_id, asset, network, fee, minimum, expires_at)"
            " VALUES ($1, $2, $3, $4, $5, $6, $7)",
            quote_id,
            user_id,
            asset,
            network,
            numeric(pinned.fee),
            numeric(pinned.minimum),
            expires_at,
        )
        return quote_id

    async def find(self, quote_id: str, user_id: str, asset: str, network: str, now: datetime) -> PinnedFee | None:
        """The pinned fee. None if the user has no such quote for this asset and network, or if it has expired."""
        row = await self._pool.fetchrow(
            "SELECT fee, minimum FROM fee_quotes WHERE quote_id = $1 AND user_id = $2 AND asset = $3 AND network = $4"
            " AND expires_at > $5",
            quote_id,
            user_id,
            asset,
            network,
            now,
        )
        return None if row is None else PinnedFee(to_amount(row["fee"]), to_amount(row["minimum"]))

    async def delete_expired(self, now: datetime) -> None:
        """Delete the expired quotes."""
        await self._pool.execute("DELETE FROM fee_quotes WHERE expires_at <= $1", now)


class WithdrawalFees:
    """Finds the fee of a withdrawal: the pinned fee of a quote, else the configured one."""

    def __init__(self, quotes: FeeQuotes, clock: Clock) -> None:
        self._quotes = quotes
        self._clock = clock

    async def fee(self, user_id: str, network: Network, asset: str, quote_id: str | None) -> Decimal:
        """The fee, in the asset. Raises HttpError (409) for a quote that is not the user's or has expired."""
        if quote_id is None:
            return network.assets[asset].fee
        pinned = await self._quotes.find(quote_id, user_id, asset, network.name, utc_datetime(self._clock))
        if pinned is None:
            raise HttpError(409, "feeQuoteId is unknown or has expired", "FEE_QUOTE_INVALID")
        return numeric(pinned.fee)


class NetworkFeeService:
    """Handles the requests to the routes of network fees. Methods raise HttpError to refuse a request."""

    def __init__(
        self,
        quotes: FeeQuotes,
        networks: Mapping[str, Network],
        pauses: FollowedPauses,
        assets: Mapping[str, AssetScale],
        clock: Clock,
    ) -> None:
        self._quotes = quotes
        self._networks = networks
        self._pauses = pauses
        self._assets = assets
        self._clock = clock

    def all(self) -> list[NetworkFeeResponse]:
        """Every fee, by asset and network."""
        rows = [
            self._response(network, asset) for network in self._networks.values() for asset in network.assets.values()
        ]
        return sorted(rows, key=lambda row: (row.asset, row.network))

    def _response(self, network: Network, asset: NetworkAsset) -> NetworkFeeResponse:
        deposits, withdrawals = (self._pauses.find(asset.asset, network.name, each) for each in Direction)
        notices = {pause.notice for pause in (deposits, withdrawals) if pause is not None and pause.notice}
        return NetworkFeeResponse(
            asset=asset.asset,
            network=network.name,
            fee=amount_to_text(to_amount(asset.fee)),
            minimum=amount_to_text(to_amount(asset.minimum)),
            places=self._assets[asset.asset].places,
            fiat=network.is_fiat,
            deposits_enabled=deposits is None,
            withdrawals_enabled=withdrawals is None,
            notice="; ".join(sorted(notices)),
        )

    async def quote(self, user_id: str, asset: str, network: str, amount: str) -> NetworkFeeQuoteResponse:
        """Pin the fee of a withdrawal of `amount` for the user. 404 if the asset cannot leave over the network."""
        known = self._networks.get(network)
        row = known.assets.get(asset) if known is not None else None
        if row is None:
            raise HttpError(404, f"{asset} cannot be withdrawn over {network}", "NETWORK_NOT_FOUND")
        pinned = PinnedFee(to_amount(row.fee), to_amount(row.minimum))
        wanted = amount_of_asset("amount", amount, self._assets[asset])
        if wanted < pinned.minimum:
            raise validation_error([f"amount must be at least {amount_to_text(pinned.minimum)} {asset}"])
        expires_at = utc_datetime(self._clock) + QUOTE_LIFE
        quote_id = await self._quotes.pin(user_id, asset, network, pinned, expires_at)
        return NetworkFeeQuoteResponse(
            asset=asset,
            network=network,
            amount=amount_to_text(wanted),
            fee=amount_to_text(pinned.fee),
            minimum=amount_to_text(pinned.minimum),
            net_amount=amount_to_text(wanted - pinned.fee),
            fee_quote_id=quote_id,
            expires_at=iso_of(expires_at),
        )

    async def delete_expired(self) -> None:
        """Delete the expired quotes."""
        await self._quotes.delete_expired(utc_datetime(self._clock))
