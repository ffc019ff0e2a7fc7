"""One decision on several verifications: a dry run tells what each was, and only what is still so is decided."""

import hashlib

from openspot.http.errors import HttpError
from openspot.kit.clock import iso_of
from openspot.rest_edge.funds.kyc.schemas import NAMES
from openspot.rest_edge.operators.acting import Acting
from openspot.rest_edge.operators.bulk.schemas import (
    BulkDecisionBody,
    BulkDecisionResponse,
    BulkDecisionRow,
    BulkResponse,
    VerificationState,
)
from openspot.rest_edge.operators.verification.schemas import DecisionBody
from openspot.rest_edge.operators.verification.service import Verifications


class BulkDecisions:
    """The decisions of one request."""

    def __init__(self, verifications: Verifications, body: BulkDecisionBody) -> None:
        self._verifications = verifications
        self._body = body
        self._seen = None if body.seen is None else {each.user_id: each.state for each in body.seen}
        self._was: dict[str, VerificationState] = {}

    async def decide(self, user_id: str, acting: Acting) -> None:
        """Decide on one verification.

        Raises what the single decision raises; 409 also if the request has `seen`, and not this one as it is.
        """
        was = self._was[user_id] = await self._state(user_id)
        if self._seen is not None and self._seen.get(user_id) != was.state:
            raise HttpError(409, "it is not as the dry run told it: look at it again", "KYC_VERIFICATION_CHANGED")
        # What this row says that it was is what is decided on: what changes from now on refuses it.
        decision = DecisionBody(decision=self._body.decision, level=self._body.level, reason=self._body.reason)
        decision = decision.model_copy(update={"documents": was.documents, "updated_at": was.updated_at})
        await self._verifications.decide(user_id, decision, acting)

    def described(self, outcome: BulkResponse) -> BulkDecisionResponse:
        """The outcome with what each verification was."""
        rows = [BulkDecisionRow(**row.model_dump(), was=self._was.get(row.id)) for row in outcome.rows]
        return BulkDecisionResponse(dry_run=outcome.dry_run, rows=rows)

    async def _state(self, user_id: str) -> VerificationState:
        profile, documents = await self._verifications.state(user_id)
        assert profile.updated_at is not None, "a verification that has begun has a time"
        status, level, updated_at = profile.standing.status, NAMES[profile.standing.level], iso_of(profile.updated_at)
        parts = [user_id, status, level, updated_at, profile.provider_reference or "", *documents]
        return VerificationState(
            status=status.value, level=level, updated_at=updated_at, documents=documents,
            state=hashlib.sha256("\n".join(parts).encode()).hexdigest(),
        )  # fmt: skip
