"""One decision on several withdrawals, one after the other; each is a decision of its own, with its audit entry."""

import time
from collections.abc import Awaitable, Callable, Sequence
from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from openspot.custody.withdrawal_states import WITHDRAWAL_ID_LENGTH_MAX
from openspot.custody.withdrawals import REASON_LENGTH_MAX, REASON_LENGTH_MIN, RehearsedError, WithdrawalError
from openspot.http.authentication import CredentialsError
from openspot.http.errors import HttpError
from openspot.http.validation import Body, ResponseBody, example
from openspot.kit.database import TRANSIENT_ERRORS
from openspot.kit.log import get_logger

log = get_logger("custody")

ROWS_MAX = 50
SECONDS_MAX = 10.0
"""Withdrawals that have not begun by then are not tried."""
WithdrawalIds = Annotated[
    list[Annotated[str, StringConstraints(strict=True, pattern=rf"^[A-Za-z0-9_-]{{1,{WITHDRAWAL_ID_LENGTH_MAX}}}$")]],
    Field(min_length=1, max_length=ROWS_MAX),
]


ApprovalReason = Annotated[
    str, StringConstraints(strip_whitespace=True, min_length=REASON_LENGTH_MIN, max_length=REASON_LENGTH_MAX)
]
"""Why an operator approves or signs. The trail keeps it for ever, so it names nobody: ids stand for people."""
RejectionReason = Annotated[str, StringConstraints(min_length=1, max_length=REASON_LENGTH_MAX)]


class BulkApprovalBody(Body):
    """The withdrawals to approve, and why. With `dryRun`, everything is checked and nothing is changed."""

    model_config = example({"ids": ["W1", "W2"], "dryRun": True, "reason": "the owners confirmed them by phone"})

    ids: WithdrawalIds
    dry_run: Annotated[bool, Field(strict=True)]
    reason: ApprovalReason


class BulkRejectionBody(Body):
    """The withdrawals to reject, and why; each owner sees it. `dryRun` as for approvals."""

    model_config = example({"ids": ["W1", "W2"], "dryRun": True, "reason": "not explained"})

    ids: WithdrawalIds
    dry_run: Annotated[bool, Field(strict=True)]
    reason: RejectionReason


class BulkDecisionRow(ResponseBody):
    """What became of one withdrawal, in a dry run what would become of it.

    `refused`: `message` says why not. `uncertain`: the database does not respond, so look. `not_tried`: the time was
    over, so send it again.
    """

    id: str
    outcome: Literal["changed", "would_change", "refused", "uncertain", "not_tried"]
    message: str | None


class BulkDecisions(ResponseBody):
    """The outcome of each withdrawal, in the order of the request; one that is named twice comes once."""

    dry_run: bool
    rows: list[BulkDecisionRow]


async def decide_all(
    ids: Sequence[str],
    decide: Callable[[str], Awaitable[object]],
    require: Callable[[], Awaitable[None]],
    *,
    is_rehearsal: bool,
    clock_s: Callable[[], float] = time.monotonic,
) -> BulkDecisions:
    """Let `decide` decide on each withdrawal, for at most about SECONDS_MAX.

    `require` raises CredentialsError or HttpError before a decision that the operator must not make any more: then the
    rest is refused, or with a fault of ours (503) not tried.
    """
    until = clock_s() + SECONDS_MAX
    rows: list[BulkDecisionRow] = []
    end: BulkDecisionRow | None = None
    for withdrawal_id in dict.fromkeys(ids):
        end = end or await _end(require, is_over=clock_s() >= until)
        if end is not None:
            rows.append(end.model_copy(update={"id": withdrawal_id}))
        else:
            rows.append(await _one(withdrawal_id, decide))
    return BulkDecisions(dry_run=is_rehearsal, rows=rows)


async def _end(require: Callable[[], Awaitable[None]], *, is_over: bool) -> BulkDecisionRow | None:
    """What becomes of all withdrawals from now on; None as long as they are decided on."""
    not_tried = BulkDecisionRow(id="", outcome="not_tried", message=None)
    if is_over:
        return not_tried
    try:
        await require()
    except CredentialsError as error:
        return BulkDecisionRow(id="", outcome="refused", message=str(error))
    except HttpError as error:
        is_fault = error.status_code >= 500
        return not_tried if is_fault else BulkDecisionRow(id="", outcome="refused", message=str(error.message))
    except TRANSIENT_ERRORS as error:
        log.warning("a bulk decision ends: the operator's roles cannot be read", error=repr(error))
        return not_tried
    return None


async def _one(withdrawal_id: str, decide: Callable[[str], Awaitable[object]]) -> BulkDecisionRow:
    try:
        await decide(withdrawal_id)
    except RehearsedError:
        return BulkDecisionRow(id=withdrawal_id, outcome="would_change", message=None)
    except WithdrawalError as error:
        return BulkDecisionRow(id=withdrawal_id, outcome="refused", message=str(error))
    except TRANSIENT_ERRORS as error:
        log.warning("a row of a bulk decision failed", withdrawal_id=withdrawal_id, error=repr(error))
        return BulkDecisionRow(id=withdrawal_id, outcome="uncertain", message="the database does not respond")
    return BulkDecisionRow(id=withdrawal_id, outcome="changed", message=None)
