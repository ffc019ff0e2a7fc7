"""Documents of a verification: users upload them while a check is open, and never see their content again."""

import asyncio
import os
from datetime import timedelta

from prometheus_client import Gauge

from openspot.contracts.messages import SendNotification
from openspot.domain.ids import short_id
from openspot.http.context import RequestContext
from openspot.http.errors import HttpError, service_unavailable, validation_error
from openspot.kit.clock import Clock, ms_from_datetime, utc_datetime
from openspot.kit.database import Connection
from openspot.kit.log import get_logger
from openspot.rest_edge.funds.documents.content import ContentError, media_type_of
from openspot.rest_edge.funds.documents.receiving import Uploads
from openspot.rest_edge.funds.documents.rules import DocumentKind, MediaType, fault_of_name
from openspot.rest_edge.funds.documents.schemas import KycDocumentResponse, KycDocumentsResponse, described
from openspot.rest_edge.funds.documents.store import DocumentStore, NewDocument, check_not_open
from openspot.rest_edge.funds.kyc.provider import Provider
from openspot.rest_edge.funds.kyc.store import KycStore
from openspot.rest_edge.notifications.store import NotificationStore, OutboxFullError

log = get_logger("kyc-documents")

DOCUMENT_ID_LENGTH = 20
DELETED_AT_A_TIME = 100
STORED_AT_A_TIME = 2
"""To seal and store a document takes several times its size of memory."""
CLOSED_AT_A_TIME = 100
FILLED = Gauge("openspot_edge_documents_filled", "Part of the place for documents of verifications that is taken, to 1")
CLOSED_TITLE = "Verification closed"
CLOSED_TEXT = (
    "Your verification was closed, because nothing has happened in it for a long time. Its documents were deleted. "
    "You can start it again."
)


class DocumentService:
    """Handles the requests to the routes of documents. Methods raise HttpError to refuse a request."""

    def __init__(
        self,
        store: DocumentStore,
        profiles: KycStore,
        provider: Provider | None,
        *,
        bytes_max: int,
        documents_max: int,
        kept: timedelta,
        bytes_together_max: int,
        abandoned_after: timedelta,
        notifications: NotificationStore,
        clock: Clock,
    ) -> None:
        """Documents are deleted when they were `kept` for that long after the decision.

        A check in which nothing happened for `abandoned_after` is closed; without a length, none is.
        """
        self._store = store
        self._profiles = profiles
        self._provider = provider
        self._bytes_max = bytes_max
        self._documents_max = documents_max
        self._kept = kept
        self._bytes_together_max = bytes_together_max
        self._abandoned_after = abandoned_after
        self._notifications = notifications
        self._clock = clock
        self._uploads = Uploads(bytes_max)
        self._storing = asyncio.Semaphore(STORED_AT_A_TIME)

    async def documents(self, user_id: str) -> KycDocumentsResponse:
        """The user's documents of the check that began last, and whether more are taken."""
        outside = self._provider if self._provider is not None and self._provider.takes_documents else None
        reference = (await self._profiles.get(user_id)).provider_reference
        is_taken = self._provider is not None and outside is None and await self._store.open_check(user_id) is not None
        return KycDocumentsResponse(
            is_taken=is_taken,
            provider=None if outside is None else outside.name,
            bytes_max=self._bytes_max,
            documents_max=self._documents_max,
            documents=[described(each) for each in await self._store.newest(user_id) if each.reference == reference],
        )

    async def add(
        self, user_id: str, kind: DocumentKind, name: str | None, replaces: str | None, context: RequestContext
    ) -> tuple[KycDocumentResponse, bool]:
        """Take the document in the request's body. Returns it, and whether it is new.

        Raises HttpError: 400 for a content or a name that is not taken, 404 if there is nothing to replace, 408, 409,
        413 and 415; 503 without a provider or without a place. What is refused leaves nothing.
        """
        try:
            await self._require_taken(user_id)
            _require_media_type(context)
            fault = fault_of_name(name) if name is not None else ""
            if fault:
                raise validation_error([f"name {fault}"])
            async with self._uploads.received(user_id, context) as content, self._storing:
                try:
                    media_type = await asyncio.to_thread(media_type_of, content)
                except ContentError as error:
                    raise HttpError(400, str(error), "KYC_DOCUMENT_INVALID") from error
                document_id = short_id(os.urandom(DOCUMENT_ID_LENGTH), DOCUMENT_ID_LENGTH)
                new = NewDocument(
                    document_id=document_id, user_id=user_id, kind=kind, media_type=media_type, name=name or None,
                    content=content,
                )  # fmt: skip
                document, is_new = await self._store.add(new, replaces, utc_datetime(self._clock))
        except HttpError as error:
            # Whoever sends a file of the right size is to see why it is refused.
            if error.status_code not in (408, 413):
                await context.discard_body(self._bytes_max)
            raise
        log.info("document uploaded", user_id=user_id, document_id=document.document_id, kind=kind, is_new=is_new)
        return described(document), is_new

    async def withdraw(self, user_id: str, document_id: str) -> None:
        """Delete a document that nobody has decided on. 404 if there is none, 409 after a decision."""
        await self._store.withdraw(user_id, document_id)
        log.info("document withdrawn", user_id=user_id, document_id=document_id)

    async def delete_expired(self) -> None:
        """Delete the documents that were kept for long enough after the decision, some at a time."""
        before = utc_datetime(self._clock) - self._kept
        while deleted := await self._store.delete_kept_since(before, DELETED_AT_A_TIME):
            log.info("documents deleted that were kept long enough", documents=deleted)

    async def close_abandoned(self) -> None:
        """Close the checks in which nobody has done anything for too long, some at a time, and delete their documents.

        What an outside provider checks is left to the provider.
        """
        if not self._abandoned_after or (self._provider is not None and self._provider.takes_documents):
            return
        now = utc_datetime(self._clock)
        before = now - self._abandoned_after
        while closed := await self._store.close_abandoned(before, CLOSED_AT_A_TIME, now, self._notify_of_closing):
            self._notifications.added.set()
            log.info("checks closed in which nothing happened", checks=closed)

    async def measure(self) -> None:
        """Show how full the place for documents is: operators are alerted before it is full."""
        FILLED.set(await self._store.bytes_kept() / self._bytes_together_max)

    async def _notify_of_closing(self, connection: Connection, user_id: str) -> None:
        now = utc_datetime(self._clock)
        notice = SendNotification(
            f"verification.closed:{user_id}:{ms_from_datetime(now)}", user_id, "verification.closed", CLOSED_TITLE,
            CLOSED_TEXT, ms_from_datetime(now),
        )  # fmt: skip
        try:
            await self._notifications.add(notice, connection)
        except OutboxFullError:
            log.error("mail about a closed check not queued", user_id=user_id)

    async def _require_taken(self, user_id: str) -> None:
        """Refuse before the body is read, so that nobody uploads in vain."""
        if self._provider is None:
            raise service_unavailable("no provider of verification is set up", "KYC_PROVIDER_UNAVAILABLE")
        if self._provider.takes_documents:
            raise HttpError(
                409, f"the provider {self._provider.name} takes the documents: go on there",
                "KYC_PROVIDER_TAKES_DOCUMENTS",
            )  # fmt: skip
        if await self._store.open_check(user_id) is None:
            raise check_not_open()


def _require_media_type(context: RequestContext) -> None:
    """Raise HttpError (415) unless the request says that its body is a file. What it is, the content decides."""
    given = context.content_type.partition(b";")[0].strip().lower().decode("latin-1")
    if given not in [media_type.value for media_type in MediaType]:
        raise HttpError(415, f"the body must be a file: Content-Type one of {', '.join(MediaType)}")
