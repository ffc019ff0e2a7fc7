"""The queue of verifications.

An operator's decision counts like an event of the provider: a newer one overrides it.
"""

import asyncio
from collections.abc import Callable, Sequence
from datetime import datetime

from openspot.http.errors import HttpError
from openspot.http.paging import Page, page_of, time_and_id_of, time_place
from openspot.kit.clock import iso_of
from openspot.kit.database import Connection, Pool
from openspot.rest_edge.funds.documents.schemas import described
from openspot.rest_edge.funds.documents.store import Document, DocumentStore, hashes_of_check
from openspot.rest_edge.funds.kyc.rules import (
    KycLevel,
    KycState,
    RejectType,
    Review,
    ReviewAnswer,
    ReviewStatus,
    reviewed,
)
from openspot.rest_edge.funds.kyc.schemas import LEVELS, NAMES
from openspot.rest_edge.funds.kyc.store import KycProfile, KycStore
from openspot.rest_edge.operators.acting import Acting, record
from openspot.rest_edge.operators.pending.rules import require_other_person
from openspot.rest_edge.operators.pending.store import linked_with
from openspot.rest_edge.operators.spans import Span
from openspot.rest_edge.operators.verification import store
from openspot.rest_edge.operators.verification.schemas import (
    Decision,
    DecisionBody,
    InformationResponse,
    OperatedDocumentResponse,
    QueuedVerificationResponse,
    VerificationResponse,
)

_ANSWERS = {
    Decision.APPROVE: (ReviewStatus.COMPLETED, ReviewAnswer.GREEN, None),
    Decision.HOLD: (ReviewStatus.ON_HOLD, None, None),
    Decision.RETRY: (ReviewStatus.COMPLETED, ReviewAnswer.RED, RejectType.RETRY),
    Decision.REJECT: (ReviewStatus.COMPLETED, ReviewAnswer.RED, RejectType.FINAL),
}
READ_REASON = "opened in the queue"
OPENED_AT_A_TIME = 4
"""Documents that are read and opened at a time: each takes several times its size of memory."""


class Verifications:
    """The queue and the decisions. Methods raise HttpError: 404 for a user without a verification."""

    def __init__(self, pool: Pool, profiles: KycStore, documents: DocumentStore, now: Callable[[], datetime]) -> None:
        self._pool = pool
        self._profiles = profiles
        self._documents = documents
        self._opening = asyncio.Semaphore(OPENED_AT_A_TIME)
        self._now = now

    async def queue(
        self, status: KycState, span: Span, user_id: str | None, limit: int, cursor: str | None
    ) -> Page[QueuedVerificationResponse]:
        """A page of verifications in a state since a moment of `span`, the one that waits longest first.

        With `user_id`, only that user's.
        """
        rows = await store.queue(self._pool, status.value, span, limit + 1, time_and_id_of(cursor), user_id)
        return page_of(rows, limit, lambda row: time_place(row.waits_since, row.user_id), _queued)

    async def open(self, user_id: str, acting: Acting) -> VerificationResponse:
        """One verification with the personal information. The trail says who read it."""
        profile = await self._known(user_id)
        information = await self._profiles.information(user_id)
        documents = await self._documents.newest(user_id)
        async with self._pool.acquire() as connection, connection.transaction():
            await record(connection, acting, "verification.read", "user", user_id, {}, {})
        stated = None if information is None else InformationResponse(
            first_name=information.first_name,
            last_name=information.last_name,
            date_of_birth=information.date_of_birth.isoformat(),
            country=information.country,
            city=information.city,
            street=information.street,
            postal_code=information.postal_code,
        )  # fmt: skip
        return _described(user_id, profile, stated, documents)

    async def document(self, user_id: str, document_id: str, acting: Acting) -> tuple[Document, bytes]:
        """One document with its content. The trail says who looked at which, and why, before anybody sees it."""
        document = await self._documents.find(user_id, document_id)
        async with self._opening:
            content = await self._documents.content(document)
        opened = {"document": document_id, "kind": document.kind.value, "sha256": document.sha256}
        async with self._pool.acquire() as connection, connection.transaction():
            await record(connection, acting, "verification.document.read", "user", user_id, {}, opened)
        return document, content

    async def state(self, user_id: str) -> tuple[KycProfile, list[str]]:
        """One verification, and the SHA-256 of the documents of its check. It tells nothing that the user stated."""
        async with self._pool.acquire() as connection, connection.transaction(isolation="repeatable_read"):
            profile = await self._known(user_id, connection)
            return profile, await hashes_of_check(connection, user_id, profile.provider_reference)

    async def decide(self, user_id: str, body: DecisionBody, acting: Acting) -> VerificationResponse:
        """Decide, by the documents of the check.

        403 for one's own account; 409 to approve a level whose basic information is missing, or if the check has other
        documents, or the user states something else, than the operator has seen: its user could exchange them between
        look and decision.
        """
        operator = acting.operator.name
        require_other_person(operator, user_id, await linked_with(self._pool, operator))
        await self._known(user_id)
        now = self._now()
        status, answer, reject_type = _ANSWERS[body.decision]
        review = Review(LEVELS[body.level], status, answer, reject_type, now)
        before: list[KycProfile] = []

        def change(profile: KycProfile) -> KycProfile:
            before.append(profile)
            seen = None if profile.updated_at is None else iso_of(profile.updated_at)
            if body.updated_at is not None and body.updated_at != seen:
                raise HttpError(
                    409, "the verification has changed by now: look at it again", "KYC_VERIFICATION_CHANGED"
                )
            if body.decision is Decision.APPROVE and not profile.standing.has_basic_information:
                raise HttpError(409, "the user has not given the basic information", "KYC_BASIC_INFO_REQUIRED")
            standing = reviewed(profile.standing, review)
            return KycProfile(standing, profile.requested_level, profile.provider_reference, now)

        async def note(connection: Connection, changed: KycProfile) -> None:
            found = await hashes_of_check(connection, user_id, changed.provider_reference)
            if body.documents is not None and {*body.documents} != {*found}:
                raise HttpError(409, "the check has other documents by now: look at them", "KYC_DOCUMENTS_CHANGED")
            after = _texts(changed) | ({"documents": ",".join(found)} if found else {})
            await record(connection, acting, f"verification.{body.decision}", "user", user_id, _texts(before[0]), after)

        changed = await self._profiles.change(user_id, change, now, beside=note)
        return _described(user_id, changed, None, [])

    async def _known(self, user_id: str, connection: Connection | None = None) -> KycProfile:
        profile = await self._profiles.get(user_id, connection)
        if profile.updated_at is None:
            raise HttpError(404, f"user {user_id} has begun no verification", "VERIFICATION_NOT_FOUND")
        return profile


def _texts(profile: KycProfile) -> dict[str, str | None]:
    return {"status": profile.standing.status.value, "level": NAMES[profile.standing.level]}


def _queued(row: store.QueuedVerification) -> QueuedVerificationResponse:
    return QueuedVerificationResponse(
        user_id=row.user_id,
        level=NAMES[KycLevel(row.level)],
        status=row.status,
        requested_level=None if row.requested_level is None else NAMES[KycLevel(row.requested_level)],
        reference=row.provider_reference,
        waits_since=iso_of(row.waits_since),
        has_information=row.has_information,
        documents=row.documents,
    )


def _described(
    user_id: str, profile: KycProfile, information: InformationResponse | None, documents: Sequence[Document]
) -> VerificationResponse:
    return VerificationResponse(
        user_id=user_id,
        level=NAMES[profile.standing.level],
        status=profile.standing.status.value,
        requested_level=None if profile.requested_level is None else NAMES[profile.requested_level],
        reference=profile.provider_reference,
        updated_at=None if profile.updated_at is None else iso_of(profile.updated_at),
        information=information,
        documents=[
            OperatedDocumentResponse(
                **described(each).model_dump(), is_of_this_check=each.reference == profile.provider_reference
            )
            for each in documents
        ],
    )
