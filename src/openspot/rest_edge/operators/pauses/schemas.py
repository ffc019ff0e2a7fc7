"""Bodies and responses of the routes about pauses."""

from typing import Annotated

from pydantic import Field, StringConstraints

from openspot.coin_networks.pauses import Direction
from openspot.contracts.messages.message import TimeText
from openspot.http.validation import Body, Currency, ResponseBody, example
from openspot.rest_edge.operators.coins.schemas import NetworkName
from openspot.rest_edge.operators.schemas import Reason

NOTICE_LENGTH_MAX = 200
Notice = Annotated[
    str,
    StringConstraints(strip_whitespace=True, max_length=NOTICE_LENGTH_MAX, pattern=r"^[^\x00-\x1f\x7f]*$", strict=True),
]


class ResumptionBody(Body):
    """Which pause ends: without `asset` that of all coins of the network, without `network` that of the coin
    everywhere.
    """

    model_config = example(
        {"asset": "BTC", "network": "bitcoin", "direction": "withdrawals", "reason": "the node is upgraded"}
    )

    asset: Currency | None = None
    network: NetworkName | None = None
    direction: Direction
    reason: Reason


class PauseBody(ResumptionBody):
    """What is paused, named as in a resumption. Users read `notice`, and never the reason."""

    model_config = example(
        {
            "asset": "BTC", "network": "bitcoin", "direction": "withdrawals",
            "notice": "The network is being upgraded", "reason": "ticket 4711",
        }
    )  # fmt: skip

    notice: Notice = Field(default="", description="What users read; empty for nothing")


class PauseResponse(ResponseBody):
    """A pause. `asset` is null for all coins of the network, `network` is null for all networks of the coin."""

    asset: str | None
    network: str | None
    direction: Direction
    notice: str
    reason: str
    paused_by: str
    paused_at: TimeText
