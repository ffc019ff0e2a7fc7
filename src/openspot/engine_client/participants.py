"""Looks over participants at the engine, for an operator whom the caller has authenticated."""

from urllib.parse import quote, urlencode

from openspot.engine_client.administration import Behalf, EngineAdministration
from openspot.engine_client.participant_schemas import FreezeBody, ParticipantState, RiskMetrics


class EngineParticipants(EngineAdministration):
    """The participants of one engine. Methods raise ChangeRefusedError, and EngineError if it does not answer."""

    async def risk(self, participant_id: str, limit: int) -> RiskMetrics:
        """How much of each balance open orders lock, of one participant or of all without one, at most `limit`."""
        query = urlencode(({"participantId": participant_id} if participant_id else {}) | {"limit": str(limit)})
        return await self.call("GET", f"/risk-metrics?{query}", RiskMetrics)

    async def freeze(self, participant_id: str, body: FreezeBody, behalf: Behalf) -> ParticipantState:
        """Refuse a participant's new orders."""
        return await self.call("PUT", _freeze(participant_id), ParticipantState, body.model_dump(), behalf)

    async def unfreeze(self, participant_id: str, body: FreezeBody, behalf: Behalf) -> ParticipantState:
        """Take new orders of a frozen participant again."""
        return await self.call("DELETE", _freeze(participant_id), ParticipantState, body.model_dump(), behalf)


def _freeze(participant_id: str) -> str:
    return f"/participants/{quote(participant_id, safe='')}/freeze"
