"""The table `kyc_documents`. Contents and the names of files are stored sealed.

Whatever adds, removes or decides on documents of a user holds the lock of the user's row in `kyc_profiles`. So the
bounds hold when several requests come at a time, and no document changes while somebody decides on it.
"""

import asyncio
import hashlib
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from openspot.http.errors import HttpError, service_unavailable
from openspot.kit.database import Connection, Pool
from openspot.kit.sealing import Sealer, UnsealError
from openspot.rest_edge.funds.documents.rules import DocumentKind, MediaType
from openspot.rest_edge.funds.kyc.rules import OPEN_STATES, KycLevel, KycState

DOCUMENTS_SHOWN_MAX = 200
_COLUMNS = "document_id, user_id, reference, kind, media_type, size, sha256, uploaded_at, decided_at, sealed_name"
_CHECK = """
    SELECT provider_reference FROM kyc_profiles
    WHERE user_id = $1 AND status = ANY($2::text[]) AND provider_reference IS NOT NULL
"""
_OPEN = [state.value for state in OPEN_STATES]
_KEPT = "SELECT coalesce(sum(size::bigint), 0)::bigint FROM kyc_documents"
# The rows stay locked, so nobody uploads to, or decides on, a check that is being closed. It waits for nobody: a user
# who is being deleted, or decided on, is passed over.
_ABANDONED = """
    SELECT user_id FROM kyc_profiles AS profile JOIN users USING (user_id)
    WHERE status = ANY($1::text[]) AND level < $2 AND updated_at < $3
        AND NOT EXISTS (SELECT FROM kyc_documents WHERE user_id = profile.user_id AND uploaded_at >= $3)
    ORDER BY updated_at LIMIT $4 FOR SHARE OF users SKIP LOCKED FOR UPDATE OF profile SKIP LOCKED
"""
_UPLOADED = "SELECT DISTINCT user_id FROM kyc_documents WHERE user_id = ANY($1::text[]) AND uploaded_at >= $2"
_CLOSE = """
    UPDATE kyc_profiles SET status = $2, requested_level = NULL, provider_reference = NULL, updated_at = $3
    WHERE user_id = $1
"""
Notify = Callable[[Connection, str], Awaitable[None]]
"""Writes the notice of a check that is closed, in the transaction of the change."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """A document without its content. `size` is in bytes. `name` is what the user's file was called.

    It is None if that is unknown, or sealed with a secret that is lost. `reference` names the check that it belongs to;
    `decided_at` is None as long as nobody has decided on it.
    """

    document_id: str
    user_id: str
    reference: str
    kind: DocumentKind
    media_type: MediaType
    size: int
    sha256: str
    uploaded_at: datetime
    decided_at: datetime | None
    name: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class NewDocument:
    """What a user uploads."""

    document_id: str
    user_id: str
    kind: DocumentKind
    media_type: MediaType
    name: str | None
    content: bytes


@dataclass(frozen=True, slots=True)
class DocumentBounds:
    """How many documents of one user may wait for a decision, and how many bytes may be kept.

    `bytes_user_max` are those of one user, `bytes_together_max` those of all. Both count what was decided on, too.
    """

    documents_max: int
    bytes_user_max: int
    bytes_together_max: int


def no_such_document() -> HttpError:
    """The refusal of an id that names no document of this user."""
    return HttpError(404, "there is no such document", "KYC_DOCUMENT_NOT_FOUND")


def check_not_open() -> HttpError:
    """The refusal of a document without a check that it could belong to."""
    return HttpError(409, "documents are taken while a check is open: start one", "KYC_CHECK_NOT_OPEN")


class DocumentStore:
    """Documents of users."""

    def __init__(self, pool: Pool, sealer: Sealer, bounds: DocumentBounds) -> None:
        self._pool = pool
        self._sealer = sealer
        self._bounds = bounds

    async def open_check(self, user_id: str) -> str | None:
        """The reference of the user's check, None if none is open."""
        reference: str | None = await self._pool.fetchval(_CHECK, user_id, _OPEN)
        return reference

    async def newest(self, user_id: str) -> list[Document]:
        """The documents that the user uploaded last, at most DOCUMENTS_SHOWN_MAX, the oldest of them first."""
        query = f"""
            SELECT {_COLUMNS} FROM kyc_documents WHERE user_id = $1 ORDER BY uploaded_at DESC, document_id LIMIT $2
        """  # noqa: S608
        rows = await self._pool.fetch(query, user_id, DOCUMENTS_SHOWN_MAX)
        return [self._document(row) for row in reversed(rows)]

    async def find(self, user_id: str, document_id: str) -> Document:
        """One document of the user. Raises HttpError (404)."""
        query = f"SELECT {_COLUMNS} FROM kyc_documents WHERE user_id = $1 AND document_id = $2"  # noqa: S608
        row = await self._pool.fetchrow(query, user_id, document_id)
        if row is None:
            raise no_such_document()
        return self._document(row)

    async def content(self, document: Document) -> bytes:
        """The content of a document, in clear. Raises HttpError (404), or UnsealError with another sealing secret."""
        query = "SELECT sealed_content FROM kyc_documents WHERE user_id = $1 AND document_id = $2"
        sealed: bytes | None = await self._pool.fetchval(query, document.user_id, document.document_id)
        if sealed is None:
            raise no_such_document()
        purpose = content_purpose(document.user_id, document.document_id)
        return await asyncio.to_thread(self._sealer.open, sealed, purpose)

    async def add(self, new: NewDocument, replaces: str | None, now: datetime) -> tuple[Document, bool]:
        """Add a document to the user's open check, in the place of the one whose id is `replaces`.

        Returns the document, and whether it is new: the same content of the same kind is kept once. Raises HttpError:
        404 if `replaces` is no document that may be changed, 409 if no check is open or the user has as many as
        allowed or too many bytes, 503 if all users together have.
        """
        sha256, sealed = await asyncio.to_thread(self._prepared, new)
        name = None if new.name is None else self._sealer.seal(new.name.encode(), name_purpose(new.document_id))
        async with self._pool.acquire() as connection, connection.transaction():
            reference = await connection.fetchval(f"{_CHECK} FOR UPDATE", new.user_id, _OPEN)
            if reference is None:
                raise check_not_open()
            same = await connection.fetchrow(
                f"""
                SELECT {_COLUMNS} FROM kyc_documents
                WHERE user_id = $1 AND reference = $2 AND kind = $3 AND sha256 = $4
                """,  # noqa: S608
                new.user_id, reference, new.kind.value, sha256,
            )  # fmt: skip
            if same is not None:
                # A repetition whose first run has replaced the other one already finds itself.
                if replaces is not None and replaces != same["document_id"]:
                    await _remove(connection, new.user_id, replaces)
                return self._document(same), False
            if replaces is not None and not await _remove(connection, new.user_id, replaces):
                raise no_such_document()
            await self._require_place(connection, new)
            row = await connection.fetchrow(
                f"""
                INSERT INTO kyc_documents ({_COLUMNS}, sealed_content)
                VALUES ($1, $2, $3, $4, $5, $6, $7, $8, NULL, $9, $10) RETURNING {_COLUMNS}
                """,  # noqa: S608
                new.document_id, new.user_id, reference, new.kind.value, new.media_type.value, len(new.content), sha256,
                now, name, sealed,
            )  # fmt: skip
        return self._document(row), True

    async def withdraw(self, user_id: str, document_id: str) -> None:
        """Delete a document that nobody has decided on. Raises HttpError: 404, or 409 after a decision."""
        async with self._pool.acquire() as connection, connection.transaction():
            await connection.execute("SELECT FROM kyc_profiles WHERE user_id = $1 FOR UPDATE", user_id)
            if await _remove(connection, user_id, document_id):
                return
        await self.find(user_id, document_id)
        raise HttpError(409, "the document was decided on: it stays as it is", "KYC_DOCUMENT_DECIDED")

    async def delete_kept_since(self, decided_before: datetime, most: int) -> int:
        """Delete at most `most` documents that were decided on before a time. Returns how many."""
        rows = await self._pool.fetch(
            """
            DELETE FROM kyc_documents WHERE document_id IN (
                SELECT document_id FROM kyc_documents WHERE decided_at < $1
                ORDER BY decided_at LIMIT $2 FOR UPDATE SKIP LOCKED
            ) RETURNING document_id
            """,
            decided_before,
            most,
        )
        return len(rows)

    async def bytes_kept(self) -> int:
        """The bytes of all documents."""
        kept: int = await self._pool.fetchval(_KEPT)
        return kept

    async def close_abandoned(self, before: datetime, most: int, now: datetime, notify: Notify) -> int:
        """Close at most `most` open checks of users below the highest level in which nothing happened since `before`.

        Their documents are deleted, and `notify` writes the notice of each in the same transaction. Returns how many.
        """
        async with self._pool.acquire() as connection, connection.transaction():
            found = await connection.fetch(_ABANDONED, _OPEN, KycLevel.VERIFIED, before, most)
            locked = [row["user_id"] for row in found]
            # Whoever uploaded while the locks were taken has done something.
            busy = {row["user_id"] for row in await connection.fetch(_UPLOADED, locked, before)}
            abandoned = [user_id for user_id in locked if user_id not in busy]
            for user_id in abandoned:
                await connection.execute("DELETE FROM kyc_documents WHERE user_id = $1 AND decided_at IS NULL", user_id)
                await connection.execute(_CLOSE, user_id, KycState.NOT_STARTED.value, now)
                await notify(connection, user_id)
        return len(abandoned)

    def _prepared(self, new: NewDocument) -> tuple[str, bytes]:
        sealed = self._sealer.seal(new.content, content_purpose(new.user_id, new.document_id))
        return hashlib.sha256(new.content).hexdigest(), sealed

    async def _require_place(self, connection: Connection, new: NewDocument) -> None:
        most = self._bounds.documents_max
        waiting = "SELECT count(*) FROM kyc_documents WHERE user_id = $1 AND decided_at IS NULL"
        if await connection.fetchval(waiting, new.user_id) >= most:
            raise HttpError(
                409, f"you have {most} documents that wait: replace or withdraw one", "KYC_DOCUMENTS_MAX",
                details={"max": most},
            )  # fmt: skip
        most = self._bounds.bytes_user_max
        own = await connection.fetchval(f"{_KEPT} WHERE user_id = $1", new.user_id) + len(new.content)
        if own > most:
            raise HttpError(
                409,
                f"your documents would have {own:,} bytes, and at most {most:,} are kept: withdraw one that waits, or "
                "send a smaller file",
                "KYC_DOCUMENTS_BYTES_MAX",
                details={"max": most},
            )
        kept = await connection.fetchval(_KEPT)
        if kept + len(new.content) > self._bounds.bytes_together_max:
            raise service_unavailable(
                "the exchange has no place for more documents now: nothing was kept, send it again tomorrow, or ask "
                "its support",
                "KYC_STORAGE_FULL",
            )

    def _document(self, row: Any) -> Document:
        fields = dict(row)
        sealed: bytes | None = fields.pop("sealed_name")
        try:
            name = None if sealed is None else self._sealer.open(sealed, name_purpose(row["document_id"])).decode()
        except UnsealError:
            # Whoever has lost the sealing secret still sees which documents there are.
            name = None
        fields["kind"], fields["media_type"] = DocumentKind(row["kind"]), MediaType(row["media_type"])
        return Document(**fields, name=name)


async def hashes_of_check(connection: Connection, user_id: str, reference: str | None) -> list[str]:
    """SHA-256 of the documents of a check, in order. The caller holds the lock of the user's profile."""
    rows = await connection.fetch(
        """
        SELECT DISTINCT sha256 FROM kyc_documents WHERE user_id = $1 AND reference = $2 ORDER BY sha256 LIMIT $3
        """,
        user_id,
        reference,
        DOCUMENTS_SHOWN_MAX,
    )
    return [row["sha256"] for row in rows]


async def _remove(connection: Connection, user_id: str, document_id: str) -> bool:
    """Delete a document that nobody has decided on. False if the user has none with this id."""
    query = """
        DELETE FROM kyc_documents WHERE user_id = $1 AND document_id = $2 AND decided_at IS NULL RETURNING document_id
    """
    return await connection.fetchval(query, user_id, document_id) is not None


def content_purpose(user_id: str, document_id: str) -> str:
    """A content opens in its own row only: not as another document, nor as one of another user."""
    return f"kyc-document:{user_id}:{document_id}"


def name_purpose(document_id: str) -> str:
    """The purpose under which the name of a document's file is sealed."""
    return f"kyc-document-name:{document_id}"
