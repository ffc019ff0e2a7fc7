"""The return of a portfolio: start + flows + result = end, and a percentage that no payment in or out changes."""

import random
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from decimal import Decimal, localcontext
from fractions import Fraction

import pytest

from openspot.domain.money import EXACT
from openspot.domain.transfer import TransferKind
from openspot.rest_edge.funds.accounts.portfolio_return import (
    FLOW_POINTS_MAX,
    NO_FLOWS,
    RESOLUTION,
    Flow,
    FlowKind,
    PeriodReturn,
    equal_points,
    flow_kind,
    period_return,
    points_at_flows,
)

BEGIN = datetime(2026, 11, 1, tzinfo=UTC)
HOUR = timedelta(hours=1)
Values = Sequence[Decimal | None]


def series(*values: str) -> Values:
    """Values at the points; "-" is none."""
    return [None if value == "-" else Decimal(value) for value in values]


def flow(point: int, kind: FlowKind, asset: str, amount: str) -> Flow:
    return Flow(BEGIN + point * HOUR, point, kind, asset, Decimal(amount))


DEPOSIT, WITHDRAWAL = FlowKind.DEPOSIT, FlowKind.WITHDRAWAL
# Balances and prices of BTC at each point, flows; then start, end, sum of flows, result, percent.
SCENARIOS = {
    "prices move": (["2", "2"], ["100", "115.05"], [], "200", "230.1", "0", "30.1", "15.05"),
    "a deposit is no gain": (
        ["1", "3", "3"], ["100", "100", "100"], [(1, DEPOSIT, "2")], "100", "300", "200", "0", "0",
    ),
    # It grew by 10 % before the deposit, and by 10 % after it.
    "a deposit does not thin a gain": (
        ["1", "11", "11"], ["100", "110", "121"], [(1, DEPOSIT, "10")], "100", "1331", "1100", "131", "21",
    ),
    "all is withdrawn after a loss": (
        ["2", "0", "0"], ["100", "75", "999"], [(1, WITHDRAWAL, "-2")], "200", "0", "-150", "-50", "-25",
    ),
    # What nothing was held in has no growth: the second deposit begins anew.
    "nothing, then something again": (
        ["1", "0", "1", "1"], ["100", "110", "500", "550"], [(1, WITHDRAWAL, "-1"), (2, DEPOSIT, "1")],
        "100", "550", "390", "60", "21",
    ),
    "a reward is a gain": (["1", "2"], ["100", "100"], [(1, FlowKind.INCOME, "1")], "100", "200", "0", "100", "100"),
    "nothing was ever held": (["0", "0"], ["1", "2"], [], "0", "0", "0", "0", None),
    # It came before the first trade of its market: the first price counts, and there is no gain.
    "before the first price": (["0", "5", "5"], ["-", "-", "7"], [(1, DEPOSIT, "5")], "0", "35", "35", "0", "0"),
    "cut towards zero": (["3", "3"], ["1", "0.99999"], [], "3", "2.99997", "0", "-0.00003", "0"),
}  # fmt: skip


@pytest.mark.parametrize("name", SCENARIOS)
def test_a_return(name: str) -> None:
    balances, prices, flows, start, end, sum_of_flows, result, percent = SCENARIOS[name]
    figures = period_return(
        {"BTC": series(*balances)},
        {"BTC": series(*prices)},
        [flow(point, kind, "BTC", amount) for point, kind, amount in flows],
        len(balances),
    )
    assert (figures.start, figures.end) == (Decimal(start), Decimal(end))
    assert sum(figures.flows.values()) == Decimal(sum_of_flows)
    assert figures.result == Decimal(result)
    assert figures.percent == (None if percent is None else Decimal(percent))
    assert not figures.unpriced


def test_what_never_had_a_price_is_named_and_in_no_figure() -> None:
    flows = [flow(1, DEPOSIT, "XYZ", "5"), flow(1, DEPOSIT, "USD", "10")]
    balances = {"XYZ": series("0", "5"), "USD": series("1", "11"), "OLD": series("0", "0")}
    figures = period_return(balances, {}, flows, 2)
    assert figures.unpriced == ["XYZ"]
    assert [movement.value for movement in figures.movements] == [None, Decimal(10)]
    assert (figures.start, figures.flows[DEPOSIT], figures.result, figures.end) == (1, 10, 0, 11)


def test_each_kind_of_entry_is_counted_where_it_belongs() -> None:
    kinds = {kind.value: flow_kind(kind) for kind in TransferKind if kind not in NO_FLOWS}
    assert kinds == {
        "staking": FlowKind.MOVE,
        "unstaking": FlowKind.MOVE,
        "loan": FlowKind.MOVE,
        "reward": FlowKind.INCOME,
        "payment": FlowKind.PAYMENT,
        "subscription": FlowKind.SUBSCRIPTION,
        "refund": FlowKind.SUBSCRIPTION,
        "adjustment": FlowKind.ADJUSTMENT,
    }
    assert [flow_kind(name) for name in ("deposit", "withdrawal", "bonus")] == [
        DEPOSIT,
        WITHDRAWAL,
        FlowKind.ADJUSTMENT,
    ]


def test_points_are_the_begin_the_moment_after_each_flow_and_the_end() -> None:
    end = BEGIN + 5 * HOUR
    times = [BEGIN + 2 * HOUR, BEGIN + HOUR, BEGIN + 2 * HOUR, end - RESOLUTION]
    assert points_at_flows(BEGIN, end, times) == [BEGIN, BEGIN + HOUR + RESOLUTION, BEGIN + 2 * HOUR + RESOLUTION, end]
    parts = equal_points(BEGIN, end)
    assert (len(parts), parts[0], parts[-1]) == (FLOW_POINTS_MAX + 1, BEGIN, end)
    assert parts == sorted(set(parts))


def random_history(seed: int) -> tuple[PeriodReturn, Decimal, Fraction | None]:
    """A return of random flows, trades, rewards and moves of prices; its gain and growth, counted as they came."""
    chance = random.Random(seed)
    assets = ("BTC", "ETH", "USD")

    def amount() -> Decimal:
        return Decimal(chance.randrange(1, 10**24)).scaleb(-18)

    held = {asset: amount() if chance.random() < 0.7 else Decimal(0) for asset in assets}
    price = {"BTC": amount(), "ETH": amount(), "USD": Decimal(1)}
    balances: dict[str, list[Decimal | None]] = {asset: [held[asset]] for asset in assets}
    prices: dict[str, list[Decimal | None]] = {asset: [price[asset]] for asset in assets if asset != "USD"}

    def worth() -> Decimal:
        return sum((held[asset] * price[asset] for asset in assets), Decimal(0))

    gain, growth, flows, before = Decimal(0), None, [], worth()
    for point in range(1, chance.randrange(2, 30)):
        for asset in ("BTC", "ETH"):
            moved = amount()
            gain += held[asset] * (moved - price[asset])
            price[asset] = moved
        if held["USD"] and chance.random() < 0.5:
            # A trade at a price of its own: what was got is worth more or less than what was paid.
            got, paid = amount(), held["USD"] / 2
            gain += got * price["BTC"] - paid
            held["BTC"], held["USD"] = held["BTC"] + got, held["USD"] - paid
        if chance.random() < 0.3:
            flows.append(Flow(BEGIN, point, FlowKind.INCOME, "ETH", amount()))
            held["ETH"] += flows[-1].amount
            gain += flows[-1].amount * price["ETH"]
        if before > 0:
            grown = Fraction(worth()) / Fraction(before)
            growth = grown if growth is None else growth * grown
        for asset in chance.sample(assets, chance.randrange(3)):
            size = amount() if chance.random() < 0.5 else -held[asset]
            kind = chance.choice([kind for kind in FlowKind if kind is not FlowKind.INCOME])
            flows.append(Flow(BEGIN, point, kind, asset, size))
            held[asset] += size
        before = worth()
        for asset in assets:
            balances[asset].append(held[asset])
        for asset in prices:
            prices[asset].append(price[asset])
    return period_return(balances, prices, flows, len(balances["USD"])), gain, growth


@pytest.mark.parametrize("seed", range(200))
def test_start_and_flows_and_result_are_the_end_to_the_last_digit(seed: int) -> None:
    with localcontext(EXACT):
        figures, gain, growth = random_history(seed)
    total = figures.start
    for value in (*figures.flows.values(), figures.result):
        total = EXACT.add(total, value)
    assert total == figures.end
    assert figures.result == gain
    assert (figures.percent is None) == (growth is None)
    if growth is not None:
        assert Fraction(figures.percent or 0) == Fraction(int((growth - 1) * 10_000), 100)
