"""The routes of documents: `/kyc/documents`."""

from typing import Annotated, Any

from fastapi import Path, Query
from starlette.requests import Request
from starlette.responses import Response

from openspot.http.context import caller, context_of
from openspot.http.policy import Access, Policy, ThrottleClass
from openspot.http.responses import json_response, respond
from openspot.http.routing import Router
from openspot.rest_edge.funds.documents.rules import ENDINGS, DocumentKind, MediaType
from openspot.rest_edge.funds.documents.schemas import (
    DOCUMENT_ID_PATTERN,
    KycDocumentResponse,
    KycDocumentsResponse,
    WithdrawnResponse,
)
from openspot.rest_edge.funds.documents.service import DocumentService
from openspot.rest_edge.funds.documents.store import Document

DocumentIdPath = Annotated[str, Path(alias="documentId", pattern=DOCUMENT_ID_PATTERN, description="Id of the document")]
KindQuery = Annotated[DocumentKind, Query(description="What the document shows")]
NameQuery = Annotated[
    str | None, Query(max_length=255, description="What the file is called, without a path; operators see it")
]
ReplacesQuery = Annotated[
    str | None, Query(pattern=DOCUMENT_ID_PATTERN, description="Id of the document that this one takes the place of")
]

# There is no scope: verification is personal, so an API key must neither do nor see this.
_READ = Policy(Access.USER)
_CHANGE = Policy(Access.USER, audit=True)
_UPLOAD = Policy(Access.USER, throttle=ThrottleClass.UPLOAD, audit=True)
_BINARY = {"schema": {"type": "string", "format": "binary"}}
FILE: dict[str, Any] = {media_type.value: _BINARY for media_type in MediaType}
"""A document as OpenAPI writes a body."""


def document_routes(prefix: str, documents: DocumentService) -> Router:
    """The routes of `/kyc/documents`, below `prefix`."""
    router = Router(f"{prefix}/kyc/documents", tag="kyc")

    @router.get(
        "", _READ, response=KycDocumentsResponse,
        summary="Your documents of the check that began last, and whether more are taken",
    )  # fmt: skip
    async def list_kyc_documents(request: Request) -> Response:
        return respond(await documents.documents(caller(request).user_id))

    @router.post(
        "", _UPLOAD, status=201, response=KycDocumentResponse, content=FILE,
        refusals={
            400: "a parameter is not valid, the file is none of JPEG, PNG, WebP and PDF, or is not whole: "
            "KYC_DOCUMENT_INVALID",
            404: "there is no document to replace: KYC_DOCUMENT_NOT_FOUND",
            408: "the file did not arrive in time",
            409: "no check is open: KYC_CHECK_NOT_OPEN; as many as allowed wait for a decision: KYC_DOCUMENTS_MAX; "
            "yours have as many bytes as are kept of one user: KYC_DOCUMENTS_BYTES_MAX; "
            "another upload of yours is under way: KYC_UPLOAD_IN_PROGRESS; or an outside provider takes documents: "
            "KYC_PROVIDER_TAKES_DOCUMENTS",
            413: "the file is too large",
            415: "the body is none of image/jpeg, image/png, image/webp and application/pdf",
            503: "no provider is set up: KYC_PROVIDER_UNAVAILABLE; too many uploads are under way: KYC_UPLOADS_BUSY; "
            "or there is no place for more documents: KYC_STORAGE_FULL",
        },
        responses={200: {"model": KycDocumentResponse, "description": "it was uploaded before"}},
        summary="Upload a document for your verification, while a check is open",
    )  # fmt: skip
    async def upload_kyc_document(
        request: Request, kind: KindQuery, name: NameQuery = None, replaces: ReplacesQuery = None
    ) -> Response:
        found, is_new = await documents.add(caller(request).user_id, kind, name, replaces, context_of(request))
        return respond(found, 201 if is_new else 200)

    @router.delete(
        "/{documentId}", _CHANGE, response=WithdrawnResponse,
        refusals={404: "you have no such document", 409: "the document was decided on: KYC_DOCUMENT_DECIDED"},
        summary="Withdraw a document that nobody has decided on",
    )  # fmt: skip
    async def withdraw_kyc_document(request: Request, document_id: DocumentIdPath) -> Response:
        await documents.withdraw(caller(request).user_id, document_id)
        return json_response({"success": True})

    return router


def file_response(document: Document, content: bytes) -> Response:
    """A document as a file that no browser runs: of the type that its content has, in a sandbox, to be saved.

    The name is the platform's own: the user's could name another type, or end the header.
    """
    name = f"{document.kind.value.replace('_', '-')}-{document.document_id}.{ENDINGS[document.media_type]}"
    return Response(
        content,
        media_type=document.media_type.value,
        headers={
            "Content-Disposition": f'attachment; filename="{name}"',
            "Content-Security-Policy": "default-src 'none'; sandbox; frame-ancestors 'none'",
            "Cross-Origin-Resource-Policy": "same-site",
        },
    )
