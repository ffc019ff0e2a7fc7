"""Operators of the treasury, and what becomes of the money that they move."""

import asyncio
from collections.abc import AsyncIterator, Iterable, Mapping
from contextlib import asynccontextmanager
from typing import Any

import asyncpg

from openspot.engine_client.settings import EngineConnectionSettings
from openspot.http.operators import OperatorRole
from openspot.kit.settings import Settings, as_part
from openspot.reconcile.reconciliation import reconcile
from tests.support.edge_operators import make_operator
from tests.support.rest_client import Reply, RestClient
from tests.support.waiting import eventually, stretched

CHECKED = {"reason": "checked"}


@asynccontextmanager
async def treasurer(settings: Settings, pool: asyncpg.Pool, email: str) -> AsyncIterator[RestClient]:
    """A client of the edge that calls as a new operator with the role of the treasury."""
    client = RestClient(settings)
    try:
        await make_operator(client, pool, email, OperatorRole.TREASURY)
        yield client
    finally:
        await client.close()


async def until_total(client: RestClient, account: str, total: str) -> None:
    """Wait until the account of the house has so many dollars at the engine and in the ledger."""

    async def has() -> bool:
        accounts = (await client("GET", "/operator/treasury/accounts")).body
        found = next(each for each in accounts if each["account"] == account)
        totals = {row["asset"]: (row["engineTotal"], row["ledgerTotal"]) for row in found["balances"]}
        return totals.get("USD") == (total, total)

    await eventually(has)


async def approve(client: RestClient, request_id: str) -> Reply:
    """Approve what another asked for."""
    return await client("POST", f"/operator/requests/{request_id}/approval", CHECKED)


async def assert_another_approves_once(asking: RestClient, other: RestClient, request_id: str) -> None:
    """Whoever asked, or shares an owner with that person, must not approve; of the other's approvals one counts."""
    assert (await approve(asking, request_id)).code == "SAME_PERSON"
    decided = await asyncio.gather(*(approve(other, request_id) for _ in range(3)))
    assert sorted(reply.status for reply in decided) == [200, 409, 409]


async def assert_refused_by_field(
    client: RestClient, path: str, body: dict[str, Any], cases: Iterable[tuple[Mapping[str, Any], str]]
) -> None:
    """With each of these changes the body is refused, in words that have the text beside the change."""
    for changed, named in cases:
        refused = await client("POST", path, body | changed)
        assert refused.status == 400 and named in str(refused.body), (changed, refused.body)


async def assert_books_agree(settings: Settings) -> None:
    """`openspot reconcile` finds no difference."""
    report = await reconcile(as_part(settings, EngineConnectionSettings), stretched(20))
    assert report.exit_code == 0, report
