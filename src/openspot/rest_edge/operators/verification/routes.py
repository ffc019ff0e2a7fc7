"""The operators' routes of verification: `/operator/verifications`."""

from functools import partial
from typing import Annotated

from fastapi import Query
from starlette.requests import Request
from starlette.responses import Response

from openspot.http.lists import LIMIT_DEFAULT, NEXT_CURSOR_HEADER, Cursor, Limit
from openspot.http.paging import respond_with_page
from openspot.http.policy import Access, Permission, Policy
from openspot.http.responses import respond
from openspot.http.routing import Router
from openspot.kit.clock import utc_now
from openspot.rest_edge.funds.documents.routes import FILE, DocumentIdPath, file_response
from openspot.rest_edge.funds.kyc.rules import KycState
from openspot.rest_edge.operators.acting import acting
from openspot.rest_edge.operators.exports import Exports, WantedFileQuery
from openspot.rest_edge.operators.schemas import Reason
from openspot.rest_edge.operators.spans import Span, SpanQuery
from openspot.rest_edge.operators.table_files import TABLE_FILE, columns_of
from openspot.rest_edge.operators.user_parameters import UserPath, UserQuery
from openspot.rest_edge.operators.verification.schemas import (
    DecisionBody,
    QueuedVerificationResponse,
    VerificationResponse,
)
from openspot.rest_edge.operators.verification.service import READ_REASON, Verifications

ReasonQuery = Annotated[Reason, Query(description="Why the document is looked at; the trail keeps it")]
StatusQuery = Annotated[KycState, Query(description="Those in this state")]

_EXPORT = Policy(Access.OPERATOR, permission=Permission.USERS_EXPORT)
_READ = Policy(Access.OPERATOR, permission=Permission.KYC_READ)
_DECIDE = Policy(Access.OPERATOR, permission=Permission.KYC_DECIDE, audit=True)
_UNKNOWN = {404: "the user has begun no verification"}


def verification_routes(prefix: str, verifications: Verifications, exports: Exports) -> Router:
    """The routes of `/operator/verifications`, below `prefix`."""
    router = Router(f"{prefix}/operator/verifications", tag="operator")
    columns = columns_of(QueuedVerificationResponse)

    @router.get(
        "", _READ, response=list[QueuedVerificationResponse], headers=NEXT_CURSOR_HEADER,
        summary="Verifications in a state, the one that waits longest first",
    )  # fmt: skip
    async def list_verifications(
        span: SpanQuery,
        status: StatusQuery = KycState.PENDING,
        user_id: UserQuery = None,
        limit: Limit = LIMIT_DEFAULT,
        cursor: Cursor = None,
    ) -> Response:
        return respond_with_page(await verifications.queue(status, span, user_id, limit, cursor))

    @router.get(
        "/export", _EXPORT, responses=TABLE_FILE,
        refusals={400: "a parameter is not valid"},
        summary="Verifications in a state as a file, without what users stated, the one that waits longest first",
    )  # fmt: skip
    async def export_verifications(
        span: SpanQuery, file: WantedFileQuery, status: StatusQuery = KycState.PENDING, user_id: UserQuery = None
    ) -> Response:
        # Whatever changes moves to the end of this list: the file would meet it again.
        now = utc_now()
        read = partial(verifications.queue, status, Span(span.since, min(span.until or now, now)), user_id)
        filters = {"state": status.value, "user": user_id} | span.texts()
        return await exports.file("verifications", columns, file, filters, read, needs=Permission.KYC_READ)

    @router.get(
        "/{userId}", _READ, response=VerificationResponse, refusals=_UNKNOWN,
        summary="One verification with what the user stated; the trail notes that it was read",
    )  # fmt: skip
    async def get_verification(request: Request, user_id: UserPath) -> Response:
        return respond(await verifications.open(user_id, acting(request, READ_REASON)))

    @router.get(
        "/{userId}/documents/{documentId}", _READ, responses={200: {"content": FILE}},
        refusals={404: "the user has no such document: KYC_DOCUMENT_NOT_FOUND"},
        summary="One document of a verification, as a file; the trail notes who looked at it, and why",
    )  # fmt: skip
    async def get_verification_document(
        request: Request, user_id: UserPath, document_id: DocumentIdPath, reason: ReasonQuery
    ) -> Response:
        return file_response(*await verifications.document(user_id, document_id, acting(request, reason)))

    @router.post(
        "/{userId}/decision", _DECIDE, response=VerificationResponse,
        refusals=_UNKNOWN | {
            403: "it is your own account",
            409: "the basic information is missing; the check has other documents by now: KYC_DOCUMENTS_CHANGED; or "
            "what the user states, or the decision, is another by now: KYC_VERIFICATION_CHANGED",
        },
        summary="Decide on a verification",
    )  # fmt: skip
    async def decide_verification(request: Request, user_id: UserPath, body: DecisionBody) -> Response:
        return respond(await verifications.decide(user_id, body, acting(request, body.reason)))

    return router
