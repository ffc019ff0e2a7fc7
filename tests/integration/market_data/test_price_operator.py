"""The operator's commands: prices with an end, and users who are one owner; what running market data reads of them."""

from datetime import timedelta

import asyncpg
import pytest

from openspot.domain.fair_price.estimate import Remembered
from openspot.domain.fair_price.model import FairPrice, PriceState
from openspot.domain.money import AMOUNT_SCALE
from openspot.domain.owners import Owners
from openspot.engine_client.position import StreamPosition
from openspot.kit.settings import Settings
from openspot.market_data.fair_price_store import FairPriceStore, PriceRecord, Sample
from openspot.market_data.operator import PriceOperator, PriceOperatorError, duration_of, price_operator
from openspot.market_data.store import FencedError, MarketDataStore

HOUR = timedelta(hours=1)
NOW_MS = 1_800_000_000_000


@pytest.fixture
async def operator(pool: asyncpg.Pool) -> PriceOperator:
    """The commands, and users ada, bob and eve."""
    for name in ("ada", "bob", "eve"):
        await pool.execute(
            "INSERT INTO users (user_id, email, password_hash, role) VALUES ($1, $2, '', 'user')",
            f"u-{name}",
            f"{name}@example.org",
        )
    return PriceOperator(pool)


def fair(price: int, state: PriceState = PriceState.GOOD, reason: str = "") -> FairPrice:
    """A price of BTC-USD, in whole dollars."""
    return FairPrice(
        symbol="BTC-USD",
        state=state,
        price=price * AMOUNT_SCALE,
        low=(price - 1) * AMOUNT_SCALE,
        high=(price + 2) * AMOUNT_SCALE,
        day_median=(price + 1) * AMOUNT_SCALE,
        sellable=3 * AMOUNT_SCALE,
        buyable=4 * AMOUNT_SCALE,
        timestamp_ms=NOW_MS,
        reason=reason,
    )


async def keep(pool: asyncpg.Pool, price: FairPrice, move_cost: int | None = None) -> int:
    """Record a price as a new leader does; returns its token."""
    token = (await MarketDataStore(pool).lead()).token
    await FairPriceStore(pool).record(token, [PriceRecord(Remembered(price), move_cost)], [])
    return token


async def set_price(
    operator: PriceOperator, price: str = "64000.5", duration: timedelta = HOUR, *, far: bool = False
) -> str:
    return await operator.set_price("BTC-USD", price, duration, reason="halted abroad", who="olga", is_far_meant=far)


async def test_a_set_price_counts_until_its_end_and_says_who_and_why(
    operator: PriceOperator, pool: asyncpg.Pool
) -> None:
    said = await set_price(operator)
    store = FairPriceStore(pool)
    found = (await store.operator_prices())["BTC-USD"]
    assert found.price == 64_000_500_000_000_000_000_000
    row = await pool.fetchrow("SELECT * FROM operator_prices")
    assert (row["reason"], row["set_by"], row["cleared_at"]) == ("halted abroad", "olga", None)
    assert row["ends_at"] - row["set_at"] == HOUR
    assert round(row["ends_at"].timestamp() * 1000) == found.ends_ms
    assert said.startswith("BTC-USD is 64000.5 until 20")
    # A newer one takes its place, and when that ends, the older one does not come back.
    await set_price(operator, "65000")
    assert (await store.operator_prices())["BTC-USD"].price == 65_000 * AMOUNT_SCALE
    await pool.execute("UPDATE operator_prices SET ends_at = now() WHERE price = 65000")
    assert await store.operator_prices() == {}


async def test_a_cleared_price_counts_no_more(operator: PriceOperator, pool: asyncpg.Pool) -> None:
    await set_price(operator)
    assert await operator.clear_price("BTC-USD", who="otto") == "BTC-USD: the market's own sources count again"
    assert await FairPriceStore(pool).operator_prices() == {}
    assert await pool.fetchval("SELECT cleared_by FROM operator_prices") == "otto"
    with pytest.raises(PriceOperatorError, match="no operator's price counts for BTC-USD"):
        await operator.clear_price("BTC-USD", who="otto")


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"symbol": "ADA-USD"}, "SYMBOL: there is no market ADA-USD"),
        ({"price": "0"}, "PRICE must be above 0"),
        ({"price": "-1"}, "PRICE must be above 0"),
        ({"price": "NaN"}, "PRICE is not a decimal number"),
        ({"price": "1.0000000000000000001"}, "PRICE has more than 18 decimal places"),
        ({"price": "1000000000000000001"}, "PRICE must be above 0 and at most 1000000000000000000"),
        ({"reason": " "}, "--reason must have 1 to 500"),
        ({"who": "a\nb"}, "--as must have 1 to 500"),
    ],
)
async def test_a_price_that_cannot_be_is_refused(
    operator: PriceOperator, pool: asyncpg.Pool, change: dict[str, str], reason: str
) -> None:
    given = {"symbol": "BTC-USD", "price": "1", "reason": "r", "who": "w"} | change
    with pytest.raises(PriceOperatorError, match=reason):
        await operator.set_price(
            given["symbol"], given["price"], HOUR, reason=given["reason"], who=given["who"], is_far_meant=False
        )
    assert await pool.fetchval("SELECT count(*) FROM operator_prices") == 0


@pytest.mark.parametrize(("price", "is_far"), [("49.9", True), ("50", False), ("200", False), ("200.1", True)])
async def test_a_price_far_from_the_present_one_must_be_meant(
    operator: PriceOperator, pool: asyncpg.Pool, price: str, *, is_far: bool
) -> None:
    await keep(pool, fair(100))
    if is_far:
        with pytest.raises(PriceOperatorError, match="PRICE is more than 2 times from the present 100"):
            await set_price(operator, price)
        await set_price(operator, price, far=True)
    else:
        await set_price(operator, price)


@pytest.mark.parametrize(("text", "seconds"), [("90s", 90), ("30m", 1800), ("2h", 7200), ("30d", 2_592_000)])
def test_durations(text: str, seconds: int) -> None:
    assert duration_of(text) == timedelta(seconds=seconds)


@pytest.mark.parametrize("text", ["", "2", "h", "0h", "-1h", "1.5h", "2w", "31d", "721h", "99999999999d", "2h "])
def test_a_duration_that_cannot_be_is_refused(text: str) -> None:
    with pytest.raises(PriceOperatorError, match="--for must be"):
        duration_of(text)


async def test_the_list_shows_price_state_cost_and_the_operators_price(
    operator: PriceOperator, pool: asyncpg.Pool
) -> None:
    assert await operator.listed_prices() == []
    await keep(pool, fair(100, PriceState.THIN, "Few trade."), 123_456_000_000_000_000_000)
    await set_price(operator, "101")
    ends = await pool.fetchval('SELECT to_char(ends_at, \'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"\') FROM operator_prices')
    assert await operator.listed_prices() == [
        "BTC-USD: 100 thin, from 99 to 102, day's median 101; 10 % for a minute cost at least 123.46 USD; "
        "2027-01-15T08:00:00.000Z",
        "  Few trade.",
        f"  operator's price 101 until {ends}, set by olga: halted abroad",
    ]
    await operator.clear_price("BTC-USD", who="olga")
    await pool.execute("UPDATE fair_prices SET move_cost = NULL, reason = ''")
    assert await operator.listed_prices() == [
        "BTC-USD: 100 thin, from 99 to 102, day's median 101; no trade here moves it; 2027-01-15T08:00:00.000Z"
    ]


async def test_linked_users_are_one_owner_until_the_link_ends(operator: PriceOperator, pool: asyncpg.Pool) -> None:
    store = FairPriceStore(pool)
    assert await store.owners() == Owners()
    said = await operator.link("bob@example.org", "u-ada", reason="same passport", who="olga")
    assert said == "u-ada and u-bob are one owner"
    await operator.link("margin:u-bob:2", "EVE@example.org", reason="same address", who="olga")
    owners = await store.owners()
    assert [owners.of_user(user) for user in ("u-ada", "u-bob", "u-eve", "u-zoe")] == ["u-ada"] * 3 + ["u-zoe"]
    assert [line.partition(" 20")[0] for line in await operator.listed_links()] == [
        "u-bob and u-eve, linked by olga", "u-ada and u-bob, linked by olga",
    ]  # fmt: skip
    with pytest.raises(PriceOperatorError, match="u-ada and u-bob are linked already"):
        await operator.link("u-ada", "u-bob", reason="again", who="olga")
    await operator.unlink("u-bob", "u-ada", reason="brothers", who="otto")
    assert await store.owners() == Owners([("u-bob", "u-eve")])
    row = await pool.fetchrow("SELECT * FROM owner_links WHERE ended_at IS NOT NULL")
    assert (row["reason"], row["linked_by"], row["end_reason"], row["ended_by"]) == (
        "same passport", "olga", "brothers", "otto",
    )  # fmt: skip
    with pytest.raises(PriceOperatorError, match="u-ada and u-bob are not linked"):
        await operator.unlink("u-ada", "u-bob", reason="again", who="otto")
    # They may be linked again.
    await operator.link("u-ada", "u-bob", reason="sold the account", who="olga")


@pytest.mark.parametrize(
    ("one", "other", "reason"),
    [
        ("u-ada", "u-nobody", "USER_B: nobody is registered as u-nobody"),
        ("x@example.org", "u-ada", "USER_A: nobody is registered as x@example.org"),
        ("u-ada", "margin:u-ada", "USER_A and USER_B are the same user"),
    ],
)
async def test_only_two_registered_users_are_linked(operator: PriceOperator, one: str, other: str, reason: str) -> None:
    with pytest.raises(PriceOperatorError, match=reason):
        await operator.link(one, other, reason="r", who="w")


async def test_without_a_database_the_commands_say_so(settings: Settings) -> None:
    away = settings.model_copy(update={"database_url": ""})
    with pytest.raises(PriceOperatorError, match="the platform is not running here"):
        async with price_operator(away):
            pass


async def test_prices_and_samples_are_kept_under_the_newest_token_only(pool: asyncpg.Pool) -> None:
    store = FairPriceStore(pool)
    old = await keep(pool, fair(100))
    new = await keep(pool, fair(100))
    with pytest.raises(FencedError):
        await store.record(old, [PriceRecord(Remembered(fair(200)), None)], [Sample("BTC-USD", NOW_MS, 1)])
    assert (await store.remembered())["BTC-USD"] == Remembered(fair(100))
    # An older price than the one that is kept changes nothing.
    await store.record(new, [PriceRecord(Remembered(fair(300)), None)], [Sample("BTC-USD", NOW_MS, 7)])
    assert (await store.remembered())["BTC-USD"].price.price == 100 * AMOUNT_SCALE
    assert await store.samples() == [Sample("BTC-USD", NOW_MS, 7)]


async def test_samples_older_than_a_day_go_but_for_the_last_of_them(pool: asyncpg.Pool) -> None:
    store = FairPriceStore(pool)
    token = (await MarketDataStore(pool).lead()).token
    now_ms = round((await pool.fetchval("SELECT extract(epoch FROM now())")) * 1000)
    hours = [80, 50, 27, 24, 1]
    samples = [Sample("BTC-USD", now_ms - hour * 3_600_000, hour * AMOUNT_SCALE) for hour in hours]
    await store.record(token, [], [*samples, Sample("ETH-USD", now_ms - 90 * 3_600_000, 5)])
    assert [(sample.symbol, sample.price) for sample in await store.samples()] == [
        ("ETH-USD", 5), ("BTC-USD", 27 * AMOUNT_SCALE), ("BTC-USD", 24 * AMOUNT_SCALE), ("BTC-USD", AMOUNT_SCALE),
    ]  # fmt: skip


async def test_rows_have_reached_a_position_of_their_own_journal(pool: asyncpg.Pool) -> None:
    store = FairPriceStore(pool)
    assert await store.rows_have_reached(StreamPosition("e", 0))
    assert not await store.rows_have_reached(StreamPosition("e", 5))
    await pool.execute("INSERT INTO engine_cursors VALUES ('router', 'e', 5)")
    assert await store.rows_have_reached(StreamPosition("e", 5))
    assert not await store.rows_have_reached(StreamPosition("e", 6))
    assert not await store.rows_have_reached(StreamPosition("f", 5))
