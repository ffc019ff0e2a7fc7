"""Bodies of the bulk actions."""

from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from openspot.http.validation import Body, ResponseBody, Symbol, example
from openspot.rest_edge.operators.schemas import Reason
from openspot.rest_edge.operators.verification.schemas import Decision

ROWS_MAX = 100
"""Users of one bulk action at most."""
UserIds = Annotated[
    list[Annotated[str, StringConstraints(strict=True, pattern=r"^[A-Za-z0-9_:-]{1,64}$")]],
    Field(min_length=1, max_length=ROWS_MAX),
]


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


class BulkDecisionBody(BulkBody):
    """The users whose verifications are decided, and how."""

    model_config = example(
        {"userIds": ["Ada1"], "decision": "retry", "level": "verified", "dryRun": True, "reason": "the scan is blurred"}
    )

    decision: Decision
    level: Literal["basic", "verified"] = "verified"


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
