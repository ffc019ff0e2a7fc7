"""What the OpenAPI document of the position service promises, asked of the running service."""

import itertools
import re

import pytest
import requests
from schemathesis import Case
from schemathesis.pytest import from_fixture

from tests.integration.positions.conftest import PositionService
from tests.integration.whole_edge.test_schema import (
    at_random,
    at_the_boundaries,
    check,
    node_id,
    schema_fixture,
    sent,
    session,
    who_sends,
)
from tests.support.positions import ADMIN, SERVICE_HEADERS, PositionClient

__all__ = ["node_id", "session"]

document = schema_fixture("positions")
_serial = itertools.count()


@pytest.fixture(scope="module")
def tokens(service: PositionService) -> dict[str, str]:
    """Access tokens by caller."""

    async def made() -> dict[str, str]:
        client = PositionClient(service.settings)
        try:
            return {
                "admin": client.as_user(ADMIN, "admin", life_s=86_400), "user": client.as_user("alice", life_s=86_400),
            }  # fmt: skip
        finally:
            await client.close()

    return service.background.run(made())


@pytest.mark.proof
@from_fixture("document").parametrize()
@at_the_boundaries
def test_the_position_service_keeps_to_its_document(
    case: Case,
    service: PositionService,
    tokens: dict[str, str],
    session: requests.Session,
) -> None:
    check_as_callers(case, service, tokens, session)


@pytest.mark.proof
@from_fixture("document").parametrize()
@at_random
def test_the_position_service_keeps_to_its_document_at_random(
    case: Case,
    service: PositionService,
    tokens: dict[str, str],
    session: requests.Session,
) -> None:
    check_as_callers(case, service, tokens, session)


def check_as_callers(case: Case, service: PositionService, tokens: dict[str, str], session: requests.Session) -> None:
    """Send a request as those callers whose turn it is, and check each response."""
    number = next(_serial)
    for caller in who_sends(number, ("admin", "user", "anonymous", "service")):
        headers = dict(SERVICE_HEADERS) if caller == "service" else {}
        if caller in tokens:
            headers["Authorization"] = f"Bearer {tokens[caller]}"
        key = case.headers.get("Idempotency-Key", "")
        if re.fullmatch(r"[\x21-\x7e]{1,200}", key):
            # The same key with another request would be refused before anything else is looked at.
            headers["Idempotency-Key"] = f"{key}-{number}"
        check(case, sent(case, service.settings.positions_url, session, headers))
