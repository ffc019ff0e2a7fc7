"""Bodies and responses of the operators' routes of processes."""

from typing import Annotated

from pydantic import Field

from openspot.http.validation import Body, ResponseBody, example
from openspot.rest_edge.operators.schemas import Reason


class RestartBody(Body):
    """Why a process is restarted, which the trail keeps, and its process id as the operator saw it.

    `pid` is 0 for one that did not run. A process that was restarted since has another id, and is left alone: a second
    request changes nothing.
    """

    model_config = example({"pid": 4711, "reason": "its consumer is stuck since 12:00"})

    pid: Annotated[int, Field(strict=True, ge=0, le=2**31 - 1)]
    reason: Reason


class RestartResponse(ResponseBody):
    """The process whose restart has begun, with the services that share it."""

    process: str
    services: list[str]
