"""What a refusal of the engine becomes for an operator."""

import pytest

from openspot.engine_client.administration import ChangeRefusedError
from openspot.engine_client.errors import EngineError, EngineUnreachableError
from openspot.http.errors import HttpError
from openspot.rest_edge.operators.engine_calls import asked


@pytest.mark.parametrize(
    ("failure", "status", "code"),
    [
        (ChangeRefusedError(404, "AUTH_INVALID_USER", ["there is no nobody"]), 404, "AUTH_INVALID_USER"),
        (ChangeRefusedError(404, "ROUTE_NOT_FOUND", ["no such route"]), 503, "SERVICE_UNAVAILABLE"),
        (EngineUnreachableError("no engine"), 503, "SERVICE_UNAVAILABLE"),
    ],
)
async def test_a_refusal_is_passed_on_and_an_engine_without_the_route_is_no_refusal(
    failure: ChangeRefusedError | EngineError, status: int, code: str
) -> None:
    async def answer() -> None:
        raise failure

    with pytest.raises(HttpError) as refused:
        await asked(answer())
    assert (refused.value.status_code, refused.value.code) == (status, code)
    assert ("earlier release" in str(refused.value.message)) == ("ROUTE_NOT_FOUND" in getattr(failure, "code", ""))
