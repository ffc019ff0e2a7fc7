"""Conversions through the edge: quotes, their use, and what faults and kills leave."""

from typing import Any

import asyncpg
import pytest

from openspot.domain.ids import CONVERSIONS_ACCOUNT_ID, FEE_ACCOUNT_ID
from openspot.engine_client.errors import EngineUnreachableError
from openspot.rest_edge.products.conversions.schemas import ConversionResponse, PairResponse, QuoteResponse
from tests.support.edge_products import EdgeProducts

WANTED = {"fromAsset": "USD", "toAsset": "BTC", "fromAmount": "1000"}


@pytest.fixture
def edge(pool: asyncpg.Pool) -> EdgeProducts:
    """An edge whose user u1 has 5,000 USD, an inventory of 100 BTC, and a book around 100 USD."""
    edge = EdgeProducts(pool, conversion_spread_bps=100)
    edge.transfers.fund("u1", "USD", "5000")
    edge.transfers.fund(CONVERSIONS_ACCOUNT_ID, "BTC", "100")
    edge.queries.books["BTC-USD"] = ([("99", "100")], [("100", "5"), ("110", "100")])
    return edge


async def quoted(edge: EdgeProducts, **change: Any) -> Any:
    body = {name: value for name, value in (WANTED | change).items() if value is not None}
    reply = await edge("POST", "/conversions/quote", body)
    assert reply.status == 201, reply.json
    return reply.json


def all_held(edge: EdgeProducts) -> dict[tuple[str, str], str]:
    return {place: edge.transfers.held(*place) for place, amount in edge.transfers.balances.items() if amount}


AFTER = {
    ("u1", "USD"): "4000",
    # 990 USD after a spread of 1 %: 5 BTC at 100, and 490 USD at 110.
    ("u1", "BTC"): "9.45454545",
    (CONVERSIONS_ACCOUNT_ID, "USD"): "990",
    (CONVERSIONS_ACCOUNT_ID, "BTC"): "90.54545455",
    (FEE_ACCOUNT_ID, "USD"): "10",
}


@pytest.mark.spec("B4.1-70")
async def test_pairs_are_public_and_go_both_ways(edge: EdgeProducts) -> None:
    reply = await edge("GET", "/conversions/pairs", user=None)
    pairs = [PairResponse.model_validate(row) for row in reply.json]
    assert ("USD", "BTC", "BTC-USD", "1", "10000000") in [
        (pair.from_asset, pair.to_asset, pair.symbol, pair.minimum, pair.maximum) for pair in pairs
    ]
    assert len(pairs) == 24


@pytest.mark.spec("B4.1-71", "B4.1-72", "B4.1-74")
async def test_a_quote_prices_the_whole_amount_and_its_conversion_moves_exactly_that(edge: EdgeProducts) -> None:
    quote = await quoted(edge)
    QuoteResponse.model_validate(quote)
    assert (quote["fromAmount"], quote["toAmount"], quote["spreadAmount"]) == ("1000", "9.45454545", "10")
    assert (quote["createdAt"], quote["expiresAt"]) == ("2026-03-01T12:00:00.000Z", "2026-03-01T12:00:10.000Z")
    assert (quote["price"], quote["inversePrice"]) == ("0.00945454545", "105.769230820081360971")
    # The market moves, and the quote holds.
    edge.queries.books["BTC-USD"] = ([("1", "1")], [("1000", "100")])
    edge.pass_time(seconds=9)
    reply = await edge("POST", "/conversions", {"quoteId": quote["quoteId"]})
    assert reply.status == 201
    ConversionResponse.model_validate(reply.json)
    assert (reply.json["status"], reply.json["toAmount"]) == ("completed", "9.45454545")
    assert all_held(edge) == AFTER
    shown = await edge("GET", f"/conversions/{reply.json['id']}")
    assert (shown.status, shown.json) == (200, reply.json)


async def test_an_exact_amount_to_receive_can_be_quoted(edge: EdgeProducts) -> None:
    quote = await quoted(edge, fromAmount=None, toAmount="1")
    # 100 USD at the book, of which 1 % is the spread of what is given: 101.0101… rounded up.
    assert (quote["fromAmount"], quote["toAmount"], quote["spreadAmount"]) == ("101.02", "1", "1.02")


async def test_a_quote_is_used_once_and_a_repeated_call_returns_the_same_conversion(edge: EdgeProducts) -> None:
    body = {"quoteId": (await quoted(edge))["quoteId"]}
    first = await edge("POST", "/conversions", body)
    edge.pass_time(days=2)
    await edge.products.conversions.delete_expired()
    again = await edge("POST", "/conversions", body)
    assert (again.status, again.json) == (201, first.json)
    assert all_held(edge) == AFTER
    assert len(edge.transfers.calls) == 1


async def test_an_expired_quote_is_refused_and_moves_nothing(edge: EdgeProducts) -> None:
    body = {"quoteId": (await quoted(edge))["quoteId"]}
    edge.pass_time(seconds=10)
    reply = await edge("POST", "/conversions", body)
    assert (reply.status, reply.json["code"]) == (409, "QUOTE_EXPIRED")
    assert edge.transfers.calls == []


async def test_a_quote_and_a_conversion_are_their_users_alone(edge: EdgeProducts) -> None:
    edge.transfers.fund("u2", "USD", "5000")
    body = {"quoteId": (await quoted(edge))["quoteId"]}
    stolen = await edge("POST", "/conversions", body, user="u2")
    assert (stolen.status, stolen.json["code"]) == (404, "QUOTE_NOT_FOUND")
    own = (await edge("POST", "/conversions", body)).json
    # Nor does the use of a quote make it known to others.
    assert (await edge("POST", "/conversions", body, user="u2")).status == 404
    assert (await edge("GET", f"/conversions/{own['id']}", user="u2")).status == 404
    assert (await edge("GET", "/conversions", user="u2")).json == []


async def test_an_inventory_that_does_not_cover_the_amount_gives_no_quote(edge: EdgeProducts) -> None:
    edge.transfers.balances[CONVERSIONS_ACCOUNT_ID, "BTC"] = 1
    reply = await edge("POST", "/conversions/quote", WANTED)
    assert (reply.status, reply.json["code"]) == (409, "INVENTORY_INSUFFICIENT")


async def test_an_inventory_that_shrinks_after_the_quote_is_never_negative(edge: EdgeProducts) -> None:
    body = {"quoteId": (await quoted(edge))["quoteId"]}
    edge.transfers.balances[CONVERSIONS_ACCOUNT_ID, "BTC"] = 1
    before = all_held(edge)
    for _ in range(2):
        reply = await edge("POST", "/conversions", body)
        assert (reply.status, reply.json["code"]) == (409, "INVENTORY_INSUFFICIENT")
    assert all_held(edge) == before
    [failed] = (await edge("GET", "/conversions")).json
    assert (failed["status"], failed["failureCode"]) == ("failed", "INVENTORY_INSUFFICIENT")


async def test_a_user_without_the_money_is_told_so_every_time(edge: EdgeProducts) -> None:
    body = {"quoteId": (await quoted(edge))["quoteId"]}
    edge.transfers.balances["u1", "USD"] = 1
    before = all_held(edge)
    for _ in range(2):
        reply = await edge("POST", "/conversions", body)
        assert (reply.status, reply.json["message"]) == (400, "RISK_NSF")
        # Money that comes later does not bring a refused conversion back.
        edge.transfers.fund("u1", "USD", "5000")
    assert all_held(edge) == before | {("u1", "USD"): "10000.000000000000000001"}


@pytest.mark.parametrize(
    ("change", "status", "said"),
    [
        ({"toAmount": "1"}, 400, ["exactly one of fromAmount and toAmount is required"]),
        ({"fromAmount": None}, 400, ["exactly one of fromAmount and toAmount is required"]),
        ({"fromAmount": "0.001"}, 400, ["fromAmount must have at most 2 decimal places for USD"]),
        ({"fromAmount": "0.5"}, 400, ["fromAmount must be between 1 and 10000000 USD, and would be 0.5"]),
        ({"fromAmount": "-1"}, 400, ["fromAmount must be greater than 0"]),
        ({"toAsset": "USD"}, 404, "USD cannot be converted into USD"),
        ({"toAsset": "DOGE"}, 404, "USD cannot be converted into DOGE"),
        ({"fromAmount": "20000"}, 409, "the order book of BTC-USD does not cover the whole amount"),
        ({"spreadBps": 0}, 400, ["property spreadBps should not exist"]),
    ],
)
async def test_a_bad_request_names_the_field_and_the_reason(
    edge: EdgeProducts, change: dict[str, Any], status: int, said: Any
) -> None:
    body = {name: value for name, value in (WANTED | change).items() if value is not None}
    reply = await edge("POST", "/conversions/quote", body)
    assert (reply.status, reply.json["message"]) == (status, said)


async def test_without_the_engine_there_is_no_quote(edge: EdgeProducts) -> None:
    edge.queries.fault = EngineUnreachableError("gone")
    assert (await edge("POST", "/conversions/quote", WANTED)).status == 503


@pytest.mark.spec("B4.1-73")
async def test_the_list_is_paged_newest_first(edge: EdgeProducts) -> None:
    ids = []
    for _ in range(3):
        quote = await quoted(edge, fromAmount="10")
        ids.append((await edge("POST", "/conversions", {"quoteId": quote["quoteId"]})).json["id"])
        edge.pass_time(seconds=1)
    first = await edge("GET", "/conversions?limit=2")
    cursor = first.header("X-Next-Cursor")
    rest = await edge("GET", f"/conversions?limit=2&cursor={cursor}")
    assert [row["id"] for row in first.json + rest.json] == ids[::-1]
    assert rest.header("X-Next-Cursor") is None
    assert (await edge("GET", "/conversions?cursor=WzEsMl0")).status == 400


# Faults


@pytest.mark.parametrize("fault", ["lost", "late"])
async def test_a_conversion_whose_outcome_is_unknown_is_found_out_and_done_once(edge: EdgeProducts, fault: str) -> None:
    body = {"quoteId": (await quoted(edge))["quoteId"]}
    edge.transfers.faults = [fault]
    assert (await edge("POST", "/conversions", body)).json["status"] == "pending"
    # Another edge finds it out, when its time has come.
    other = EdgeProducts(edge.pool, edge.transfers)
    assert await other.products.runner.resume() == 0
    other.pass_time(seconds=2)
    assert await other.products.runner.resume() == 1
    assert (await edge("POST", "/conversions", body)).json["status"] == "completed"
    assert all_held(edge) == AFTER
    assert await other.products.runner.resume() == 0


async def test_a_conversion_that_was_not_sent_fails_and_moves_nothing(edge: EdgeProducts) -> None:
    body = {"quoteId": (await quoted(edge))["quoteId"]}
    edge.transfers.faults = ["unsent"]
    for _ in range(2):
        reply = await edge("POST", "/conversions", body)
        assert (reply.status, reply.json["code"]) == (503, "ENGINE_UNREACHABLE")
    edge.pass_time(days=1)
    assert await edge.products.runner.resume() == 0
    assert edge.transfers.done == {}


class KilledError(BaseException):
    """The edge is killed here."""


async def killed_at(edge: EdgeProducts, step: str, body: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    """Execute a quote in an edge that does not live beyond `step`."""

    async def die(*_: object, **__: object) -> None:
        raise KilledError

    carry_out = edge.transfers.transfer

    async def carry_out_and_die(*arguments: Any) -> None:
        await carry_out(*arguments)
        raise KilledError

    with monkeypatch.context() as patch:
        if step == "in the transaction":
            patch.setattr(edge.products.runner._store, "add", die)
        elif step == "before the engine":
            patch.setattr(edge.transfers, "transfer", die)
        elif step == "after the engine":
            patch.setattr(edge.transfers, "transfer", carry_out_and_die)
        elif step == "while the outcome is written":
            patch.setattr(edge.products.conversions._store, "settle", die)
        with pytest.raises(KilledError):
            await edge.products.conversions.convert("u1", body["quoteId"])


@pytest.mark.parametrize(
    "step", ["in the transaction", "before the engine", "after the engine", "while the outcome is written"]
)
async def test_a_kill_between_any_two_steps_leaves_a_conversion_done_once_or_not_at_all(
    edge: EdgeProducts, step: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    body = {"quoteId": (await quoted(edge))["quoteId"]}
    before = all_held(edge)
    await killed_at(edge, step, body, monkeypatch)
    edges = [EdgeProducts(edge.pool, edge.transfers) for _ in range(3)]
    for other in edges:
        # The lease of the dead edge must run out first.
        assert await other.products.runner.resume() == 0
        other.pass_time(seconds=31)
    if step == "in the transaction":
        for other in edges:
            assert await other.products.runner.resume() == 0
        assert all_held(edge) == before
        assert (await edge("GET", "/conversions")).json == []
        assert (await edge("POST", "/conversions", body)).json["status"] == "completed"
    else:
        assert sorted([await other.products.runner.resume() for other in edges]) == [0, 0, 1]
        assert [row["status"] for row in (await edge("GET", "/conversions")).json] == ["completed"]
    assert all_held(edge) == AFTER


async def test_two_requests_at_once_make_one_conversion(edge: EdgeProducts) -> None:
    import asyncio

    body = {"quoteId": (await quoted(edge))["quoteId"]}
    other = EdgeProducts(edge.pool, edge.transfers)
    replies = await asyncio.gather(*(each("POST", "/conversions", body) for each in (edge, other) * 4))
    assert {reply.status for reply in replies} == {201}
    assert len({reply.json["id"] for reply in replies}) == 1
    assert edge.transfers.calls == [f"conversion:{replies[0].json['id']}"]
    assert all_held(edge) == AFTER


async def test_attempts_are_limited_and_begin_again_with_the_next_edge(edge: EdgeProducts) -> None:
    body = {"quoteId": (await quoted(edge))["quoteId"]}
    edge.transfers.faults = ["late"] * 500
    await edge("POST", "/conversions", body)
    attempts = 1
    while await edge.products.runner.resume() or attempts == 1:
        attempts += 1
        edge.pass_time(minutes=6)
        assert attempts < 300
    assert len(edge.transfers.calls) == 200
    edge.transfers.faults = []
    edge.pass_time(days=1)
    assert await edge.products.runner.resume() == 0
    await edge.products.runner.revive()
    assert await edge.products.runner.resume() == 1
    assert all_held(edge) == AFTER
