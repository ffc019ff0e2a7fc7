"""The routes of reports: `/operator/reports/…`, each as rows, and as a file below `/export`."""

from datetime import date
from typing import Annotated, Any, NamedTuple

from fastapi import Query
from pydantic import TypeAdapter
from starlette.requests import Request
from starlette.responses import Response

from openspot.http.errors import validation_error
from openspot.http.policy import Access, Permission, Policy
from openspot.http.responses import json_response
from openspot.http.routing import Router
from openspot.http.validation import ResponseBody
from openspot.rest_edge.operators.acting import acting
from openspot.rest_edge.operators.reports.periods import Period, PeriodError, Span, checked_span
from openspot.rest_edge.operators.reports.schemas import (
    BalanceReportRow,
    FeeReportRow,
    ReserveReportRow,
    UnclosedReportRow,
    UserReportRow,
    VolumeReportRow,
)
from openspot.rest_edge.operators.reports.service import Reports
from openspot.rest_edge.operators.reports.tables import Row
from openspot.rest_edge.operators.schemas import Reason
from openspot.rest_edge.operators.table_files import (
    TABLE_FILE,
    FileFormat,
    FormatQuery,
    columns_of,
    file_response,
    in_pages,
    require_writable,
)

SinceQuery = Annotated[date, Query(alias="from", description="The first day, in UTC")]
UntilQuery = Annotated[date, Query(alias="to", description="The last day, in UTC")]
ByQuery = Annotated[Period, Query(description="What a row stands for")]
ReasonQuery = Annotated[Reason, Query(description="Why the file is made; the trail keeps it")]

_READ = Policy(Access.OPERATOR, permission=Permission.REPORTS_READ)
_EXPORT = Policy(Access.OPERATOR, permission=Permission.REPORTS_EXPORT)
_BAD = {400: "a parameter is not valid: by day a report is of at most 366 days, by month of ten years"}


class _Report(NamedTuple):
    name: str
    summary: str
    row: type[ResponseBody]


def report_routes(prefix: str, reports: Reports) -> Router:
    """The routes of reports, below `prefix`."""
    router = Router(f"{prefix}/operator/reports", tag="operator")
    for report in (
        _Report("fees", "What the exchange earned, by account and asset", FeeReportRow),
        _Report("volumes", "What was traded, by market", VolumeReportRow),
        _Report("users", "How many users registered, were active, and were there", UserReportRow),
        _Report("balances", "What accounts held at the end, by class and asset", BalanceReportRow),
        _Report("reserves", "What users were owed and what custody held", ReserveReportRow),
    ):
        _routes_of(router, reports, report)
    return router


def _routes_of(router: Router, reports: Reports, report: _Report) -> None:
    rows_of: TypeAdapter[Any] = TypeAdapter(list[report.row | UnclosedReportRow])  # type: ignore[name-defined]
    columns = (*columns_of(report.row), *columns_of(UnclosedReportRow, without=("period",)))
    nothing: Row = {column.name: None for column in columns}

    @router.get(
        f"/{report.name}", _READ, response=list[report.row | UnclosedReportRow],  # type: ignore[name-defined]
        refusals=_BAD, name=f"report_{report.name}", summary=report.summary,
    )  # fmt: skip
    async def read_report(since: SinceQuery, until: UntilQuery, by: ByQuery = Period.DAY) -> Response:
        rows = await reports.rows(report.name, _span(since, until, by))
        return json_response(rows_of.dump_python(rows_of.validate_python(rows), mode="json", by_alias=True))

    @router.get(
        f"/{report.name}/export", _EXPORT, responses=TABLE_FILE, refusals=_BAD, name=f"export_{report.name}_report",
        summary=f"{report.summary}, as a file",
    )  # fmt: skip
    async def export_report(
        request: Request,
        reason: ReasonQuery,
        since: SinceQuery,
        until: UntilQuery,
        by: ByQuery = Period.DAY,
        written_as: FormatQuery = FileFormat.CSV,
    ) -> Response:
        span = _span(since, until, by)
        require_writable(written_as)
        rows = [nothing | row for row in await reports.rows(report.name, span)]
        await reports.note_export(report.name, span, written_as, acting(request, reason))
        return file_response(f"{report.name}-{span.since}-{span.until}", written_as, columns, in_pages(rows))


def _span(since: date, until: date, by: Period) -> Span:
    try:
        return checked_span(since, until, by)
    except PeriodError as error:
        raise validation_error([str(error)]) from error
