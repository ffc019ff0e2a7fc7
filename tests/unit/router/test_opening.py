"""A safe opening: cancels alone, then makers, then everybody."""

from decimal import Decimal

import pytest

from openspot.router.orders.opening import OUTAGE_S, Opening, OpeningPhase

DEEP = [(Decimal(100), Decimal(1))]
SHALLOW = [(Decimal(100), Decimal("0.99"))]
LEAST = Decimal("0.1")


class Clock:
    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def opening(clock: Clock) -> Opening:
    return Opening(("BTC-USD", "ETH-USD"), clock, cancel_only_s=5, post_only_s_max=60)


def refusal(opening: Opening, price: str | None, *, is_buy: bool = True, reference: str | None = None) -> str:
    limit, known = (None if text is None else Decimal(text) for text in (price, reference))
    return opening.refusal("BTC-USD", is_buy=is_buy, price=limit, reference=known)


def test_a_market_takes_cancels_then_makers_then_everybody(opening: Opening, clock: Clock) -> None:
    opening.note_book("BTC-USD", [], [], LEAST)
    phases = []
    for second in (0, 4.9, 5, 64.9, 65):
        clock.now = 1000 + second
        phases.append(opening.phase("BTC-USD"))
    assert phases == ["cancel-only", "cancel-only", "post-only", "post-only", "continuous"]
    assert opening.is_over


def test_makers_wait_until_the_book_was_looked_at(opening: Opening, clock: Clock) -> None:
    clock.now += 5
    assert opening.waiting == ["BTC-USD", "ETH-USD"]
    assert refusal(opening, "99") == "BTC-USD opens in 1 s: until then only cancels are taken"
    opening.note_book("BTC-USD", [], [], LEAST)
    assert refusal(opening, "99") == ""


def test_a_market_opens_once_both_sides_have_depth_and_the_others_wait(opening: Opening, clock: Clock) -> None:
    clock.now += 5
    for bids, asks in ((DEEP, SHALLOW), (SHALLOW, DEEP), (DEEP, []), ([], [])):
        opening.note_book("BTC-USD", bids, asks, LEAST)
        assert opening.phase("BTC-USD") is OpeningPhase.POST_ONLY
    opening.note_book("BTC-USD", DEEP, DEEP, LEAST)
    assert opening.phase("BTC-USD") is OpeningPhase.CONTINUOUS
    assert opening.waiting == ["ETH-USD"]
    assert not opening.is_over


def test_until_the_makers_are_back_no_order_can_trade(opening: Opening, clock: Clock) -> None:
    clock.now += 5
    opening.note_book("BTC-USD", [(Decimal(98), Decimal("0.1"))], [(Decimal(103), Decimal("0.1"))], LEAST)
    assert refusal(opening, None) == "BTC-USD waits for its makers: until then only limit orders that rest are taken"
    below = "BTC-USD waits for its makers: until then a buy must be below 100"
    assert [refusal(opening, price, reference="100") for price in ("99.99", "100", "103")] == ["", below, below]
    # The first reference holds, so that no two orders of the opening meet when it moves.
    above = "BTC-USD waits for its makers: until then a sell must be above 100"
    assert [refusal(opening, price, is_buy=False, reference="95") for price in ("100.01", "100", "98")] == [
        "", above, above,
    ]  # fmt: skip


def test_without_a_reference_an_order_must_not_meet_the_book_that_stood(opening: Opening, clock: Clock) -> None:
    clock.now += 5
    opening.note_book("BTC-USD", [(Decimal(98), Decimal("0.1"))], [(Decimal(103), Decimal("0.1"))], LEAST)
    assert refusal(opening, "102") == ""
    assert refusal(opening, "103") == "BTC-USD waits for its makers: until then a buy must be below 103"
    assert refusal(opening, "98", is_buy=False) == "BTC-USD waits for its makers: until then a sell must be above 98"


def test_after_an_outage_all_markets_open_anew_and_after_a_short_silence_they_stay_open(
    opening: Opening, clock: Clock
) -> None:
    for _ in range(65):
        clock.now += 1
        opening.note_engine(is_there=True)
    assert opening.is_over
    clock.now += OUTAGE_S
    opening.note_engine(is_there=True)
    assert opening.is_over
    for _ in range(3):
        clock.now += OUTAGE_S / 2
        opening.note_engine(is_there=False)
    opening.note_engine(is_there=True)
    assert opening.phase("BTC-USD") is OpeningPhase.CANCEL_ONLY


def test_without_the_settings_markets_are_open_at_once(clock: Clock) -> None:
    opening = Opening(("BTC-USD",), clock, cancel_only_s=0, post_only_s_max=0)
    assert opening.phase("BTC-USD") is OpeningPhase.CONTINUOUS
    assert refusal(opening, None) == ""
    assert opening.is_over


def test_an_unknown_market_is_left_to_the_other_checks(opening: Opening) -> None:
    assert opening.phase("XYZ-USD") is OpeningPhase.CONTINUOUS
