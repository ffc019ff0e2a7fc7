"""Looks over participants at the engine for operators, and freezes them.

The engine's journal notes each change with the operator's name and reason, and the trail takes it over from there.
"""

from collections.abc import Awaitable, Callable

from starlette.requests import Request

from openspot.domain.accounts import user_of_account
from openspot.engine_client.administration import Behalf
from openspot.engine_client.participant_schemas import (
    BalanceOfParticipant,
    BalancesOfParticipants,
    FreezeBody,
    ParticipantPage,
    ParticipantState,
    ParticipantView,
    RiskMetric,
    RiskMetrics,
)
from openspot.engine_client.participants import EngineParticipants
from openspot.http.context import operator
from openspot.kit.database import Pool
from openspot.rest_edge.operators.engine_calls import asked, behalf_of
from openspot.rest_edge.operators.engine_trail import EngineTrail
from openspot.rest_edge.operators.pending.rules import require_other_person
from openspot.rest_edge.operators.pending.store import linked_with


class OperatedParticipants:
    """Handles the requests about participants. Methods raise HttpError to refuse one."""

    def __init__(self, pool: Pool, engine: EngineParticipants, trail: EngineTrail) -> None:
        self._pool = pool
        self._engine = engine
        self._trail = trail

    async def page(self, limit: int, offset: int) -> ParticipantPage:
        """Participants in the order in which their accounts were made."""
        return await asked(self._engine.page(limit, offset))

    async def following(self, limit: int, cursor: str | None) -> tuple[list[ParticipantView], str | None]:
        """The participants behind a cursor, in the same order, and the cursor of the next; None begins and ends."""
        offset = int(cursor or 0)
        page = await self.page(limit, offset)
        reached = offset + len(page.participants)
        return page.participants, str(reached) if page.participants and reached < page.total else None

    async def one(self, participant_id: str) -> ParticipantView:
        """One participant. 404 for an unknown one."""
        return await asked(self._engine.one(participant_id))

    async def balances(self, participant_id: str, currency: str, limit: int) -> BalancesOfParticipants:
        """Balances of one participant or of all, in one currency or in all."""
        return await asked(self._engine.balances(participant_id, currency, limit))

    async def risk(self, participant_id: str, limit: int) -> RiskMetrics:
        """How much of each balance open orders lock, of one participant or of all, the largest share first."""
        return await asked(self._engine.risk(participant_id, limit))

    async def following_balances(
        self, participant_id: str, currency: str, limit: int, cursor: str | None
    ) -> tuple[list[BalanceOfParticipant], str | None]:
        """The balances behind a cursor in the order of their accounts, and the cursor of the next.

        None begins and ends.
        """
        page = await asked(self._engine.balance_page(participant_id, currency, limit, cursor))
        return page.balances, page.next_cursor

    async def following_risk(
        self, participant_id: str, limit: int, cursor: str | None
    ) -> tuple[list[RiskMetric], str | None]:
        """How much open orders lock of each of these balances, and the cursor of the next."""
        page = await asked(self._engine.risk_page(participant_id, limit, cursor))
        return page.metrics, page.next_cursor

    async def freeze(self, request: Request, participant_id: str, body: FreezeBody) -> ParticipantState:
        """Refuse a participant's new orders. Freezing twice changes nothing: the first reason stays.

        403 for the operator's own participant; 404; 409 for one that may not be frozen, or is inactive already.
        """
        return await self._change(request, participant_id, body, self._engine.freeze)

    async def unfreeze(self, request: Request, participant_id: str, body: FreezeBody) -> ParticipantState:
        """End a freeze. 403 for the operator's own participant; 404; 409 if it is not frozen."""
        return await self._change(request, participant_id, body, self._engine.unfreeze)

    async def _change(
        self,
        request: Request,
        participant_id: str,
        body: FreezeBody,
        change: Callable[[str, FreezeBody, Behalf], Awaitable[ParticipantState]],
    ) -> ParticipantState:
        who = operator(request).name
        require_other_person(who, user_of_account(participant_id), await linked_with(self._pool, who))
        try:
            return await asked(change(participant_id, body, behalf_of(request)))
        finally:
            await self._trail.follow_now()
