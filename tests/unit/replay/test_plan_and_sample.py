"""What events become, who sends them, what that takes, and the generated flow."""

from collections import Counter
from decimal import Decimal
from itertools import islice

import pytest

from openspot.domain.market import load_markets
from openspot.replay.plan import CancelCommand, Command, PlaceCommand, command_of, lane_of, make_plan
from openspot.replay.sample import EVENTS, START_PRICE, sample_events
from openspot.replay.source import BookEvent


def event(
    action: str, price: str, volume: str, side: str = "buy", venue_id: str = "1", timestamp: int = 5
) -> BookEvent:
    return BookEvent(venue_id, timestamp, Decimal(price), Decimal(volume), action, side)


@pytest.mark.parametrize(
    ("given", "command"),
    [
        (event("created", "236.47", "2"), PlaceCommand("1", "buy", Decimal("236.47"), Decimal(2))),
        (event("created", "0", "2", "sell"), PlaceCommand("1", "sell", None, Decimal(2))),
        (event("created", "0.00", "2"), PlaceCommand("1", "buy", None, Decimal(2))),
        (event("created", "999999999", "2"), PlaceCommand("1", "buy", None, Decimal(2))),
        (event("created", "999999999.00", "2"), PlaceCommand("1", "buy", None, Decimal(2))),
        (event("created", "236.47", "0.00000000"), None),
        (event("changed", "236.47", "1"), None),
        (event("deleted", "236.47", "1"), CancelCommand("1")),
        (event("deleted", "236.47", "0.00000000"), None),
    ],
)
def test_an_event_becomes_an_order_a_cancel_or_nothing(given: BookEvent, command: Command | None) -> None:
    assert command_of(given) == command


def test_an_order_and_its_cancel_have_the_same_lane_and_lanes_share_the_load() -> None:
    lanes = Counter(lane_of(str(65_595_000 + number), 16) for number in range(16_000))
    assert set(lanes) == set(range(16))
    assert min(lanes.values()) > 700
    assert lane_of("65595247", 16) == lane_of("65595247", 16)
    assert lane_of("anything", 1) == 0


def test_a_plan_sums_up_what_each_user_could_need_at_once() -> None:
    flow = [
        event("created", "100.50", "2", "buy", "a"),
        event("created", "200", "0.5", "sell", "b"),
        event("created", "0", "3", "buy", "c"),
        event("changed", "100.50", "1", "buy", "a"),
        event("deleted", "100.50", "1", "buy", "a", timestamp=9),
        event("created", "50", "0", "buy", "d"),
    ]
    plan = make_plan(flow, 1)
    assert (plan.events, plan.orders, plan.last_timestamp) == (6, 3, 9)
    # 201 for the limit buy and 600 for the market buy at the dearest price, and a tenth more, rounded up.
    assert (plan.funds[0].quote, plan.funds[0].base) == (Decimal(882), Decimal(1))


def test_a_plan_gives_each_lane_its_own_needs() -> None:
    ids = {lane_of(str(number), 2): str(number) for number in range(20)}
    flow = [event("created", "10", "1", "buy", ids[0]), event("created", "10", "1", "sell", ids[1])]
    plan = make_plan(flow, 2)
    assert [(funds.base, funds.quote) for funds in plan.funds] == [(0, 11), (2, 0)]


def test_nothing_needs_nothing() -> None:
    plan = make_plan([], 2)
    assert (plan.events, plan.orders) == (0, 0)
    assert all(funds.base == funds.quote == 0 for funds in plan.funds)


def test_the_sample_is_the_same_for_the_same_seed_and_another_for_another() -> None:
    first = list(sample_events(1))
    assert len(first) == EVENTS
    assert first == list(sample_events(1))
    assert first != list(sample_events(2))


@pytest.mark.parametrize("seed", range(1, 6))
def test_the_sample_meets_every_kind_of_answer_within_the_markets_rules(seed: int) -> None:
    limits = load_markets().limits["BTC-USD"]
    specification = next(market for market in load_markets().seeds if market.symbol == "BTC-USD")
    flow = list(sample_events(seed))
    live: set[str] = set()
    kinds: Counter[str] = Counter()
    for given in flow:
        command = command_of(given)
        if isinstance(command, CancelCommand):
            assert command.venue_id in live, "a cancel of an order that was never placed"
            live.remove(command.venue_id)
            kinds["cancel"] += 1
            continue
        assert isinstance(command, PlaceCommand)
        live.add(command.venue_id)
        if command.price is None:
            kinds["market"] += 1
        elif command.quantity < limits.quantity_min:
            kinds["too small"] += 1
        elif abs(command.price - START_PRICE) > START_PRICE / 2:
            kinds["fat finger"] += 1
        else:
            kinds["limit"] += 1
            assert command.price % specification.tick == 0
            assert limits.quantity_min <= command.quantity <= limits.quantity_max
            assert limits.notional_min <= command.quantity * command.price <= limits.notional_max
    assert kinds["cancel"] > 400
    assert kinds["limit"] > 800
    assert kinds["market"] > 20
    assert 5 < kinds["too small"] < 100
    assert 5 < kinds["fat finger"] < 100


def test_the_sample_begins_with_a_book_and_a_trade_so_that_market_orders_have_a_price() -> None:
    opening = list(islice(sample_events(1), 41))
    assert {given.side for given in opening} == {"buy", "sell"}
    asks = [given.price for given in opening[:-1] if given.side == "sell"]
    assert opening[-1].side == "buy"
    assert opening[-1].price >= min(asks)
