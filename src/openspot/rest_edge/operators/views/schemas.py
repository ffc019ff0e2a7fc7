"""Bodies of the routes of views."""

from typing import Annotated, Literal

from pydantic import StringConstraints

from openspot.contracts.messages.message import TimeText
from openspot.http.validation import Body, ResponseBody, example

Page = Literal[
    "users", "verifications", "approvals", "adjustments", "deposits", "all-withdrawals", "payments", "plans",
    "withdrawals", "orders", "trades", "all-orders", "all-trades", "balances", "trail", "treasury", "reports", "user",
    "risk", "access", "participant",
]  # fmt: skip
"""The pages of the console that have filters, as their addresses end.

`user` is the page of any one user, and `participant` that of any one participant.
"""
ViewName = Annotated[
    str,
    StringConstraints(strict=True, strip_whitespace=True, min_length=1, max_length=64, pattern=r"^[^\x00-\x1f\x7f]+$"),
]
ViewQuery = Annotated[str, StringConstraints(strict=True, max_length=1024, pattern=r"^[\x21-\x7e]*$")]


class ViewBody(Body):
    """The filters of a page as its address has them, without the question mark, and the name to save them under."""

    model_config = example({"page": "all-withdrawals", "name": "Large ones", "query": "state=open&asset=BTC"})

    page: Page
    name: ViewName
    query: ViewQuery


class ViewResponse(ResponseBody):
    """A view of the caller. The page's address with `query` behind it opens it."""

    id: str
    page: Page
    name: str
    query: str
    saved_at: TimeText
