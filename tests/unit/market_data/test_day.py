"""The rolling 24 hours."""

import random
from decimal import Decimal
from fractions import Fraction

import pytest

from openspot.domain.money import text_to_amount
from openspot.market_data.day import DAY_MINUTES, MINUTE_MS, DayFigures, Minute, RollingDay

BEGIN = 1_700_000_040_000
"""The first millisecond of a minute."""
DAY_MS = DAY_MINUTES * MINUTE_MS


def day_of(*trades: tuple[int, str, str]) -> RollingDay:
    """A day with trades of (milliseconds after BEGIN, price, quantity)."""
    day = RollingDay()
    for after, price, quantity in trades:
        day.add(BEGIN + after, text_to_amount(price), text_to_amount(quantity))
    return day


def test_the_figures_are_exact_to_the_last_digit() -> None:
    day = day_of((0, "0.1", "0.000000000000000003"), (1, "0.3", "0.7"), (MINUTE_MS, "0.2", "1"))
    assert day.figures() == DayFigures(
        last="0.2", open="0.1", high="0.3", low="0.1", volume="1.700000000000000003",
        quote_volume="0.4100000000000000003", change="0.1", change_percent="100",
    )  # fmt: skip


def test_without_a_trade_there_are_no_prices() -> None:
    assert RollingDay().figures() == DayFigures(None, None, None, None, "0", "0", None, None)


def test_a_price_older_than_the_window_is_still_the_last() -> None:
    day = day_of((0, "5", "1"))
    assert day.forget_before(BEGIN + DAY_MS + MINUTE_MS)
    assert day.figures() == DayFigures("5", None, None, None, "0", "0", None, None)
    assert not day.forget_before(BEGIN + DAY_MS + MINUTE_MS)


@pytest.mark.parametrize(("traded_at", "counts"), [(0, True), (MINUTE_MS - 1, True), (-1, False)])
def test_the_window_is_wider_than_24_hours_by_less_than_a_minute(traded_at: int, counts: bool) -> None:
    for asked_at in (DAY_MS, DAY_MS + MINUTE_MS - 1):
        day = day_of((traded_at, "5", "1"))
        day.forget_before(BEGIN + asked_at)
        assert (day.figures().volume == "1") is counts


def test_the_price_change_may_be_negative_and_is_rounded_half_to_even() -> None:
    assert day_of((0, "300", "1"), (1, "299", "1")).figures().change == "-1"
    assert day_of((0, "300", "1"), (1, "299", "1")).figures().change_percent == "-0.33"
    assert day_of((0, "80000", "1"), (1, "80002", "1")).figures().change_percent == "0"
    assert day_of((0, "80000", "1"), (1, "80012", "1")).figures().change_percent == "0.02"


def test_a_trade_with_an_older_time_counts_to_the_newest_minute() -> None:
    day = day_of((MINUTE_MS, "5", "1"), (0, "7", "2"))
    assert day.figures()[:6] == ("7", "5", "7", "5", "3", "19")


@pytest.mark.parametrize("seed", range(20))
def test_the_figures_are_those_of_the_trades_in_the_window(seed: int) -> None:
    chance = random.Random(seed)
    day, trades, now = RollingDay(), list[tuple[int, Fraction, Fraction]](), BEGIN
    for _ in range(200):
        now += chance.choice((0, 1, 500, MINUTE_MS, 20 * MINUTE_MS, DAY_MS // 7))
        price, quantity = f"{chance.randint(1, 10**6) / 100:.2f}", f"{chance.randint(1, 10**8) / 10**8:.8f}"
        day.add(now, text_to_amount(price), text_to_amount(quantity))
        trades.append((now, Fraction(price), Fraction(quantity)))
        day.forget_before(now)
        held = [trade for trade in trades if trade[0] // MINUTE_MS >= now // MINUTE_MS - DAY_MINUTES]
        figures = day.figures()
        prices = [trade[1] for trade in held]
        assert [Fraction(text or "x") for text in figures[:6]] == [
            prices[-1], prices[0], max(prices), min(prices), sum(trade[2] for trade in held),
            sum(trade[1] * trade[2] for trade in held),
        ]  # fmt: skip


def test_loaded_minutes_count_like_trades() -> None:
    traded = day_of((0, "5", "1"), (1, "7", "2"), (2, "6", "1"), (MINUTE_MS, "8", "1"))
    loaded = RollingDay(last=text_to_amount("4"))
    prices = [text_to_amount(price) for price in ("5", "7", "5", "6")]
    loaded.load(
        Minute(BEGIN // MINUTE_MS, *prices, volume=text_to_amount("4"), quote_volume=int(Decimal("25").scaleb(36)))
    )
    loaded.add(BEGIN + MINUTE_MS, text_to_amount("8"), text_to_amount("1"))
    assert loaded.figures() == traded.figures()


def minute(number: int, prices: str, volume: str = "1") -> Minute:
    """A minute with open, high, low and close, `number` minutes after BEGIN."""
    opened, high, low, close = (text_to_amount(price) for price in prices.split())
    amount = text_to_amount(volume)
    return Minute(BEGIN // MINUTE_MS + number, opened, high, low, close, amount, amount * close)


def test_imported_minutes_are_in_the_day_from_the_first_trade_on_and_are_never_the_last_price() -> None:
    day = RollingDay()
    day.set_imported([minute(-2, "9 20 1 4", "3"), minute(-1, "4 5 3 5", "2")])
    assert day.figures() == DayFigures(None, None, None, None, "0", "0", None, None)
    day.add(BEGIN, text_to_amount("6"), text_to_amount("1"))
    assert day.figures() == DayFigures(
        last="6", open="9", high="20", low="1", volume="6", quote_volume="28", change="-3", change_percent="-33.33"
    )
    assert day.forget_before(BEGIN + DAY_MS - MINUTE_MS)
    assert day.figures()[:5] == ("6", "4", "6", "3", "3")
    day.set_imported([])
    assert day.figures()[:5] == ("6", "6", "6", "6", "1")


def test_an_imported_minute_gives_way_to_the_trades_of_its_time() -> None:
    imported = [minute(-1, "9 9 9 9"), minute(0, "1 1 1 1"), minute(1, "2 2 2 2")]
    before, after = RollingDay(), RollingDay()
    before.set_imported(imported)
    for day in (before, after):
        day.add(BEGIN, text_to_amount("6"), text_to_amount("1"))
    after.set_imported(imported)
    assert before.figures() == after.figures()
    assert after.figures()[:5] == ("6", "9", "9", "6", "2")
