"""The routes of the operators' trail: search it, and export it."""

import json
from typing import Annotated

from fastapi import Depends, Query
from starlette.responses import Response

from openspot.http.lists import LIMIT_DEFAULT, NEXT_CURSOR_HEADER, Cursor, Limit, decode_cursor, encode_cursor
from openspot.http.paging import SerialNumber
from openspot.http.policy import Access, Permission, Policy
from openspot.http.responses import page_response
from openspot.http.routing import Router
from openspot.http.validation import UtcDatetime
from openspot.kit.clock import iso_from_ms
from openspot.rest_edge.operators.exports import WantedFileQuery
from openspot.rest_edge.operators.schemas import TrailEntry
from openspot.rest_edge.operators.service import OperatorServices
from openspot.rest_edge.operators.table_files import TABLE_FILE, file_response
from openspot.rest_edge.operators.trail import Entry
from openspot.rest_edge.operators.trail_pages import COLUMNS, TrailFilter

_READ = Policy(Access.OPERATOR, permission=Permission.AUDIT_READ)
_EXPORT = Policy(Access.OPERATOR, permission=Permission.AUDIT_EXPORT)
_BAD = {400: "a parameter is not valid"}
_Text = Annotated[str | None, Query(min_length=1, max_length=140, pattern=r"^[^\x00]*$")]
_Time = Annotated[UtcDatetime | None, Query()]


async def _filter(
    operator: Annotated[_Text, Query(description="Who did it, such as user:<userId>")] = None,
    action: Annotated[_Text, Query(description="What was done, such as operators.roles")] = None,
    subject_kind: Annotated[_Text, Query(alias="subjectKind", description="Kind of what it was done to")] = None,
    subject_id: Annotated[_Text, Query(alias="subjectId", description="Id of what it was done to")] = None,
    since: Annotated[_Time, Query(alias="from", description="The first moment")] = None,
    until: Annotated[_Time, Query(alias="to", description="The first moment that is too late")] = None,
) -> TrailFilter:
    return TrailFilter(operator, action, subject_kind, subject_id, since, until)


Wanted = Annotated[TrailFilter, Depends(_filter)]


def trail_routes(prefix: str, services: OperatorServices) -> Router:
    """The routes of `/operator/trail`, below `prefix`."""
    router = Router(f"{prefix}/operator/trail", tag="operators")
    trail, exports = services.trail, services.exports

    @router.get(
        "", _READ, response=list[TrailEntry], headers=NEXT_CURSOR_HEADER, summary="What operators did, newest first"
    )  # fmt: skip
    async def list_operator_actions(wanted: Wanted, limit: Limit = LIMIT_DEFAULT, cursor: Cursor = None) -> Response:
        before = None if cursor is None else decode_cursor(cursor, tuple[SerialNumber])[0]
        found = await trail.page(wanted, limit + 1, before)
        entries = [_row(entry).model_dump(by_alias=True) for entry in found[:limit]]
        return page_response(entries, encode_cursor([found[limit - 1].entry_number]) if len(found) > limit else None)

    @router.get("/export", _EXPORT, responses=TABLE_FILE, refusals=_BAD, summary="The same as a file, with every hash")
    async def export_operator_actions(wanted: Wanted, file: WantedFileQuery) -> Response:
        # The pages are read afterwards, so the file has the entry that tells of it.
        await exports.note("trail", file, wanted.texts())
        return file_response("operator-trail", file.written_as, COLUMNS, trail.pages(wanted))

    return router


def _row(entry: Entry) -> TrailEntry:
    return TrailEntry(
        number=entry.entry_number,
        time=iso_from_ms(entry.at_ms),
        operator=entry.operator,
        action=entry.action,
        subject_kind=entry.subject_kind,
        subject_id=entry.subject_id,
        reason=entry.reason,
        before=json.loads(entry.before),
        after=json.loads(entry.after),
        request_id=entry.request_id,
        address=entry.address,
        hash=entry.hash,
    )
