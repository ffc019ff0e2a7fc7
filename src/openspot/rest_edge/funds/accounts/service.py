"""Balances: the engine's, or else those of the ledger's mirror, which are marked as such (fact B4.1-13)."""

from collections.abc import Container

from openspot.contracts import subjects
from openspot.contracts.messages import (
    LedgerBalancesReply,
    LedgerBalancesRequest,
    LedgerHistoryReply,
    LedgerHistoryRequest,
)
from openspot.contracts.refusals import RefusalCode
from openspot.domain.money import MoneyError, amount_to_text, parse_decimal, to_amount
from openspot.engine_client.errors import EngineError
from openspot.engine_client.queries import EngineBalance, EngineQueries
from openspot.http.errors import HttpError, service_unavailable, validation_error
from openspot.http.lists import unknown_cursor
from openspot.kit.bus import Bus, RequestFailedError
from openspot.kit.log import get_logger
from openspot.rest_edge.funds.accounts.schemas import Balance

log = get_logger("accounts")


class AccountService:
    """Handles the requests to the account routes. Methods raise HttpError to refuse a request."""

    def __init__(self, bus: Bus, engine: EngineQueries, known_assets: Container[str]) -> None:
        self._bus = bus
        self._engine = engine
        self._known_assets = known_assets

    async def balances(self, user_id: str) -> list[Balance]:
        """The user's balances, by asset. 503 if neither the engine nor the ledger responds."""
        try:
            rows = await self._engine.balances(user_id)
        except EngineError as error:
            log.warning("balances from the ledger's mirror", error=str(error))
            return await self._mirrored(user_id)
        return sorted((_usable(row) for row in rows), key=lambda balance: balance.asset)

    async def balance(self, user_id: str, asset: str) -> Balance:
        """The user's balance of one asset, 0 if the user has none. 404 for an asset that the platform does not have."""
        balances = await self.balances(user_id)
        for balance in balances:
            if balance.asset == asset:
                return balance
        if asset not in self._known_assets:
            raise HttpError(404, f"asset {asset} not found", "ASSET_NOT_FOUND")
        source = balances[0].source if balances else "engine"
        return Balance(asset, "0", "0", "0", "0" if source == "engine" else None, source)

    async def engine_totals(self, user_id: str) -> dict[str, str]:
        """Totals above zero by asset, from the engine alone. 503 if it does not respond."""
        try:
            rows = await self._engine.balances(user_id)
        except EngineError as error:
            raise service_unavailable("balances cannot be read now") from error
        return {row.asset: row.total for row in rows if to_amount(parse_decimal(row.total)) > 0}

    async def _mirrored(self, user_id: str) -> list[Balance]:
        try:
            reply = await self._bus.request(
                subjects.LEDGER_BALANCES_GET, LedgerBalancesRequest(user_id), LedgerBalancesReply
            )
            if reply.error is None:
                return [
                    Balance(row.asset, _sum(row.available, row.locked), row.available, row.locked, None, "ledger")
                    for row in sorted(reply.balances, key=lambda row: row.asset)
                ]
            log.warning("the ledger cannot tell balances", error=reply.error)
        except (RequestFailedError, MoneyError) as error:
            log.warning("the ledger cannot tell balances", error=str(error))
        raise service_unavailable("balances cannot be read now")

    async def transactions(self, wanted: LedgerHistoryRequest) -> LedgerHistoryReply:
        """A page of a user's ledger entries, newest first.

        400 for a cursor that the ledger did not give, and for a time out of its range; 503 if it does not respond.
        """
        try:
            reply = await self._bus.request(subjects.LEDGER_HISTORY_GET, wanted, LedgerHistoryReply)
        except RequestFailedError as error:
            raise service_unavailable("transactions cannot be read now") from error
        if reply.error is not None:
            if reply.code is RefusalCode.INVALID_CURSOR:
                raise unknown_cursor()
            if reply.code is RefusalCode.VALIDATION:
                raise validation_error([reply.error])
            log.warning("the ledger cannot tell transactions", error=reply.error)
            raise service_unavailable("transactions cannot be read now")
        return reply


def _usable(row: EngineBalance) -> Balance:
    """Convert a balance. The engine's `available` (fact A1.4-13) includes its reserve, which nobody can use."""
    usable = to_amount(parse_decimal(row.available)) - to_amount(parse_decimal(row.reserved))
    return Balance(row.asset, row.total, amount_to_text(usable), row.locked, row.reserved, "engine")


def _sum(*amounts: str) -> str:
    return amount_to_text(sum(to_amount(parse_decimal(amount)) for amount in amounts))
