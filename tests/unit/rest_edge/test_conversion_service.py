"""A conversion is quoted from the right side of the book, bounded on every side, and executed once and in time."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest
from msgspec.structs import replace as replaced

from openspot.domain.fair_price.model import PriceState
from openspot.domain.ids import CONVERSIONS_ACCOUNT_ID, FEE_ACCOUNT_ID
from openspot.domain.market import load_markets
from openspot.domain.market_phase import MarketPhase
from openspot.domain.money import AMOUNT_SCALE, amount_to_text
from openspot.engine_client.errors import EngineUnreachableError
from openspot.engine_client.queries import EngineBalance, EngineBook, EngineMarket
from openspot.engine_transfers.model import Transfer, TransferResult
from openspot.http.errors import HttpError
from openspot.rest_edge.products.conversions.exposure import ExposureLimits
from openspot.rest_edge.products.conversions.pricing import pairs_of
from openspot.rest_edge.products.conversions.schemas import QuoteBody
from openspot.rest_edge.products.conversions.service import ConversionRules, ConversionService, transfer_of
from openspot.rest_edge.products.conversions.store import Conversion, Exposure, Quote
from tests.support.fair_prices import KnownPrices

ONE = AMOUNT_SCALE
NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
MARKETS = load_markets()


class Bench:
    """The service, with tables, engine and prices in memory. BTC-USD: bids 100 and 90, asks 110 and 120."""

    def __init__(self, *, user_cents: int = 10**6, spread_bps: int = 0) -> None:
        self.pool = self
        self.now = NOON
        self.funds = {("alice", "USD"): ("1000", "0"), (CONVERSIONS_ACCOUNT_ID, "BTC"): ("5", "0"),
                      ("alice", "BTC"): ("3", "0"), (CONVERSIONS_ACCOUNT_ID, "USD"): ("1000", "0")}  # fmt: skip
        self.own: dict[str, dict[Decimal, Decimal]] = {"bids": {}, "asks": {}}
        self.quotes: dict[str, Quote] = {}
        self.done: dict[str, Conversion] = {}
        self.used = Exposure(0, 0, 0)
        self.promises = 0
        self.begun: list[Transfer] = []
        self.settled: list[tuple[str, str | None]] = []
        self.states = {"alice": "active"}
        self.market = EngineMarket("BTC-USD", 1, "BTC", "USD", 1000, 100, "0.01", "0.001", 25, 15)
        self.is_engine_away = False
        self.prices = KnownPrices()
        self.prices.set("BTC-USD", "105", low="101", high="109")
        anything: Any = self
        self.pairs = pairs_of(MARKETS)
        self.configuration = replace(MARKETS)
        self.service = ConversionService(
            anything, anything, anything, self.prices, self.pairs, self.configuration,
            lambda: round(self.now.timestamp()) * 10**9, spread_bps=spread_bps, quote_life=timedelta(seconds=10),
            limits=ExposureLimits(user_cents=user_cents, asset_cents=10**7), standing_s=0,
        )  # fmt: skip
        self.rules = ConversionRules(anything, anything)

    @asynccontextmanager
    async def acquire(self) -> AsyncIterator["Bench"]:
        yield self

    @asynccontextmanager
    async def transaction(self) -> AsyncIterator[None]:
        yield

    async def book(self, symbol: str, _levels: int) -> EngineBook:
        if self.is_engine_away:
            raise EngineUnreachableError("away")
        return EngineBook(symbol, [("100", "1"), ("90", "2")], [("110", "1"), ("120", "2")], 1, 1)

    async def balances(self, account: str) -> list[EngineBalance]:
        if self.is_engine_away:
            raise EngineUnreachableError("away")
        return [
            EngineBalance(asset, available, available, "0", reserved)
            for (owner, asset), (available, reserved) in self.funds.items()
            if owner == account
        ]

    async def markets(self) -> list[EngineMarket]:
        if self.is_engine_away:
            raise EngineUnreachableError("away")
        return [self.market]

    async def participant_state(self, participant_id: str) -> str | None:
        if self.is_engine_away:
            raise EngineUnreachableError("away")
        return self.states.get(participant_id)

    async def own_levels(self, user_id: str, symbol: str, *, bids: bool) -> dict[Decimal, Decimal]:
        assert (user_id, symbol) == ("alice", "BTC-USD")
        return self.own["bids" if bids else "asks"]

    async def lock_exposure(self, _connection: Any) -> None:
        """One test at a time is here."""

    async def exposure(self, _connection: Any, _quote: Quote, since: datetime, now: datetime) -> Exposure:
        assert (since, now) == (self.now - timedelta(hours=1), self.now)
        return self.used

    async def promised(
        self, _connection: Any, user_id: str, asset: str, since: datetime, read_at: datetime, now: datetime
    ) -> int:
        assert (user_id, since, read_at, now) == ("alice", self.now - timedelta(hours=1), self.now, self.now)
        return self.promises if asset == "USD" else 0

    async def add_quote(self, _connection: Any, quote: Quote) -> None:
        self.quotes[quote.quote_id] = quote

    async def lock_quote(self, _connection: Any, quote_id: str, user_id: str) -> Quote | None:
        found = self.quotes.get(quote_id)
        return found if found is not None and found.user_id == user_id else None

    async def is_used(self, _connection: Any, quote_id: str) -> bool:
        return quote_id in self.done

    async def add(self, _connection: Any, conversion: Conversion) -> None:
        self.done[conversion.quote_id] = conversion

    async def of_quote(self, quote_id: str, user_id: str) -> Conversion | None:
        found = self.done.get(quote_id)
        return found if found is not None and found.user_id == user_id else None

    async def begin(self, _connection: Any, transfer: Transfer) -> None:
        self.begun.append(transfer)

    async def attempt(self, _transfer: Transfer) -> None:
        """The engine has not decided yet."""

    async def settle(self, _connection: Any, conversion_id: str, code: str | None, _now: datetime) -> None:
        self.settled.append((conversion_id, code))

    async def quote(self, source: str, destination: str, **amount: str) -> Quote:
        """The quote of alice's that is written for a request."""
        body = QuoteBody.model_validate({"fromAsset": source, "toAsset": destination, **amount})
        return self.quotes[(await self.service.quote("alice", body)).quote_id]


async def refused(awaited: Any) -> tuple[int, str | None]:
    with pytest.raises(HttpError) as error:
        await awaited
    return error.value.status_code, error.value.code


async def test_a_sale_is_priced_at_the_bids_and_a_purchase_at_the_asks() -> None:
    bench = Bench(spread_bps=100)
    sale = await bench.quote("BTC", "USD", fromAmount="2")
    assert sale == Quote(
        quote_id=sale.quote_id, user_id="alice", symbol="BTC-USD", source_asset="BTC", destination_asset="USD",
        source_amount=2 * ONE, destination_amount=1882 * ONE // 10, spread_amount=ONE // 50, spread_bps=100,
        value_cents=21_800, is_funded=True, created_at=NOON, expires_at=NOON + timedelta(seconds=10),
    )  # fmt: skip
    bench = Bench()
    assert (await bench.quote("USD", "BTC", fromAmount="230")).destination_amount == 2 * ONE
    assert (await bench.quote("USD", "BTC", toAmount="2")).source_amount == 230 * ONE
    assert (await bench.quote("BTC", "USD", toAmount="190")).source_amount == 2 * ONE


async def test_the_callers_own_orders_on_that_side_make_no_price() -> None:
    bench = Bench()
    bench.own = {"bids": {Decimal(100): Decimal(1)}, "asks": {Decimal(110): Decimal("0.5")}}
    assert (await bench.quote("BTC", "USD", fromAmount="1")).destination_amount == 90 * ONE
    assert (await bench.quote("USD", "BTC", toAmount="1")).source_amount == 115 * ONE


async def test_the_bounds_of_the_fair_price_hold_on_both_sides() -> None:
    bench = Bench()
    bench.prices.set("BTC-USD", "105", low="95", high="115")
    assert (await bench.quote("BTC", "USD", fromAmount="2")).destination_amount == (95 + 90) * ONE
    assert (await bench.quote("USD", "BTC", toAmount="2")).source_amount == (115 + 120) * ONE


async def test_the_value_is_the_higher_of_the_two_amounts() -> None:
    bench = Bench()
    # 1 BTC is worth 109 at its upper bound, and is sold for 100 USD or bought for 110.
    assert (await bench.quote("BTC", "USD", fromAmount="1")).value_cents == 10_900
    assert (await bench.quote("USD", "BTC", toAmount="1")).value_cents == 11_000


@pytest.mark.parametrize("state", [PriceState.STALE, PriceState.DISPUTED, None])
async def test_without_a_certain_price_nothing_is_quoted(state: PriceState | None) -> None:
    bench = Bench()
    if state is None:
        bench.prices.by_symbol.clear()
    else:
        bench.prices.set("BTC-USD", "105", state=state)
    assert await refused(bench.quote("BTC", "USD", fromAmount="1")) == (409, "PRICE_UNCERTAIN")
    assert bench.quotes == {}


@pytest.mark.parametrize("phase", [phase.text for phase in MarketPhase if phase is not MarketPhase.CONTINUOUS])
async def test_while_a_market_does_not_trade_continuously_nothing_is_quoted_at_its_price_of_before(phase: str) -> None:
    bench = Bench()
    for ended in (replaced(bench.market, phase=phase), replaced(bench.market, active=False)):
        bench.market = ended
        assert await refused(bench.quote("BTC", "USD", fromAmount="1")) == (409, "PRICE_UNCERTAIN")
    assert not bench.quotes


async def test_the_inventory_pays_up_to_its_last_unit_without_what_is_reserved() -> None:
    bench = Bench()
    bench.funds[CONVERSIONS_ACCOUNT_ID, "BTC"] = ("2.5", "0.5")
    assert (await bench.quote("USD", "BTC", toAmount="2")).destination_amount == 2 * ONE
    assert await refused(bench.quote("USD", "BTC", toAmount="2.00000001")) == (409, "INVENTORY_INSUFFICIENT")
    del bench.funds[CONVERSIONS_ACCOUNT_ID, "BTC"]
    assert await refused(bench.quote("USD", "BTC", toAmount="1")) == (409, "INVENTORY_INSUFFICIENT")


async def test_a_quote_says_whether_its_user_has_the_money() -> None:
    bench = Bench()
    for available, reserved, is_funded in (("110", "0", True), ("109.99", "0", False), ("111", "1.01", False)):
        bench.funds["alice", "USD"] = (available, reserved)
        assert (await bench.quote("USD", "BTC", toAmount="1")).is_funded is is_funded


async def test_money_that_is_promised_already_funds_no_quote() -> None:
    bench = Bench()
    bench.funds["alice", "USD"] = ("210", "0")
    for promises, is_funded in ((100 * ONE, True), (100 * ONE + 1, False), (500 * ONE, False)):
        bench.promises = promises
        assert (await bench.quote("USD", "BTC", toAmount="1")).is_funded is is_funded
    assert (await bench.quote("BTC", "USD", fromAmount="1")).is_funded


async def test_the_bounds_of_the_market_are_themselves_allowed() -> None:
    bench = Bench()
    pair = pairs_of(MARKETS)["USD", "BTC"]
    least, most = (amount_to_text(bound) for bound in (pair.minimum, pair.maximum))
    assert (await bench.quote("USD", "BTC", fromAmount=least)).source_amount == pair.minimum
    less = amount_to_text(pair.minimum - ONE // 100)
    assert await refused(bench.quote("USD", "BTC", fromAmount=less)) == (400, "VALIDATION_FAILED")
    # The largest amount is allowed, but this book does not cover it.
    assert await refused(bench.quote("USD", "BTC", fromAmount=most)) == (409, "INSUFFICIENT_LIQUIDITY")


async def test_a_market_that_was_listed_later_is_dealt_in_at_a_confirmed_price_alone() -> None:
    bench = Bench()
    for assets, pair in bench.pairs.items():
        bench.pairs[assets] = replace(pair, needs_confirmed=pair.symbol == "BTC-USD")
    with pytest.raises(HttpError, match="neither a venue nor the operator confirms it") as refusal:
        await bench.quote("USD", "BTC", toAmount="1")
    assert (refusal.value.status_code, refusal.value.code) == (409, "PRICE_UNCERTAIN")
    bench.prices.set("BTC-USD", "105", low="101", high="109", is_confirmed=True)
    assert (await bench.quote("USD", "BTC", toAmount="1")).destination_amount == ONE


async def test_what_is_not_offered_any_more_gives_no_quote_and_a_quote_of_before_is_executed() -> None:
    bench = Bench()
    quote = await bench.quote("USD", "BTC", toAmount="1")
    bench.pairs.clear()
    assert await refused(bench.quote("USD", "BTC", toAmount="1")) == (404, "PAIR_NOT_FOUND")
    assert bench.service.pairs() == []
    await bench.service.convert("alice", quote.quote_id)
    assert [each.source_asset for each in bench.done.values()] == ["USD"]


async def test_while_nobody_knows_what_markets_offer_no_quote_is_given_and_one_of_before_is_executed() -> None:
    bench = Bench()
    quote = await bench.quote("USD", "BTC", toAmount="1")
    bench.pairs.clear()
    bench.configuration.knows_offers = False
    assert (await refused(bench.quote("USD", "BTC", toAmount="1")))[0] == 503
    with pytest.raises(HttpError, match="has not said yet what its markets offer"):
        bench.service.pairs()
    await bench.service.convert("alice", quote.quote_id)
    assert [each.source_asset for each in bench.done.values()] == ["USD"]


async def test_assets_without_a_market_are_no_pair_and_an_engine_that_is_away_gives_no_price() -> None:
    bench = Bench()
    assert await refused(bench.quote("BTC", "XYZ", fromAmount="1")) == (404, "PAIR_NOT_FOUND")
    bench.is_engine_away = True
    assert (await refused(bench.quote("BTC", "USD", fromAmount="1")))[0] == 503


async def test_a_limit_holds_for_the_quote_and_again_when_it_is_used() -> None:
    bench = Bench(user_cents=10_900)
    quote = await bench.quote("BTC", "USD", fromAmount="1")
    bench.used = Exposure(1, 0, 0)
    assert await refused(bench.quote("BTC", "USD", fromAmount="1")) == (409, "CONVERSION_LIMIT")
    assert await refused(bench.service.convert("alice", quote.quote_id)) == (409, "CONVERSION_LIMIT")
    assert (bench.begun, bench.done) == ([], {})


@pytest.mark.parametrize("state", ["frozen", "inactive"])
async def test_who_may_place_no_orders_gets_no_quote_and_executes_none(state: str) -> None:
    bench = Bench()
    done, quote = [await bench.quote("BTC", "USD", fromAmount="1") for _ in range(2)]
    first = await bench.service.convert("alice", done.quote_id)
    bench.states["alice"] = state
    for refusal in (bench.quote("BTC", "USD", fromAmount="1"), bench.service.convert("alice", quote.quote_id)):
        with pytest.raises(HttpError, match=f"your account is {state}: nothing is converted$") as refused_with:
            await refusal
        assert (refused_with.value.status_code, refused_with.value.code) == (409, "PARTICIPANT_INACTIVE")
    assert await bench.service.convert("alice", done.quote_id) == first
    assert (list(bench.quotes), list(bench.done)) == ([done.quote_id, quote.quote_id], [done.quote_id])
    bench.states["alice"] = "active"
    assert (await bench.service.convert("alice", quote.quote_id)).status == "pending"


async def test_while_the_engine_does_not_say_who_is_frozen_nothing_is_converted() -> None:
    bench = Bench()
    quote = await bench.quote("BTC", "USD", fromAmount="1")
    bench.is_engine_away = True
    assert (await refused(bench.service.convert("alice", quote.quote_id)))[0] == 503
    assert (bench.begun, bench.done) == ([], {})


async def test_a_quote_is_used_before_its_last_second_once_and_by_its_user() -> None:
    bench = Bench()
    quote = await bench.quote("BTC", "USD", fromAmount="1")
    assert await refused(bench.service.convert("bob", quote.quote_id)) == (404, "QUOTE_NOT_FOUND")
    bench.now = NOON + timedelta(seconds=10)
    assert await refused(bench.service.convert("alice", quote.quote_id)) == (409, "QUOTE_EXPIRED")
    bench.now = NOON + timedelta(seconds=9)
    first = await bench.service.convert("alice", quote.quote_id)
    assert first.status == "pending"
    bench.now = NOON + timedelta(days=1)
    assert await bench.service.convert("alice", quote.quote_id) == first
    [transfer] = bench.begun
    assert transfer == transfer_of(bench.done[quote.quote_id])


async def test_one_transfer_pays_both_sides_and_the_spread() -> None:
    bench = Bench(spread_bps=100)
    quote = await bench.quote("BTC", "USD", fromAmount="1")
    await bench.service.convert("alice", quote.quote_id)
    [transfer] = bench.begun
    moved = [(each.source, each.destination, each.asset, Decimal(each.amount)) for each in transfer.movements]
    assert moved == [
        ("alice", CONVERSIONS_ACCOUNT_ID, "BTC", Decimal("0.99")),
        ("alice", FEE_ACCOUNT_ID, "BTC", Decimal("0.01")),
        (CONVERSIONS_ACCOUNT_ID, "alice", "USD", Decimal(99)),
    ]


@pytest.mark.parametrize(
    ("succeeded", "code", "available", "noted"),
    [
        (True, "", "0", None),
        (False, "RISK_NSF", "99.99", "INVENTORY_INSUFFICIENT"),
        (False, "RISK_NSF", "100", "RISK_NSF"),
        (False, "RISK_FROZEN", "0", "RISK_FROZEN"),
    ],
)
async def test_a_refusal_for_lack_of_funds_says_whose(
    succeeded: bool, code: str, available: str, noted: str | None
) -> None:
    bench = Bench()
    quote = await bench.quote("BTC", "USD", fromAmount="1")
    await bench.service.convert("alice", quote.quote_id)
    bench.funds[CONVERSIONS_ACCOUNT_ID, "USD"] = (available, "0")
    connection: Any = bench
    await bench.rules.settle(connection, bench.begun[0], TransferResult(succeeded, code), NOON)
    conversion = bench.done[quote.quote_id]
    assert bench.settled == [(conversion.conversion_id, noted)]
    bench.done[quote.quote_id] = replace(conversion, status="failed" if noted else "completed", failure_code=noted)
    if noted is None:
        assert (await bench.service.convert("alice", quote.quote_id)).status == "completed"
    else:
        expected = (409, noted) if noted == "INVENTORY_INSUFFICIENT" else (400, "TRANSFER_REFUSED")
        assert await refused(bench.service.convert("alice", quote.quote_id)) == expected
