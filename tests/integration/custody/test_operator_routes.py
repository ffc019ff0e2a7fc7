"""Custody's routes for operators: who may decide, under which name, and what each decision does."""

import json
from typing import Any

import pytest
from starlette.types import ASGIApp

from openspot.custody.app import make_app
from openspot.custody.operator_routes import operator_routes
from openspot.custody.progress import WithdrawalProgress
from openspot.custody.withdrawal_states import Status
from openspot.engine_client.administrators import EngineSession, EngineSilentError
from openspot.engine_client.operators import OperatorSessions
from openspot.http.api_keys.networks import AllowedNetworks
from openspot.http.audit import LogAudit
from openspot.http.authentication import UserTokens
from openspot.http.idempotency import DatabaseIdempotency
from openspot.http.operator_store import OperatorStanding
from openspot.http.operators import OperatorRole
from openspot.kit.health import Health
from openspot.kit.tokens import Claims, sign
from tests.support.asgi import Reply, ask
from tests.support.custody import SEED, CustodyBench
from tests.support.edge_operators import engine_token, participant_in

ADMINISTRATORS = ("olivia", "Olivia", "peter", "alice")


TREASURY, SUPPORT = {OperatorRole.TREASURY}, {OperatorRole.SUPPORT}
USERS: dict[str, set[OperatorRole]] = {"tessa": TREASURY, "alice": TREASURY, "sam": SUPPORT, "eve": set()}
WHY = {"reason": "as the owner asked"}
SECRET = "test-secret-of-at-least-thirty-two-bytes"


class Sessions:
    """An engine that knows a session for each name; `trader` may not administer."""

    async def find(self, token: str) -> EngineSession | None:
        """The session of a participant."""
        name = participant_in(token)
        if name == "silence":
            raise EngineSilentError("the engine does not respond")
        return EngineSession(name, name in ADMINISTRATORS) if name in (*ADMINISTRATORS, "trader") else None


async def standing(user_id: str, session_id: str) -> OperatorStanding:
    """The roles of a user, in a session that began with a code, unless its id says otherwise."""
    return OperatorStanding(frozenset(USERS[user_id]), session_id != "without code", session_id == "ended")


class Operators:
    """Calls the routes."""

    def __init__(self, custody: CustodyBench) -> None:
        self.progress: WithdrawalProgress = custody.progress()
        sessions: Any = Sessions()
        operators = OperatorSessions(UserTokens(SECRET), standing, sessions, AllowedNetworks(()))
        routes = operator_routes(custody.pool, custody.withdrawals, self.progress, SEED, operators)
        self.application: ASGIApp = make_app(routes, Health(), operators, LogAudit(), DatabaseIdempotency(custody.pool))

    async def __call__(self, name: str, method: str, path: str = "", body: Any = None, key: str = "") -> Reply:
        """Call as a participant, or as the user of `user:<id>`, in the session after a slash."""
        user, _, session = name.removeprefix("user:").partition("/")
        token = engine_token(name)
        if name.startswith("user:"):
            token = sign(Claims(user, "user", 2**33, session_id=session), SECRET, 1)
        headers = {"authorization": f"Bearer {token}"} if name else {}
        if key:
            headers["idempotency-key"] = key
        if body is not None:
            headers["content-type"] = "application/json"
        content = b"" if body is None else json.dumps(body).encode()
        return await ask(self.application, method, f"/operator/withdrawals{path}", content, headers)


@pytest.fixture
def operators(custody: CustodyBench) -> Operators:
    return Operators(custody)


@pytest.mark.spec("A8-28")
async def test_two_administrators_approve_and_three_signers_sign(custody: CustodyBench, operators: Operators) -> None:
    large = await custody.create("1.5")
    await custody.advance(operators.progress)
    (row,) = (await operators("olivia", "GET")).json["withdrawals"]
    assert {name: row[name] for name in ("id", "userId", "amount", "netAmount", "wallet", "valueUsd", "status")} == {
        "id": large.withdrawal_id, "userId": "alice", "amount": "1.5", "netAmount": "1.4999", "wallet": "WARM",
        "valueUsd": "15000.00", "status": "pending_approval",
    }  # fmt: skip
    path = f"/{large.withdrawal_id}/approvals"
    first = await operators("Olivia", "POST", path, WHY)
    assert (first.status, first.json["approvals"], first.json["approvalsNeeded"]) == (200, ["olivia"], 2)
    again = await operators("olivia", "POST", path, WHY)
    assert (again.status, again.json["message"]) == (400, "olivia has approved this withdrawal already")
    assert (await operators("peter", "POST", path, WHY)).json["approvals"] == ["olivia", "peter"]
    await custody.advance(operators.progress)
    for signer in ("warm-1", "warm-2", "warm-5"):
        signed = await operators("peter", "POST", f"/{large.withdrawal_id}/signatures", {"signer": signer} | WHY)
        assert signed.status == 200
    assert (signed.json["signatures"], signed.json["signaturesNeeded"]) == (["warm-1", "warm-2", "warm-5"], 3)
    await custody.advance(operators.progress)
    assert (await custody.get(large.withdrawal_id)).status is Status.COMPLETED
    assert (await operators("olivia", "GET")).json == {"withdrawals": [], "complete": True}
    assert [(each["operator"], each["decision"], each["reason"]) for each in signed.json["decisions"]] == [
        ("engine:olivia", "approved", WHY["reason"]), ("engine:peter", "approved", WHY["reason"]),
        *[("engine:peter", "signed", WHY["reason"])] * 3,
    ]  # fmt: skip
    trail = await custody.pool.fetch("SELECT actor, detail FROM custody_audit ORDER BY entry_number")
    assert ("operator:peter", "2 of 2") in [tuple(entry) for entry in trail]
    assert ("signer:warm-5", "3 of 3, by operator:peter") in [tuple(entry) for entry in trail]


async def test_a_rejection_needs_a_reason_and_releases_the_funds(custody: CustodyBench, operators: Operators) -> None:
    large = await custody.create("1.5")
    await custody.advance(operators.progress)
    path = f"/{large.withdrawal_id}/rejection"
    for body in ({}, {"reason": ""}, {"reason": "x" * 201}, {"reason": "two\nlines"}, {"reason": "x", "more": 1}):
        assert (await operators("olivia", "POST", path, body)).status == 400
    rejected = await operators("olivia", "POST", path, {"reason": "not explained"})
    assert (rejected.status, rejected.json["status"], rejected.json["reason"]) == (200, "rejected", "not explained")
    await custody.advance(operators.progress)
    assert custody.router.released == {large.withdrawal_id: 1}
    late = await operators("peter", "POST", f"/{large.withdrawal_id}/approvals", WHY)
    assert (late.status, late.json["message"]) == (400, "the withdrawal is rejected")


async def test_several_are_decided_together_after_a_dry_run_that_decides_nothing(
    custody: CustodyBench, operators: Operators
) -> None:
    first, second = [(await custody.create("1.5")).withdrawal_id for _ in range(2)]
    await custody.advance(operators.progress)
    await custody.pool.execute(
        "INSERT INTO withdrawal_assignments VALUES ($1, 'user:tessa', 'user:tessa', now())", first
    )
    listed = (await operators("olivia", "GET")).json["withdrawals"]
    assert {row["id"]: row["assignee"] for row in listed} == {first: "user:tessa", second: None}

    async def decide(kind: str, ids: list[str], *, dry: bool, name: str = "olivia", **more: str) -> list[Any]:
        reply = await operators(name, "POST", f"/bulk-{kind}", {"ids": ids, "dryRun": dry} | WHY | more)
        assert (reply.status, reply.json["dryRun"]) == (200, dry)
        return [(row["id"], row["outcome"]) for row in reply.json["rows"]]

    entries = await custody.pool.fetchval("SELECT count(*) FROM custody_audit")
    ids = [first, "none", first]
    assert await decide("approvals", ids, dry=True) == [(first, "would_change"), ("none", "refused")]
    assert await decide("rejections", [second], dry=True, reason="odd") == [(second, "would_change")]
    assert await decide("approvals", [first], dry=True, name="alice") == [(first, "refused")]
    assert await custody.pool.fetchval("SELECT count(*) FROM custody_audit") == entries
    assert (await custody.get(second)).status is Status.PENDING_APPROVAL
    assert await decide("approvals", ids, dry=False) == [(first, "changed"), ("none", "refused")]
    # Sent again, nobody counts twice: the second person is still needed.
    assert await decide("approvals", [first], dry=False) == [(first, "refused")]
    assert (await custody.get(first)).status is Status.PENDING_APPROVAL
    assert await decide("rejections", [second], dry=False, reason="odd") == [(second, "changed")]
    trail = await custody.pool.fetch(
        "SELECT withdrawal_id, decision FROM custody_audit ORDER BY entry_number DESC LIMIT 2"
    )
    assert [tuple(entry) for entry in trail] == [(second, "rejected"), (first, "approved")]
    for bad in ({"ids": []}, {"ids": ["w"] * 51}, {"ids": [1]}, {"dryRun": "yes"}, {"reason": "no"}):
        assert (
            await operators("olivia", "POST", "/bulk-approvals", {"ids": ["w"], "dryRun": True} | WHY | bad)
        ).status == 400
    sam = await operators("user:sam", "POST", "/bulk-approvals", {"ids": [first], "dryRun": True} | WHY)
    assert sam.status == 403


async def test_who_loses_the_role_between_two_withdrawals_decides_on_no_more(
    custody: CustodyBench, operators: Operators, monkeypatch: pytest.MonkeyPatch
) -> None:
    ids = [(await custody.create("1.5")).withdrawal_id for _ in range(3)]
    await custody.advance(operators.progress)
    approve = custody.withdrawals.approve

    async def approved(*given: Any, **more: Any) -> Any:
        done = await approve(*given, **more)
        monkeypatch.setitem(USERS, "tessa", frozenset())
        return done

    monkeypatch.setattr(custody.withdrawals, "approve", approved)
    reply = await operators("user:tessa", "POST", "/bulk-approvals", {"ids": ids, "dryRun": False} | WHY)
    assert [(row["outcome"], row["message"]) for row in reply.json["rows"]] == [
        ("changed", None), ("refused", "the session is no operator's any more"),
        ("refused", "the session is no operator's any more"),
    ]  # fmt: skip
    trail = await custody.pool.fetch("SELECT withdrawal_id FROM custody_audit WHERE decision = 'approved'")
    assert [row["withdrawal_id"] for row in trail] == ids[:1]


async def test_a_bulk_decision_that_is_sent_again_under_its_key_has_the_reply_of_the_first(
    custody: CustodyBench, operators: Operators
) -> None:
    first = (await custody.create("1.5")).withdrawal_id
    await custody.advance(operators.progress)
    body = {"ids": [first], "dryRun": False} | WHY
    for _ in range(2):
        reply = await operators("olivia", "POST", "/bulk-approvals", body, key="attempt-1")
        assert [row["outcome"] for row in reply.json["rows"]] == ["changed"]
    approvals = "SELECT count(*) FROM custody_audit WHERE decision = 'approved'"
    assert await custody.pool.fetchval(approvals) == 1
    other = await operators("olivia", "POST", "/bulk-approvals", body | {"ids": ["another"]}, key="attempt-1")
    assert other.status == 409
    # Another person's key is another key.
    reply = await operators("peter", "POST", "/bulk-approvals", body, key="attempt-1")
    assert [row["outcome"] for row in reply.json["rows"]] == ["changed"]


async def test_nobody_decides_without_an_administrators_session_or_on_their_own(
    custody: CustodyBench, operators: Operators
) -> None:
    large = await custody.create("1.5")
    for name, status in (("", 401), ("nobody", 401), ("trader", 403), ("silence", 503)):
        assert (await operators(name, "GET")).status == status
        assert (await operators(name, "POST", f"/{large.withdrawal_id}/approvals", WHY)).status == status
    own = await operators("alice", "POST", f"/{large.withdrawal_id}/approvals", WHY)
    assert (own.status, own.json["message"]) == (400, "nobody may decide on a withdrawal of their own")
    assert (await custody.get(large.withdrawal_id)).status is Status.PENDING_APPROVAL
    assert await custody.pool.fetchval("SELECT count(*) FROM custody_approvals") == 0


@pytest.mark.parametrize(
    ("path", "body", "status"),
    [
        ("/no-such-withdrawal/approvals", WHY, 404),
        ("/no-such-withdrawal/approvals", None, 400),
        ("/no-such-withdrawal/approvals", {"reason": " no "}, 400),
        ("/no-such-withdrawal/approvals", {"reason": "two\nlines"}, 400),
        ("/no.such/approvals", WHY, 400),
        ("/no-such-withdrawal/signatures", {"signer": "warm-1"} | WHY, 404),
        ("/no-such-withdrawal/signatures", {"signer": "Warm 1"} | WHY, 400),
        ("/no-such-withdrawal/signatures", None, 400),
    ],
)
async def test_a_bad_decision_is_refused(operators: Operators, path: str, body: Any, status: int) -> None:
    assert (await operators("olivia", "POST", path, body)).status == status


async def test_users_decide_by_their_roles_and_under_their_own_names(
    custody: CustodyBench, operators: Operators
) -> None:
    large = await custody.create("1.5")
    await custody.advance(operators.progress)
    path = f"/{large.withdrawal_id}/approvals"
    assert (await operators("user:sam", "GET")).status == 200
    refused = await operators("user:sam", "POST", path, WHY)
    assert (refused.status, refused.json["code"]) == (403, "PERMISSION_MISSING")
    assert "withdrawals.approve" in refused.json["message"]
    assert (await operators("user:eve", "GET")).json["code"] == "FORBIDDEN"
    assert (await operators("user:tessa/without code", "POST", path, WHY)).json["code"] == "OPERATOR_MFA_REQUIRED"
    assert (await operators("user:tessa/ended", "POST", path, WHY)).status == 401
    own = await operators("user:alice", "POST", path, WHY)
    assert (own.status, own.json["message"]) == (400, "nobody may decide on a withdrawal of their own")
    assert (await operators("user:tessa", "POST", path, WHY)).json["approvals"] == ["user:tessa"]
    again = await operators("user:tessa", "POST", path, WHY)
    assert again.json["message"] == "user:tessa has approved this withdrawal already"
    assert (await operators("olivia", "POST", path, WHY)).json["approvals"] == ["olivia", "user:tessa"]
    actors = await custody.pool.fetch("SELECT actor FROM custody_audit WHERE decision = 'approved'")
    assert [row["actor"] for row in actors] == ["operator:user:tessa", "operator:olivia"]
