"""Asks margin before a market is delisted: whether an account still needs it."""

from openspot.contracts import subjects
from openspot.contracts.messages import GetMarketNeeds, MarketNeedsReply
from openspot.http.errors import HttpError, service_unavailable
from openspot.kit.bus import Bus, RequestFailedError
from openspot.kit.log import get_logger

log = get_logger("operators")

SILENT = "margin does not say whether an account needs the market: without that it is not delisted, try again"
NEEDED = "MARKET_NEEDED_ON_MARGIN"


class MarginNeeds:
    """Questions to the margin service."""

    def __init__(self, bus: Bus) -> None:
        self._bus = bus

    async def check(self, symbol: str) -> None:
        """Raise HttpError unless margin says that no account needs a market of its own, and that none will.

        409 with the accounts, the positions, and what they hold and owe; 503 if margin does not reply.
        """
        try:
            needs = await self._bus.request(
                subjects.RISK_MARGIN_NEEDS, GetMarketNeeds(symbol), MarketNeedsReply, self._bus.nested_timeout_s
            )
        except RequestFailedError as error:
            log.warning("margin was not asked", symbol=symbol, error=str(error))
            raise service_unavailable(SILENT) from error
        if needs.error is not None:
            log.warning("margin did not answer", symbol=symbol, error=needs.error)
            raise service_unavailable(SILENT)
        if not needs.is_leaving:
            # Margin reads the engine's list at each question, so somebody has changed the market meanwhile.
            raise HttpError(409, f"version: {symbol} was changed meanwhile: look at it as it is now", "MARKET_CHANGED")
        if needs.accounts:
            raise HttpError(
                409,
                needs_text(symbol, needs),
                NEEDED,
                details={
                    "accounts": needs.accounts,
                    "positions": needs.positions,
                    "held": needs.held,
                    "owed": needs.owed,
                },
            )


def needs_text(symbol: str, needs: MarketNeedsReply) -> str:
    """Why a market is not delisted, in words."""
    reasons = [f"{needs.positions} open on it"] if needs.positions else []
    reasons += [f"{asset} held by {count}" for asset, count in needs.held.items()]
    reasons += [f"{asset} owed by {count}" for asset, count in needs.owed.items()]
    return (
        f"symbol: margin accounts need {symbol}: {needs.accounts} ({', '.join(reasons)}). Delist it when they have "
        "closed, repaid or moved it out: margin takes nothing new that needs it meanwhile"
    )
