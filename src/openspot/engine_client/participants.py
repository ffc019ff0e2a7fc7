"""Looks over participants at the engine, for an operator whom the caller has authenticated."""

from urllib.parse import quote, urlencode

from openspot.engine_client.administration import Behalf, EngineAdministration
from openspot.engine_client.participant_schemas import (
    BalancePage,
    BalancesOfParticipants,
    FreezeBody,
    ParticipantPage,
    ParticipantState,
    ParticipantView,
    RiskMetrics,
    RiskPage,
)


class EngineParticipants(EngineAdministration):
    """The participants of one engine. Methods raise ChangeRefusedError, and EngineError if it does not answer."""

    async def risk(self, participant_id: str, limit: int) -> RiskMetrics:
        """How much of each balance open orders lock, of one participant or of all without one, at most `limit`."""
        return await self.call("GET", f"/risk-metrics?{_query(participantId=participant_id, limit=limit)}", RiskMetrics)

    async def page(self, limit: int, offset: int) -> ParticipantPage:
        """Participants in the order in which their accounts were made."""
        return await self.call("GET", f"/participants?{_query(limit=limit, offset=offset)}", ParticipantPage)

    async def one(self, participant_id: str) -> ParticipantView:
        """One participant."""
        return await self.call("GET", f"/participants/{_name(participant_id)}", ParticipantView)

    async def balances(self, participant_id: str, currency: str, limit: int) -> BalancesOfParticipants:
        """Balances of one participant or of all, in one currency or in all, at most `limit`."""
        query = _query(participantId=participant_id, currency=currency, limit=limit)
        return await self.call("GET", f"/balances?{query}", BalancesOfParticipants)

    async def balance_page(self, participant_id: str, currency: str, limit: int, cursor: str | None) -> BalancePage:
        """At most `limit` balances behind a cursor, in the order of their accounts, of one participant or of all."""
        query = _query(participantId=participant_id, currency=currency, limit=limit, cursor=cursor or "")
        return await self.call("GET", f"/balances/pages?{query}", BalancePage)

    async def risk_page(self, participant_id: str, limit: int, cursor: str | None) -> RiskPage:
        """How much open orders lock of at most `limit` balances behind a cursor, in the order of their accounts."""
        query = _query(participantId=participant_id, limit=limit, cursor=cursor or "")
        return await self.call("GET", f"/risk-metrics/pages?{query}", RiskPage)

    async def freeze(self, participant_id: str, body: FreezeBody, behalf: Behalf) -> ParticipantState:
        """Refuse a participant's new orders."""
        return await self.call("PUT", _freeze(participant_id), ParticipantState, body.model_dump(), behalf)

    async def unfreeze(self, participant_id: str, body: FreezeBody, behalf: Behalf) -> ParticipantState:
        """Take new orders of a frozen participant again."""
        return await self.call("DELETE", _freeze(participant_id), ParticipantState, body.model_dump(), behalf)


def _query(**parameters: str | int) -> str:
    return urlencode({name: value for name, value in parameters.items() if value != ""})


def _name(participant_id: str) -> str:
    return quote(participant_id, safe="")


def _freeze(participant_id: str) -> str:
    return f"/participants/{_name(participant_id)}/freeze"
