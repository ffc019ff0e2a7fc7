"""Proofs of reserves at the edge: everybody reads what they state, each user gets leaves that the verifier takes."""

from datetime import timedelta
from decimal import Decimal

from openspot.kit.settings import Settings
from tests.support.reserve_proofs import TAKEN_AT, add_proof
from tests.support.reserve_trees import verifier
from tests.support.rest_client import RestClient

VERIFY = verifier()
MANY = {(f"u{number}", asset): f"{number}.5" for number in range(600) for asset in ("BTC", "USD")}


async def test_each_user_gets_leaves_that_lead_to_the_published_root(edge: RestClient, settings: Settings) -> None:
    made = await add_proof(settings.database_url, MANY)
    assert made.statement.depth == 11
    published = (await edge("GET", "/reserves")).body
    assert [(each["id"], each["digest"]) for each in published] == [(made.statement.proof_id, made.digest)]
    for user in ("u0", "u1", "u77", "u599"):
        edge.as_user(user)
        reply = await edge("GET", f"/reserves/{made.statement.proof_id}/own")
        assert reply.status == 200, reply.body
        owed = VERIFY.check_user(reply.body, user, made.digest)
        assert {asset: Decimal(amount).scaleb(-18) for asset, amount in owed.items()} == {
            asset: Decimal(MANY[user, asset]) for asset in ("BTC", "USD")
        }
        assert len(reply.body["leaves"]) == 2
        # A path names nobody.
        assert {name for leaf in reply.body["leaves"] for node in leaf["path"] for name in node} == {"hash", "sums"}


async def test_a_small_tree_has_no_stored_nodes_and_works_the_same(edge: RestClient, settings: Settings) -> None:
    made = await add_proof(settings.database_url, {("u1", "BTC"): "0.000000000000000001"})
    reply = await edge("GET", f"/reserves/{made.statement.proof_id}/own")
    assert VERIFY.check_user(reply.body, "u1") == {"BTC": 1}


async def test_who_is_owed_nothing_has_no_leaf_and_an_old_proof_is_not_found(
    edge: RestClient, settings: Settings
) -> None:
    made = await add_proof(settings.database_url, {("u2", "BTC"): "1"})
    reply = await edge("GET", f"/reserves/{made.statement.proof_id}/own")
    assert (reply.status, reply.body["userId"], reply.body["leaves"]) == (200, "u1", [])
    reply = await edge("GET", "/reserves/unknown/own")
    assert (reply.status, reply.body["code"]) == (404, "PROOF_NOT_FOUND")
    assert (await edge("GET", "/reserves/a%20b/own")).status == 400
    edge.token = None
    assert (await edge("GET", f"/reserves/{made.statement.proof_id}/own")).status == 401
    later = await add_proof(settings.database_url, {("u2", "BTC"): "2"}, taken_at=TAKEN_AT + timedelta(days=1))
    published = (await edge("GET", "/reserves")).body
    assert [each["id"] for each in published] == [later.statement.proof_id, made.statement.proof_id]
    assert published[0]["previous"] == made.digest
