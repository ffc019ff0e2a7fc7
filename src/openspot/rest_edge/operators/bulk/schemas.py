"""Bodies of the bulk actions."""

from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from openspot.contracts.messages.message import TimeText
from openspot.http.validation import Body, ResponseBody, Symbol, example
from openspot.rest_edge.funds.kyc.schemas import LevelName, StatusName
from openspot.rest_edge.operators.schemas import Reason
from openspot.rest_edge.operators.verification.schemas import Decision, Sha256

ROWS_MAX = 100
"""Users of one bulk action at most."""
UserId = Annotated[str, StringConstraints(strict=True, pattern=r"^[A-Za-z0-9_:-]{1,64}$")]
UserIds = Annotated[list[UserId], Field(min_length=1, max_length=ROWS_MAX)]


class BulkBody(Body):
    """The users, and why. With `dryRun`, everything is checked and nothing is changed."""

    model_config = example({"userIds": ["Ada1", "Bob2"], "dryRun": True, "reason": "ticket 4711"})

    user_ids: UserIds
    dry_run: Annotated[bool, Field(strict=True)]
    reason: Reason


class BulkOrdersBody(BulkBody):
    """The users whose open orders are cancelled, on all markets or on `symbol` alone."""

    model_config = example({"userIds": ["Ada1"], "symbol": "BTC-USD", "dryRun": True, "reason": "ticket 4711"})

    symbol: Symbol | None = None


class SeenVerification(Body):
    """A verification as a dry run has told it, by its `state`."""

    model_config = example({"userId": "Ada1", "state": "5f" * 32})

    user_id: UserId
    state: Sha256


class BulkDecisionBody(BulkBody):
    """The users whose verifications are decided, and how.

    `seen` are the verifications as the dry run has told them. Each that is another by now, or that it does not name, is
    refused: its user could state something else, or exchange documents, in between. Without it, the decision counts
    for whatever is there.
    """

    model_config = example(
        {"userIds": ["Ada1"], "decision": "retry", "level": "verified", "dryRun": True, "reason": "the scan is blurred"}
    )

    decision: Decision
    level: Literal["basic", "verified"] = "verified"
    seen: Annotated[list[SeenVerification], Field(max_length=ROWS_MAX)] | None = None


class BulkRow(ResponseBody):
    """What became of one row, in a dry run what would become of it.

    `unchanged`: it is so already. `refused`: `code` and `message` say why not. `uncertain`: nobody knows, or a part is
    left, so look, or send it again. `not_tried`: the time was over, so send it again.
    """

    id: str
    outcome: Literal["changed", "would_change", "unchanged", "refused", "uncertain", "not_tried"]
    code: str | None
    message: str | None


class BulkResponse(ResponseBody):
    """The outcome of each row, in the order of the request; a user who is named twice comes once."""

    dry_run: bool
    rows: list[BulkRow]


class VerificationState(ResponseBody):
    """What a verification was before the decision. `documents` are the SHA-256 of those of its check.

    `state` stands for all of it: a request names it as what was seen.
    """

    status: StatusName
    level: LevelName
    updated_at: TimeText
    documents: list[str]
    state: str


class BulkDecisionRow(BulkRow):
    """What became of one verification, and what it was before; `was` is null where there is none, or nobody looked."""

    was: VerificationState | None


class BulkDecisionResponse(ResponseBody):
    """The outcome of each verification, in the order of the request; a user who is named twice comes once."""

    dry_run: bool
    rows: list[BulkDecisionRow]
