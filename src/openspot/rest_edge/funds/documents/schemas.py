"""Bodies of the routes of documents."""

from openspot.contracts.messages.message import TimeText
from openspot.http.validation import ResponseBody
from openspot.kit.clock import iso_of
from openspot.rest_edge.funds.documents.rules import DocumentKind, MediaType
from openspot.rest_edge.funds.documents.store import Document

DOCUMENT_ID_PATTERN = r"^[A-Za-z0-9]{20}$"


class KycDocumentResponse(ResponseBody):
    """A document. `size` is in bytes, `sha256` in hex; `name` is what the file was called, null if that was not said.

    `decidedAt` is when the check that it belongs to was decided, null before that: until then it can be replaced and
    withdrawn. Times are ISO 8601 in UTC.
    """

    id: str
    kind: DocumentKind
    media_type: MediaType
    size: int
    sha256: str
    name: str | None
    uploaded_at: TimeText
    decided_at: TimeText | None


class KycDocumentsResponse(ResponseBody):
    """The caller's documents of the check that began last, the oldest first.

    `isTaken` says whether a document can be uploaded now. `provider` names the outside provider that takes documents
    in the exchange's place, null if the exchange takes them. `bytesMax` is the largest file in bytes, `documentsMax`
    how many documents may wait for a decision.
    """

    is_taken: bool
    provider: str | None
    bytes_max: int
    documents_max: int
    documents: list[KycDocumentResponse]


class WithdrawnResponse(ResponseBody):
    """The document is deleted."""

    success: bool


def described(document: Document) -> KycDocumentResponse:
    """A document as its routes show it."""
    return KycDocumentResponse(
        id=document.document_id,
        kind=document.kind,
        media_type=document.media_type,
        size=document.size,
        sha256=document.sha256,
        name=document.name,
        uploaded_at=iso_of(document.uploaded_at),
        decided_at=None if document.decided_at is None else iso_of(document.decided_at),
    )
