"""The lookup of trading fees (facts A2.7-01 to A2.7-09). No charged fee comes from it."""

from decimal import Decimal

from openspot.domain.fees import (
    GATEWAY_LOOKUP_VOLUME,
    GATEWAY_TIERS,
    TOKEN_HOLDER_MAKER_RATE,
    TOKEN_HOLDER_TAKER_RATE,
    gateway_tier,
)
from openspot.domain.money import BASIS_POINTS, decimal_to_text, parse_decimal
from openspot.engine_client.errors import EngineError
from openspot.engine_client.queries import EngineQueries
from openspot.http.errors import service_unavailable
from openspot.rest_edge.funds.fees.schemas import TierResponse, TokenHolderResponse, TradingFeesResponse


class TradingFeeService:
    """Looks up the rates of a user. `token` is the platform's own asset, empty if it has none."""

    def __init__(self, engine: EngineQueries, token: str, minimum: Decimal) -> None:
        self._engine = engine
        self._token = token
        self._minimum = minimum

    async def lookup(self, user_id: str) -> TradingFeesResponse:
        """The rates that the lookup shows to a user. Raises HttpError (503) if the user's balance cannot be read."""
        held = Decimal(0)
        if self._token:
            try:
                balances = await self._engine.balances(user_id)
            except EngineError as error:
                raise service_unavailable("the matching engine does not respond") from error
            held = sum((parse_decimal(row.total) for row in balances if row.asset == self._token), Decimal(0))
        return trading_fees(self._token, self._minimum, held)


def trading_fees(token: str, minimum: Decimal, held: Decimal) -> TradingFeesResponse:
    """The tier of the fixed volume, whatever the user traded (fact A2.7-02). A token holder has the holder's rates."""
    tier = gateway_tier(GATEWAY_LOOKUP_VOLUME)
    is_holder = bool(token) and held >= minimum
    return TradingFeesResponse(
        tier=tier.name,
        volume30d=decimal_to_text(GATEWAY_LOOKUP_VOLUME),
        maker_rate=decimal_to_text(TOKEN_HOLDER_MAKER_RATE) if is_holder else _rate(tier.maker_bps),
        taker_rate=decimal_to_text(TOKEN_HOLDER_TAKER_RATE) if is_holder else _rate(tier.taker_bps),
        token_holder=TokenHolderResponse(
            asset=token or None,
            minimum=decimal_to_text(minimum),
            maker_rate=decimal_to_text(TOKEN_HOLDER_MAKER_RATE),
            taker_rate=decimal_to_text(TOKEN_HOLDER_TAKER_RATE),
            is_holder=is_holder,
        ),
        tiers=[
            TierResponse(
                name=row.name,
                volume_min=decimal_to_text(row.volume_min),
                maker_rate=_rate(row.maker_bps),
                taker_rate=_rate(row.taker_bps),
            )
            for row in GATEWAY_TIERS
        ],
    )


def _rate(bps: int) -> str:
    return decimal_to_text(Decimal(bps) / BASIS_POINTS)
