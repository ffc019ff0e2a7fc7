"""What operators decide at custody has one entry each in the trail, whatever is killed in between."""

import asyncio
import json
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import asyncpg
import pytest

from openspot.custody import withdrawal_store as store
from openspot.custody.deciding import Decider
from openspot.http.operators import OperatorRole
from openspot.kit.settings import Settings, as_part
from openspot.rest_edge.operators import custody_trail
from openspot.rest_edge.operators.custody_trail import CustodyTrail, entry_of
from openspot.rest_edge.operators.trail import REASON_LENGTH_MAX
from openspot.rest_edge.operators.trail_command import verify
from openspot.rest_edge.settings import RestEdgeSettings
from tests.support.custody import SEED, CustodyBench, first_break
from tests.support.edge_operators import make_operator
from tests.support.rest_client import RestClient
from tests.support.waiting import eventually

TESSA = Decider("user:Tessa", "the owner confirmed it", "request-1", "192.0.2.7")
COLUMNS = "operator_actions.operator AS operator, action, subject_kind, reason, before, after, request_id, address"


@pytest.fixture
def custody(pool: asyncpg.Pool) -> CustodyBench:
    return CustodyBench(pool)


async def entries(pool: asyncpg.Pool) -> list[Any]:
    query = f"SELECT {COLUMNS} FROM operator_actions LEFT JOIN operator_action_origins USING (entry_number)"
    return await pool.fetch(f"{query} WHERE subject_kind = 'withdrawal' ORDER BY entry_number")


async def reasons(pool: asyncpg.Pool) -> list[str]:
    return [row["reason"] for row in await entries(pool)]


async def approve(custody: CustodyBench, *numbers: int) -> None:
    for number in numbers:
        withdrawal = await custody.create("1.5")
        await custody.withdrawals.approve(withdrawal.withdrawal_id, "tessa", replace(TESSA, reason=f"because {number}"))


def because(*numbers: int) -> list[str]:
    return [f"because {number}" for number in numbers]


async def test_each_decision_says_who_why_from_where_and_what_it_was_before_and_after(custody: CustodyBench) -> None:
    pool = custody.pool
    first, second = await custody.create("1.5"), await custody.create("1.5")
    await custody.withdrawals.approve(first.withdrawal_id, "user:tessa", TESSA)
    await custody.withdrawals.approve(first.withdrawal_id, "peter", Decider("engine:peter", "looks right"))
    await custody.advance()
    await custody.withdrawals.sign(first.withdrawal_id, "warm-2", SEED, TESSA, operator="user:tessa")
    await custody.withdrawals.reject(second.withdrawal_id, "quinn", Decider("shell:root", "no"))
    await CustodyTrail(pool).follow()
    found = [tuple(row.values()) for row in await entries(pool)]
    numbers = [row[0] for row in await pool.fetch(
        "SELECT entry_number FROM custody_audit WHERE operator IS NOT NULL ORDER BY entry_number"
    )]  # fmt: skip

    def after(index: int, **fields: str) -> str:
        return json.dumps(dict(sorted({"custodyEntry": str(numbers[index]), **fields}.items())), separators=(",", ":"))

    assert found == [
        ("user:Tessa", "withdrawal.approved", "withdrawal", "the owner confirmed it", '{"approvals":"0 of 2"}',
         after(0, approvals="1 of 2"), "request-1", "192.0.2.7"),
        ("engine:peter", "withdrawal.approved", "withdrawal", "looks right", '{"approvals":"1 of 2"}',
         after(1, approvals="2 of 2"), f"custody:{numbers[1]}", ""),
        ("user:Tessa", "withdrawal.signed", "withdrawal", "the owner confirmed it", '{"signatures":"0 of 3"}',
         after(2, signatures="1 of 3", signer="warm-2"), "request-1", "192.0.2.7"),
        ("shell:root", "withdrawal.rejected", "withdrawal", "reason: no", '{"status":"pending_approval"}',
         after(3, status="rejected"), f"custody:{numbers[3]}", ""),
    ]  # fmt: skip


async def test_several_edges_and_a_kill_in_the_middle_lose_nothing_and_double_nothing(
    custody: CustodyBench, settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pool = custody.pool
    one, two = CustodyTrail(pool), CustodyTrail(pool)
    await approve(custody, 1, 2)
    written = custody_trail.record_action

    async def killed(*args: Any) -> int:
        number = await written(*args)
        if number == 2:
            raise asyncpg.InterfaceError("killed before the commit")
        return number

    monkeypatch.setattr(custody_trail, "record_action", killed)
    with pytest.raises(asyncpg.InterfaceError):
        await one.follow()
    assert await reasons(pool) == []
    monkeypatch.undo()
    await asyncio.gather(one.follow(), two.follow())
    assert await reasons(pool) == because(1, 2)
    # Several pages, while custody goes on.
    monkeypatch.setattr(custody_trail, "PAGE", 2)
    await asyncio.gather(approve(custody, 3, 4, 5), two.follow(), one.follow(), two.follow())
    await asyncio.gather(one.follow(), two.follow())
    assert await reasons(pool) == because(1, 2, 3, 4, 5)
    verified = await verify(as_part(settings.model_copy(update={"data_dir": tmp_path}), RestEdgeSettings))
    assert verified.entries == 5
    async with store.transaction(pool) as connection:
        assert first_break([entry async for entry in store.audit_entries(connection)]) is None


async def test_custody_forgets_an_address_that_the_trail_has_or_that_nobody_takes_for_long(
    custody: CustodyBench,
) -> None:
    pool = custody.pool

    async def kept() -> int:
        return int(await pool.fetchval("SELECT count(*) FROM custody_audit_origins"))

    await approve(custody, 1)
    await store.forget_origins(pool, custody.time.now() - timedelta(seconds=1))
    assert await kept() == 1
    await CustodyTrail(pool).follow()
    await approve(custody, 2)
    await store.forget_origins(pool, custody.time.now() - timedelta(seconds=1))
    assert await kept() == 1
    await store.forget_origins(pool, custody.time.now() + timedelta(seconds=1))
    assert await kept() == 0
    await CustodyTrail(pool).follow()
    assert [row["address"] for row in await entries(pool)] == ["192.0.2.7", ""]


async def test_whoever_reads_the_trail_finds_and_exports_a_decision(custody: CustodyBench, edge: RestClient) -> None:
    pool = custody.pool
    await approve(custody, 1)
    (withdrawal_id,) = await pool.fetchrow("SELECT withdrawal_id FROM custody_withdrawals")
    await make_operator(edge, pool, "eve@example.org", OperatorRole.AUDITOR)
    path = f"action=withdrawal.approved&subjectId={withdrawal_id}&operator=user:Tessa"

    async def entry() -> Any:
        found = (await edge("GET", f"/operator/trail?{path}")).body
        return found[0] if found else None

    found = await eventually(entry)
    assert (found["subjectKind"], found["reason"], found["address"]) == ("withdrawal", "because 1", "192.0.2.7")
    assert "because 1" in (await edge("GET", f"/operator/trail/export?{path}&reason=audit")).body
    await make_operator(edge, pool, "sam@example.org", OperatorRole.SUPPORT)
    assert (await edge("GET", f"/operator/trail?{path}")).status == 403


@pytest.mark.parametrize("fields", [{"operator": "nobody"}, {"before": "{"}, {"reason": "x" * 501}])
def test_a_decision_that_the_trail_cannot_take_gets_an_entry_that_says_so(fields: dict[str, Any]) -> None:
    decision = {
        "entry_number": 7, "operator": "user:ada", "decision": "approved", "withdrawal_id": "w1",
        "reason": "as decided", "before": "{}", "after": "{}", "request_id": "", "at_ms": 1, "address": "192.0.2.7",
    }  # fmt: skip
    taken = entry_of(decision)
    assert taken.action == "withdrawal.approved"
    # It was made long ago.
    assert taken.after == {"custodyEntry": "7", "doneAt": "1970-01-01T00:00:00.001Z"}
    entry = entry_of(decision | fields)
    assert (entry.operator, entry.action, entry.subject_id) == ("service", "withdrawal.unreadable", "custody:7")
    assert len(entry.reason) <= REASON_LENGTH_MAX
