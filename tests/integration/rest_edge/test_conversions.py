"""Conversions through the edge: quotes, their use, and what faults and kills leave."""

import asyncio
from typing import Any

import asyncpg
import pytest

from openspot.domain.fair_price.model import PriceState
from openspot.domain.ids import CONVERSIONS_ACCOUNT_ID, FEE_ACCOUNT_ID
from openspot.engine_client.errors import EngineUnreachableError
from openspot.rest_edge.products.conversions.schemas import ConversionResponse, PairResponse, QuoteResponse
from tests.support.edge_products import EdgeProducts

THIN_BOOK = (
    "orders of others in the book of BTC-USD that have stood for some seconds do not cover the whole amount: take "
    "less, or try again in a moment"
)
WANTED = {"fromAsset": "USD", "toAsset": "BTC", "fromAmount": "1000"}


@pytest.fixture
def edge(pool: asyncpg.Pool) -> EdgeProducts:
    """An edge whose user u1 has 5,000 USD, an inventory of 100 BTC, a book and a fair price around 100 USD."""
    edge = EdgeProducts(pool, conversion_spread_bps=100)
    edge.fair_prices.set("BTC-USD", "99.5", low="99", high="100")
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
        ({"fromAmount": "20000"}, 409, THIN_BOOK),
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


@pytest.mark.spec("B4.1-73", "B4.1-74")
async def test_a_conversion_is_shown_whole_to_its_user_and_to_no_other(edge: EdgeProducts) -> None:
    quote = await quoted(edge)
    made = (await edge("POST", "/conversions", {"quoteId": quote["quoteId"]})).json
    [listed] = (await edge("GET", "/conversions")).json
    one = (await edge("GET", f"/conversions/{made['id']}")).json
    assert (
        listed
        == one
        == {
            "id": made["id"],
            "quoteId": quote["quoteId"],
            "status": "completed",
            "fromAsset": "USD",
            "toAsset": "BTC",
            "fromAmount": "1000",
            "toAmount": "9.45454545",
            "spreadAmount": "10",
            "price": "0.00945454545",
            "failureCode": None,
            "createdAt": "2026-03-01T12:00:00.000Z",
            "completedAt": "2026-03-01T12:00:00.000Z",
        }
    )
    assert (await edge("GET", "/conversions", user="u2")).json == []
    refused = await edge("GET", f"/conversions/{made['id']}", user="u2")
    assert (refused.status, refused.json["code"]) == (404, "CONVERSION_NOT_FOUND")


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


# Prices that somebody makes


async def rests(edge: EdgeProducts, user_id: str, side: str, price: str, quantity: str) -> None:
    """A resting order of BTC-USD, as the router's row of it."""
    await edge.pool.execute(
        """
        INSERT INTO orders (order_id, user_id, symbol, side, type, time_in_force, price, quantity, remaining_quantity,
            fee_currency, status, created_at, updated_at)
        VALUES (gen_random_uuid()::text, $1, 'BTC-USD', $2, 'limit', 'gtc', $3::text::numeric, $4::text::numeric,
            $4::text::numeric, 'USD', 'open', now(), now())
        """,
        user_id, side, price, quantity,
    )  # fmt: skip


async def received(edge: EdgeProducts, **change: Any) -> str:
    return str((await quoted(edge, **change))["toAmount"])


SALE = {"fromAsset": "BTC", "toAsset": "USD", "fromAmount": "1"}


async def test_a_painted_book_never_pays_more_than_the_fair_price_less_the_spread(edge: EdgeProducts) -> None:
    edge.transfers.fund(CONVERSIONS_ACCOUNT_ID, "USD", "100000")
    # Another account of the same person has just put these orders there. They never trade.
    edge.queries.books["BTC-USD"] = ([("149", "100")], [("50", "100")])
    assert await received(edge, **SALE) == "98.01"  # 0.99 BTC at 99
    assert await received(edge, fromAmount="100") == "0.99"  # 99 USD at 100


async def test_a_cycle_of_conversions_against_ones_own_orders_loses_the_spread_twice(edge: EdgeProducts) -> None:
    edge.transfers.fund(CONVERSIONS_ACCOUNT_ID, "USD", "100000")
    for _ in range(5):
        for body, book in ((WANTED, ([], [("10", "1000")])), (SALE | {"fromAmount": "9"}, ([("1000", "1000")], []))):
            edge.queries.books["BTC-USD"] = book
            quote = await quoted(edge, **body, **({"toAmount": None}))
            assert (await edge("POST", "/conversions", {"quoteId": quote["quoteId"]})).status == 201
    # Bought at 100 and sold at 99, each less 1 %: at honest prices, 5,000 USD can only become less.
    worth = float(edge.transfers.held("u1", "USD")) + 100 * float(edge.transfers.held("u1", "BTC"))
    assert worth < 5000


async def test_the_callers_own_orders_are_no_part_of_the_book_on_spot_and_margin(edge: EdgeProducts) -> None:
    edge.transfers.fund(CONVERSIONS_ACCOUNT_ID, "USD", "100000")
    edge.queries.books["BTC-USD"] = ([("99", "0.5"), ("98", "0.5"), ("97", "2"), ("90", "1")], [])
    await edge.pool.execute(
        "INSERT INTO margin_accounts VALUES ('margin:u1:2', 'u1', 'active', 'safe', 0, 1, now(), NULL)"
    )
    await rests(edge, "u1", "buy", "99", "0.5")
    await rests(edge, "margin:u1:2", "buy", "98", "0.25")
    await rests(edge, "u1", "sell", "97", "2")
    await rests(edge, "u2", "buy", "97", "2")
    # 0.25 of somebody at 98, the rest of the 0.99 BTC at 97.
    assert await received(edge, **SALE) == "96.28"


async def test_linked_users_are_one_owner_whose_orders_do_not_count(edge: EdgeProducts) -> None:
    edge.transfers.fund(CONVERSIONS_ACCOUNT_ID, "USD", "100000")
    edge.queries.books["BTC-USD"] = ([("99", "1"), ("97", "1")], [])
    await rests(edge, "u3", "buy", "99", "1")
    assert await received(edge, **SALE) == "98.01"
    await link(edge, "u1", "u2")
    await link(edge, "u2", "u3")
    assert await received(edge, **SALE) == "96.03"


async def link(edge: EdgeProducts, first: str, second: str) -> None:
    await edge.pool.execute(
        "INSERT INTO owner_links (first_user_id, second_user_id, reason, linked_by) VALUES ($1, $2, 'one person', 'o')",
        first,
        second,
    )


async def test_depth_that_has_not_stood_does_not_count(pool: asyncpg.Pool) -> None:
    edge = limited(pool, conversion_standing_s=10)
    service, now = edge.products.conversions, 1000.0
    service._monotonic = lambda: now
    edge.queries.books["BTC-USD"] = ([], [("100", "1"), ("105", "5")])

    async def quoted_then(amount: str) -> str:
        reply = await edge("POST", "/conversions/quote", WANTED | {"fromAmount": amount})
        return str(reply.json.get("toAmount") or reply.json["code"])

    assert await quoted_then("50") == "INSUFFICIENT_LIQUIDITY"
    for _ in range(5):
        await service.sample_books()
        assert await quoted_then("50") == "INSUFFICIENT_LIQUIDITY"
        now += 2
    await service.sample_books()
    assert await quoted_then("50") == "0.4975"
    # A painted level counts for nothing, however good it is; those that have stood still do.
    edge.queries.books["BTC-USD"] = ([], [("100", "50"), ("105", "5")])
    assert await quoted_then("310") == "2.98523809"  # 308.45 dollars: 1 at 100, the rest at 105
    now += 7
    assert await quoted_then("50") == "INSUFFICIENT_LIQUIDITY"


@pytest.mark.parametrize(
    ("state", "message"),
    [
        (PriceState.DISPUTED, "the price of BTC-USD is not certain now: the sources differ; try again later"),
        (PriceState.STALE, "the price of BTC-USD is not certain now: the sources differ; try again later"),
        (None, "BTC-USD has no fair price yet: one comes with its first orders and trades; try again later"),
    ],
)
async def test_at_a_price_that_is_not_certain_nothing_is_quoted(
    edge: EdgeProducts, state: PriceState | None, message: str
) -> None:
    if state is None:
        edge.fair_prices.by_symbol.clear()
    else:
        edge.fair_prices.set("BTC-USD", "100", state=state, reason="the sources differ")
    reply = await edge("POST", "/conversions/quote", WANTED)
    assert (reply.status, reply.json["code"], reply.json["message"]) == (409, "PRICE_UNCERTAIN", message)
    assert reply.json["details"] == {"symbol": "BTC-USD", "state": "none" if state is None else state.value}


async def test_a_thin_price_is_enough(edge: EdgeProducts) -> None:
    edge.fair_prices.set("BTC-USD", "99.5", low="99", high="100", state=PriceState.THIN)
    assert await received(edge) == "9.45454545"


# Limits of an hour


def limited(pool: asyncpg.Pool, **settings: int) -> EdgeProducts:
    """An edge with limits, at a book and a fair price of 100 USD, whose users u1 and u2 have 5,000 USD each."""
    edge = EdgeProducts(pool, **settings)
    edge.fair_prices.set("BTC-USD", "100")
    edge.queries.books["BTC-USD"] = ([("100", "1000")], [("100", "1000")])
    for user in ("u1", "u2"):
        edge.transfers.fund(user, "USD", "5000")
    edge.transfers.fund(CONVERSIONS_ACCOUNT_ID, "BTC", "100")
    return edge


async def limit_reached(edge: EdgeProducts, amount: str, user: str = "u1") -> bool:
    """Whether a quote is refused because of a limit."""
    reply = await edge("POST", "/conversions/quote", WANTED | {"fromAmount": amount}, user=user)
    assert reply.status == 201 or reply.json["code"] == "CONVERSION_LIMIT", reply.json
    return reply.status != 201


async def test_a_user_converts_up_to_the_limit_of_an_hour_and_open_quotes_count(pool: asyncpg.Pool) -> None:
    edge = limited(pool, conversion_user_limit=1000)
    first = await quoted(edge, fromAmount="600")
    assert await limit_reached(edge, "400.01")
    reply = await edge("POST", "/conversions/quote", WANTED | {"fromAmount": "401"})
    assert reply.json["message"] == (
        "you can convert 1000.00 USD within an hour, of which 600.00 are used, and this conversion is worth 401.00: "
        "take less, or try again later"
    )
    assert not await limit_reached(edge, "401", "u2")
    # The quote is forgotten, and the room comes back; a conversion counts for an hour.
    edge.pass_time(seconds=10)
    first = await quoted(edge, fromAmount="1000")
    assert (await edge("POST", "/conversions", {"quoteId": first["quoteId"]})).status == 201
    edge.pass_time(minutes=59, seconds=59)
    assert await limit_reached(edge, "1")
    edge.pass_time(seconds=1)
    assert not await limit_reached(edge, "1000")


async def test_linked_users_share_one_limit(pool: asyncpg.Pool) -> None:
    edge = limited(pool, conversion_user_limit=1000)
    await link(edge, "u1", "u2")
    await quoted(edge, fromAmount="600")
    assert await limit_reached(edge, "401", "u2")
    assert not await limit_reached(edge, "400", "u2")


async def test_all_users_together_convert_an_asset_up_to_its_limit(pool: asyncpg.Pool) -> None:
    edge = limited(pool, conversion_asset_limit=1000)
    await quoted(edge, fromAmount="900")
    assert await limit_reached(edge, "101", "u2")
    assert not await limit_reached(edge, "100", "u2")


async def test_quotes_without_the_money_take_no_room_from_others_and_are_checked_when_they_are_used(
    pool: asyncpg.Pool,
) -> None:
    edge = limited(pool, conversion_asset_limit=1000)
    edge.transfers.balances["u2", "USD"] = 0
    poor = await edge("POST", "/conversions/quote", WANTED | {"fromAmount": "1000"}, user="u2")
    assert poor.status == 201
    rich = await quoted(edge, fromAmount="1000")
    edge.transfers.fund("u2", "USD", "5000")
    late = await edge("POST", "/conversions", {"quoteId": poor.json["quoteId"]}, user="u2")
    assert (late.status, late.json["code"]) == (409, "CONVERSION_LIMIT")
    assert (await edge("POST", "/conversions", {"quoteId": rich["quoteId"]})).status == 201


async def is_funded(edge: EdgeProducts, quote: Any) -> bool:
    query = "SELECT is_funded FROM conversion_quotes WHERE quote_id = $1"
    return bool(await edge.pool.fetchval(query, quote["quoteId"]))


async def test_the_same_money_funds_one_quote_at_a_time(edge: EdgeProducts) -> None:
    edge.transfers.fund("u2", "USD", "5000")
    first = await quoted(edge, fromAmount="4000")
    second = await quoted(edge, fromAmount="1000")
    third = await quoted(edge, fromAmount="1000")
    assert [await is_funded(edge, quote) for quote in (first, second, third)] == [True, True, False]
    others = (await edge("POST", "/conversions/quote", WANTED | {"fromAmount": "5000"}, user="u2")).json
    assert await is_funded(edge, others)
    # One that has expired, or was used, holds nothing: what was used has been taken from the funds.
    edge.pass_time(seconds=8)
    assert (await edge("POST", "/conversions", {"quoteId": first["quoteId"]})).status == 201
    assert not await is_funded(edge, await quoted(edge, fromAmount="1000"))
    edge.pass_time(seconds=3)
    assert await is_funded(edge, await quoted(edge, fromAmount="1000"))
    assert not await is_funded(edge, await quoted(edge, fromAmount="1000"))


async def test_money_of_a_conversion_that_is_not_decided_funds_no_quote(edge: EdgeProducts) -> None:
    edge.transfers.faults = ["late"]
    pending = await edge("POST", "/conversions", {"quoteId": (await quoted(edge, fromAmount="5000"))["quoteId"]})
    assert pending.json["status"] == "pending"
    edge.pass_time(seconds=11)
    assert not await is_funded(edge, await quoted(edge, fromAmount="1"))


async def test_of_quotes_at_the_same_time_the_money_funds_one(edge: EdgeProducts) -> None:
    quotes = await asyncio.gather(*(quoted(edge, fromAmount="5000") for _ in range(6)))
    assert [await is_funded(edge, quote) for quote in quotes].count(True) == 1


async def test_quotes_at_the_same_time_never_pass_the_limit_together(pool: asyncpg.Pool) -> None:
    edge = limited(pool, conversion_user_limit=1000)
    refused = await asyncio.gather(*(limit_reached(edge, "300") for _ in range(8)))
    assert refused.count(False) == 3


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
