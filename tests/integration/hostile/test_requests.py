"""Every request of the bus meets bytes that are no message, and messages that no service may believe.

After each: an error that names the field, nothing changed anywhere, and the next good request is answered.
"""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import pytest
import pytest_asyncio

from tests.integration.hostile.payloads import (
    HOSTILE_AMOUNTS,
    HOSTILE_ASSETS,
    HOSTILE_IDS,
    HOSTILE_REFERENCES,
    LONG,
    MESSAGE_BYTES_MAX,
    RAW_NUMBERS,
    SQL,
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
from tests.integration.hostile.target import Target, malformed
from tests.support.custody import BITCOIN_ADDRESS, NO_LIMIT_CENTS
from tests.support.waiting import eventually, stretched

pytestmark = pytest.mark.asyncio(loop_scope="module")

KINDS = ("", " ", "a b", "a/b", "é", "x" * 65, "a\x00b", SQL, LONG)
CONTROLS = ("a\x00b", "a\nb", "\x1b[2J", "\u202e", "x" * 129, LONG)
NOT_POSITIVE = ("0", "-1", "-0", "0.0")
OUT_OF_RANGE = (0, -1, 1001, 2**63, 10**30, -(10**30))


@dataclass(frozen=True)
class Request:
    """A request that a service answers: a good one that changes nothing, and what it refuses, by field.

    `optional` are the fields that may be missing, `nullable` those that may be null.
    """

    good: dict[str, Any]
    is_good: Callable[[dict[str, Any]], bool]
    unsound: dict[Path, tuple[Any, ...]]
    optional: frozenset[str] = field(default=frozenset())
    nullable: frozenset[str] = field(default=frozenset())


def succeeded(answer: dict[str, Any]) -> bool:
    return answer["success"] is True


def posting(transaction_id: str) -> dict[str, Any]:
    return {
        "transactionId": transaction_id,
        "userId": "carol",
        "asset": "USD",
        "amount": "10",
        "entryType": "deposit",
        "referenceType": "custody",
        "referenceId": transaction_id,
    }


LOCK = {"userId": "carol", "asset": "USD", "amount": "3", "referenceId": "held"}
ORDER = {
    "orderId": "resting",
    "symbol": "BTC-USD",
    "side": "buy",
    "type": "limit",
    "quantity": "1",
    "price": "100",
    "quoteQuantity": None,
    "stopPrice": None,
    "timeInForce": "gtc",
    "marginMode": None,
    "maxSlippageBps": "5.5",
    "clientOrderId": "mine",
    "triggerBy": None,
    "trailingAmount": None,
    "expiresAt": None,
    "selfTradePrevention": None,
}
POSTING = {
    ("transactionId",): (*HOSTILE_REFERENCES, "t:contra", "t:buyer-quote", "t:house-seller-fee"),
    ("userId",): (*HOSTILE_IDS, "house:external"),
    ("asset",): HOSTILE_ASSETS,
    ("amount",): (*HOSTILE_AMOUNTS, *NOT_POSITIVE),
    ("entryType",): KINDS,
    ("referenceType",): KINDS,
    ("referenceId",): HOSTILE_REFERENCES,
}
MOVEMENT = {
    ("userId",): HOSTILE_IDS,
    ("asset",): HOSTILE_ASSETS,
    ("amount",): (*HOSTILE_AMOUNTS, *NOT_POSITIVE),
    ("referenceId",): HOSTILE_REFERENCES,
}
HOSTILE_SLIPPAGES = ("-1", "-1e-9", "-1e308", "1e308", "1e-300", "1e20", "10000.1")
NUMBERS = frozenset({"limit", "userLimitCents"})
CUSTODY_ASSETS = (*HOSTILE_ASSETS, "DOGE")
NETWORKS = ("", " ", "nowhere", "Bitcoin", "bitcoin ", "bitcoin\x00", "*", SQL, LONG)
ADDRESSES = ("", " ", "nothing", "a\x00b", "é", BITCOIN_ADDRESS[:-1], BITCOIN_ADDRESS + " ", "x" * 129, SQL, LONG)
TAGS = ("", " ", "a b", "a\x00b", "é", "x" * 29, LONG)
WITHDRAWAL_IDS = ("", " ", "a b", "a:b", "a.b", "a\x00b", "é", "x" * 65, SQL, LONG)
STELLAR_ADDRESS = "GDLVVGABQKYQVN6VJP7NHSLEA45A5YLS6PNKMIZFV4BBU2HXA5IRVHUR"
WITHDRAWAL: dict[str, Any] = {
    "withdrawalId": "wd-1",
    "userId": "alice",
    "asset": "BTC",
    "network": "bitcoin",
    # Worth more than custody approves by itself: it waits for people.
    "amount": "0.05",
    "fee": "0.0001",
    "address": BITCOIN_ADDRESS,
    "tag": None,
    "userLimitCents": NO_LIMIT_CENTS,
    "clientWithdrawalId": "mine-1",
}

REQUESTS = {
    "orders.submit": Request(
        {"userId": "alice", "order": ORDER},
        lambda answer: answer["error"] == "orderId resting was used before",
        {
            ("userId",): HOSTILE_IDS,
            ("order", "orderId"): HOSTILE_IDS,
            ("order", "symbol"): ("", " ", "BTC USD", "BTC-USD\n", "*", ">", "BTC\x00", "ВТС-USD", "x" * 33, SQL, LONG),
            ("order", "side"): ("", "BUY ", "long", "b\x00uy", "1", SQL, LONG),
            ("order", "type"): ("", "limit ", "post_only", "fok", "LIMIT\x00", SQL, LONG),
            ("order", "timeInForce"): ("", "gtx", "gtc ", "post_only", "\x00", SQL, LONG),
            ("order", "quantity"): HOSTILE_AMOUNTS,
            ("order", "price"): HOSTILE_AMOUNTS,
            ("order", "quoteQuantity"): HOSTILE_AMOUNTS,
            ("order", "stopPrice"): HOSTILE_AMOUNTS,
            ("order", "maxSlippageBps"): (*HOSTILE_AMOUNTS, *HOSTILE_SLIPPAGES),
            ("order", "marginMode"): (*CONTROLS, "x" * 33),
            ("order", "clientOrderId"): CONTROLS,
            ("order", "triggerBy"): ("", "index", "last ", "\x00", SQL, LONG),
            ("order", "trailingAmount"): HOSTILE_AMOUNTS,
            ("order", "expiresAt"): (
                "",
                "soon",
                "2090-01-01",
                "1969-12-31T23:59:59Z",
                "2500-01-01T00:00:00Z",
                SQL,
                LONG,
            ),
            ("order", "selfTradePrevention"): ("", "maybe", "none ", "\x00", SQL, LONG),
        },
        frozenset(ORDER) - {"orderId", "symbol", "side", "type"},
        frozenset(ORDER) - {"orderId", "symbol", "side", "type", "timeInForce"},
    ),
    "orders.cancel": Request(
        {"userId": "alice", "orderId": "nobodys", "symbol": "BTC-USD"},
        lambda answer: answer["code"] == "NOT_FOUND",
        {
            ("userId",): HOSTILE_IDS,
            ("orderId",): HOSTILE_IDS,
            ("symbol",): (" ", "BTC USD", "*", ">", "BTC\x00", "x" * 33, SQL, LONG),
        },
        frozenset({"symbol"}),
    ),
    "orders.cancel_open": Request(
        {"userId": "carol", "symbol": "BTC-USD", "side": "buy"},
        lambda answer: answer["success"] is True and answer["cancelled"] == [],
        {
            ("userId",): HOSTILE_IDS,
            ("symbol",): (" ", "BTC USD", "*", ">", "BTC\x00", "x" * 33, SQL, LONG),
            ("side",): (" ", "BUY", "both", "buy\x00", SQL, LONG),
        },
        frozenset({"symbol", "side"}),
    ),
    "orders.amend": Request(
        {"userId": "alice", "orders": [{"orderId": "nobodys", "price": "100", "quantity": "1"}]},
        lambda answer: answer["outcomes"][0]["code"] == "NOT_FOUND",
        {("userId",): HOSTILE_IDS},
    ),
    "orders.replace": Request(
        {"userId": "alice", "orderId": "nobodys", "order": ORDER},
        lambda answer: answer["cancelled"]["code"] == "NOT_FOUND" and answer["placed"] is None,
        {("userId",): HOSTILE_IDS, ("orderId",): HOSTILE_IDS},
        frozenset(ORDER) - {"orderId", "symbol", "side", "type"},
        frozenset(ORDER) - {"orderId", "symbol", "side", "type", "timeInForce"},
    ),
    "orders.submit_list": Request(
        {"userId": "alice", "listId": "nobodys", "type": "oco", "orders": [ORDER], "clientListId": "mine"},
        lambda answer: answer["error"].startswith("orders must have 2 entries for a list of type oco"),
        {
            ("userId",): HOSTILE_IDS,
            ("listId",): HOSTILE_IDS,
            ("type",): ("", " ", "triangle", "oco ", "oco\x00", SQL, LONG),
            ("clientListId",): CONTROLS,
        },
        frozenset({"clientListId"}),
        frozenset({"clientListId"}),
    ),
    "orders.cancel_list": Request(
        {"userId": "alice", "listId": "nobodys"},
        lambda answer: answer["code"] == "NOT_FOUND",
        {("userId",): HOSTILE_IDS, ("listId",): HOSTILE_IDS},
    ),
    "orders.get": Request(
        {"userId": "alice", "orderId": "resting"},
        lambda answer: answer["order"]["orderId"] == "resting",
        {("userId",): HOSTILE_IDS, ("orderId",): HOSTILE_IDS},
    ),
    "orders.get_triggers": Request(
        {"userId": "alice", "orderIds": ["resting", "nobodys"]},
        lambda answer: answer["triggers"] == [],
        {("userId",): HOSTILE_IDS},
    ),
    "ledger.balances.get": Request(
        {"userId": "alice", "asset": "USD"},
        lambda answer: len(answer["balances"]) == 1,
        {("userId",): HOSTILE_IDS, ("asset",): HOSTILE_ASSETS},
        frozenset({"asset"}),
        frozenset({"asset"}),
    ),
    "ledger.credit": Request(posting("credited"), succeeded, POSTING),
    "ledger.debit": Request(posting("debited"), succeeded, POSTING),
    "ledger.lock": Request(LOCK, succeeded, MOVEMENT),
    "ledger.unlock": Request(LOCK, succeeded, MOVEMENT),
    "ledger.history.get": Request(
        {"userId": "alice", "asset": "USD", "limit": 10, "cursor": "999", "entryType": "deposit"},
        lambda answer: len(answer["entries"]) == 1,
        {
            ("userId",): HOSTILE_IDS,
            ("asset",): HOSTILE_ASSETS,
            ("entryType",): KINDS,
            ("limit",): OUT_OF_RANGE,
            ("cursor",): ("", " ", "-1", "1.5", "abc", "9" * 19, "١", "1\n", SQL, LONG),
        },
        frozenset({"asset", "limit", "cursor", "entryType"}),
        frozenset({"asset", "cursor", "entryType"}),
    ),
    "custody.user.addresses.assign": Request(
        {"userId": "alice", "asset": "BTC", "network": "bitcoin"},
        lambda answer: answer["address"]["userId"] == "alice",
        {("userId",): HOSTILE_IDS, ("asset",): CUSTODY_ASSETS, ("network",): NETWORKS},
    ),
    "custody.user.addresses.get": Request(
        {"userId": "alice", "asset": "BTC"},
        lambda answer: len(answer["addresses"]) == 1,
        {("userId",): HOSTILE_IDS, ("asset",): CUSTODY_ASSETS},
        frozenset({"asset"}),
        frozenset({"asset"}),
    ),
    "custody.address.get": Request(
        {"asset": "USDC", "network": "stellar", "address": STELLAR_ADDRESS, "tag": "7"},
        lambda answer: answer["address"] == STELLAR_ADDRESS,
        {("asset",): CUSTODY_ASSETS, ("network",): NETWORKS, ("address",): ADDRESSES, ("tag",): TAGS},
        frozenset({"tag"}),
        frozenset({"tag"}),
    ),
    "custody.withdrawals.create": Request(
        WITHDRAWAL,
        lambda answer: answer["withdrawal"]["id"] == "wd-1",
        {
            ("withdrawalId",): (*WITHDRAWAL_IDS, "wd-1:contra"),
            ("userId",): HOSTILE_IDS,
            ("asset",): CUSTODY_ASSETS,
            ("network",): NETWORKS,
            ("amount",): (*HOSTILE_AMOUNTS, *NOT_POSITIVE, "0.0001", "0.000000001"),
            ("fee",): (*HOSTILE_AMOUNTS, "-1"),
            ("address",): (*ADDRESSES, BITCOIN_ADDRESS.upper()),
            ("tag",): TAGS,
            ("userLimitCents",): (-1, 2**62 + 1, 10**30, -(10**30)),
            ("clientWithdrawalId",): WITHDRAWAL_IDS,
        },
        frozenset({"clientWithdrawalId"}),
        frozenset({"tag", "clientWithdrawalId"}),
    ),
    "custody.withdrawals.cancel": Request(
        {"withdrawalId": "wd-2", "userId": "alice"},
        lambda answer: answer["withdrawal"]["status"] == "cancelled",
        {("withdrawalId",): WITHDRAWAL_IDS, ("userId",): HOSTILE_IDS},
    ),
    "custody.reserves.get": Request({}, lambda answer: answer["error"] is None, {}),
}
OBJECTS = ("an empty object", "invalid UTF-8", "an encoded surrogate")
"""The unreadable messages that are JSON objects, whatever stands in their texts."""
EVERY_REQUEST = pytest.mark.parametrize("subject", REQUESTS)


@pytest_asyncio.fixture(scope="module", loop_scope="module", autouse=True)
async def begun(attacked: Target) -> None:
    """What the good requests repeat was done once."""
    await attacked.ask("orders.submit", {"userId": "alice", "order": ORDER})
    for subject, transaction_id, amount in (
        ("ledger.credit", "credited", "10"),
        ("ledger.credit", "more", "90"),
        ("ledger.debit", "debited", "10"),
    ):
        assert succeeded(await attacked.ask(subject, posting(transaction_id) | {"amount": amount}))
    for subject in ("ledger.lock", "ledger.unlock"):
        assert succeeded(await attacked.ask(subject, LOCK))
    await attacked.ask("custody.user.addresses.assign", {"userId": "alice", "asset": "BTC", "network": "bitcoin"})
    for changes in ({}, {"withdrawalId": "wd-2", "clientWithdrawalId": "mine-2"}):
        created = await attacked.ask("custody.withdrawals.create", WITHDRAWAL | changes)
        assert created["error"] is None, created
    await attacked.ask("custody.withdrawals.cancel", {"withdrawalId": "wd-2", "userId": "alice"})
    await attacked.custody_is_at_rest()
    await attacked.at_rest()


async def assert_answers(attacked: Target, subject: str) -> None:
    request = REQUESTS[subject]
    answer = await attacked.ask(subject, request.good)
    assert request.is_good(answer), answer


async def test_every_request_of_the_services_is_attacked_here(attacked: Target) -> None:
    assert {name for name in attacked.handlers if name.startswith("serve ")} == {f"serve {name}" for name in REQUESTS}


@EVERY_REQUEST
@pytest.mark.parametrize("name", UNREADABLE)
async def test_bytes_that_are_no_request_are_refused_and_counted(attacked: Target, subject: str, name: str) -> None:
    before, counted = await attacked.state(), malformed(subject)
    answer = await attacked.ask(subject, UNREADABLE[name])
    if not REQUESTS[subject].good and name in OBJECTS:
        assert REQUESTS[subject].is_good(answer), "a request without fields is an object, of which nothing is read"
        assert await attacked.state() == before
        return
    assert answer["error"].startswith("malformed request: ")
    assert answer.get("success", False) is False
    assert malformed(subject) == counted + 1
    assert await attacked.state() == before
    await assert_answers(attacked, subject)


@EVERY_REQUEST
async def test_a_missing_field_is_named(attacked: Target, subject: str) -> None:
    request, before = REQUESTS[subject], await attacked.state()
    for path in paths(request.good):
        answer = await attacked.ask(subject, without(request.good, path))
        if path[-1] in request.optional:
            # It is read as if it were not given, and may be missed later on, but not as a malformed message.
            assert "malformed" not in (answer["error"] or ""), (path, answer)
        else:
            assert f"`{path[-1]}`" in answer["error"], (path, answer)
    assert await attacked.state() == before
    await assert_answers(attacked, subject)


@EVERY_REQUEST
async def test_a_field_of_another_type_is_named_and_counted(attacked: Target, subject: str) -> None:
    request, before = REQUESTS[subject], await attacked.state()
    for path in paths(request.good):
        is_number, is_object = path[-1] in NUMBERS, isinstance(value_at(request.good, path), dict)
        wrong = WRONG_FOR_NUMBER if is_number else () if is_object else WRONG_FOR_TEXT
        if isinstance(value_at(request.good, path), list):
            wrong = tuple(value for value in wrong if not isinstance(value, list))
        messages: list[Any] = [with_value(request.good, path, value) for value in wrong]
        messages += [with_raw(request.good, path, text) for text in RAW_NUMBERS]
        if path[-1] not in request.nullable:
            messages.append(with_value(request.good, path, None))
        for message in messages:
            counted = malformed(subject)
            answer = await attacked.ask(subject, message)
            assert answer["error"].startswith("malformed request: "), (path, message, answer)
            if "JSON is malformed" not in answer["error"]:
                assert f"$.{'.'.join(path)}`" in answer["error"], (message, answer)
            assert malformed(subject) == counted + 1
    assert await attacked.state() == before
    await assert_answers(attacked, subject)


@pytest.mark.parametrize(
    ("subject", "path"), [(subject, path) for subject, request in REQUESTS.items() for path in request.unsound]
)
async def test_a_hostile_value_is_refused_by_the_name_of_its_field(attacked: Target, subject: str, path: Path) -> None:
    request, before = REQUESTS[subject], await attacked.state()
    for value in request.unsound[path]:
        answer = await attacked.ask(subject, with_value(request.good, path, value))
        assert path[-1] in answer["error"], (str(value)[:80], str(answer)[:300])
        assert len(answer["error"]) < 500, "an answer does not repeat what it was sent"
        assert answer.get("success", False) is False
        assert not answer.get("order")
    assert await attacked.state() == before
    await assert_answers(attacked, subject)


@EVERY_REQUEST
async def test_a_request_is_read_up_to_the_bound_of_a_message(attacked: Target, subject: str) -> None:
    request = REQUESTS[subject]
    answer = await attacked.ask(subject, padded(request.good, MESSAGE_BYTES_MAX))
    assert request.is_good(answer), answer


@EVERY_REQUEST
async def test_beyond_that_bound_the_server_ends_the_senders_connection_only(attacked: Target, subject: str) -> None:
    server = attacked.settings.nats_url.removeprefix("nats://")
    host, _, port = server.partition(":")
    reader, writer = await asyncio.open_connection(host, int(port))
    assert (await reader.readline()).startswith(b"INFO ")
    size = MESSAGE_BYTES_MAX + 1
    # The server does not read what is too long: it hangs up at once.
    writer.write(b'CONNECT {"verbose":false}\r\n' + f"PUB {subject} {size}\r\n".encode())
    async with asyncio.timeout(stretched(10)):
        assert b"Maximum Payload Violation" in await reader.read()
    writer.close()
    await assert_answers(attacked, subject)


@EVERY_REQUEST
async def test_an_answer_that_nobody_awaits_or_that_comes_back_changes_nothing(attacked: Target, subject: str) -> None:
    before, counted = await attacked.state(), malformed(subject)
    await attacked.raw.publish(subject, b"{")
    # Its refusal would come back as a request. A provider replies to inboxes only, so it is not sent.
    await attacked.raw.publish(subject, b"{", reply=subject)
    await eventually(lambda: malformed(subject) == counted + 2)
    await assert_answers(attacked, subject)
    assert await attacked.state() == before


async def test_a_hostile_user_id_reaches_no_other_subject_of_the_bus(attacked: Target) -> None:
    heard: list[str] = []

    async def note(message: Any) -> None:
        if not message.subject.startswith(("_INBOX.", "$", "orders.submit", "ledger.")):
            heard.append(message.subject)

    everything = await attacked.raw.subscribe(">", cb=note)
    for user_id in HOSTILE_IDS:
        hostile = {"userId": user_id, "order": ORDER | {"orderId": "another", "symbol": "NONE-SUCH"}}
        await attacked.ask("orders.submit", hostile)
        await attacked.ask("ledger.credit", posting("another") | {"userId": user_id})
    assert not heard
    # The same request of a user who is one is refused too, and that is told on the subject of that user.
    await attacked.ask("orders.submit", {"userId": "mallory", "order": ORDER | {"orderId": "o", "symbol": "NONE-SUCH"}})
    await eventually(lambda: "orders.rejected.mallory" in heard)
    await everything.unsubscribe()


async def test_the_largest_page_of_the_longest_entries_fits_an_answer(attacked: Target) -> None:
    longest = {
        "userId": "u" * 64,
        "asset": "A" * 10,
        "amount": "1e-18",
        "entryType": "e" * 64,
        "referenceType": "r" * 64,
    }
    for first in range(0, 1000, 100):
        names = [f"{number:/<200}" for number in range(first, first + 100)]
        asked = [longest | {"transactionId": name, "referenceId": name} for name in names]
        assert all(map(succeeded, await asyncio.gather(*(attacked.ask("ledger.credit", message) for message in asked))))
    page = await attacked.ask("ledger.history.get", {"userId": longest["userId"], "limit": 1000})
    assert (len(page["entries"]), page["error"]) == (1000, None)


async def test_the_next_good_order_is_taken_and_cancelled(attacked: Target) -> None:
    order = ORDER | {"orderId": "good", "price": "90", "maxSlippageBps": None}
    answer = await attacked.ask("orders.submit", {"userId": "bob", "order": order})
    assert (answer["success"], answer["order"]["status"]) == (True, "open")
    answer = await attacked.ask("orders.cancel", {"userId": "bob", "orderId": "good", "symbol": ""})
    assert (answer["success"], answer["order"]["status"]) == (True, "cancelled")
