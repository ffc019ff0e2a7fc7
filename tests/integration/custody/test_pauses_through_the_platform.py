"""An operator pauses a coin: users, operators and the command line see it, and nothing that comes meanwhile is lost."""

from typing import Any

import asyncpg
import pytest

from openspot.custody.deposits import ChainDeposit
from openspot.custody.operator import Operator
from openspot.http.operators import OperatorRole
from openspot.kit.settings import Settings
from openspot.rest_edge.operators.pauses.command import PauseError, change_pause, listed_pauses, networks_of
from openspot.rest_edge.settings import RestEdgeSettings
from tests.integration.custody.test_through_the_platform import (  # noqa: F401  (fixtures)
    balance,
    edge,
    funded,
    known,
    people,
    prices,
    saved,
    settings,
)
from tests.support.edge_operators import make_operator
from tests.support.rest_client import RestClient
from tests.support.waiting import eventually

BITCOIN = {"asset": "BTC", "network": "bitcoin"}
DEPOSITS = BITCOIN | {"direction": "deposits", "reason": "ticket 4711"}
WITHDRAWALS = BITCOIN | {"direction": "withdrawals", "reason": "ticket 4711"}


async def test_a_pause_is_seen_by_everybody_and_what_comes_meanwhile_is_credited_after_it(
    edge: RestClient,  # noqa: F811
    people: Operator,  # noqa: F811
    settings: Settings,  # noqa: F811
    pool: asyncpg.Pool,
) -> None:
    desk = RestClient(settings)
    await make_operator(desk, pool, "ada@example.org", OperatorRole.MARKET_OPERATIONS)
    await known(edge)
    address = await funded(edge, people)
    target = await saved(edge)

    async def row() -> Any:
        rows = (await edge("GET", "/fees/network/all")).body
        return next(each for each in rows if (each["asset"], each["network"]) == ("BTC", "bitcoin"))

    assert ((await row())["depositsEnabled"], (await row())["withdrawalsEnabled"]) == (True, True)
    for wrong, fault in (
        ({"network": "nowhere"}, "network must be one of"),
        ({"asset": "NONE1"}, "asset NONE1 has no network"),
        ({"network": "tron"}, "network must be one of"),
        ({"asset": None, "network": None}, "asset or network is needed"),
        ({"notice": 5}, "notice"),
        ({"direction": "both"}, "direction"),
        ({"asset": "USD", "network": None}, "direction must be withdrawals: transfers of banks"),
        ({"asset": None, "network": "wire"}, "direction must be withdrawals: transfers of banks"),
    ):
        refused = await desk("PUT", "/operator/pauses", DEPOSITS | wrong)
        assert refused.status == 400 and fault in str(refused.body["message"]), refused.body
    for body in (DEPOSITS, WITHDRAWALS, WITHDRAWALS):
        begun = await desk("PUT", "/operator/pauses", body | {"notice": "back at noon"})
        assert begun.status == 200, begun.body
    assert len((await desk("GET", "/operator/pauses")).body) == 2

    now = await row()
    assert (now["depositsEnabled"], now["withdrawalsEnabled"], now["notice"]) == (False, False, "back at noon")
    withdrawal = {"asset": "BTC", "network": "bitcoin", "amount": "0.01", "addressId": target}
    refused = await edge("POST", "/accounts/withdraw/crypto", withdrawal)
    assert (refused.status, refused.code) == (409, "WITHDRAWALS_PAUSED")
    assert refused.body["message"] == "withdrawals of BTC over bitcoin are paused: back at noon"
    shown = (await edge("GET", "/accounts/deposit-address?asset=BTC")).body
    assert (shown["address"], shown["depositsEnabled"]) == (address, False)
    edge.as_user("bob")
    assert (await edge("GET", "/accounts/deposit-address?asset=BTC")).code == "DEPOSITS_PAUSED"
    edge.as_user("alice")

    await people.deposit(ChainDeposit("0xmeanwhile", "bitcoin", address, "BTC", "1"))
    newest = (await edge("GET", "/accounts/deposits")).body[0]
    assert (newest["txHash"], newest["status"]) == ("0xmeanwhile", "waiting")
    given = RestEdgeSettings(**settings.model_dump())
    assert ["bitcoin" in line and "deposits of BTC" in line for line in await networks_of(given, "BTC")] == [True]
    with pytest.raises(PauseError, match="not paused under that name"):
        await change_pause(given, "BTC", "", "deposits", "wrong name", None)
    with pytest.raises(PauseError, match="direction"):
        await change_pause(given, "BTC", "bitcoin", "both", "wrong direction", "")
    assert len(await change_pause(given, "BTC", "bitcoin", "deposits", "the node is there", None)) == 1
    await eventually(lambda: balance(edge, "BTC", "6"))
    ended = await desk("POST", "/operator/pauses/resumptions", WITHDRAWALS)
    assert (ended.status, ended.body, await listed_pauses(given)) == (200, [], [])
    assert (await desk("POST", "/operator/pauses/resumptions", WITHDRAWALS)).code == "PAUSE_NOT_FOUND"
    assert (await edge("POST", "/accounts/withdraw/crypto", withdrawal)).status == 201
    trail = await pool.fetch(
        "SELECT action, subject_id, split_part(operator, ':', 1) FROM operator_actions"
        " WHERE subject_kind = 'coin_network' ORDER BY entry_number"
    )
    assert [tuple(entry) for entry in trail] == [
        ("transfers.paused", "BTC@bitcoin", "user"),
        ("transfers.paused", "BTC@bitcoin", "user"),
        ("transfers.resumed", "BTC@bitcoin", "shell"),
        ("transfers.resumed", "BTC@bitcoin", "user"),
    ]
    await desk.close()
