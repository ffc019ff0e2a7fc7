"""Every durable consumer meets bytes that are no event, and events that no service may believe.

After each: it is counted and never comes again, nothing changed anywhere, and the next good event is handled.
"""

import itertools
from dataclasses import dataclass
from typing import Any

import msgspec
import pytest
import pytest_asyncio

from openspot.contracts import subjects
from openspot.kit.bus import encode
from openspot.ledger.metrics import TRADES, TRANSFERS_POSTED
from openspot.router.custody import bridge as custody_bridge
from openspot.router.metrics import CUSTODY_EVENTS
from tests.integration.hostile.payloads import (
    HOSTILE_AMOUNTS,
    HOSTILE_ASSETS,
    HOSTILE_IDS,
    HOSTILE_REFERENCES,
    LONG,
    MESSAGE_BYTES_MAX,
    RAW_NUMBERS,
    UNREADABLE,
    WRONG_FOR_NUMBER,
    WRONG_FOR_TEXT,
    Path,
    padded,
    paths,
    value_at,
    with_raw,
    with_value,
    without,
)
from tests.integration.hostile.target import DURABLES, Target, malformed
from tests.support.custody import BITCOIN_ADDRESS, NO_LIMIT_CENTS
from tests.support.ledger import trade
from tests.support.router_client import Published, listening
from tests.support.waiting import eventually

pytestmark = pytest.mark.asyncio(loop_scope="module")

_serial = itertools.count(1)
WRONG_FOR_BOOLEAN = (0, 1, "true", "", [], {})
IDS = (*HOSTILE_IDS, "house:external")
REFERENCES = (*HOSTILE_REFERENCES, "x" * 129, "0xab:contra", "0xab:buyer-quote")
ASSETS = (*HOSTILE_ASSETS, "DOGE")
AMOUNTS = (*HOSTILE_AMOUNTS, "0", "-1", "-0", "0.001")
TRADE: dict[str, Any] = msgspec.json.decode(encode(trade(1)))
TRANSFER: dict[str, Any] = {
    "id": "t-1",
    "kind": "payment",
    "movements": [{"fromId": "ann", "toId": "house:payments", "asset": "USD", "amount": "1.5"}],
    "sequence": 7,
    "timestamp": 1_700_000_000_000,
}


@dataclass(frozen=True)
class Event:
    """An event that a service consumes: a good one, which changes nothing the second time, and what it counts as.

    `kind` is its name among custody's events, "transfer" for a transfer, empty for a trade.
    """

    good: dict[str, Any]
    kind: str = ""

    def handled(self, outcome: str) -> float:
        """How many good events were handled, or (outcome "failed") how many were given up."""
        if self.kind == "transfer":
            outcome = "already_posted" if outcome == "done" else "rejected"
            return float(TRANSFERS_POSTED.labels(outcome)._value.get())
        if self.kind:
            return float(CUSTODY_EVENTS.labels(self.kind, outcome)._value.get())
        return float(TRADES.labels("already_settled" if outcome == "done" else "rejected")._value.get())


def withdrawal(withdrawal_id: str) -> dict[str, Any]:
    return {"withdrawalId": withdrawal_id, "userId": "alice", "asset": "USD", "amount": "1.5"}


EVENTS = {
    subjects.CUSTODY_DEPOSIT_CONFIRMED: Event(
        {"txHash": "first-alice-USD", "userId": "alice", "asset": "USD", "amount": "100000"}, "deposit"
    ),
    subjects.CUSTODY_WITHDRAWAL_REQUESTED: Event(withdrawal("held"), "reserve"),
    subjects.CUSTODY_WITHDRAWAL_COMPLETED: Event(withdrawal("sent"), "complete"),
    subjects.CUSTODY_WITHDRAWAL_FAILED: Event(withdrawal("given-up"), "release"),
    subjects.TRADES_EXECUTED: Event(TRADE),
    subjects.TRANSFERS_EXECUTED: Event(TRANSFER, "transfer"),
}
EVERY_EVENT = pytest.mark.parametrize("subject", EVENTS)


@pytest_asyncio.fixture(scope="module", loop_scope="module", autouse=True)
async def begun(attacked: Target) -> None:
    """What the good events repeat was done once."""
    for name in ("held", "sent", "given-up"):
        await attacked.publish(subjects.CUSTODY_WITHDRAWAL_REQUESTED, withdrawal(name))
    await attacked.at_rest()
    await attacked.publish(subjects.CUSTODY_WITHDRAWAL_COMPLETED, withdrawal("sent"))
    await attacked.publish(subjects.CUSTODY_WITHDRAWAL_FAILED, withdrawal("given-up"))
    await attacked.publish(subjects.TRADES_EXECUTED, TRADE)
    await attacked.publish(subjects.TRANSFERS_EXECUTED, TRANSFER)
    await attacked.at_rest()


async def assert_handles(attacked: Target, subject: str) -> None:
    event = EVENTS[subject]
    handled = event.handled("done")
    await attacked.publish(subject, event.good)
    await eventually(lambda: event.handled("done") == handled + 1)
    await eventually(lambda: attacked.has_taken_all(subject))


async def test_every_durable_consumer_is_attacked_here(attacked: Target) -> None:
    consumed = {name for name in attacked.handlers if name.startswith("consume ")}
    # Custody's own consumers have the tests at the end of this file.
    attacked_here = set(EVENTS) | {subjects.CUSTODY_WITHDRAWAL_RESERVED}
    assert consumed == {f"consume {subject}" for subject in attacked_here}
    assert set(DURABLES) == attacked_here


@EVERY_EVENT
@pytest.mark.parametrize("name", UNREADABLE)
async def test_bytes_that_are_no_event_are_counted_and_never_come_again(
    attacked: Target, subject: str, name: str
) -> None:
    before, counted = await attacked.state(), malformed(subject)
    await attacked.publish(subject, UNREADABLE[name])
    await eventually(lambda: malformed(subject) > counted)
    await eventually(lambda: attacked.has_taken_all(subject))
    await assert_handles(attacked, subject)
    assert await attacked.state() == before


@EVERY_EVENT
async def test_an_event_with_a_field_missing_or_of_another_type_is_dropped(attacked: Target, subject: str) -> None:
    good, before, counted = EVENTS[subject].good, await attacked.state(), malformed(subject)
    messages: list[Any] = []
    for path in paths(good):
        value = value_at(good, path)
        is_text, is_boolean = isinstance(value, str), isinstance(value, bool)
        wrong = WRONG_FOR_TEXT if is_text else WRONG_FOR_BOOLEAN if is_boolean else WRONG_FOR_NUMBER
        if isinstance(value, dict):
            wrong = ("", 1, [])
        if isinstance(value, list):
            wrong = ("", 1, {}, [1], ["alice"])
        messages += [without(good, path), with_value(good, path, None)]
        messages += [with_value(good, path, value) for value in wrong]
        messages += [with_raw(good, path, text) for text in RAW_NUMBERS]
    for message in messages:
        await attacked.publish(subject, message)
    await eventually(lambda: attacked.has_taken_all(subject), 20)
    # The router reads trades as well, for their prices, and less of them: it counts some of these a second time.
    assert malformed(subject) >= counted + len(messages)
    await assert_handles(attacked, subject)
    assert await attacked.state() == before


@EVERY_EVENT
async def test_an_event_is_read_up_to_the_bound_of_a_message(attacked: Target, subject: str) -> None:
    event, before = EVENTS[subject], await attacked.state()
    handled = event.handled("done")
    await attacked.publish(subject, padded(event.good, MESSAGE_BYTES_MAX))
    await eventually(lambda: event.handled("done") == handled + 1)
    assert await attacked.state() == before


UNSOUND: list[tuple[str, Path, tuple[str, ...]]] = [
    (subjects.CUSTODY_DEPOSIT_CONFIRMED, ("txHash",), REFERENCES),
    (subjects.CUSTODY_DEPOSIT_CONFIRMED, ("userId",), IDS),
    (subjects.CUSTODY_DEPOSIT_CONFIRMED, ("asset",), ASSETS),
    (subjects.CUSTODY_DEPOSIT_CONFIRMED, ("amount",), AMOUNTS),
    (subjects.CUSTODY_WITHDRAWAL_REQUESTED, ("withdrawalId",), REFERENCES),
    (subjects.CUSTODY_WITHDRAWAL_COMPLETED, ("withdrawalId",), REFERENCES),
    (subjects.CUSTODY_WITHDRAWAL_COMPLETED, ("userId",), IDS),
    (subjects.CUSTODY_WITHDRAWAL_COMPLETED, ("asset",), ASSETS),
    (subjects.CUSTODY_WITHDRAWAL_COMPLETED, ("amount",), AMOUNTS),
    (subjects.CUSTODY_WITHDRAWAL_FAILED, ("withdrawalId",), REFERENCES),
    (subjects.TRANSFERS_EXECUTED, ("id",), (*HOSTILE_REFERENCES, "x" * 129)),
    (subjects.TRANSFERS_EXECUTED, ("kind",), ("", "Gift", "a b", "x" * 33, LONG)),
]


@pytest.mark.parametrize(("subject", "path", "values"), UNSOUND)
async def test_an_event_with_a_hostile_value_is_given_up_before_anything_is_done(
    attacked: Target, subject: str, path: Path, values: tuple[str, ...]
) -> None:
    event, before = EVENTS[subject], await attacked.state()
    failed = event.handled("failed")
    for value in values:
        await attacked.publish(subject, with_value(event.good, path, value))
    await eventually(lambda: event.handled("failed") == failed + len(values), 20)
    await eventually(lambda: attacked.has_taken_all(subject))
    await assert_handles(attacked, subject)
    assert await attacked.state() == before


def refusals_in(heard: Published) -> list[bytes]:
    return [data for name, data, _ in heard.messages if name == subjects.CUSTODY_WITHDRAWAL_FAILED]


@pytest.mark.parametrize(("field", "values"), [("userId", IDS), ("asset", ASSETS), ("amount", AMOUNTS)])
async def test_a_hostile_withdrawal_is_refused_to_its_sender_in_a_short_answer(
    attacked: Target, field: str, values: tuple[str, ...]
) -> None:
    subject, before = subjects.CUSTODY_WITHDRAWAL_REQUESTED, await attacked.state()
    wanted = {f"{field}-{number}": value for number, value in enumerate(values)}
    async with listening(attacked.settings.nats_url, "custody.withdrawal.>") as heard:
        for withdrawal_id, value in wanted.items():
            await attacked.publish(subject, withdrawal(withdrawal_id) | {field: value})
        await eventually(lambda: attacked.has_taken_all(subject), 20)
        await eventually(lambda: len(refusals_in(heard)) >= len(wanted))
        await eventually(lambda: attacked.has_taken_all(subjects.CUSTODY_WITHDRAWAL_FAILED), 20)
    refusals = refusals_in(heard)
    assert max(len(data) for data in refusals) < 2000
    assert not heard.of(subjects.CUSTODY_WITHDRAWAL_RESERVED, dict)
    answers = {answer["withdrawalId"]: answer for answer in map(msgspec.json.decode, refusals)}
    assert set(answers) == set(wanted)
    for withdrawal_id, answer in answers.items():
        assert answer["refused"] is True
        assert answer[field] == wanted[withdrawal_id][:128]
        assert answer["reason"].startswith("Unknown currency" if field == "asset" else field)
    await assert_handles(attacked, subject)
    assert await attacked.state() == before


async def test_an_outcome_of_a_withdrawal_that_nobody_requested_is_given_up_in_the_end(
    attacked: Target, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(custody_bridge, "RESERVATION_WAIT_S_MAX", 0.0)
    before = await attacked.state()
    for subject in (subjects.CUSTODY_WITHDRAWAL_COMPLETED, subjects.CUSTODY_WITHDRAWAL_FAILED):
        failed = EVENTS[subject].handled("failed")
        await attacked.publish(subject, withdrawal("nobodys"))
        await eventually(lambda subject=subject, failed=failed: EVENTS[subject].handled("failed") == failed + 1)
        await eventually(lambda subject=subject: attacked.has_taken_all(subject))
    before["engine"] = (await attacked.state())["engine"]
    assert await attacked.state() == before


async def test_an_event_about_a_field_beyond_any_length_is_not_repeated_in_the_log(
    attacked: Target, capsys: pytest.CaptureFixture[str]
) -> None:
    subject = subjects.CUSTODY_DEPOSIT_CONFIRMED
    failed = EVENTS[subject].handled("failed")
    await attacked.publish(subject, EVENTS[subject].good | {"userId": LONG})
    await eventually(lambda: EVENTS[subject].handled("failed") == failed + 1)
    assert max(len(line) for line in capsys.readouterr().out.splitlines()) < 2000


OUTCOMES_AT_CUSTODY = pytest.mark.parametrize(
    ("subject", "refused"),
    [(subjects.CUSTODY_WITHDRAWAL_RESERVED, False), (subjects.CUSTODY_WITHDRAWAL_FAILED, True)],
)


async def assert_custody_hears_outcomes(attacked: Target) -> None:
    """A new withdrawal gets its funds, and one beyond the balance is refused."""
    number = next(_serial)
    wanted = {
        "withdrawalId": f"good-{number}",
        "userId": "alice",
        "asset": "BTC",
        "network": "bitcoin",
        # Worth more than custody approves by itself: it waits for people.
        "amount": "0.02",
        "fee": "0.0001",
        "address": BITCOIN_ADDRESS,
        "tag": None,
        "userLimitCents": NO_LIMIT_CENTS,
    }
    poor = wanted | {"withdrawalId": f"poor-{number}", "userId": "penniless"}
    # A busy machine may reply before the engine has decided. The row shows the decision, however late it comes.
    for request, funds in ((wanted, "reserved"), (poor, "refused")):
        reply = await attacked.ask(subjects.CUSTODY_WITHDRAWALS_CREATE, request)
        assert reply["code"] in (None, "INSUFFICIENT_BALANCE"), reply
        await eventually(lambda request=request, funds=funds: has_funds(attacked, request["withdrawalId"], funds))


async def has_funds(attacked: Target, withdrawal_id: str, funds: str) -> bool:
    """Whether the funds of a withdrawal are in that state."""
    found = await attacked.pool.fetchval(
        "SELECT funds FROM custody_withdrawals WHERE withdrawal_id = $1", withdrawal_id
    )
    return bool(found == funds)


@OUTCOMES_AT_CUSTODY
async def test_custody_drops_what_is_no_outcome_and_hears_the_next_one(
    attacked: Target, subject: str, refused: bool
) -> None:
    before, counted = await attacked.state(), malformed(subject)
    for message in UNREADABLE.values():
        await attacked.publish(subject, message)
    for withdrawal_id in REFERENCES:
        await attacked.publish(subject, withdrawal(withdrawal_id) | {"refused": refused})
    await eventually(lambda: attacked.has_taken_all(subject), 20)
    assert malformed(subject) >= counted + len(UNREADABLE)
    assert await attacked.state() == before
    await assert_custody_hears_outcomes(attacked)


async def test_every_service_is_as_ready_as_before(attacked: Target) -> None:
    await attacked.are_ready()
